//! What stands at a position of the log, and where to go on after damage.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

use super::layout::{MAGIC, MAGIC_PADDING, MAGIC_V1, MAGIC_V2, SIZE};
use super::view::{Damage, MessageView};
use crate::base::bytes::read_i32;

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Magic, lengths and position.
    Structure,
    /// All that and the checksums: every byte of the record is read.
    Checksums,
}

/// What stands at a position.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A record, at home.
    Record(MessageView<'a>),
    /// The padding that fills the segment to its end.
    Padding,
    /// No record was ever written here: the next eight bytes are zero, or not there.
    Nothing,
    /// Something else.
    Damaged(Damage),
}

/// What stands at `position`, where `rest` are the bytes from there to the end of the segment.
///
/// A record must be at home: the position that it carries is this one. Otherwise a segment that
/// is used again would show records of its earlier life.
#[must_use]
pub fn at(rest: &[u8], position: u64, check: Check) -> Found<'_> {
    match rest.first_chunk::<8>() {
        None | Some([0, 0, 0, 0, 0, 0, 0, 0]) => return Found::Nothing,
        Some(_) => {}
    }
    // First of all, since the bytes behind a padding's header are no record's.
    if read_i32(rest, MAGIC) == Some(MAGIC_PADDING) {
        return padding(rest);
    }
    match record(rest, position, check) {
        Ok(view) => Found::Record(view),
        Err(damage) => Found::Damaged(damage),
    }
}

fn padding(rest: &[u8]) -> Found<'_> {
    let size = read_i32(rest, SIZE).map_or(0, i64::from);
    if size == rest.len() as i64 { Found::Padding } else { Found::Damaged(Damage::BadSize(size)) }
}

fn record(rest: &[u8], position: u64, check: Check) -> Result<MessageView<'_>, Damage> {
    let view = MessageView::parse(rest)?;
    if view.position() != position {
        return Err(Damage::WrongPlace { says: view.position() });
    }
    if check == Check::Checksums {
        view.verify()?;
    }
    Ok(view)
}

/// How many bytes may be checksummed for every byte that the search advances.
const CHECKED_PER_BYTE: u64 = 8;

/// The distance from `position`, where something is damaged, to the first thing that is whole: a
/// record at home with good checksums, or a padding that ends where `rest` ends.
///
/// The work is linear in the length of `rest`, also if somebody filled it with starts of records
/// that overlap: how much is checksummed is limited, and a record beyond the limit is passed by.
/// A body that holds a copy of a record made for exactly its own position is taken for one.
#[must_use]
pub fn resync(rest: &[u8], position: u64) -> Option<usize> {
    resync_within(rest, position, rest.len(), &mut (rest.len() as u64))
}

/// As [`resync`], but what is found begins within the first `within` bytes, and no byte further
/// back is touched but those of what may begin there. Who searches in pieces hands on
/// `allowance`: how many bytes may still be checksummed, at first as many as are searched.
#[must_use]
pub fn resync_within(
    rest: &[u8],
    position: u64,
    within: usize,
    allowance: &mut u64,
) -> Option<usize> {
    let starts = rest.get(..within.saturating_add(MAGIC + 3)).unwrap_or(rest);
    let mut start = 0;
    while let Some(distance) = next_start(starts.get(start..)?) {
        start += distance;
        *allowance = allowance.saturating_add(CHECKED_PER_BYTE * distance as u64);
        let here = rest.get(start..)?;
        match at(here, position.checked_add(start as u64)?, Check::Structure) {
            Found::Padding => return Some(start),
            Found::Record(view) => {
                if let Some(left) = allowance.checked_sub(u64::from(view.size())) {
                    *allowance = left;
                    if view.verify().is_ok() {
                        return Some(start);
                    }
                }
            }
            Found::Nothing | Found::Damaged(_) => {}
        }
        start += 1;
    }
    None
}

/// Bytes that are looked at together.
const BLOCK_BYTES: usize = 64;

/// The distance to the next place whose second four bytes are a magic. Blocks without the first
/// byte of one are passed at once: what follows a log's end are tens of megabytes of zeros.
fn next_start(bytes: &[u8]) -> Option<usize> {
    let magics = [MAGIC_V1, MAGIC_V2, MAGIC_PADDING].map(i32::to_be_bytes);
    let firsts = magics.map(|magic| magic[0]);
    let is_magic = |window: &[u8]| magics.iter().any(|magic| window == magic);
    let bytes = bytes.get(MAGIC..)?;
    for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
        if block.iter().fold(false, |any, byte| any | firsts.contains(byte)) {
            let from = number * BLOCK_BYTES;
            let end = bytes.len().min(from + BLOCK_BYTES + 3);
            if let Some(at) = bytes.get(from..end)?.windows(4).position(is_magic) {
                return Some(from + at);
            }
        }
    }
    None
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
