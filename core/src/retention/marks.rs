//! How full a disk is, and which of its marks that passes.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;

use crate::error::{Error, ErrorKind, Result};

/// The space of one disk as `df` counts it: what only the administrator may use is neither used
/// nor available. A usage always has a ratio: a file system that reports nothing has no usage.
///
/// ```
/// use spanlog::retention::Usage;
/// let usage = Usage::new(220, 20).unwrap();
/// assert_eq!(format!("{:.3}", usage.used_ratio()), "0.917");
/// assert_eq!(Usage::new(0, 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    used_bytes: u64,
    available_bytes: u64,
}

impl Usage {
    /// The usage, or nothing if both figures are 0: then it is not known (special file systems
    /// report that).
    #[must_use]
    pub fn new(used_bytes: u64, available_bytes: u64) -> Option<Self> {
        (used_bytes > 0 || available_bytes > 0).then_some(Self { used_bytes, available_bytes })
    }

    /// Used / (used + available): 0 to 1, never NaN, not rounded.
    #[must_use]
    pub fn used_ratio(self) -> f64 {
        (self.used_bytes as f64 / self.total() as f64).clamp(0.0, 1.0)
    }

    /// Bytes in use.
    #[must_use]
    pub fn used_bytes(self) -> u64 {
        self.used_bytes
    }

    /// Bytes this process could still write.
    #[must_use]
    pub fn available_bytes(self) -> u64 {
        self.available_bytes
    }

    /// The usage once `bytes` of it are given back.
    #[must_use]
    pub fn freed(self, bytes: u64) -> Self {
        let bytes = bytes.min(self.used_bytes);
        Self {
            used_bytes: self.used_bytes - bytes,
            available_bytes: self.available_bytes.saturating_add(bytes),
        }
    }

    /// Two file systems can report 64 bits each.
    fn total(self) -> u128 {
        u128::from(self.used_bytes) + u128::from(self.available_bytes)
    }
}

/// The marks of one directory, as used ratios. All three are level-triggered.
///
/// **At equality:** usage is *above* a mark when it is strictly greater; a disk filled to exactly
/// 90 % is not above 0.90. Free bytes are below the floor when there are strictly fewer.
///
/// **Hysteresis:** a mark once passed stays in force until usage is *at or below* mark minus
/// hysteresis (and free bytes are at or above the floor plus the same share of the disk), so that
/// a usage that hovers around a mark does not turn a state on and off.
///
/// ```
/// use spanlog::Thresholds;
/// let thresholds = Thresholds { refuse: 0.88, ..Thresholds::default() };
/// assert!(thresholds.validate().is_ok());
/// assert!(Thresholds { refuse: 0.99, ..thresholds }.validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Above it the oldest segments past their age leave the log at once, not only in the hour
    /// of deletion. Default 0.75, from 0.10 to 0.95, at most `force`.
    pub clean: f64,
    /// Above it the directory takes no new segment while another can; when all are above it,
    /// segments are dropped regardless of age. Default 0.85, from 0.30 to 0.85.
    pub force: f64,
    /// Above it the directory takes no new segment at all; when all are above it, appends are
    /// refused. Default 0.90, from 0.35 to 0.90, at least `force`.
    pub refuse: f64,
    /// Free bytes to keep: with fewer the directory counts as above `force`. Default 0: none.
    pub floor_bytes: u64,
    /// How far below a mark usage must fall before the mark is no longer in force. Default 0.01
    /// (one percentage point), from 0 to 0.05.
    pub hysteresis: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { clean: 0.75, force: 0.85, refuse: 0.90, floor_bytes: 0, hysteresis: 0.01 }
    }
}

/// What rounding may add to a mark minus the hysteresis.
const ROUNDING: f64 = 1e-12;

impl Thresholds {
    /// Checks ranges and order. Nothing is clamped.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`], naming the option, its value and what it may be.
    pub fn validate(&self) -> Result<()> {
        check_range("clean", self.clean, 0.10..=0.95)?;
        check_range("force", self.force, 0.30..=0.85)?;
        check_range("refuse", self.refuse, 0.35..=0.90)?;
        check_range("hysteresis", self.hysteresis, 0.0..=0.05)?;
        check_order(("clean", self.clean), ("force", self.force))?;
        check_order(("force", self.force), ("refuse", self.refuse))
    }

