//! Which segments leave the log now, and why each of the others stays.

use std::fmt;
use std::sync::Arc;

use super::judge::{Directory, judge};
use super::policy::{Policy, Role};
use crate::base::units::Position;

/// What the policy knows of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFacts {
    /// The position of its first byte.
    pub base: Position,
    /// Bytes its file takes.
    pub len: u64,
    /// The index of its directory in the list that goes with it.
    pub directory: usize,
    /// The store time of its last record in milliseconds since 1970: never a time of the file.
    /// Nothing if it cannot be read.
    pub last_store_ms: Option<i64>,
    /// Whether slices hold it. It leaves the log all the same; its file goes when the last of
    /// them is released.
    pub held: bool,
    /// Whether it is the last of the log, which never leaves.
    pub is_last: bool,
}

/// When a round of cleaning happens, and whether somebody asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// The hour of day in local time, 0 to 23.
    pub local_hour: u32,
    /// Whether expired segments should leave whatever the hour and the pressure.
    pub manual: bool,
}

/// A cursor that keeps segments it has not acknowledged from leaving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The cursor's topic.
    pub topic: Arc<str>,
    /// The cursor's name.
    pub cursor: Arc<str>,
    /// Where the first record begins that it has not acknowledged.
    pub from: Position,
    /// Segments of a greater age are not kept, in milliseconds.
    pub max_age_ms: Option<u64>,
    /// Segments that begin farther below the log's end are not kept, in bytes.
    pub max_bytes: Option<u64>,
}

impl Holder {
    /// Whether it keeps a segment of that age, in a log whose last segment ends at `end`.
    fn keeps(&self, segment: &SegmentFacts, age_ms: Option<u64>, end: Position) -> bool {
        self.from < segment.base + segment.len
            && self.max_age_ms.is_none_or(|most| age_ms.is_none_or(|age_ms| age_ms <= most))
            && self.max_bytes.is_none_or(|most| end.since(segment.base) <= most)
    }
}

/// Why a segment leaves or stays. Ages are in milliseconds since the last record was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Leaves: it is past its age.
    Expired {
        /// Its age.
        age_ms: u64,
    },
    /// Leaves although it is not past its age, because disks are full.
    Forced {
        /// Its age, if known.
        age_ms: Option<u64>,
    },
    /// Stays: it is the last, where appends go.
    KeptLast,
    /// Stays: one before it stays, and the log has no holes.
    KeptBehind,
    /// Stays: its directory is read-only.
    KeptReadOnly,
    /// Stays: a cursor has not acknowledged all of it, and may hold it.
    KeptForCursor {
        /// The cursor's topic.
        topic: Arc<str>,
        /// The cursor's name.
        cursor: Arc<str>,
    },
    /// Stays: it is not past its age.
    KeptYoung {
        /// Its age; 0 if its time lies in the future.
        age_ms: u64,
        /// How long until it expires.
        left_ms: u64,
        /// When it expires, in milliseconds since 1970.
        until_ms: i64,
    },
    /// Stays: neither its own time nor that of any segment behind it is known.
    KeptUndated,
    /// Stays: it is past its age, but it is not the hour, no disk is above `clean` and nobody
    /// asked.
    KeptNoPressure {
        /// Its age.
        age_ms: u64,
    },
    /// Stays for this round: as many segments as allowed were dropped before their age.
    KeptRoundLimit,
}

impl Reason {
    /// The name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Expired { .. } => "expired",
            Self::Forced { .. } => "forced",
            Self::KeptLast => "kept_last",
            Self::KeptBehind => "kept_behind",
            Self::KeptReadOnly => "kept_read_only",
            Self::KeptForCursor { .. } => "kept_for_cursor",
            Self::KeptYoung { .. } => "kept_young",
            Self::KeptUndated => "kept_undated",
            Self::KeptNoPressure { .. } => "kept_no_pressure",
            Self::KeptRoundLimit => "kept_round_limit",
        }
    }

    /// Whether the segment leaves the log.
    #[must_use]
    pub fn drops(&self) -> bool {
        matches!(self, Self::Expired { .. } | Self::Forced { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::Expired { age_ms } => write!(f, "dropped: expired, {} old", Span(age_ms)),
            &Self::Forced { age_ms: Some(age_ms) } => {
                write!(f, "dropped before its age: disks are full, {} old", Span(age_ms))
            }
            Self::Forced { age_ms: None } => {
                f.write_str("dropped before its age: disks are full, age not known")
            }
            Self::KeptLast => f.write_str("kept: the last segment never goes"),
            Self::KeptBehind => f.write_str("kept: an earlier segment stays"),
            Self::KeptReadOnly => f.write_str("kept: its directory is read-only"),
            Self::KeptForCursor { topic, cursor } => {
                write!(f, "kept: held by cursor {cursor} of topic {topic}")
            }
            &Self::KeptYoung { age_ms, left_ms, .. } => {
                write!(f, "kept: {} old, expires in {}", Span(age_ms), Span(left_ms))
            }
            Self::KeptUndated => f.write_str("kept: its age is not known"),
            &Self::KeptNoPressure { age_ms } => write!(
                f,
                "kept: expired, {} old, but it is not the hour of deletion and disks have room",
                Span(age_ms)
            ),
            Self::KeptRoundLimit => {
                f.write_str("kept for this round: enough were dropped before their age")
            }
        }
    }
}

