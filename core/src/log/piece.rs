//! Walking over records that readers may see: one piece at a time, while others append.

use std::ops::Range;

use crate::base::units::Position;
use crate::disk::fetch_ahead;
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Log, LogReader};
use crate::record::{Check, Found, MessageView, at, resync};

/// Bytes that are looked at in one piece.
const PIECE_BYTES: u64 = 256 * 1024;

/// The part of a record that is looked at before its body, rounded up.
const HEADER_BYTES: usize = 128;

/// The part that is looked at behind its body, as it usually is.
const PROPERTIES_BYTES: usize = 192;

/// What was walked over in one go.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where to go on.
    pub end: Position,
    /// How many records were seen.
    pub records: usize,
    /// Where the last record begins, and its store time.
    pub last: Option<(Position, i64)>,
}

impl Log {
    /// Gives the records that stand whole in the next bytes to `visit`, at least one or a padding.
    /// Asking for bytes costs a system call, so it is done once for a piece and not for every
    /// record; a reader keeps every map it made, so each piece has one of its own.
    ///
    /// # Errors
    /// `Corrupt` where no record stands, `Gone` below the start, `Offline` in a hole, else what
    /// the disk says.
    pub fn walk_piece(
        &self,
        position: Position,
        visit: &mut dyn FnMut(&MessageView<'_>),
    ) -> Result<Piece> {
        let mut reader = self.reader();
        let left = reader.readable(position)?;
        for look in [left.min(PIECE_BYTES), left] {
            let span = reader.span(position, u32::try_from(look).expect("less than a segment"))?;
            let segment = reader.segment(span);
            let piece = walk_all(reader.bytes(span), position, segment.end(), visit);
            if let Some((_, store_ms)) = piece.last {
                segment.set_last_store_ms(store_ms);
            }
            if piece.end > position {
                return Ok(piece);
            }
            // Perhaps only a part of a record was looked at.
        }
        Err(damaged(&reader, position))
    }

    /// Walks over all records of `range`, past damage, holes and what retention dropped; a record
    /// that begins in it is seen whole. Says over what it passed.
    ///
    /// # Errors
    /// What the disk says.
    pub fn walk(
        &self,
        range: Range<Position>,
        visit: &mut dyn FnMut(&MessageView<'_>),
    ) -> Result<Vec<Error>> {
        let (mut position, mut passed) = (range.start, Vec::new());
        while position < range.end {
            let inside = |view: &MessageView<'_>| view.position() < range.end.get();
            let mut each = |view: &MessageView<'_>| {
                if inside(view) {
                    visit(view);
                }
            };
            match self.walk_piece(position, &mut each) {
                Ok(piece) => position = piece.end,
                Err(error) => match self.behind(position, &error)? {
                    Some(behind) => {
                        position = behind;
                        passed.push(error);
                    }
                    None => return Err(error),
                },
            }
        }
        Ok(passed)
    }

    /// The next place behind what `error` says of `position` where records go on; nothing if the
    /// error is of another kind.
    ///
    /// # Errors
    /// What the disk says.
    pub fn behind(&self, position: Position, error: &Error) -> Result<Option<Position>> {
        match error.kind() {
            ErrorKind::Gone => Ok(Some(self.start().max(position + 1))),
            ErrorKind::Offline => Ok(error.range().map(|hole| Position::new(hole.end))),
            ErrorKind::Corrupt => self.behind_damage(position).map(Some),
            _ => Ok(None),
        }
    }

    fn behind_damage(&self, position: Position) -> Result<Position> {
        let mut reader = self.reader();
        let left = reader.readable(position)?;
        let span = reader.span(position, u32::try_from(left).expect("less than a segment"))?;
        let rest = reader.bytes(span).get(1..).unwrap_or_default();
        let distance = resync(rest, position.get() + 1).map(|distance| distance as u64 + 1);
        Ok(position + distance.unwrap_or(left))
    }
}

/// Walks over records up to the first thing that is not a whole one.
fn walk_all(
    bytes: &[u8],
    start: Position,
    segment_end: Position,
    visit: &mut dyn FnMut(&MessageView<'_>),
) -> Piece {
    let mut piece = Piece { end: start, records: 0, last: None };
    while let Some(rest) = bytes.get((piece.end - start) as usize..) {
        match at(rest, piece.end.get(), Check::Structure) {
            Found::Record(view) => {
                fetch_after_next(rest, view.bytes().len());
                visit(&view);
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
