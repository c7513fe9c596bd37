//! The real file system and the real clock. Besides the map, this file and the four below it
//! are the only ones that touch the operating system.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod calls;
mod event;
mod file;
mod label;

use std::fs::{self, File as SystemFile, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

#[cfg(test)]
pub use self::calls::polls_readable;
pub use self::event::{Deadline, Event};
use self::file::OsFile;
use super::{Access, Allocation, Clock, Disk, Entry, EntryKind, File, Lock, Space, Stat, failed};
use crate::error::{Error, ErrorKind, Result};
pub use std::os::fd::BorrowedFd;

/// The directory beside a store's files that holds ours. RocketMQ 5 skips it; RocketMQ 4.9
/// refuses a log directory with any directory in it, so it exists only where the file system
/// leaves no other way.
pub const PRIVATE_DIR: &str = ".spanlog";

/// How the names of nameless files begin, in [`PRIVATE_DIR`], on file systems that know no
/// nameless files. A file of such a name was left by a killed process; who holds the store's lock
/// may remove it.
pub const UNNAMED_PREFIX: &str = "unnamed-";

/// What RocketMQ writes to its lock file.
const LOCK_TEXT: &[u8] = b"lock";

/// The file system of the operating system. It holds no state: any number of them are the same.
///
/// ```
/// use std::path::Path;
/// use spanlog::disk::{Disk, OsDisk};
/// assert_eq!(OsDisk::new().stat(Path::new("/no/such/directory")).expect("answers"), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OsDisk;

impl OsDisk {
    /// The one there is.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Disk for OsDisk {
    fn make_dir(&self, dir: &Path) -> Result<()> {
        make_dir(dir).map_err(failed("make a directory", dir))
    }

    fn stat(&self, path: &Path) -> Result<Option<Stat>> {
        found(stat(path)).map_err(failed("look at a path", path))
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>> {
        list(dir).map_err(failed("list a directory", dir))
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        sync_dir(dir).map_err(failed("sync a directory", dir))
    }

    fn space(&self, path: &Path) -> Result<Space> {
        calls::blocks(path).map(space_of).map_err(failed("ask for the space of a disk", path))
    }

    fn label(&self, dir: &Path) -> Result<Option<String>> {
        let bytes = label::get(dir).map_err(failed("read a directory's label", dir))?;
        let not_text = |_| Error::new(ErrorKind::Corrupt, "the label is not text").at(dir);
        bytes.map(|bytes| String::from_utf8(bytes).map_err(not_text)).transpose()
    }

    fn set_label(&self, dir: &Path, label: Option<&str>) -> Result<()> {
        let outcome = match label {
            Some(label) => label::set(dir, label.as_bytes()),
            None => label::remove(dir),
        };
        outcome.map_err(failed("label a directory", dir))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>> {
        if path.is_dir() {
            return lock_directory(path);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o644);
        let file = options.open(path).map_err(failed("open the lock file", path))?;
        match calls::lock(&file) {
            Ok(()) => Ok(Box::new(OsLock::new(file))),
            Err(error) if is_held(&error) => Err(held_by(calls::lock_holder(&file), path)),
            Err(error) => Err(Error::io("lock a file", path, error)),
        }
    }

    fn create(&self, dir: &Path, len: u64, allocation: Allocation) -> Result<Arc<dyn File>> {
        Ok(Arc::new(OsFile::create(dir, len, allocation)?))
    }

    fn open(&self, path: &Path, access: Access) -> Result<Arc<dyn File>> {
        Ok(Arc::new(OsFile::open(path, access)?))
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        found(read(path)).map_err(failed("read a file", path))
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        replace(path, bytes).map_err(failed("replace a file", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        rename_to_free(from, to).map_err(failed("rename a file", from))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        remove(path).map_err(failed("remove a file", path))
    }
}

/// Turns "there is nothing" into nothing. A path through a file leads nowhere either.
fn found<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Makes what is missing, from the top, and each name durable before the next.
fn make_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = parent_of(dir);
    if parent != dir {
        make_dir(parent)?;
    }
    match fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        outcome => outcome,
    }?;
    sync_dir(parent)
}

/// The directory that holds the name of `path`.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

fn stat(path: &Path) -> io::Result<Stat> {
    let canonical = fs::canonicalize(path)?;
    let found = fs::metadata(&canonical)?;
    let (kind, len) = kind_of(&found);
    Ok(Stat { canonical, kind, len, device: found.dev(), inode: found.ino() })
}

fn kind_of(found: &fs::Metadata) -> (EntryKind, u64) {
    if found.is_file() {
        (EntryKind::File, found.len())
    } else if found.is_dir() {
        (EntryKind::Directory, 0)
    } else {
        (EntryKind::Other, 0)
    }
}

fn list(dir: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        // A name that went away meanwhile is not there.
        let Some(metadata) = found(entry.metadata())? else { continue };
        let (kind, len) = kind_of(&metadata);
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push(Entry { name, kind, len });
    }
    Ok(entries)
}

/// Some file systems refuse to sync a directory because they need not.
fn sync_dir(dir: &Path) -> io::Result<()> {
    match open_dir(dir)?.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        outcome => outcome,
    }
}

fn open_dir(dir: &Path) -> io::Result<SystemFile> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(dir)
}

