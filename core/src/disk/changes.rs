//! What changed in a block of heap memory: the range that is not durable yet, and the blocks
//! that were ever written.

use std::ops::Range;

/// A file system takes space in blocks of this size.
pub(in crate::disk) const BLOCK_BYTES: u64 = 4096;

/// The changes of one block of heap memory.
#[derive(Clone, Debug, Default)]
pub(in crate::disk) struct Changes {
    dirty: Range<u64>,
    /// One bit for each block, set when something was written there.
    written: Vec<u64>,
}

impl Changes {
    /// A range was written.
    pub fn touch(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        for block in range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES) {
            self.set(block, true);
        }
        self.stain(range);
    }

    /// A range was set to zeros: its whole blocks hold nothing any more.
    pub fn clear(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        for block in range.start.div_ceil(BLOCK_BYTES)..range.end / BLOCK_BYTES {
            self.set(block, false);
        }
        self.stain(range);
    }

    /// The range that changed and was not taken since ([`Changes::take_dirty`]).
    pub fn dirty(&self) -> Range<u64> {
        self.dirty.clone()
    }

    /// The part of `range` that changed since it was last taken. What changed on both sides of it
    /// leaves it among what changed.
    pub fn take_dirty(&mut self, range: Range<u64>) -> Range<u64> {
        let dirty = self.dirty();
        let taken = dirty.start.max(range.start)..dirty.end.min(range.end);
        match (taken.start == dirty.start, taken.end == dirty.end) {
            _ if taken.is_empty() => return 0..0,
            (true, true) => self.dirty = 0..0,
            (true, false) => self.dirty.start = taken.end,
            (false, true) => self.dirty.end = taken.start,
            (false, false) => {}
        }
        taken
    }

    /// How many blocks of `range` were written.
    pub fn written_blocks(&self, range: Range<u64>) -> u64 {
        let blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
        blocks.filter(|block| self.is_set(*block)).count() as u64
    }

    /// How many blocks were written in all.
    pub fn written_in_all(&self) -> u64 {
        self.written.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// The first byte at or after `from`, below `len`, in a block that was written.
    pub fn next_written(&self, from: u64, len: u64) -> Option<u64> {
        let mut blocks = from / BLOCK_BYTES..len.div_ceil(BLOCK_BYTES);
        let found = blocks.find(|block| self.is_set(*block))?;
        Some(from.max(found * BLOCK_BYTES)).filter(|at| *at < len)
    }

    fn stain(&mut self, range: Range<u64>) {
        if self.dirty.is_empty() {
            self.dirty = range;
        } else {
            self.dirty = self.dirty.start.min(range.start)..self.dirty.end.max(range.end);
        }
    }

    fn is_set(&self, block: u64) -> bool {
        let (word, bit) = ((block / 64) as usize, block % 64);
        self.written.get(word).is_some_and(|bits| bits >> bit & 1 == 1)
    }

    fn set(&mut self, block: u64, to: bool) {
        let (word, bit) = ((block / 64) as usize, block % 64);
        if word >= self.written.len() {
            if !to {
                return;
            }
            self.written.resize(word + 1, 0);
        }
        self.written[word] = self.written[word] & !(1 << bit) | u64::from(to) << bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_the_dirty_range_follow_writes() {
        let mut changes = Changes::default();
        changes.touch(4090..4100);
        changes.touch(5 * 4096..5 * 4096 + 1);
        changes.touch(70..70);
        assert_eq!(changes.dirty(), 4090..5 * 4096 + 1);
        assert_eq!(changes.written_blocks(4096..100 * 4096), 2);
        assert_eq!(changes.written_in_all(), 3);
        assert_eq!(changes.next_written(0, 4096), Some(0));
        assert_eq!(changes.next_written(8192, 100 * 4096), Some(5 * 4096));
        assert_eq!(changes.next_written(5 * 4096 + 7, 100 * 4096), Some(5 * 4096 + 7));
        assert_eq!(changes.next_written(5 * 4096 + 7, 5 * 4096 + 7), None);
        assert_eq!(changes.next_written(6 * 4096, 100 * 4096), None);
    }

    #[test]
    fn a_part_of_what_changed_is_taken() {
        let mut changes = Changes::default();
        changes.touch(100..900);
        assert_eq!(changes.take_dirty(0..100), 0..0);
        assert_eq!(changes.take_dirty(50..300), 100..300);
        assert_eq!(changes.dirty(), 300..900);
        assert_eq!(changes.take_dirty(400..500), 400..500);
        assert_eq!(changes.dirty(), 300..900, "one range cannot tell of two");
        assert_eq!(changes.take_dirty(800..1000), 800..900);
        assert_eq!(changes.take_dirty(0..1000), 300..800);
        assert!(changes.dirty().is_empty());
    }

    #[test]
    fn clearing_forgets_whole_blocks_only() {
        let mut changes = Changes::default();
        changes.touch(0..3 * 4096);
        assert_eq!(changes.take_dirty(0..u64::MAX), 0..3 * 4096);
        changes.clear(100..2 * 4096 + 100);
        assert_eq!(changes.dirty(), 100..2 * 4096 + 100);
        assert_eq!(changes.written_blocks(0..3 * 4096), 2);
        changes.clear(900 * 4096..901 * 4096);
        assert_eq!(changes.next_written(1, 3 * 4096), Some(1));
        assert_eq!(changes.next_written(4096, 3 * 4096), Some(2 * 4096));
    }
}
