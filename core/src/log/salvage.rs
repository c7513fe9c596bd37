//! Cutting the tail that a crash left: what is still whole behind the cut is saved first.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::disk::{Access, Allocation, Disk};
use crate::error::Result;
use crate::log::recover::{PIECE_BYTES, Scan, written_pieces};
use crate::record::{Check, MessageView};
use crate::segment::{Segment, Snapshot};

/// Records behind a cut, saved beside the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// How many records.
    pub records: u64,
    /// Their bytes, one after the other, each with its own position in it.
    pub path: std::path::PathBuf,
}

/// Saves the whole records at and behind `cut` into a file of `dir`; without any, saves nothing.
///
/// # Errors
/// What the disk says; then nothing may be cut.
pub fn salvage(
    disk: &dyn Disk,
    snapshot: &Snapshot,
    cut: Position,
    dir: &Path,
) -> Result<Option<Salvage>> {
    let (mut records, mut bytes) = (0_u64, 0_u64);
    walk(snapshot, cut, &mut |view| {
        records += 1;
        bytes += u64::from(view.size());
        Ok(())
    })?;
    if records == 0 {
        return Ok(None);
    }
    disk.make_dir(dir)?;
    let path = free_name(disk, dir, cut, "records")?;
    let file = disk.create(dir, bytes, Allocation::Reserved)?;
    let mut at = 0;
    walk(snapshot, cut, &mut |view| {
        file.write_at(at, view.bytes())?;
        at += u64::from(view.size());
        Ok(())
    })?;
    file.sync()?;
    file.link(&path)?;
    disk.sync_dir(dir)?;
    Ok(Some(Salvage { records, path }))
}

/// A second crash may cut at the same place: earlier savings are never overwritten.
pub(super) fn free_name(
    disk: &dyn Disk,
    dir: &Path,
    cut: Position,
    kind: &str,
) -> Result<std::path::PathBuf> {
    let mut number = 0;
    loop {
        let path = dir.join(format!("{:020}-{number}.{kind}", cut.get()));
        if disk.stat(&path)?.is_none() {
            return Ok(path);
        }
        number += 1;
    }
}

/// Visits every whole record behind `cut`, over whatever lies between them.
fn walk(
    snapshot: &Snapshot,
    cut: Position,
    visit: &mut dyn FnMut(MessageView<'_>) -> Result<()>,
) -> Result<()> {
    let mut scan = Scan::new(snapshot.clone(), cut, Check::Checksums);
    loop {
        scan.run(visit)?;
        if scan.skip()?.is_none() {
            return Ok(());
        }
    }
}

/// Cuts the log at `end`: zeros to the end of its segment, durably, and no later segments.
///
/// Zeros matter: positions beyond the cut are given out again, and a record of before could
/// otherwise come back to life after a second crash (RocketMQ is open to that).
///
/// # Errors
/// What the disk says.
pub fn cut(disk: &dyn Disk, segments: &mut Vec<Arc<Segment>>, end: Position) -> Result<()> {
    // One stays in any case: it says where the log goes on.
    let keep = segments.partition_point(|segment| segment.base() < end).max(1);
    for segment in segments.split_off(keep.min(segments.len())).into_iter().rev() {
        segment.remove()?;
        disk.sync_dir(segment.path().parent().expect("a segment lies in a directory"))?;
    }
    let Some(last) = segments.last().filter(|last| end < last.end()) else { return Ok(()) };
    // Usually nothing stands there: then nothing has to be flushed, which could take as long as
    // everything that is not durable yet.
    if written_behind(last, end)?.is_none() {
        return Ok(());
    }
    let file = last.file()?;
    file.zero(end - last.base(), last.len_bytes())?;
    file.sync()
}

/// From the first to the last byte of `segment` at or behind `end` that is not zero, if there is
/// one.
///
/// # Errors
/// What the disk says.
pub fn written_behind(segment: &Arc<Segment>, end: Position) -> Result<Option<Range<Position>>> {
    let pieces = written_pieces(segment.file()?.as_ref(), end - segment.base())?;
    let map = segment.map()?;
    let mut written: Option<Range<Position>> = None;
    for from in pieces {
        let to = (from + PIECE_BYTES).min(segment.len_bytes());
        map.populate(from..to, Access::Read)?;
        let piece = map.bytes(from..to, Published::all()).expect("mapped whole");
        let Some(first) = piece.iter().position(|&byte| byte != 0) else { continue };
        let last = piece.iter().rposition(|&byte| byte != 0).unwrap_or(first);
        let at = |byte: usize| segment.base() + from + byte as u64;
        let start = written.map_or(at(first), |before| before.start);
        written = Some(start..at(last) + 1);
    }
    Ok(written)
}

/// Writes the bytes of `range` over themselves. After a flush that failed, the system may show
/// pages that never reached the disk as written; written again they are flushed again.
///
/// # Errors
/// What the disk says.
pub fn rewrite(segments: &[Arc<Segment>], range: Range<Position>) -> Result<()> {
    let touched = |segment: &&Arc<Segment>| {
        range.start < segment.end() && segment.base() < range.end && range.start < range.end
    };
    for segment in segments.iter().filter(touched) {
        let (map, file) = (segment.map()?, segment.file()?);
        let end = range.end.min(segment.end()) - segment.base();
        let mut at = range.start.since(segment.base());
        while at < end {
            let to = (at + PIECE_BYTES).min(end);
            map.populate(at..to, Access::Read)?;
            let piece = map.bytes(at..to, Published::all()).expect("mapped whole").to_vec();
            file.write_at(at, &piece)?;
            at = to;
        }
    }
    Ok(())
}
