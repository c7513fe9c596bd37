//! What the steps and the store work on together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::base::waiting::Waiting;
use crate::base::watermark::Watermark;
use crate::checkpoint::{Marks, MarksFile, RocketmqCheckpoint};
use crate::cursor::Register;
use crate::derived::{KeyIndex, Queues};
use crate::directory::OWN_DIR;
use crate::disk::{Clock, Disk};
use crate::error::{ErrorKind, Result};
use crate::log::{Log, NextSegment, Poison};
use crate::options::Options;
use crate::segment::{Budget, Segment, Supply};
use crate::tasks::clean::Dropped;
use crate::tasks::index::Indexing;
use crate::tasks::probe::ProbeStep;
use crate::tasks::threads::{Bell, Host};
use crate::tasks::{CATALOGUE, Disks, Fresh, IndexStep, Reserve, Wish};

/// The parts of one open store, shared by its handle and its steps.
#[derive(Debug)]
pub struct Engine {
    /// The store's root directory.
    pub root: PathBuf,
    /// How it was opened.
    pub options: Options,
    /// The file system.
    pub disk: Arc<dyn Disk>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The maps it may hold.
    pub budget: Arc<Budget>,
    /// The log.
    pub log: Log,
    /// The queues derived from it.
    pub queues: Queues,
    /// The key index derived from it.
    pub keys: KeyIndex,
    /// Where new segments come from.
    pub supply: Supply,
    /// The directories and the policy's verdict on them.
    pub disks: Disks,
    /// Everything below is in the queues.
    pub indexed: Watermark,
    /// What is known of records that are not indexed yet.
    pub fresh: Fresh,
    /// The cursors; none in a store opened for reading.
    pub cursors: Register,
    /// Who waits for something to read.
    pub waiting: Waiting<Wish>,
    /// The index step's own.
    pub indexing: Mutex<Indexing>,
    /// The queues were derived while a part of the log was away: the next opening that finds it
    /// derives them anew.
    pub patchy: bool,
    /// The marks on disk; none in a store opened for reading.
    pub marks: Mutex<Option<MarksFile>>,
    /// RocketMQ's marks.
    pub rocketmq: RocketmqCheckpoint,
    /// Room for the marks on a full disk.
    pub reserve: Reserve,
    /// That a flush failed is on disk.
    pub poison_noted: AtomicBool,
    /// Held by whoever writes a checkpoint; ordered before every other lock.
    pub checkpointing: Mutex<()>,
    /// Wakes the index step.
    pub index_bell: Bell,
    /// Wakes the step that prepares segments.
    pub prepare_bell: Bell,
    /// Wakes the clean step.
    pub clean_bell: Bell,
    /// Wakes the flush step.
    pub flush_bell: Bell,
    /// Wakes the checkpoint step.
    pub checkpoint_bell: Bell,
    /// Wakes the probe step.
    pub probe_bell: Bell,
    /// Someone asked to clean now.
    pub clean_asked: AtomicBool,
    /// Segments that were dropped while somebody read them.
    pub held: Mutex<Vec<Arc<Segment>>>,
    /// What cleaning dropped, newest last, a bounded list.
    pub dropped: Mutex<Vec<Dropped>>,
    /// The last record that was indexed: where it begins and its store time.
    pub last_indexed: Mutex<Option<(Position, i64)>>,
    /// The position of the ledger on disk, as far as this process wrote one.
    pub ledger: AtomicU64,
    /// Time of the last full flush.
    pub last_flush_ms: AtomicI64,
    /// The handle was closed.
    pub closed: AtomicBool,
}

/// What an engine is made of.
#[derive(Debug)]
pub struct Parts {
    /// The store's root directory.
    pub root: PathBuf,
    /// How it is opened.
    pub options: Options,
    /// The file system.
    pub disk: Arc<dyn Disk>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The maps it may hold.
    pub budget: Arc<Budget>,
    /// The log.
    pub log: Log,
    /// The queues, applied up to the log's end.
    pub queues: Queues,
    /// The key index, as far as it goes.
    pub keys: KeyIndex,
    /// Where new segments come from.
    pub supply: Supply,
    /// The directories.
    pub disks: Disks,
    /// The cursors.
    pub cursors: Register,
    /// The marks on disk.
    pub marks: Option<MarksFile>,
    /// The log's last record: where it begins and its store time.
    pub last: Option<(Position, i64)>,
    /// The queues were derived while a part of the log was away.
    pub patchy: bool,
}

impl Host for Engine {
    fn root(&self) -> &Path {
        &self.root
    }

    fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    fn poison(&self) -> &Poison {
        self.log.poison()
    }
}

