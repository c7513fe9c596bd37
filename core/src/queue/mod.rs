//! Layer 6: queue mode. One persistent queue between parts of a program, with a fixed budget of
//! memory and disk, on the same number line, segments and seam as the log, in a format of its own.
//!
//! Records are pushed at the end of the line and popped by readers, each with its own cursor. What
//! the slowest has committed is free: its files are used again, under new names.

mod batch;
mod flush;
mod handle;
mod line;
mod meta;
mod open;
mod options;
mod push;
mod reader;
mod readers;
mod ready;
mod report;
mod satellite;
mod steps;
#[cfg(test)]
mod tests;
mod walk;

pub use batch::{QueueBatch, QueueRecord};
pub use handle::{Queue, QueueTask};
pub use meta::{MAX_READER_NAME_BYTES, MAX_READERS};
pub use open::QueueRecovery;
pub use options::{OnFull, QueueDurability, QueueOptions};
pub use reader::QueueReader;
pub use report::{QueueStat, QueueVerification, ReaderStat};
pub use satellite::SatelliteQueue;
