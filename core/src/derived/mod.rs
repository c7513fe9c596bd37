//! Layer 4: what is derived from the log and can be thrown away.
//!
//! One function applies a record to the consume queues; live indexing and recovery both use it.

mod audit;
mod files;
mod keys;
mod queue;
mod queues;
mod table;
mod tags;
#[cfg(test)]
mod tests;
mod times;
mod unit;

pub use audit::{Audit, Extent, Misfit, Wrong};
pub use files::{Shelf, UnitFile};
pub use keys::{
    Catalogue, IndexFile, KeyAudit, KeyClaim, KeyIndex, KeyKind, KeyMisfit, KeySeed, KeyShelf,
    KeyWriter, KeyWrong, Shape, Source, Summary, hash_message, hash_record,
};
pub use queue::{Bounds, Queue};
pub use queues::{Queues, Resume};
pub use tags::TagFilter;
pub use times::{Run, Times};
pub use unit::Unit;
