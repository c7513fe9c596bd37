//! What a queue can be told.

use std::time::Duration;

use crate::directory::NO_QUEUE_FILES;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{DirectoryOptions, Options};
use crate::record::{MAX_FRAME_PAYLOAD_BYTES, frame_bytes};
use crate::retention::{Thresholds, check_range};
use crate::segment::placement::Placement;

/// Segments are whole pages of this size.
const PAGE_BYTES: u64 = 4096;

/// The largest segment: more are better than larger ones.
const MAX_SEGMENT_BYTES: u64 = 1 << 30;

/// The fewest segments and the fewest maps with which everything works.
const LEAST_SEGMENTS: u64 = 4;

/// The most segments: a row is two bytes.
const MOST_SEGMENTS: u64 = 1 << 24;

/// Every interval is at most a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What a push does when the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFull {
    /// Fails at once with [`ErrorKind::Full`].
    #[default]
    Refuse,
    /// Waits until readers commit, and fails with [`ErrorKind::Full`] after this time.
    Block(Duration),
    /// Drops the oldest segment with all its records, counts them, and tells the readers that
    /// still had to read them, by [`ErrorKind::Gone`].
    DropOldest,
}

/// When what was pushed is flushed to the device. After a kill everything is there in any case;
/// after a loss of power, what was flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDurability {
    /// When the system does it, and at [`Queue::flush`](crate::Queue::flush) and
    /// [`Queue::close`](crate::Queue::close).
    None,
    /// When one of the limits is passed since the last flush.
    Interval {
        /// Milliseconds, from 1 to a day.
        interval_ms: u64,
        /// Records, at least 1.
        records: u64,
    },
    /// A push returns once it is durable; those that wait at one time share a flush. Readers may
    /// see a record a moment before.
    Group,
    /// A push flushes alone, and readers see its records once they are durable.
    Each,
}

impl Default for QueueDurability {
    /// Every second or 10,000 records.
    fn default() -> Self {
        Self::Interval { interval_ms: 1000, records: 10_000 }
    }
}

/// How a queue is opened. Every field has a setter of its name.
///
/// ```
/// use spanlog::{OnFull, QueueOptions};
/// let options = QueueOptions::new().capacity_segments(64).on_full(OnFull::DropOldest);
/// options.validate()?;
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QueueOptions {
    /// The directories of segments. Default none: those the queue remembers, and for a new one
    /// `<root>/segments`.
    pub directories: Vec<DirectoryOptions>,
    /// Which directory takes the next new segment.
    pub placement: Placement,
    /// Length of every segment: whole pages of 4096 bytes, up to 1 GiB. A queue that exists keeps
    /// its own. Default 256 KiB.
    pub segment_len_bytes: u64,
    /// The most segment files there may be, from 4 to 2^24. Default 2000. It may be changed at any
    /// opening, but not to less than is in use.
    pub capacity_segments: u64,
    /// The most bytes of segment files; where it allows fewer segments than `capacity_segments`,
    /// it counts. Default 0: no such limit.
    pub capacity_bytes: u64,
    /// The longest record, in bytes. It may be longer than a segment; with its head it takes at
    /// most the capacity but for one segment. Default 4 MiB, or what fits.
    pub max_record_bytes: u64,
    /// The most segments that are mapped at a time, at least 4. Default 64: 16 MiB.
    pub max_in_memory_segments: u64,
    /// What a push does when the queue is full. Default: it fails.
    pub on_full: OnFull,
    /// When records are flushed. Default every second or 10,000 records.
    pub durability: QueueDurability,
    /// Marks of the disks, as of a store: above `force` a disk takes no new segment, above
    /// `refuse` pushes are refused.
    pub thresholds: Thresholds,
    /// Time between two looks at the disks, in milliseconds. Default 10,000, from 10 to a day.
    pub probe_interval_ms: u64,
    /// Whether a queue is made where there is none. Default true.
    pub create: bool,
    /// Whether threads prepare segments and flush. Default true; with false nobody does but the
    /// caller, by [`Queue::run`](crate::Queue::run).
    pub background: bool,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            placement: Placement::default(),
            segment_len_bytes: 256 << 10,
            capacity_segments: 2000,
            capacity_bytes: 0,
            max_record_bytes: 4 << 20,
            max_in_memory_segments: 64,
            on_full: OnFull::default(),
            durability: QueueDurability::default(),
            thresholds: Thresholds::default(),
            probe_interval_ms: 10_000,
            create: true,
            background: true,
        }
    }
}

