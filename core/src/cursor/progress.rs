//! How far a consumer is with one queue: delivered, acknowledged, due again.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// The most messages of one queue that may be delivered and not acknowledged: the acknowledgements
/// of so many fit the queue's page.
pub const MAX_PENDING: usize = 3600;

/// One queue of a cursor. Offsets fall into three ranges: those below `floor` are acknowledged,
/// those of the window were delivered and some of them acknowledged, the others are to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    floor: u64,
    window: VecDeque<Pending>,
    /// When deliveries come again, in the order in which they were made. What was acknowledged or
    /// delivered anew since stands here still.
    due: VecDeque<(i64, u64)>,
    /// The floor that is durable.
    committed: u64,
    is_changed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pending {
    is_acknowledged: bool,
    /// How often it was delivered.
    attempts: u32,
    /// When it comes again, in milliseconds since 1970.
    due_ms: i64,
}

impl Progress {
    /// Everything below `floor` counts as acknowledged, nothing of it written down.
    #[must_use]
    pub fn new(floor: u64) -> Self {
        Self { floor, committed: floor, is_changed: true, ..Self::default() }
    }

    /// As it was written down: what was delivered and not acknowledged comes again at once.
    #[must_use]
    pub fn saved(floor: u64, acknowledged: impl Iterator<Item = bool>) -> Self {
        let pending = |is_acknowledged| Pending { is_acknowledged, attempts: 1, due_ms: i64::MIN };
        let mut progress = Self { window: acknowledged.map(pending).collect(), ..Self::new(floor) };
        progress.settle();
        progress.release();
        progress.is_changed = false;
        progress
    }

