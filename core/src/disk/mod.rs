//! Layer 1: the operating system behind one narrow seam.
//!
//! The seam is a *control plane*: [`Disk`] and [`File`] are called at most once per flush, per
//! segment or per batch of queue units. What they hand out, a [`Map`], is one concrete type, so
//! that appending and reading are plain memory operations, compiled once for the real disk and
//! for memory.
//!
//! # What the engine assumes, and what it survives
//!
//! A file changes by stores to its map, by [`File::write_at`] and by [`File::zero`]. All three
//! are seen at once by every map of that file. **Until [`File::sync`] returns, each sector of
//! 512 bytes that changed may be old or new after a crash, independently of the others.** After
//! it returned without error, all that was written before the call is durable.
//!
//! A name made by [`File::link`] or [`Disk::rename`], and a removal, is durable once
//! [`Disk::sync_dir`] returned for its directory; until then it may be undone by a crash.
//! [`Disk::replace`] does that itself: after a crash the file holds all of the old or all of the
//! new bytes.
//!
//! Any operation may fail, with no room ([`ErrorKind::Full`](crate::ErrorKind::Full)) or
//! otherwise, and then has changed nothing that was durable. **A failed [`File::sync`] is final
//! for that file:** the system may have marked the lost pages clean, so a second call could
//! succeed and lie. Nobody retries it.
//!
//! A durable bit may flip or a sector become unreadable: recovery and verification find it by
//! checksum, and [`Map::populate`] turns an unreadable sector into an error before it is touched.
//!
//! Outside the contract: another program that writes or shortens the files of an open store.

mod changes;
mod clock;
mod map;
mod mem;
mod os;
mod resident;
pub mod slots;
#[cfg(test)]
mod tests;
mod words;

pub use clock::ManualClock;
pub use map::{HeapMemory, Map, MapWriter, Slice, fetch_ahead};
pub use mem::MemDisk;
#[cfg(test)]
pub use os::polls_readable;
pub use os::{BorrowedFd, Deadline, Event, OsClock, OsDisk, PRIVATE_DIR, UNNAMED_PREFIX};
pub use words::Words;

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};

/// Where the time comes from.
pub trait Clock: Send + Sync + Debug {
    /// Milliseconds since 1970-01-01 UTC; it may stand still and it may jump, also backwards.
    fn now_ms(&self) -> i64;

    /// The hour of day in local time, 0 to 23, at `now_ms`.
    fn local_hour(&self, now_ms: i64) -> u32;
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}

/// One name in a directory. A name that is not UTF-8 is shown with replacement characters, so it
/// can never be taken for one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name alone.
    pub name: String,
    /// What it stands for; symbolic links are not followed.
    pub kind: EntryKind,
    /// Length of a file, in bytes.
    pub len: u64,
}

/// What a path leads to, symbolic links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The path without links, dots and doubled separators.
    pub canonical: PathBuf,
    /// What is there.
    pub kind: EntryKind,
    /// Length of a file, in bytes.
    pub len: u64,
    /// The file system: two directories with the same number share their space.
    pub device: u64,
    /// The file's number within its file system.
    pub inode: u64,
}

/// The space of a file system, as `df` sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes in use.
    pub used: u64,
    /// Bytes this process could still write.
    pub available: u64,
}

/// How a file is opened or mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For reading alone; nothing on disk changes, not even a time.
    Read,
    /// For reading and writing.
    Write,
}

/// Whether a new file's blocks are taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Blocks are reserved, so that later stores to a map cannot run out of room. Where the file
    /// system cannot, [`File::is_reserved`] says so.
    Reserved,
    /// Blocks come as they are written; the rest reads as zeros.
    Sparse,
}

/// A lock on a store, held until it is dropped.
pub trait Lock: Send + Sync + Debug {}

