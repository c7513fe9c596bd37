//! Readers: what a consumer holds.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::base::sync::MutexGuard;
use crate::base::units::Position;
use crate::base::waiting::{Answer, Waiter};
use crate::base::watermark::Published;
use crate::disk::{BorrowedFd, Deadline, Event};
use crate::error::{Error, ErrorKind, Result};
use crate::queue::batch::{QueueBatch, QueueRecord};
use crate::queue::line::{Line, Wish, closed};
use crate::queue::meta::Mark;
use crate::queue::readers::{Cursor, Reading};
use crate::queue::walk::Frame;

/// A named reader of a queue. It pops what was pushed, in order; what it has popped and not
/// committed it gets again after [`QueueReader::rewind`] and when the queue is opened again.
///
/// Any thread may use it; handles of one name share one cursor. It may outlive the queue, and then
/// every call fails with [`ErrorKind::Closed`]. Dropping it changes nothing: the reader goes on
/// holding the space until [`Queue::remove_reader`](crate::Queue::remove_reader).
#[derive(Clone)]
pub struct QueueReader {
    line: Arc<Line>,
    cursor: Arc<Cursor>,
    watch: Arc<OnceLock<Watch>>,
}

/// Waits for records on behalf of a reader's descriptor.
struct Watch {
    line: Arc<Line>,
    waiter: Arc<Waiter<Wish>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.line.readable.leave(&self.waiter);
    }
}

impl fmt::Debug for QueueReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("QueueReader");
        shown.field("name", &self.cursor.name).field("reading", &self.cursor.reading());
        shown.finish_non_exhaustive()
    }
}

