//! `indexed` chases what is visible: every record becomes a unit of its queue, and entries of the
//! key index.

use std::sync::Arc;

use crate::base::units::Position;
use crate::derived::{KeyWriter, Queue, Unit, hash_record};
use crate::error::{ErrorKind, Result};
use crate::log::{LogReader, Piece};
use crate::tasks::backlog::Backlog;
use crate::tasks::{Engine, FreshUnit, Next, Notes, Step};

/// Records per step: enough to make a system call per queue cheap, few enough to keep a waiting
/// reader short.
const STEP_RECORDS: usize = 4096;

/// Pieces of records per step that go into the key index while no unit waits.
const STEP_PIECES: usize = 16;

/// A key index that could not be written is tried again after so many milliseconds.
const RETRY_MS: u64 = 1000;

/// Derives queue units from the records that became visible.
#[derive(Debug)]
pub struct IndexStep(pub Arc<Engine>);

impl Step for IndexStep {
    fn name(&self) -> &'static str {
        "index"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        let engine = &self.0;
        let visible = engine.log.visible().end();
        if engine.indexed.load() >= visible {
            return Ok(Self::run_keys(engine, now_ms, STEP_PIECES));
        }
        // Through the mark's own rule, so that a caller who catches up never runs beside it.
        engine.index_to(engine.indexed.load() + 1)?;
        if engine.indexed.load() < visible {
            Self::run_keys(engine, now_ms, engine.fresh.spare_pieces());
            return Ok(Next::Again);
        }
        // A step costs some system calls per queue: what was appended meanwhile waits for more.
        Ok(match Self::run_keys(engine, now_ms, STEP_PIECES) {
            Next::Idle => Next::Soon,
            other => other,
        })
    }
}

impl IndexStep {
    /// Indexes one piece. Only one thread at a time: see [`Engine::index_to`].
    ///
    /// # Errors
    /// What the disk says when a queue file cannot be written: nothing is lost, call again.
    /// `Corrupt` where the log holds no record: nothing more is indexed then.
    pub fn run_once(engine: &Engine) -> Result<()> {
        // What an earlier step could not write goes first.
        engine.queues.publish()?;
        let reader = engine.log.reader();
        let mut indexing = engine.indexing.lock();
        // Retention may have had to pass by what could not be indexed for lack of room.
        let mut position = engine.indexed.load().max(reader.start());
        let (mut records, mut last) = (0, None);
        while records < STEP_RECORDS && position < reader.end() {
            let piece = match indexing.apply(engine, &reader, position) {
                Some(piece) => piece,
                None => indexing.read(engine, position)?,
            };
            position = piece.end;
            records += piece.records;
            last = piece.last.or(last);
        }
        engine.queues.publish()?;
        engine.publish_indexed(position, last);
        Ok(())
    }

    /// Lets the key index catch up with the queues, for so many pieces.
    fn run_keys(engine: &Engine, now_ms: i64, pieces: usize) -> Next {
        if !engine.keys.is_kept() || engine.keys.done() >= engine.indexed.load() {
            return Next::Idle;
        }
        let mut indexing = engine.indexing.lock();
        match indexing.catch_up_keys(engine, pieces) {
            Ok(()) => Next::Again,
            Err(error) => {
                indexing.tell(&error);
                Next::At(now_ms.saturating_add_unsigned(RETRY_MS))
            }
        }
    }
}

/// What the index step knows from one run to the next.
#[derive(Debug, Default)]
pub struct Indexing {
    /// Records whose units need no reading, in log order.
    fresh: Notes,
    /// Those before are done.
    done: usize,
    /// Hashes before are.
    done_hashes: usize,
    /// Units on their way to their queues, by the queue's number in the store, as far as those
    /// were looked up.
    runs: Vec<Option<Run>>,
    /// The runs that are not empty.
    filled: Vec<usize>,
    /// Hashes of a record that was read.
    hashes: Vec<u32>,
    /// Records on their way into the key index.
    backlog: Backlog,
    /// What kept the key index from being written, as it was logged.
    failure: String,
}

/// Units of one queue that follow each other.
#[derive(Debug)]
struct Run {
    queue: Arc<Queue>,
    /// The first one's offset.
    first: u64,
    units: Vec<Unit>,
}

impl Indexing {
    /// Takes what the appenders noted, as soon as what was taken before is used up.
    fn refill(&mut self, engine: &Engine) {
        if self.done == self.fresh.units.len() {
            self.fresh.clear();
            (self.done, self.done_hashes) = (0, 0);
            engine.fresh.take(&mut self.fresh);
        }
    }

    /// Passes by what is known of records below `position`: they were read from the log.
    fn pass(&mut self, position: Position) {
        while let Some(unit) = self.fresh.units.get(self.done).filter(|u| u.position < position) {
            self.done_hashes += unit.hashes as usize;
            self.done += 1;
        }
    }

