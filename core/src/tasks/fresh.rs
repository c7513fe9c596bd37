//! What the appenders know of the newest records, so that the index step need not read them again.
//!
//! Reading them would fetch their bytes from the core that has just written them: a third of the
//! time of a small append. What is here is only a short cut. Whatever is not, because it came from
//! an earlier process or because the list was full, is read from the log.

use parking_lot::Mutex;

use crate::base::units::Position;

/// So many records may wait, 3 MiB of them; then they are read from the log after all.
const MOST: usize = 65_536;

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
}

impl FreshUnit {
    /// The position after the record.
    #[must_use]
    pub fn end(&self) -> Position {
        self.position + u64::from(self.size)
    }
}

/// The records that were appended and not taken yet: every one from the first in the list on.
/// Appenders add under the append lock, one at a time takes.
#[derive(Debug, Default)]
pub struct Fresh(Mutex<Vec<FreshUnit>>);

impl Fresh {
    /// Adds records that are about to be published, in log order.
    pub fn add(&self, units: impl ExactSizeIterator<Item = FreshUnit>) {
        let mut list = self.0.lock();
        if list.capacity() == 0 {
            // All at once, the first time: an append touches no allocator later on.
            list.reserve_exact(MOST);
        }
        if list.len() + units.len() > MOST {
            list.clear();
        }
        list.extend(units);
    }

    /// Notes that a record was appended which has to be read: those before it are, too.
    pub fn pass(&self) {
        self.0.lock().clear();
    }

    /// Puts what there is into `into`, which is empty; the appenders go on in its memory.
    pub fn take(&self, into: &mut Vec<FreshUnit>) {
        into.reserve_exact(MOST);
        std::mem::swap(&mut *self.0.lock(), into);
    }
}