impl Engine {
    /// Puts the parts together; everything is flushed and indexed up to the log's end.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let indexed = Watermark::new(parts.log.appended());
        let now = parts.clock.now_ms();
        Arc::new(Self {
            rocketmq: RocketmqCheckpoint::new(&parts.root),
            reserve: Reserve::new(&parts.root),
            root: parts.root,
            options: parts.options,
            disk: parts.disk,
            clock: parts.clock,
            budget: parts.budget,
            log: parts.log,
            queues: parts.queues,
            keys: parts.keys,
            supply: parts.supply,
            disks: parts.disks,
            indexed,
            fresh: Fresh::default(),
            cursors: parts.cursors,
            waiting: Waiting::default(),
            indexing: Mutex::default(),
            patchy: parts.patchy,
            marks: Mutex::new(parts.marks),
            poison_noted: AtomicBool::new(false),
            checkpointing: Mutex::new(()),
            index_bell: Bell::default(),
            prepare_bell: Bell::default(),
            clean_bell: Bell::default(),
            flush_bell: Bell::default(),
            checkpoint_bell: Bell::default(),
            probe_bell: Bell::default(),
            clean_asked: AtomicBool::new(false),
            held: Mutex::default(),
            dropped: Mutex::default(),
            last_indexed: Mutex::new(parts.last),
            ledger: AtomicU64::new(0),
            last_flush_ms: AtomicI64::new(now),
            closed: AtomicBool::new(false),
        })
    }

    /// Indexes up to `target`, or as far as readers may see.
    ///
    /// # Errors
    /// What the index step says.
    pub fn index_to(&self, target: Position) -> Result<()> {
        let target = target.min(self.log.visible().end());
        self.indexed.wait_or_run(target, || {
            let outcome = IndexStep::run_once(self);
            self.tell_waiting();
            outcome
        })
    }

    /// Adds to the key index whatever is in the queues.
    ///
    /// # Errors
    /// What the disk says; the rest is added later.
    pub fn catch_up_keys(&self) -> Result<()> {
        match self.keys.is_kept() {
            true => self.indexing.lock().catch_up_keys(self, usize::MAX),
            false => Ok(()),
        }
    }

    /// Lets a damaged key index be built anew.
    ///
    /// # Errors
    /// What the disk says; then it is as it was.
    pub fn rebuild_keys(&self) -> Result<()> {
        // No checkpoint may write down what was before.
        let _alone = self.checkpointing.lock();
        let _indexing = self.indexing.lock();
        let (dir, path) = (self.root.join(OWN_DIR), self.root.join(OWN_DIR).join(CATALOGUE));
        if self.keys.is_kept() && self.disk.stat(&path)?.is_some() {
            self.disk.remove(&path)?;
            self.disk.sync_dir(&dir)?;
        }
        self.keys.begin_anew(self.log.start());
        Ok(())
    }

    /// As [`Log::flush_to`]. That a flush failed is written down as well as can be: the next
    /// opening must not take the lost pages, which the system may show as written, for durable.
    ///
    /// # Errors
    /// As [`Log::flush_to`].
    pub fn flush_to(&self, position: Position) -> Result<()> {
        self.log.flush_to(position).inspect_err(|_| {
            if !self.poison_noted.swap(true, Ordering::AcqRel)
                && let Err(error) = self.write_marks(false)
            {
                log::warn!("that a flush failed cannot be written down: {error}");
            }
        })
    }

    /// The position up to which everything is indexed, and the last record below it.
    #[must_use]
    pub fn indexed_with_last(&self) -> (Position, Option<(Position, i64)>) {
        let last = self.last_indexed.lock();
        (self.indexed.load(), *last)
    }

    /// Notes that everything below `position` is indexed, `last` being its last record.
    pub fn publish_indexed(&self, position: Position, last: Option<(Position, i64)>) {
        let mut known = self.last_indexed.lock();
        *known = last.or(*known);
        self.indexed.publish(position);
    }

    /// Writes the store's marks.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write_marks(&self, clean: bool) -> Result<()> {
        let mut file = self.marks.lock();
        // Under the lock, so that no older mark goes over a newer one.
        let poisoned = self.log.poison().cause().is_some();
        let clean = clean && !poisoned;
        let marks = Marks { clean, poisoned, flushed: self.log.flushed(), start: self.log.start() };
        match file.as_mut() {
            Some(file) => file.write(marks),
            None => Ok(()),
        }
    }

    /// Whether the handle was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl NextSegment for Engine {
    fn next_segment(&self, base: Position) -> Result<Arc<Segment>> {
        let segment = self.supply.next(base).or_else(|error| match error.kind() {
            // Disks fill between two looks: others may take it by now.
            ErrorKind::Full => {
                ProbeStep::probe(self);
                self.supply.next(base)
            }
            _ => Err(error),
        })?;
        self.prepare_bell.ring_loudly();
        Ok(segment)
    }
}
