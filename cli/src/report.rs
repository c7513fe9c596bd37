//! Parts of a store in JSON. Times are in milliseconds since 1970, sizes in bytes, ratios from
//! 0 to 1, as the names say.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use spanlog::retention::{Fate, Reason, Usage};
use spanlog::{Damaged, DirectoryReport, QueueReport, SegmentReport, Thresholds, Watermarks};

/// A path as text; what is not UTF-8 is replaced.
pub fn path(path: &Path) -> Value {
    path.to_string_lossy().into()
}

/// A range of the log.
pub fn range(range: &Range<u64>) -> Value {
    json!({"start": range.start, "end": range.end})
}

/// Ranges of the log.
pub fn ranges(ranges: &[Range<u64>]) -> Value {
    ranges.iter().map(range).collect()
}

/// The positions of a store.
pub fn watermarks(marks: &Watermarks) -> Value {
    json!({
        "start": marks.start.get(),
        "flushed": marks.flushed.get(),
        "indexed": marks.indexed.get(),
        "appended": marks.appended.get(),
    })
}

fn thresholds(marks: &Thresholds) -> Value {
    json!({
        "clean_ratio": marks.clean,
        "force_ratio": marks.force,
        "refuse_ratio": marks.refuse,
        "floor_bytes": marks.floor_bytes,
        "hysteresis_ratio": marks.hysteresis,
    })
}

/// A directory.
pub fn directory(row: &DirectoryReport) -> Value {
    json!({
        "path": path(&row.path),
        "role": row.role.name(),
        "device": row.device,
        "used_ratio": row.usage.map(Usage::used_ratio),
        "used_bytes": row.usage.map(Usage::used_bytes),
        "available_bytes": row.usage.map(Usage::available_bytes),
        "pressure": row.pressure.name(),
        "takes_segments": row.takes_segments,
        "segments": row.segments,
        "segment_bytes": row.segment_bytes,
        "offline": row.offline,
        "thresholds": thresholds(&row.thresholds),
    })
}

/// A segment.
pub fn segment(row: &SegmentReport) -> Value {
    json!({
        "base": row.base.get(),
        "len_bytes": row.len_bytes,
        "path": path(&row.path),
        "last_store_ms": row.last_store_ms,
        "held": row.held,
        "dropped": row.dropped,
    })
}

/// A queue.
pub fn queue(row: &QueueReport) -> Value {
    let (min, max) = (row.bounds.min.get(), row.bounds.max.get());
    json!({"topic": row.topic, "queue": row.queue, "min": min, "max": max})
}

/// A damaged range.
pub fn damaged(row: &Damaged) -> Value {
    json!({"range": range(&row.range), "path": path(&row.path), "reason": row.reason})
}

/// What happens to a segment; `file` is where it is, if known.
pub fn fate(fate: &Fate, file: Option<&Path>) -> Value {
    let (age_ms, expires_ms) = match fate.reason {
        Reason::Expired { age_ms } | Reason::KeptNoPressure { age_ms } => (Some(age_ms), None),
        Reason::Forced { age_ms } => (age_ms, None),
        Reason::KeptYoung { age_ms, until_ms, .. } => (Some(age_ms), Some(until_ms)),
        _ => (None, None),
    };
    json!({
        "base": fate.segment.base.get(),
        "len_bytes": fate.segment.len,
        "path": file.map(path),
        "drop": fate.reason.drops(),
        "reason": fate.reason.name(),
        "text": fate.reason.to_string(),
        "last_store_ms": fate.segment.last_store_ms,
        "age_ms": age_ms,
        "expires_ms": expires_ms,
        "held": fate.segment.held,
    })
}
