//! Disk policy and cleanup, as pure functions: usage, ages and limits in, a decision out. No
//! disk, no clock, no state: what must be remembered comes in and goes out as values.
//!
//! * [`pressure`]: how full one disk is, against its marks.
//! * [`judge`]: all disks together: who takes segments, and whether appends are refused.
//! * [`decide`]: which segments leave the log, and for each of the others why it stays.
//! * [`probe_delay_ms`]: when to look at the disks again.
//!
//! Everything is *level-triggered*: each probe computes the whole state anew from the usage just
//! read and the pressure of the probe before, which serves hysteresis alone. Nothing latches, so
//! after space returns appends work at the latest one probe later, and a reopened store, which
//! starts with [`Pressure::None`] everywhere, needs no more than its first probe.

mod decide;
mod hours;
mod judge;
mod marks;
mod policy;
mod refusal;

pub use decide::{CleanPlan, Fate, Holder, Moment, Reason, SegmentFacts, decide};
pub use hours::DeleteHours;
pub use judge::{Directory, Verdict, judge, probe_delay_ms};
pub(crate) use marks::check_range;
pub use marks::{Pressure, Thresholds, Usage, pressure};
pub use policy::{Policy, Quantifier, Role};
pub use refusal::{Cause, Refusal, RefusedDirectory};
