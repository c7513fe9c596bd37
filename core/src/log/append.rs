//! Appending: claim a position, stamp, copy, publish.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::units::Position;
use crate::disk::{File, MapWriter};
use crate::error::{Error, ErrorKind, Result};
use crate::log::Log;
use crate::record::{PADDING_BYTES, padding};
use crate::segment::Segment;

/// How bytes reach the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePath {
    /// Copied into the map at once; readers see them at once. A segment whose file system cannot
    /// reserve its blocks is written by system calls instead.
    Mapped,
    /// Collected in memory and written by one system call per flush; readers see them once they
    /// are durable. The least bytes reach the device this way.
    Staged,
}

/// Where the next segment comes from. Called under the append lock.
pub trait NextSegment {
    /// A new, empty, linked segment that begins at `base`.
    fn next_segment(&self, base: Position) -> Result<Arc<Segment>>;
}

/// The end of the log, under the append lock.
#[derive(Debug)]
pub(super) struct Tail {
    end: Position,
    open: Option<OpenTail>,
    /// Bytes that are appended and not yet written, oldest first.
    pub(super) staged: Vec<Staged>,
    /// Emptied buffers, kept so that appending does not allocate.
    pub(super) spare: Vec<Vec<u8>>,
}

/// Bytes for one place of one segment.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) segment: Arc<Segment>,
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

/// The segment that is being filled.
#[derive(Debug)]
struct OpenTail {
    segment: Arc<Segment>,
    writer: Writer,
}

#[derive(Debug)]
enum Writer {
    Map(MapWriter),
    File(Arc<dyn File>),
    Stage,
}

impl Tail {
    pub(super) fn at(end: Position) -> Self {
        Self { end, open: None, staged: Vec::new(), spare: Vec::new() }
    }

    /// Writes `bytes` at the end, without moving it.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let open = self.open.as_mut().expect("the tail was opened before a record is put");
        let at = self.end - open.segment.base();
        match &mut open.writer {
            Writer::Map(map) => map.put(at, bytes),
            Writer::File(file) => file.write_at(at, bytes)?,
            Writer::Stage => stage(&mut self.staged, &mut self.spare, &open.segment, at, bytes),
        }
        Ok(())
    }

    /// Closes the segment being filled with a padding record; the end moves to the next base.
    fn pad(&mut self) -> Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        let next = open.segment.end();
        if self.end < next {
            let left = u32::try_from(next - self.end).expect("a segment is shorter than 2 GiB");
            self.put(&padding(left))?;
        }
        self.end = next;
        Ok(())
    }
}

fn stage(
    staged: &mut Vec<Staged>,
    spare: &mut Vec<Vec<u8>>,
    segment: &Arc<Segment>,
    at: u64,
    bytes: &[u8],
) {
    match staged.last_mut() {
        Some(last)
            if Arc::ptr_eq(&last.segment, segment) && last.at + last.bytes.len() as u64 == at =>
        {
            last.bytes.extend_from_slice(bytes);
        }
        _ => {
            let mut buffer = spare.pop().unwrap_or_default();
            buffer.extend_from_slice(bytes);
            staged.push(Staged { segment: Arc::clone(segment), at, bytes: buffer });
        }
    }
}

/// Overwrites with zeros what is written in a range, and only that: it has its blocks, so a full
/// disk does not matter.
fn erase(file: &dyn File, at: u64, len: usize) -> Result<()> {
    let mut bytes = vec![0; len];
    file.read_at(at, &mut bytes)?;
    let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(written);
    bytes.fill(0);
    if written == 0 { Ok(()) } else { file.write_at(at, &bytes) }
}

