//! All disks together: who takes new segments, what cleaning is called for, whether appends are
//! refused. One function answers all of it, so that no two answers can disagree.

use super::marks::{Pressure, Thresholds, Usage, pressure};
use super::policy::{Policy, Role};
use super::refusal::{Cause, Refusal, RefusedDirectory};

/// One directory as the policy sees it, at one probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Directory {
    /// Its path, for messages.
    pub path: String,
    /// What it is for.
    pub role: Role,
    /// Whether it is there. One that is not counts for nothing.
    pub online: bool,
    /// The number of its file system: directories with equal numbers are one disk.
    pub device: u64,
    /// What the file system reports; nothing if it could not be read or made no sense.
    pub usage: Option<Usage>,
    /// Its limits: its own, or the store's.
    pub thresholds: Thresholds,
    /// [`Verdict::pressures`] of the probe before; [`Pressure::None`] at the first.
    pub pressure: Pressure,
    /// Whether this row is the root directory, which holds the queues and no segments. Its disk
    /// counts for itself in `clean` and `refuse`, whatever the quantifier says.
    pub is_root: bool,
}

impl Directory {
    /// Whether its role lets it take new segments.
    fn is_writer(&self) -> bool {
        self.online && !self.is_root && self.role == Role::ReadWrite
    }

    /// Whether segments leave it by retention.
    fn is_cleaned(&self) -> bool {
        self.online && !self.is_root && self.role != Role::ReadOnly
    }
}

/// The state of all disks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The pressure on each directory's disk; to be passed in again at the next probe.
    pub pressures: Vec<Pressure>,
    /// Indexes of directories that are online and whose usage is not known: worth one warning.
    pub unknown: Vec<usize>,
    /// Indexes of directories that may take the next segment, as placement's candidates: those
    /// below `force`, or if there is none, those below `refuse`.
    pub writable: Vec<usize>,
    /// Whether expired segments should leave at once.
    pub clean: bool,
    /// Whether segments should be dropped regardless of age, if the policy allows it: enough
    /// disks are above `force`, or appends are refused because disks are full.
    pub force: bool,
    /// Why appends are refused, if they are. With [`Quantifier::Any`] or a full root there may be
    /// writable directories all the same.
    ///
    /// [`Quantifier::Any`]: crate::retention::Quantifier::Any
    pub refused: Option<Refusal>,
}

/// What one disk reports, its strictest limits, and the pressure on it.
#[derive(Clone, Copy)]
struct Volume {
    usage: Option<Usage>,
    thresholds: Thresholds,
    pressure: Pressure,
}

impl Volume {
    /// The disk of `row`: merges all directories on it that are there. One that is not there is
    /// nothing but itself, and under no pressure.
    fn of(row: &Directory, directories: &[Directory]) -> Self {
        let mut volume = Self {
            usage: row.usage.filter(|_| row.online),
            thresholds: row.thresholds,
            pressure: row.pressure,
        };
        let shares = |other: &&Directory| other.online && other.device == row.device;
        if row.online {
            volume = directories.iter().filter(shares).fold(volume, Self::with);
        }
        volume.pressure = pressure(volume.pressure, volume.usage, &volume.thresholds);
        volume
    }

    /// Adds a directory: the fuller reading, where two were taken one after the other.
    fn with(self, other: &Directory) -> Self {
        let fuller = |a: Usage, b: Usage| if a.used_ratio() < b.used_ratio() { b } else { a };
        Self {
            usage: match (self.usage, other.usage) {
                (Some(a), Some(b)) => Some(fuller(a, b)),
                (a, b) => a.or(b),
            },
            thresholds: self.thresholds.strictest(other.thresholds),
            pressure: self.pressure.max(other.pressure),
        }
    }
}

/// A directory, where it stands in the list, and its disk.
#[derive(Clone, Copy)]
struct Row<'a> {
    index: usize,
    directory: &'a Directory,
    disk: Volume,
}

impl Row<'_> {
    /// Whether its usage is known.
    fn is_known(&self) -> bool {
        self.disk.usage.is_some()
    }

    /// Its state, for the message.
    fn refused(&self) -> RefusedDirectory {
        RefusedDirectory {
            path: self.directory.path.clone(),
            role: self.directory.role,
            online: self.directory.online,
            is_root: self.directory.is_root,
            usage: self.disk.usage,
            thresholds: self.disk.thresholds,
            pressure: self.disk.pressure,
        }
    }
}

/// Every directory with its disk.
fn survey(directories: &[Directory]) -> Vec<Row<'_>> {
    let row =
        |(index, directory)| Row { index, directory, disk: Volume::of(directory, directories) };
    directories.iter().enumerate().map(row).collect()
}

