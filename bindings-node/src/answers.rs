//! What a store looks like, as JSON. Positions and offsets are text, which `lib/numbers.js` makes
//! bigints, by the names of their fields.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use spanlog::{
    Bounds, CleanPlan, DirectoryReport, Dropped, Finding, Inspection, MessageView, QueueReport,
    Receipt, Recovery, SegmentReport, Verification, Watermarks,
};

/// A position or an offset.
pub fn digits(number: u64) -> Value {
    Value::String(number.to_string())
}

pub fn path(path: &Path) -> Value {
    json!(path.to_string_lossy())
}

fn list<T>(rows: &[T], row: impl Fn(&T) -> Value) -> Value {
    rows.iter().map(row).collect()
}

fn range(range: &Range<u64>) -> Value {
    json!({ "start": digits(range.start), "end": digits(range.end) })
}

pub fn receipt(receipt: &Receipt) -> Value {
    json!({
        "position": digits(receipt.position.get()),
        "queueOffset": digits(receipt.queue_offset.get()),
        "end": digits(receipt.end.get()),
        "storeMs": receipt.store_ms,
    })
}

pub fn bounds(bounds: &Bounds) -> Value {
    json!({ "min": digits(bounds.min.get()), "max": digits(bounds.max.get()) })
}

pub fn watermarks(marks: &Watermarks) -> Value {
    json!({
        "start": digits(marks.start.get()),
        "flushed": digits(marks.flushed.get()),
        "indexed": digits(marks.indexed.get()),
        "appended": digits(marks.appended.get()),
    })
}

pub fn disks(disks: &[DirectoryReport]) -> Value {
    list(disks, |disk| {
        let marks = disk.thresholds;
        json!({
            "path": path(&disk.path),
            "role": disk.role.name(),
            "device": digits(disk.device),
            "thresholds": {
                "clean": marks.clean, "force": marks.force, "refuse": marks.refuse,
                "floorBytes": marks.floor_bytes, "hysteresis": marks.hysteresis,
            },
            "usedBytes": disk.usage.map(|usage| usage.used_bytes()),
            "availableBytes": disk.usage.map(|usage| usage.available_bytes()),
            "usedRatio": disk.usage.map(|usage| usage.used_ratio()),
            "pressure": disk.pressure.name(),
            "offline": disk.offline,
            "takesSegments": disk.takes_segments,
            "segments": disk.segments,
            "segmentBytes": disk.segment_bytes,
        })
    })
}

pub fn segments(segments: &[SegmentReport]) -> Value {
    list(segments, |segment| {
        json!({
            "base": digits(segment.base.get()),
            "lenBytes": segment.len_bytes,
            "path": path(&segment.path),
            "lastStoreMs": segment.last_store_ms,
            "held": segment.held,
            "dropped": segment.dropped,
        })
    })
}

pub fn queues(queues: &[QueueReport]) -> Value {
    list(queues, |queue| {
        let bounds = bounds(&queue.bounds);
        json!({ "topic": queue.topic, "queue": queue.queue, "bounds": bounds })
    })
}

pub fn inspection(all: &Inspection) -> Value {
    json!({
        "watermarks": watermarks(&all.watermarks),
        "segmentLenBytes": all.segment_len_bytes,
        "directories": disks(&all.directories),
        "segments": segments(&all.segments),
        "queues": queues(&all.queues),
        "offline": list(&all.offline, range),
        "maps": all.maps,
        "refused": all.refused,
        "poisoned": all.poisoned,
    })
}

pub fn plan(plan: &CleanPlan) -> Value {
    let fates = list(&plan.fates, |fate| {
        json!({
            "base": digits(fate.segment.base.get()),
            "lenBytes": fate.segment.len,
            "lastStoreMs": fate.segment.last_store_ms,
            "held": fate.segment.held,
            "drops": fate.reason.drops(),
            "reason": fate.reason.name(),
            "text": fate.reason.to_string(),
        })
    });
    let start = plan.start().map(|position| digits(position.get()));
    json!({ "drop": plan.drop, "start": start, "fates": fates })
}

pub fn dropped(dropped: &[Dropped]) -> Value {
    list(dropped, |one| {
        json!({
            "base": digits(one.base.get()),
            "path": path(&one.path),
            "atMs": one.at_ms,
            "reason": one.reason,
        })
    })
}

pub fn recovery(recovery: &Recovery) -> Value {
    let salvaged = recovery.salvaged.as_ref();
    json!({
        "wasClean": recovery.was_clean,
        "scannedFrom": digits(recovery.scanned_from.get()),
        "end": digits(recovery.end.get()),
        "records": recovery.records,
        "rebuiltQueues": recovery.rebuilt_queues,
        "tornTail": recovery.torn_tail.as_ref().map(|damaged| range(&damaged.range)),
        "salvagedRecords": salvaged.map_or(0, |salvage| salvage.records),
        "salvagedPath": salvaged.map(|salvage| path(&salvage.path)),
        "skipped": list(&recovery.skipped, |damaged| range(&damaged.range)),
        "offline": list(&recovery.offline, range),
        "ignored": list(&recovery.ignored, |ignored| path(ignored)),
    })
}

/// What of a record its row does not say.
pub fn details(view: &MessageView<'_>) -> Value {
    json!({
        "properties": view.properties().collect::<Vec<_>>(),
        "sysFlag": view.sys_flag(),
        "reconsumeTimes": view.reconsume_times(),
        "preparedPosition": digits(view.prepared_position()),
        "bornHost": view.born_host().to_string(),
        "storeHost": view.store_host().to_string(),
    })
}

pub fn verification(done: &Verification) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "kind": finding.kind.name(),
            "isDamage": finding.is_damage,
            "path": path(&finding.path),
            "offset": digits(finding.offset),
            "lenBytes": finding.len_bytes,
            "range": finding.range.as_ref().map(range),
            "text": finding.text,
        })
    };
    let Range { start, end } = done.range();
    json!({
        "isSound": done.is_sound(),
        "records": done.records(),
        "range": range(&(start.get()..end.get())),
        "wasClosed": done.was_closed(),
        "findings": list(done.findings(), finding),
        "moreFindings": done.more_findings(),
    })
}
