//! Reading: from a position to bytes that stay mapped.

use std::sync::Arc;

use crate::base::bytes::read_i32;
use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::disk::{Access, Map, Slice};
use crate::error::{Error, ErrorKind, Result};
use crate::log::Log;
use crate::record::{MIN_RECORD_BYTES, MessageView};
use crate::segment::{Segment, Snapshot};

/// Bytes that are made resident in one call before they are touched: at first, and at most once
/// a reader goes on where the last call ended. A call costs as much as reading ten messages.
const WINDOW_BYTES: u64 = 256 * 1024;
const MAX_WINDOW_BYTES: u64 = 2 << 20;

/// One reader's view of the log: the segments, the start and the permission to read, as they
/// were when it was made. It maps what it needs and keeps it mapped.
#[derive(Debug)]
pub struct LogReader {
    snapshot: Snapshot,
    start: Position,
    visible: Published,
    maps: Vec<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    segment: Arc<Segment>,
    map: Arc<Map>,
    /// Bytes of the map that were made resident for this reader.
    resident: std::ops::Range<u64>,
}

/// Where some bytes of the log are: in which of the reader's maps, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which map.
    pub map: u32,
    /// First byte in it.
    pub at: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Log {
    /// A reader of what is visible now.
    #[must_use]
    pub fn reader(&self) -> LogReader {
        // The mark first: what it permits lies in segments that were in the chain by then.
        let visible = self.visible();
        let snapshot = self.chain.snapshot();
        LogReader { snapshot, start: self.start(), visible, maps: Vec::new() }
    }
}

impl LogReader {
    /// The first position that must not be read.
    #[must_use]
    pub fn end(&self) -> Position {
        self.visible.end()
    }

    /// The first position that is kept.
    #[must_use]
    pub fn start(&self) -> Position {
        self.start
    }

