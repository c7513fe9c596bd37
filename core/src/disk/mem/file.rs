//! An open file of a disk in memory.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::{Access, File, HeapMemory, Map};
use super::State;
use super::body::Body;
use super::names::{Node, canonical};
use crate::base::sync::Mutex;
use crate::error::{Error, ErrorKind, Result};

/// One handle of a file.
#[derive(Debug)]
pub struct MemFile {
    state: Arc<Mutex<State>>,
    body: Arc<Body>,
    /// Counts as a user of the file.
    memory: Arc<HeapMemory>,
    access: Access,
    name: Mutex<Name>,
}

/// Where errors point to: the file, or the directory that it was made in.
#[derive(Debug)]
struct Name {
    path: PathBuf,
    is_given: bool,
}

impl MemFile {
    /// A file that was made in `dir` and has no name.
    pub(super) fn nameless(state: Arc<Mutex<State>>, body: Arc<Body>, dir: &Path) -> Self {
        let name = Name { path: dir.to_owned(), is_given: false };
        Self::new(state, body, Access::Write, name)
    }

    /// A file that was opened at `path`.
    pub(super) fn named(
        state: Arc<Mutex<State>>,
        body: Arc<Body>,
        path: &Path,
        access: Access,
    ) -> Self {
        Self::new(state, body, access, Name { path: path.to_owned(), is_given: true })
    }

    fn new(state: Arc<Mutex<State>>, body: Arc<Body>, access: Access, name: Name) -> Self {
        let memory = Arc::clone(&body.memory);
        Self { state, body, memory, access, name: Mutex::new(name) }
    }

    fn told(&self, operation: &str, error: io::Error) -> Error {
        Error::io(operation, &self.name.lock().path, error)
    }

    /// Refuses what does not lie within the file, which must not grow.
    fn check(&self, from: u64, to: Option<u64>) -> Result<()> {
        if to.is_some_and(|to| from <= to && to <= self.body.len()) {
            return Ok(());
        }
        let error = Error::new(ErrorKind::Invalid, "the range does not lie within the file");
        let path = self.name.lock().path.clone();
        Err(error.at(&path).with_offset(from).with_limit(self.body.len()))
    }

    /// Refuses changes of a file that is open for reading, or on a read-only disk.
    fn check_writable(&self, state: &State) -> io::Result<()> {
        if self.access == Access::Read {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let read_only = state.device(self.body.device).read_only;
        if read_only { Err(io::ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }

    fn give_name(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        self.check_writable(&state)?;
        let own = canonical(path);
        state.names.check_free(&own)?;
        if state.mount(&own).device != self.body.device {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        state.names.link(&own, Node::File(Arc::clone(&self.body)))
    }

    fn take_blocks(&self) -> io::Result<()> {
        let state = self.state.lock();
        self.check_writable(&state)?;
        let missing = self.body.missing_bytes(0, self.body.len());
        state.check_room(self.body.device, missing)?;
        self.body.reserve();
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let state = self.state.lock();
        self.check_writable(&state)?;
        let missing = self.body.missing_bytes(at, at + bytes.len() as u64);
        state.check_room(self.body.device, missing)?;
        self.memory.write(at, bytes);
        Ok(())
    }

    fn make_durable(&self, range: Range<u64>) -> io::Result<()> {
        let state = self.state.lock();
        if self.body.is_dirty() && state.device(self.body.device).read_only {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        self.body.sync(range);
        Ok(())
    }
}

impl File for MemFile {
    fn len_bytes(&self) -> u64 {
        self.body.len()
    }

    fn is_reserved(&self) -> bool {
        self.body.is_reserved()
    }

    fn reserve(&self) -> Result<()> {
        let told = |error| self.told("reserve the blocks of a file", error);
        self.take_blocks().map_err(|error| told(error).with_limit(self.body.len()))
    }

    fn link(&self, path: &Path) -> Result<()> {
        let mut name = self.name.lock();
        if name.is_given {
            return Err(Error::new(ErrorKind::Invalid, "the file has a name").at(&name.path));
        }
        let told = |error| Error::io("give a file its name", path, error);
        self.give_name(path).map_err(told)?;
        *name = Name { path: path.to_owned(), is_given: true };
        Ok(())
    }

    fn map(&self, access: Access) -> Result<Arc<Map>> {
        if access == Access::Write && self.access == Access::Read {
            return Err(self.told("map a file", io::ErrorKind::PermissionDenied.into()));
        }
        Ok(Map::heap(Arc::clone(&self.memory), access))
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        self.check(at, at.checked_add(bytes.len() as u64))?;
        self.write(at, bytes).map_err(|error| self.told("write a file", error).with_offset(at))
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.check(at, at.checked_add(bytes.len() as u64))?;
        self.memory.read(at, bytes);
        Ok(())
    }

    fn zero(&self, from: u64, to: u64) -> Result<()> {
        self.check(from, Some(to))?;
        let told = |error| self.told("zero a range of a file", error).with_offset(from);
        self.check_writable(&self.state.lock()).map_err(told)?;
        self.memory.clear(from..to);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.make_durable(0..u64::MAX).map_err(|error| self.told("sync a file", error))
    }

    /// Nothing but the range, so that a crash finds out who relied on more.
    fn sync_range(&self, _: &Map, range: Range<u64>) -> Result<()> {
        self.check(range.start, Some(range.end))?;
        self.make_durable(range).map_err(|error| self.told("sync a range of a file", error))
    }

    fn next_data(&self, from: u64) -> Result<Option<u64>> {
        Ok(self.memory.changes().next_written(from, self.body.len()))
    }
}
