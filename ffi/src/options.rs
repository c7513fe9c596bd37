//! Options as C gives them: zero is always the default.

use std::ffi::c_char;
use std::net::SocketAddr;

use engine::{
    DeleteHours, DirectoryOptions, Durability, OnDamage, Options, Placement, Quantifier, Result,
    Role, Thresholds,
};

use crate::guard::invalid;
use crate::input::{Sized, choice, path, sized, sized_or_none, text_or_none};

/// What a directory is for.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_role {
    /// What the store remembers; for a new directory SPANLOG_ROLE_READ_WRITE.
    Default = 0,
    /// Takes new segments.
    ReadWrite = 1,
    /// Takes no new segment; those it has are served, and leave by retention.
    Draining = 2,
    /// Nothing in it changes: a mount that cannot be written.
    ReadOnly = 3,
}

/// Which directory takes the next segment.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_placement {
    /// SPANLOG_PLACEMENT_ROCKETMQ.
    Default = 0,
    /// Each directory in turn, as RocketMQ does.
    Rocketmq = 1,
    /// In proportion to the free bytes, so that unequal disks fill together.
    FreeSpace = 2,
    /// By a hash: adding a directory changes few choices.
    Hash = 3,
}

/// When appended bytes are flushed to the device.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_durability {
    /// SPANLOG_DURABILITY_ASYNC.
    Default = 0,
    /// Appends return at once; a loss of power may cost what was not flushed yet.
    Async = 1,
    /// Appends return once they are flushed; those that wait at one time share a flush.
    Group = 2,
}

/// Of how many disks something must be true.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_quantifier {
    /// Each option says which it is.
    Default = 0,
    /// One is enough.
    Any = 1,
    /// Every one.
    All = 2,
}

/// What opening does about damage below what was flushed.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_on_damage {
    /// SPANLOG_ON_DAMAGE_REFUSE.
    Default = 0,
    /// Fails with SPANLOG_STATUS_CORRUPT.
    Refuse = 1,
    /// Serves both sides of the damage.
    Skip = 2,
    /// Ends the log before the damage: what lies behind it is lost.
    Cut = 3,
}

/// A choice of yes or no whose default is told beside it.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_switch {
    /// As told beside it.
    Default = 0,
    /// Yes.
    On = 1,
    /// No.
    Off = 2,
}

/// The marks of a disk, as used ratios from 0 to 1. 0 stands for the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_thresholds {
    /// sizeof(spanlog_thresholds).
    pub struct_size: usize,
    /// Above it segments past their age leave at once. Default 0.75, from 0.10 to 0.95.
    pub clean: f64,
    /// Above it the directory takes no new segment while another can; when all are above it,
    /// segments are dropped regardless of age. Default 0.85, from 0.30 to 0.85.
    pub force: f64,
    /// Above it the directory takes no new segment at all; when all are above it, appends are
    /// refused. Default 0.90, from 0.35 to 0.90.
    pub refuse: f64,
    /// How far usage must fall below a mark to end it. Default 0.01, up to 0.05; a negative number
    /// stands for none.
    pub hysteresis: f64,
    /// Free bytes to keep: with fewer the directory counts as above `force`. Default none.
    pub floor_bytes: u64,
}

// SAFETY: numbers of 8 bytes.
unsafe impl Sized for spanlog_thresholds {
    const NAME: &'static str = "spanlog_thresholds";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// A directory of segments.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_directory_options {
    /// sizeof(spanlog_directory_options).
    pub struct_size: usize,
    /// Where it is, in the system's bytes.
    pub path: *const c_char,
    /// Its own marks; NULL for the store's.
    pub thresholds: *const spanlog_thresholds,
    /// A spanlog_role.
    pub role: i32,
    /// Must be 0.
    pub reserved: i32,
}

