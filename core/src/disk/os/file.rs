//! A file of the operating system.

use std::fs::{self, File as SystemFile, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use super::super::{Access, Allocation, File, Map, failed};
use super::calls::{self, Blocks};
use super::{PRIVATE_DIR, UNNAMED_PREFIX, open_to_read, rename_to_free};
use crate::base::sync::Mutex;
use crate::error::{Error, ErrorKind, Result};

/// The unit of `st_blocks`, whatever the file system's own.
const STAT_BLOCK_BYTES: u64 = 512;

/// Zeros written at once where the file system cannot make them itself.
const ZEROS_BYTES: usize = 1 << 20;

/// How a file came to its name.
#[derive(Debug)]
enum Naming {
    Named,
    /// No name: the system frees it.
    Nameless,
    /// A name that only stands for having none: we remove it.
    Unnamed,
}

/// One open file. It has a descriptor of its own.
#[derive(Debug)]
pub struct OsFile {
    file: SystemFile,
    len: u64,
    reserved: AtomicBool,
    /// The directory while it has no name, for errors to point to.
    name: Mutex<(PathBuf, Naming)>,
}

impl OsFile {
    /// See [`Disk::create`](crate::disk::Disk::create).
    pub fn create(dir: &Path, len: u64, allocation: Allocation) -> Result<Self> {
        let created = match open_nameless(dir) {
            Ok(file) => Self::new(file, dir.to_owned(), Naming::Nameless, len),
            Err(error) if needs_a_name(&error) => {
                return Self::create_unnamed(dir, len, allocation);
            }
            Err(error) => return Err(Error::io("create a file", dir, error)),
        };
        created.size(allocation)
    }

    /// Creates a file on a file system that knows no nameless ones.
    pub fn create_unnamed(dir: &Path, len: u64, allocation: Allocation) -> Result<Self> {
        let (file, path) = open_unnamed(dir).map_err(failed("create a file", dir))?;
        Self::new(file, path, Naming::Unnamed, len).size(allocation)
    }

    /// See [`Disk::open`](crate::disk::Disk::open).
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        let file = match access {
            Access::Read => open_to_read(path),
            Access::Write => OpenOptions::new().read(true).write(true).open(path),
        };
        let file = file.map_err(failed("open a file", path))?;
        let found = file.metadata().map_err(failed("look at a file", path))?;
        if !found.is_file() {
            return Err(Error::new(ErrorKind::Io, "not a regular file").at(path));
        }
        let opened = Self::new(file, path.to_owned(), Naming::Named, found.len());
        let taken = found.blocks().saturating_mul(STAT_BLOCK_BYTES);
        opened.reserved.store(taken >= found.len(), Ordering::Relaxed);
        Ok(opened)
    }

    fn new(file: SystemFile, path: PathBuf, naming: Naming, len: u64) -> Self {
        let reserved = AtomicBool::new(false);
        Self { file, len, reserved, name: Mutex::new((path, naming)) }
    }

    /// Gives a new file its length, and its blocks if wanted.
    fn size(self, allocation: Allocation) -> Result<Self> {
        let path = self.path();
        let longest = calls::longest_file();
        if self.len > longest {
            let text = "the process may not make so long a file (ulimit -f)";
            return Err(Error::new(ErrorKind::Full, text).at(&path).with_limit(longest));
        }
        self.file.set_len(self.len).map_err(failed("set a file's length", &path))?;
        if allocation == Allocation::Reserved {
            self.reserve()?;
        }
        Ok(self)
    }

    fn path(&self) -> PathBuf {
        self.name.lock().0.clone()
    }

    fn told(&self, operation: &str, error: io::Error) -> Error {
        Error::io(operation, &self.path(), error)
    }

    /// Refuses what does not lie within the file, which must not grow.
    fn check(&self, from: u64, to: Option<u64>) -> Result<()> {
        if to.is_some_and(|to| from <= to && to <= self.len) {
            return Ok(());
        }
        let error = Error::new(ErrorKind::Invalid, "the range does not lie within the file");
        Err(error.at(&self.path()).with_offset(from).with_limit(self.len))
    }

    /// Zeros a range and keeps its blocks, in the best way the file system knows. A failure
    /// half-way leaves blocks free that were taken.
    fn zero_reserved(&self, from: u64, to: u64) -> io::Result<()> {
        match calls::change_blocks(&self.file, Blocks::Zero, from, to) {
            Err(error) if calls::is_unsupported(&error) => {}
            outcome => return outcome,
        }
        self.zero_sparse(from, to)?;
        let outcome = calls::change_blocks(&self.file, Blocks::Take, from, to);
        self.reserved.store(outcome.is_ok(), Ordering::Relaxed);
        outcome
    }

    fn zero_sparse(&self, from: u64, to: u64) -> io::Result<()> {
        match calls::change_blocks(&self.file, Blocks::Punch, from, to) {
            Err(error) if calls::is_unsupported(&error) => self.write_zeros(from, to),
            outcome => outcome,
        }
    }

    fn write_zeros(&self, from: u64, to: u64) -> io::Result<()> {
        let zeros = vec![0_u8; ZEROS_BYTES.min((to - from) as usize)];
        let mut at = from;
        while at < to {
            let len = (to - at).min(zeros.len() as u64);
            self.file.write_all_at(&zeros[..len as usize], at)?;
            at += len;
        }
        Ok(())
    }
}

