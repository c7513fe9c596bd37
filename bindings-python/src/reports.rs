//! What the engine reports, as the plain classes of `spanlog.reports`.

use std::ops::Range;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use spanlog::{
    Bounds, CleanPlan, DirectoryReport, Inspection, QueueReport, Recovery, SegmentReport,
    Thresholds, Watermarks,
};

type Object<'py> = PyResult<Bound<'py, PyAny>>;

/// A new object of a class of `spanlog.reports`, its fields in order.
pub fn object<'py>(py: Python<'py>, class: &str, fields: impl PyCallArgs<'py>) -> Object<'py> {
    py.import("spanlog.reports")?.getattr(class)?.call1(fields)
}

/// A list of objects made from items.
pub fn list<'py, T>(
    py: Python<'py>,
    items: &[T],
    make: fn(Python<'py>, &T) -> Object<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.iter().map(|item| make(py, item)).collect()
}

/// `range`.
pub fn range<'py>(py: Python<'py>, range: &Range<u64>) -> Object<'py> {
    py.import("builtins")?.getattr("range")?.call1((range.start, range.end))
}

/// `Bounds`.
pub fn bounds(py: Python<'_>, bounds: Bounds) -> Object<'_> {
    object(py, "Bounds", (bounds.min.get(), bounds.max.get()))
}

/// `Watermarks`.
pub fn watermarks(py: Python<'_>, marks: Watermarks) -> Object<'_> {
    let Watermarks { start, flushed, indexed, appended } = marks;
    object(py, "Watermarks", (start.get(), flushed.get(), indexed.get(), appended.get()))
}

fn thresholds(py: Python<'_>, marks: Thresholds) -> Object<'_> {
    let Thresholds { clean, force, refuse, floor_bytes, hysteresis } = marks;
    object(py, "Thresholds", (clean, force, refuse, floor_bytes, hysteresis))
}

/// `DirectoryReport`.
pub fn directory<'py>(py: Python<'py>, report: &DirectoryReport) -> Object<'py> {
    let fields = (
        report.path.as_os_str(),
        report.role.name(),
        report.device,
        thresholds(py, report.thresholds)?,
        report.usage.map(|usage| usage.used_ratio()),
        report.usage.map(|usage| usage.used_bytes()),
        report.usage.map(|usage| usage.available_bytes()),
        report.pressure.name(),
        &report.offline,
        report.takes_segments,
        report.segments,
        report.segment_bytes,
    );
    object(py, "DirectoryReport", fields)
}

/// `SegmentReport`.
pub fn segment<'py>(py: Python<'py>, report: &SegmentReport) -> Object<'py> {
    let fields = (
        report.base.get(),
        report.len_bytes,
        report.path.as_os_str(),
        report.last_store_ms,
        report.held,
        report.dropped,
    );
    object(py, "SegmentReport", fields)
}

/// `QueueReport`.
pub fn queue<'py>(py: Python<'py>, report: &QueueReport) -> Object<'py> {
    object(py, "QueueReport", (&report.topic, report.queue, bounds(py, report.bounds)?))
}

/// `Inspection`.
pub fn inspection<'py>(py: Python<'py>, report: &Inspection) -> Object<'py> {
    let fields = (
        watermarks(py, report.watermarks)?,
        report.segment_len_bytes,
        list(py, &report.directories, directory)?,
        list(py, &report.segments, segment)?,
        list(py, &report.queues, queue)?,
        list(py, &report.offline, range)?,
        report.maps,
        &report.refused,
        &report.poisoned,
    );
    object(py, "Inspection", fields)
}

/// `CleanPlan`.
pub fn plan<'py>(py: Python<'py>, plan: &CleanPlan) -> Object<'py> {
    let fate = |fate: &spanlog::Fate| {
        let segment = &fate.segment;
        let (reason, text) = (fate.reason.name(), fate.reason.to_string());
        let fields = (segment.base.get(), segment.len, reason, text, fate.reason.drops());
        object(py, "Fate", fields)
    };
    let fates: Vec<_> = plan.fates.iter().map(fate).collect::<PyResult<_>>()?;
    object(py, "CleanPlan", (plan.drop, plan.start().map(|start| start.get()), fates))
}

/// `Dropped`.
pub fn dropped<'py>(py: Python<'py>, report: &spanlog::Dropped) -> Object<'py> {
    let path = report.path.as_os_str();
    object(py, "Dropped", (report.base.get(), path, report.at_ms, &report.reason))
}

fn damaged<'py>(py: Python<'py>, damaged: &spanlog::Damaged) -> Object<'py> {
    let fields = (range(py, &damaged.range)?, damaged.path.as_os_str(), &damaged.reason);
    object(py, "Damaged", fields)
}