// SAFETY: numbers and pointers; `reserved` stands where padding would be.
unsafe impl Sized for spanlog_directory_options {
    const NAME: &'static str = "spanlog_directory_options";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// How a store is opened and run. Begin with SPANLOG_OPTIONS_INIT: every field that is 0 or NULL
/// stands for its default, and SPANLOG_ZERO stands for the number 0 where that is something else.
/// Values out of range are refused, never clamped.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_options {
    /// sizeof(spanlog_options).
    pub struct_size: usize,
    /// The directories of segments; NULL for those that the store remembers, or for a new store
    /// "commitlog" under its root.
    pub directories: *const spanlog_directory_options,
    /// How many there are.
    pub directory_count: usize,
    /// The marks where a directory has none of its own; NULL for 75, 85 and 90 %.
    pub thresholds: *const spanlog_thresholds,
    /// Hours of the day, local time, in which expired segments are dropped without pressure:
    /// "4;16", or "never". NULL for "4".
    pub delete_hours: *const c_char,
    /// The address that goes into records as the one that stored them, "ip:port"; NULL for
    /// "127.0.0.1:10911".
    pub store_host: *const c_char,
    /// Length of a segment file of a store that has none yet. Default 1 GiB, from 4096 to 2^31-1.
    pub segment_len_bytes: u64,
    /// Length of a queue file: a multiple of 20. Default 6,000,000, from 20 to 2^31-1.
    pub queue_file_len_bytes: u64,
    /// With asynchronous durability, ms between two flushes. Default 500, up to a day.
    pub flush_interval_ms: u64,
    /// With asynchronous durability, bytes between two flushes. Default 16 MiB.
    pub flush_bytes: u64,
    /// How long a segment is kept after its last record, in ms. Default 72 h; SPANLOG_ZERO keeps
    /// none but the last.
    pub retention_ms: u64,
    /// Pause between two files that cleaning removes, in ms. Default 100, up to a minute;
    /// SPANLOG_ZERO for none.
    pub clean_pause_ms: u64,
    /// Time between two looks at the disks, in ms. Default 10,000, from 10 to a day.
    pub probe_interval_ms: u64,
    /// Time between two rounds of cleaning, in ms. Default 10,000, from 10 to a day.
    pub clean_interval_ms: u64,
    /// Time between two checkpoints, in ms. Default 1000, from 10 to a day.
    pub checkpoint_interval_ms: u64,
    /// The largest body, in bytes. Default 4 MiB, up to 2^31-1.
    pub max_body_bytes: u64,
    /// How many bytes ahead of the writer pages are made ready. Default 64 MiB; SPANLOG_ZERO for
    /// none.
    pub prepare_bytes: u64,
    /// How many files are mapped or open at most. Default 1024, from 4 to 60,000.
    pub max_maps: u64,
    /// How many segments that are not expired one round of cleaning may drop. Default 10.
    pub max_forced_per_round: u32,
    /// A spanlog_placement.
    pub placement: i32,
    /// A spanlog_durability.
    pub durability: i32,
    /// Of how many disks usage must be above `clean`: a spanlog_quantifier, any by default.
    pub clean_on: i32,
    /// Of how many writable disks usage must be above `force`: all by default.
    pub force_on: i32,
    /// Of how many writable disks usage must be above `refuse`: all by default.
    pub refuse_on: i32,
    /// A spanlog_on_damage.
    pub on_damage: i32,
    /// Whether segments that are not expired are dropped when disks are full: a spanlog_switch, on
    /// by default.
    pub forced_clean: i32,
    /// Whether reads, too, are refused while the disks are full. Off by default.
    pub refuse_reads_when_full: i32,
    /// Whether each record carries a checksum over all of it. On by default.
    pub record_checksum: i32,
    /// Whether a store opens without directories that are not there. Off by default.
    pub allow_offline: i32,
    /// Whether a root that lost its registry takes over the directories named. Off by default.
    pub adopt: i32,
    /// Whether the store is opened for reading alone. Off by default.
    pub read_only: i32,
    /// Whether a store that does not exist is created. On by default.
    pub create: i32,
    /// Whether threads run the store's steps. On by default; with off nobody runs them but
    /// spanlog_store_run().
    pub background: i32,
    /// Whether messages can be looked up by key without reading the log. On by default; with off
    /// no index is written, and looking up reads the log.
    pub key_index: i32,
    /// Number of slots in an index file. Default 5,000,000 with segments of 1 GiB, fewer with
    /// shorter ones, and in a store that has an index what that has; another number builds it anew.
    pub index_slots: u32,
    /// Number of entries in an index file, likewise. Default 20,000,000 with segments of 1 GiB.
    pub index_entries: u32,
}

