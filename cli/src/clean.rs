//! `spanlog clean`: a round of cleaning now, or what it would do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;
use spanlog::retention::{CleanPlan, Fate};
use spanlog::{Position, Store, Task};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::opening::{StoreArgs, Target};
use crate::output::{Output, counted};
use crate::progress::{self, Unit};
use crate::report;
use crate::table::{Cell, Table};

const AFTER_HELP: &str = "\
Examples:
  spanlog clean --root /data/log --dry-run
  spanlog clean --root /data/log --retention 24h
  spanlog clean --root /data/log --retention 0ms     # all but the last segment

Expired segments go at any hour, the oldest first; others only when disks are above `force`. The
last segment never goes. Without --dry-run the store must not be open elsewhere: a program that has
it open cleans by itself.

In JSON the answer is one object: dry_run, dropped, bytes, start, segments (each with base,
len_bytes, path, drop, reason, text, last_store_ms, age_ms, expires_ms, held).";

/// What to clean.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CleanArgs {
    /// Shows for each segment why it goes or stays, and changes nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// What was or would be done.
struct Round {
    plan: CleanPlan,
    files: BTreeMap<Position, PathBuf>,
    dropped: usize,
    start: Position,
}

/// Cleans.
///
/// # Errors
/// What the store says.
pub fn run(args: &CleanArgs, output: &mut Output) -> Outcome<()> {
    let target = args.store.target()?;
    let round = if args.dry_run { look(target, output)? } else { clean(target, output)? };
    if output.is_json() {
        return output.object(&round.to_json(args.dry_run));
    }
    round.print(args.dry_run, output)
}

fn files(store: &Store) -> BTreeMap<Position, PathBuf> {
    store.segments().into_iter().map(|segment| (segment.base, segment.path)).collect()
}

fn look(target: Target, output: &Output) -> Outcome<Round> {
    let store = target.open_to_read(output)?;
    let plan = store.plan_clean(true)?;
    let start = plan.start().unwrap_or(store.watermarks().start);
    Ok(Round { dropped: plan.drop, start, files: files(&store), plan })
}

fn clean(mut target: Target, output: &Output) -> Outcome<Round> {
    let interrupt = Interrupt::listen()?;
    // Without threads of its own the store does here and now what it is told, and no more.
    target.options.background = false;
    let pause = Duration::from_millis(target.options.clean_pause_ms);
    let store = target.open_existing(output)?;
    let outcome = clean_round(&store, pause, &interrupt, output);
    let closed = store.close().map_err(Failure::from);
    let round = outcome?;
    closed?;
    if interrupt.is_asked() && round.dropped < round.plan.drop {
        return Err(Failure::interrupted(format!(
            "stopped after {}",
            counted(round.dropped as u64, "segment")
        )));
    }
    Ok(round)
}

fn clean_round(
    store: &Store,
    pause: Duration,
    interrupt: &Interrupt,
    output: &Output,
) -> Outcome<Round> {
    let files = files(store);
    let plan = store.plan_clean(true)?;
    let shown = output.shows_progress();
    let bar = progress::bar(shown, Unit::Count, Some(plan.drop as u64), "dropping segments");
    store.clean_now()?;
    let mut dropped = 0;
    while !interrupt.is_asked() {
        let before = store.watermarks().start;
        store.run(Task::Clean)?;
        if store.watermarks().start == before {
            break;
        }
        dropped += 1;
        bar.inc(1);
        if dropped < plan.drop {
            thread::sleep(pause);
        }
    }
    bar.finish_and_clear();
    Ok(Round { plan, files, dropped, start: store.watermarks().start })
}

impl Round {
    fn bytes(&self) -> u64 {
        let gone = self.plan.fates.iter().take(self.dropped);
        gone.map(|fate| fate.segment.len).sum()
    }

    fn to_json(&self, is_dry: bool) -> serde_json::Value {
        let file = |fate: &Fate| self.files.get(&fate.segment.base).map(PathBuf::as_path);
        let fates = self.plan.fates.iter().map(|fate| report::fate(fate, file(fate)));
        json!({
            "dry_run": is_dry,
            "dropped": self.dropped,
            "bytes": self.bytes(),
            "start": self.start.get(),
            "segments": fates.collect::<Vec<_>>(),
        })
    }

    fn print(&self, is_dry: bool, output: &mut Output) -> Outcome<()> {
        self.table().write(output)?;
        let (bytes, start) = (HumanBytes(self.bytes()), self.start);
        let gone = counted(self.dropped as u64, "segment");
        let verb = if is_dry { "would go" } else { "went" };
        let then = if is_dry { "would start" } else { "starts" };
        output.line(format_args!("\n{gone} {verb} ({bytes}); the log {then} at {start}"))
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[">base", ">size", "directory", "fate"]);
        let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
        for fate in &self.plan.fates {
            let file = self.files.get(&fate.segment.base);
            let directory = file.and_then(|file| file.parent());
            let style = if fate.reason.drops() { yellow } else { Style::new() };
            table.row([
                fate.segment.base.into(),
                HumanBytes(fate.segment.len).into(),
                directory.map_or_else(String::new, |path| path.display().to_string()).into(),
                Cell::styled(fate.reason.to_string(), style),
            ]);
        }
        table
    }
}
