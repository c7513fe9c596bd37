//! Layer 6: everything of a store read and compared, and what is wrong with it told.
//!
//! A [`Verification`] changes nothing and needs no lock: it works on a store that is closed, that
//! a killed process left, and beside a writer. It opens nothing that an opening would refuse:
//! what keeps a store from being opened is just what it is there to tell. Recovery decides what
//! is the log's end and what is damage; here the same code is asked.

mod files;
mod finding;
mod repair;
mod transfer;
mod verification;
mod wording;

pub use finding::{Finding, FindingKind, Part, Progress};
pub use repair::{RepairAction, RepairPlan, Repaired};
pub use transfer::StoreCopy;
pub use verification::Verification;