impl QueueReader {
    pub(super) fn new(line: &Arc<Line>, cursor: Arc<Cursor>) -> Self {
        Self { line: Arc::clone(line), cursor, watch: Arc::default() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.cursor.name
    }

    /// Pops the next record, waiting for one at most so long; zero looks and returns. Nothing
    /// when none came.
    ///
    /// # Errors
    /// `Gone` once, with the range that was dropped, when the queue was full and dropped what
    /// this reader had not read: the next pop goes on behind it. `Corrupt` where no whole record
    /// stands, naming the place: see [`QueueReader::skip_damaged`]. `Full` when batches hold every
    /// map. `Closed`, or what the disk says.
    pub fn pop(&self, timeout: Duration) -> Result<Option<QueueRecord>> {
        let mut batch = QueueBatch::new();
        self.pop_into(&mut batch, 1, u64::MAX, timeout)?;
        Ok(batch.get(0))
    }

    /// Pops as many records as there are and the limits allow, and at least one, waiting for it
    /// at most so long.
    ///
    /// # Errors
    /// As [`QueueReader::pop`].
    pub fn pop_many(
        &self,
        max_records: usize,
        max_bytes: u64,
        timeout: Duration,
    ) -> Result<QueueBatch> {
        let mut batch = QueueBatch::new();
        self.pop_into(&mut batch, max_records, max_bytes, timeout)?;
        Ok(batch)
    }

    /// As [`QueueReader::pop_many`], into a batch that is used again. Returns how many came.
    ///
    /// # Errors
    /// As [`QueueReader::pop`].
    pub fn pop_into(
        &self,
        batch: &mut QueueBatch,
        max_records: usize,
        max_bytes: u64,
        timeout: Duration,
    ) -> Result<usize> {
        batch.clear();
        let deadline = if timeout.is_zero() { None } else { Some(Deadline::after(timeout)) };
        while self.take(batch, max_records, max_bytes, true)? == 0 {
            let left = deadline.map_or(Duration::ZERO, |deadline| deadline.left());
            if left.is_zero() || max_records == 0 {
                break;
            }
            self.wait(left)?;
        }
        Ok(batch.len())
    }

    /// The next record, which stays the next.
    ///
    /// # Errors
    /// As [`QueueReader::pop`].
    pub fn peek(&self) -> Result<Option<QueueRecord>> {
        let mut batch = QueueBatch::new();
        self.take(&mut batch, 1, u64::MAX, false)?;
        Ok(batch.get(0))
    }

    /// Notes that everything before `end` is done: where a popped record or batch ends. A kill
    /// does not undo it, a loss of power may until the next flush. Committing what is committed
    /// already changes nothing.
    ///
    /// # Errors
    /// `Invalid` if no popped record ends there, `Closed`, or what the disk says.
    pub fn commit(&self, end: Position) -> Result<()> {
        let mut state = self.open()?;
        let committed = self.line.committed(&self.cursor);
        if end <= committed.position {
            return Ok(());
        }
        let mark = match end == state.next.position {
            true => state.next,
            false => self.mark_at(&mut state, end)?,
        };
        self.line.commit(&self.cursor, mark)
    }

    /// The boundary at `end`, within what was popped.
    fn mark_at(&self, state: &mut Reading, end: Position) -> Result<Mark> {
        let next = state.next;
        if let Some(&known) = state.skipped.iter().find(|mark| mark.position == end) {
            return Ok(known);
        }
        let frame = match end < next.position {
            true => self.frame(state, end, self.line.appended.published())?,
            false => None,
        };
        let number = frame.map(|frame| frame.head.number).filter(|&number| number < next.number);
        number.map(|number| Mark { position: end, number }).ok_or_else(|| {
            let text = "no record that was popped ends at the position";
            let error = Error::new(ErrorKind::Invalid, text).with_offset(end.get());
            error.with_limit(next.position.get())
        })
    }

    /// Goes back to the first record that is not committed.
    ///
    /// # Errors
    /// `Closed`.
    pub fn rewind(&self) -> Result<()> {
        let mut state = self.open()?;
        let committed = self.line.committed(&self.cursor);
        self.cursor.move_to(&mut state, committed);
        Ok(())
    }

    /// How many records and how many bytes of the line, heads included, wait to be popped.
    ///
    /// # Errors
    /// `Closed`.
    pub fn backlog(&self) -> Result<(u64, u64)> {
        let next = self.open()?.next;
        let end = self.line.end_mark();
        Ok((end.number.saturating_sub(next.number), end.position.since(next.position)))
    }

    /// Where the cursor stands: everything before the first is committed, and the next pop reads
    /// at the second.
    ///
    /// # Errors
    /// `Closed`.
    pub fn cursor(&self) -> Result<(Position, Position)> {
        let next = self.open()?.next;
        Ok((self.line.committed(&self.cursor).position, next.position))
    }

    /// Passes over bytes that are no record, to the next whole one, and returns their range on
    /// the line; nothing if the next record is whole, or there is none.
    ///
    /// # Errors
    /// `Full` when batches hold every map, `Closed`, or what the disk says.
    pub fn skip_damaged(&self) -> Result<Option<Range<u64>>> {
        let mut state = self.open()?;
        let (from, visible) = (state.next.position, self.line.appended.published());
        if from >= visible.end() || self.frame(&mut state, from, visible)?.is_some() {
            return Ok(None);
        }
        let line = &self.line;
        let found = state.walk.find(&line.segments, &|| line.scopes(), from, visible)?;
        let next = found.unwrap_or_else(|| line.end_mark());
        let (committed, before) = (line.committed(&self.cursor), state.next);
        state.skipped.retain(|mark| mark.position > committed.position && *mark != before);
        state.skipped.push(before);
        self.cursor.move_to(&mut state, next);
        Ok(Some(from.get()..next.position.get()))
    }

    /// Waits until there is a record to pop, at most so long. Says whether there is.
    ///
    /// # Errors
    /// `Closed`, also when the queue is closed or the reader removed meanwhile.
    pub fn wait(&self, timeout: Duration) -> Result<bool> {
        let seen = self.open()?.next.position;
        let waiter = self.enter(seen);
        let answer = waiter.wait(timeout);
        self.line.readable.leave(&waiter);
        match answer {
            Answer::Told => self.open().map(|_| true),
            Answer::NotYet => Ok(false),
            Answer::Over => Err(closed()),
        }
    }

    /// Enters the list of those who wait for records behind `seen`. Who enters meets the pusher
    /// and looks afterwards: no call is missed.
    fn enter(&self, seen: Position) -> Arc<Waiter<Wish>> {
        let line = &self.line;
        let (cursor, seen) = (Arc::clone(&self.cursor), AtomicU64::new(seen.get()));
        let wish = Wish { cursor, seen, event: OnceLock::new() };
        let waiter = line.readable.enter(wish);
        self.look(&waiter);
        waiter
    }

    fn look(&self, waiter: &Waiter<Wish>) {
        drop(self.line.tail.lock());
        let appended = self.line.appended.load();
        self.line.readable.tell_one(waiter, |wish| wish.look(appended));
    }

    /// A descriptor (`eventfd`) that is readable while there are records to pop, and once the
    /// queue was closed or the reader removed: for hosts that wait with `poll` or `epoll`. After a
    /// pop that came back empty, [`QueueReader::clear_event`] lets it wait for the next record. It
    /// is the reader's: poll it and do nothing else with it.
    ///
    /// # Errors
    /// `Closed`, or `Io` if the system gives none.
    pub fn event_fd(&self) -> Result<BorrowedFd<'_>> {
        let seen = self.open()?.next.position;
        let watch = self
            .watch
            .get_or_init(|| Watch { line: Arc::clone(&self.line), waiter: self.enter(seen) });
        let wish = watch.waiter.what();
        if wish.event.get().is_none() {
            let made = Event::new()?;
            // Another thread may have been faster; its own serves as well.
            wish.event.get_or_init(|| made);
            wish.look(self.line.appended.load());
            // Closing found no descriptor to raise, if it came first.
            self.line.check_open().inspect_err(|_| wish.raise())?;
        }
        Ok(wish.event.get().expect("made above").descriptor())
    }

