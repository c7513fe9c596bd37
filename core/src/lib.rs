//! spanlog: a message-log storage engine that lives inside a program. One commit log over many
//! disks, queues over it, and a disk policy, in the files of Apache RocketMQ's store.
//!
//! [`Store`] is the whole of it: opened with [`Options`], it takes a [`Message`] and gives a
//! [`Batch`] of them by queue. [`retention`] says what the disk policy decides and why, [`record`]
//! reads and writes the bytes of one message, [`disk`] is the seam to the operating system, and
//! [`quantity`] reads sizes and durations as people write them.
//!
//! ```
//! use std::sync::Arc;
//! use spanlog::{Message, MemDisk, Options, OsClock, QueueOffset, ReadLimits, Store};
//!
//! // In memory; `Store::open` takes a path and uses the file system.
//! let disk = Arc::new(MemDisk::new());
//! let options = Options::new().segment_len_bytes(1 << 20);
//! let store = Store::open_on(disk, Arc::new(OsClock::new()), "/store", options)?;
//! store.append(&Message::new("orders", 0, b"tea").tags("drink"))?;
//! store.append_durable(&Message::new("orders", 0, b"survives a loss of power"))?;
//!
//! store.catch_up()?; // what was appended so far can now be read from its queue
//! let batch = store.read("orders", 0, QueueOffset::ZERO, ReadLimits::default())?;
//! let bodies: Vec<_> = batch.iter().map(|stored| stored.decode_verified()).collect();
//! assert_eq!(bodies.len(), 2);
//! assert_eq!(bodies[0].as_ref().unwrap().body(), b"tea");
//! store.close()?;
//! # Ok::<(), spanlog::Error>(())
//! ```
#![deny(unsafe_code)]

pub mod base;
mod checkpoint;
mod cursor;
mod derived;
mod directory;
pub mod disk;
mod error;
mod log;
mod options;
pub mod quantity;
mod queue;
pub mod record;
pub mod retention;
mod segment;
mod store;
mod tasks;
mod verify;

pub use base::units::{Position, QueueOffset};
pub use cursor::Hold;
pub use derived::{Bounds, KeyKind, TagFilter};
pub use disk::{Clock, Disk, ManualClock, MemDisk, OsClock, OsDisk, Slice};
pub use error::{Error, ErrorKind, Result};
pub use log::{Damaged, Salvage};
pub use options::{DirectoryOptions, Durability, OnDamage, Options};
pub use queue::{
    MAX_READER_NAME_BYTES, MAX_READERS, OnFull, Queue, QueueBatch, QueueDurability, QueueOptions,
    QueueReader, QueueRecord, QueueRecovery, QueueStat, QueueTask, QueueVerification, ReaderStat,
    SatelliteQueue,
};
#[cfg(feature = "sql")]
pub use record::PropertyFilter;
pub use record::{Message, MessageView};
pub use retention::{
    CleanPlan, DeleteHours, Fate, Pressure, Quantifier, Reason, Role, Thresholds, Usage,
};
pub use segment::placement::Placement;
pub use store::{
    Batch, Boundary, Cursor, CursorOptions, CursorQueue, CursorReport, Delivered, Delivery,
    DirectoryReport, Inspection, KeyQuery, Lag, Overtaken, QueueReport, ReadLimits, ReadStatus,
    Receipt, Recovery, Seek, SegmentReport, Store, Stored, Task, Watch, Watched, Watermarks,
};
pub use tasks::{Dropped, Next};
pub use verify::{
    Finding, FindingKind, Part, Progress, RepairAction, RepairPlan, Repaired, StoreCopy,
    Verification,
};
