//! A whole disk in memory that keeps what a real one promises, and nothing more. It is a product
//! of its own, for stores that need not outlive the process, and the ground that tests of crashes
//! stand on. It has no clock and no randomness: the same calls give the same answers.

mod body;
mod damage;
mod file;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use self::body::Body;
use self::file::MemFile;
use self::names::{Names, Node, canonical};
use super::{Access, Allocation, Disk, Entry, EntryKind, File, Lock, Space, Stat, failed};
use crate::base::sync::Mutex;
use crate::error::{Error, ErrorKind, Result};

/// The space of a disk for which nobody set one: 1 TiB.
const CAPACITY_BYTES: u64 = 1 << 40;

/// A disk in memory. Relative paths begin at its root; there are no symbolic links.
///
/// Each sub-tree with a capacity of its own is a file system of its own. Set capacities before
/// making files: a file stays on the device it was made on.
///
/// ```
/// use std::path::Path;
/// use spanlog::disk::{Allocation, Disk, File, MemDisk};
/// # fn main() -> spanlog::Result<()> {
/// let disk = MemDisk::new();
/// disk.make_dir(Path::new("/data"))?;
/// let file = disk.create(Path::new("/data"), 4096, Allocation::Reserved)?;
/// file.link(Path::new("/data/one"))?;
/// file.write_at(0, b"new")?;
/// disk.sync_dir(Path::new("/data"))?;
///
/// // The name is durable, the bytes are not: a crash may keep the old ones.
/// let crashed = disk.crash(&mut || false);
/// assert_eq!(crashed.read(Path::new("/data/one"))?.expect("the name"), [0; 4096]);
/// # Ok(())
/// # }
/// ```
pub struct MemDisk {
    state: Arc<Mutex<State>>,
}

/// One file system of the disk.
#[derive(Clone, Debug)]
struct Mount {
    device: u64,
    capacity: u64,
    read_only: bool,
}

/// Everything there is on the disk.
#[derive(Debug)]
struct State {
    names: Names,
    labels: BTreeMap<PathBuf, String>,
    mounts: BTreeMap<PathBuf, Mount>,
    /// Inodes of locked files.
    locks: BTreeSet<u64>,
    /// All files that anybody still uses, for their space.
    bodies: Vec<Weak<Body>>,
    next_inode: u64,
}

impl Default for MemDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemDisk").finish_non_exhaustive()
    }
}

impl MemDisk {
    /// An empty disk: a root directory and 1 TiB of space.
    #[must_use]
    pub fn new() -> Self {
        let root = Mount { device: 1, capacity: CAPACITY_BYTES, read_only: false };
        Self::with(State {
            names: Names::new(1),
            labels: BTreeMap::new(),
            mounts: BTreeMap::from([(PathBuf::from("/"), root)]),
            locks: BTreeSet::new(),
            bodies: Vec::new(),
            next_inode: 2,
        })
    }

    fn with(state: State) -> Self {
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Makes `mount`, and all below it that is no mount itself, a file system of `bytes` bytes.
    /// Changing it later makes room, or takes it away; what was written stays.
    ///
    /// Files take space in blocks of 4096 bytes: reserved ones all of it, sparse ones what was
    /// written. Stores to a map of a sparse file are counted and never fail.
    pub fn set_capacity(&self, mount: &Path, bytes: u64) {
        self.state.lock().mount_at(mount).capacity = bytes;
    }

    /// Makes `mount` a file system that refuses every change, or accepts them again. Stores to
    /// maps go on, and it is [`File::sync`] that fails.
    pub fn set_read_only(&self, mount: &Path, read_only: bool) {
        self.state.lock().mount_at(mount).read_only = read_only;
    }

    /// The disk after a power failure now: a new one that shares nothing with this one, which
    /// stays usable.
    ///
    /// Of each sector of 512 bytes that changed since its file was synced, `choose` says whether
    /// it holds the new bytes; of each name that changed since its directory was synced, whether
    /// it is the new one. A renamed file is there under one of its names. Nameless files and
    /// locks are gone, labels stay. `choose` is asked in an order that depends on the disk alone.
    #[must_use]
    pub fn crash(&self, choose: &mut dyn FnMut() -> bool) -> Self {
        let state = self.state.lock();
        let names = state.names.crash(choose);
        Self::with(state.continued(names.with_bodies(|body| body.crash(choose))))
    }

    /// The disk after its process was killed: a new one that shares nothing with this one, which
    /// stays usable. Everything written is there, durable or not; nameless files and locks are
    /// gone.
    #[must_use]
    pub fn kill(&self) -> Self {
        let state = self.state.lock();
        Self::with(state.continued(state.names.with_bodies(Body::duplicate)))
    }
}

impl State {
    /// The state of another disk that has the same settings and these names.
    fn continued(&self, names: Names) -> Self {
        let mut labels = self.labels.clone();
        labels.retain(|dir, _| names.directory(dir).is_ok());
        let bodies = names.bodies().map(Arc::downgrade).collect();
        let (mounts, next_inode) = (self.mounts.clone(), self.next_inode);
        Self { names, labels, mounts, locks: BTreeSet::new(), bodies, next_inode }
    }