    /// Lets the descriptor wait for records behind the cursor.
    ///
    /// # Errors
    /// `Closed`.
    pub fn clear_event(&self) -> Result<()> {
        let seen = self.open()?.next.position;
        if let Some(watch) = self.watch.get() {
            self.line.readable.arm(&watch.waiter, |wish| {
                wish.seen.store(seen.get(), std::sync::atomic::Ordering::Relaxed);
                wish.event.get().inspect(|event| event.lower());
            });
            self.look(&watch.waiter);
        }
        Ok(())
    }

    /// The cursor, of an open queue.
    fn open(&self) -> Result<MutexGuard<'_, Reading>> {
        self.line.check_open()?;
        let state = self.cursor.state.lock();
        match self.cursor.is_removed() {
            false => Ok(state),
            true => Err(Error::new(ErrorKind::Closed, "the reader was removed")),
        }
    }

    /// Adds to `batch` what can be read now, and moves the cursor if wanted.
    fn take(
        &self,
        batch: &mut QueueBatch,
        max_records: usize,
        max_bytes: u64,
        moves: bool,
    ) -> Result<usize> {
        let mut state = self.open()?;
        self.check_kept(&mut state)?;
        let visible = self.line.appended.published();
        let mut next = state.next;
        while batch.len() < max_records && next.position < visible.end() {
            match self.read(&mut state, next, visible) {
                Ok(frame) => {
                    let bytes = batch.payload_bytes() + u64::from(frame.head.len);
                    if !batch.is_empty() && bytes > max_bytes {
                        break;
                    }
                    add(batch, &state, &frame);
                    next = frame.next;
                }
                // What came before it is given out first; the next pop tells.
                Err(error) if batch.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        if moves {
            self.cursor.move_to(&mut state, next);
        }
        Ok(batch.len())
    }

    /// Tells once of records that were dropped before they were read.
    fn check_kept(&self, state: &mut Reading) -> Result<()> {
        let committed = self.line.committed(&self.cursor);
        let next = state.next;
        if committed.position <= next.position {
            return Ok(());
        }
        self.cursor.move_to(state, committed);
        // The same boundary, on the other side of what no record fits into.
        if committed.number <= next.number {
            return Ok(());
        }
        let lost = committed.number - next.number;
        let text = format!("the queue was full and dropped {lost} records before they were read");
        let range = next.position.get()..committed.position.get();
        let error = Error::new(ErrorKind::Gone, text).with_offset(next.position.get());
        Err(error.with_limit(committed.position.get()).with_range(range))
    }

    /// The record at `at`, where one must stand.
    #[inline]
    fn read(&self, state: &mut Reading, at: Mark, visible: Published) -> Result<Frame> {
        match self.frame(state, at.position, visible)? {
            Some(frame) if frame.head.number == at.number => Ok(frame),
            _ => Err(self.damaged(at.position)),
        }
    }

    #[inline]
    fn frame(
        &self,
        state: &mut Reading,
        at: Position,
        visible: Published,
    ) -> Result<Option<Frame>> {
        let line = &self.line;
        state.walk.frame(&line.segments, &|| line.scopes(), at, visible)
    }

    fn damaged(&self, at: Position) -> Error {
        let ring = &self.line.segments.ring;
        let number = ring.number_of(at);
        match ring.get(number) {
            Some(segment) => Error::new(ErrorKind::Corrupt, "no whole record stands here")
                .at(segment.path())
                .with_offset(at.get()),
            None => Error::new(ErrorKind::Offline, "the segment's file is gone")
                .at(&self.line.root)
                .with_range(ring.base_of(number).get()..ring.base_of(number + 1).get()),
        }
    }
}

#[inline]
fn add(batch: &mut QueueBatch, state: &Reading, frame: &Frame) {
    let place = [Position::new(frame.head.position), frame.next.position];
    match (frame.payload_at, state.walk.map()) {
        (Some(at), Some(map)) => batch.add(place, frame.head.number, map, at, frame.head.len),
        _ => batch.add_gathered(place, frame.head.number, state.walk.gathered()),
    }
}
