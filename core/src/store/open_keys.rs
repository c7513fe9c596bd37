//! Opening the key index: how far it is known to go, and how large its files are.

use std::sync::Arc;

use crate::base::units::Position;
use crate::checkpoint::decode_catalogue;
use crate::derived::{Catalogue, KeyClaim, KeyIndex, KeyShelf, Shape};
use crate::disk::Access;
use crate::error::Result;
use crate::options::Options;
use crate::store::open::Opening;
use crate::store::own_dir;
use crate::store::recovery::Known;
use crate::tasks::CATALOGUE;

/// Where the key index lies under the root.
pub(super) const KEYS: &str = "index";

impl Opening {
    /// The key index, as far as it is known to go; the index step adds what is missing.
    pub(super) fn keys(
        &self,
        known: &Known,
        fits_ledger: bool,
        start: Position,
    ) -> Result<KeyIndex> {
        let access = if self.options.read_only { Access::Read } else { Access::Write };
        let shelf = KeyShelf {
            disk: Arc::clone(&self.disk),
            budget: Arc::clone(&self.budget),
            dir: self.root.join(KEYS),
            shape: shape(&self.options, self.fleet.registry().segment_len),
            access,
        };
        if !self.options.key_index {
            return Ok(KeyIndex::none(shelf));
        }
        let path = own_dir(&self.root).join(CATALOGUE);
        let found = self.disk.read(&path)?;
        let ledger = known.ledger.as_ref().filter(|_| fits_ledger);
        let fits = |catalogue: &Catalogue| {
            let wanted = shape_or(&self.options, catalogue.shape);
            catalogue.shape == wanted && ledger.is_some_and(|at| catalogue.position <= at.position)
        };
        let catalogue = found.as_deref().and_then(decode_catalogue).filter(fits);
        let is_own = known.marks.is_some();
        let index = KeyIndex::open(shelf, catalogue.as_ref(), known.clean, start, is_own)?;
        let is_stale = catalogue.is_none_or(|catalogue| !index.follows(&catalogue));
        if found.is_some() && is_stale && access == Access::Write {
            // Neither a later ledger nor files that are made anew must make it seem to fit.
            self.disk.remove(&path)?;
            self.disk.sync_dir(&own_dir(&self.root))?;
        }
        Ok(index)
    }
}

impl Opening {
    /// What the key index is said to hold; nothing inside for a catalogue that is damaged.
    pub(super) fn key_claim(&self, known: &Known) -> Result<Option<KeyClaim>> {
        let found = self.disk.read(&own_dir(&self.root).join(CATALOGUE))?;
        let ledger = known.ledger.as_ref().filter(|ledger| ledger.last.is_some());
        let fits = |at: Position| ledger.is_some_and(|ledger| at <= ledger.position);
        Ok(match found.map(|bytes| decode_catalogue(&bytes)) {
            Some(Some(catalogue)) if fits(catalogue.position) => Some(KeyClaim::Own(catalogue)),
            Some(None) => None,
            None if known.marks.is_none() => {
                let shape = shape(&self.options, self.fleet.registry().segment_len);
                Some(KeyClaim::Foreign(shape))
            }
            _ => Some(KeyClaim::Nothing),
        })
    }
}

/// How large index files of a store without any are: RocketMQ's with its segments, in proportion
/// with shorter ones.
fn shape(options: &Options, segment_len: u64) -> Shape {
    let part = |whole: u32| {
        let part = (u64::from(whole) * segment_len) >> 30;
        u32::try_from(part.max(16)).expect("a segment has less than 2 GiB")
    };
    let Shape { slots, entries } = Shape::USUAL;
    shape_or(options, Shape { slots: part(slots), entries: part(entries) })
}

/// The shape that the options ask for, where they do.
fn shape_or(options: &Options, other: Shape) -> Shape {
    let slots = options.index_slots.unwrap_or(other.slots);
    Shape { slots, entries: options.index_entries.unwrap_or(other.entries) }
}
