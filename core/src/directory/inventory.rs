//! The segments that the directories hold: one per base, of one length, without gaps.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use crate::base::units::Position;
use crate::directory::OWN_DIR;
use crate::disk::{Access, Disk, EntryKind, UNNAMED_PREFIX};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Check, Found as Scanned, MIN_RECORD_BYTES, PADDING_BYTES, at};
use crate::segment::name::parse_segment_name;
use crate::segment::resident_from;

/// The lengths a segment can have, in bytes: room for one record and the padding behind it, and
/// RocketMQ counts the bytes of a file in a signed 32-bit number.
const LENGTHS: RangeInclusive<u64> =
    MIN_RECORD_BYTES + PADDING_BYTES..=i32::MAX.unsigned_abs() as u64;

/// One segment file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The position its name says.
    pub base: Position,
    /// Its length in bytes.
    pub len: u64,
    /// The file.
    pub path: PathBuf,
    /// The number of its directory.
    pub directory: u64,
}

/// All segment files of a store, by base.
#[derive(Debug, Default)]
pub struct Inventory {
    /// One per base, in order.
    pub segments: Vec<Found>,
    /// Files that stand for nothing: empty ones at the end, twins without records of their own,
    /// and what retention had dropped.
    pub spare: Vec<PathBuf>,
    /// Segments below the log's start: retention dropped them while their directory was away.
    pub dropped: Vec<PathBuf>,
    /// Names that are none of ours, left alone.
    pub ignored: Vec<PathBuf>,
    /// The ranges between segments that no directory holds.
    pub gaps: Vec<Range<Position>>,
    /// Files that cannot be what their names say; they are not among the segments.
    pub faults: Vec<Fault>,
}

/// A segment file that cannot be what its name says.
#[derive(Debug)]
pub struct Fault {
    /// The file.
    pub found: Found,
    /// What is wrong.
    pub error: Error,
    /// The length of a file that could stand in its place, where one could.
    pub right_len: Option<u64>,
    /// Another directory holds another segment of the same position.
    pub is_twin: bool,
}

impl Inventory {
    /// Looks through the directories, given by number and path, of a log that begins at
    /// `start`, as far as is known.
    ///
    /// # Errors
    /// `Corrupt` for a file of a wrong length or name and for two files of one base that both
    /// hold records and differ, else what the disk says.
    pub fn take(
        disk: &dyn Disk,
        directories: &[(u64, PathBuf)],
        segment_len: Option<u64>,
        start: Position,
    ) -> Result<Self> {
        let mut inventory = Self::survey(disk, directories, segment_len, start)?;
        match inventory.faults.is_empty() {
            true => Ok(inventory),
            false => Err(inventory.faults.swap_remove(0).error),
        }
    }

    /// As [`Inventory::take`], but files that cannot be segments are told and left out.
    ///
    /// # Errors
    /// What the disk says.
    pub fn survey(
        disk: &dyn Disk,
        directories: &[(u64, PathBuf)],
        segment_len: Option<u64>,
        start: Position,
    ) -> Result<Self> {
        let mut inventory = Self::default();
        for (id, dir) in directories {
            inventory.list(disk, *id, dir)?;
        }
        inventory.segments.sort_by_key(|found| (found.base, found.directory));
        inventory.set_aside_dropped(start);
        inventory.set_aside_empty_files(segment_len);
        inventory.check_lengths(segment_len);
        inventory.judge_twins(disk)?;
        inventory.find_gaps();
        Ok(inventory)
    }

    fn list(&mut self, disk: &dyn Disk, id: u64, dir: &Path) -> Result<()> {
        for entry in disk.list(dir)? {
            let path = dir.join(&entry.name);
            match parse_segment_name(&entry.name) {
                Some(base) if entry.kind == EntryKind::File => {
                    self.segments.push(Found { base, len: entry.len, path, directory: id });
                }
                _ if entry.name == OWN_DIR => {}
                _ => self.ignored.push(path),
            }
        }
        Ok(())
    }

