//! The entries of one hash in one file, newest first.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::units::Position;
use crate::derived::keys::file::{IndexFile, SLOT_BYTES};
use crate::disk::Words;
use crate::error::{Error, Result};

/// A walk along the chain of a slot. Every step is to an entry of a lower number, so that it ends
/// whatever the file holds.
#[derive(Debug)]
pub struct Chain {
    file: Arc<IndexFile>,
    words: Words,
    hash: u32,
    /// The entry to look at next; 0 at the end.
    next: u32,
    /// No entry from here on lies above.
    limit: u64,
    /// Whether entries are looked at one after the other, since the slot leads nowhere.
    is_search: bool,
}

impl Chain {
    /// The chain of `hash` in `file`.
    ///
    /// # Errors
    /// `Corrupt` for a slot that cannot be, else what the disk says.
    pub(super) fn of(file: Arc<IndexFile>, hash: u32) -> Result<Self> {
        let words = file.words()?;
        let at = file.shape.slot_at(file.shape.slot_of(hash));
        words.make_resident(at..at + SLOT_BYTES)?;
        let next = words.load(at);
        // An entry is counted before its slot leads to it.
        let count = file.count.load(Ordering::Acquire);
        let is_search = next >= count && !file.linked.load(Ordering::Acquire);
        let next = if is_search { count - 1 } else { next };
        if next >= count {
            return Err(file.corrupt(at, "a slot leads behind the last entry"));
        }
        Ok(Self { file, words, hash, next, limit: u64::MAX, is_search })
    }

    /// The next older record that may have the key.
    ///
    /// # Errors
    /// `Corrupt` for an entry that cannot be, else what the disk says.
    pub fn next(&mut self) -> Result<Option<Position>> {
        while self.next != 0 {
            let number = self.next;
            let entry = self.file.entry(&self.words, number)?;
            self.next = if self.is_search { number - 1 } else { entry.previous };
            let shape = self.file.shape;
            let strays = !self.is_search && shape.slot_of(entry.hash) != shape.slot_of(self.hash);
            if strays || self.next >= number || entry.position > self.limit {
                return Err(self.corrupt(number));
            }
            self.limit = entry.position;
            if entry.hash == self.hash {
                return Ok(Some(Position::new(entry.position)));
            }
        }
        Ok(None)
    }

    #[cold]
    fn corrupt(&self, number: u32) -> Error {
        self.file.corrupt(self.file.shape.entry_at(number), "an entry does not fit its chain")
    }

    /// That the entry which led to a record cannot be right.
    #[must_use]
    pub fn leads_astray(&self, position: Position) -> Error {
        let text = format!("an entry leads to {position}, where no record has its key");
        self.file.corrupt(self.file.shape.slot_at(self.file.shape.slot_of(self.hash)), &text)
    }
}
