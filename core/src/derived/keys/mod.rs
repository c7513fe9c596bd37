//! The key index: which records have a key, in RocketMQ's index files (`FORMAT.md`, section 5).
//!
//! It knows hashes alone, so whoever looks something up compares the record. It follows the log on
//! its own: where it is behind, because files were lost or could not be written, the rest is read
//! from the log until it has caught up.

mod audit;
mod chain;
mod file;
mod hash;
mod index;
mod name;
mod sheet;
#[cfg(test)]
mod tests;
mod writer;

pub use audit::{KeyAudit, KeyClaim, KeyMisfit, KeyWrong};
pub use file::{IndexFile, Shape, Summary};
pub use hash::{KeyKind, KeySeed, hash_message, hash_record};
pub use index::{Catalogue, KeyIndex, KeyShelf, Source};
pub use writer::KeyWriter;
