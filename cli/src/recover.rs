//! `spanlog recover`: opens a store, and tells what that found and did.

use clap::Args;
use serde_json::json;
use spanlog::{Damaged, Recovery, Store};

use crate::failure::Outcome;
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::report;

const AFTER_HELP: &str = "\
Examples:
  spanlog recover --root /data/log
  spanlog recover --root /data/log --read-only          # tell, and change nothing
  spanlog recover --root /data/log --on-damage skip     # serve both sides of damage

Every opening recovers; this command does nothing else. Whole records behind the place where a
crash tore the log are saved in a file beside the store before the log is cut.

In JSON the answer is one object: root, changed, was_clean, scanned_from, end, records,
rebuilt_queues, torn_tail, salvaged, skipped, offline, ignored.";

/// Which store to recover.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct RecoverArgs {
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Recovers.
///
/// # Errors
/// What opening the store says: `corrupt` for damage below what was flushed.
pub fn run(args: &RecoverArgs, output: &mut Output) -> Outcome<()> {
    let mut target = args.store.target()?;
    target.options.background = false;
    let changes = !target.options.read_only;
    let store = target.open_existing(output)?;
    let recovery = store.recovery().clone();
    store.close()?;
    if output.is_json() {
        return output.object(&to_json(&store, &recovery, changes));
    }
    print(&store, &recovery, changes, output)
}

fn to_json(store: &Store, found: &Recovery, changes: bool) -> serde_json::Value {
    let salvaged = found.salvaged.as_ref();
    json!({
        "root": report::path(store.root()),
        "changed": changes,
        "was_clean": found.was_clean,
        "scanned_from": found.scanned_from.get(),
        "end": found.end.get(),
        "records": found.records,
        "rebuilt_queues": found.rebuilt_queues,
        "torn_tail": found.torn_tail.as_ref().map(report::damaged),
        "salvaged": salvaged.map(|file| {
            json!({"records": file.records, "path": report::path(&file.path)})
        }),
        "skipped": found.skipped.iter().map(report::damaged).collect::<Vec<_>>(),
        "offline": report::ranges(&found.offline),
        "ignored": found.ignored.iter().map(|path| report::path(path)).collect::<Vec<_>>(),
    })
}

fn print(store: &Store, found: &Recovery, changes: bool, output: &mut Output) -> Outcome<()> {
    output.heading(&format!("Store {}", store.root().display()))?;
    for (name, value) in lines(found, changes) {
        output.line(format_args!("  {name:<8}  {value}"))?;
    }
    Ok(())
}

fn lines(found: &Recovery, changes: bool) -> Vec<(&'static str, String)> {
    let closed = if found.was_clean { "was closed cleanly" } else { "was not closed cleanly" };
    let read = format!(
        "{} from position {} to {}",
        counted(found.records, "record"),
        found.scanned_from,
        found.end
    );
    let mut lines = vec![("state", closed.to_owned()), ("read", read)];
    if found.rebuilt_queues {
        lines.push(("queues", "derived anew from the whole log".into()));
    }
    lines.extend(found.torn_tail.as_ref().map(|torn| {
        let verb = if changes { "cut off" } else { "would be cut off" };
        ("tail", format!("{verb}: {}", damaged(torn)))
    }));
    lines.extend(found.salvaged.as_ref().map(|saved| {
        let count = counted(saved.records, "whole record");
        ("saved", format!("{count} in {}", saved.path.display()))
    }));
    lines.extend(found.skipped.iter().map(|skipped| ("skipped", damaged(skipped))));
    let offline = found.offline.iter();
    lines.extend(offline.map(|range| ("offline", format!("{} to {}", range.start, range.end))));
    lines.extend(found.ignored.iter().map(|path| ("ignored", path.display().to_string())));
    lines
}

fn damaged(row: &Damaged) -> String {
    let (start, end) = (row.range.start, row.range.end);
    format!("positions {start} to {end} in {}: {}", row.path.display(), row.reason)
}
