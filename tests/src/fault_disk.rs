//! A disk that fails and lies by plan, around any other disk.
//!
//! Two kinds of trouble are kept apart. A *fault* is what [`spanlog::disk`] allows: an operation
//! fails with "no room" or otherwise. The engine must survive it. A *lie* is what nobody can
//! survive: a disk that says "done" and did nothing. Lies exist to prove that the checkers of a
//! simulation would notice a broken engine.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use spanlog::disk::{Access, Allocation, Disk, Entry, File, Lock, Map, Space, Stat};
use spanlog::{Error, ErrorKind, Result};

/// Every operation of [`Disk`] and [`File`] that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// [`Disk::make_dir`].
    MakeDir,
    /// [`Disk::stat`].
    Stat,
    /// [`Disk::list`].
    List,
    /// [`Disk::sync_dir`].
    SyncDir,
    /// [`Disk::space`].
    Space,
    /// [`Disk::label`].
    Label,
    /// [`Disk::set_label`].
    SetLabel,
    /// [`Disk::lock`].
    Lock,
    /// [`Disk::create`].
    Create,
    /// [`Disk::open`].
    Open,
    /// [`Disk::read`].
    Read,
    /// [`Disk::replace`].
    Replace,
    /// [`Disk::rename`].
    Rename,
    /// [`Disk::remove`].
    Remove,
    /// [`File::reserve`].
    Reserve,
    /// [`File::link`].
    Link,
    /// [`File::map`].
    Map,
    /// [`File::write_at`].
    WriteAt,
    /// [`File::read_at`].
    ReadAt,
    /// [`File::zero`].
    Zero,
    /// [`File::sync`].
    Sync,
    /// [`File::next_data`].
    NextData,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::MakeDir,
        Self::Stat,
        Self::List,
        Self::SyncDir,
        Self::Space,
        Self::Label,
        Self::SetLabel,
        Self::Lock,
        Self::Create,
        Self::Open,
        Self::Read,
        Self::Replace,
        Self::Rename,
        Self::Remove,
        Self::Reserve,
        Self::Link,
        Self::Map,
        Self::WriteAt,
        Self::ReadAt,
        Self::Zero,
        Self::Sync,
        Self::NextData,
    ];

    /// Whether it takes space, and so can meet a full disk.
    #[must_use]
    pub fn takes_space(self) -> bool {
        matches!(
            self,
            Self::MakeDir
                | Self::SetLabel
                | Self::Lock
                | Self::Create
                | Self::Replace
                | Self::Reserve
                | Self::Link
                | Self::WriteAt
        )
    }

    /// Whether it changes what is on the disk.
    #[must_use]
    pub fn changes(self) -> bool {
        self.takes_space() || matches!(self, Self::Rename | Self::Remove | Self::Zero)
    }
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No room.
    Full,
    /// Anything else.
    Io,
}

/// One planned failure.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Which operation fails; nothing means any.
    pub operation: Option<Operation>,
    /// The how manyth from now, from 1.
    pub nth: u64,
    /// How it fails.
    pub failure: Failure,
    /// Whether every later one fails too, as when the process ends there.
    pub lasting: bool,
}

/// What a lying disk says it did and did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// [`File::sync`] makes nothing durable.
    Sync,
    /// [`Disk::sync_dir`] makes no name durable.
    SyncDir,
    /// [`File::zero`] leaves every byte as it was.
    Zero,
}

#[derive(Debug, Default)]
struct Plan {
    faults: Vec<Fault>,
    fired: Vec<Operation>,
    counts: [u64; Operation::ALL.len()],
    lie: Option<Lie>,
    sparse: bool,
}

impl Plan {
    fn count(&mut self, operation: Operation) {
        self.counts[operation as usize] += 1;
    }

    /// The failure that is due now, if one is.
    fn due(&mut self, operation: Operation) -> Option<Failure> {
        let mut due = None;
        for fault in &mut self.faults {
            if fault.operation.is_none_or(|own| own == operation) && fault.nth > 0 {
                fault.nth -= 1;
                if fault.nth == 0 {
                    due = Some(fault.failure);
                    fault.nth = u64::from(fault.lasting);
                }
            }
        }
        self.faults.retain(|fault| fault.nth > 0);
        if due.is_some() {
            self.fired.push(operation);
        }
        due
    }
}

/// A disk around another one. Clones share plan and counts.
#[derive(Clone, Debug)]
pub struct FaultDisk {
    inner: Arc<dyn Disk>,
    plan: Arc<Mutex<Plan>>,
}

/// A file of a [`FaultDisk`].
#[derive(Debug)]
struct FaultFile {
    inner: Arc<dyn File>,
    disk: FaultDisk,
    path: PathBuf,
}