    fn mount_at(&mut self, path: &Path) -> &mut Mount {
        let path = canonical(path);
        self.make_dirs(&path);
        let device = self.mounts.len() as u64 + 1;
        let fresh = Mount { device, capacity: CAPACITY_BYTES, read_only: false };
        self.mounts.entry(path).or_insert(fresh)
    }

    /// The file system that holds `path`.
    fn mount(&self, path: &Path) -> &Mount {
        let mut mounts = path.ancestors().filter_map(|dir| self.mounts.get(dir));
        mounts.next().expect("the root is a mount")
    }

    /// The file system of that number.
    fn device(&self, device: u64) -> &Mount {
        let mut mounts = self.mounts.values();
        mounts.find(|mount| mount.device == device).expect("mounts are never taken away")
    }

    /// The file system that holds `path`, if it accepts changes.
    fn writable(&self, path: &Path) -> io::Result<&Mount> {
        let mount = self.mount(path);
        if mount.read_only { Err(io::ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(mount) }
    }

    fn used(&self, device: u64) -> u64 {
        let bodies = self.bodies.iter().filter_map(Weak::upgrade);
        bodies.filter(|body| body.device == device).map(|body| body.taken_bytes()).sum()
    }

    /// Refuses `bytes` more where there is no room for them.
    fn check_room(&self, device: u64, bytes: u64) -> io::Result<()> {
        let (used, capacity) = (self.used(device), self.device(device).capacity);
        let fits = used.checked_add(bytes).is_some_and(|sum| sum <= capacity);
        // What takes nothing fits even where there is less than nothing.
        if fits || bytes == 0 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn new_inode(&mut self) -> u64 {
        self.next_inode += 1;
        self.next_inode - 1
    }

    /// Remembers a file for its space.
    fn adopt(&mut self, body: Body) -> Arc<Body> {
        self.bodies.retain(|body| body.strong_count() > 0);
        let body = Arc::new(body);
        self.bodies.push(Arc::downgrade(&body));
        body
    }

    fn new_file(&mut self, dir: &Path, bytes: Vec<u8>) -> io::Result<Arc<Body>> {
        let device = self.writable(dir)?.device;
        let body = Body::with_bytes(self.new_inode(), device, bytes);
        self.check_room(device, body.size_bytes())?;
        Ok(self.adopt(body))
    }

    /// Makes a directory and its parents, whatever the mounts say.
    fn make_dirs(&mut self, dir: &Path) {
        let dirs: Vec<&Path> = dir.ancestors().collect();
        for dir in dirs.into_iter().rev() {
            if self.names.get(dir).is_none() {
                let inode = self.new_inode();
                self.names.put(dir, Node::Directory { inode });
            }
        }
    }

    fn make_dir(&mut self, dir: &Path) -> io::Result<()> {
        let found = dir.ancestors().find(|dir| self.names.get(dir).is_some());
        let nearest = found.expect("the root is there");
        self.names.directory(nearest)?;
        if nearest != dir {
            self.writable(nearest)?;
            self.make_dirs(dir);
        }
        Ok(())
    }

    fn stat(&self, path: PathBuf) -> Option<Stat> {
        let node = self.names.get(&path)?;
        let (kind, len) = kind_of(node);
        let device = match node {
            Node::File(body) => body.device,
            Node::Directory { .. } => self.mount(&path).device,
        };
        Some(Stat { kind, len, device, inode: node.inode(), canonical: path })
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.names.directory(dir)?;
        let entry = |(path, node): (&Path, &Node)| {
            let (kind, len) = kind_of(node);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Entry { name, kind, len }
        };
        Ok(self.names.list(dir).map(entry).collect())
    }

    fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.names.directory(dir)?;
        if !self.names.is_synced(dir) {
            self.writable(dir)?;
            self.names.sync(dir);
        }
        Ok(())
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        self.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        let mount = self.mount(path);
        let used = self.used(mount.device);
        Ok(Space { used, available: mount.capacity.saturating_sub(used) })
    }

    fn set_label(&mut self, dir: &Path, label: Option<&str>) -> io::Result<()> {
        self.names.directory(dir)?;
        self.writable(dir)?;
        match label {
            Some(label) => self.labels.insert(dir.to_owned(), label.to_owned()),
            None => self.labels.remove(dir),
        };
        Ok(())
    }

    /// The file to lock, made if it is not there.
    fn lock_file(&mut self, path: &Path) -> io::Result<u64> {
        if let Ok(inode) = self.names.directory(path) {
            return Ok(inode);
        }
        let dir = self.writable(path).map(|_| path.parent().unwrap_or(path))?;
        if self.names.get(path).is_none() {
            self.names.check_free(path)?;
            let body = self.new_file(dir, b"lock".to_vec())?;
            self.names.link(path, Node::File(body))?;
        }
        self.names.file(path).map(|body| body.inode)
    }

    fn create(&mut self, dir: &Path, len: u64, allocation: Allocation) -> io::Result<Arc<Body>> {
        self.names.directory(dir)?;
        let device = self.writable(dir)?.device;
        let body = Body::zeroed(self.new_inode(), device, len);
        if allocation == Allocation::Reserved {
            body.reserve();
        }
        self.check_room(device, body.size_bytes())?;
        Ok(self.adopt(body))
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let dir = path.parent().ok_or(io::ErrorKind::IsADirectory)?;
        self.names.directory(dir)?;
        if self.names.get(path).is_some() {
            self.names.file(path)?;
        }
        let body = self.new_file(dir, bytes.to_vec())?;
        self.names.put(path, Node::File(body));
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if self.writable(from)?.device != self.writable(to)?.device {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        self.names.rename(from, to)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.writable(path)?;
        self.names.remove(path)?;
        self.labels.remove(path);
        Ok(())
    }
}

fn kind_of(node: &Node) -> (EntryKind, u64) {
    match node {
        Node::Directory { .. } => (EntryKind::Directory, 0),
        Node::File(body) => (EntryKind::File, body.len()),
    }
}

impl Disk for MemDisk {
    fn make_dir(&self, dir: &Path) -> Result<()> {
        self.state.lock().make_dir(&canonical(dir)).map_err(failed("make a directory", dir))
    }

    fn stat(&self, path: &Path) -> Result<Option<Stat>> {
        Ok(self.state.lock().stat(canonical(path)))
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>> {
        self.state.lock().list(&canonical(dir)).map_err(failed("list a directory", dir))
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.state.lock().sync_dir(&canonical(dir)).map_err(failed("sync a directory", dir))
    }

    fn space(&self, path: &Path) -> Result<Space> {
        let space = self.state.lock().space(&canonical(path));
        space.map_err(failed("ask for the space of a disk", path))
    }

    fn label(&self, dir: &Path) -> Result<Option<String>> {
        let (state, path) = (self.state.lock(), canonical(dir));
        state.names.directory(&path).map_err(failed("read a directory's label", dir))?;
        Ok(state.labels.get(&path).cloned())
    }

    fn set_label(&self, dir: &Path, label: Option<&str>) -> Result<()> {
        let outcome = self.state.lock().set_label(&canonical(dir), label);
        outcome.map_err(failed("label a directory", dir))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>> {
        let mut state = self.state.lock();
        let inode = state.lock_file(&canonical(path)).map_err(failed("lock a file", path))?;
        if !state.locks.insert(inode) {
            let message = "the store is open: the lock is held by another handle of this process";
            return Err(Error::new(ErrorKind::Locked, message).at(path));
        }
        Ok(Box::new(MemLock { state: Arc::clone(&self.state), inode }))
    }

    fn create(&self, dir: &Path, len: u64, allocation: Allocation) -> Result<Arc<dyn File>> {
        let body = self.state.lock().create(&canonical(dir), len, allocation);
        let body = body.map_err(|error| Error::io("create a file", dir, error).with_limit(len))?;
        Ok(Arc::new(MemFile::nameless(Arc::clone(&self.state), body, dir)))
    }

    fn open(&self, path: &Path, access: Access) -> Result<Arc<dyn File>> {
        let (state, own) = (self.state.lock(), canonical(path));
        let allowed = match access {
            Access::Read => Ok(()),
            Access::Write => state.writable(&own).map(|_| ()),
        };
        let found = allowed.and_then(|()| state.names.file(&own).map(Arc::clone));
        let body = found.map_err(failed("open a file", path))?;
        Ok(Arc::new(MemFile::named(Arc::clone(&self.state), body, path, access)))
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match self.state.lock().names.file(&canonical(path)) {
            Ok(body) => Ok(Some(body.bytes())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read a file", path, error)),
        }
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let outcome = self.state.lock().replace(&canonical(path), bytes);
        outcome.map_err(failed("replace a file", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let outcome = self.state.lock().rename(&canonical(from), &canonical(to));
        outcome.map_err(failed("rename a file", from))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.state.lock().remove(&canonical(path)).map_err(failed("remove a file", path))
    }
}

/// A lock on a file of a disk in memory.
#[derive(Debug)]
struct MemLock {
    state: Arc<Mutex<State>>,
    inode: u64,
}

impl Lock for MemLock {}

impl Drop for MemLock {
    fn drop(&mut self) {
        self.state.lock().locks.remove(&self.inode);
    }
}

#[cfg(test)]
mod tests;
