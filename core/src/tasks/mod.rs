//! Layer 5: background work as bounded steps. A step does one piece and says when to come back;
//! threads, a waiting caller and the simulator all drive the same steps.

mod backlog;
mod checkpoint;
mod clean;
mod disks;
mod engine;
mod flush;
mod fresh;
mod holders;
mod index;
mod prepare;
mod probe;
mod reserve;
mod threads;
mod watch;

pub use checkpoint::{CATALOGUE, CheckpointStep, LEDGER};
pub use clean::{CleanStep, Dropped};
pub use disks::Disks;
pub use engine::{Engine, Parts};
pub use flush::FlushStep;
pub use fresh::{Fresh, FreshUnit, Notes};
pub use index::IndexStep;
pub use prepare::{PrepareStep, STEP_BYTES as PREPARE_STEP_BYTES};
pub use probe::ProbeStep;
pub use reserve::Reserve;
pub use threads::{Bell, Host, Workers};
pub use watch::{Growing, TopicQueues, Wish};

use crate::error::Result;

/// When a step wants to run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once: there is more to do.
    Again,
    /// After a moment in which more may gather: there was something to do.
    Soon,
    /// At this time, in milliseconds since 1970, or when its bell rings.
    At(i64),
    /// When its bell rings.
    Idle,
}

/// A bounded piece of background work.
pub trait Step: Send {
    /// What it is called in threads and logs.
    fn name(&self) -> &'static str;

    /// Does one piece.
    ///
    /// # Errors
    /// What went wrong. The step may be run again later: what it did is kept, what it did not is
    /// still to do.
    fn run(&mut self, now_ms: i64) -> Result<Next>;
}
