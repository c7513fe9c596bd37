//! At most so many maps: the least recently used one goes, those that readers hold stay.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::base::sync::Mutex;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::Segment;
use crate::segment::eviction::{Rank, Scopes};

/// The bound on maps that a store holds at once, shared by its log and its queues. Any thread
/// may use it.
#[derive(Debug)]
pub struct Budget {
    max: usize,
    /// Maps that exist or are about to. Not under the lock: a segment may be dropped by whoever
    /// holds it.
    count: AtomicUsize,
    tick: AtomicU64,
    mapped: Mutex<Vec<Weak<Segment>>>,
}

impl Budget {
    /// A budget of `max` maps.
    #[must_use]
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            count: AtomicUsize::new(0),
            tick: AtomicU64::new(0),
            mapped: Mutex::default(),
        })
    }

    /// How many maps exist now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// How many segments it knows, also those that are gone.
    #[cfg(test)]
    pub fn known(&self) -> usize {
        self.mapped.lock().len()
    }

    /// A number larger than all before: the order of use.
    pub(super) fn tick(&self) -> u64 {
        self.tick.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes room for one map, giving up the one that was not used for longest if need be.
    ///
    /// # Errors
    /// `Full` when every map is held by a batch or a slice.
    pub(super) fn reserve(&self) -> Result<()> {
        let grow = |count| (count < self.max).then_some(count + 1);
        while self.count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, grow).is_err() {
            self.evict_one()?;
        }
        Ok(())
    }

    /// Takes room for a map that the appender needs, also when every other one is held: readers
    /// must not keep it from appending.
    pub(super) fn reserve_for_writing(&self) {
        if self.reserve().is_err() {
            self.count.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Keeps `segment`, which now has a map, as a candidate for eviction.
    pub(super) fn register(&self, segment: &Arc<Segment>) {
        let mut mapped = self.mapped.lock();
        // A map that goes over to another segment leaves a row behind, and nothing is evicted then.
        if mapped.len() >= 2 * self.max {
            mapped.retain(|segment| segment.strong_count() > 0);
        }
        mapped.push(Arc::downgrade(segment));
    }

    /// Gives back the room of a map that is gone.
    pub(super) fn release(&self) {
        let before = self.count.fetch_sub(1, Ordering::AcqRel);
        assert!(before > 0, "a map is released once");
    }

    /// Makes room for one more map where there is none, in the order of a queue's cursors: so
    /// much of it that the next ones need no pass. What is held stays.
    pub fn make_room(&self, scopes: impl FnOnce() -> Scopes, number_of: impl Fn(&Segment) -> u64) {
        if self.in_use() < self.max {
            return;
        }
        let scopes = scopes();
        let keep = usize::try_from(scopes.keep()).unwrap_or(self.max);
        let is_done = |rank| match rank {
            Rank::Near => self.in_use() < self.max,
            _ => self.in_use() <= keep,
        };
        self.evict(|segment| scopes.rank(number_of(segment)), is_done);
    }

    fn evict_one(&self) -> Result<()> {
        if self.evict(|segment| segment.last_used(), |_| self.in_use() < self.max) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Full, "every map is held by a batch or slice; release some")
            .with_limit(self.max as u64))
    }

    /// Gives up maps, the least rank first, until it `is_done` before the next. Says whether any
    /// went or it was done: the room may be somebody else's by now, but asking again is right.
    fn evict<R: Ord + Copy>(
        &self,
        rank: impl Fn(&Segment) -> R,
        is_done: impl Fn(R) -> bool,
    ) -> bool {
        let mut mapped = self.mapped.lock();
        mapped.retain(|segment| segment.strong_count() > 0);
        // What a rank follows from changes while it is looked at, so each is asked once.
        let mut live: Vec<(R, Arc<Segment>)> =
            mapped.iter().filter_map(Weak::upgrade).map(|own| (rank(&own), own)).collect();
        live.sort_by_key(|(rank, _)| *rank);
        let before = mapped.len();
        for (rank, segment) in live {
            if is_done(rank) {
                return true;
            }
            if segment.unmap_unless_held() {
                self.release();
                mapped.retain(|other| other.as_ptr() != Arc::as_ptr(&segment));
            }
        }
        mapped.len() < before
    }
}
