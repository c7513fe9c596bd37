//! What the appenders know of the newest records, so that the index step need not read them again.
//!
//! Reading them would fetch their bytes from the core that has just written them: a third of the
//! time of a small append. What is here is only a short cut. Whatever is not, because it came from
//! an earlier process or because the ring was full, is read from the log.

use std::sync::OnceLock;

use crate::base::sync::{AtomicU32, AtomicU64, Ordering};
use crate::base::units::Position;

/// So many records may wait, 3 MiB of them; further ones are read from the log after all. A
/// power of two, as the length of every ring is.
const MOST: usize = 1 << 16;

/// So many hashes for each place of a record, 1 MiB in all.
const HASHES: usize = 4;

/// So many records are taken at once at most.
const MOST_TAKEN: u64 = 4096;

/// Stands for no queue.
const NO_QUEUE: u32 = u32::MAX;

/// One appended record that is not indexed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshUnit {
    /// Where it begins.
    pub position: Position,
    /// Length of the record in bytes.
    pub size: u32,
    /// Which queue it belongs to, by its number in the store; none for a record without a unit.
    pub queue: Option<u32>,
    /// Its offset there.
    pub offset: u64,
    /// Its tag's code.
    pub tag_code: i64,
    /// Its store time in milliseconds.
    pub store_ms: i64,
    /// How many of the hashes are its own.
    pub hashes: u32,
}

impl FreshUnit {
    /// The position after the record.
    #[must_use]
    pub fn end(&self) -> Position {
        self.position + u64::from(self.size)
    }
}

/// Records in log order, some perhaps left out, and the hashes of what they are found by, one
/// after the other.
#[derive(Debug, Default)]
pub struct Notes {
    /// The records.
    pub units: Vec<FreshUnit>,
    /// Each one's hashes, as many as it says.
    pub hashes: Vec<u32>,
}

impl Notes {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.units.clear();
        self.hashes.clear();
    }
}

/// One unit as numbers. The marks of the ring order them, so none needs an order of its own.
type Slot = [AtomicU64; 6];

/// Records that were appended and not taken yet, in log order, some perhaps left out. Appenders
/// add under the append lock, one at a time takes; neither ever waits for the other.
#[derive(Debug)]
pub struct Fresh {
    /// Made with the first record: a store that is only read has none.
    ring: OnceLock<Ring>,
    most: usize,
    /// How much was ever added.
    added: Mark,
    /// How much was ever taken.
    taken: Mark,
}

#[derive(Debug)]
struct Ring {
    slots: Box<[Slot]>,
    hashes: Box<[AtomicU32]>,
}

/// Numbers of records and of hashes, on a cache line of their own: one side changes them, the
/// other looks at them.
#[derive(Debug)]
#[repr(align(64))]
struct Mark {
    units: AtomicU64,
    hashes: AtomicU64,
}

impl Default for Fresh {
    fn default() -> Self {
        Self::holding(MOST)
    }
}

impl Mark {
    fn new() -> Self {
        Self { units: AtomicU64::new(0), hashes: AtomicU64::new(0) }
    }

    fn load(&self) -> (u64, u64) {
        let units = self.units.load(Ordering::Acquire);
        (units, self.hashes.load(Ordering::Acquire))
    }

    fn store(&self, (units, hashes): (u64, u64)) {
        self.hashes.store(hashes, Ordering::Release);
        self.units.store(units, Ordering::Release);
    }
}

impl Ring {
    fn holding(most: usize) -> Self {
        Self {
            slots: (0..most).map(|_| empty_slot()).collect(),
            hashes: (0..most * HASHES).map(|_| AtomicU32::new(0)).collect(),
        }
    }
}

impl Fresh {
    fn holding(most: usize) -> Self {
        assert!(most.is_power_of_two(), "places follow from a number's low bits");
        Self { ring: OnceLock::new(), most, added: Mark::new(), taken: Mark::new() }
    }

    /// Adds records that are about to be published, in log order, and their hashes, if there is
    /// room for all.
    pub fn add(&self, units: impl ExactSizeIterator<Item = FreshUnit>, hashes: &[u32]) {
        let ((unit, hash), taken) = (self.added.load(), self.taken.load());
        let end = (unit + units.len() as u64, hash + hashes.len() as u64);
        let most = self.most as u64;
        if end.0 - taken.0 > most || end.1 - taken.1 > most * HASHES as u64 {
            return;
        }
        let ring = self.ring.get_or_init(|| Ring::holding(self.most));
        for (number, unit) in (unit..end.0).zip(units) {
            store(place(&ring.slots, number), &unit);
        }
        for (number, value) in (hash..end.1).zip(hashes) {
            place(&ring.hashes, number).store(*value, Ordering::Relaxed);
        }
        self.added.store(end);
    }

    /// How many pieces of something else whoever takes may do before it comes back: none while so
    /// much waits that the ring may become full.
    pub fn spare_pieces(&self) -> usize {
        let ((added, _), (taken, _)) = (self.added.load(), self.taken.load());
        if added.saturating_sub(taken) < self.most as u64 * 3 / 4 { 2 } else { 0 }
    }

    /// Adds what there is to `into`, as far as one step can use it.
    pub fn take(&self, into: &mut Notes) {
        let Some(ring) = self.ring.get() else { return };
        let ((mut unit, mut hash), added) = (self.taken.load(), self.added.load());
        let end = added.0.min(unit + MOST_TAKEN);
        while unit < end {
            let found = load(place(&ring.slots, unit));
            let own = hash..hash + u64::from(found.hashes);
            hash = own.end;
            into.hashes.extend(own.map(|at| place(&ring.hashes, at).load(Ordering::Relaxed)));
            into.units.push(found);
            unit += 1;
        }
        self.taken.store((unit, hash));
    }
}