impl File for OsFile {
    fn len_bytes(&self) -> u64 {
        self.len
    }

    fn is_reserved(&self) -> bool {
        self.reserved.load(Ordering::Relaxed)
    }

    fn reserve(&self) -> Result<()> {
        let outcome = match self.len {
            0 => Ok(()),
            len => calls::change_blocks(&self.file, Blocks::Take, 0, len),
        };
        match outcome {
            Ok(()) => self.reserved.store(true, Ordering::Relaxed),
            Err(error) if calls::is_unsupported(&error) => {}
            Err(error) => {
                return Err(self.told("reserve the blocks of a file", error).with_limit(self.len));
            }
        }
        Ok(())
    }

    fn link(&self, path: &Path) -> Result<()> {
        let mut name = self.name.lock();
        let outcome = match name.1 {
            Naming::Named => {
                return Err(Error::new(ErrorKind::Invalid, "the file has a name").at(&name.0));
            }
            Naming::Nameless => calls::link(&self.file, path),
            Naming::Unnamed => rename_to_free(&name.0, path).map(|()| remove_private_dir(&name.0)),
        };
        outcome.map_err(failed("give a file its name", path))?;
        *name = (path.to_owned(), Naming::Named);
        Ok(())
    }

    fn map(&self, access: Access) -> Result<Arc<Map>> {
        let path = self.path();
        match map(&self.file, self.len, access) {
            Ok(mapping) => Ok(Map::file(mapping, access, &path)),
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Err(out_of_maps(&path, error))
            }
            Err(error) => Err(Error::io("map a file", &path, error)),
        }
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        self.check(at, at.checked_add(bytes.len() as u64))?;
        self.file
            .write_all_at(bytes, at)
            .map_err(|error| self.told("write a file", error).with_offset(at))
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.check(at, at.checked_add(bytes.len() as u64))?;
        self.file
            .read_exact_at(bytes, at)
            .map_err(|error| self.told("read a file", error).with_offset(at))
    }

    fn zero(&self, from: u64, to: u64) -> Result<()> {
        self.check(from, Some(to))?;
        let outcome = match (from == to, self.is_reserved()) {
            (true, _) => Ok(()),
            (false, true) => self.zero_reserved(from, to),
            (false, false) => self.zero_sparse(from, to),
        };
        outcome.map_err(|error| self.told("zero a range of a file", error).with_offset(from))
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.told("sync a file", error))
    }

    fn sync_range(&self, map: &Map, range: Range<u64>) -> Result<()> {
        self.check(range.start, Some(range.end))?;
        let at = range.start;
        map.sync(range).map_err(|error| self.told("sync a range of a file", error).with_offset(at))
    }

    fn next_data(&self, from: u64) -> Result<Option<u64>> {
        if from >= self.len {
            return Ok(None);
        }
        let found = calls::seek_data(&self.file, from);
        let found = found.map_err(|error| self.told("look for data in a file", error))?;
        Ok(found.filter(|at| *at < self.len))
    }
}

impl Drop for OsFile {
    fn drop(&mut self) {
        let (path, naming) = self.name.get_mut();
        if matches!(naming, Naming::Unnamed) {
            // What stays is found by its name when the store is opened.
            let _ = fs::remove_file(&*path);
            remove_private_dir(path);
        }
    }
}

fn open_nameless(dir: &Path) -> io::Result<SystemFile> {
    OpenOptions::new().read(true).write(true).mode(0o644).custom_flags(libc::O_TMPFILE).open(dir)
}

/// How file systems, and kernels before 3.11, say that they know no nameless files. The last one
/// is also said of a missing directory, where the next attempt will say it again.
fn needs_a_name(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT))
}

/// Makes a file under a name that nobody has. The loop also covers another file's end taking our
/// empty directory away.
fn open_unnamed(dir: &Path) -> io::Result<(SystemFile, PathBuf)> {
    let private = dir.join(PRIVATE_DIR);
    let mut number = 0_u64;
    loop {
        match fs::create_dir(&private) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let path = private.join(format!("{UNNAMED_PREFIX}{}-{number}", process::id()));
        let mut options = OpenOptions::new();
        match options.read(true).write(true).mode(0o644).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => return outcome.map(|file| (file, path)),
        }
    }
}

/// Removes the private directory that holds `path`, if it is empty now.
fn remove_private_dir(path: &Path) {
    if let Some(private) = path.parent() {
        // Anything else in it keeps it.
        let _ = fs::remove_dir(private);
    }
}

fn map(file: &SystemFile, len: u64, access: Access) -> io::Result<MmapRaw> {
    let mut options = MmapOptions::new();
    options.len(usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?);
    match access {
        Access::Read => options.map_raw_read_only(file),
        Access::Write => options.map_raw(file),
    }
}

/// The system says "out of memory" for two limits that have little to do with memory.
fn out_of_maps(path: &Path, error: io::Error) -> Error {
    let number = |text: String| text.trim().parse::<u64>().ok();
    let allowed = fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(number);
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let count = maps.iter().filter(|byte| **byte == b'\n').count() as u64;
    match allowed {
        // The list has one line, for the kernel itself, that does not count.
        Some(allowed) if count >= allowed => {
            let operation = "map a file: the process has as many maps as vm.max_map_count allows";
            Error::io(operation, path, error).with_limit(allowed)
        }
        _ => Error::io("map a file: it passes the address space of RLIMIT_AS", path, error),
    }
}
