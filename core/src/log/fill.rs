//! Making a damaged range one that readers pass by, and keeping its bytes.
//!
//! In the middle of a segment that is a message which was rolled back, as RocketMQ's transactions
//! leave them: it stands in the log, in no queue and in no index. At a segment's end it is the
//! padding that stands there anyway.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::disk::{Access, Allocation, Disk};
use crate::error::Result;
use crate::log::salvage::free_name;
use crate::record::{
    Check, Encoding, Found, Message, Stamp, UniqueIds, at, encode, padding, property, stamp,
    sys_flag,
};
use crate::segment::{Segment, Snapshot, resident_from};

/// The topic of records that stand where damage was.
const TOPIC: &str = "SPANLOG_DAMAGED";

/// The shortest record that [`encode`] builds: a topic and an id of one byte.
const SHORTEST: u64 = 103;

/// Bytes that are saved in one piece.
const PIECE_BYTES: u64 = 1 << 20;

/// Whether bytes of a segment can be made a range that readers pass by.
#[must_use]
pub fn can_fill(segment: &Segment, bytes: &Range<u64>) -> bool {
    let len = bytes.end - bytes.start;
    bytes.end == segment.len_bytes() || len >= SHORTEST
}

/// Writes over a damaged range, given in bytes of the segment, durably. `last_ms` is the store
/// time where no record behind the range tells a better one.
///
/// # Errors
/// What the disk says.
pub fn fill(
    disk: &dyn Disk,
    segment: &Arc<Segment>,
    bytes: Range<u64>,
    last_ms: i64,
) -> Result<()> {
    let file = disk.open(segment.path(), Access::Write)?;
    let len = bytes.end - bytes.start;
    if bytes.end == segment.len_bytes() {
        let left = u32::try_from(len).expect("a segment is shorter than 2 GiB");
        file.write_at(bytes.start, &padding(left))?;
        return file.sync();
    }
    let position = segment.base() + bytes.start;
    let store_ms = time_behind(segment, bytes.end)?.unwrap_or(last_ms);
    file.write_at(bytes.start, &filler(len, position, store_ms)?)?;
    file.sync()
}

/// The store time of the record that stands at `from`, if one does.
fn time_behind(segment: &Arc<Segment>, from: u64) -> Result<Option<i64>> {
    let map = segment.map()?;
    let position = segment.base() + from;
    Ok(match at(resident_from(&map, from)?, position.get(), Check::Checksums) {
        Found::Record(view) => Some(view.store_ms()),
        _ => None,
    })
}

/// A whole record of exactly `len` bytes that no queue and no index has.
fn filler(len: u64, position: Position, store_ms: i64) -> Result<Vec<u8>> {
    let stamped = Stamp { position: position.get(), queue_offset: 0, store_ms };
    let build = |topic: &str, record_checksum: bool, body: usize| {
        let encoding = Encoding {
            record_checksum,
            max_body_bytes: u32::MAX,
            max_record_bytes: u64::MAX,
            store_host: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        };
        let body = vec![0; body];
        let message = Message::new(topic, 0, &body)
            .sys_flag(sys_flag::ROLLBACK)
            .properties(&[(property::UNIQ_KEY, "0")]);
        let mut record = Vec::new();
        // The message has an id, so this one is not used.
        let host = encoding.store_host.ip();
        encode(&message, &encoding, &UniqueIds::new(host, 0, 0, 0).next(0), &mut record)?;
        stamp(&mut record, &stamped);
        Ok::<_, crate::error::Error>(record)
    };
    let len = usize::try_from(len).expect("a segment is shorter than 2 GiB");
    for (topic, has_checksum) in [(TOPIC, true), (TOPIC, false)] {
        let least = build(topic, has_checksum, 0)?.len();
        if least <= len {
            return build(topic, has_checksum, len - least);
        }
    }
    let least = build("D", false, 0)?.len();
    build("D", false, len.saturating_sub(least))
}

/// Saves the bytes of a range as they stand in their segments, one after the other, in a file of
/// `dir`. Returns which.
///
/// # Errors
/// What the disk says.
pub fn save_bytes(
    disk: &dyn Disk,
    snapshot: &Snapshot,
    range: Range<Position>,
    dir: &Path,
) -> Result<PathBuf> {
    disk.make_dir(dir)?;
    let path = free_name(disk, dir, range.start, "bytes")?;
    let file = disk.create(dir, range.end - range.start, Allocation::Reserved)?;
    let meets = |segment: &&Arc<Segment>| range.start < segment.end() && segment.base() < range.end;
    for segment in snapshot.segments().iter().filter(meets) {
        let (map, base) = (segment.map()?, segment.base());
        let end = range.end.min(segment.end());
        let mut from = range.start.max(base);
        while from < end {
            let to = end.min(from + PIECE_BYTES);
            let piece = from - base..to - base;
            map.populate(piece.clone(), Access::Read)?;
            let bytes = map.bytes(piece, Published::all()).expect("mapped whole");
            file.write_at(from - range.start, bytes)?;
            from = to;
        }
    }
    file.sync()?;
    file.link(&path)?;
    disk.sync_dir(dir)?;
    Ok(path)
}

/// Saves the bytes of a cursor's file in a file of `dir` that is durable, and says which.
///
/// # Errors
/// What the disk says.
pub fn save_file(disk: &dyn Disk, bytes: &[u8], dir: &Path) -> Result<PathBuf> {
    disk.make_dir(dir)?;
    let path = free_name(disk, dir, Position::ZERO, "cursor")?;
    disk.replace(&path, bytes)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filler is exactly as long as what it stands for, and no queue has it.
    #[test]
    fn every_length_can_be_filled() {
        for len in (SHORTEST..400).chain([4096, 100_000]) {
            let record = filler(len, Position::new(4096), 1_700_000_000_000).unwrap();
            assert_eq!(record.len() as u64, len);
            let Found::Record(view) = at(&record, 4096, Check::Checksums) else {
                panic!("{len}: no record");
            };
            assert!(!view.has_queue_unit());
            assert_eq!(view.store_ms(), 1_700_000_000_000);
        }
        assert!(filler(SHORTEST - 1, Position::ZERO, 0).unwrap().len() as u64 == SHORTEST);
    }
}
