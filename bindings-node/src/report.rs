//! What a store looks like, as JavaScript's objects. Positions and queue offsets are bigints,
//! sizes, counts and times are numbers.

use std::ops::Range;
use std::path::Path;

use napi_derive::napi;
use spanlog::{
    Bounds, CleanPlan, DirectoryReport, Dropped, Inspection, QueueReport, Recovery, SegmentReport,
    Watermarks,
};

use crate::options::NativeThresholds;

#[napi(object, object_from_js = false)]
pub struct NativeBounds {
    pub min: u64,
    pub max: u64,
}

#[napi(object, object_from_js = false)]
pub struct NativeRange {
    pub start: u64,
    pub end: u64,
}

#[napi(object, object_from_js = false)]
pub struct NativeWatermarks {
    pub start: u64,
    pub flushed: u64,
    pub indexed: u64,
    pub appended: u64,
}

#[napi(object, object_from_js = false)]
pub struct NativeDisk {
    pub path: String,
    pub role: &'static str,
    pub device: u64,
    pub thresholds: NativeThresholds,
    pub used_bytes: Option<i64>,
    pub available_bytes: Option<i64>,
    pub used_ratio: Option<f64>,
    pub pressure: &'static str,
    pub offline: Option<String>,
    pub takes_segments: bool,
    pub segments: u32,
    pub segment_bytes: i64,
}

#[napi(object, object_from_js = false)]
pub struct NativeSegment {
    pub base: u64,
    pub len_bytes: i64,
    pub path: String,
    pub last_store_ms: Option<i64>,
    pub held: bool,
    pub dropped: bool,
}

#[napi(object, object_from_js = false)]
pub struct NativeQueue {
    pub topic: String,
    pub queue: u32,
    pub bounds: NativeBounds,
}

#[napi(object, object_from_js = false)]
pub struct NativeInspection {
    pub watermarks: NativeWatermarks,
    pub segment_len_bytes: i64,
    pub directories: Vec<NativeDisk>,
    pub segments: Vec<NativeSegment>,
    pub queues: Vec<NativeQueue>,
    pub offline: Vec<NativeRange>,
    pub maps: u32,
    pub refused: Option<String>,
    pub poisoned: Option<String>,
}

#[napi(object, object_from_js = false)]
pub struct NativeFate {
    pub base: u64,
    pub len_bytes: i64,
    pub last_store_ms: Option<i64>,
    pub held: bool,
    pub drops: bool,
    pub reason: &'static str,
    pub text: String,
}

#[napi(object, object_from_js = false)]
pub struct NativeCleanPlan {
    pub drop: u32,
    pub start: Option<u64>,
    pub fates: Vec<NativeFate>,
}

#[napi(object, object_from_js = false)]
pub struct NativeDropped {
    pub base: u64,
    pub path: String,
    pub at_ms: i64,
    pub reason: String,
}

#[napi(object, object_from_js = false)]
pub struct NativeRecovery {
    pub was_clean: bool,
    pub scanned_from: u64,
    pub end: u64,
    pub records: i64,
    pub rebuilt_queues: bool,
    pub torn_tail: Option<NativeRange>,
    pub salvaged_records: i64,
    pub salvaged_path: Option<String>,
    pub skipped: Vec<NativeRange>,
    pub offline: Vec<NativeRange>,
    pub ignored: Vec<String>,
}

pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn range(range: &Range<u64>) -> NativeRange {
    NativeRange { start: range.start, end: range.end }
}

impl From<Bounds> for NativeBounds {
    fn from(bounds: Bounds) -> Self {
        Self { min: bounds.min.get(), max: bounds.max.get() }
    }
}

impl From<Watermarks> for NativeWatermarks {
    fn from(marks: Watermarks) -> Self {
        let Watermarks { start, flushed, indexed, appended } = marks;
        let [start, flushed, indexed, appended] =
            [start, flushed, indexed, appended].map(|position| position.get());
        Self { start, flushed, indexed, appended }
    }
}