    /// A directory that was away while retention dropped its segments brings them back.
    fn set_aside_dropped(&mut self, start: Position) {
        let is_dropped = |found: &mut Found| found.len > 0 && found.base + found.len <= start;
        let dropped = self.segments.extract_if(.., is_dropped);
        self.dropped.extend(dropped.map(|found| found.path));
    }

    /// A file without bytes is what a crash leaves between making and filling it; behind the
    /// last segment, or beside its twin, it stands for nothing.
    fn set_aside_empty_files(&mut self, segment_len: Option<u64>) {
        let filled = self.segments.iter().filter(|found| found.len > 0);
        let bases: Vec<_> = filled.map(|found| found.base).collect();
        let last = bases.last().copied();
        let is_spare =
            |base| last.is_none_or(|last| base > last) || bases.binary_search(&base).is_ok();
        for found in std::mem::take(&mut self.segments) {
            if found.len > 0 {
                self.segments.push(found);
            } else if is_spare(found.base) {
                self.spare.push(found.path);
            } else {
                let error = Error::new(ErrorKind::Corrupt, "a segment in the middle is empty");
                let error = error.at(&found.path).with_offset(0);
                let right_len = segment_len.or(self.segments.first().map(|first| first.len));
                self.faults.push(Fault { found, error, right_len, is_twin: false });
            }
        }
    }

    /// All segments are of one length, the registered one or that of the first.
    fn check_lengths(&mut self, segment_len: Option<u64>) {
        let Some(first) = self.segments.first() else { return };
        let expected = segment_len.unwrap_or_else(|| self.likely_len(first.len));
        for found in std::mem::take(&mut self.segments) {
            match wrong_length(&found, expected) {
                None => self.segments.push(found),
                Some(error) => {
                    let fits =
                        LENGTHS.contains(&expected) && found.base.get().is_multiple_of(expected);
                    let right_len = fits.then_some(expected);
                    self.faults.push(Fault { found, error, right_len, is_twin: false });
                }
            }
        }
    }

    /// The length that most segments have: one bad file must not make all others look bad.
    fn likely_len(&self, first: u64) -> u64 {
        let mut counts = BTreeMap::<u64, usize>::new();
        for found in &self.segments {
            *counts.entry(found.len).or_default() += 1;
        }
        let ahead = |entry: &(&u64, &usize)| (*entry.1, *entry.0 == first);
        counts.iter().max_by_key(ahead).map_or(first, |(&len, _)| len)
    }

    /// Of two files of one base, the one without records is set aside.
    fn judge_twins(&mut self, disk: &dyn Disk) -> Result<()> {
        let mut single: Vec<Found> = Vec::with_capacity(self.segments.len());
        for found in std::mem::take(&mut self.segments) {
            match single.last_mut().filter(|last| last.base == found.base) {
                None => single.push(found),
                Some(last) => match lesser_twin(disk, last, found)? {
                    Ok(aside) => self.spare.push(aside.path),
                    Err(fault) => self.faults.push(fault),
                },
            }
        }
        self.segments = single;
        Ok(())
    }

    fn find_gaps(&mut self) {
        self.gaps = self
            .segments
            .windows(2)
            .map(|pair| pair[0].base + pair[0].len..pair[1].base)
            .filter(|gap| gap.start < gap.end)
            .collect();
    }

    /// Removes what retention had dropped, and takes the spare files out of RocketMQ's sight, into
    /// `.spanlog/aside` beside them.
    ///
    /// # Errors
    /// What the disk says.
    pub fn set_aside(&self, disk: &dyn Disk) -> Result<()> {
        for path in &self.dropped {
            log::info!("retention dropped the segment before: {}", path.display());
            disk.remove(path)?;
        }
        for path in &self.spare {
            let Some(dir) = path.parent() else { continue };
            if disk.stat(path)?.is_some_and(|stat| stat.len == 0) {
                disk.remove(path)?;
                disk.sync_dir(dir)?;
            } else {
                set_aside(disk, path)?;
            }
            log::warn!("a segment file that stands for nothing was set aside: {}", path.display());
        }
        Ok(())
    }
}

