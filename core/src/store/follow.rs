//! A store opened for reading beside the process that writes it: it looks again and goes on.
//!
//! Nothing is told from process to process. What is new is found by checksum behind the last
//! record, new segments by listing the directories, and what retention dropped by the marks,
//! which the writer writes before it removes anything.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::checkpoint::{Marks, MarksFile};
use crate::directory::{Found, read_registry};
use crate::disk::Access;
use crate::error::{ErrorKind, Result};
use crate::log::{Scan, Stop};
use crate::record::{Check, MessageView};
use crate::segment::{Place, Segment};
use crate::store::fleet::Fleet;
use crate::store::open::{MARKS, is_passing};
use crate::store::watch::LOOK_AGAIN;
use crate::store::{Store, own_dir};
use crate::tasks::{Engine, Next, Step, Workers};

/// How often it looks again at what the writer is changing at that moment.
const TRIES: u32 = 8;

/// Records between two publications of queue units, so that memory stays bounded.
const PUBLISH_RECORDS: u64 = 16_384;

/// Follows the writer of a store. One thread at a time looks.
#[derive(Debug)]
pub(super) struct Follower {
    engine: Arc<Engine>,
    /// Stands behind the last record.
    scan: Mutex<Scan>,
    /// The thread that looks for those who wait with a descriptor, once there are any.
    worker: Mutex<Option<Workers>>,
}

impl Follower {
    /// Goes on where opening the store ended.
    pub(super) fn new(engine: &Arc<Engine>) -> Self {
        let log = &engine.log;
        let scan = Scan::new(log.chain().snapshot(), log.appended(), Check::Checksums);
        Self { engine: Arc::clone(engine), scan: Mutex::new(scan), worker: Mutex::new(None) }
    }

