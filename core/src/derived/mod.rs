//! Layer 4: what is derived from the log and can be thrown away.
//!
//! One function applies a record to the consume queues; live indexing and recovery both use it.

mod audit;
mod files;
mod queue;
mod queues;
mod table;
#[cfg(test)]
mod tests;
mod unit;

pub use audit::{Audit, Extent, Misfit, Wrong};
pub use files::Shelf;
pub use queue::{Bounds, Queue};
pub use queues::{Queues, Resume};
pub use unit::Unit;
