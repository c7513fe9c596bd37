//! All consume queues of a store, and the function that derives them from records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use crate::base::units::{Position, QueueOffset};
use crate::derived::files::{Shelf, UnitFiles};
use crate::derived::queue::{Bounds, Queue};
use crate::derived::unit::Unit;
use crate::disk::{Access, EntryKind};
use crate::error::{Error, ErrorKind, Result};
use crate::record::MessageView;

/// All consume queues of a store. Any thread may look one up; one at a time applies records.
#[derive(Debug)]
pub struct Queues {
    /// `<root>/consumequeue`.
    dir: PathBuf,
    shelf: Shelf,
    by_topic: RwLock<FxHashMap<Box<str>, Vec<Arc<Queue>>>>,
    /// Queues with units that are in no file, or in files that are not durable.
    touched: Mutex<Touched>,
}

#[derive(Debug, Default)]
struct Touched {
    unpublished: Vec<Arc<Queue>>,
    unsynced: Vec<Arc<Queue>>,
}

/// What is known of one queue when a store opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The topic.
    pub topic: String,
    /// The queue's number.
    pub id: u32,
    /// Its offsets as of the position from which the log is replayed.
    pub bounds: Bounds,
}

impl Queues {
    /// No queues yet.
    #[must_use]
    pub fn new(dir: &Path, shelf: Shelf) -> Self {
        Self { dir: dir.to_owned(), shelf, by_topic: RwLock::default(), touched: Mutex::default() }
    }

    /// Forgets every queue, to begin anew.
    pub fn forget(&self) {
        self.by_topic.write().clear();
        *self.touched.lock() = Touched::default();
    }

    /// The queue, if it exists.
    #[must_use]
    pub fn find(&self, topic: &str, id: u32) -> Option<Arc<Queue>> {
        let by_topic = self.by_topic.read();
        let queues = by_topic.get(topic)?;
        // Queue numbers usually are 0, 1, 2, ...: the first guess is right.
        match queues.get(id as usize) {
            Some(queue) if queue.id() == id => Some(Arc::clone(queue)),
            _ => queues.iter().find(|queue| queue.id() == id).cloned(),
        }
    }

    /// The queue, made now if need be; no file is made before it has a unit.
    #[must_use]
    pub fn find_or_make(&self, topic: &str, id: u32) -> Arc<Queue> {
        if let Some(queue) = self.find(topic, id) {
            return queue;
        }
        let mut by_topic = self.by_topic.write();
        let queues = by_topic.entry(topic.into()).or_default();
        match queues.binary_search_by_key(&id, |queue| queue.id()) {
            Ok(at) => Arc::clone(&queues[at]),
            Err(at) => {
                let queue = Queue::empty(topic, id, &self.shelf, self.queue_dir(topic, id));
                queues.insert(at, Arc::new(queue));
                Arc::clone(&queues[at])
            }
        }
    }

