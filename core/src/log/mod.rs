//! Layer 3: the log, one number line of bytes cut into segments.
//!
//! Four watermarks tell everything: `start` (first byte kept), `flushed` (bytes known durable),
//! `appended` (bytes written), and, kept by layer 5, `indexed`. Appending claims the next
//! position under one short lock, copies once, and publishes; readers load a watermark and take
//! no lock that the writer holds.

mod append;
mod fill;
mod flush;
mod line;
mod piece;
mod poison;
mod read;
mod recover;
mod salvage;
#[cfg(test)]
mod tests;

pub use append::{NextSegment, WritePath};
pub use fill::{can_fill, fill, save_bytes, save_file};
pub use line::Log;
pub use piece::Piece;
pub use poison::Poison;
pub use read::{LogReader, Span};
pub use recover::{Damaged, Scan, Stop};
pub use salvage::{Salvage, cut, rewrite, salvage, written_behind};
