//! How a queue is opened, as C gives it.

use engine::{OnFull, QueueDurability, QueueOptions, Result};

use crate::input::{Sized, choice, sized_or_none};
use crate::list::rows;
use crate::options::{
    PLACEMENTS, SWITCHES, check_reserved, choose, count, directories, spanlog_directory_options,
    spanlog_thresholds, thresholds,
};
use crate::wait::FOR_EVER;

/// What a push does when the queue is full.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_on_full {
    /// SPANLOG_ON_FULL_REFUSE.
    Default = 0,
    /// Fails at once with SPANLOG_STATUS_FULL.
    Refuse = 1,
    /// Waits until readers commit, and fails with SPANLOG_STATUS_FULL after `block_ms`.
    Block = 2,
    /// Drops the oldest segment with all its records, counts them, and tells the readers that
    /// still had to read them, by SPANLOG_STATUS_GONE.
    DropOldest = 3,
}

/// When what was pushed is flushed to the device. After a kill everything is there in any case;
/// after a loss of power, what was flushed.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "callers pass its numbers")]
#[repr(i32)]
pub enum spanlog_queue_durability {
    /// SPANLOG_QUEUE_DURABILITY_INTERVAL.
    Default = 0,
    /// When the system does it, and at spanlog_queue_flush() and spanlog_queue_close().
    None = 1,
    /// When `flush_interval_ms` or `flush_records` is passed since the last flush.
    Interval = 2,
    /// A push returns once it is durable; those that wait at one time share a flush. Readers may
    /// see a record a moment before.
    Group = 3,
    /// A push flushes alone, and readers see its records once they are durable.
    Each = 4,
}

/// How a queue is opened. Begin with SPANLOG_QUEUE_OPTIONS_INIT: every field that is 0 or NULL
/// stands for its default, and SPANLOG_ZERO for the number 0 where that is something else. Values
/// out of range are refused, never clamped.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_queue_options {
    /// sizeof(spanlog_queue_options).
    pub struct_size: usize,
    /// The directories of segments; NULL for those that the queue remembers, or for a new queue
    /// "segments" under its root.
    pub directories: *const spanlog_directory_options,
    /// How many there are.
    pub directory_count: usize,
    /// The marks where a directory has none of its own; NULL for 75, 85 and 90 %. Above `force` a
    /// disk takes no new segment, above `refuse` pushes are refused.
    pub thresholds: *const spanlog_thresholds,
    /// Length of every segment: whole pages of 4096 bytes, up to 1 GiB. A queue that exists keeps
    /// its own. Default 256 KiB.
    pub segment_len_bytes: u64,
    /// The most segment files there may be, from 4 to 2^24. Default 2000. It may be changed at any
    /// opening, but not to less than is in use.
    pub capacity_segments: u64,
    /// The most bytes of segment files; where it allows fewer segments than `capacity_segments`,
    /// it counts. Default: no such limit.
    pub capacity_bytes: u64,
    /// The longest record, in bytes; it may be longer than a segment. Default 4 MiB, or what fits.
    pub max_record_bytes: u64,
    /// The most segments that are mapped at a time, at least 4. Default 64.
    pub max_in_memory_segments: u64,
    /// With SPANLOG_ON_FULL_BLOCK: how long a push waits, in ms. Default for ever.
    pub block_ms: u64,
    /// With SPANLOG_QUEUE_DURABILITY_INTERVAL: ms between two flushes. Default 1000, up to a day.
    pub flush_interval_ms: u64,
    /// With SPANLOG_QUEUE_DURABILITY_INTERVAL: records between two flushes. Default 10,000.
    pub flush_records: u64,
    /// Time between two looks at the disks, in ms. Default 10,000, from 10 to a day.
    pub probe_interval_ms: u64,
    /// A spanlog_placement: which directory takes the next new segment.
    pub placement: i32,
    /// A spanlog_on_full.
    pub on_full: i32,
    /// A spanlog_queue_durability.
    pub durability: i32,
    /// Whether a queue that does not exist is created: a spanlog_switch, on by default.
    pub create: i32,
    /// Whether threads prepare segments and flush. On by default; with off nobody does but
    /// spanlog_queue_run().
    pub background: i32,
    /// Must be 0.
    pub reserved: i32,
}

rows!(spanlog_queue_options);

/// Options as the engine takes them.
///
/// # Safety
/// `given` is NULL or a structure whose pointers are NULL or lead to what they say.
pub unsafe fn options(given: *const spanlog_queue_options) -> Result<QueueOptions> {
    let mut options = QueueOptions::new();
    // SAFETY: the caller promises it.
    let Some(given) = (unsafe { sized_or_none(given) })? else { return Ok(options) };
    let given = given.as_ref();
    check_reserved(spanlog_queue_options::NAME, given.reserved)?;
    // SAFETY: the caller promises it.
    options.directories = unsafe { directories(given.directories, given.directory_count) }?;
    // SAFETY: as above.
    if let Some(marks) = unsafe { thresholds(given.thresholds) }? {
        options.thresholds = marks;
    }
    count(&mut options.segment_len_bytes, given.segment_len_bytes);
    count(&mut options.capacity_segments, given.capacity_segments);
    count(&mut options.capacity_bytes, given.capacity_bytes);
    count(&mut options.max_record_bytes, given.max_record_bytes);
    count(&mut options.max_in_memory_segments, given.max_in_memory_segments);
    count(&mut options.probe_interval_ms, given.probe_interval_ms);
    choose(&mut options.placement, given.placement, "placement", &PLACEMENTS)?;
    choose(&mut options.create, given.create, "create", &SWITCHES)?;
    choose(&mut options.background, given.background, "background", &SWITCHES)?;
    options.on_full = on_full(given)?;
    options.durability = durability(given)?;
    Ok(options)
}

fn on_full(given: &spanlog_queue_options) -> Result<OnFull> {
    let mut block_ms = u64::try_from(FOR_EVER.as_millis()).unwrap_or(u64::MAX);
    count(&mut block_ms, given.block_ms);
    let block = std::time::Duration::from_millis(block_ms).min(FOR_EVER);
    let choices = [
        (spanlog_on_full::Refuse as i32, OnFull::Refuse),
        (spanlog_on_full::Block as i32, OnFull::Block(block)),
        (spanlog_on_full::DropOldest as i32, OnFull::DropOldest),
    ];
    Ok(choice(given.on_full, "on_full", &choices)?.unwrap_or_default())
}

fn durability(given: &spanlog_queue_options) -> Result<QueueDurability> {
    let QueueDurability::Interval { mut interval_ms, mut records } = QueueDurability::default()
    else {
        unreachable!("the default is an interval");
    };
    count(&mut interval_ms, given.flush_interval_ms);
    count(&mut records, given.flush_records);
    let interval = QueueDurability::Interval { interval_ms, records };
    let choices = [
        (spanlog_queue_durability::None as i32, QueueDurability::None),
        (spanlog_queue_durability::Interval as i32, interval),
        (spanlog_queue_durability::Group as i32, QueueDurability::Group),
        (spanlog_queue_durability::Each as i32, QueueDurability::Each),
    ];
    Ok(choice(given.durability, "durability", &choices)?.unwrap_or(interval))
}