fn empty_slot() -> Slot {
    std::array::from_fn(|_| AtomicU64::new(0))
}

fn place<T>(ring: &[T], number: u64) -> &T {
    &ring[number as usize & (ring.len() - 1)]
}

fn store(slot: &Slot, unit: &FreshUnit) {
    let queue = unit.queue.unwrap_or(NO_QUEUE);
    let words = [
        unit.position.get(),
        u64::from(unit.size) << 32 | u64::from(queue),
        unit.offset,
        unit.tag_code.cast_unsigned(),
        unit.store_ms.cast_unsigned(),
        u64::from(unit.hashes),
    ];
    for (part, word) in slot.iter().zip(words) {
        part.store(word, Ordering::Relaxed);
    }
}

fn load(slot: &Slot) -> FreshUnit {
    let [position, size_queue, offset, tag_code, store_ms, hashes] =
        std::array::from_fn(|at| slot[at].load(Ordering::Relaxed));
    let queue = size_queue as u32;
    FreshUnit {
        position: Position::new(position),
        size: (size_queue >> 32) as u32,
        queue: (queue != NO_QUEUE).then_some(queue),
        offset,
        tag_code: tag_code.cast_signed(),
        store_ms: store_ms.cast_signed(),
        hashes: hashes as u32,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn unit(number: u64) -> FreshUnit {
        FreshUnit {
            position: Position::new(number * 100),
            size: 100,
            queue: (!number.is_multiple_of(3)).then_some(number as u32),
            offset: number / 2,
            tag_code: -(number as i64),
            store_ms: -1,
            hashes: number as u32 % 6,
        }
    }

    fn hashes(number: u64) -> impl Iterator<Item = u32> {
        (0..number as u32 % 6).map(move |hash| 100 * number as u32 + hash)
    }

    fn add(fresh: &Fresh, numbers: std::ops::Range<u64>) {
        let hashes: Vec<_> = numbers.clone().flat_map(hashes).collect();
        let units = numbers.start as usize..numbers.end as usize;
        fresh.add(units.map(|number| unit(number as u64)), &hashes);
    }

    /// The numbers of what is there, each checked to be whole.
    fn taken(fresh: &Fresh) -> Vec<u64> {
        let mut notes = Notes::default();
        fresh.take(&mut notes);
        let numbers: Vec<_> = notes.units.iter().map(|unit| unit.position.get() / 100).collect();
        assert_eq!(notes.units, numbers.iter().map(|&number| unit(number)).collect::<Vec<_>>());
        assert_eq!(notes.hashes, numbers.iter().copied().flat_map(hashes).collect::<Vec<_>>());
        numbers
    }

    #[test]
    fn the_ring_goes_round() {
        let fresh = Fresh::holding(4);
        for round in 0..20 {
            let first = 3 * round;
            add(&fresh, first..first + 2);
            add(&fresh, first + 2..first + 3);
            assert_eq!(taken(&fresh), [first, first + 1, first + 2]);
            assert_eq!(taken(&fresh), []);
        }
    }

    #[test]
    fn a_full_ring_leaves_out_what_is_newest_and_whole_batches_of_it() {
        let fresh = Fresh::holding(4);
        add(&fresh, 0..3);
        add(&fresh, 3..5);
        add(&fresh, 6..7);
        add(&fresh, 7..8);
        assert_eq!(taken(&fresh), [0, 1, 2, 6], "a reader meets a gap, never a wrong unit");
        add(&fresh, 8..9);
        assert_eq!(taken(&fresh), [8]);
        add(&fresh, 5..6);
        add(&fresh, 11..12);
        add(&fresh, 17..18);
        add(&fresh, 23..24);
        assert_eq!(taken(&fresh), [5, 11, 17], "there is no room for twenty hashes");
    }

    #[test]
    fn one_thread_adds_while_another_takes() {
        let (fresh, done) = (Fresh::holding(8), AtomicBool::new(false));
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..200_000).for_each(|number| add(&fresh, number..number + 1));
                done.store(true, Ordering::Release);
            });
            while !done.load(Ordering::Acquire) {
                seen.extend(taken(&fresh));
            }
        });
        seen.extend(taken(&fresh));
        assert!(!seen.is_empty() && seen.is_sorted_by(|one, next| one < next));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    fn unit(number: u64) -> FreshUnit {
        let (position, store_ms) = (Position::new(number), 0);
        FreshUnit {
            position,
            size: 1,
            queue: None,
            offset: number,
            tag_code: 0,
            store_ms,
            hashes: 1,
        }
    }

    /// A place that is filled again while it is looked at would show a mixture of two units.
    #[test]
    fn loom_what_is_taken_is_what_was_added() {
        loom::model(|| {
            let fresh = Arc::new(Fresh::holding(1));
            let adding = Arc::clone(&fresh);
            let adder = thread::spawn(move || {
                let add = |number: u32| adding.add([unit(number.into())].into_iter(), &[number]);
                (1..=2).for_each(add);
            });
            for _ in 0..2 {
                let mut notes = Notes::default();
                fresh.take(&mut notes);
                for (found, hash) in notes.units.iter().zip(&notes.hashes) {
                    assert_eq!(*found, unit(found.offset));
                    assert_eq!(found.offset, u64::from(*hash));
                    assert_ne!(*hash, 0);
                }
            }
            adder.join().expect("the adder ends");
        });
    }
}