    /// Takes up what the writer did since. Says whether there was anything.
    pub(super) fn look(&self) -> Result<bool> {
        let mut scan = self.scan.lock();
        let before = self.extent();
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.look_once(&mut scan) {
                Err(error) if tries > 0 && is_passing(&error) => {}
                other => break other?,
            }
        }
        self.engine.tell_waiting();
        Ok(self.extent() != before)
    }

    /// Looks by itself from now on, while somebody waits and until the store is closed.
    pub(super) fn look_by_itself(self: &Arc<Self>) -> Result<()> {
        let mut worker = self.worker.lock();
        let engine = &self.engine;
        if worker.is_some() || !engine.options.background || engine.is_closed() {
            return Ok(());
        }
        let mut started = Workers::default();
        let step = FollowStep(Arc::clone(self));
        started.spawn(engine, |engine| &engine.index_bell, Box::new(step))?;
        *worker = Some(started);
        Ok(())
    }

    /// Ends what [`Follower::look_by_itself`] began; the store is closed already.
    pub(super) fn stop(&self) {
        if let Some(mut worker) = self.worker.lock().take() {
            worker.stop(self.engine.as_ref(), &[|engine| &engine.index_bell]);
        }
    }

    fn extent(&self) -> (Position, Position) {
        (self.engine.log.start(), self.engine.log.appended())
    }

    fn look_once(&self, scan: &mut Scan) -> Result<()> {
        let marks = self.marks()?;
        let start = marks.map_or(Position::ZERO, |marks| marks.start);
        if start > scan.position() {
            // The writer dropped what comes next.
            let is_known = start < self.known_end(scan);
            if is_known || self.find_segments(scan, start)? {
                self.jump(scan, start);
            }
        }
        self.read_on(scan, marks)?;
        self.follow_start(start)
    }

    fn marks(&self) -> Result<Option<Marks>> {
        let path: PathBuf = own_dir(&self.engine.root).join(MARKS);
        MarksFile::peek(self.engine.disk.as_ref(), &path)
    }

    /// The end of the last segment that is known.
    fn known_end(&self, scan: &Scan) -> Position {
        let snapshot = self.engine.log.chain().snapshot();
        snapshot.last().map_or(scan.position(), |last| last.end())
    }

    /// Reads up to where no whole record stands, over segments that came meanwhile.
    fn read_on(&self, scan: &mut Scan, marks: Option<Marks>) -> Result<()> {
        let mut count = 0;
        loop {
            let stop = scan.run(&mut |view| {
                self.engine.queues.apply(&view);
                count += 1;
                match count % PUBLISH_RECORDS {
                    0 => self.publish(end_of(&view), marks, None),
                    _ => Ok(()),
                }
            })?;
            self.publish(scan.position(), marks, scan.last())?;
            let start = self.engine.log.start();
            if stop != Stop::LastSegment || !self.find_segments(scan, start)? {
                return Ok(());
            }
        }
    }

    /// Lets readers see everything below `end`.
    fn publish(
        &self,
        end: Position,
        marks: Option<Marks>,
        last: Option<(Position, i64)>,
    ) -> Result<()> {
        let engine = &self.engine;
        if end > engine.log.appended() {
            engine.log.follow(end, marks.map_or(Position::ZERO, |marks| marks.flushed));
            engine.queues.publish()?;
            engine.publish_indexed(end, last);
            engine.queues.lean_on_files()?;
        }
        Ok(())
    }

    /// Adds the segments that follow the last one, or that the log begins with now. Says whether
    /// there were any.
    fn find_segments(&self, scan: &mut Scan, start: Position) -> Result<bool> {
        let engine = &self.engine;
        let disk = engine.disk.as_ref();
        // Anew each time: the writer may have added a directory.
        let registry = read_registry(disk, &engine.root)?;
        let fleet = Fleet::find(&engine.disk, &engine.root, &engine.options, registry)?;
        let inventory = fleet.inventory(disk, start)?;
        let mut end = self.known_end(scan).max(start);
        let mut came = false;
        for found in inventory.segments {
            if found.base <= end && end < found.base + found.len {
                end = found.base + found.len;
                engine.log.chain().push(self.segment(found));
                came = true;
            }
        }
        if came {
            *scan = Scan::new(engine.log.chain().snapshot(), scan.position(), Check::Checksums);
        }
        Ok(came)
    }

    /// Learns of the segments that there are, and reads nothing.
    #[cfg(test)]
    pub(super) fn find_segments_for_test(&self) {
        self.find_segments(&mut self.scan.lock(), Position::ZERO).unwrap();
    }

    fn segment(&self, found: Found) -> Arc<Segment> {
        let Found { base, len, path, directory } = found;
        let (disk, budget) = (&self.engine.disk, &self.engine.budget);
        let place = Place { base, len, path, directory };
        Arc::new(Segment::existing(disk, budget, place, Access::Read))
    }

    /// The log goes on at `start`, and each queue with the first message that stands there.
    fn jump(&self, scan: &mut Scan, start: Position) {
        self.engine.queues.begin_anew();
        *scan = Scan::new(self.engine.log.chain().snapshot(), start, Check::Checksums);
    }

    /// What lies below is gone, as the writer says.
    fn follow_start(&self, start: Position) -> Result<()> {
        let engine = &self.engine;
        if start > engine.log.start() {
            let dropped = engine.log.drop_before(start);
            dropped.iter().for_each(|segment| segment.set_dropped());
            engine.queues.look_again(engine.log.start())?;
        }
        Ok(())
    }

    /// Reads, and once more where a file was not there because the writer has dropped it.
    pub(super) fn reading<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        let mut start = self.engine.log.start();
        loop {
            match read() {
                Err(error) if error.kind() == ErrorKind::Offline => {
                    self.look()?;
                    if self.engine.log.start() == start {
                        return Err(error);
                    }
                    start = self.engine.log.start();
                }
                other => return other,
            }
        }
    }
}

/// Looks what the writer did, while somebody waits.
#[derive(Debug)]
struct FollowStep(Arc<Follower>);

impl Step for FollowStep {
    fn name(&self) -> &'static str {
        "follow"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        if !self.0.engine.waiting.is_any() {
            return Ok(Next::Idle);
        }
        self.0.look()?;
        Ok(Next::At(now_ms + LOOK_AGAIN.as_millis() as i64))
    }
}

fn end_of(view: &MessageView<'_>) -> Position {
    Position::new(view.position()) + u64::from(view.size())
}

impl Store {
    /// Takes up what the process that writes the store did since it was opened for reading, or
    /// since the last call: new messages, which are found by their checksums, and dropped
    /// segments. Says whether there was anything. Waiting in such a store does it by itself. In a
    /// store opened for writing there is nothing to do.
    ///
    /// Messages may be seen before the writer has made them durable. A message without a record
    /// checksum is told by its structure and its body's checksum alone.
    ///
    /// # Errors
    /// What the disk says, `Closed`.
    pub fn refresh(&self) -> Result<bool> {
        self.check_open()?;
        self.follower.as_ref().map_or(Ok(false), |follower| follower.look())
    }

    /// Reads, in a store opened for reading beside a writer that may be dropping segments.
    pub(super) fn reading<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        match &self.follower {
            None => read(),
            Some(follower) => follower.reading(read),
        }
    }
}