impl Log {
    /// Appends `records`, one record or several that belong together, in one piece.
    ///
    /// `stamp` is given the position under the append lock and completes the records; `accepted`
    /// runs under the same lock once they are in the log. Returns where they begin.
    ///
    /// # Errors
    /// `TooLarge` if they can never fit a segment, what `next` says when a new segment is
    /// needed, `Poisoned`, or what the disk says; then nothing was appended.
    pub fn append(
        &self,
        records: &mut [u8],
        next: &dyn NextSegment,
        stamp: impl FnOnce(&mut [u8], Position),
        accepted: impl FnOnce(),
    ) -> Result<Position> {
        let mut tail = self.tail.lock();
        self.check()?;
        if self.sealed.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Closed, "the store was closed"));
        }
        self.make_room(&mut tail, records.len() as u64, next)?;
        let position = tail.end;
        stamp(records, position);
        tail.put(records).inspect_err(|_| self.take_back(&tail, records.len()))?;
        tail.end += records.len() as u64;
        accepted();
        self.appended.publish(tail.end);
        Ok(position)
    }

    /// Zeros what a failed write left at the end: behind a shorter record, a whole one of a batch
    /// could be taken for appended.
    fn take_back(&self, tail: &Tail, len: usize) {
        let Some(OpenTail { segment, writer: Writer::File(file) }) = &tail.open else { return };
        if let Err(error) = erase(file.as_ref(), tail.end - segment.base(), len) {
            self.poison.set(&format!("what a failed write left cannot be erased: {error}"));
        }
    }

    /// Opens the tail, and rolls to a new segment if `size` bytes do not fit the present one.
    fn make_room(&self, tail: &mut Tail, size: u64, next: &dyn NextSegment) -> Result<()> {
        if tail.open.is_none() {
            self.open_tail(tail, next)?;
        }
        let open = tail.open.as_ref().expect("opened above");
        let left = open.segment.end() - tail.end;
        if size + PADDING_BYTES <= left {
            return Ok(());
        }
        let limit = open.segment.len_bytes() - PADDING_BYTES;
        if size > limit {
            return Err(Error::new(ErrorKind::TooLarge, "a segment cannot hold the records")
                .with_offset(size)
                .with_limit(limit));
        }
        // A later name that is durable without an earlier one would be a hole after a crash.
        open.segment.settle_name()?;
        let base = open.segment.end();
        let segment = next.next_segment(base)?;
        assert_eq!(segment.base(), base, "the next segment continues the line");
        self.roll(tail, &segment).inspect_err(|_| drop(segment.remove()))
    }

    /// Closes the present segment and goes on in `segment`.
    fn roll(&self, tail: &mut Tail, segment: &Arc<Segment>) -> Result<()> {
        let next = self.writer(Arc::clone(segment))?;
        tail.pad()?;
        self.chain.push(Arc::clone(segment));
        tail.open = Some(next);
        // The padding is a part of the log, whatever becomes of the record behind it.
        self.appended.publish(tail.end);
        Ok(())
    }

    /// Takes up the last segment where recovery left it, or makes the first one.
    fn open_tail(&self, tail: &mut Tail, next: &dyn NextSegment) -> Result<()> {
        let snapshot = self.chain.snapshot();
        let last = snapshot.last().filter(|last| tail.end < last.end());
        if let Some(last) = last {
            tail.open = Some(self.writer(Arc::clone(last))?);
            return Ok(());
        }
        let segment = next.next_segment(tail.end)?;
        self.roll(tail, &segment).inspect_err(|_| drop(segment.remove()))
    }

    fn writer(&self, segment: Arc<Segment>) -> Result<OpenTail> {
        let file = segment.file()?;
        if !file.is_reserved() {
            // RocketMQ leaves its files sparse. Without room the file is written as it is.
            log::debug!("reserving {}: {:?}", segment.path().display(), file.reserve().err());
        }
        let writer = match self.path {
            WritePath::Staged if file.is_reserved() => Writer::Stage,
            WritePath::Mapped if file.is_reserved() => {
                let map = segment.map_for_writing()?;
                Writer::Map(map.writer().expect("one appender writes a segment"))
            }
            // Without reserved blocks a full disk must be an error of this very append.
            _ => Writer::File(file),
        };
        Ok(OpenTail { segment, writer })
    }
}
