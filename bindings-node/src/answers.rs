//! What a store looks like, as JSON. Positions and offsets are text, which `lib/numbers.js` makes
//! bigints, by the names of their fields.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use spanlog::{
    Bounds, CleanPlan, CursorQueue, CursorReport, DirectoryReport, Dropped, Finding, Inspection,
    Lag, MessageView, Overtaken, QueueRecovery, QueueReport, QueueStat, QueueVerification,
    ReaderStat, Receipt, Recovery, RepairAction, RepairPlan, Repaired, SegmentReport, Verification,
    Watermarks,
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

pub fn range(range: &Range<u64>) -> Value {
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

pub fn overtaken(overtaken: &Overtaken) -> Value {
    let gone = overtaken.gone.start.get()..overtaken.gone.end.get();
    json!({ "queue": overtaken.queue, "gone": range(&gone) })
}

pub fn lag(lag: Lag) -> Value {
    json!({ "messages": lag.messages, "bytes": lag.bytes, "ageMs": lag.age_ms })
}

pub fn cursor(report: &CursorReport) -> Value {
    let queues = list(&report.queues, |queue: &CursorQueue| {
        json!({
            "queue": queue.queue,
            "acknowledged": digits(queue.acknowledged.get()),
            "committed": digits(queue.committed.get()),
            "next": digits(queue.next.get()),
            "bounds": bounds(&queue.bounds),
            "lag": lag(queue.lag),
        })
    });
    let hold =
        report.hold.map(|hold| json!({ "maxAgeMs": hold.max_age_ms, "maxBytes": hold.max_bytes }));
    json!({
        "topic": report.topic,
        "name": report.name,
        "isOpen": report.is_open,
        "hold": hold,
        "queues": queues,
        "lag": lag(report.lag()),
        "damage": report.damage,
    })
}

pub fn cursors(reports: &[CursorReport]) -> Value {
    list(reports, cursor)
}

pub fn queue_stat(stat: &QueueStat) -> Value {
    let readers = list(&stat.readers, |reader: &ReaderStat| {
        json!({
            "name": reader.name,
            "committed": digits(reader.committed.get()),
            "reading": digits(reader.reading.get()),
            "records": reader.records,
            "unreadBytes": reader.unread_bytes,
        })
    });
    json!({
        "start": digits(stat.start.get()),
        "end": digits(stat.end.get()),
        "flushed": digits(stat.flushed.get()),
        "pushed": stat.pushed,
        "records": stat.records,
        "bytes": stat.bytes,
        "dropped": stat.dropped,
        "segmentLenBytes": stat.segment_len_bytes,
        "capacitySegments": stat.capacity_segments,
        "segments": stat.segments,
        "mappedSegments": stat.mapped_segments,
        "readers": readers,
    })
}

pub fn queue_recovery(recovery: &QueueRecovery) -> Value {
    json!({
        "wasClean": recovery.clean,
        "metaLost": recovery.meta_lost,
        "foundRecords": recovery.found_records,
        "clamped": recovery.clamped,
        "ignored": list(&recovery.ignored, |ignored| path(ignored)),
    })
}

pub fn queue_verification(done: &QueueVerification) -> Value {
    let damaged = list(
        &done.damaged,
        |one| json!({ "range": range(&one.range), "path": path(&one.path), "reason": one.reason }),
    );
    json!({
        "isSound": done.damaged.is_empty(),
        "records": done.records,
        "payloadBytes": done.payload_bytes,
        "damaged": damaged,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(),
        "isDamage": finding.is_damage,
        "path": path(&finding.path),
        "offset": digits(finding.offset),
        "lenBytes": finding.len_bytes,
        "range": finding.range.as_ref().map(range),
        "text": finding.text,
    })
}

pub fn verification(done: &Verification) -> Value {
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

pub fn repair_plan(plan: &RepairPlan) -> Value {
    let actions = list(plan.actions(), |action: &RepairAction| {
        let (file, place) = action.place();
        json!({
            "action": action.name(),
            "path": file.map(path),
            "range": place.as_ref().map(range),
            "text": action.to_string(),
        })
    });
    json!({ "actions": actions, "beyond": list(plan.beyond(), finding) })
}

pub fn repaired(done: &Repaired) -> Value {
    let saved = list(&done.saved, |file| path(file));
    json!({ "saved": saved, "recovery": recovery(&done.recovery) })
}