/// `Finding`.
pub fn finding<'py>(py: Python<'py>, found: &spanlog::Finding) -> Object<'py> {
    let fields = (
        found.kind.name(),
        found.is_damage,
        found.path.as_os_str(),
        found.offset,
        found.len_bytes,
        found.range.as_ref().map(|range| self::range(py, range)).transpose()?,
        &found.text,
    );
    object(py, "Finding", fields)
}

/// `RepairAction`, all of a plan.
pub fn actions<'py>(
    py: Python<'py>,
    plan: &spanlog::RepairPlan,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    list(py, plan.actions(), |py, action| {
        let (path, range) = action.place();
        let path = path.map(std::path::Path::as_os_str);
        let range = range.map(|range| self::range(py, &range)).transpose()?;
        object(py, "RepairAction", (action.name(), path, range, action.to_string()))
    })
}

/// `Repaired`.
pub fn repaired<'py>(py: Python<'py>, done: &spanlog::Repaired) -> Object<'py> {
    let saved: Vec<_> = done.saved.iter().map(|path| path.as_os_str()).collect();
    object(py, "Repaired", (saved, recovery(py, &done.recovery)?))
}

/// `QueueVerification`.
pub fn queue_verification<'py>(
    py: Python<'py>,
    report: &spanlog::QueueVerification,
) -> Object<'py> {
    let damaged = list(py, &report.damaged, damaged)?;
    object(py, "QueueVerification", (report.records, report.payload_bytes, damaged))
}

/// `Verification`.
pub fn verification<'py>(py: Python<'py>, report: &spanlog::Verification) -> Object<'py> {
    let findings = list(py, report.findings(), finding)?;
    let looked_at = report.range().start.get()..report.range().end.get();
    let fields = (
        report.is_sound(),
        report.records(),
        range(py, &looked_at)?,
        report.was_closed(),
        findings,
        report.more_findings(),
    );
    object(py, "Verification", fields)
}

/// `QueueStat`.
pub fn queue_stat<'py>(py: Python<'py>, stat: &spanlog::QueueStat) -> Object<'py> {
    let reader = |reader: &spanlog::ReaderStat| {
        let places = (reader.committed.get(), reader.reading.get());
        let fields = (&reader.name, places.0, places.1, reader.records, reader.unread_bytes);
        object(py, "ReaderStat", fields)
    };
    let fields = (
        stat.start.get(),
        stat.end.get(),
        stat.flushed.get(),
        stat.records,
        stat.bytes,
        stat.dropped,
        stat.segment_len_bytes,
        stat.capacity_segments,
        stat.segments,
        stat.mapped_segments,
        stat.readers.iter().map(reader).collect::<PyResult<Vec<_>>>()?,
    );
    object(py, "QueueStat", fields)
}

/// `Lag`.
pub fn lag(py: Python<'_>, lag: spanlog::Lag) -> Object<'_> {
    object(py, "Lag", (lag.messages, lag.bytes, lag.age_ms))
}

/// `CursorReport`.
pub fn cursor<'py>(py: Python<'py>, report: &spanlog::CursorReport) -> Object<'py> {
    let queue = |queue: &spanlog::CursorQueue| {
        let fields = (
            queue.queue,
            queue.acknowledged.get(),
            queue.committed.get(),
            queue.next.get(),
            bounds(py, queue.bounds)?,
            lag(py, queue.lag)?,
        );
        object(py, "CursorQueue", fields)
    };
    let queues: Vec<_> = report.queues.iter().map(queue).collect::<PyResult<_>>()?;
    let hold = report.hold.map(|hold| (hold.max_age_ms, hold.max_bytes));
    let (topic, name, is_open) = (&report.topic, &report.name, report.is_open);
    object(py, "CursorReport", (topic, name, is_open, hold, queues, &report.damage))
}

/// `Recovery`.
pub fn recovery<'py>(py: Python<'py>, report: &Recovery) -> Object<'py> {
    let salvage = |salvaged: &spanlog::Salvage| {
        object(py, "Salvage", (salvaged.records, salvaged.path.as_os_str()))
    };
    let fields = (
        report.was_clean,
        report.scanned_from.get(),
        report.end.get(),
        report.records,
        report.rebuilt_queues,
        report.torn_tail.as_ref().map(|torn| damaged(py, torn)).transpose()?,
        report.salvaged.as_ref().map(salvage).transpose()?,
        list(py, &report.skipped, damaged)?,
        list(py, &report.offline, range)?,
        report.ignored.iter().map(|path| path.as_os_str()).collect::<Vec<_>>(),
    );
    object(py, "Recovery", fields)
}
