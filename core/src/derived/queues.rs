//! All consume queues of a store, and the function that derives them from records.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::{Position, QueueOffset};
use crate::derived::files::{Shelf, UnitFiles};
use crate::derived::queue::{Bounds, Queue};
use crate::derived::table::Table;
use crate::derived::times::{LogTimes, Times};
use crate::derived::unit::Unit;
use crate::disk::{Access, EntryKind};
use crate::error::{Error, ErrorKind, Result};
use crate::record::MessageView;

/// All consume queues of a store. Any thread may look one up; one at a time applies records.
#[derive(Debug)]
pub struct Queues {
    /// `<root>/consumequeue`.
    dir: PathBuf,
    /// Where the units of batch topics lie instead.
    aside: PathBuf,
    batch_topics: BTreeSet<String>,
    shelf: Shelf,
    table: Table,
    times: LogTimes,
    /// Queues with units that are in no file, or in files that are not durable.
    touched: Mutex<Touched>,
    /// A flush failed: what it was to make durable is not known any more.
    failed: AtomicBool,
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
        Self {
            dir: dir.to_owned(),
            aside: PathBuf::new(),
            batch_topics: BTreeSet::new(),
            shelf,
            table: Table::new(),
            times: LogTimes::default(),
            touched: Mutex::default(),
            failed: AtomicBool::new(false),
        }
    }

    /// The same, with the units of these topics under `aside`. RocketMQ keeps queues of another
    /// kind for them, and refuses to start where a topic has both.
    #[must_use]
    pub fn keeping_aside(mut self, batch_topics: BTreeSet<String>, aside: PathBuf) -> Self {
        (self.aside, self.batch_topics) = (aside, batch_topics);
        self
    }

    /// Whether the topic's queues are RocketMQ's batch queues. Their next offset follows from
    /// what is in a record's body, so nothing is appended to them.
    #[must_use]
    pub fn is_batch_topic(&self, topic: &str) -> bool {
        self.batch_topics.contains(topic)
    }

    /// Forgets every queue, to begin anew.
    pub fn forget(&self) {
        self.table.clear();
        self.times.set(Times::default());
        *self.touched.lock() = Touched::default();
    }

    /// The store times of the records that were applied.
    #[must_use]
    pub fn times(&self) -> &LogTimes {
        &self.times
    }

    /// The queue, if it exists.
    #[must_use]
    pub fn find(&self, topic: &str, id: u32) -> Option<&Arc<Queue>> {
        self.table.find(topic, id)
    }

    /// The queue, made now if need be; no file is made before it has a unit.
    #[must_use]
    pub fn find_or_make(&self, topic: &str, id: u32) -> &Arc<Queue> {
        let make = || Queue::empty(topic, id, &self.shelf, self.queue_dir(topic, id));
        self.table.find_or_add(topic, id, make)
    }

    /// How many queues there were so far: as long as it stays the same, no queue came.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.table.added()
    }

    /// The queues of a topic, by number.
    #[must_use]
    pub fn of_topic(&self, topic: &str) -> Vec<Arc<Queue>> {
        let own = self.table.iter().filter(|queue| queue.topic() == topic);
        let mut own: Vec<_> = own.cloned().collect();
        own.sort_by_key(|queue| queue.id());
        own
    }

    /// All queues, each at the place of its number in the store.
    #[must_use]
    pub fn by_number(&self) -> Vec<Option<Arc<Queue>>> {
        let mut numbered = Vec::new();
        for queue in self.table.iter() {
            let at = queue.number() as usize;
            numbered.resize(numbered.len().max(at + 1), None);
            numbered[at] = Some(Arc::clone(queue));
        }
        numbered
    }

    /// Adds the units of messages that follow each other and whose places are known, from offset
    /// `first` on; they become visible with [`Queues::publish`].
    pub fn add(&self, queue: &Arc<Queue>, first: u64, units: &[Unit]) {
        if queue.add(first, units, true) {
            self.touched.lock().unpublished.push(Arc::clone(queue));
        }
    }

    /// All queues, by topic and number.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Queue>> {
        let mut all: Vec<_> = self.table.iter().cloned().collect();
        all.sort_by(|a, b| (a.topic(), a.id()).cmp(&(b.topic(), b.id())));
        all
    }

    /// Derives what follows from one record; it becomes visible with [`Queues::publish`].
    pub fn apply(&self, view: &MessageView<'_>) {
        let position = Position::new(view.position());
        let end = position + u64::from(view.size());
        self.times.note(std::iter::once((position, end, view.store_ms())));
        if !view.has_queue_unit() {
            return;
        }
        let queue = self.find_or_make(view.topic(), view.queue());
        if queue.add(view.queue_offset(), &[Unit::of(view)], view.has_record_checksum()) {
            self.touched.lock().unpublished.push(Arc::clone(queue));
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
    /// What the disk says, and after a failed flush `Poisoned` ever after: the file must not be
    /// flushed again, and what the next opening derives anew is written anew.
    pub fn sync(&self) -> Result<()> {
        if self.failed.load(Ordering::Acquire) {
            let text = "a flush of the queues failed earlier: reopen the store";
            return Err(Error::new(ErrorKind::Poisoned, text).at(&self.dir));
        }
        let mut unsynced = std::mem::take(&mut self.touched.lock().unsynced);
        while let Some(queue) = unsynced.pop() {
            if let Err(error) = queue.sync(&self.failed) {
                unsynced.push(queue);
                self.touched.lock().unsynced.append(&mut unsynced);
                return Err(error);
            }
        }
        Ok(())
    }

    /// What [`Queues::resume`] needs to know of each queue.
    #[must_use]
    pub fn bounds(&self) -> Vec<Resume> {
        let resume = |queue: Arc<Queue>| Resume {
            topic: queue.topic().to_owned(),
            id: queue.id(),
            bounds: queue.bounds(),
        };
        // One that never had a message, because its first append failed, is none.
        let had_one = |queue: &Resume| queue.bounds.max > QueueOffset::ZERO;
        self.all().into_iter().map(resume).filter(had_one).collect()
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
        self.table.replace(Queue::new(&known.topic, known.id, files, known.bounds));
        Ok(())
    }

    /// Takes up every queue found on disk that is not known yet, as far as its units point below
    /// `start`: below the log's start, or where the replay begins. What follows is replayed.
    ///
    /// # Errors
    /// What the disk says. A queue whose files are damaged is begun anew.
    pub fn resume_below(&self, start: Position) -> Result<()> {
        self.take_up(&|topic, id, files| expired_part(topic, id, files, start))
    }

    /// Takes up the queues found on disk that the ledger does not know: they were made after it,
    /// so all their messages are replayed, and nothing their files hold is known to be durable.
    ///
    /// # Errors
    /// As [`Queues::resume_below`].
    pub fn resume_unknown(&self) -> Result<()> {
        let bounds = Bounds { min: QueueOffset::ZERO, max: QueueOffset::ZERO };
        self.take_up(&|topic, id, files| Ok(Queue::new(topic, id, files, bounds)))
    }

    fn take_up(&self, make: &dyn Fn(&str, u32, UnitFiles) -> Result<Queue>) -> Result<()> {
        for (topic, id) in self.found()? {
            if self.find(&topic, id).is_some() {
                continue;
            }
            match UnitFiles::open(&self.shelf, self.queue_dir(&topic, id)) {
                Ok(files) => self.table.replace(make(&topic, id, files)?),
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
        self.times.drop_before(start);
        for queue in self.all() {
            removed += queue.drop_before(start)?;
        }
        Ok(removed)
    }

    /// The directory of a queue and the files in it.
    pub(super) fn files(&self, topic: &str, id: u32) -> (PathBuf, Result<UnitFiles>) {
        let dir = self.queue_dir(topic, id);
        (dir.clone(), UnitFiles::open(&self.shelf, dir))
    }

    /// In a store opened for reading: gives memory back for units that the writer's files hold.
    ///
    /// # Errors
    /// What the disk says.
    pub fn lean_on_files(&self) -> Result<()> {
        self.table.iter().try_for_each(|queue| queue.lean_on_files())
    }

    /// In a store opened for reading: minimum offsets follow the log's start, which the writer
    /// has moved, and files that it removed are forgotten.
    ///
    /// # Errors
    /// What the disk says.
    pub fn look_again(&self, start: Position) -> Result<()> {
        self.table.iter().try_for_each(|queue| queue.look_again(start))
    }

    /// In a store opened for reading: the next message of each queue may have any offset.
    pub fn begin_anew(&self) {
        self.table.iter().for_each(|queue| queue.begin_anew());
    }

    /// The queues that have a directory.
    pub(super) fn found(&self) -> Result<Vec<(String, u32)>> {
        let mut found = Vec::new();
        let mut topics = self.directories(&self.dir)?;
        topics.retain(|topic| !self.is_batch_topic(topic));
        topics.extend(self.batch_topics.iter().cloned());
        for topic in topics {
            for id in self.directories(&self.topic_dir(&topic))? {
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

    fn topic_dir(&self, topic: &str) -> PathBuf {
        let dir = if self.is_batch_topic(topic) { &self.aside } else { &self.dir };
        dir.join(topic)
    }

    fn queue_dir(&self, topic: &str, id: u32) -> PathBuf {
        self.topic_dir(topic).join(id.to_string())
    }
}

/// A queue cut to the units that point below `start`: they hold its offsets, nothing else. Units
/// that point to nothing count where nothing but they hold the offsets: in front of units that
/// are derived again, what they stand for may be back.
fn expired_part(topic: &str, id: u32, files: UnitFiles, start: Position) -> Result<Queue> {
    let (first, end) = files.covered();
    let (mut expired, mut written, mut is_live, mut is_over) = (first, first, false, false);
    files.visit(first, end, &mut |offset, unit: Option<Unit>| {
        is_over |= unit.is_none();
        let Some(unit) = unit.filter(|_| !is_over && !is_live) else { return };
        is_live = !unit.is_filler() && unit.position >= start;
        written = offset + 1;
        if !unit.is_filler() && !is_live {
            expired = written;
        }
    })?;
    // With nothing expired in them, the files tell nothing that the log does not.
    let known = if is_live && expired == first { 0 } else { expired };
    let max = QueueOffset::new(if is_live { known } else { written });
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
