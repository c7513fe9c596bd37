//! One file of a line: its base, its length, its map while somebody needs it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::disk::{Access, Disk, File, Map};
use crate::error::{Error, ErrorKind, Result};
use crate::segment::Budget;

/// One file of a line. It is opened and mapped when somebody first needs its bytes, and unmapped
/// when the budget asks; whoever holds its map keeps the bytes alive, also after the file was
/// removed. Any thread may use it.
#[derive(Debug)]
pub struct Segment {
    base: Position,
    len: u64,
    path: PathBuf,
    /// The directory's number within its store.
    directory: u64,
    disk: Arc<dyn Disk>,
    budget: Arc<Budget>,
    access: Access,
    open: Mutex<Open>,
    used: AtomicU64,
    /// Whether the file's name is known to be durable.
    named: AtomicBool,
    /// Whether retention dropped it: its file may be gone.
    dropped: AtomicBool,
    /// Store time of the last record, or `i64::MIN` until somebody looked.
    last_store_ms: AtomicI64,
}

#[derive(Debug, Default)]
struct Open {
    file: Option<Arc<dyn File>>,
    map: Option<Arc<Map>>,
}

/// Where a segment stands: what the file is called and what it covers.
#[derive(Clone, Debug)]
pub struct Place {
    /// First position it covers.
    pub base: Position,
    /// Length in bytes.
    pub len: u64,
    /// The file.
    pub path: PathBuf,
    /// The directory's number within its store.
    pub directory: u64,
}

impl Segment {
    /// A segment whose file exists; nothing is opened yet.
    #[must_use]
    pub fn existing(
        disk: &Arc<dyn Disk>,
        budget: &Arc<Budget>,
        place: Place,
        access: Access,
    ) -> Self {
        Self {
            base: place.base,
            len: place.len,
            path: place.path,
            directory: place.directory,
            disk: Arc::clone(disk),
            budget: Arc::clone(budget),
            access,
            open: Mutex::default(),
            used: AtomicU64::new(0),
            // Who made the file may have been killed before its name was durable.
            named: AtomicBool::new(access == Access::Read),
            dropped: AtomicBool::new(false),
            last_store_ms: AtomicI64::new(i64::MIN),
        }
    }

    /// A segment whose file was just made and linked; its name is not durable yet.
    #[must_use]
    pub fn created(
        disk: &Arc<dyn Disk>,
        budget: &Arc<Budget>,
        place: Place,
        file: Arc<dyn File>,
    ) -> Self {
        let segment = Self::existing(disk, budget, place, Access::Write);
        segment.open.lock().file = Some(file);
        segment
    }

    /// The segment that continues in the file of this one, which was renamed to `place` and which
    /// nobody uses any more. A map stays what it is.
    #[must_use]
    pub fn recycled(&self, place: Place) -> Arc<Self> {
        let segment = Self::existing(&self.disk, &self.budget, place, self.access);
        let map = self.open.lock().map.take();
        let is_mapped = map.is_some();
        segment.open.lock().map = map;
        let segment = Arc::new(segment);
        if is_mapped {
            self.budget.register(&segment);
        }
        segment
    }

