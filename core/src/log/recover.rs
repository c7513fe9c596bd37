//! Finding the end of the log again: a walk over records that says where and why it stops.
//!
//! The walk decides nothing. It stops at the first thing that is not a record; whoever opens the
//! store knows what was flushed, and whether that place is the end or damage.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::bytes::read_i32;
use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::disk::{Access, File, Map};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Check, Damage, Found, MessageView, at, resync_within};
use crate::segment::{Segment, Snapshot};

/// Bytes that are made resident ahead of the walk.
const WINDOW_BYTES: u64 = 8 * 1024 * 1024;

/// Bytes that are searched before the file system is asked again where it has data.
pub(super) const PIECE_BYTES: u64 = 1024 * 1024;

/// Why a walk stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No segment covers this position, or nothing more may be read.
    LastSegment,
    /// Nothing was ever written here.
    Nothing,
    /// Something is written here that is no record.
    Damaged(Damage),
}

/// A range that is not records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where, on the log's line.
    pub range: Range<u64>,
    /// The file it begins in.
    pub path: PathBuf,
    /// What is wrong at its first byte.
    pub reason: String,
}

/// A walk over the records of a log that nobody is writing.
#[derive(Debug)]
pub struct Scan {
    snapshot: Snapshot,
    position: Position,
    check: Check,
    limit: Published,
    mapped: Option<(Arc<Segment>, Arc<Map>)>,
    resident: u64,
    /// Where the last record began, and its store time.
    last: Option<(Position, i64)>,
}

impl Scan {
    /// A walk that begins at `from`, where a record must begin.
    #[must_use]
    pub fn new(snapshot: Snapshot, from: Position, check: Check) -> Self {
        let limit = Published::all();
        Self { snapshot, position: from, check, limit, mapped: None, resident: 0, last: None }
    }

    /// The same walk over a log that is being written, which ends where reading must.
    #[must_use]
    pub fn below(self, limit: Published) -> Self {
        Self { limit, ..self }
    }

    /// Where the walk stands.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Where the last record began, and its store time.
    #[must_use]
    pub fn last(&self) -> Option<(Position, i64)> {
        self.last
    }

