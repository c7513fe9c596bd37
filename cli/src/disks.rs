//! `spanlog disks`: usage and state of each directory, and what the policy will do next.

use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;
use spanlog::retention::{CleanPlan, Pressure, Usage};
use spanlog::{DirectoryReport, Store, quantity};

use crate::failure::Outcome;
use crate::inspect::alarm;
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::report;
use crate::table::Table;

const AFTER_HELP: &str = "\
Examples:
  spanlog disks --root /data/log
  spanlog disks --root /data/log --clean-ratio 60% --retention 24h

Usage is what `df` computes: used / (used + available). The state of a disk is the highest mark it
is above: clean (expired segments go at once), force (it takes no new segment; when all are,
segments go before their age) or refuse (when all are, appends are refused; reads go on).

In JSON the answer is one object: root, directories, refused (why, or null), retention_ms,
delete_hours, next (drop, bytes, start, segments). It changes nothing, and works beside a writer.";

/// Which store's disks to look at.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct DisksArgs {
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Shows the disks.
///
/// # Errors
/// What opening the store says.
pub fn run(args: &DisksArgs, output: &mut Output) -> Outcome<()> {
    let target = args.store.target()?;
    let (retention_ms, hours) = (target.options.retention_ms, target.options.delete_hours);
    let store = target.open_to_read(output)?;
    let inspection = store.inspect()?;
    let plan = store.plan_clean(false)?;
    if output.is_json() {
        let directories: Vec<_> = inspection.directories.iter().map(report::directory).collect();
        return output.object(&json!({
            "root": report::path(store.root()),
            "directories": directories,
            "refused": inspection.refused,
            "retention_ms": retention_ms,
            "delete_hours": hours.to_string(),
            "next": next_json(&plan),
        }));
    }
    directory_table(&inspection.directories).write(output)?;
    let appends =
        inspection.refused.as_ref().map_or("accepted".into(), |why| format!("REFUSED: {why}"));
    output.line(format_args!("\nappends    {appends}"))?;
    let kept = quantity::duration_text(retention_ms);
    output.line(format_args!("retention  {kept}, deleting at hours {hours}"))?;
    next_text(&store, &plan, output)
}

fn bytes_of(plan: &CleanPlan) -> u64 {
    plan.dropped().iter().map(|fate| fate.segment.len).sum()
}

fn next_json(plan: &CleanPlan) -> serde_json::Value {
    json!({
        "drop": plan.drop,
        "bytes": bytes_of(plan),
        "start": plan.start().map(spanlog::Position::get),
        "segments": plan.fates.iter().map(|fate| report::fate(fate, None)).collect::<Vec<_>>(),
    })
}

fn next_text(store: &Store, plan: &CleanPlan, output: &mut Output) -> Outcome<()> {
    let of = plan.fates.len();
    match plan.start() {
        Some(start) => output.line(format_args!(
            "next       {} of {} ({}), the log then starts at {start}",
            if plan.drop == 1 { "1 goes".to_owned() } else { format!("{} go", plan.drop) },
            counted(of as u64, "segment"),
            HumanBytes(bytes_of(plan))
        ))?,
        None => output
            .line(format_args!("next       none of {} goes", counted(of as u64, "segment")))?,
    }
    let first_kept = plan.fates.get(plan.drop).filter(|_| of > 0);
    if let Some(fate) = first_kept {
        output.line(format_args!("oldest     {fate}"))?;
    }
    let offline = store.recovery().offline.iter();
    for range in offline {
        output.line(format_args!("offline    positions {} to {}", range.start, range.end))?;
    }
    Ok(())
}

/// The directories with their figures.
pub fn directory_table(rows: &[DirectoryReport]) -> Table {
    let heads = [
        "directory",
        "role",
        ">used",
        ">available",
        ">clean/force/refuse",
        "state",
        "new segments",
        ">segments",
        ">size",
    ];
    let mut table = Table::new(&heads);
    for row in rows {
        let marks = row.thresholds;
        let percent = |ratio: f64| format!("{:.0}", ratio * 100.0);
        let marks = [marks.clean, marks.force, marks.refuse].map(percent).join("/") + " %";
        let is_high = row.pressure >= Pressure::Force;
        table.row([
            row.path.display().into(),
            row.role.into(),
            alarm(used(row.usage), is_high),
            available(row.usage).into(),
            marks.into(),
            alarm(state(row), is_high || row.offline.is_some()),
            if row.takes_segments { "yes" } else { "no" }.into(),
            row.segments.into(),
            HumanBytes(row.segment_bytes).into(),
        ]);
    }
    table
}

fn used(usage: Option<Usage>) -> String {
    usage.map_or("?".into(), |usage| format!("{:.1} %", usage.used_ratio() * 100.0))
}

fn available(usage: Option<Usage>) -> String {
    usage.map_or("?".into(), |usage| HumanBytes(usage.available_bytes()).to_string())
}

fn state(row: &DirectoryReport) -> String {
    match (&row.offline, row.pressure) {
        (Some(why), _) => format!("offline: {why}"),
        (None, Pressure::None) => "ok".into(),
        (None, pressure) => format!("above {pressure}"),
    }
}
