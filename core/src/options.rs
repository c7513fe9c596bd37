//! All configuration there is: options with checked limits. No environment, no statics.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, ops};

use crate::error::{Error, ErrorKind, Result};
use crate::retention::{DeleteHours, Policy, Quantifier, Role, Thresholds, check_range};
use crate::segment::placement::Placement;

/// Bytes of one unit of a queue file (`FORMAT.md`, consume queues).
const QUEUE_UNIT_BYTES: u64 = 20;

/// RocketMQ counts bytes of a file in a signed 32-bit number.
const LARGEST_FILE_BYTES: u64 = i32::MAX.unsigned_abs() as u64;

/// Every interval is at most a day: more is a misread unit.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A directory of segments.
///
/// ```
/// use spanlog::{DirectoryOptions, Role};
/// let old = DirectoryOptions::new("/mnt/old").role(Role::Draining);
/// assert_eq!(old.role, Some(Role::Draining));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DirectoryOptions {
    /// Where it is. Relative paths, links and trailing slashes do not matter.
    pub path: PathBuf,
    /// What it is for. Default nothing: what the store remembers, and [`Role::ReadWrite`] for a
    /// new directory.
    pub role: Option<Role>,
    /// Its own marks. Default nothing: the store's.
    pub thresholds: Option<Thresholds>,
}

impl DirectoryOptions {
    /// A directory with the role it had and the store's marks.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), role: None, thresholds: None }
    }

    /// Sets what it is for.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Gives it marks of its own.
    #[must_use]
    pub fn thresholds(mut self, thresholds: Thresholds) -> Self {
        self.thresholds = Some(thresholds);
        self
    }

    /// The marks are in range and the path is one.
    pub(crate) fn validate(&self) -> Result<()> {
        if self.path.as_os_str().is_empty() {
            return Err(Error::new(ErrorKind::Invalid, "a directory's path is empty"));
        }
        let own = self.thresholds.as_ref().map_or(Ok(()), Thresholds::validate);
        own.map_err(|error| error.at(&self.path))
    }
}

impl<P: AsRef<Path>> From<P> for DirectoryOptions {
    fn from(path: P) -> Self {
        Self::new(path.as_ref())
    }
}

/// When appended bytes are flushed to the device. `append_durable` waits for its own in any case.
///
/// ```
/// use spanlog::Durability;
/// let group = Durability::Group;
/// assert_ne!(group, Durability::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Appends return at once; a flush starts when one of the limits is passed. A power cut may
    /// cost what was not flushed, the death of the process nothing.
    Async {
        /// Milliseconds since the last flush, from 1 to a day. Default 500, as RocketMQ.
        interval_ms: u64,
        /// Bytes appended since the last flush, at least 1. Default 16 MiB.
        bytes: u64,
    },
    /// Appends return once they are flushed; those that wait at one time share one flush.
    Group,
}

impl Default for Durability {
    fn default() -> Self {
        Self::Async { interval_ms: 500, bytes: 16 << 20 }
    }
}

/// What opening does about damage below what was known to be flushed.
///
/// ```
/// use spanlog::OnDamage;
/// assert_eq!("skip".parse::<OnDamage>()?, OnDamage::Skip);
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnDamage {
    /// Fails with [`ErrorKind::Corrupt`], naming path and position.
    #[default]
    Refuse,
    /// Serves both sides of the damage; reads of the range itself fail.
    Skip,
    /// Ends the log before the damage, as RocketMQ does: what lies behind it is lost.
    Cut,
}

impl OnDamage {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Refuse, Self::Skip, Self::Cut];

    /// The name in configurations and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Skip => "skip",
            Self::Cut => "cut",
        }
    }
}

impl fmt::Display for OnDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OnDamage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|choice| choice.name() == text) {
            Some(choice) => Ok(choice),
            None => {
                let message = format!("on_damage is {text:?}: it must be refuse, skip or cut");
                Err(Error::new(ErrorKind::Invalid, message))
            }
        }
    }
}