/// A length of time for people, in the largest unit of which there is at least one.
struct Span(u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400_000, "days"), (3_600_000, "h"), (60_000, "min"), (1000, "s")];
        match units.into_iter().find(|&(unit_ms, _)| self.0 >= unit_ms) {
            Some((unit_ms, unit)) => write!(f, "{:.1} {unit}", self.0 as f64 / unit_ms as f64),
            None => write!(f, "{} ms", self.0),
        }
    }
}

/// What happens to one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The segment.
    pub segment: SegmentFacts,
    /// Why it leaves or stays.
    pub reason: Reason,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.segment.base, self.reason)?;
        if self.segment.held && self.reason.drops() {
            f.write_str("; held by a reader, its file goes when released")?;
        }
        Ok(())
    }
}

/// The outcome for all segments: a dry run prints it, a round of cleaning carries it out. That
/// nothing can leave is an outcome like any other, not a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanPlan {
    /// How many segments leave, from the front.
    pub drop: usize,
    /// What happens to each segment, in order.
    pub fates: Vec<Fate>,
}

impl CleanPlan {
    /// Those that leave, oldest first.
    #[must_use]
    pub fn dropped(&self) -> &[Fate] {
        &self.fates[..self.drop]
    }

    /// Where the log will start, if anything leaves.
    #[must_use]
    pub fn start(&self) -> Option<Position> {
        let first_kept = self.fates.get(self.drop)?;
        (self.drop > 0).then_some(first_kept.segment.base)
    }
}

/// Decides the fate of `segments`, all of the log in order, on `directories`.
///
/// * What leaves is a *prefix*: the first segment that must stay keeps all behind it. The last
///   segment never leaves, nor does one on a read-only directory. One on a directory that is
///   offline does: else a dead disk would stop retention for good.
/// * An *expired* segment, whose age is at least the retention, leaves in the hours of deletion,
///   when [`Verdict::clean`] or [`Verdict::force`] calls for it, or on request. There is no limit
///   per round.
/// * Others leave only if the policy allows it and [`Verdict::force`] calls for it, at most so
///   many in a round, and no more than it takes: each file that goes counts as space returned.
/// * What one of the `holders` keeps does not leave, whatever calls for it.
///
/// Rounds are idempotent: deciding twice in the same state drops nothing more than deciding once
/// with more room in the round.
///
/// [`Verdict::clean`]: crate::retention::Verdict::clean
/// [`Verdict::force`]: crate::retention::Verdict::force
#[must_use]
pub fn decide(
    segments: &[SegmentFacts],
    directories: &[Directory],
    holders: &[Holder],
    policy: &Policy,
    moment: Moment,
) -> CleanPlan {
    let end = segments.last().map_or(Position::ZERO, |last| last.base + last.len);
    let mut round = Round { holders, end, ..Round::new(directories, policy, moment) };
    let dates = dates(segments, moment.now_ms);
    let fates: Vec<Fate> = segments
        .iter()
        .zip(dates)
        .enumerate()
        .map(|(i, (&segment, stored_ms))| {
            let is_last = segment.is_last || i + 1 == segments.len();
            Fate { segment, reason: round.next(&segment, stored_ms, is_last) }
        })
        .collect();
    let drop = fates.iter().take_while(|fate| fate.reason.drops()).count();
    CleanPlan { drop, fates }
}

/// When each segment was stored, judged by the whole log. A time that lies in the future comes
/// from a clock that was ahead, and one that is not known from a disk that is: both are replaced
/// by the time of the next segment that has a possible one, which is not earlier than the true
/// one. So a clock that was once years ahead does not block retention for years.
///
/// The reverse is left alone on purpose: taking the least time of all later segments would let
/// one record written under a clock of 1970 expire everything before it.
fn dates(segments: &[SegmentFacts], now_ms: i64) -> Vec<Option<i64>> {
    let mut later = None;
    let mut dates: Vec<_> = segments
        .iter()
        .rev()
        .map(|segment| {
            let possible = segment.last_store_ms.filter(|&stored_ms| stored_ms <= now_ms);
            later = possible.or(later);
            later.or(segment.last_store_ms)
        })
        .collect();
    dates.reverse();
    dates
}

