//! One consume queue: which record of the log is message number `q` of a topic's queue.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::{Position, QueueOffset};
use crate::derived::files::{Shelf, UnitFile, UnitFiles};
use crate::derived::unit::{UNIT_BYTES, Unit, visit_tagged};
use crate::error::Result;
use crate::record::DELAY_TOPIC;
use crate::segment::Segment;

/// The largest offset whose unit's place fits the signed 64 bits of a file name.
const MAX_OFFSET: u64 = i64::MAX.unsigned_abs() / UNIT_BYTES - 1;

/// The widest gap between two messages that is filled, where no checksum vouches for the
/// record's header and where one does.
const MAX_GAP: [u64; 2] = [1 << 20, 1 << 24];

/// The offsets of a queue: the first message kept and the next to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The first message that is kept; equal to `max` when none is.
    pub min: QueueOffset,
    /// One past the last message that can be read.
    pub max: QueueOffset,
}

/// Whether a message `offset` may follow those below `end`, 0 for none. A record of RocketMQ's
/// without a checksum over its header may say anything: no file can hold such an offset, and no
/// gap that was not damage is so wide.
pub(super) fn is_plausible(end: u64, offset: u64, guarded: bool) -> bool {
    let max_gap = MAX_GAP[usize::from(guarded)];
    offset <= MAX_OFFSET && (end == 0 || offset.saturating_sub(end) <= max_gap)
}

/// Units that a store opened for reading keeps in memory before it looks whether the writer's
/// files hold them.
const LEAN_BYTES: usize = 16_384 * UNIT_BYTES as usize;

/// One consume queue. Readers see units below `max`; the index step adds them in order. Any
/// thread may read; one thread at a time adds, cuts or drops.
#[derive(Debug)]
pub struct Queue {
    topic: Box<str>,
    id: u32,
    /// Its number among the store's queues, given by the table.
    number: u32,
    files: UnitFiles,
    min: AtomicU64,
    max: AtomicU64,
    /// The offset the next append is given; moved under the log's append lock.
    next: Alone<AtomicU64>,
    /// Units below are in the files.
    written: AtomicU64,
    state: Alone<Mutex<Pending>>,
}

/// Something on a cache line of its own: appenders change one such thing for every message, the
/// index step another one, and both read what stands beside them.
#[derive(Debug)]
#[repr(align(64))]
struct Alone<T>(T);

/// Units that are in no file yet, and files that are not durable yet.
#[derive(Debug, Default)]
struct Pending {
    /// Offset of the first pending unit.
    first: u64,
    units: Vec<u8>,
    dirty: Vec<Arc<Segment>>,
}

impl Queue {
    /// The queue with the units below `max` in its files; what stands behind is replayed.
    pub(super) fn new(topic: &str, id: u32, files: UnitFiles, bounds: Bounds) -> Self {
        let pending = Pending { first: bounds.max.get(), ..Pending::default() };
        Self {
            topic: topic.into(),
            id,
            number: u32::MAX,
            files,
            min: AtomicU64::new(bounds.min.get()),
            max: AtomicU64::new(bounds.max.get()),
            next: Alone(AtomicU64::new(bounds.max.get())),
            written: AtomicU64::new(bounds.max.get()),
            state: Alone(Mutex::new(pending)),
        }
    }

    pub(super) fn empty(topic: &str, id: u32, shelf: &Shelf, dir: PathBuf) -> Self {
        let bounds = Bounds { min: QueueOffset::ZERO, max: QueueOffset::ZERO };
        Self::new(topic, id, UnitFiles::empty(shelf, dir), bounds)
    }

    /// The same queue, as number `number` of its store.
    pub(super) fn numbered(mut self, number: u32) -> Self {
        self.number = number;
        self
    }