/// How a store is opened and run. Every option has a default; values out of range are refused at
/// open, never clamped. A plain value: it touches nothing until a store is opened with it.
///
/// ```
/// use spanlog::{Options, Placement};
/// let options = Options::new()
///     .directory("/mnt/a/log")
///     .directory("/mnt/b/log")
///     .placement(Placement::FreeSpace)
///     .retention_ms(24 * 60 * 60 * 1000);
/// assert!(options.validate().is_ok());
/// assert!(options.segment_len_bytes(100).validate().is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The directories of segments. Default none: those that the store remembers, or for a new
    /// store `commitlog` under its root.
    pub directories: Vec<DirectoryOptions>,
    /// Which directory takes the next segment. Default [`Placement::Rocketmq`].
    pub placement: Placement,
    /// Length of a segment file of a store that has none yet, in bytes: an existing store keeps
    /// its own. Default 1 GiB, from 4096 to 2^31 - 1.
    pub segment_len_bytes: u64,
    /// Length of a queue file, in bytes: a multiple of 20. Default 6,000,000, from 20 to
    /// 2^31 - 1.
    pub queue_file_len_bytes: u64,
    /// Whether messages can be looked up by key without reading the log: RocketMQ's index files.
    /// Default true; with false none is written, and looking up reads the log.
    pub key_index: bool,
    /// Number of slots in an index file of a store that has none yet. Default nothing: 5,000,000
    /// with segments of 1 GiB, as RocketMQ, and fewer with shorter ones; what a store has is kept
    /// then. Another number builds the index anew.
    pub index_slots: Option<u32>,
    /// Number of entries in an index file, likewise. Default nothing: 20,000,000 with segments of
    /// 1 GiB.
    pub index_entries: Option<u32>,
    /// When appended bytes are flushed. Default asynchronous, every 500 ms or 16 MiB.
    pub durability: Durability,
    /// The marks of disks, where a directory has none of its own. Default 75, 85 and 90 %.
    pub thresholds: Thresholds,
    /// Of how many disks usage must be above `clean`. Default any.
    pub clean_on: Quantifier,
    /// Of how many writable disks usage must be above `force`. Default all.
    pub force_on: Quantifier,
    /// Of how many writable disks usage must be above `refuse`. Default all.
    pub refuse_on: Quantifier,
    /// How long a segment is kept after its last record was stored, in milliseconds. Default
    /// 72 h; 0 keeps none but the last; at most 2^63 - 1.
    pub retention_ms: u64,
    /// Hours of the day, in local time, in which expired segments are dropped without any
    /// pressure. Default 4.
    pub delete_hours: DeleteHours,
    /// Whether segments that are not expired are dropped when disks are full. Default true; with
    /// false appends are refused instead.
    pub forced_clean: bool,
    /// How many segments that are not expired may be dropped in one round. Default 10, from 1.
    pub max_forced_per_round: u32,
    /// Pause between two files that cleaning removes, in milliseconds. Default 100, up to a
    /// minute.
    pub clean_pause_ms: u64,
    /// Time between two looks at the disks, in milliseconds; a tenth of it near a mark. Default
    /// 10,000, from 10 to a day.
    pub probe_interval_ms: u64,
    /// Time between two rounds of cleaning, in milliseconds. Default 10,000, from 10 to a day.
    pub clean_interval_ms: u64,
    /// Whether reads, too, are refused while appends are refused for lack of space. Default
    /// false.
    pub refuse_reads_when_full: bool,
    /// Whether each record carries a checksum over all of it. Default true.
    pub record_checksum: bool,
    /// The largest body, in bytes. Default 4 MiB, from 1 to 2^31 - 1. What does not fit a
    /// segment is refused whatever this says.
    pub max_body_bytes: u64,
    /// The address that goes into records and message ids as the one that stored them. Default
    /// 127.0.0.1:10911.
    pub store_host: SocketAddr,
    /// How many files are mapped or open at most. Default 1024, from 4 to 60,000: the kernel's
    /// limit is 65,530 maps for the whole process.
    pub max_maps: usize,
    /// What to do about damage. Default [`OnDamage::Refuse`].
    pub on_damage: OnDamage,
    /// Whether a store opens without directories that are not there; their ranges read as
    /// offline. Default false.
    pub allow_offline: bool,
    /// Whether a root whose registry is lost or damaged takes over the directories that are
    /// named, from the one store that their labels name. Default false: they are another store's.
    pub adopt: bool,
    /// Whether the store is opened for reading alone: nothing on disk changes and no free byte
    /// is needed; `create` is ignored. Default false.
    pub read_only: bool,
    /// Whether a store that does not exist is created. Default true.
    pub create: bool,
    /// Time between two checkpoints, in milliseconds. Default 1000, from 10 to a day.
    pub checkpoint_interval_ms: u64,
    /// How many bytes ahead of the writer pages are made ready. Default 64 MiB, up to
    /// 2^31 - 1; 0 makes none ready.
    pub prepare_bytes: u64,
    /// Whether threads run the store's steps. Default true; with false nobody runs them but the
    /// caller.
    pub background: bool,
}

