//! The handle of a queue.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::disk::{Clock, Disk, Lock, OsClock, OsDisk};
use crate::error::{Error, ErrorKind, Result};
use crate::queue::batch::{QueueBatch, QueueRecord};
use crate::queue::line::Line;
use crate::queue::open::{self, QueueRecovery};
use crate::queue::options::QueueOptions;
use crate::queue::reader::QueueReader;
use crate::queue::steps::{FlushStep, PrepareStep, ProbeStep};
use crate::store::fleet::Fleet;
use crate::tasks::{Bell, Next, Step, Workers};

/// The reader that the handle's own methods use.
const DEFAULT_READER: &str = "default";

/// The background work of a queue, for those who run it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueTask {
    /// Makes the next segment ready, one per run.
    Prepare,
    /// Flushes at the interval, and writes down how far everything is.
    Flush,
    /// Measures the disks and lets the policy judge.
    Probe,
}

/// An open queue: a persistent line of records with a fixed budget of memory and disk. Every
/// method may be called from any thread; pushes take turns.
///
/// Records are kept until every reader has committed them; without any reader, until there is one.
/// Dropping the handle closes the queue; [`Queue::close`] does too and tells what went wrong.
///
/// ```
/// use std::time::Duration;
/// use spanlog::{Queue, QueueOptions};
/// let dir = tempfile::tempdir().unwrap();
/// let queue = Queue::open(dir.path(), QueueOptions::new().capacity_segments(8))?;
/// queue.push(b"tea")?;
/// queue.push_many(&[&b"milk"[..], b"sugar"])?;
///
/// let record = queue.pop(Duration::ZERO)?.expect("it was pushed");
/// assert_eq!(&*record.payload, b"tea");
/// queue.commit(record.end)?; // done: it will not be seen again
/// let rest = queue.pop_many(100, 1 << 20, Duration::ZERO)?;
/// assert_eq!(rest.iter().collect::<Vec<_>>(), [&b"milk"[..], &b"sugar"[..]]);
/// queue.close()?;
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Debug)]
pub struct Queue {
    pub(super) line: Arc<Line>,
    recovery: QueueRecovery,
    workers: Mutex<Workers>,
    steps: Mutex<Steps>,
    fleet: Mutex<Fleet>,
    lock: Mutex<Option<Box<dyn Lock>>>,
}

/// The steps of a queue without threads.
#[derive(Debug)]
struct Steps {
    prepare: PrepareStep,
    flush: FlushStep,
    probe: ProbeStep,
}

impl Steps {
    fn new(line: &Arc<Line>) -> Self {
        Self {
            prepare: PrepareStep(Arc::clone(line)),
            flush: FlushStep::new(Arc::clone(line)),
            probe: ProbeStep(Arc::clone(line)),
        }
    }
}

/// Every worker's bell, for waking all of them.
const BELLS: [fn(&Line) -> &Bell; 3] =
    [|line| &line.prepare_bell, |line| &line.flush_bell, |line| &line.probe_bell];

impl Queue {
    /// Opens the queue at `root`, or makes one.
    ///
    /// # Errors
    /// `Invalid` for options that cannot be, a capacity below what is in use, and a directory
    /// with a store in it; `Locked` if somebody has it open; `Offline` for a directory or a
    /// segment that is not there; `Corrupt` for files that cannot be the queue's; else what the
    /// disk says.
    pub fn open(root: impl AsRef<Path>, options: QueueOptions) -> Result<Self> {
        Self::open_on(Arc::new(OsDisk::new()), Arc::new(OsClock::new()), root, options)
    }

    /// As [`Queue::open`], on a disk and with a clock of the caller's.
    ///
    /// # Errors
    /// As [`Queue::open`].
    pub fn open_on(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        root: impl AsRef<Path>,
        options: QueueOptions,
    ) -> Result<Self> {
        let opened = open::open(disk, clock, root.as_ref(), options)?;
        let queue = Self {
            recovery: opened.report,
            workers: Mutex::new(Workers::default()),
            steps: Mutex::new(Steps::new(&opened.line)),
            fleet: Mutex::new(opened.fleet),
            lock: Mutex::new(Some(opened.lock)),
            line: opened.line,
        };
        if queue.line.options.background {
            queue.start()?;
        }
        Ok(queue)
    }

    fn start(&self) -> Result<()> {
        let steps = Steps::new(&self.line);
        let mut workers = self.workers.lock();
        workers.spawn(&self.line, BELLS[0], Box::new(steps.prepare))?;
        workers.spawn(&self.line, BELLS[1], Box::new(steps.flush))?;
        workers.spawn(&self.line, BELLS[2], Box::new(steps.probe))
    }

    /// Pushes one record, and returns where it ends on the queue's line.
    ///
    /// # Errors
    /// `TooLarge` above the limit of the options or the capacity; `Full` as the options say, and
    /// when a disk has no room; `Poisoned` after a flush that failed; `Closed`. Nothing was pushed
    /// then.
    #[inline]
    pub fn push(&self, payload: &[u8]) -> Result<Position> {
        self.line.push(&[payload])
    }

