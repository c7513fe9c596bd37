//! The handle that a program holds.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::sync::Mutex;
use crate::base::units::{Position, QueueOffset};
use crate::base::watermark::Published;
use crate::derived::Bounds;
use crate::disk::{Clock, Disk, OsClock, OsDisk, Slice};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::record::{Encoding, UniqueIds};
use crate::retention::CleanPlan;
use crate::store::fleet::Fleet;
use crate::store::follow::Follower;
use crate::store::{Batch, ReadLimits, Recovery, batch, open};
use crate::tasks::{
    Bell, CheckpointStep, CleanStep, Engine, FlushStep, IndexStep, Next, PrepareStep, ProbeStep,
    Step, Workers,
};

/// The background work of a store, for those who run it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Makes appended bytes durable, at the store's interval.
    Flush,
    /// Adds visible records to their queues.
    Index,
    /// Writes down how far log and queues are durable.
    Checkpoint,
    /// Measures the disks and lets the policy judge.
    Probe,
    /// Drops segments that the policy lets go, one per run.
    Clean,
    /// Makes the next pages and the next segment ready.
    Prepare,
}

/// An open store. Every method may be called from any thread; appends take turns.
///
/// Dropping the handle closes the store; [`Store::close`] does too and tells what went wrong.
///
/// ```
/// use spanlog::{Message, Options, ReadLimits, Store};
/// let dir = tempfile::tempdir().unwrap();
/// let store = Store::open(dir.path(), Options::new().segment_len_bytes(1 << 20))?;
/// let receipt = store.append(&Message::new("orders", 0, b"first"))?;
/// store.catch_up()?;
/// let batch = store.read("orders", 0, receipt.queue_offset, ReadLimits::default())?;
/// assert_eq!(batch.iter().next().unwrap().decode()?.body(), b"first");
/// store.close()?;
/// # Ok::<(), spanlog::Error>(())
/// ```
pub struct Store {
    pub(super) engine: Arc<Engine>,
    pub(super) encoding: Encoding,
    pub(super) ids: UniqueIds,
    pub(super) recovery: Recovery,
    /// Why nothing can be appended although the store is open for writing.
    pub(super) no_appends: Option<String>,
    pub(super) workers: Mutex<Workers>,
    pub(super) steps: Mutex<Steps>,
    pub(super) fleet: Mutex<Fleet>,
    /// Follows the writer, in a store opened for reading.
    pub(super) follower: Option<Arc<Follower>>,
    /// Held while the store is open; released last.
    pub(super) lock: Mutex<Option<Box<dyn crate::disk::Lock>>>,
}

/// The steps of a store without threads.
#[derive(Debug)]
pub(super) struct Steps {
    flush: FlushStep,
    index: IndexStep,
    checkpoint: CheckpointStep,
    probe: ProbeStep,
    clean: CleanStep,
    prepare: PrepareStep,
}

impl Steps {
    pub(super) fn new(engine: &Arc<Engine>) -> Self {
        Self {
            flush: FlushStep(Arc::clone(engine)),
            index: IndexStep(Arc::clone(engine)),
            checkpoint: CheckpointStep::new(Arc::clone(engine)),
            probe: ProbeStep(Arc::clone(engine)),
            clean: CleanStep::new(Arc::clone(engine)),
            prepare: PrepareStep::new(Arc::clone(engine)),
        }
    }
}

/// Every worker's bell, for waking all of them.
const BELLS: [fn(&Engine) -> &Bell; 6] = [
    |engine| &engine.flush_bell,
    |engine| &engine.index_bell,
    |engine| &engine.checkpoint_bell,
    |engine| &engine.probe_bell,
    |engine| &engine.clean_bell,
    |engine| &engine.prepare_bell,
];

impl Store {
    /// Opens the store at `root`, or makes one. With no directories named, those it remembers
    /// are used; a new store then has one, `<root>/commitlog`.
    ///
    /// # Errors
    /// `Invalid` for options that cannot be; `Locked` if somebody has it open; `Offline` for a
    /// directory or range that is not there; `Foreign` for a directory of another store;
    /// `Corrupt` for damage below what was flushed; else what the disk says. A failed open holds
    /// nothing and has changed no record.
    pub fn open(root: impl AsRef<Path>, options: Options) -> Result<Self> {
        Self::open_on(Arc::new(OsDisk::new()), Arc::new(OsClock::new()), root, options)
    }

