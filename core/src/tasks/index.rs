//! `indexed` chases what is visible: every record becomes a unit of its queue.

use std::sync::Arc;

use crate::base::units::Position;
use crate::derived::{Queue, Unit};
use crate::disk::fetch_ahead;
use crate::error::{Error, ErrorKind, Result};
use crate::log::LogReader;
use crate::record::{Check, Found, at};
use crate::tasks::{Engine, FreshUnit, Next, Step};

/// Records per step: enough to make a system call per queue cheap, few enough to keep a waiting
/// reader short.
const STEP_RECORDS: usize = 4096;

/// Bytes that are looked at in one piece.
const PIECE_BYTES: u64 = 256 * 1024;

/// The part of a record that is looked at before its body, rounded up.
const HEADER_BYTES: usize = 128;

/// The part that is looked at behind its body, as it usually is.
const PROPERTIES_BYTES: usize = 192;

/// Derives queue units from the records that became visible.
#[derive(Debug)]
pub struct IndexStep(pub Arc<Engine>);

impl Step for IndexStep {
    fn name(&self) -> &'static str {
        "index"
    }

    fn run(&mut self, _now_ms: i64) -> Result<Next> {
        let engine = &self.0;
        if engine.indexed.load() >= engine.log.visible().end() {
            return Ok(Next::Idle);
        }
        let visible = engine.log.visible().end();
        // Through the mark's own rule, so that a caller who catches up never runs beside it.
        engine.index_to(engine.indexed.load() + 1)?;
        // A step costs some system calls per queue: what was appended meanwhile waits for more.
        Ok(if engine.indexed.load() < visible { Next::Again } else { Next::Soon })
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
        // After the reader: what it may see was noted before it was published.
        indexing.refill(engine);
        // Retention may have had to pass by what could not be indexed for lack of room.
        let mut position = engine.indexed.load().max(reader.start());
        let (mut records, mut last) = (0, None);
        while records < STEP_RECORDS && position < reader.end() {
            let piece = match indexing.apply(engine, &reader, position) {
                Some(piece) => piece,
                // A reader keeps every map it made, so each piece has one of its own.
                None => apply_piece(engine, &mut engine.log.reader(), position)?,
            };
            position = piece.end;
            records += piece.records;
            last = piece.last.or(last);
        }
        engine.queues.publish()?;
        engine.publish_indexed(position, last);
        Ok(())
    }
}

/// What the index step knows from one run to the next.
#[derive(Debug, Default)]
pub struct Indexing {
    /// Records whose units need no reading, in log order.
    fresh: Vec<FreshUnit>,
    /// Those before are done.
    done: usize,
    /// The store's queues by number, as far as they were looked up.
    queues: Vec<Option<Arc<Queue>>>,
}

impl Indexing {
    fn refill(&mut self, engine: &Engine) {
        if self.done == self.fresh.len() {
            self.fresh.clear();
            self.done = 0;
            engine.fresh.take(&mut self.fresh);
        }
    }

    /// Applies the records from `position` on that are known, as far as the reader sees; nothing
    /// if the one at `position` is not.
    fn apply(&mut self, engine: &Engine, reader: &LogReader, position: Position) -> Option<Piece> {
        let known = &self.fresh[self.done..];
        // What was read from the log meanwhile is done.
        self.done += known.partition_point(|unit| unit.position < position);
        let known = &self.fresh[self.done..];
        if known.first()?.position != position {
            return None;
        }
        let segment = reader.snapshot().find(position)?;
        let end = segment.end().min(reader.end());
        let count = known.partition_point(|unit| unit.end() <= end).min(STEP_RECORDS);
        let last = *known[..count].last()?;
        for at in self.done..self.done + count {
            self.add(engine, self.fresh[at]);
        }
        self.done += count;
        segment.set_last_store_ms(last.store_ms);
        let last_record = Some((last.position, last.store_ms));
        Some(Piece { end: last.end(), records: count, last: last_record })
    }

    fn add(&mut self, engine: &Engine, fresh: FreshUnit) {
        let Some(number) = fresh.queue.map(|number| number as usize) else { return };
        if self.queues.get(number).is_none_or(Option::is_none) {
            self.queues = engine.queues.by_number();
        }
        let queue = self.queues[number].as_ref().expect("a queue is known before its messages");
        let FreshUnit { position, size, offset, tag_code, .. } = fresh;
        engine.queues.add(queue, offset, Unit { position, size, tag_code });
    }
}

/// What was applied in one go.
struct Piece {
    end: Position,
    records: usize,
    /// Where the last record begins, and its store time.
    last: Option<(Position, i64)>,
}

/// Applies the records that stand whole in the next bytes, at least one or a padding. Asking for
/// bytes costs a system call, so it is done once for a piece and not for every record.
fn apply_piece(engine: &Engine, reader: &mut LogReader, position: Position) -> Result<Piece> {
    let left = reader.readable(position)?;
    for look in [left.min(PIECE_BYTES), left] {
        let span = reader.span(position, u32::try_from(look).expect("less than a segment"))?;
        let segment = reader.segment(span);
        let piece = apply_all(engine, reader.bytes(span), position, segment.end());
        if let Some((_, store_ms)) = piece.last {
            segment.set_last_store_ms(store_ms);
        }
        if piece.end > position {
            return Ok(piece);
        }
        // Perhaps only a part of a record was looked at.
    }
    Err(damaged(reader, position))
}

/// Applies records up to the first thing that is not a whole one.
fn apply_all(engine: &Engine, bytes: &[u8], start: Position, segment_end: Position) -> Piece {
    let mut piece = Piece { end: start, records: 0, last: None };
    while let Some(rest) = bytes.get((piece.end - start) as usize..) {
        match at(rest, piece.end.get(), Check::Structure) {
            Found::Record(view) => {
                fetch_after_next(rest, view.bytes().len());
                engine.queues.apply(&view);
                piece.last = Some((piece.end, view.store_ms()));
                piece.records += 1;
                piece.end += u64::from(view.size());
            }
            Found::Padding => {
                piece.end = segment_end;
                break;
            }
            Found::Nothing | Found::Damaged(_) => break,
        }
    }
    piece
}

/// Records usually are of one size: the two ends of the one after the next, of which the
/// appender's core has the bytes, are asked for while this one is applied. The processor does
/// that itself where records are short.
fn fetch_after_next(rest: &[u8], size: usize) {
    if size < 2 * (HEADER_BYTES + PROPERTIES_BYTES) {
        return;
    }
    let (start, end) = (2 * size, 3 * size);
    fetch_ahead(rest, start..end.min(start + HEADER_BYTES));
    fetch_ahead(rest, start.max(end - PROPERTIES_BYTES.min(size))..end);
}

fn damaged(reader: &LogReader, position: Position) -> Error {
    let path = reader.snapshot().find(position).map(|segment| segment.path().to_owned());
    Error::new(ErrorKind::Corrupt, "the log holds no record where one was appended")
        .at(&path.unwrap_or_default())
        .with_offset(position.get())
}