/// Takes a file out of RocketMQ's sight, into `.spanlog/aside` beside it, durably; says where it
/// is then.
///
/// # Errors
/// What the disk says.
pub fn set_aside(disk: &dyn Disk, path: &Path) -> Result<PathBuf> {
    let dir = path.parent().expect("a segment lies in a directory");
    let aside = dir.join(OWN_DIR).join("aside");
    disk.make_dir(&aside)?;
    let name = aside.join(path.file_name().expect("a segment has a name"));
    let free = free_name(disk, &name)?;
    disk.rename(path, &free)?;
    disk.sync_dir(&aside)?;
    disk.sync_dir(dir)?;
    Ok(free)
}

/// Removes the files of a segment directory that a killed process had not named yet. Only file
/// systems without nameless files have any; each takes the space of a whole segment.
///
/// # Errors
/// What the disk says.
pub fn sweep(disk: &dyn Disk, dir: &Path) -> Result<()> {
    let own = dir.join(OWN_DIR);
    if disk.stat(&own)?.is_none() {
        return Ok(());
    }
    for entry in disk.list(&own)? {
        if entry.kind == EntryKind::File && entry.name.starts_with(UNNAMED_PREFIX) {
            disk.remove(&own.join(entry.name))?;
        }
    }
    Ok(())
}

fn free_name(disk: &dyn Disk, path: &Path) -> Result<PathBuf> {
    let mut candidate = path.to_owned();
    let mut number = 1;
    while disk.stat(&candidate)?.is_some() {
        candidate = path.with_extension(number.to_string());
        number += 1;
    }
    Ok(candidate)
}

/// Why a file is no segment of a log whose segments have the expected length.
fn wrong_length(found: &Found, expected: u64) -> Option<Error> {
    let error = |text| Error::new(ErrorKind::Corrupt, text).at(&found.path);
    if !LENGTHS.contains(&expected) {
        let limit = if expected < *LENGTHS.start() { LENGTHS.start() } else { LENGTHS.end() };
        let error = error("no segment has such a length");
        return Some(error.with_offset(expected).with_limit(*limit));
    }
    let (wrong, text) = if found.len != expected {
        (found.len, "the segment has not the length of the others")
    } else if !found.base.get().is_multiple_of(expected) {
        (found.base.get(), "the segment's name is not a multiple of its length")
    } else {
        return None;
    };
    Some(error(text).with_offset(wrong).with_limit(expected))
}

/// Keeps in `kept` the twin that holds records, and returns the other; both may differ.
fn lesser_twin(
    disk: &dyn Disk,
    kept: &mut Found,
    other: Found,
) -> Result<std::result::Result<Found, Fault>> {
    match (holds_records(disk, kept)?, holds_records(disk, &other)?) {
        (_, false) => Ok(Ok(other)),
        (false, true) => Ok(Ok(std::mem::replace(kept, other))),
        (true, true) if same_bytes(disk, kept, &other)? => Ok(Ok(other)),
        (true, true) => {
            let text = format!(
                "two directories hold different segments of one position: {} is the other",
                other.path.display()
            );
            let error = Error::new(ErrorKind::Corrupt, text).at(&kept.path);
            let error = error.with_offset(kept.base.get());
            Ok(Err(Fault { found: other, error, right_len: None, is_twin: true }))
        }
    }
}

fn holds_records(disk: &dyn Disk, found: &Found) -> Result<bool> {
    let map = disk.open(&found.path, Access::Read)?.map(Access::Read)?;
    let first = at(resident_from(&map, 0)?, found.base.get(), Check::Checksums);
    Ok(!matches!(first, Scanned::Nothing))
}

fn same_bytes(disk: &dyn Disk, a: &Found, b: &Found) -> Result<bool> {
    let (a, b) = (disk.open(&a.path, Access::Read)?, disk.open(&b.path, Access::Read)?);
    let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let len = a.len_bytes();
    let mut from = 0;
    while from < len {
        let now = usize::try_from((len - from).min(1 << 20)).expect("a megabyte");
        a.read_at(from, &mut left[..now])?;
        b.read_at(from, &mut right[..now])?;
        if left[..now] != right[..now] {
            return Ok(false);
        }
        from += now as u64;
    }
    Ok(true)
}