/// Declares a chainable setter for each of these fields.
macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        impl QueueOptions {
            $(
                #[doc = concat!("Sets `", stringify!($name), "`: see the field.")]
                #[must_use]
                pub fn $name(mut self, value: $type) -> Self {
                    self.$name = value;
                    self
                }
            )*
        }
    };
}

setters! {
    placement: Placement,
    segment_len_bytes: u64,
    capacity_segments: u64,
    capacity_bytes: u64,
    max_record_bytes: u64,
    max_in_memory_segments: u64,
    on_full: OnFull,
    durability: QueueDurability,
    thresholds: Thresholds,
    probe_interval_ms: u64,
    create: bool,
    background: bool,
}

impl QueueOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory of segments: a path, or [`DirectoryOptions`].
    #[must_use]
    pub fn directory(mut self, directory: impl Into<DirectoryOptions>) -> Self {
        self.directories.push(directory.into());
        self
    }

    /// The segments that capacity in segments and in bytes allow.
    #[must_use]
    pub fn segments(&self) -> u64 {
        match self.capacity_bytes {
            0 => self.capacity_segments,
            bytes => self.capacity_segments.min(bytes / self.segment_len_bytes),
        }
    }

    /// The longest record that options and capacity allow, in bytes.
    #[must_use]
    pub(super) fn record_limit(&self) -> u64 {
        // One segment less: a record may begin in the middle of one.
        let room = (self.segments() - 1).saturating_mul(self.segment_len_bytes);
        let room = room.min(MAX_FRAME_PAYLOAD_BYTES + 1);
        self.max_record_bytes.min(room - frame_bytes(0))
    }

    /// Checks every limit. Opening a queue does it, so a caller need not.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`], naming the first option that is out of range, its value and what
    /// it may be.
    pub fn validate(&self) -> Result<()> {
        self.thresholds.validate()?;
        self.directories.iter().try_for_each(DirectoryOptions::validate)?;
        check_range("segment_len_bytes", self.segment_len_bytes, PAGE_BYTES..=MAX_SEGMENT_BYTES)?;
        if !self.segment_len_bytes.is_multiple_of(PAGE_BYTES) {
            let message = format!(
                "option segment_len_bytes is {}: it must be a multiple of {PAGE_BYTES}",
                self.segment_len_bytes
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let segments = LEAST_SEGMENTS..=MOST_SEGMENTS;
        check_range("capacity_segments", self.capacity_segments, segments.clone())?;
        if self.capacity_bytes > 0 {
            let least = LEAST_SEGMENTS * self.segment_len_bytes;
            check_range("capacity_bytes", self.capacity_bytes, least..=u64::MAX)?;
        }
        check_range(
            "max_in_memory_segments",
            self.max_in_memory_segments,
            LEAST_SEGMENTS..=60_000,
        )?;
        check_range("max_record_bytes", self.max_record_bytes, 1..=MAX_FRAME_PAYLOAD_BYTES)?;
        self.validate_intervals()
    }

    fn validate_intervals(&self) -> Result<()> {
        if let QueueDurability::Interval { interval_ms, records } = self.durability {
            check_range("durability.interval_ms", interval_ms, 1..=DAY_MS)?;
            check_range("durability.records", records, 1..=u64::MAX)?;
        }
        check_range("probe_interval_ms", self.probe_interval_ms, 10..=DAY_MS)
    }

    /// The options of a store, as far as its directories and their policy go.
    pub(super) fn of_directories(&self) -> Options {
        let mut options = Options::new()
            .placement(self.placement)
            .segment_len_bytes(self.segment_len_bytes)
            .queue_file_len_bytes(NO_QUEUE_FILES)
            .thresholds(self.thresholds)
            .create(self.create);
        options.directories.clone_from(&self.directories);
        options
    }
}
