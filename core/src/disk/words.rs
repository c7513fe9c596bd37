//! A file of 32-bit words that change in place while others read them.

use std::ops::Range;
use std::sync::Arc;

use super::{Access, Map};
use crate::error::Result;

/// Bytes of a word.
const WORD_BYTES: u64 = size_of::<u32>() as u64;

/// The bytes of a file as big-endian words, each read and written in one piece: any number of
/// threads read while one writes. What was stored before a word is seen by who loads that word.
/// Of such a file nobody may take slices.
#[derive(Clone, Debug)]
pub struct Words(Arc<Map>);

impl Words {
    /// The words of a map.
    #[must_use]
    pub fn of(map: Arc<Map>) -> Self {
        Self(map)
    }

    /// The word at byte `at`, a multiple of 4.
    ///
    /// # Panics
    /// If there is none: the caller knows the file's length.
    #[must_use]
    #[inline]
    pub fn load(&self, at: u64) -> u32 {
        self.0.load_word(at)
    }

    /// The two words at byte `at` as one number; somebody may store between them.
    ///
    /// # Panics
    /// As [`Words::load`].
    #[must_use]
    #[inline]
    pub fn load_double(&self, at: u64) -> u64 {
        u64::from(self.load(at)) << 32 | u64::from(self.load(at + WORD_BYTES))
    }

    /// Stores a word at byte `at`. The page must have been populated for writing.
    ///
    /// # Panics
    /// As [`Words::load`], and if the map is only for reading.
    #[inline]
    pub fn store(&self, at: u64, value: u32) {
        self.0.store_words(at, [value]);
    }

    /// Stores two words, the higher one first.
    ///
    /// # Panics
    /// As [`Words::store`].
    #[inline]
    pub fn store_double(&self, at: u64, value: u64) {
        self.store_all(at, [(value >> 32) as u32, value as u32]);
    }

    /// Stores words that follow each other, in their order: one look at where they go for all.
    ///
    /// # Panics
    /// As [`Words::store`].
    #[inline]
    pub fn store_all<const N: usize>(&self, at: u64, values: [u32; N]) {
        self.0.store_words(at, values);
    }

    /// Brings the word at `at` closer to the processor, and waits for nothing.
    #[inline]
    pub fn fetch_ahead(&self, at: u64) {
        self.0.fetch_ahead(at, WORD_BYTES as u32);
    }

    /// Makes a range ready for loading.
    ///
    /// # Errors
    /// What the disk says when the bytes cannot be read.
    #[inline]
    pub fn make_resident(&self, range: Range<u64>) -> Result<()> {
        self.0.make_resident(range)
    }

    /// Makes a range ready for storing.
    ///
    /// # Errors
    /// What the disk says, also when it has no room for a hole.
    pub fn prepare(&self, range: Range<u64>) -> Result<()> {
        self.0.populate(range, Access::Write)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Allocation, Disk, MemDisk};
    use super::*;

    /// Words are as durable as other writes: sectors that were not flushed may be lost.
    #[test]
    fn words_are_bytes_of_the_file() {
        let disk = MemDisk::new();
        let file = disk.create(Path::new("/"), 4096, Allocation::Sparse).unwrap();
        file.link(Path::new("/words")).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        let words = Words::of(file.map(Access::Write).unwrap());
        words.prepare(0..4096).unwrap();
        words.store(4, 0xDAA3_20A7);
        words.store_double(8, 0x0102_0304_0506_0708);
        file.sync().unwrap();
        words.store(4000, 7);
        let other = Words::of(file.map(Access::Read).unwrap());
        assert_eq!(
            (other.load(4), other.load_double(8), other.load(4000)),
            (0xDAA3_20A7, 0x0102_0304_0506_0708, 7)
        );
        let bytes = disk.crash(&mut || false).read(Path::new("/words")).unwrap().unwrap();
        assert_eq!(bytes[..16], [0, 0, 0, 0, 0xDA, 0xA3, 0x20, 0xA7, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[4000..4004], [0; 4]);
    }
}