    /// Applies the records from `position` on that are known, as far as the reader sees; nothing
    /// if the one at `position` is not.
    fn apply(&mut self, engine: &Engine, reader: &LogReader, position: Position) -> Option<Piece> {
        self.pass(position);
        // After the reader was made: what it may see was noted before it was published.
        self.refill(engine);
        self.pass(position);
        let known = &self.fresh.units[self.done..];
        if known.first()?.position != position {
            return None;
        }
        let segment = reader.snapshot().find(position)?;
        let end = segment.end().min(reader.end());
        let mut next = position;
        let follows = known.iter().take(STEP_RECORDS).take_while(|unit| {
            let follows = unit.position == next && unit.end() <= end;
            next = unit.end();
            follows
        });
        let count = follows.count();
        let last = *known[..count].last()?;
        let times = known[..count].iter().map(|unit| (unit.position, unit.end(), unit.store_ms));
        engine.queues.times().note(times);
        for at in self.done..self.done + count {
            self.add(engine, self.fresh.units[at]);
        }
        self.hand_over(engine);
        self.note_keys(engine, count);
        self.pass(last.end());
        segment.set_last_store_ms(last.store_ms);
        let last_record = Some((last.position, last.store_ms));
        Some(Piece { end: last.end(), records: count, last: last_record })
    }

    fn add(&mut self, engine: &Engine, fresh: FreshUnit) {
        let Some(number) = fresh.queue.map(|number| number as usize) else { return };
        if self.runs.get(number).is_none_or(Option::is_none) {
            self.look_up(engine);
        }
        let run = self.runs[number].as_mut().expect("a queue is known before its messages");
        if run.units.is_empty() {
            run.first = fresh.offset;
            self.filled.push(number);
        } else if fresh.offset != run.first + run.units.len() as u64 {
            run.hand_over(engine);
            run.first = fresh.offset;
        }
        let FreshUnit { position, size, tag_code, .. } = fresh;
        run.units.push(Unit { position, size, tag_code });
    }

    fn look_up(&mut self, engine: &Engine) {
        let queues = engine.queues.by_number();
        self.runs.resize_with(queues.len(), || None);
        for (run, queue) in self.runs.iter_mut().zip(queues) {
            if run.is_none() {
                *run = queue.map(|queue| Run { queue, first: 0, units: Vec::new() });
            }
        }
    }

    fn hand_over(&mut self, engine: &Engine) {
        for number in self.filled.drain(..) {
            let run = self.runs[number].as_mut().expect("it was filled");
            run.hand_over(engine);
        }
    }

    /// Notes the next `count` known records for the key index.
    fn note_keys(&mut self, engine: &Engine, count: usize) {
        if !engine.keys.is_kept() {
            return;
        }
        let mut hashes = &self.fresh.hashes[self.done_hashes..];
        for unit in &self.fresh.units[self.done..self.done + count] {
            let (own, rest) = hashes.split_at(unit.hashes as usize);
            self.backlog.note(unit.position, unit.size, unit.store_ms, own);
            hashes = rest;
        }
    }

    /// Applies the records of the next piece of the log.
    fn read(&mut self, engine: &Engine, position: Position) -> Result<Piece> {
        let is_kept = engine.keys.is_kept();
        let (backlog, hashes) = (&mut self.backlog, &mut self.hashes);
        let mut end = position;
        let piece = engine.log.walk_piece(position, &mut |view| {
            engine.queues.apply(view);
            if is_kept {
                backlog.note_view(view, hashes);
            }
            end += u64::from(view.size());
        })?;
        if is_kept {
            backlog.pass(end, piece.end);
        }
        Ok(piece)
    }

    /// Adds the keys of records that are in the queues already, `pieces` pieces of them at most.
    ///
    /// # Errors
    /// What the disk says; call again, nothing is lost.
    pub fn catch_up_keys(&mut self, engine: &Engine, pieces: usize) -> Result<()> {
        let mut keys = engine.keys.writer();
        for _ in 0..pieces {
            let position = keys.done().max(engine.log.start());
            let indexed = engine.indexed.load();
            if position >= indexed {
                break;
            }
            if self.backlog.add(&mut keys, position, indexed)? {
                continue;
            }
            let end = Self::read_keys(engine, position, &mut keys, &mut self.hashes)?;
            keys.advance(end);
        }
        Ok(())
    }

    /// Adds the keys of the next piece of the log; says where it ends.
    fn read_keys(
        engine: &Engine,
        position: Position,
        keys: &mut KeyWriter,
        hashes: &mut Vec<u32>,
    ) -> Result<Position> {
        let mut outcome = Ok(());
        let walked = engine.log.walk_piece(position, &mut |view| {
            if outcome.is_ok() {
                hashes.clear();
                hash_record(view, hashes);
                outcome = keys.add(Position::new(view.position()), view.store_ms(), hashes);
            }
        });
        outcome?;
        match walked {
            Ok(piece) => Ok(piece.end),
            Err(error) => behind(engine, position, error),
        }
    }

    /// Logs why the key index is not written, once.
    fn tell(&mut self, error: &crate::error::Error) {
        let text = error.to_string();
        if self.failure != text {
            log::warn!("the key index falls behind: {text}");
            self.failure = text;
        }
    }
}

impl Run {
    fn hand_over(&mut self, engine: &Engine) {
        engine.queues.add(&self.queue, self.first, &self.units);
        self.units.clear();
    }
}

/// Where records go on behind what cannot be read. Over a hole the index is not whole: it is
/// built anew once that part of the log is back.
fn behind(engine: &Engine, position: Position, error: crate::error::Error) -> Result<Position> {
    if error.kind() == ErrorKind::Offline {
        engine.keys.distrust();
    }
    let behind = engine.log.behind(position, &error)?;
    behind.ok_or(error).map(|behind| behind.min(engine.indexed.load()))
}