impl From<DirectoryReport> for NativeDisk {
    fn from(disk: DirectoryReport) -> Self {
        let marks = disk.thresholds;
        Self {
            path: text(&disk.path),
            role: disk.role.name(),
            device: disk.device,
            thresholds: NativeThresholds {
                clean: Some(marks.clean),
                force: Some(marks.force),
                refuse: Some(marks.refuse),
                floor_bytes: Some(marks.floor_bytes as f64),
                hysteresis: Some(marks.hysteresis),
            },
            used_bytes: disk.usage.map(|usage| usage.used_bytes() as i64),
            available_bytes: disk.usage.map(|usage| usage.available_bytes() as i64),
            used_ratio: disk.usage.map(|usage| usage.used_ratio()),
            pressure: disk.pressure.name(),
            offline: disk.offline,
            takes_segments: disk.takes_segments,
            segments: disk.segments as u32,
            segment_bytes: disk.segment_bytes as i64,
        }
    }
}

impl From<SegmentReport> for NativeSegment {
    fn from(segment: SegmentReport) -> Self {
        Self {
            base: segment.base.get(),
            len_bytes: segment.len_bytes as i64,
            path: text(&segment.path),
            last_store_ms: segment.last_store_ms,
            held: segment.held,
            dropped: segment.dropped,
        }
    }
}

impl From<QueueReport> for NativeQueue {
    fn from(queue: QueueReport) -> Self {
        Self { topic: queue.topic, queue: queue.queue, bounds: queue.bounds.into() }
    }
}

impl From<Inspection> for NativeInspection {
    fn from(all: Inspection) -> Self {
        Self {
            watermarks: all.watermarks.into(),
            segment_len_bytes: all.segment_len_bytes as i64,
            directories: all.directories.into_iter().map(Into::into).collect(),
            segments: all.segments.into_iter().map(Into::into).collect(),
            queues: all.queues.into_iter().map(Into::into).collect(),
            offline: all.offline.iter().map(range).collect(),
            maps: all.maps as u32,
            refused: all.refused,
            poisoned: all.poisoned,
        }
    }
}

impl From<CleanPlan> for NativeCleanPlan {
    fn from(plan: CleanPlan) -> Self {
        let fate = |fate: &spanlog::Fate| NativeFate {
            base: fate.segment.base.get(),
            len_bytes: fate.segment.len as i64,
            last_store_ms: fate.segment.last_store_ms,
            held: fate.segment.held,
            drops: fate.reason.drops(),
            reason: fate.reason.name(),
            text: fate.reason.to_string(),
        };
        Self {
            drop: plan.drop as u32,
            start: plan.start().map(|position| position.get()),
            fates: plan.fates.iter().map(fate).collect(),
        }
    }
}

impl From<Dropped> for NativeDropped {
    fn from(dropped: Dropped) -> Self {
        Self {
            base: dropped.base.get(),
            path: text(&dropped.path),
            at_ms: dropped.at_ms,
            reason: dropped.reason,
        }
    }
}

impl From<&Recovery> for NativeRecovery {
    fn from(recovery: &Recovery) -> Self {
        let salvaged = recovery.salvaged.as_ref();
        Self {
            was_clean: recovery.was_clean,
            scanned_from: recovery.scanned_from.get(),
            end: recovery.end.get(),
            records: recovery.records as i64,
            rebuilt_queues: recovery.rebuilt_queues,
            torn_tail: recovery.torn_tail.as_ref().map(|damaged| range(&damaged.range)),
            salvaged_records: salvaged.map_or(0, |salvage| salvage.records as i64),
            salvaged_path: salvaged.map(|salvage| text(&salvage.path)),
            skipped: recovery.skipped.iter().map(|damaged| range(&damaged.range)).collect(),
            offline: recovery.offline.iter().map(range).collect(),
            ignored: recovery.ignored.iter().map(|path| text(path)).collect(),
        }
    }
}
