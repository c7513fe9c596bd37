//! Pushing: claim the next bytes of the line, copy, publish. One short lock, no system call.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::base::crc::checksum;
use crate::base::units::Position;
use crate::base::waiting::Answer;
use crate::disk::{Deadline, MapWriter};
use crate::error::{Error, ErrorKind, Result};
use crate::queue::line::{Line, closed};
use crate::queue::meta::Mark;
use crate::queue::options::{OnFull, QueueDurability};
use crate::record::{FRAME_HEAD_BYTES, FrameHead, frame_bytes, frame_start};
use crate::segment::Segment;

/// How long a push that waits sleeps at most where nobody tells it of room: a disk is full, or a
/// batch holds a file that could be used again.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The end of the line, under its lock.
#[derive(Debug, Default)]
pub struct Tail {
    end: Position,
    number: u64,
    /// The segment being written, and the next ones as far as they were needed.
    open: VecDeque<OpenSegment>,
    sealed: bool,
}

/// A segment that is mapped for writing.
#[derive(Debug)]
pub struct OpenSegment {
    pub segment: Arc<Segment>,
    pub writer: MapWriter,
}

impl Tail {
    /// A tail that goes on at `mark`.
    pub fn at(mark: Mark) -> Self {
        Self { end: mark.position, number: mark.number, ..Self::default() }
    }

    pub fn mark(&self) -> Mark {
        Mark { position: self.end, number: self.number }
    }

    /// Copies bytes to a place that is open, over the ends of segments.
    #[inline]
    fn put(&mut self, at: Position, bytes: &[u8]) {
        let first = self.open.front_mut().expect("the tail is open");
        if at + bytes.len() as u64 <= first.segment.end() {
            return first.writer.put(at - first.segment.base(), bytes);
        }
        self.put_across(at, bytes);
    }

    fn put_across(&mut self, mut at: Position, mut bytes: &[u8]) {
        for open in &mut self.open {
            if bytes.is_empty() {
                break;
            }
            if at >= open.segment.end() {
                continue;
            }
            let room = usize::try_from(open.segment.end() - at).expect("a segment is mapped");
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            open.writer.put(at - open.segment.base(), now);
            at += now.len() as u64;
            bytes = later;
        }
        assert!(bytes.is_empty(), "everything that is pushed has its segments");
    }

    /// Lets go of the segments that are full.
    #[inline]
    fn retire(&mut self) {
        while self.open.front().is_some_and(|open| open.segment.end() <= self.end) {
            self.open.pop_front();
        }
    }

    pub fn close(&mut self) {
        self.sealed = true;
        self.open.clear();
    }
}

impl Line {
    /// Pushes `payloads`, all or none, and says where the first one begins and the last one ends.
    ///
    /// # Errors
    /// `TooLarge`, `Full` as the policy says, `Poisoned`, `Closed`, or what the disk says.
    pub fn push(&self, payloads: &[&[u8]]) -> Result<Position> {
        let Some(first) = payloads.first() else { return Ok(self.appended.load()) };
        self.check_lengths(payloads)?;
        let first_checksum = checksum(first);
        let pushed = match self.try_push(payloads, first_checksum) {
            Err(error) if error.kind() == ErrorKind::Full => {
                self.push_when_full(payloads, first_checksum, error)
            }
            pushed => pushed,
        }?;
        if self.readable.is_any() {
            let appended = self.appended.load();
            self.readable.tell(|wish| wish.look(appended));
        }
        if self.options.durability == QueueDurability::Group {
            self.flush_to(pushed.position)?;
        }
        if pushed.number >= self.numbers.flush_at.load(Ordering::Relaxed) {
            self.flush_bell.ring();
        }
        Ok(pushed.position)
    }

    fn check_lengths(&self, payloads: &[&[u8]]) -> Result<()> {
        let limit = self.options.record_limit();
        match payloads.iter().find(|payload| payload.len() as u64 > limit) {
            None => Ok(()),
            Some(long) => Err(Error::new(ErrorKind::TooLarge, "the record is too long")
                .with_offset(long.len() as u64)
                .with_limit(limit)),
        }
    }

    fn try_push(&self, payloads: &[&[u8]], first_checksum: u32) -> Result<Mark> {
        let mut tail = self.tail.lock();
        self.poison.check()?;
        if tail.sealed {
            return Err(closed());
        }
        self.disks.gate().check()?;
        let end = self.end_after(tail.end, payloads);
        self.check_room(tail.end, end)?;
        self.open_up_to(&mut tail, end)?;
        self.write(&mut tail, payloads, first_checksum);
        tail.number += payloads.len() as u64;
        tail.end = end;
        let mark = tail.mark();
        if self.options.durability == QueueDurability::Each {
            // Whoever sees the records sees durable ones. After a failure nothing is pushed.
            self.flush_mark(mark).inspect_err(|_| tail.close())?;
        }
        self.numbers.appended.store(mark.number, Ordering::Relaxed);
        self.appended.publish(mark.position);
        tail.retire();
        Ok(mark)
    }