impl FaultDisk {
    /// A disk without any plan: it does what `inner` does, and counts.
    #[must_use]
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        Self { inner, plan: Arc::default() }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().expect("nobody panics with the plan held")
    }

    /// Adds a failure to the plan.
    pub fn fail(&self, fault: Fault) {
        self.plan().faults.push(fault);
    }

    /// Fails the `nth` operation of a kind from now, once.
    pub fn fail_nth(&self, operation: Operation, nth: u64, failure: Failure) {
        self.fail(Fault { operation: Some(operation), nth, failure, lasting: false });
    }

    /// Lets nothing succeed from the `nth` operation from now on, as if the process ended there.
    pub fn stop_at(&self, nth: u64) {
        self.fail(Fault { operation: None, nth, failure: Failure::Io, lasting: true });
    }

    /// Forgets every planned failure.
    pub fn heal(&self) {
        self.plan().faults.clear();
    }

    /// Lies from now on.
    pub fn lie(&self, lie: Option<Lie>) {
        self.plan().lie = lie;
    }

    /// Whether blocks cannot be reserved, as on ext2.
    pub fn set_sparse(&self, sparse: bool) {
        self.plan().sparse = sparse;
    }

    /// The operations that failed by plan so far.
    #[must_use]
    pub fn fired(&self) -> Vec<Operation> {
        self.plan().fired.clone()
    }

    /// How often an operation was called.
    #[must_use]
    pub fn count(&self, operation: Operation) -> u64 {
        self.plan().counts[operation as usize]
    }

    /// How many operations were called in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.plan().counts.iter().sum()
    }

    /// How many operations were called that change what is on the disk.
    #[must_use]
    pub fn changes(&self) -> u64 {
        Operation::ALL.iter().filter(|op| op.changes()).map(|op| self.count(*op)).sum()
    }

    fn says(&self, lie: Lie) -> bool {
        self.plan().lie == Some(lie)
    }

    /// Counts an operation, and fails it where the plan says so.
    fn enter(&self, operation: Operation, path: &Path) -> Result<()> {
        let due = {
            let mut plan = self.plan();
            plan.count(operation);
            plan.due(operation)
        };
        let Some(failure) = due else { return Ok(()) };
        let kind = match failure {
            Failure::Full if operation.takes_space() => ErrorKind::Full,
            _ => ErrorKind::Io,
        };
        Err(Error::new(kind, format!("planned failure of {operation:?}")).at(path))
    }

    fn wrap(&self, inner: Arc<dyn File>, path: &Path) -> Arc<dyn File> {
        Arc::new(FaultFile { inner, disk: self.clone(), path: path.to_owned() })
    }
}

impl Disk for FaultDisk {
    fn make_dir(&self, dir: &Path) -> Result<()> {
        self.enter(Operation::MakeDir, dir)?;
        self.inner.make_dir(dir)
    }

    fn stat(&self, path: &Path) -> Result<Option<Stat>> {
        self.enter(Operation::Stat, path)?;
        self.inner.stat(path)
    }

    fn list(&self, dir: &Path) -> Result<Vec<Entry>> {
        self.enter(Operation::List, dir)?;
        self.inner.list(dir)
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.enter(Operation::SyncDir, dir)?;
        if self.says(Lie::SyncDir) { Ok(()) } else { self.inner.sync_dir(dir) }
    }

    fn space(&self, path: &Path) -> Result<Space> {
        self.enter(Operation::Space, path)?;
        self.inner.space(path)
    }

    fn label(&self, dir: &Path) -> Result<Option<String>> {
        self.enter(Operation::Label, dir)?;
        self.inner.label(dir)
    }

    fn set_label(&self, dir: &Path, label: Option<&str>) -> Result<()> {
        self.enter(Operation::SetLabel, dir)?;
        self.inner.set_label(dir, label)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Lock>> {
        self.enter(Operation::Lock, path)?;
        self.inner.lock(path)
    }

    fn create(&self, dir: &Path, len: u64, allocation: Allocation) -> Result<Arc<dyn File>> {
        self.enter(Operation::Create, dir)?;
        let allocation = if self.plan().sparse { Allocation::Sparse } else { allocation };
        Ok(self.wrap(self.inner.create(dir, len, allocation)?, dir))
    }

    fn open(&self, path: &Path, access: Access) -> Result<Arc<dyn File>> {
        self.enter(Operation::Open, path)?;
        Ok(self.wrap(self.inner.open(path, access)?, path))
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        self.enter(Operation::Read, path)?;
        self.inner.read(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.enter(Operation::Replace, path)?;
        self.inner.replace(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.enter(Operation::Rename, from)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.enter(Operation::Remove, path)?;
        self.inner.remove(path)
    }
}

impl FaultFile {
    fn enter(&self, operation: Operation) -> Result<()> {
        self.disk.enter(operation, &self.path)
    }
}

impl File for FaultFile {
    fn len_bytes(&self) -> u64 {
        self.inner.len_bytes()
    }

    fn is_reserved(&self) -> bool {
        self.inner.is_reserved()
    }

    fn reserve(&self) -> Result<()> {
        self.enter(Operation::Reserve)?;
        if self.disk.plan().sparse { Ok(()) } else { self.inner.reserve() }
    }

    fn link(&self, path: &Path) -> Result<()> {
        self.enter(Operation::Link)?;
        self.inner.link(path)
    }

    fn map(&self, access: Access) -> Result<Arc<Map>> {
        self.enter(Operation::Map)?;
        self.inner.map(access)
    }

    /// A failed write has written its first half: a disk that ran full does that.
    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        if let Err(error) = self.enter(Operation::WriteAt) {
            self.inner.write_at(at, &bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.inner.write_at(at, bytes)
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.enter(Operation::ReadAt)?;
        self.inner.read_at(at, bytes)
    }

    fn zero(&self, from: u64, to: u64) -> Result<()> {
        self.enter(Operation::Zero)?;
        if self.disk.says(Lie::Zero) { Ok(()) } else { self.inner.zero(from, to) }
    }

    fn sync(&self) -> Result<()> {
        self.enter(Operation::Sync)?;
        if self.disk.says(Lie::Sync) { Ok(()) } else { self.inner.sync() }
    }

    fn sync_range(&self, map: &Map, range: Range<u64>) -> Result<()> {
        self.enter(Operation::Sync)?;
        if self.disk.says(Lie::Sync) { Ok(()) } else { self.inner.sync_range(map, range) }
    }

    fn next_data(&self, from: u64) -> Result<Option<u64>> {
        self.enter(Operation::NextData)?;
        self.inner.next_data(from)
    }
}