/// Opens a file without leaving a trace of it, where the file's owner lets us.
fn open_to_read(path: &Path) -> io::Result<SystemFile> {
    match OpenOptions::new().read(true).custom_flags(libc::O_NOATIME).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => SystemFile::open(path),
        outcome => outcome,
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_to_read(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes the new file beside the old one and puts it in its place once it is durable.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = path.with_file_name(format!(".{}.new", name.to_string_lossy()));
    let outcome = write_durably(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if outcome.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    outcome?;
    sync_dir(parent_of(path))
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = SystemFile::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Where the system cannot rename with that condition, a second name does.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match calls::rename_to_free(from, to) {
        Err(error)
            if error.kind() == io::ErrorKind::InvalidInput || calls::is_unsupported(&error) =>
        {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        outcome => outcome,
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => fs::remove_dir(path),
        outcome => outcome,
    }
}

/// Bytes used and available. File systems report nonsense at times, such as more free than there
/// is; the numbers are cut to what is possible. Both are zero where the system does not know.
fn space_of([block_bytes, blocks, free, available]: [u64; 4]) -> Space {
    let free = free.min(blocks);
    let bytes = |blocks: u64| {
        let wide = u128::from(blocks) * u128::from(block_bytes);
        u64::try_from(wide).unwrap_or(u64::MAX)
    };
    Space { used: bytes(blocks - free), available: bytes(available.min(free)) }
}

fn is_held(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::PermissionDenied)
}

fn held_by(pid: Option<u32>, path: &Path) -> Error {
    let message = match pid {
        Some(pid) => format!("the store is open: the lock is held by process {pid}"),
        None => String::from(
            "the store is open: the lock is held by another handle (of this or another process)",
        ),
    };
    Error::new(ErrorKind::Locked, message).at(path)
}

fn lock_directory(path: &Path) -> Result<Box<dyn Lock>> {
    let dir = SystemFile::open(path).map_err(failed("open a directory", path))?;
    match calls::lock_directory(&dir) {
        Ok(()) => Ok(Box::new(OsDirectoryLock { dir })),
        Err(error) if is_held(&error) => Err(held_by(None, path)),
        Err(error) => Err(Error::io("lock a directory", path, error)),
    }
}

/// The descriptor holds the lock.
#[derive(Debug)]
struct OsDirectoryLock {
    dir: SystemFile,
}

impl Lock for OsDirectoryLock {}

impl Drop for OsDirectoryLock {
    fn drop(&mut self) {
        // Closing the descriptor does it too, but not before every copy of it is closed.
        let _ = calls::unlock_directory(&self.dir);
    }
}

/// The descriptor holds the lock.
#[derive(Debug)]
struct OsLock {
    file: SystemFile,
}

impl OsLock {
    fn new(file: SystemFile) -> Self {
        if file.metadata().is_ok_and(|found| found.len() == 0) {
            // The lock does not need the text, so a full disk is no reason to refuse it.
            let _ = file.write_all_at(LOCK_TEXT, 0);
        }
        Self { file }
    }
}

impl Lock for OsLock {}

impl Drop for OsLock {
    fn drop(&mut self) {
        // Closing the descriptor does it too, but not before every copy of it is closed.
        let _ = calls::unlock(&self.file);
    }
}

/// The clock of the system, as of its last tick: a few milliseconds late, and cheap.
///
/// ```
/// use spanlog::disk::{Clock, OsClock};
/// let clock = OsClock::new();
/// assert!(clock.local_hour(clock.now_ms()) < 24);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OsClock;

impl OsClock {
    /// The one there is.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Clock for OsClock {
    fn now_ms(&self) -> i64 {
        calls::coarse_ms()
    }

    fn local_hour(&self, now_ms: i64) -> u32 {
        calls::local_hour(now_ms.div_euclid(1000)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
