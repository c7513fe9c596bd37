//! Records that are in the queues, on their way into the key index.
//!
//! Queue units go first: readers wait for them, and appends go the slow way once the ring of fresh
//! records is full. What does not fit here is read from the log later.

use crate::base::units::Position;
use crate::derived::{KeyWriter, hash_record};
use crate::error::Result;
use crate::record::MessageView;

/// So many records may wait, 3 MiB of them.
const MOST: usize = 1 << 17;

/// So many hashes, 2 MiB of them.
const MOST_HASHES: usize = 1 << 19;

/// Records that are added in one piece.
const PIECE_RECORDS: usize = 4096;

/// How many hashes ahead the places of the key index are asked for.
const AHEAD_HASHES: usize = 32;

/// What the key index needs to know of records, in log order, some perhaps left out.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    records: Vec<Keyed>,
    hashes: Vec<u32>,
    /// Records and hashes before are done.
    done: (usize, usize),
    /// Everything below was noted, or left out for lack of room.
    end: Position,
}

/// One record, or what lies between two.
#[derive(Clone, Copy, Debug)]
struct Keyed {
    position: Position,
    store_ms: i64,
    size: u32,
    hashes: u32,
}

impl Keyed {
    fn end(&self) -> Position {
        self.position + u64::from(self.size)
    }
}

impl Backlog {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.done.0 == self.records.len()
    }

    /// Notes a record and its hashes, if there is room. What was noted before is not noted again.
    pub(super) fn note(&mut self, position: Position, size: u32, store_ms: i64, hashes: &[u32]) {
        if position < self.end {
            return;
        }
        self.make_room();
        let record = Keyed { position, store_ms, size, hashes: hashes.len() as u32 };
        self.end = record.end();
        if self.records.len() < MOST && self.hashes.len() + hashes.len() <= MOST_HASHES {
            self.records.push(record);
            self.hashes.extend_from_slice(hashes);
        }
    }

    /// As [`Backlog::note`], of a record that was read; `hashes` is room for its own.
    pub(super) fn note_view(&mut self, view: &MessageView<'_>, hashes: &mut Vec<u32>) {
        hashes.clear();
        hash_record(view, hashes);
        self.note(Position::new(view.position()), view.size(), view.store_ms(), hashes);
    }

    /// Notes that no record begins in a range, the padding of a segment.
    pub(super) fn pass(&mut self, from: Position, to: Position) {
        if from < to {
            let size = u32::try_from(to - from).expect("a padding is shorter than a segment");
            self.note(from, size, 0, &[]);
        }
    }

    /// Adds the records from `from` on to the index, at most a piece and none that ends behind
    /// `to`; says whether the one at `from` is known.
    ///
    /// # Errors
    /// What the disk says; call again, nothing is lost.
    pub(super) fn add(
        &mut self,
        keys: &mut KeyWriter,
        from: Position,
        to: Position,
    ) -> Result<bool> {
        self.forget_below(from);
        let mut next = from;
        for _ in 0..PIECE_RECORDS {
            let Some(&record) = self.records.get(self.done.0) else { break };
            if record.position != next || record.end() > to {
                break;
            }
            let (own, rest) = self.hashes[self.done.1..].split_at(record.hashes as usize);
            keys.fetch_ahead(rest.get(AHEAD_HASHES..AHEAD_HASHES + own.len()).unwrap_or_default());
            keys.add(record.position, record.store_ms, own)?;
            next = record.end();
            keys.advance(next);
            self.step(record);
        }
        Ok(next > from)
    }

    fn step(&mut self, record: Keyed) {
        self.done.0 += 1;
        self.done.1 += record.hashes as usize;
    }

    fn forget_below(&mut self, position: Position) {
        while let Some(&record) = self.records.get(self.done.0).filter(|r| r.position < position) {
            self.step(record);
        }
    }

    /// Gives back the room of what is done, once that is as much as what is not.
    fn make_room(&mut self) {
        if self.done.0 > 0 && (self.is_empty() || self.done.0 >= MOST / 2) {
            self.records.drain(..self.done.0);
            self.hashes.drain(..self.done.1);
            self.done = (0, 0);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::derived::{KeyIndex, KeyShelf, Shape};
    use crate::disk::{Access, MemDisk};
    use crate::segment::Budget;

    fn index() -> KeyIndex {
        let shape = Shape { slots: 10, entries: 1 << 20 };
        let (disk, budget) = (Arc::new(MemDisk::new()), Budget::new(8));
        let shelf = KeyShelf { disk, budget, dir: "/index".into(), shape, access: Access::Write };
        KeyIndex::open(shelf, None, true, Position::ZERO, true).unwrap()
    }

    /// Notes records of 100 bytes, each with its number as its hash.
    fn note(backlog: &mut Backlog, numbers: std::ops::Range<u64>) {
        for number in numbers {
            backlog.note(Position::new(100 * number), 100, 1, &[number as u32]);
        }
    }

    /// Adds what is known up to `to`; returns how far that goes.
    fn add(backlog: &mut Backlog, index: &KeyIndex, to: u64) -> u64 {
        let mut keys = index.writer();
        while backlog.add(&mut keys, index.done(), Position::new(100 * to)).unwrap() {}
        index.done().get() / 100
    }

    fn holds(index: &KeyIndex, number: u64) -> bool {
        let sources = index.sources(Position::ZERO..index.done(), crate::derived::KeyKind::Key);
        sources.iter().any(|source| match source {
            crate::derived::Source::Log(_) => false,
            crate::derived::Source::File(file) => {
                let chain = KeyIndex::chain(file, number as u32).unwrap();
                chain.unwrap().next().unwrap() == Some(Position::new(100 * number))
            }
        })
    }

    #[test]
    fn what_was_noted_is_added_once_and_in_order() {
        let (index, mut backlog) = (index(), Backlog::default());
        note(&mut backlog, 0..10);
        note(&mut backlog, 5..12);
        assert_eq!(add(&mut backlog, &index, 7), 7, "what is not in the queues yet waits");
        backlog.pass(Position::new(1200), Position::new(2000));
        note(&mut backlog, 20..30);
        assert_eq!(add(&mut backlog, &index, 100), 30, "a padding is no gap");
        assert!(backlog.is_empty() && (0..12).chain(20..30).all(|number| holds(&index, number)));
        assert!(!holds(&index, 12));
    }

    #[test]
    fn a_gap_is_read_by_somebody_else() {
        let (index, mut backlog) = (index(), Backlog::default());
        note(&mut backlog, 0..3);
        note(&mut backlog, 5..9);
        assert_eq!(add(&mut backlog, &index, 100), 3);
        index.writer().advance(Position::new(600));
        assert_eq!(add(&mut backlog, &index, 100), 9, "5 is passed by: it was read");
    }

    #[test]
    fn a_full_backlog_leaves_out_what_is_newest() {
        let (index, mut backlog) = (index(), Backlog::default());
        let most = MOST as u64;
        note(&mut backlog, 0..most + 5);
        assert_eq!(add(&mut backlog, &index, 2 * most), most);
        note(&mut backlog, most + 5..most + 7);
        assert_eq!(add(&mut backlog, &index, 2 * most), most, "there is a gap");
        index.writer().advance(Position::new(100 * (most + 5)));
        assert_eq!(add(&mut backlog, &index, 2 * most), most + 7);
    }
}