    /// The segments this reader sees.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    fn within(&self, mapped: &Mapped) -> Published {
        self.visible.below(mapped.segment.base())
    }

    /// Finds `len` bytes at `position`, maps their segment and makes them resident.
    ///
    /// # Errors
    /// `Gone` below the start, `Offline` in a hole, `Invalid` beyond the end or across a
    /// segment's end, else what the disk says.
    pub fn span(&mut self, position: Position, len: u32) -> Result<Span> {
        let index = match self.maps.last() {
            Some(last) if last.segment.covers(position) => self.maps.len() - 1,
            _ => self.enter(position)?,
        };
        let visible = self.visible.end();
        let mapped = &mut self.maps[index];
        let at = mapped.within(position, len, visible)?;
        mapped.make_resident(at, u64::from(len), visible.min(mapped.segment.end()))?;
        Ok(span_of(index, at, len))
    }

    /// As [`LogReader::span`], for single places: nothing ahead is made resident, and the system is
    /// asked once for each part of a segment.
    ///
    /// # Errors
    /// As [`LogReader::span`].
    pub fn place(&mut self, position: Position, len: u32) -> Result<Span> {
        let index = match self.maps.last() {
            Some(last) if last.segment.covers(position) => self.maps.len() - 1,
            _ => self.enter(position)?,
        };
        let mapped = &self.maps[index];
        let at = mapped.within(position, len, self.visible.end())?;
        let resident = mapped.map.make_resident(at..at + u64::from(len));
        resident.map_err(|error| error.at(mapped.segment.path()))?;
        Ok(span_of(index, at, len))
    }

    /// The record that begins at `position`, by structure and place; nothing if none does.
    ///
    /// # Errors
    /// As [`LogReader::span`], where nothing can be read at all.
    pub fn record(&mut self, position: Position) -> Result<Option<Span>> {
        let left = self.readable(position)?;
        let head = self.place(position, MIN_RECORD_BYTES.min(left) as u32)?;
        let size = read_i32(self.bytes(head), 0).and_then(|size| u32::try_from(size).ok());
        let Some(size) = size.filter(|&size| u64::from(size) <= left) else { return Ok(None) };
        let span = self.place(position, size)?;
        let is_home = |view: MessageView<'_>| view.position() == position.get();
        Ok(MessageView::parse(self.bytes(span)).is_ok_and(is_home).then_some(span))
    }

    /// How many bytes can be read at `position` before its segment or the log ends.
    ///
    /// # Errors
    /// As [`LogReader::span`].
    pub fn readable(&mut self, position: Position) -> Result<u64> {
        let segment = self.segment_at(position)?;
        Ok(self.visible.end().min(segment.end()).since(position))
    }

    /// Brings the next `len` bytes at `position` closer to the processor, if they lie in the
    /// segment that was read last, and waits for nothing.
    #[inline]
    pub fn fetch_ahead(&self, position: Position, len: u32) {
        if let Some(last) = self.maps.last().filter(|last| last.segment.covers(position)) {
            last.map.fetch_ahead(position - last.segment.base(), len);
        }
    }

    /// The bytes of a span.
    #[must_use]
    pub fn bytes(&self, span: Span) -> &[u8] {
        let mapped = &self.maps[span.map as usize];
        let from = u64::from(span.at);
        let range = from..from + u64::from(span.len);
        mapped.map.bytes(range, self.within(mapped)).expect("a span is checked when it is made")
    }

    /// An owned slice of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> Slice {
        let mapped = &self.maps[span.map as usize];
        let from = u64::from(span.at);
        let range = from..from + u64::from(span.len);
        mapped.map.slice(range, self.within(mapped)).expect("a span is checked when it is made")
    }

    /// The segment of a span.
    #[must_use]
    pub fn segment(&self, span: Span) -> &Arc<Segment> {
        &self.maps[span.map as usize].segment
    }

    fn enter(&mut self, position: Position) -> Result<usize> {
        if let Some(index) = self.maps.iter().position(|mapped| mapped.segment.covers(position)) {
            return Ok(index);
        }
        let segment = Arc::clone(self.segment_at(position)?);
        let map = segment.map()?;
        self.maps.push(Mapped { segment, map, resident: 0..0 });
        Ok(self.maps.len() - 1)
    }

    fn segment_at(&self, position: Position) -> Result<&Arc<Segment>> {
        if position < self.start {
            return Err(Error::new(ErrorKind::Gone, "retention dropped that part of the log")
                .with_offset(position.get())
                .with_limit(self.start.get()));
        }
        if let Some(segment) = self.snapshot.find(position) {
            return Ok(segment);
        }
        let holes = self.snapshot.holes(self.start..self.visible.end());
        Err(match holes.into_iter().find(|hole| hole.contains(&position)) {
            Some(gap) => Error::new(ErrorKind::Offline, "a directory of that range is not there")
                .with_offset(position.get())
                .with_range(gap.start.get()..gap.end.get()),
            None => Error::new(ErrorKind::Invalid, "the position lies behind the log's end")
                .with_offset(position.get())
                .with_limit(self.visible.end().get()),
        })
    }
}

fn span_of(index: usize, at: u64, len: u32) -> Span {
    let at = u32::try_from(at).expect("a segment is shorter than 2 GiB");
    Span { map: u32::try_from(index).expect("a batch has few segments"), at, len }
}

impl Mapped {
    /// Where in the map the `len` bytes at `position` are, if all of them can be read.
    fn within(&self, position: Position, len: u32, visible: Position) -> Result<u64> {
        let end = position.get().checked_add(u64::from(len)).map(Position::new);
        let readable = visible.min(self.segment.end());
        if end.is_none_or(|end| end > readable) {
            return Err(Error::new(ErrorKind::Invalid, "the range ends behind what can be read")
                .at(self.segment.path())
                .with_offset(position.get())
                .with_limit(readable.get()));
        }
        Ok(position - self.segment.base())
    }

    /// Touching a page that cannot be read would kill the host, so the system is asked first.
    fn make_resident(&mut self, at: u64, len: u64, readable: Position) -> Result<()> {
        if self.resident.start <= at && at + len <= self.resident.end {
            return Ok(());
        }
        let limit = readable - self.segment.base();
        let last = self.resident.end - self.resident.start;
        let goes_on = self.resident.contains(&at) || at.wrapping_sub(self.resident.end) < last;
        let window = if goes_on { (2 * last).min(MAX_WINDOW_BYTES) } else { 0 };
        let end = (at + len.max(window).max(WINDOW_BYTES)).min(limit);
        self.map.populate(at..end, Access::Read).map_err(|error| error.at(self.segment.path()))?;
        self.resident = at..end;
        Ok(())
    }
}
