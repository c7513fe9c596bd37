//! Results as scenarios name them.

use std::path::Path;

use serde_json::{Map, Value, json};
use spanlog::{
    Batch, Bounds, CleanPlan, DirectoryReport, Error, MessageView, QueueReport, ReadStatus,
    Receipt, Recovery, Result, SegmentReport, Verification, Watermarks,
};

use crate::values::hex;

pub fn receipt(receipt: Receipt) -> Value {
    json!({
        "queue_offset": receipt.queue_offset.get(),
        "position": receipt.position.get(),
        "end": receipt.end.get(),
        "store_ms": receipt.store_ms,
    })
}

pub fn status(status: ReadStatus) -> &'static str {
    match status {
        ReadStatus::Found => "found",
        ReadStatus::NoQueue => "no_queue",
        ReadStatus::Empty => "empty",
        ReadStatus::TooSmall => "too_small",
        ReadStatus::AtEnd => "at_end",
        ReadStatus::TooLarge => "too_large",
        ReadStatus::Removed => "removed",
        ReadStatus::NoMatch => "no_match",
    }
}

/// A batch with every message of it verified.
///
/// # Errors
/// What the first damaged message says.
pub fn batch(batch: &Batch) -> Result<Value> {
    let messages: Vec<Value> = batch
        .iter()
        .map(|stored| stored.decode_verified().map(message))
        .collect::<Result<_, Error>>()?;
    Ok(json!({
        "status": status(batch.status()),
        "next": batch.next().get(),
        "min": batch.bounds().min.get(),
        "max": batch.bounds().max.get(),
        "messages": messages,
    }))
}

pub fn message(view: MessageView<'_>) -> Value {
    let properties: Map<String, Value> =
        view.properties().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({
        "topic": view.topic(),
        "queue": view.queue(),
        "queue_offset": view.queue_offset(),
        "position": view.position(),
        "body": hex(view.body()),
        "tags": view.tags(),
        "keys": view.keys().collect::<Vec<_>>(),
        "properties": properties,
        "unique_id": view.unique_id(),
        "flag": view.flag(),
        "sys_flag": view.sys_flag(),
        "born_ms": view.born_ms(),
        "born_host": view.born_host().to_string(),
        "store_ms": view.store_ms(),
        "reconsume_times": view.reconsume_times(),
    })
}

pub fn bounds(bounds: Option<Bounds>) -> Value {
    match bounds {
        None => json!({ "none": true }),
        Some(Bounds { min, max }) => json!({ "min": min.get(), "max": max.get() }),
    }
}

pub fn queues(queues: &[QueueReport]) -> Value {
    let row = |report: &QueueReport| {
        let mut row = bounds(Some(report.bounds));
        row["topic"] = json!(report.topic);
        row["queue"] = json!(report.queue);
        row
    };
    json!({ "queues": queues.iter().map(row).collect::<Vec<_>>() })
}

pub fn watermarks(marks: Watermarks) -> Value {
    json!({
        "start": marks.start.get(),
        "flushed": marks.flushed.get(),
        "indexed": marks.indexed.get(),
        "appended": marks.appended.get(),
    })
}

/// A path as scenarios write it: from the world's folder on.
pub fn relative(path: &Path, world: &Path) -> Value {
    json!(path.strip_prefix(world).unwrap_or(path).to_str())
}

pub fn directories(reports: &[DirectoryReport], world: &Path) -> Value {
    let row = |report: &DirectoryReport| {
        json!({
            "path": relative(&report.path, world),
            "role": report.role.name(),
            "pressure": report.pressure.name(),
            "offline": report.offline.is_some(),
            "takes_segments": report.takes_segments,
            "segments": report.segments,
            "segment_bytes": report.segment_bytes,
        })
    };
    json!({ "directories": reports.iter().map(row).collect::<Vec<_>>() })
}

pub fn segments(reports: &[SegmentReport], world: &Path) -> Value {
    let row = |report: &SegmentReport| {
        json!({
            "base": report.base.get(),
            "len_bytes": report.len_bytes,
            "path": relative(&report.path, world),
            "dropped": report.dropped,
        })
    };
    json!({ "segments": reports.iter().map(row).collect::<Vec<_>>() })
}

pub fn plan(plan: &CleanPlan) -> Value {
    let row = |fate: &spanlog::Fate| {
        let reason = &fate.reason;
        json!({
            "base": fate.segment.base.get(), "reason": reason.name(), "drops": reason.drops(),
        })
    };
    json!({ "fates": plan.fates.iter().map(row).collect::<Vec<_>>() })
}

pub fn recovery(recovery: &Recovery) -> Value {
    json!({
        "was_clean": recovery.was_clean,
        "end": recovery.end.get(),
        "records": recovery.records,
        "rebuilt_queues": recovery.rebuilt_queues,
        "torn": recovery.torn_tail.is_some(),
        "skipped": recovery.skipped.len(),
        "offline": recovery.offline.len(),
    })
}

pub fn error(error: &Error, world: &Path) -> Value {
    json!({
        "code": error.kind().name(),
        "path": error.path().map(|path| relative(path, world)),
        "offset": error.offset(),
        "limit": error.limit(),
    })
}

pub fn verdict(verification: &Verification) -> Value {
    json!({
        "sound": verification.is_sound(),
        "records": verification.records(),
        "findings": verification.findings().len(),
        "was_closed": verification.was_closed(),
    })
}