    /// The used ratio above which `pressure` begins: 0 for [`Pressure::None`].
    #[must_use]
    pub fn mark(&self, pressure: Pressure) -> f64 {
        match pressure {
            Pressure::None => 0.0,
            Pressure::Clean => self.clean,
            Pressure::Force => self.force,
            Pressure::Refuse => self.refuse,
        }
    }

    /// The used ratio at which `pressure` ends once it began.
    #[must_use]
    pub fn release(&self, pressure: Pressure) -> f64 {
        (self.mark(pressure) - self.hysteresis).max(0.0)
    }

    /// The stricter of two directories' limits, each for itself: for those that share a disk.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        Self {
            clean: self.clean.min(other.clean),
            force: self.force.min(other.force),
            refuse: self.refuse.min(other.refuse),
            floor_bytes: self.floor_bytes.max(other.floor_bytes),
            hysteresis: self.hysteresis.max(other.hysteresis),
        }
    }

    /// Whether `usage` passes the mark of `pressure` from below.
    fn begins(&self, pressure: Pressure, usage: Usage) -> bool {
        let below_floor = usage.available_bytes() < self.floor_bytes;
        usage.used_ratio() > self.mark(pressure) || (below_floor && pressure <= Pressure::Force)
    }

    /// Whether `pressure` goes on at `usage` once it began.
    fn lasts(&self, pressure: Pressure, usage: Usage) -> bool {
        let margin = self.hysteresis * usage.total() as f64;
        let floor_bytes = self.floor_bytes as f64 + margin;
        let below_floor = (usage.available_bytes() as f64) < floor_bytes;
        usage.used_ratio() > self.release(pressure) + ROUNDING
            || (below_floor && pressure <= Pressure::Force)
    }
}

/// The highest mark that is in force on a disk. Each includes those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pressure {
    /// Below all marks, or the usage is not known.
    #[default]
    None,
    /// Expired segments leave at once.
    Clean,
    /// No new segment goes here while another directory can take it.
    Force,
    /// No new segment goes here.
    Refuse,
}

impl Pressure {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Clean => "clean",
            Self::Force => "force",
            Self::Refuse => "refuse",
        }
    }
}

impl Display for Pressure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The pressure on a disk, from what it was at the probe before and what the disk reports now.
/// An unknown usage triggers nothing: it is [`Pressure::None`], and [`Verdict::unknown`] tells.
///
/// [`Verdict::unknown`]: crate::retention::Verdict::unknown
#[must_use]
pub fn pressure(previous: Pressure, usage: Option<Usage>, thresholds: &Thresholds) -> Pressure {
    let Some(usage) = usage else { return Pressure::None };
    let in_force = |&mark: &Pressure| {
        thresholds.begins(mark, usage) || (previous >= mark && thresholds.lasts(mark, usage))
    };
    [Pressure::Refuse, Pressure::Force, Pressure::Clean]
        .into_iter()
        .find(in_force)
        .unwrap_or_default()
}

/// Refuses a `value` outside of `range`; NaN is outside of every range.
pub(crate) fn check_range<T>(option: &str, value: T, range: RangeInclusive<T>) -> Result<()>
where
    T: PartialOrd + Display,
{
    if range.contains(&value) {
        return Ok(());
    }
    let (low, high) = range.into_inner();
    let message = format!("option {option} is {value}: it must be from {low} to {high}");
    Err(Error::new(ErrorKind::Invalid, message))
}

/// Refuses two marks in the wrong order; equal ones are fine.
fn check_order(lower: (&str, f64), upper: (&str, f64)) -> Result<()> {
    if lower.1 <= upper.1 {
        return Ok(());
    }
    let message = format!(
        "option {} is {}: it must be at most {}, which is {}",
        lower.0, lower.1, upper.0, upper.1
    );
    Err(Error::new(ErrorKind::Invalid, message))
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