/// A round of cleaning on its way from the first segment to the last.
struct Round<'a> {
    policy: &'a Policy,
    moment: Moment,
    /// The directories as they will be once what was dropped so far is gone.
    directories: Vec<Directory>,
    /// Whether expired segments leave.
    by_age: bool,
    /// How many were dropped before their age.
    forced: u32,
    /// Whether a segment stays, and so all behind it.
    blocked: bool,
    holders: &'a [Holder],
    /// The end of the last segment.
    end: Position,
}

impl<'a> Round<'a> {
    /// Nothing dropped yet.
    fn new(directories: &[Directory], policy: &'a Policy, moment: Moment) -> Self {
        let verdict = judge(directories, policy);
        let is_hour = policy.delete_hours.contains(moment.local_hour);
        let judged = |(row, &pressure): (&Directory, _)| Directory { pressure, ..row.clone() };
        Self {
            policy,
            moment,
            directories: directories.iter().zip(&verdict.pressures).map(judged).collect(),
            by_age: moment.manual || is_hour || verdict.clean || verdict.force,
            forced: 0,
            blocked: false,
            holders: &[],
            end: Position::ZERO,
        }
    }

    /// The fate of the next segment.
    fn next(&mut self, segment: &SegmentFacts, stored_ms: Option<i64>, is_last: bool) -> Reason {
        let role = self.directories.get(segment.directory).map(|directory| directory.role);
        let reason = if is_last {
            Reason::KeptLast
        } else if self.blocked {
            Reason::KeptBehind
        } else if role == Some(Role::ReadOnly) {
            Reason::KeptReadOnly
        } else {
            let reason = self.by_age_or_force(stored_ms);
            let held = self.held(segment, stored_ms).filter(|_| reason.drops());
            held.unwrap_or(reason)
        };
        match reason {
            Reason::Expired { .. } => self.give_back(segment),
            Reason::Forced { .. } => {
                self.forced += 1;
                self.give_back(segment);
            }
            _ => self.blocked = true,
        }
        reason
    }

    /// Who keeps a segment that would leave.
    fn held(&self, segment: &SegmentFacts, stored_ms: Option<i64>) -> Option<Reason> {
        let age_ms = stored_ms.map(|stored_ms| self.age_ms(stored_ms));
        let mut holders = self.holders.iter();
        let Holder { topic, cursor, .. } =
            holders.find(|holder| holder.keeps(segment, age_ms, self.end))?;
        Some(Reason::KeptForCursor { topic: Arc::clone(topic), cursor: Arc::clone(cursor) })
    }

    /// The fate of a segment that may leave.
    fn by_age_or_force(&self, stored_ms: Option<i64>) -> Reason {
        let age_ms = stored_ms.map(|stored_ms| self.age_ms(stored_ms));
        let expired_ms = age_ms.filter(|&age_ms| age_ms >= self.policy.retention_ms);
        match (expired_ms, stored_ms) {
            (Some(age_ms), _) if self.by_age => Reason::Expired { age_ms },
            _ if self.must_force() && self.forced < self.policy.max_forced_per_round => {
                Reason::Forced { age_ms }
            }
            _ if self.must_force() => Reason::KeptRoundLimit,
            (Some(age_ms), _) => Reason::KeptNoPressure { age_ms },
            (None, Some(stored_ms)) => self.young(stored_ms),
            (None, None) => Reason::KeptUndated,
        }
    }

    /// Whether disks are so full that segments leave before their age.
    fn must_force(&self) -> bool {
        self.policy.forced_clean && judge(&self.directories, self.policy).force
    }

    /// How long ago `stored_ms` was; 0 if it lies in the future.
    fn age_ms(&self, stored_ms: i64) -> u64 {
        self.moment.now_ms.saturating_sub(stored_ms).max(0).unsigned_abs()
    }

    /// The reason of a segment that is not past its age.
    fn young(&self, stored_ms: i64) -> Reason {
        let until_ms = stored_ms.saturating_add_unsigned(self.policy.retention_ms);
        let left_ms = until_ms.saturating_sub(self.moment.now_ms).max(0).unsigned_abs();
        Reason::KeptYoung { age_ms: self.age_ms(stored_ms), left_ms, until_ms }
    }

    /// Counts the segment's file as gone, if it can go at once.
    fn give_back(&mut self, segment: &SegmentFacts) {
        let Some(home) = self.directories.get(segment.directory) else { return };
        if segment.held || !home.online {
            return;
        }
        let device = home.device;
        let shares = |row: &&mut Directory| row.online && row.device == device;
        for row in self.directories.iter_mut().filter(shares) {
            row.usage = row.usage.map(|usage| usage.freed(segment.len));
        }
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
