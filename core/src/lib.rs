//! spanlog: an embedded message-log storage engine.
#![deny(unsafe_code)]

pub mod base;
mod checkpoint;
mod derived;
mod directory;
pub mod disk;
mod error;
mod log;
mod options;
pub mod quantity;
pub mod record;
pub mod retention;
mod segment;
mod store;
mod tasks;

pub use base::units::{Position, QueueOffset};
pub use derived::Bounds;
pub use disk::{Clock, Disk, MemDisk, OsClock, OsDisk, Slice};
pub use error::{Error, ErrorKind, Result};
pub use log::{Damaged, Salvage};
pub use options::{DirectoryOptions, Durability, OnDamage, Options};
pub use record::{Message, MessageView};
pub use retention::{DeleteHours, Quantifier, Role, Thresholds};
pub use segment::placement::Placement;
pub use store::{
    Batch, DirectoryReport, Inspection, QueueReport, ReadLimits, ReadStatus, Receipt, Recovery,
    SegmentReport, Store, Stored, Task, Watermarks,
};
pub use tasks::{Dropped, Next};