    /// Its number among the store's queues, for as long as the store is open.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The topic.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The queue's number within its topic.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The first message kept and one past the last that can be read.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let max = self.max.load(Ordering::Acquire);
        let min = self.min.load(Ordering::Acquire).min(max);
        Bounds { min: QueueOffset::new(min), max: QueueOffset::new(max) }
    }

    /// Whether a message was ever appended to it, or found in it.
    #[must_use]
    pub fn had_messages(&self) -> bool {
        self.next() > 0
    }

    /// The offset that the next append is given. Stable only under the append lock.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next.0.load(Ordering::Relaxed)
    }

    /// Takes `count` offsets. Only under the append lock.
    pub fn advance(&self, count: u64) {
        self.next.0.store(self.next() + count, Ordering::Relaxed);
    }

    /// Unlike the others without the append lock, so in one step: an append must not be undone.
    fn raise_next(&self, floor: u64) {
        self.next.0.fetch_max(floor, Ordering::Relaxed);
    }

    /// Adds the units of the messages from `first` on. A unit that is there already is left alone,
    /// a gap is filled with units that point to nothing. Not visible before [`Queue::publish`].
    /// Says whether the first unit that waits is among them. `guarded`: each record has a checksum
    /// over all of it.
    pub(super) fn add(&self, first: u64, units: &[Unit], guarded: bool) -> bool {
        let mut state = self.state.0.lock();
        // In a store opened for reading, units stay that are published.
        let is_first = state.units.is_empty() || state.end() == self.max.load(Ordering::Relaxed);
        let before = state.units.len();
        for (number, unit) in units.iter().enumerate() {
            if self.takes(&mut state, first + number as u64, guarded) {
                state.units.extend_from_slice(&unit.encode());
            }
        }
        is_first && state.units.len() > before
    }

    /// Whether the unit of message `offset` belongs behind those that wait; if so it goes there.
    fn takes(&self, state: &mut Pending, offset: u64, guarded: bool) -> bool {
        let mut end = state.end();
        if offset == end && (1..=MAX_OFFSET).contains(&offset) {
            return true;
        }
        if offset < end && self.is_vacant(state) {
            // What the files seemed to tell is not so: a crash lost those before them.
            self.next.0.store(offset, Ordering::Relaxed);
            end = 0;
        }
        if offset < end || !self.is_plausible(end, offset, guarded) {
            return false;
        }
        if end == 0 {
            self.begin(state, offset);
            self.fill_before(state, offset);
        } else if offset > end {
            log::warn!("queue {}/{}: no messages {end}..{offset}", self.topic, self.id);
            for _ in end..offset {
                state.units.extend_from_slice(&Unit::FILLER.encode());
            }
        }
        true
    }

    fn is_plausible(&self, end: u64, offset: u64, guarded: bool) -> bool {
        let plausible = is_plausible(end, offset, guarded);
        if !plausible {
            log::debug!("queue {}/{}: offset {offset} after {end}", self.topic, self.id);
        }
        plausible
    }

    /// Whether nothing is in it, visible or not.
    fn is_vacant(&self, state: &Pending) -> bool {
        let Bounds { min, max } = self.bounds();
        min == max && state.units.is_empty()
    }

    /// Lets an empty queue begin at `offset`.
    fn begin(&self, state: &mut Pending, offset: u64) {
        state.first = offset;
        self.min.store(offset, Ordering::Release);
        self.written.store(offset, Ordering::Release);
    }

    /// Units of before that a queue which begins anew leaves in its first file point to nothing
    /// any more: RocketMQ reads a file from its start.
    fn fill_before(&self, state: &mut Pending, offset: u64) {
        let (first, end) = self.files.covered();
        if first < offset && offset < end {
            state.first = first;
            self.written.store(first, Ordering::Release);
            for _ in first..offset {
                state.units.extend_from_slice(&Unit::FILLER.encode());
            }
        }
    }

    /// Never gives out an offset below `floor` again: an empty queue begins there.
    pub(super) fn begin_at(&self, floor: u64) {
        let mut state = self.state.0.lock();
        if self.is_vacant(&state) && self.bounds().max.get() < floor {
            self.max.store(floor, Ordering::Release);
            self.begin(&mut state, floor);
        }
        self.raise_next(floor);
    }

    /// Makes everything that was added visible, and writes it to the files if `write`.
    ///
    /// # Errors
    /// What the disk says; then nothing new is visible and the units are kept for another try.
    pub(super) fn publish(&self, write: bool) -> Result<()> {
        let mut state = self.state.0.lock();
        if write && !state.units.is_empty() {
            let touched = self.files.write(state.first, &state.units)?;
            for segment in touched {
                if !state.dirty.iter().any(|dirty| Arc::ptr_eq(dirty, &segment)) {
                    state.dirty.push(segment);
                }
            }
            state.first = state.end();
            self.written.store(state.first, Ordering::Release);
            state.units.clear();
        }
        let max = state.end();
        self.raise_next(max);
        self.max.store(max, Ordering::Release);
        Ok(())
    }

    /// Makes everything written durable.
    ///
    /// # Errors
    /// What the disk says. With `failed` set a file must not be flushed again; otherwise nothing
    /// was lost, and it may be tried again.
    pub(super) fn sync(&self, failed: &AtomicBool) -> Result<()> {
        let mut dirty = std::mem::take(&mut self.state.0.lock().dirty);
        while let Some(segment) = dirty.pop() {
            if let Err(error) = segment.file() {
                dirty.push(segment);
                self.state.0.lock().dirty.append(&mut dirty);
                return Err(error);
            }
            let synced = segment.sync();
            segment.close_file();
            synced.inspect_err(|_| failed.store(true, Ordering::Release))?;
        }
        Ok(())
    }

    /// Gives the units of `from..to`, clipped to what can be read, to `visit`, in order.
    ///
    /// # Errors
    /// What the disk says.
    pub fn visit(
        &self,
        from: QueueOffset,
        to: QueueOffset,
        visit: &mut dyn FnMut(QueueOffset, Option<Unit>),
    ) -> Result<()> {
        let to = to.min(self.bounds().max).get();
        let mut each = |offset, unit| visit(QueueOffset::new(offset), unit);
        let rest = self
            .visit_filed(from.get(), to, &mut |from, to| self.files.visit(from, to, &mut each))?;
        rest.into_iter().for_each(|(offset, unit)| each(offset, unit));
        Ok(())
    }

    /// Gives the range that is in the files to `filed`, and returns the units behind it: they stay
    /// in memory only in a store opened for reading.
    fn visit_filed(
        &self,
        from: u64,
        to: u64,
        filed: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Vec<(u64, Option<Unit>)>> {
        let mut at = from;
        loop {
            let written = self.written.load(Ordering::Acquire).min(to);
            filed(at, written)?;
            at = at.max(written);
            if let Some(units) = self.pending(at, to) {
                return Ok(units);
            }
        }
    }

    /// The units of `from..to` that are in memory; nothing if they are in files by now.
    fn pending(&self, from: u64, to: u64) -> Option<Vec<(u64, Option<Unit>)>> {
        let state = self.state.0.lock();
        if from < to && from < state.first {
            return None;
        }
        let unit = |offset: u64| {
            let at = usize::try_from((offset - state.first) * UNIT_BYTES).ok()?;
            Unit::decode(state.units.get(at..at + UNIT_BYTES as usize)?)
        };
        Some((from..to).map(|offset| (offset, unit(offset))).collect())
    }

    /// Gives memory back for units that are in the files as well, byte for byte.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn lean_on_files(&self) -> Result<()> {
        let (first, units) = {
            let state = self.state.0.lock();
            if state.units.len() < LEAN_BYTES {
                return Ok(());
            }
            (state.first, state.units.clone())
        };
        self.files.look_again()?;
        let mut same = 0;
        let end = first + units.len() as u64 / UNIT_BYTES;
        self.files.visit(first, end, &mut |offset, unit| {
            let at = ((offset - first) * UNIT_BYTES) as usize;
            let bytes = &units[at..at + UNIT_BYTES as usize];
            if same == at && unit.is_some_and(|unit| unit.encode() == bytes) {
                same += UNIT_BYTES as usize;
            }
        })?;
        let mut state = self.state.0.lock();
        state.units.drain(..same);
        state.first += same as u64 / UNIT_BYTES;
        self.written.store(state.first, Ordering::Release);
        Ok(())
    }

    /// As [`Queue::visit`], but only the units that may be of a message with one of these tag
    /// codes: all others certainly are not. In the delay topic codes are times, and all may be.
    ///
    /// # Errors
    /// What the disk says.
    pub fn visit_tagged(
        &self,
        from: QueueOffset,
        to: QueueOffset,
        codes: &[i32],
        visit: &mut dyn FnMut(QueueOffset, Option<Unit>),
    ) -> Result<()> {
        if codes.is_empty() || &*self.topic == DELAY_TOPIC {
            return self.visit(from, to, visit);
        }
        let to = to.min(self.bounds().max).get();
        let mut each = |offset, unit| visit(QueueOffset::new(offset), unit);
        let rest = self.visit_filed(from.get(), to, &mut |from, to| {
            self.files.visit_bytes(from, to, &mut |first, bytes| {
                visit_tagged(bytes, codes, &mut |at, unit| each(first + at, Unit::decode(unit)));
            })
        })?;
        rest.into_iter().for_each(|(offset, unit)| each(offset, unit));
        Ok(())
    }

    /// Units that are in no file yet.
    #[cfg(test)]
    pub fn in_memory(&self) -> usize {
        self.state.0.lock().units.len() / UNIT_BYTES as usize
    }

    /// Follows the log's start, where another process removes the files.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn look_again(&self, start: Position) -> Result<()> {
        self.files.look_again()?;
        self.follow(start)
    }

    /// Whatever offset comes next is where it goes on: what lay between is gone.
    pub(super) fn begin_anew(&self) {
        let mut state = self.state.0.lock();
        *state = Pending::default();
        let max = self.max.load(Ordering::Acquire);
        self.min.store(max, Ordering::Release);
    }

    /// Moves `min` to the first message at or above the log's `start`, removes the files that
    /// lie wholly below it, and says how many went. Offsets never come back: with no message
    /// left, `min` is `max`.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn drop_before(&self, start: Position) -> Result<usize> {
        self.follow(start)?;
        self.files.drop_before(self.bounds().min.get())
    }

    /// Moves `min` to the first message at or above the log's `start`.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn follow(&self, start: Position) -> Result<()> {
        let min = self.first_at(start)?;
        self.min.fetch_max(min, Ordering::AcqRel);
        Ok(())
    }

    /// The first offset whose record begins at or above `start`, by bisection over the units
    /// that point to something.
    fn first_at(&self, start: Position) -> Result<u64> {
        let bounds = self.bounds();
        let (mut low, mut high) = (bounds.min.get(), bounds.max.get());
        let mut first = high;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.next_unit(middle, high)? {
                Some((offset, unit)) if unit.position < start => low = offset + 1,
                Some((offset, _)) => (first, high) = (offset, middle),
                None => high = middle,
            }
        }
        Ok(first)
    }

    /// The unit at `offset`, if the files have it: for who looks at many, one by one. `file` keeps
    /// the one that was looked into last.
    ///
    /// # Errors
    /// What the disk says.
    pub fn unit_in(&self, file: &mut Option<UnitFile>, offset: u64) -> Result<Option<Unit>> {
        match offset < self.written.load(Ordering::Acquire) {
            true => self.files.get_in(file, offset),
            false => Ok(None),
        }
    }

    /// The first unit of `from..to` that points to something.
    ///
    /// # Errors
    /// What the disk says.
    pub fn next_unit(&self, mut from: u64, to: u64) -> Result<Option<(u64, Unit)>> {
        let mut step = 1;
        let mut found = None;
        while from < to && found.is_none() {
            let end = to.min(from + step);
            let mut look = |offset: QueueOffset, unit: Option<Unit>| {
                let unit = unit.filter(|unit| !unit.is_filler());
                found = found.or(unit.map(|unit| (offset.get(), unit)));
            };
            self.visit(QueueOffset::new(from), QueueOffset::new(end), &mut look)?;
            (from, step) = (end, (step * 2).min(4096));
        }
        Ok(found)
    }

    /// Where the first message at or after `from` begins in the log, if there is one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn position_from(&self, from: QueueOffset) -> Result<Option<Position>> {
        let Bounds { min, max } = self.bounds();
        let found = self.next_unit(from.max(min).get(), max.get())?;
        Ok(found.map(|(_, unit)| unit.position))
    }

    /// Removes whatever the files hold behind the last unit.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn trim(&self) -> Result<()> {
        self.files.cut_after(self.state.0.lock().end())
    }
}

impl Pending {
    fn end(&self) -> u64 {
        self.first + self.units.len() as u64 / UNIT_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::disk::{Access, MemDisk};
    use crate::segment::Budget;

    const APPENDS: u64 = 3_000_000;

    /// Where a queue stands after appends, while another thread publishes all the time.
    fn appended_beside_the_index() -> u64 {
        let (disk, budget) = (Arc::new(MemDisk::new()), Budget::new(2));
        let shelf = Shelf { disk, budget, file_len: 400, access: Access::Read };
        let queue = Queue::empty("orders", 0, &shelf, "/queue".into());
        let (ready, done) = (Barrier::new(2), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ready.wait();
                while !done.load(Ordering::Relaxed) {
                    queue.raise_next(0);
                }
            });
            ready.wait();
            (0..APPENDS).for_each(|_| queue.advance(1));
            done.store(true, Ordering::Relaxed);
        });
        queue.next()
    }

    /// The index step put back the offset that it had read before an append moved it: the offset
    /// was given out again, and the second message with it never came into its queue.
    #[test]
    fn publishing_never_takes_an_offset_back() {
        for _ in 0..8 {
            assert_eq!(appended_beside_the_index(), APPENDS);
        }
    }
}