    /// All queues, by topic and number.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Queue>> {
        let mut all: Vec<_> = self.by_topic.read().values().flatten().cloned().collect();
        all.sort_by(|a, b| (a.topic(), a.id()).cmp(&(b.topic(), b.id())));
        all
    }

    /// Derives what follows from one record; it becomes visible with [`Queues::publish`].
    pub fn apply(&self, view: &MessageView<'_>) {
        if !view.has_queue_unit() {
            return;
        }
        let queue = self.find_or_make(view.topic(), view.queue());
        if queue.add(view.queue_offset(), Unit::of(view), view.has_record_checksum()) {
            self.touched.lock().unpublished.push(queue);
        }
    }

    /// Makes everything applied so far visible, in files unless the store is read-only.
    ///
    /// # Errors
    /// What the disk says; then call again, nothing is lost.
    pub fn publish(&self) -> Result<()> {
        let write = self.shelf.access == Access::Write;
        let mut touched = self.touched.lock();
        while let Some(queue) = touched.unpublished.last().cloned() {
            queue.publish(write)?;
            touched.unpublished.pop();
            if write && !touched.unsynced.iter().any(|other| Arc::ptr_eq(other, &queue)) {
                touched.unsynced.push(queue);
            }
        }
        Ok(())
    }

    /// Makes everything published durable.
    ///
    /// # Errors
    /// What the disk says; a file must not be flushed again after a failure.
    pub fn sync(&self) -> Result<()> {
        let unsynced = std::mem::take(&mut self.touched.lock().unsynced);
        unsynced.iter().try_for_each(|queue| queue.sync())
    }

    /// What [`Queues::resume`] needs to know of each queue.
    #[must_use]
    pub fn bounds(&self) -> Vec<Resume> {
        let resume = |queue: Arc<Queue>| Resume {
            topic: queue.topic().to_owned(),
            id: queue.id(),
            bounds: queue.bounds(),
        };
        self.all().into_iter().map(resume).collect()
    }

    /// Takes up one queue whose units below the given bounds are known to be durable.
    ///
    /// # Errors
    /// `Corrupt` if the files do not hold them; the caller rebuilds then.
    pub fn resume(&self, known: &Resume) -> Result<()> {
        let files = UnitFiles::open(&self.shelf, self.queue_dir(&known.topic, known.id))?;
        let Bounds { min, max } = known.bounds;
        let (first, end) = files.covered();
        let covered = min == max || (first <= min.get() && max.get() <= end);
        let lost = || {
            Error::new(ErrorKind::Corrupt, "units of the queue are missing")
                .at(&self.queue_dir(&known.topic, known.id))
                .with_offset(max.get())
        };
        if !covered || (min < max && files.get(max.get() - 1)?.is_none()) {
            return Err(lost());
        }
        self.insert(Queue::new(&known.topic, known.id, files, known.bounds));
        Ok(())
    }

    /// Takes up every queue found on disk as far as its units point below the log's `start`;
    /// what follows is replayed from the log. For a store whose queues are not known.
    ///
    /// # Errors
    /// What the disk says. A queue whose files are damaged is begun anew.
    pub fn resume_below(&self, start: Position) -> Result<()> {
        for (topic, id) in self.found()? {
            let dir = self.queue_dir(&topic, id);
            match UnitFiles::open(&self.shelf, dir.clone()) {
                Ok(files) => self.insert(expired_part(&topic, id, files, start)?),
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    log::warn!("the queue is rebuilt: {error}");
                    self.discard(&topic, id)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The highest position that any queue on disk points behind.
    ///
    /// # Errors
    /// What the disk says.
    pub fn furthest(&self) -> Result<Position> {
        let mut furthest = Position::ZERO;
        for (topic, id) in self.found()? {
            if let Ok(files) = UnitFiles::open(&self.shelf, self.queue_dir(&topic, id)) {
                furthest = furthest.max(last_end(&files)?);
            }
        }
        Ok(furthest)
    }

    /// Never gives out an offset below `floor` in that queue.
    pub fn raise_next(&self, topic: &str, id: u32, floor: QueueOffset) {
        self.find_or_make(topic, id).begin_at(floor.get());
    }

    /// Removes what the queues' files hold behind their last units: dead units would come back
    /// to life after another crash (RocketMQ is open to that).
    ///
    /// # Errors
    /// What the disk says.
    pub fn trim(&self) -> Result<()> {
        if self.shelf.access == Access::Read {
            return Ok(());
        }
        self.all().iter().try_for_each(|queue| queue.trim())
    }

    /// Minimum offsets follow the log's start; no file goes.
    ///
    /// # Errors
    /// What the disk says.
    pub fn follow(&self, start: Position) -> Result<()> {
        self.all().iter().try_for_each(|queue| queue.follow(start))
    }

    /// Follows the log's start: minimum offsets move, files wholly below it go. Says how many.
    ///
    /// # Errors
    /// What the disk says.
    pub fn drop_before(&self, start: Position) -> Result<usize> {
        let mut removed = 0;
        for queue in self.all() {
            removed += queue.drop_before(start)?;
        }
        Ok(removed)
    }

    fn insert(&self, queue: Queue) {
        let mut by_topic = self.by_topic.write();
        let queues = by_topic.entry(queue.topic().into()).or_default();
        match queues.binary_search_by_key(&queue.id(), |other| other.id()) {
            Ok(at) => queues[at] = Arc::new(queue),
            Err(at) => queues.insert(at, Arc::new(queue)),
        }
    }

    /// The queues that have a directory.
    fn found(&self) -> Result<Vec<(String, u32)>> {
        let mut found = Vec::new();
        for topic in self.directories(&self.dir)? {
            for id in self.directories(&self.dir.join(&topic))? {
                // RocketMQ too leaves alone what is not a number.
                if let Ok(id) = id.parse() {
                    found.push((topic.clone(), id));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn directories(&self, dir: &Path) -> Result<Vec<String>> {
        if self.shelf.disk.stat(dir)?.is_none() {
            return Ok(Vec::new());
        }
        let entries = self.shelf.disk.list(dir)?.into_iter();
        let directories = entries.filter(|entry| entry.kind == EntryKind::Directory);
        Ok(directories.map(|entry| entry.name).collect())
    }

    /// Removes the files of a queue that cannot be used.
    fn discard(&self, topic: &str, id: u32) -> Result<()> {
        let dir = self.queue_dir(topic, id);
        if self.shelf.access == Access::Read {
            return Ok(());
        }
        for entry in self.shelf.disk.list(&dir)? {
            if crate::segment::name::parse_segment_name(&entry.name).is_some() {
                self.shelf.disk.remove(&dir.join(entry.name))?;
            }
        }
        Ok(())
    }

    fn queue_dir(&self, topic: &str, id: u32) -> PathBuf {
        self.dir.join(topic).join(id.to_string())
    }
}

/// A queue cut to the units that point below `start`: they hold its offsets, nothing else.
fn expired_part(topic: &str, id: u32, files: UnitFiles, start: Position) -> Result<Queue> {
    let (first, end) = files.covered();
    let mut live = end;
    let mut scan = |offset: u64, unit: Option<Unit>| {
        let is_live = unit.is_none_or(|unit| !unit.is_filler() && unit.position >= start);
        if is_live && live == end {
            live = offset;
        }
    };
    files.visit(first, end, &mut scan)?;
    let max = QueueOffset::new(live);
    Ok(Queue::new(topic, id, files, Bounds { min: max, max }))
}

/// The end of the record that the last unit points to.
fn last_end(files: &UnitFiles) -> Result<Position> {
    let (first, end) = files.covered();
    let mut last = Position::ZERO;
    files.visit(first, end, &mut |_, unit| {
        if let Some(unit) = unit.filter(|unit| !unit.is_filler()) {
            last = last.max(unit.end());
        }
    })?;
    Ok(last)
}