// SAFETY: numbers and pointers, without padding.
unsafe impl Sized for spanlog_options {
    const NAME: &'static str = "spanlog_options";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// A number where 0 stands for the default: what SPANLOG_ZERO stands for.
pub const ZERO: u64 = u64::MAX;

pub const ROLES: [(i32, Role); 3] = [
    (spanlog_role::ReadWrite as i32, Role::ReadWrite),
    (spanlog_role::Draining as i32, Role::Draining),
    (spanlog_role::ReadOnly as i32, Role::ReadOnly),
];

pub const PLACEMENTS: [(i32, Placement); 3] = [
    (spanlog_placement::Rocketmq as i32, Placement::Rocketmq),
    (spanlog_placement::FreeSpace as i32, Placement::FreeSpace),
    (spanlog_placement::Hash as i32, Placement::Hash),
];

const QUANTIFIERS: [(i32, Quantifier); 2] = [
    (spanlog_quantifier::Any as i32, Quantifier::Any),
    (spanlog_quantifier::All as i32, Quantifier::All),
];

const ON_DAMAGE: [(i32, OnDamage); 3] = [
    (spanlog_on_damage::Refuse as i32, OnDamage::Refuse),
    (spanlog_on_damage::Skip as i32, OnDamage::Skip),
    (spanlog_on_damage::Cut as i32, OnDamage::Cut),
];

pub const SWITCHES: [(i32, bool); 2] =
    [(spanlog_switch::On as i32, true), (spanlog_switch::Off as i32, false)];

/// Puts what was chosen in place of a default.
pub fn choose<T: Copy>(field: &mut T, given: i32, name: &str, choices: &[(i32, T)]) -> Result<()> {
    if let Some(value) = choice(given, name, choices)? {
        *field = value;
    }
    Ok(())
}

/// Puts a number in place of a default.
pub fn count(field: &mut u64, given: u64) {
    match given {
        0 => {}
        ZERO => *field = 0,
        given => *field = given,
    }
}

/// Options as the engine takes them.
///
/// # Safety
/// `given` is NULL or a structure whose pointers are NULL or lead to what they say.
pub unsafe fn options(given: *const spanlog_options) -> Result<Options> {
    let mut options = Options::new();
    // SAFETY: the caller promises it.
    let Some(given) = (unsafe { sized_or_none(given) })? else { return Ok(options) };
    let given = given.as_ref();
    // SAFETY: the caller promises it.
    options.directories = unsafe { directories(given.directories, given.directory_count) }?;
    // SAFETY: as above.
    if let Some(marks) = unsafe { thresholds(given.thresholds) }? {
        options.thresholds = marks;
    }
    // SAFETY: as above.
    if let Some(hours) = unsafe { text_or_none(given.delete_hours, "delete_hours") }? {
        options.delete_hours = hours.parse::<DeleteHours>()?;
    }
    // SAFETY: as above.
    if let Some(host) = unsafe { host(given.store_host, "store_host") }? {
        options.store_host = host;
    }
    set_numbers(&mut options, given)?;
    set_choices(&mut options, given)?;
    Ok(options)
}

/// Directories.
///
/// # Safety
/// `first` is NULL or the first of so many, all as long as it says.
pub unsafe fn directories(
    first: *const spanlog_directory_options,
    count: usize,
) -> Result<Vec<DirectoryOptions>> {
    if first.is_null() && count > 0 {
        return Err(invalid("directories is NULL, although it has elements"));
    }
    let mut directories = Vec::new();
    for at in 0..count {
        // SAFETY: the caller promises that there are so many.
        let row = unsafe { element(first, at) }?;
        // SAFETY: as above.
        directories.push(unsafe { directory(row) }?);
    }
    Ok(directories)
}

/// An element of an array whose elements say how long they are; all are as long as the first.
///
/// # Safety
/// The array is not NULL and has that element.
pub unsafe fn element<T: Sized>(first: *const T, at: usize) -> Result<*const T> {
    // SAFETY: the caller promises it.
    let stride = unsafe { crate::input::size_of_given(first) }?;
    // SAFETY: the array has that element.
    Ok(unsafe { first.byte_add(stride * at) })
}

/// What later releases may give a meaning is refused until then.
pub fn check_reserved(name: &str, reserved: i32) -> Result<()> {
    match reserved {
        0 => Ok(()),
        _ => Err(invalid(format!("{name}.reserved is {reserved}: it must be 0"))),
    }
}

fn set_numbers(options: &mut Options, given: &spanlog_options) -> Result<()> {
    count(&mut options.segment_len_bytes, given.segment_len_bytes);
    count(&mut options.queue_file_len_bytes, given.queue_file_len_bytes);
    count(&mut options.retention_ms, given.retention_ms);
    count(&mut options.clean_pause_ms, given.clean_pause_ms);
    count(&mut options.probe_interval_ms, given.probe_interval_ms);
    count(&mut options.clean_interval_ms, given.clean_interval_ms);
    count(&mut options.checkpoint_interval_ms, given.checkpoint_interval_ms);
    count(&mut options.max_body_bytes, given.max_body_bytes);
    count(&mut options.prepare_bytes, given.prepare_bytes);
    let mut max_maps = options.max_maps as u64;
    count(&mut max_maps, given.max_maps);
    options.max_maps = usize::try_from(max_maps).unwrap_or(usize::MAX);
    if given.max_forced_per_round != 0 {
        options.max_forced_per_round = given.max_forced_per_round;
    }
    let some = |given: u32| (given != 0).then_some(given);
    options.index_slots = some(given.index_slots);
    options.index_entries = some(given.index_entries);
    options.durability = durability(given)?;
    Ok(())
}

fn durability(given: &spanlog_options) -> Result<Durability> {
    let Durability::Async { mut interval_ms, mut bytes } = Durability::default() else {
        unreachable!("the default is asynchronous");
    };
    count(&mut interval_ms, given.flush_interval_ms);
    count(&mut bytes, given.flush_bytes);
    let choices = [
        (spanlog_durability::Async as i32, Durability::Async { interval_ms, bytes }),
        (spanlog_durability::Group as i32, Durability::Group),
    ];
    let chosen = choice(given.durability, "durability", &choices)?;
    Ok(chosen.unwrap_or(Durability::Async { interval_ms, bytes }))
}

fn set_choices(options: &mut Options, given: &spanlog_options) -> Result<()> {
    choose(&mut options.placement, given.placement, "placement", &PLACEMENTS)?;
    choose(&mut options.on_damage, given.on_damage, "on_damage", &ON_DAMAGE)?;
    choose(&mut options.clean_on, given.clean_on, "clean_on", &QUANTIFIERS)?;
    choose(&mut options.force_on, given.force_on, "force_on", &QUANTIFIERS)?;
    choose(&mut options.refuse_on, given.refuse_on, "refuse_on", &QUANTIFIERS)?;
    let switches = [
        (&mut options.forced_clean, given.forced_clean, "forced_clean"),
        (
            &mut options.refuse_reads_when_full,
            given.refuse_reads_when_full,
            "refuse_reads_when_full",
        ),
        (&mut options.record_checksum, given.record_checksum, "record_checksum"),
        (&mut options.allow_offline, given.allow_offline, "allow_offline"),
        (&mut options.adopt, given.adopt, "adopt"),
        (&mut options.read_only, given.read_only, "read_only"),
        (&mut options.create, given.create, "create"),
        (&mut options.background, given.background, "background"),
        (&mut options.key_index, given.key_index, "key_index"),
    ];
    let mut switches = switches.into_iter();
    switches.try_for_each(|(field, given, name)| choose(field, given, name, &SWITCHES))
}

/// An address, if one is given.
///
/// # Safety
/// As [`text_or_none`].
pub unsafe fn host(given: *const c_char, name: &str) -> Result<Option<SocketAddr>> {
    // SAFETY: the caller promises it.
    let Some(text) = (unsafe { text_or_none(given, name) })? else { return Ok(None) };
    let wrong = |_| invalid(format!("{name} is {text:?}: it must be an IP address and a port"));
    text.parse().map(Some).map_err(wrong)
}

/// Marks, if any are given.
///
/// # Safety
/// `given` is NULL or as much of it can be read as it says.
pub unsafe fn thresholds(given: *const spanlog_thresholds) -> Result<Option<Thresholds>> {
    // SAFETY: the caller promises it.
    let Some(given) = (unsafe { sized_or_none(given) })? else { return Ok(None) };
    let default = Thresholds::default();
    let ratio = |given: f64, default| if given == 0.0 { default } else { given };
    let hysteresis = ratio(given.hysteresis, default.hysteresis);
    Ok(Some(Thresholds {
        clean: ratio(given.clean, default.clean),
        force: ratio(given.force, default.force),
        refuse: ratio(given.refuse, default.refuse),
        hysteresis: if hysteresis < 0.0 { 0.0 } else { hysteresis },
        floor_bytes: given.floor_bytes,
    }))
}

/// A directory.
///
/// # Safety
/// `given` is NULL or a structure whose pointers are NULL or lead to what they say.
pub unsafe fn directory(given: *const spanlog_directory_options) -> Result<DirectoryOptions> {
    // SAFETY: the caller promises it.
    let given = unsafe { sized(given) }?;
    check_reserved(spanlog_directory_options::NAME, given.reserved)?;
    // SAFETY: as above.
    let mut directory = DirectoryOptions::new(unsafe { path(given.path, "a directory's path") }?);
    directory.role = choice(given.role, "role", &ROLES)?;
    // SAFETY: as above.
    directory.thresholds = unsafe { thresholds(given.thresholds) }?;
    Ok(directory)
}
