//! One index file: a header, slots and entries, all of 32-bit words (`FORMAT.md`, section 5).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::base::units::Position;
use crate::derived::keys::index::KeyShelf;
use crate::derived::keys::name::index_name;
use crate::disk::Words;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::{Place, Segment};

pub(super) const HEADER_BYTES: u64 = 40;
pub(super) const SLOT_BYTES: u64 = 4;
pub(super) const ENTRY_BYTES: u64 = 20;

/// Places in the header.
pub(super) const BEGIN_MS: u64 = 0;
pub(super) const END_MS: u64 = 8;
pub(super) const BEGIN: u64 = 16;
pub(super) const END: u64 = 24;
pub(super) const USED: u64 = 32;
pub(super) const COUNT: u64 = 36;

/// Places in an entry.
pub(super) const HASH: u64 = 0;
pub(super) const POSITION: u64 = 4;
pub(super) const PREVIOUS: u64 = 16;

/// How many slots and entries every index file of a store has (RocketMQ's `maxHashSlotNum` and
/// `maxIndexNum`). The first entry is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of slots, at least 1.
    pub slots: u32,
    /// Number of entries, at least 2.
    pub entries: u32,
}

impl Shape {
    /// RocketMQ's, for its segments of 1 GiB.
    pub const USUAL: Self = Self { slots: 5_000_000, entries: 20_000_000 };

    /// The length of a file.
    #[must_use]
    pub fn file_len(self) -> u64 {
        self.entry_at(self.entries)
    }

    pub(super) fn slot_of(self, hash: u32) -> u32 {
        hash % self.slots
    }

    pub(super) fn slot_at(self, slot: u32) -> u64 {
        HEADER_BYTES + SLOT_BYTES * u64::from(slot)
    }

    pub(super) fn entry_at(self, number: u32) -> u64 {
        self.slot_at(self.slots) + ENTRY_BYTES * u64::from(number)
    }
}

/// What is known of an index file without looking into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its name as a number: the files' order.
    pub number: u64,
    /// Entries below are whole; 1 for a file without any.
    pub count: u32,
    /// Where the first record with an entry begins.
    pub begin: Position,
    /// Where the last one begins.
    pub end: Position,
}

/// One entry: a record that has a key of this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) hash: u32,
    pub(super) position: u64,
    pub(super) previous: u32,
}

/// One index file. Any number of threads read while one writes.
#[derive(Debug)]
pub struct IndexFile {
    pub(super) segment: Arc<Segment>,
    pub(super) shape: Shape,
    pub(super) number: u64,
    /// Entries below are whole.
    pub(super) count: AtomicU32,
    pub(super) begin: AtomicU64,
    pub(super) end: AtomicU64,
    /// Every slot leads to whole entries. Otherwise a crash may have left some that lead behind
    /// them, and may have lost what stood there.
    pub(super) linked: AtomicBool,
}

impl IndexFile {
    /// The file that `known` describes.
    pub(super) fn existing(shelf: &KeyShelf, known: Summary, linked: bool) -> Self {
        let place = shelf.place(known.number);
        let segment = Segment::existing(&shelf.disk, &shelf.budget, place, shelf.access);
        Self::of(Arc::new(segment), shelf.shape, known, linked)
    }

    pub(super) fn of(segment: Arc<Segment>, shape: Shape, known: Summary, linked: bool) -> Self {
        Self {
            segment,
            shape,
            number: known.number,
            count: AtomicU32::new(known.count),
            begin: AtomicU64::new(known.begin.get()),
            end: AtomicU64::new(known.end.get()),
            linked: AtomicBool::new(linked),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.segment.path()
    }

    /// What is known of it now.
    pub(super) fn summary(&self) -> Summary {
        Summary {
            number: self.number,
            count: self.count.load(Ordering::Acquire),
            begin: Position::new(self.begin.load(Ordering::Relaxed)),
            end: self.end(),
        }
    }

    /// Where the last record with an entry begins.
    pub(super) fn end(&self) -> Position {
        Position::new(self.end.load(Ordering::Acquire))
    }

    /// Its words, mapped if need be.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn words(&self) -> Result<Words> {
        self.segment.map().map(Words::of)
    }

    /// What its header says, of a file that somebody else wrote; nothing if first and last entry
    /// say otherwise.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn told(&self) -> Result<Option<Summary>> {
        let words = self.words()?;
        words.make_resident(0..HEADER_BYTES)?;
        let count = words.load(COUNT);
        let (begin, end) = (words.load_double(BEGIN), words.load_double(END));
        if count <= 1 || count > self.shape.entries {
            return Ok(None);
        }
        let (first, last) = (self.entry(&words, 1)?, self.entry(&words, count - 1)?);
        let is_so = first.position == begin && last.position == end && begin <= end;
        let [begin, end] = [begin, end].map(Position::new);
        Ok(is_so.then_some(Summary { number: self.number, count, begin, end }))
    }

    /// The entry of that number, which the file has room for.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn entry(&self, words: &Words, number: u32) -> Result<Entry> {
        assert!(number < self.shape.entries, "the caller has looked at the number: {number}");
        let at = self.shape.entry_at(number);
        words.make_resident(at..at + ENTRY_BYTES)?;
        Ok(Entry {
            hash: words.load(at + HASH),
            position: words.load_double(at + POSITION),
            previous: words.load(at + PREVIOUS),
        })
    }

    /// That something in it cannot be so.
    pub(super) fn corrupt(&self, at: u64, what: &str) -> Error {
        let text = format!("the key index is damaged: {what}");
        Error::new(ErrorKind::Corrupt, text).at(self.path()).with_offset(at)
    }
}

impl KeyShelf {
    pub(super) fn place(&self, number: u64) -> Place {
        let path = self.dir.join(index_name(number));
        Place { base: Position::ZERO, len: self.shape.file_len(), path, directory: 0 }
    }
}
