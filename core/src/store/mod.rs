//! Layer 6: the store that a program holds. It wires the layers below and decides nothing that
//! they could.

mod append;
mod batch;
mod cursor;
#[cfg(test)]
mod cursor_tests;
mod cursors;
mod delivery;
mod destroy;
mod filtered;
pub(crate) mod fleet;
mod follow;
#[cfg(test)]
mod follow_tests;
mod handle;
mod lookup;
mod open;
mod open_keys;
mod recovery;
mod report;
mod seek_time;
mod survey;
#[cfg(test)]
mod tests;
mod watch;
#[cfg(test)]
mod watch_tests;

use std::path::{Path, PathBuf};

use crate::directory::OWN_DIR;

pub use append::Receipt;
pub use batch::{Batch, ReadLimits, ReadStatus, Stored};
pub use cursor::{Cursor, CursorOptions, Seek};
pub use cursors::{CursorQueue, CursorReport, Lag};
pub use delivery::{Delivered, Delivery, Overtaken};
pub use handle::{Store, Task};
pub use lookup::KeyQuery;
pub(crate) use recovery::Judge;
pub use recovery::Recovery;
pub use report::{DirectoryReport, Inspection, QueueReport, SegmentReport, Watermarks};
pub use seek_time::Boundary;
pub(crate) use survey::{Survey, survey};
pub use watch::{Watch, Watched};

/// The directory under a root that is spanlog's own.
fn own_dir(root: &Path) -> PathBuf {
    root.join(OWN_DIR)
}

/// The directory of segments of a store that names none, and of RocketMQ's.
fn usual_directory(root: &Path) -> PathBuf {
    root.join("commitlog")
}
