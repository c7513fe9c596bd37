//! What a store looks like now.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::{DirectoryReport, Pressure, Reason, Result, Role};

use crate::error::spanlog_error;
use crate::guard::done;
use crate::input::Sized;
use crate::list::{
    self, Texts, spanlog_disk, spanlog_dropped, spanlog_fate, spanlog_list, spanlog_pressure,
    spanlog_queue_info, spanlog_range, spanlog_range_kind, spanlog_reason, spanlog_segment,
};
use crate::options::spanlog_role;
use crate::output::{check_sized, flag, place, put, put_sized};
use crate::status::spanlog_status;
use crate::store::{Open, spanlog_store, store};

/// The positions that tell how far a store has come.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_watermarks {
    /// First byte still kept.
    pub start: u64,
    /// Everything below is durable.
    pub flushed: u64,
    /// Everything below is in the queues.
    pub indexed: u64,
    /// Everything below is written.
    pub appended: u64,
}

/// A store in numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_stats {
    /// sizeof(spanlog_stats).
    pub struct_size: usize,
    /// The positions.
    pub watermarks: spanlog_watermarks,
    /// Length of every segment in bytes.
    pub segment_len_bytes: u64,
    /// Number of directories.
    pub directories: u64,
    /// Number of segments, those included that are dropped and still held.
    pub segments: u64,
    /// Number of queues.
    pub queues: u64,
    /// Files mapped now.
    pub maps: u64,
    /// 1 if appends are refused now; an append tells why.
    pub refused: i32,
    /// 1 if a flush failed, so that nothing more can be promised.
    pub poisoned: i32,
}

// SAFETY: numbers.
unsafe impl Sized for spanlog_stats {
    const NAME: &'static str = "spanlog_stats";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// What opening a store found and did.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_recovery {
    /// sizeof(spanlog_recovery).
    pub struct_size: usize,
    /// Where reading began: everything below was known.
    pub scanned_from: u64,
    /// Where the log ends.
    pub end: u64,
    /// Records that were read.
    pub records: u64,
    /// Whole records behind the cut, saved beside the store.
    pub salvaged_records: u64,
    /// Files in the segment directories that are none of the store's, left alone.
    pub ignored_files: u64,
    /// 1 if the store had been closed cleanly.
    pub was_clean: i32,
    /// 1 if the queues were derived anew from the whole log.
    pub rebuilt_queues: i32,
}

// SAFETY: numbers.
unsafe impl Sized for spanlog_recovery {
    const NAME: &'static str = "spanlog_recovery";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// The positions as of now.
///
/// # Safety
/// `watermarks` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_watermarks(
    store: *mut spanlog_store,
    watermarks: *mut spanlog_watermarks,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(watermarks, "watermarks")?;
        let marks = self::store(store)?.store().watermarks();
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, marks.into()) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

impl From<engine::Watermarks> for spanlog_watermarks {
    fn from(marks: engine::Watermarks) -> Self {
        Self {
            start: marks.start.get(),
            flushed: marks.flushed.get(),
            indexed: marks.indexed.get(),
            appended: marks.appended.get(),
        }
    }
}

/// The store in numbers; measures the disks.
///
/// # Safety
/// `stats` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_stats(
    store: *mut spanlog_store,
    stats: *mut spanlog_stats,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(stats) }?;
        let found = self::store(store)?.store().inspect()?;
        let told = spanlog_stats {
            struct_size: size_of::<spanlog_stats>(),
            watermarks: found.watermarks.into(),
            segment_len_bytes: found.segment_len_bytes,
            directories: found.directories.len() as u64,
            segments: found.segments.len() as u64,
            queues: found.queues.len() as u64,
            maps: found.maps as u64,
            refused: flag(found.refused.is_some()),
            poisoned: flag(found.poisoned.is_some()),
        };
        // SAFETY: the caller promises it.
        unsafe { put_sized(stats, &told) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// What opening the store found and did; spanlog_store_ranges() has the ranges.
///
/// # Safety
/// `recovery` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_recovery(
    store: *mut spanlog_store,
    recovery: *mut spanlog_recovery,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(recovery) }?;
        let open = self::store(store)?;
        let found = open.store().recovery();
        let told = spanlog_recovery {
            struct_size: size_of::<spanlog_recovery>(),
            scanned_from: found.scanned_from.get(),
            end: found.end.get(),
            records: found.records,
            salvaged_records: found.salvaged.as_ref().map_or(0, |saved| saved.records),
            ignored_files: found.ignored.len() as u64,
            was_clean: flag(found.was_clean),
            rebuilt_queues: flag(found.rebuilt_queues),
        };
        // SAFETY: the caller promises it.
        unsafe { put_sized(recovery, &told) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Makes a list of what `look` finds in the store.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
pub unsafe fn listed<T: Sized + 'static>(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
    look: impl FnOnce(&Open, &mut Texts) -> Result<Vec<T>>,
) -> spanlog_status {
    let body = || {
        let out = place(list, "list")?;
        let open = self::store(store)?;
        let mut texts = Texts::default();
        let rows = look(&open, &mut texts)?;
        let handle = list::handle(rows, texts)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

fn keep_path(texts: &mut Texts, path: &Path) -> *const std::ffi::c_char {
    texts.keep(path.as_os_str().as_bytes())
}

/// The directories, measured now: a list of spanlog_disk.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_disks(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| {
        let disks = open.store().disks()?;
        Ok(disks.iter().map(|report| disk(report, texts)).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed(store, list, error, look) }
}

fn disk(report: &DirectoryReport, texts: &mut Texts) -> spanlog_disk {
    let usage = report.usage;
    let marks = report.thresholds;
    let why = report.offline.as_ref();
    spanlog_disk {
        struct_size: size_of::<spanlog_disk>(),
        path: keep_path(texts, &report.path),
        offline: why.map_or(std::ptr::null(), |why| texts.keep(why.as_bytes())),
        device: report.device,
        used_bytes: usage.map_or(0, |usage| usage.used_bytes()),
        available_bytes: usage.map_or(0, |usage| usage.available_bytes()),
        segments: report.segments as u64,
        segment_bytes: report.segment_bytes,
        used_ratio: usage.map_or(0.0, |usage| usage.used_ratio()),
        clean: marks.clean,
        force: marks.force,
        refuse: marks.refuse,
        hysteresis: marks.hysteresis,
        floor_bytes: marks.floor_bytes,
        role: role(report.role) as i32,
        pressure: pressure(report.pressure) as i32,
        takes_segments: flag(report.takes_segments),
        has_usage: flag(usage.is_some()),
    }
}

fn role(role: Role) -> spanlog_role {
    match role {
        Role::ReadWrite => spanlog_role::ReadWrite,
        Role::Draining => spanlog_role::Draining,
        Role::ReadOnly => spanlog_role::ReadOnly,
    }
}

fn pressure(pressure: Pressure) -> spanlog_pressure {
    match pressure {
        Pressure::None => spanlog_pressure::None,
        Pressure::Clean => spanlog_pressure::Clean,
        Pressure::Force => spanlog_pressure::Force,
        Pressure::Refuse => spanlog_pressure::Refuse,
    }
}

/// The segments, those that were dropped while somebody read them first: a list of spanlog_segment.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_segments(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| {
        let row = |report: &engine::SegmentReport| spanlog_segment {
            struct_size: size_of::<spanlog_segment>(),
            path: keep_path(texts, &report.path),
            base: report.base.get(),
            len_bytes: report.len_bytes,
            last_store_ms: report.last_store_ms.unwrap_or(0),
            held: flag(report.held),
            dropped: flag(report.dropped),
        };
        Ok(open.store().segments().iter().map(row).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed(store, list, error, look) }
}