    /// Everything below is acknowledged.
    #[must_use]
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// The first offset that was not delivered yet.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.floor + self.window.len() as u64
    }

    /// Everything below is acknowledged, durably.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// Whether something is to be written down.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// What is about to be written down is no change any more.
    pub fn begin_commit(&mut self) {
        self.is_changed = false;
    }

    /// What was to be written down with this floor is durable, or is not.
    pub fn end_commit(&mut self, floor: u64, is_durable: bool) {
        if is_durable {
            self.committed = floor;
        } else {
            self.is_changed = true;
        }
    }

    /// All of it is durable.
    pub fn settle_commit(&mut self) {
        (self.committed, self.is_changed) = (self.floor, false);
    }

    /// For each offset of the window whether it is acknowledged.
    pub fn acknowledgements(&self) -> impl ExactSizeIterator<Item = bool> {
        self.window.iter().map(|pending| pending.is_acknowledged)
    }

    /// The offsets that were delivered and not acknowledged, in order.
    pub fn open_offsets(&self) -> impl Iterator<Item = u64> {
        let open = self.window.iter().enumerate().filter(|(_, pending)| !pending.is_acknowledged);
        open.map(|(at, _)| self.floor + at as u64)
    }

    /// How many more may be delivered before something is acknowledged.
    #[must_use]
    pub fn room(&self, max_pending: usize) -> usize {
        max_pending.saturating_sub(self.window.len())
    }

    /// Notes a delivery that comes again at `due_ms` unless it is acknowledged; returns which
    /// one it is of this message, from 1. Offsets in between have no message. Nothing where the
    /// window has no place for it: then it must not be delivered.
    pub fn deliver(&mut self, offset: u64, due_ms: i64) -> Option<u32> {
        self.pass(offset);
        if offset == self.next() && self.window.len() < MAX_PENDING {
            self.window.push_back(Pending::default());
        }
        let pending = self.pending(offset)?;
        pending.attempts = pending.attempts.saturating_add(1);
        pending.due_ms = due_ms;
        let attempt = pending.attempts;
        self.due.push_back((due_ms, offset));
        self.is_changed = true;
        Some(attempt)
    }

    /// There is no message from the next offset up to `end`.
    pub fn pass(&mut self, end: u64) {
        if self.window.is_empty() && self.floor < end {
            self.floor = end;
            self.is_changed = true;
        }
        let none = Pending { is_acknowledged: true, ..Pending::default() };
        while self.next() < end && self.window.len() < MAX_PENDING {
            self.window.push_back(none);
            self.is_changed = true;
        }
    }

    fn pending(&mut self, offset: u64) -> Option<&mut Pending> {
        let at = usize::try_from(offset.checked_sub(self.floor)?).ok()?;
        self.window.get_mut(at)
    }

    /// Whether the time of a message to come again has come. After a clock was set back messages
    /// come too early rather than too late.
    pub fn has_due(&mut self, now_ms: i64, visibility_ms: i64) -> bool {
        let is_far = |due_ms| due_ms > now_ms.saturating_add(visibility_ms);
        self.next_due_ms().is_some_and(|due_ms| due_ms <= now_ms || is_far(due_ms))
    }

    /// Takes up to `count` messages whose time to come again has come, in the order in which it
    /// did.
    pub fn take_due(&mut self, now_ms: i64, visibility_ms: i64, count: usize) -> Vec<u64> {
        let mut taken = Vec::new();
        while taken.len() < count && self.has_due(now_ms, visibility_ms) {
            taken.extend(self.due.pop_front().map(|(_, offset)| offset));
        }
        taken
    }

    /// Whether an entry of `due` is the last delivery of a message that is not acknowledged.
    fn is_open(&mut self, due_ms: i64, offset: u64) -> bool {
        let found = self.pending(offset);
        found.is_some_and(|pending| !pending.is_acknowledged && pending.due_ms == due_ms)
    }

    /// What was taken as due could not be delivered: it comes again at once.
    pub fn put_back(&mut self, offset: u64) {
        if let Some(pending) = self.pending(offset) {
            pending.due_ms = i64::MIN;
            self.due.push_front((i64::MIN, offset));
        }
    }

    /// Nobody works on what was delivered any more: it comes again at once.
    pub fn release(&mut self) {
        for pending in &mut self.window {
            pending.due_ms = i64::MIN;
        }
        self.due = self.open_offsets().map(|offset| (i64::MIN, offset)).collect();
    }

    /// When the next message comes again, in milliseconds since 1970.
    pub fn next_due_ms(&mut self) -> Option<i64> {
        while let Some(&(due_ms, offset)) = self.due.front() {
            if self.is_open(due_ms, offset) {
                return Some(due_ms);
            }
            self.due.pop_front();
        }
        None
    }

    /// Acknowledges one message; doing so twice is fine.
    ///
    /// # Errors
    /// `Invalid` for a message that was not delivered.
    pub fn acknowledge(&mut self, offset: u64) -> Result<()> {
        self.check_delivered(offset, offset)?;
        if let Some(pending) = self.pending(offset).filter(|pending| !pending.is_acknowledged) {
            pending.is_acknowledged = true;
            self.is_changed = true;
        }
        self.settle();
        Ok(())
    }

    /// Acknowledges everything below `end`.
    ///
    /// # Errors
    /// `Invalid` if some of it was not delivered.
    pub fn acknowledge_below(&mut self, end: u64) -> Result<()> {
        self.check_delivered(end.saturating_sub(1), end)?;
        self.drop_below(end);
        Ok(())
    }

    fn check_delivered(&self, last: u64, named: u64) -> Result<()> {
        match last < self.next() || named <= self.floor {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Invalid, "the message was not delivered")
                .with_offset(named)
                .with_limit(self.next())),
        }
    }

    /// Moves the floor behind what is acknowledged.
    fn settle(&mut self) {
        while self.window.front().is_some_and(|first| first.is_acknowledged) {
            self.window.pop_front();
            self.floor += 1;
        }
    }

    fn drop_below(&mut self, end: u64) {
        if end > self.floor {
            let count = usize::try_from(end - self.floor).unwrap_or(usize::MAX);
            self.window.drain(..count.min(self.window.len()));
            self.floor = end;
            self.is_changed = true;
        }
        self.settle();
    }

    /// Retention dropped what lies below `min`. Returns what was not acknowledged of it, if
    /// anything.
    pub fn overtake(&mut self, min: u64) -> Option<Range<u64>> {
        if min <= self.floor {
            return None;
        }
        let first = self.open_offsets().next().unwrap_or(self.next());
        self.drop_below(min);
        (first < min).then_some(first..min)
    }

    /// The queue ends at `max`: a loss of power took what lay behind, and other messages will be
    /// given its offsets. Says whether anything was known of it.
    pub fn cut(&mut self, max: u64) -> bool {
        let is_beyond = max < self.next();
        if is_beyond {
            let kept = usize::try_from(max.saturating_sub(self.floor)).unwrap_or(usize::MAX);
            self.window.truncate(kept);
            self.floor = self.floor.min(max);
            self.committed = self.committed.min(max);
            self.is_changed = true;
        }
        is_beyond
    }
}