/// The file system: names, space and locks. All paths are absolute or relative to the process;
/// no method follows instructions in file contents.
pub trait Disk: Send + Sync + Debug {
    /// Makes a directory and its parents, durably. An existing directory is fine.
    fn make_dir(&self, dir: &Path) -> Result<()>;

    /// What `path` leads to, or nothing if there is nothing.
    fn stat(&self, path: &Path) -> Result<Option<Stat>>;

    /// The names in a directory, in no order.
    fn list(&self, dir: &Path) -> Result<Vec<Entry>>;

    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> Result<()>;

    /// The space of the file system under `path`.
    fn space(&self, path: &Path) -> Result<Space>;

    /// The text that [`Disk::set_label`] put on a directory.
    fn label(&self, dir: &Path) -> Result<Option<String>>;

    /// Puts a text on a directory, durably, where RocketMQ does not look; `None` takes it off.
    fn set_label(&self, dir: &Path, label: Option<&str>) -> Result<()>;

    /// Locks the first byte of `path` exclusively, creating the file if need be, in the way that
    /// RocketMQ's store locks its own; fails with [`ErrorKind::Locked`](crate::ErrorKind::Locked),
    /// naming the holder where the system tells, and never waits. A directory is locked as a
    /// whole, in a way of our own: RocketMQ has no lock for its log directories.
    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>>;

    /// A new file of `len` zero bytes on the file system of `dir`, without a name until
    /// [`File::link`]; dropped without one, it leaves nothing behind.
    fn create(&self, dir: &Path, len: u64, allocation: Allocation) -> Result<Arc<dyn File>>;

    /// Opens an existing file.
    fn open(&self, path: &Path, access: Access) -> Result<Arc<dyn File>>;

    /// All bytes of a small file, or nothing if it does not exist.
    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>>;

    /// Replaces a small file's bytes, all or nothing and durably; creates it if need be.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()>;

    /// Renames a file within its file system. An existing target is an error.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file, or an empty directory. Maps and open files of it stay usable.
    fn remove(&self, path: &Path) -> Result<()>;
}

/// One file of a fixed length.
pub trait File: Send + Sync + Debug {
    /// Length in bytes; it never changes.
    fn len_bytes(&self) -> u64;

    /// Whether every block is reserved, so that stores to a map cannot run out of room.
    fn is_reserved(&self) -> bool;

    /// Takes the blocks of the whole file that are not taken yet, as a file needs that another
    /// program left sparse. [`File::is_reserved`] tells the outcome: a file system that cannot
    /// reserve is not an error, having no room is
    /// ([`ErrorKind::Full`](crate::ErrorKind::Full)).
    fn reserve(&self) -> Result<()>;

    /// Gives a nameless file its name. An existing file of that name is an error. Durable after
    /// [`Disk::sync_dir`].
    fn link(&self, path: &Path) -> Result<()>;

    /// Maps the whole file.
    fn map(&self, access: Access) -> Result<Arc<Map>>;

    /// Writes all of `bytes` at `at`.
    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()>;

    /// Fills `bytes` from `at`.
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<()>;

    /// Sets `from..to` to zeros and keeps the blocks reserved if they were.
    fn zero(&self, from: u64, to: u64) -> Result<()>;

    /// Makes everything written so far durable. A failure is final for this file.
    fn sync(&self) -> Result<()>;

    /// Makes the bytes of `range` durable, which was written through `map`, one of its own maps.
    /// What was written elsewhere may stay as it is: pages that were made ready ahead of an
    /// appender are not worth writing. A failure is final for this file.
    fn sync_range(&self, map: &Map, range: Range<u64>) -> Result<()>;

    /// The first byte at or after `from` that the file system has data for; ranges that were
    /// never written may be skipped, written zeros may be reported.
    fn next_data(&self, from: u64) -> Result<Option<u64>>;
}

/// Tells a failed operation of the system from the others by what it was about.
fn failed<'a>(operation: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |source| Error::io(operation, path, source)
}