    /// The file the walk stands in.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let segment = self.snapshot.from(self.position).or(self.snapshot.last());
        segment.map(|segment| segment.path().to_owned()).unwrap_or_default()
    }

    /// Walks on, giving every record to `visit`, until something is not a record.
    ///
    /// # Errors
    /// What `visit` says, and what the disk says when bytes cannot be read.
    pub fn run(&mut self, visit: &mut dyn FnMut(MessageView<'_>) -> Result<()>) -> Result<Stop> {
        loop {
            if let Some(stop) = self.step(u64::MAX, visit)? {
                return Ok(stop);
            }
        }
    }

    /// As [`Scan::run`], over about so many bytes; nothing if it did not stop before.
    ///
    /// # Errors
    /// As [`Scan::run`].
    pub fn step(
        &mut self,
        bytes: u64,
        visit: &mut dyn FnMut(MessageView<'_>) -> Result<()>,
    ) -> Result<Option<Stop>> {
        let pause = Position::new(self.position.get().saturating_add(bytes));
        while self.position < pause {
            let Some((segment, map)) = self.enter()? else { return Ok(Some(Stop::LastSegment)) };
            if let Some(stop) = self.run_in(&segment, &map, pause, visit)? {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// Walks to the end of one segment or to a pause, or says why not.
    fn run_in(
        &mut self,
        segment: &Segment,
        map: &Map,
        pause: Position,
        visit: &mut dyn FnMut(MessageView<'_>) -> Result<()>,
    ) -> Result<Option<Stop>> {
        let readable = self.limit.below(segment.base());
        let end = segment.len_bytes().min(readable.end().get());
        while segment.covers(self.position) && self.position < pause {
            let from = self.position - segment.base();
            if from >= end {
                return Ok(Some(Stop::LastSegment));
            }
            self.make_resident(segment, map, from)?;
            let rest =
                map.bytes(from..end, readable).expect("the segment's whole length is mapped");
            self.make_record_resident(segment, map, from, rest)?;
            match at(rest, self.position.get(), self.check) {
                Found::Record(view) => {
                    visit(view)?;
                    self.last = Some((self.position, view.store_ms()));
                    segment.set_last_store_ms(view.store_ms());
                    self.position += u64::from(view.size());
                }
                Found::Padding => self.position = segment.end(),
                Found::Nothing => return Ok(Some(Stop::Nothing)),
                Found::Damaged(damage) => return Ok(Some(Stop::Damaged(damage))),
            }
        }
        Ok(None)
    }

    /// Moves to the next place behind this one where a record, or the padding before the next
    /// segment, stands whole. Without any, nothing moves and nothing is returned.
    ///
    /// # Errors
    /// What the disk says.
    pub fn skip(&mut self) -> Result<Option<Range<Position>>> {
        let from = self.position;
        let mut look = from + 1;
        while let Some(segment) = self.snapshot.from(look).cloned() {
            look = look.max(segment.base());
            if let Some(found) = resume_in(&segment, look)? {
                self.position = found;
                return Ok(Some(from..found));
            }
            look = segment.end();
        }
        Ok(None)
    }

    /// The same walk, going on at `position`.
    #[must_use]
    pub fn moved_to(self, position: Position) -> Self {
        Self { position, ..self }
    }

    /// Moves on to `position`, as far as the present segment goes.
    pub fn pass(&mut self, position: Position) {
        let end = self.snapshot.find(self.position).map_or(self.position, |here| here.end());
        self.position = self.position.max(position.min(end));
    }

    /// The segment at the present position, past a gap if there is one.
    fn enter(&mut self) -> Result<Option<(Arc<Segment>, Arc<Map>)>> {
        if let Some((segment, map)) = &self.mapped
            && segment.covers(self.position)
        {
            return Ok(Some((Arc::clone(segment), Arc::clone(map))));
        }
        let Some(segment) = self.snapshot.from(self.position).cloned() else { return Ok(None) };
        if self.position < segment.base() {
            self.position = segment.base();
        }
        let map = segment.map()?;
        self.mapped = Some((Arc::clone(&segment), Arc::clone(&map)));
        self.resident = 0;
        Ok(Some((segment, map)))
    }

    /// A record may be longer than what is made resident ahead.
    fn make_record_resident(
        &mut self,
        segment: &Segment,
        map: &Map,
        from: u64,
        rest: &[u8],
    ) -> Result<()> {
        let size = read_i32(rest, 0).and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
        let end = (from + size).min(segment.len_bytes());
        if end <= self.resident {
            return Ok(());
        }
        self.populate(segment, map, from..end)
    }

    fn make_resident(&mut self, segment: &Segment, map: &Map, from: u64) -> Result<()> {
        let wanted = (from + WINDOW_BYTES).min(segment.len_bytes());
        if self.resident >= wanted.saturating_sub(WINDOW_BYTES / 2) && self.resident > from {
            return Ok(());
        }
        self.populate(segment, map, from..wanted)
    }

    fn populate(&mut self, segment: &Segment, map: &Map, range: Range<u64>) -> Result<()> {
        map.populate(range.clone(), Access::Read).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot read the log: {}", error.message()))
                .at(segment.path())
                .with_offset(range.start)
        })?;
        self.resident = range.end;
        Ok(())
    }
}

/// The first whole record or padding of `segment` at or behind `look`.
fn resume_in(segment: &Arc<Segment>, look: Position) -> Result<Option<Position>> {
    let file = segment.file()?;
    let pieces = written_pieces(file.as_ref(), look - segment.base());
    segment.close_file();
    let (pieces, map) = (pieces?, segment.map()?);
    for &piece in &pieces {
        map.populate(piece..piece + PIECE_BYTES, Access::Read)?;
    }
    Ok(search(&map, segment, &pieces))
}

/// Where the pieces begin that the file system has data for. What was never written is passed
/// by: as pages it would be zeros, of which a segment has up to a gigabyte. All are asked for
/// before any is touched, since the system reads ahead, and what it read counts as data.
pub(super) fn written_pieces(file: &dyn File, mut from: u64) -> Result<Vec<u64>> {
    let mut pieces = Vec::new();
    while let Some(piece) = file.next_data(from)? {
        pieces.push(piece);
        from = piece + PIECE_BYTES;
    }
    Ok(pieces)
}

fn search(map: &Map, segment: &Segment, pieces: &[u64]) -> Option<Position> {
    let mut allowance = pieces.len() as u64 * PIECE_BYTES;
    pieces.iter().find_map(|&piece| {
        let rest = map.bytes(piece..segment.len_bytes(), Published::all()).expect("mapped whole");
        let position = segment.base() + piece;
        let within = PIECE_BYTES as usize;
        let found = resync_within(rest, position.get(), within, &mut allowance)?;
        Some(position + found as u64)
    })
}
