//! `spanlog inspect`: a picture of a whole store.

use anstyle::{AnsiColor, Style};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;
use spanlog::{Inspection, Store};

use crate::disks::directory_table;
use crate::failure::Outcome;
use crate::message::time_text;
use crate::opening::StoreArgs;
use crate::output::Output;
use crate::report;
use crate::table::{Cell, Table};

const AFTER_HELP: &str = "\
Examples:
  spanlog inspect --root /data/log
  spanlog inspect --conf /etc/rocketmq/broker.conf --json | jq '.queues[]'

In JSON the answer is one object: root, was_clean, watermarks (start, flushed, indexed, appended),
segment_len_bytes, directories, segments, queues, offline, refused, poisoned, maps.
It changes nothing, and works beside a writer.";

/// Which store to look into.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct InspectArgs {
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Shows a store.
///
/// # Errors
/// What opening it says.
pub fn run(args: &InspectArgs, output: &mut Output) -> Outcome<()> {
    let store = args.store.target()?.open_to_read(output)?;
    let inspection = store.inspect()?;
    if output.is_json() {
        return output.object(&to_json(&store, &inspection));
    }
    positions(&store, &inspection, output)?;
    output.heading("\nDirectories")?;
    directory_table(&inspection.directories).write(output)?;
    output.heading("\nSegments")?;
    segments(&inspection).write(output)?;
    output.heading("\nQueues")?;
    queues(&inspection).write(output)?;
    trouble(&inspection, output)
}

fn to_json(store: &Store, inspection: &Inspection) -> serde_json::Value {
    let directories: Vec<_> = inspection.directories.iter().map(report::directory).collect();
    let segments: Vec<_> = inspection.segments.iter().map(report::segment).collect();
    let queues: Vec<_> = inspection.queues.iter().map(report::queue).collect();
    json!({
        "root": report::path(store.root()),
        "was_clean": store.recovery().was_clean,
        "watermarks": report::watermarks(&inspection.watermarks),
        "segment_len_bytes": inspection.segment_len_bytes,
        "directories": directories,
        "segments": segments,
        "queues": queues,
        "offline": report::ranges(&inspection.offline),
        "refused": inspection.refused,
        "poisoned": inspection.poisoned,
        "maps": inspection.maps,
    })
}

fn positions(store: &Store, inspection: &Inspection, output: &mut Output) -> Outcome<()> {
    let marks = inspection.watermarks;
    let state = match store.recovery().was_clean {
        true => "closed cleanly",
        false => "open elsewhere, or not closed cleanly",
    };
    output.heading(&format!("Store {}", store.root().display()))?;
    let kept = HumanBytes(marks.appended.since(marks.start));
    let rows = [
        ("state", state.to_owned()),
        ("start", marks.start.to_string()),
        ("flushed", marks.flushed.to_string()),
        ("indexed", marks.indexed.to_string()),
        ("appended", format!("{} ({kept} kept)", marks.appended)),
        ("segment", format!("{} bytes", HumanCount(inspection.segment_len_bytes))),
    ];
    for (name, value) in rows {
        let name = output.paint(Style::new().dimmed(), format_args!("{name:<8}"));
        output.line(format_args!("  {name}  {value}"))?;
    }
    Ok(())
}

fn segments(inspection: &Inspection) -> Table {
    let mut table = Table::new(&[">base", ">size", "directory", "last message", "state"]);
    for row in &inspection.segments {
        let directory = row.path.parent().unwrap_or(&row.path);
        let state = match (row.dropped, row.held) {
            (true, _) => "dropped, held",
            (false, true) => "held",
            (false, false) => "",
        };
        table.row([
            row.base.into(),
            HumanBytes(row.len_bytes).into(),
            directory.display().into(),
            row.last_store_ms.map_or_else(String::new, time_text).into(),
            state.into(),
        ]);
    }
    table
}

fn queues(inspection: &Inspection) -> Table {
    let mut table = Table::new(&["topic", ">queue", ">first", ">next", ">messages"]);
    for row in &inspection.queues {
        let (min, max) = (row.bounds.min, row.bounds.max);
        let count = HumanCount(max.since(min));
        table.row([(&row.topic).into(), row.queue.into(), min.into(), max.into(), count.into()]);
    }
    table
}

fn trouble(inspection: &Inspection, output: &mut Output) -> Outcome<()> {
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let offline = inspection.offline.iter();
    let mut lines: Vec<String> = offline
        .map(|range| format!("offline: positions {} to {}", range.start, range.end))
        .collect();
    lines.extend(inspection.refused.as_ref().map(ToString::to_string));
    lines.extend(inspection.poisoned.as_ref().map(|why| format!("poisoned: {why}")));
    for (at, line) in lines.iter().enumerate() {
        let painted = output.paint(red, line);
        output.line(if at == 0 { format!("\n{painted}") } else { painted })?;
    }
    Ok(())
}

/// A cell that stands out when something is wrong.
pub fn alarm(text: impl Into<String>, is_wrong: bool) -> Cell {
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    Cell::styled(text, if is_wrong { red } else { Style::new() })
}