/// The rows for which `which` holds.
fn select<'a>(rows: &[Row<'a>], which: impl Fn(&Row<'_>) -> bool) -> Vec<Row<'a>> {
    rows.iter().copied().filter(|row| which(row)).collect()
}

/// Whether `mark` or a higher one is in force on a row's disk.
fn above(mark: Pressure) -> impl Fn(&Row<'_>) -> bool {
    move |row| row.disk.pressure >= mark
}

/// Judges all directories at once.
///
/// * A directory may take a new segment if its role says so, it is online and below `force`; if
///   none is, those below `refuse` may: writing goes on.
/// * Appends are refused when all (or any, by the policy) of the disks that could take a segment
///   are above `refuse`, when the root's disk is, or when no directory could take one at all.
/// * A disk of unknown usage is never chosen, and never saves from refusal, while that of another
///   writable one is known; where none is known they are used, and nothing is refused.
/// * A full disk of the root calls for expired segments to leave, never for others: its queue
///   files are a small part of the log, so dropping the log would not empty it.
#[must_use]
pub fn judge(directories: &[Directory], policy: &Policy) -> Verdict {
    let rows = survey(directories);
    let writers = candidates(&rows);
    let cause = cause(&rows, &writers, policy);
    let force = policy.force_on.holds(&known(&writers), above(Pressure::Force));
    Verdict {
        pressures: rows.iter().map(|row| row.disk.pressure).collect(),
        unknown: indexes(&rows, |row| row.directory.online && !row.is_known()),
        writable: writable(&writers),
        clean: calls_for_clean(&rows, policy),
        force: force || cause == Some(Cause::DisksFull),
        refused: cause.map(|cause| refusal(cause, &rows)),
    }
}

/// Where the rows for which `which` holds stand in the list.
fn indexes(rows: &[Row<'_>], which: impl Fn(&Row<'_>) -> bool) -> Vec<usize> {
    rows.iter().filter(|row| which(row)).map(|row| row.index).collect()
}

/// The rows whose usage is known.
fn known<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    select(rows, |row| row.is_known())
}

/// The directories that could take a segment if there was room: of those whose role allows it
/// the known ones, or all if none is known.
fn candidates<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let writers = select(rows, |row| row.directory.is_writer());
    let known = known(&writers);
    if known.is_empty() { writers } else { known }
}

/// Those below `force`, or if there is none, those below `refuse`.
fn writable(writers: &[Row<'_>]) -> Vec<usize> {
    let roomy = indexes(writers, |row| row.disk.pressure < Pressure::Force);
    if roomy.is_empty() {
        indexes(writers, |row| row.disk.pressure < Pressure::Refuse)
    } else {
        roomy
    }
}

/// Whether expired segments should leave at once.
fn calls_for_clean(rows: &[Row<'_>], policy: &Policy) -> bool {
    let cleaned = known(&select(rows, |row| row.directory.is_cleaned()));
    policy.clean_on.holds(&cleaned, above(Pressure::Clean))
        || rows.iter().any(|row| row.directory.is_root && above(Pressure::Clean)(row))
}

/// Why appends should be refused, if they should.
fn cause(rows: &[Row<'_>], writers: &[Row<'_>], policy: &Policy) -> Option<Cause> {
    let is_full_root = |row: &Row<'_>| row.directory.is_root && above(Pressure::Refuse)(row);
    if writers.is_empty() {
        Some(Cause::NoWritableDirectory)
    } else if policy.refuse_on.holds(writers, above(Pressure::Refuse)) {
        Some(Cause::DisksFull)
    } else {
        rows.iter().any(is_full_root).then_some(Cause::RootFull)
    }
}

/// Gathers the figures of all directories, and of the root where it is full.
fn refusal(cause: Cause, rows: &[Row<'_>]) -> Refusal {
    let named = |row: &&Row<'_>| !row.directory.is_root || above(Pressure::Refuse)(row);
    Refusal { cause, directories: rows.iter().filter(named).map(Row::refused).collect() }
}

/// How near below a mark a disk is looked at more often, as a ratio.
const NEAR: f64 = 0.02;

/// The shortest time between two probes, in milliseconds.
const SHORTEST_PROBE_MS: u64 = 100;

/// How long to wait until the next probe, in milliseconds: `interval_ms`, or a tenth of it while
/// a disk of the store is above `force` or within two percentage points below a mark. Filling
/// that much of a disk takes longer than a tenth of the interval, or the disk is small.
#[must_use]
pub fn probe_delay_ms(directories: &[Directory], interval_ms: u64) -> u64 {
    let tenth = (interval_ms / 10).max(SHORTEST_PROBE_MS).min(interval_ms);
    if survey(directories).iter().any(is_near) { tenth } else { interval_ms }
}

/// Whether a disk is above `force` or a little below a mark.
fn is_near(row: &Row<'_>) -> bool {
    let Some(usage) = row.disk.usage else { return false };
    let near = |mark| {
        let mark = row.disk.thresholds.mark(mark);
        (mark - NEAR..=mark).contains(&usage.used_ratio())
    };
    row.disk.pressure >= Pressure::Force
        || [Pressure::Clean, Pressure::Force, Pressure::Refuse].into_iter().any(near)
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
