//! `indexed` chases what is visible: every record becomes a unit of its queue.

use std::sync::Arc;

use crate::base::units::Position;
use crate::error::{Error, ErrorKind, Result};
use crate::log::LogReader;
use crate::record::{Check, Found, at};
use crate::tasks::{Engine, Next, Step};

/// Records per step: enough to make a system call per queue cheap, few enough to keep a waiting
/// reader short.
const STEP_RECORDS: usize = 4096;

/// Bytes that are looked at in one piece.
const PIECE_BYTES: u64 = 256 * 1024;

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
        // Through the mark's own rule, so that a caller who catches up never runs beside it.
        engine.index_to(engine.indexed.load() + 1)?;
        Ok(Next::Again)
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
        let mut reader = engine.log.reader();
        let mut position = engine.indexed.load();
        let mut last = None;
        for _ in 0..STEP_RECORDS {
            if position >= reader.end() {
                break;
            }
            position = apply_one(engine, &mut reader, position, &mut last)?;
        }
        engine.queues.publish()?;
        if last.is_some() {
            *engine.last_indexed.lock() = last;
        }
        engine.indexed.publish(position);
        Ok(())
    }
}

/// Applies what stands at `position` and returns the next one.
fn apply_one(
    engine: &Engine,
    reader: &mut LogReader,
    position: Position,
    last: &mut Option<(Position, i64)>,
) -> Result<Position> {
    let left = reader.readable(position)?;
    let mut look = left.min(PIECE_BYTES);
    loop {
        let span = reader.span(position, u32::try_from(look).expect("less than a segment"))?;
        let end = reader.segment(span).end();
        match at(reader.bytes(span), position.get(), Check::Structure) {
            Found::Record(view) => {
                engine.queues.apply(&view);
                *last = Some((position, view.store_ms()));
                reader.segment(span).set_last_store_ms(view.store_ms());
                return Ok(position + u64::from(view.size()));
            }
            Found::Padding => return Ok(end),
            // Perhaps only a part of it was looked at.
            _ if look < left => look = left,
            _ => return Err(damaged(reader, position)),
        }
    }
}

fn damaged(reader: &LogReader, position: Position) -> Error {
    let path = reader.snapshot().find(position).map(|segment| segment.path().to_owned());
    Error::new(ErrorKind::Corrupt, "the log holds no record where one was appended")
        .at(&path.unwrap_or_default())
        .with_offset(position.get())
}