/// The queues, by topic and number: a list of spanlog_queue_info.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_queues(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| {
        let row = |report: &engine::QueueReport| spanlog_queue_info {
            struct_size: size_of::<spanlog_queue_info>(),
            topic: texts.keep(report.topic.as_bytes()),
            min: report.bounds.min.get(),
            max: report.bounds.max.get(),
            queue: report.queue,
            reserved: 0,
        };
        Ok(open.store().queues().iter().map(row).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed(store, list, error, look) }
}

/// What a round of cleaning would do now with each segment, and why: a list of spanlog_fate.
/// Changes nothing. With `manual` not 0, as if somebody had asked for the round.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_plan_clean(
    store: *mut spanlog_store,
    manual: i32,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| {
        let row = |fate: &engine::Fate| spanlog_fate {
            struct_size: size_of::<spanlog_fate>(),
            text: texts.keep(fate.reason.to_string().as_bytes()),
            base: fate.segment.base.get(),
            len_bytes: fate.segment.len,
            reason: reason(&fate.reason) as i32,
            drops: flag(fate.reason.drops()),
        };
        Ok(open.store().plan_clean(manual != 0)?.fates.iter().map(row).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed(store, list, error, look) }
}

fn reason(reason: &Reason) -> spanlog_reason {
    match reason {
        Reason::Expired { .. } => spanlog_reason::Expired,
        Reason::Forced { .. } => spanlog_reason::Forced,
        Reason::KeptLast => spanlog_reason::KeptLast,
        Reason::KeptBehind => spanlog_reason::KeptBehind,
        Reason::KeptReadOnly => spanlog_reason::KeptReadOnly,
        Reason::KeptYoung { .. } => spanlog_reason::KeptYoung,
        Reason::KeptUndated => spanlog_reason::KeptUndated,
        Reason::KeptNoPressure { .. } => spanlog_reason::KeptNoPressure,
        Reason::KeptRoundLimit => spanlog_reason::KeptRoundLimit,
        Reason::KeptForCursor { .. } => spanlog_reason::KeptForCursor,
    }
}

/// What cleaning dropped since the store was opened, newest last, at most a thousand: a list of
/// spanlog_dropped.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_dropped(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| {
        let row = |dropped: &engine::Dropped| spanlog_dropped {
            struct_size: size_of::<spanlog_dropped>(),
            path: keep_path(texts, &dropped.path),
            reason: texts.keep(dropped.reason.as_bytes()),
            base: dropped.base.get(),
            at_ms: dropped.at_ms,
        };
        Ok(open.store().dropped().iter().map(row).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed(store, list, error, look) }
}

/// What opening the store cut off, passed over or missed: a list of spanlog_range.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_ranges(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| Ok(ranges(open, texts));
    // SAFETY: the caller promises it.
    unsafe { listed(store, list, error, look) }
}

fn ranges(open: &Open, texts: &mut Texts) -> Vec<spanlog_range> {
    let found = open.store().recovery();
    let torn = found.torn_tail.iter().map(|torn| (spanlog_range_kind::Torn, torn));
    let skipped = found.skipped.iter().map(|damage| (spanlog_range_kind::Skipped, damage));
    let mut rows: Vec<_> =
        torn.chain(skipped).map(|(kind, damage)| list::range(damage, kind, texts)).collect();
    rows.extend(found.offline.iter().map(|range| spanlog_range {
        struct_size: size_of::<spanlog_range>(),
        path: std::ptr::null(),
        reason: texts.keep(b"it lies on a directory that is not there"),
        from: range.start,
        to: range.end,
        kind: spanlog_range_kind::Offline as i32,
        reserved: 0,
    }));
    rows
}