impl Default for Options {
    fn default() -> Self {
        let policy = Policy::default();
        Self {
            directories: Vec::new(),
            placement: Placement::default(),
            segment_len_bytes: 1 << 30,
            queue_file_len_bytes: 300_000 * QUEUE_UNIT_BYTES,
            key_index: true,
            index_slots: None,
            index_entries: None,
            durability: Durability::default(),
            thresholds: Thresholds::default(),
            clean_on: policy.clean_on,
            force_on: policy.force_on,
            refuse_on: policy.refuse_on,
            retention_ms: policy.retention_ms,
            delete_hours: policy.delete_hours,
            forced_clean: policy.forced_clean,
            max_forced_per_round: policy.max_forced_per_round,
            clean_pause_ms: 100,
            probe_interval_ms: 10_000,
            clean_interval_ms: 10_000,
            refuse_reads_when_full: false,
            record_checksum: true,
            max_body_bytes: 4 << 20,
            store_host: SocketAddr::from((Ipv4Addr::LOCALHOST, 10911)),
            max_maps: 1024,
            on_damage: OnDamage::default(),
            allow_offline: false,
            adopt: false,
            read_only: false,
            create: true,
            checkpoint_interval_ms: 1000,
            prepare_bytes: 64 << 20,
            background: true,
        }
    }
}

/// Declares a chainable setter for each of these fields.
macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        impl Options {
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
    queue_file_len_bytes: u64,
    key_index: bool,
    index_slots: Option<u32>,
    index_entries: Option<u32>,
    durability: Durability,
    thresholds: Thresholds,
    clean_on: Quantifier,
    force_on: Quantifier,
    refuse_on: Quantifier,
    retention_ms: u64,
    delete_hours: DeleteHours,
    forced_clean: bool,
    max_forced_per_round: u32,
    clean_pause_ms: u64,
    probe_interval_ms: u64,
    clean_interval_ms: u64,
    refuse_reads_when_full: bool,
    record_checksum: bool,
    max_body_bytes: u64,
    store_host: SocketAddr,
    max_maps: usize,
    on_damage: OnDamage,
    allow_offline: bool,
    adopt: bool,
    read_only: bool,
    create: bool,
    checkpoint_interval_ms: u64,
    prepare_bytes: u64,
    background: bool,
}

impl Options {
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

    /// Checks every limit. Opening a store does it, so a caller need not. That directories exist
    /// and are not one and the same is found at open.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`], naming the first option that is out of range, its value and what
    /// it may be.
    pub fn validate(&self) -> Result<()> {
        self.thresholds.validate()?;
        self.directories.iter().try_for_each(DirectoryOptions::validate)?;
        self.validate_lengths()?;
        self.validate_intervals()?;
        check_range("retention_ms", self.retention_ms, 0..=i64::MAX.unsigned_abs())?;
        check_range("max_forced_per_round", self.max_forced_per_round, 1..=u32::MAX)?;
        check_range("max_maps", self.max_maps, 4..=60_000)
    }

    /// Lengths in bytes.
    fn validate_lengths(&self) -> Result<()> {
        let file = |least: u64| -> ops::RangeInclusive<u64> { least..=LARGEST_FILE_BYTES };
        check_range("segment_len_bytes", self.segment_len_bytes, file(4096))?;
        check_range("queue_file_len_bytes", self.queue_file_len_bytes, file(QUEUE_UNIT_BYTES))?;
        check_range("max_body_bytes", self.max_body_bytes, file(1))?;
        check_range("prepare_bytes", self.prepare_bytes, file(0))?;
        let most = LARGEST_FILE_BYTES as u32;
        check_range("index_slots", self.index_slots.unwrap_or(1), 1..=most / 4 - 100)?;
        check_range("index_entries", self.index_entries.unwrap_or(2), 2..=most / 20 - 100)?;
        if self.queue_file_len_bytes.is_multiple_of(QUEUE_UNIT_BYTES) {
            return Ok(());
        }
        let message = format!(
            "option queue_file_len_bytes is {}: it must be a multiple of {QUEUE_UNIT_BYTES}",
            self.queue_file_len_bytes
        );
        Err(Error::new(ErrorKind::Invalid, message))
    }

    /// Intervals in milliseconds.
    fn validate_intervals(&self) -> Result<()> {
        if let Durability::Async { interval_ms, bytes } = self.durability {
            check_range("durability.interval_ms", interval_ms, 1..=DAY_MS)?;
            check_range("durability.bytes", bytes, 1..=i64::MAX.unsigned_abs())?;
        }
        check_range("clean_pause_ms", self.clean_pause_ms, 0..=60_000)?;
        check_range("probe_interval_ms", self.probe_interval_ms, 10..=DAY_MS)?;
        check_range("clean_interval_ms", self.clean_interval_ms, 10..=DAY_MS)?;
        check_range("checkpoint_interval_ms", self.checkpoint_interval_ms, 10..=DAY_MS)
    }

    /// What retention needs of the options.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            clean_on: self.clean_on,
            force_on: self.force_on,
            refuse_on: self.refuse_on,
            retention_ms: self.retention_ms,
            delete_hours: self.delete_hours,
            forced_clean: self.forced_clean,
            max_forced_per_round: self.max_forced_per_round,
        }
    }

    /// The marks of a directory: its own, or the store's.
    #[must_use]
    pub fn thresholds_of(&self, directory: &DirectoryOptions) -> Thresholds {
        directory.thresholds.unwrap_or(self.thresholds)
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