    /// Where the last payload ends, if the first one begins at or behind `at`.
    #[inline]
    fn end_after(&self, at: Position, payloads: &[&[u8]]) -> Position {
        let segment_len = self.segments.segment_len;
        let end = payloads.iter().fold(at.get(), |at, payload| {
            frame_start(at, segment_len) + frame_bytes(payload.len() as u64)
        });
        Position::new(end)
    }

    #[inline]
    fn check_room(&self, at: Position, end: Position) -> Result<()> {
        let most = (self.capacity() - 1) * self.segments.segment_len;
        if end - at > most {
            let text = "the records pushed together are longer than the queue's capacity";
            let error = Error::new(ErrorKind::TooLarge, text).with_offset(end - at);
            return Err(error.with_limit(most));
        }
        let limit = self.limit.load(Ordering::Acquire);
        if end.get() <= limit {
            return Ok(());
        }
        let text = "the queue is full: its slowest reader has not committed enough";
        Err(Error::new(ErrorKind::Full, text)
            .at(&self.root)
            .with_offset(end.get())
            .with_limit(limit))
    }

    /// Opens the segments up to `end`.
    #[inline]
    fn open_up_to(&self, tail: &mut Tail, end: Position) -> Result<()> {
        if tail.open.back().is_some_and(|last| end <= last.segment.end()) {
            return Ok(());
        }
        let ring = &self.segments.ring;
        let next = match tail.open.back() {
            Some(last) => ring.number_of(last.segment.end()),
            None => ring.number_of(tail.end),
        };
        for number in next..=ring.number_of(Position::new(end.get() - 1)) {
            let open = self.take_ready(number)?;
            tail.open.push_back(open);
        }
        Ok(())
    }

    /// Writes the records at the end. The first head comes last: if the process is killed
    /// meanwhile, none of them is found.
    #[inline]
    fn write(&self, tail: &mut Tail, payloads: &[&[u8]], first_checksum: u32) {
        let mut at = tail.end.get();
        let mut first = None;
        for (index, payload) in payloads.iter().enumerate() {
            at = frame_start(at, self.segments.segment_len);
            let head = FrameHead {
                len: payload.len() as u32,
                more: index + 1 < payloads.len(),
                position: at,
                number: tail.number + index as u64,
            };
            tail.put(Position::new(at + FRAME_HEAD_BYTES), payload);
            if index == 0 {
                first = Some((at, head.encode(first_checksum)));
            } else {
                tail.put(Position::new(at), &head.encode(checksum(payload)));
            }
            at += head.frame_bytes();
        }
        if let Some((at, head)) = first {
            tail.put(Position::new(at), &head);
        }
    }

    /// The first push found no room, and `error` says why.
    fn push_when_full(
        &self,
        payloads: &[&[u8]],
        first_checksum: u32,
        mut error: Error,
    ) -> Result<Mark> {
        let deadline = match self.options.on_full {
            OnFull::Refuse => return Err(error),
            OnFull::Block(timeout) => Some(Deadline::after(timeout)),
            OnFull::DropOldest => None,
        };
        loop {
            match deadline {
                Some(deadline) if deadline.left().is_zero() => return Err(error),
                Some(deadline) => self.wait_for_room(payloads, deadline.left())?,
                None if self.drop_oldest()? => {}
                None => return Err(error),
            }
            match self.try_push(payloads, first_checksum) {
                Err(again) if again.kind() == ErrorKind::Full => error = again,
                pushed => return pushed,
            }
        }
    }

    /// Sleeps until readers have committed enough, or for a moment if that is not what lacks.
    fn wait_for_room(&self, payloads: &[&[u8]], left: Duration) -> Result<()> {
        let end = self.end_after(self.end_mark().position, payloads).get();
        let waiter = self.room.enter(end);
        // Who commits holds the readers: one of us sees the other.
        drop(self.readers.lock());
        let is_elsewhere = self.limit.load(Ordering::Acquire) >= end;
        let answer = waiter.wait(if is_elsewhere { left.min(LOOK_AGAIN) } else { left });
        self.room.leave(&waiter);
        if answer == Answer::Over { Err(closed()) } else { Ok(()) }
    }
}