    /// As [`Store::open`], on a disk and with a clock of the caller's.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_on(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        root: impl AsRef<Path>,
        options: Options,
    ) -> Result<Self> {
        open::open(disk, clock, root.as_ref(), options)
    }

    pub(super) fn start(&self) -> Result<()> {
        let engine = &self.engine;
        let steps = Steps::new(engine);
        let mut workers = self.workers.lock();
        workers.spawn(engine, BELLS[0], Box::new(steps.flush))?;
        workers.spawn(engine, BELLS[1], Box::new(steps.index))?;
        workers.spawn(engine, BELLS[2], Box::new(steps.checkpoint))?;
        workers.spawn(engine, BELLS[3], Box::new(steps.probe))?;
        workers.spawn(engine, BELLS[4], Box::new(steps.clean))?;
        workers.spawn(engine, BELLS[5], Box::new(steps.prepare))
    }

    /// Runs one piece of background work now, for a store opened with `background: false`.
    ///
    /// # Errors
    /// What the step says, `Invalid` in a store with threads of its own, or `Closed`.
    pub fn run(&self, task: Task) -> Result<Next> {
        self.check_writable()?;
        if self.engine.options.background {
            let text = "the store runs its steps itself: it was opened with background threads";
            return Err(Error::new(ErrorKind::Invalid, text));
        }
        let now_ms = self.engine.clock.now_ms();
        let mut steps = self.steps.lock();
        match task {
            Task::Flush => steps.flush.run(now_ms),
            Task::Index => steps.index.run(now_ms),
            Task::Checkpoint => steps.checkpoint.run(now_ms),
            Task::Probe => steps.probe.run(now_ms),
            Task::Clean => steps.clean.run(now_ms),
            Task::Prepare => steps.prepare.run(now_ms),
        }
    }

    /// Reads messages of a queue from `from` on, as many as the limits allow and at least one.
    /// The batch keeps their bytes mapped for as long as it lives, also after the store was
    /// closed or retention dropped them. A message can be read once it is visible and indexed:
    /// see [`Store::catch_up`].
    ///
    /// # Errors
    /// `Offline` or `Corrupt` when the first message cannot be read, naming the place; `Full`
    /// when every map is held, or with the option that refuses reads; `Closed`.
    pub fn read(
        &self,
        topic: &str,
        queue: u32,
        from: QueueOffset,
        limits: ReadLimits,
    ) -> Result<Batch> {
        self.check_readable()?;
        self.reading(|| batch::read(&self.engine, topic, queue, from, limits))
    }

    /// The record at `position`, as it stands on disk.
    ///
    /// # Errors
    /// `Gone` below the start, `Offline` in a hole, `Invalid` where no record begins, `Closed`.
    pub fn get(&self, position: Position) -> Result<Slice> {
        self.check_open()?;
        self.reading(|| self.record_at(position))
    }

    fn record_at(&self, position: Position) -> Result<Slice> {
        let mut reader = self.engine.log.reader();
        match reader.record(position)? {
            Some(span) => Ok(reader.slice(span)),
            None => {
                let text = "no record begins at the position";
                Err(Error::new(ErrorKind::Invalid, text).with_offset(position.get()))
            }
        }
    }

    /// The first message kept and one past the last that can be read; nothing for a queue that
    /// never had a message.
    #[must_use]
    pub fn bounds(&self, topic: &str, queue: u32) -> Option<Bounds> {
        let queue = self.engine.queues.find(topic, queue)?;
        queue.had_messages().then(|| queue.bounds())
    }

    /// Returns once every message appended so far, by anyone, can be read from its queue.
    ///
    /// # Errors
    /// What indexing or flushing says, `Closed`.
    pub fn catch_up(&self) -> Result<()> {
        self.check_open()?;
        let target = self.engine.log.appended();
        if self.engine.log.visible().end() < target {
            self.engine.flush_to(target)?;
        }
        self.engine.index_to(target)
    }

    /// Returns once the key index holds every message that can be read from its queue. Looking up
    /// by key is right before, too, but reads what is missing from the log.
    ///
    /// # Errors
    /// What the disk says, `Closed`.
    pub fn catch_up_keys(&self) -> Result<()> {
        self.check_open()?;
        self.engine.catch_up_keys()
    }

    /// Returns once everything appended so far is durable.
    ///
    /// # Errors
    /// `Poisoned`, `Closed`, or what the disk says; then nothing more can be promised.
    pub fn flush(&self) -> Result<()> {
        self.check_open()?;
        self.engine.flush_to(self.engine.log.appended())
    }

    /// Asks for a round of cleaning now: segments past their age go, at any hour.
    ///
    /// # Errors
    /// `Invalid` in a store opened for reading, `Closed`.
    pub fn clean_now(&self) -> Result<()> {
        self.check_writable()?;
        self.engine.clean_asked.store(true, Ordering::Release);
        self.engine.clean_bell.ring_loudly();
        Ok(())
    }

    /// What a round of cleaning would do now with each segment, and why. Changes nothing.
    ///
    /// # Errors
    /// `Closed`.
    pub fn plan_clean(&self, manual: bool) -> Result<CleanPlan> {
        self.check_open()?;
        if self.engine.options.read_only || !self.engine.options.background {
            ProbeStep::probe(&self.engine);
        }
        Ok(CleanStep::plan(&self.engine, self.engine.clock.now_ms(), manual))
    }

    /// What opening the store found and did.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The store's root directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.engine.root
    }

    /// What of the log may be read now.
    pub(crate) fn visible(&self) -> Published {
        self.engine.log.visible()
    }

    /// The log's segments as they are now.
    pub(crate) fn snapshot(&self) -> crate::segment::Snapshot {
        self.engine.log.chain().snapshot()
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        Arc::clone(&self.engine.disk)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.engine.options
    }

    pub(super) fn check_open(&self) -> Result<()> {
        match self.engine.is_closed() {
            false => Ok(()),
            true => Err(Error::new(ErrorKind::Closed, "the store was closed")),
        }
    }

    pub(super) fn check_readable(&self) -> Result<()> {
        self.check_open()?;
        match self.engine.options.refuse_reads_when_full {
            true => self.engine.disks.gate().check(),
            false => Ok(()),
        }
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        self.check_open()?;
        match self.engine.options.read_only {
            false => Ok(()),
            true => Err(Error::new(ErrorKind::Invalid, "the store was opened for reading alone")),
        }
    }

    /// Closes the store: everything is flushed, indexed and written down, so that the next
    /// opening, also RocketMQ's, need not recover. Batches and slices stay valid. Closing twice
    /// is fine.
    ///
    /// # Errors
    /// What kept it from closing cleanly; the next opening recovers then.
    pub fn close(&self) -> Result<()> {
        if self.engine.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.engine.end_waiting();
        self.workers.lock().stop(self.engine.as_ref(), &BELLS);
        self.follower.iter().for_each(|follower| follower.stop());
        // A change of directories that passed the check before the store was closed ends first.
        let mut fleet = self.fleet.lock();
        self.engine.supply.discard();
        let outcome = if self.engine.options.read_only { Ok(()) } else { self.settle() };
        fleet.release();
        *self.lock.lock() = None;
        outcome
    }

    /// Leaves everything durable and says so on disk.
    fn settle(&self) -> Result<()> {
        let engine = &self.engine;
        // An append that passed the check before the store was closed ends before this.
        engine.log.seal();
        let target = engine.log.appended();
        engine.flush_to(target)?;
        engine.index_to(target)?;
        engine.queues.follow(engine.log.start())?;
        if let Err(error) = engine.catch_up_keys() {
            log::warn!("the key index is behind: {error}");
        }
        // A segment that nothing was written to yet has a name all the same.
        engine.log.chain().snapshot().last().map_or(Ok(()), |last| last.settle_name())?;
        engine.cursors.seal(engine.disk.as_ref())?;
        CheckpointStep::write(engine, true)?;
        let abort = engine.root.join(open::ABORT);
        engine.disk.remove(&abort)?;
        engine.disk.sync_dir(&engine.root)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("root", &self.engine.root)
            .field("appended", &self.engine.log.appended())
            .field("closed", &self.engine.is_closed())
            .finish_non_exhaustive()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::warn!("the store was not closed cleanly: {error}");
        }
    }
}
