//! What the appenders know of the newest records, so that the index step need not read them again.
//!
//! Reading them would fetch their bytes from the core that has just written them: a third of the
//! time of a small append. What is here is only a short cut. Whatever is not, because it came from
//! an earlier process or because the list was full, is read from the log.

use crate::base::sync::Mutex;
use crate::base::units::Position;

/// So many records may wait, 3 MiB of them; then they are read from the log after all.
const MOST: usize = 65_536;

/// So many hashes of theirs may, 1 MiB.
const MOST_HASHES: usize = 4 * MOST;

/// One appended record that is not indexed yet.
#[derive(Clone, Copy, Debug)]
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

/// Records in log order, and the hashes of what they are found by, one after the other.
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

    /// All at once, the first time: an append touches no allocator later on.
    fn reserve(&mut self) {
        self.units.reserve_exact(MOST);
        self.hashes.reserve_exact(MOST_HASHES);
    }

    fn has_room(&self, units: usize, hashes: usize) -> bool {
        self.units.len() + units <= MOST && self.hashes.len() + hashes <= MOST_HASHES
    }
}

/// The records that were appended and not taken yet: every one from the first in the list on.
/// Appenders add under the append lock, one at a time takes.
#[derive(Debug, Default)]
pub struct Fresh(Mutex<Notes>);

impl Fresh {
    /// Adds records that are about to be published, in log order.
    pub fn add(&self, units: impl ExactSizeIterator<Item = FreshUnit>, hashes: &[u32]) {
        let mut notes = self.0.lock();
        if notes.units.capacity() == 0 {
            notes.reserve();
        }
        if !notes.has_room(units.len(), hashes.len()) {
            notes.clear();
            if !notes.has_room(units.len(), hashes.len()) {
                return;
            }
        }
        notes.units.extend(units);
        notes.hashes.extend_from_slice(hashes);
    }

    /// Notes that a record was appended which has to be read: those before it are, too.
    pub fn pass(&self) {
        self.0.lock().clear();
    }

    /// Puts what there is into `into`, which is empty; the appenders go on in its memory.
    pub fn take(&self, into: &mut Notes) {
        if into.units.capacity() == 0 {
            into.reserve();
        }
        std::mem::swap(&mut *self.0.lock(), into);
    }
}
