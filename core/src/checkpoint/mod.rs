//! Layer 4: what is remembered of the watermarks, for the next opening.
//!
//! Nothing here is the truth: without it the whole log is read again. A mark is written only
//! after every file it covers was flushed.

mod catalogue;
mod ledger;
mod marks;
mod rocketmq;

pub use catalogue::{decode_catalogue, encode_catalogue};
pub use ledger::Ledger;
pub use marks::{Marks, MarksFile};
pub use rocketmq::{RocketmqCheckpoint, RocketmqMarks};