    /// Pushes several records, all or none, also after a crash, and returns where the last one
    /// ends.
    ///
    /// # Errors
    /// As [`Queue::push`].
    pub fn push_many<P: AsRef<[u8]>>(&self, payloads: &[P]) -> Result<Position> {
        let payloads: Vec<&[u8]> = payloads.iter().map(AsRef::as_ref).collect();
        self.line.push(&payloads)
    }

    /// The reader of that name, made where there is none: then it begins with the oldest record
    /// kept. A name has 1 to 24 of `A-Z a-z 0-9 . _ -`; there are at most 8 readers.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be, `TooLarge` for one reader too many, `Closed`, or what
    /// the disk says.
    pub fn reader(&self, name: &str) -> Result<QueueReader> {
        self.line.check_open()?;
        Ok(QueueReader::new(&self.line, self.line.cursor(name)?))
    }

    /// Takes a reader off: it holds no space any more. Its handles say `Closed` from now on.
    ///
    /// # Errors
    /// `Invalid` if there is none of that name, `Closed`, or what the disk says.
    pub fn remove_reader(&self, name: &str) -> Result<()> {
        self.line.check_open()?;
        self.line.remove_cursor(name)
    }

    /// As [`QueueReader::pop`], of the reader `default`.
    ///
    /// # Errors
    /// As there.
    pub fn pop(&self, timeout: Duration) -> Result<Option<QueueRecord>> {
        self.reader(DEFAULT_READER)?.pop(timeout)
    }

    /// As [`QueueReader::pop_many`], of the reader `default`.
    ///
    /// # Errors
    /// As there.
    pub fn pop_many(
        &self,
        max_records: usize,
        max_bytes: u64,
        timeout: Duration,
    ) -> Result<QueueBatch> {
        self.reader(DEFAULT_READER)?.pop_many(max_records, max_bytes, timeout)
    }

    /// As [`QueueReader::peek`], of the reader `default`.
    ///
    /// # Errors
    /// As there.
    pub fn peek(&self) -> Result<Option<QueueRecord>> {
        self.reader(DEFAULT_READER)?.peek()
    }

    /// As [`QueueReader::commit`], of the reader `default`.
    ///
    /// # Errors
    /// As there.
    pub fn commit(&self, end: Position) -> Result<()> {
        self.reader(DEFAULT_READER)?.commit(end)
    }

    /// As [`QueueReader::rewind`], of the reader `default`.
    ///
    /// # Errors
    /// As there.
    pub fn rewind(&self) -> Result<()> {
        self.reader(DEFAULT_READER)?.rewind()
    }

    /// Returns once everything pushed so far is durable, and what was committed.
    ///
    /// # Errors
    /// `Poisoned`, `Closed`, or what the disk says; then nothing more can be promised.
    pub fn flush(&self) -> Result<()> {
        self.line.check_open()?;
        self.line.flush_to(self.line.end_mark().position)?;
        self.line.sync_meta(false)
    }

    /// What opening the queue found and did.
    #[must_use]
    pub fn recovery(&self) -> &QueueRecovery {
        &self.recovery
    }

    /// The queue's root directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.line.root
    }

    /// Runs one piece of background work now, for a queue opened with `background: false`.
    ///
    /// # Errors
    /// What the step says, `Invalid` in a queue with threads of its own, or `Closed`.
    pub fn run(&self, task: QueueTask) -> Result<Next> {
        self.line.check_open()?;
        if self.line.options.background {
            let text = "the queue runs its steps itself: it was opened with background threads";
            return Err(Error::new(ErrorKind::Invalid, text));
        }
        let now_ms = self.line.clock.now_ms();
        let mut steps = self.steps.lock();
        match task {
            QueueTask::Prepare => steps.prepare.run(now_ms),
            QueueTask::Flush => steps.flush.run(now_ms),
            QueueTask::Probe => steps.probe.run(now_ms),
        }
    }

    /// Closes the queue: everything is flushed and written down. Who waits is told. Batches and
    /// records stay valid. Closing twice is fine.
    ///
    /// # Errors
    /// What kept it from closing cleanly; the next opening recovers then.
    pub fn close(&self) -> Result<()> {
        let line = &self.line;
        if line.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        // A push that passed the checks ends before this.
        line.tail.lock().close();
        line.readable.end(|wish| wish.raise());
        line.room.end(|_| {});
        self.workers.lock().stop(line.as_ref(), &BELLS);
        line.ready.lock().clear();
        line.leave_segments();
        let outcome = line.flush().and_then(|()| line.sync_meta(true));
        line.segments.ring.part_with_held().inspect_err(|_| self.stay_locked())?;
        self.fleet.lock().release();
        *self.lock.lock() = None;
        outcome
    }
}

impl Queue {
    /// Batches hold files that the next one to open the queue would write: nobody may, as long
    /// as this process lives.
    fn stay_locked(&self) {
        std::mem::forget(self.lock.lock().take());
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::warn!("the queue was not closed cleanly: {error}");
        }
    }
}
