//! Looking at one record of a map without risking a signal.

use crate::base::bytes::read_i32;
use crate::base::watermark::Published;
use crate::disk::{Access, Map};
use crate::error::Result;

/// Bytes that hold a record's size.
const HEAD_BYTES: u64 = 8;

/// The bytes from `from` to the map's end, of which the record that begins there, by the size in
/// its first bytes, is resident. Only for files that nobody writes there.
///
/// # Errors
/// What the disk says when the bytes cannot be read.
pub fn resident_from(map: &Map, from: u64) -> Result<&[u8]> {
    let end = map.len_bytes();
    map.populate(from..end.min(from + HEAD_BYTES), Access::Read)?;
    let rest = map.bytes(from.min(end)..end, Published::all()).unwrap_or_default();
    let size = read_i32(rest, 0).and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
    map.populate(from..end.min(from + size), Access::Read)?;
    Ok(rest)
}