    /// Whether it has a map now.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.open.lock().map.is_some()
    }

    /// First position it covers.
    #[must_use]
    pub fn base(&self) -> Position {
        self.base
    }

    /// The position after its last byte.
    #[must_use]
    pub fn end(&self) -> Position {
        self.base + self.len
    }

    /// Length in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory's number within its store.
    #[must_use]
    pub fn directory(&self) -> u64 {
        self.directory
    }

    /// Whether `position` lies in it.
    #[must_use]
    pub fn covers(&self, position: Position) -> bool {
        self.base <= position && position < self.end()
    }

    /// The store time of its last record, in milliseconds, once somebody has looked.
    #[must_use]
    pub fn last_store_ms(&self) -> Option<i64> {
        Some(self.last_store_ms.load(Ordering::Relaxed)).filter(|&time| time != i64::MIN)
    }

    /// Remembers the store time of its last record.
    pub fn set_last_store_ms(&self, time: i64) {
        self.last_store_ms.store(time, Ordering::Relaxed);
    }

    /// The map, made now if need be.
    ///
    /// # Errors
    /// `Full` when every map is held, `Offline` when the file is gone, else what the disk says.
    pub fn map(self: &Arc<Self>) -> Result<Arc<Map>> {
        self.map_with(|budget| budget.reserve())
    }

    /// As [`Segment::map`], but never refused because readers hold every map: for the appender.
    ///
    /// # Errors
    /// `Offline` when the file is gone, else what the disk says.
    pub fn map_for_writing(self: &Arc<Self>) -> Result<Arc<Map>> {
        self.map_with(|budget| {
            budget.reserve_for_writing();
            Ok(())
        })
    }

    fn map_with(self: &Arc<Self>, reserve: impl Fn(&Budget) -> Result<()>) -> Result<Arc<Map>> {
        self.used.store(self.budget.tick(), Ordering::Relaxed);
        if let Some(map) = &self.open.lock().map {
            return Ok(Arc::clone(map));
        }
        reserve(&self.budget)?;
        let made = self.make_map();
        match &made {
            Ok((_, true)) => self.budget.register(self),
            _ => self.budget.release(),
        }
        made.map(|(map, _)| map)
    }

    /// The map, and whether this call made it.
    fn make_map(&self) -> Result<(Arc<Map>, bool)> {
        let mut open = self.open.lock();
        if let Some(map) = &open.map {
            return Ok((Arc::clone(map), false));
        }
        let file = match &open.file {
            Some(file) => Arc::clone(file),
            None => self.open_file(self.access)?,
        };
        let map = file.map(self.access)?;
        open.map = Some(Arc::clone(&map));
        Ok((map, true))
    }

    /// The file, kept open until [`Segment::close_file`].
    ///
    /// # Errors
    /// `Offline` when the file is gone, else what the disk says.
    pub fn file(&self) -> Result<Arc<dyn File>> {
        let mut open = self.open.lock();
        if let Some(file) = &open.file {
            return Ok(Arc::clone(file));
        }
        let file = self.open_file(self.access)?;
        open.file = Some(Arc::clone(&file));
        Ok(file)
    }

    fn open_file(&self, access: Access) -> Result<Arc<dyn File>> {
        let file = self.disk.open(&self.path, access).map_err(|error| {
            match self.disk.stat(&self.path) {
                Ok(None) if self.dropped.load(Ordering::Acquire) => {
                    Error::new(ErrorKind::Gone, "retention dropped that part of the line")
                        .at(&self.path)
                        .with_limit(self.end().get())
                }
                Ok(None) => Error::new(ErrorKind::Offline, "the segment's file is gone")
                    .at(&self.path)
                    .with_range(self.base.get()..self.end().get()),
                _ => error,
            }
        })?;
        if file.len_bytes() == self.len {
            return Ok(file);
        }
        Err(Error::new(ErrorKind::Corrupt, "the file's length changed while the store was open")
            .at(&self.path)
            .with_offset(file.len_bytes())
            .with_limit(self.len))
    }

    /// Lets the descriptor go; a map stays.
    pub fn close_file(&self) {
        self.open.lock().file = None;
    }

    /// Makes what was written to the file durable, and its name the first time.
    ///
    /// # Errors
    /// What the disk says; the file must not be flushed again after a failure.
    pub fn sync(&self) -> Result<()> {
        self.file()?.sync()?;
        self.settle_name()
    }

    /// Whether the file's name is known to be durable.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.named.load(Ordering::Acquire)
    }

    /// Notes that its directory was synced since the file got its name.
    pub fn set_named(&self) {
        self.named.store(true, Ordering::Release);
    }

    /// As [`Segment::sync`], of a range: of positions of its own that were written through its
    /// map, if it has one.
    ///
    /// # Errors
    /// As [`Segment::sync`].
    pub fn sync_range(&self, range: Range<Position>) -> Result<()> {
        let (file, map) = (self.file()?, self.open.lock().map.clone());
        match map {
            Some(map) => {
                file.sync_range(&map, range.start - self.base..range.end - self.base)?;
            }
            None => file.sync()?,
        }
        self.settle_name()
    }

    /// Makes the file's name durable, the first time.
    ///
    /// # Errors
    /// What the disk says; it may be tried again.
    pub fn settle_name(&self) -> Result<()> {
        if !self.named.load(Ordering::Acquire) {
            let dir = self.path.parent().expect("a segment lies in a directory");
            self.disk.sync_dir(dir)?;
            self.named.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Removes the file. Maps that readers hold live on until they are released; its own goes,
    /// for the file takes space as long as anything maps it.
    ///
    /// # Errors
    /// What the disk says, but a file that is gone already is fine.
    pub fn remove(&self) -> Result<()> {
        self.set_dropped();
        self.disk.remove(&self.path).or_else(|error| match self.disk.stat(&self.path) {
            Ok(None) => Ok(()),
            _ => Err(error),
        })
    }

    /// Notes that it is no part of the line any more: who has not mapped it yet is told so.
    pub fn set_dropped(&self) {
        self.dropped.store(true, Ordering::Release);
        self.close_file();
        self.let_go();
    }

    /// Whether a reader holds the map.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.open.lock().map.as_ref().is_some_and(|map| Arc::strong_count(map) > 1)
    }

    /// Gives up the map unless a reader holds it; says whether there is none any more.
    pub fn let_go(&self) -> bool {
        if self.unmap_unless_held() {
            self.budget.release();
        }
        self.open.lock().map.is_none()
    }

    pub(super) fn last_used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Drops the map if nobody else holds it, and says whether it did.
    pub(super) fn unmap_unless_held(&self) -> bool {
        let mut open = self.open.lock();
        if open.map.as_ref().is_some_and(|map| Arc::strong_count(map) == 1) {
            open.map = None;
            return true;
        }
        false
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if self.open.get_mut().map.is_some() {
            self.budget.release();
        }
    }
}
