//! `spanlog cursors`: named consumers, listed, moved, and exchanged with RocketMQ.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use indicatif::{HumanBytes, HumanCount};
use serde_json::{Value, json};
use spanlog::{CursorQueue, CursorReport, Hold, Lag, QueueOffset, Seek, Store};

use crate::failure::{Failure, Outcome};
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::table::{Cell, Table};

const AFTER_HELP: &str = "\
Examples:
  spanlog cursors list   --root /data/log
  spanlog cursors lag    --root /data/log --topic orders --name billing
  spanlog cursors reset  --root /data/log --topic orders --name billing --to end
  spanlog cursors copy   --root /data/log --topic orders --name billing --as audit
  spanlog cursors import --root /data/log consumerOffset.json
  spanlog cursors export --root /data/log > consumerOffset.json

`list`, `lag` and `export` change nothing and work beside a writer; they show what was committed.
The others need the store for themselves.

In JSON, `list` and `lag` give one object for each cursor: topic, name, hold (null, or max_age_ms
and max_bytes), damage (null if none), lag (messages, bytes, age_ms), queues (each with queue,
acknowledged, committed, next, min, max, lag).";

/// What to do with cursors.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CursorsArgs {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// What to do with cursors.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Show all cursors, and how far each is behind
    List(Chosen),
    /// Show where each cursor stands in each of its queues
    Lag(Chosen),
    /// Put a cursor elsewhere, also one whose file is damaged
    Reset(Reset),
    /// Make a cursor that has acknowledged what another has
    Copy(Copy),
    /// Delete a cursor
    Delete(Named),
    /// Take cursors from a RocketMQ broker's config/consumerOffset.json
    Import(Import),
    /// Print all cursors as a RocketMQ broker's config/consumerOffset.json
    Export(Export),
}

/// Cursors to show.
#[derive(Args, Debug)]
pub struct Chosen {
    /// The topic [default: all of them]
    #[arg(long)]
    pub topic: Option<String>,
    /// The cursor [default: all of them]
    #[arg(long)]
    pub name: Option<String>,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// One cursor.
#[derive(Args, Debug)]
pub struct Named {
    /// The topic
    #[arg(long)]
    pub topic: String,
    /// The cursor
    #[arg(long)]
    pub name: String,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Where to put a cursor.
#[derive(Args, Debug)]
pub struct Reset {
    /// `start`, `end`, or an offset of the queue given with --queue
    #[arg(long, value_name = "PLACE", required_unless_present = "to_ms")]
    pub to: Option<String>,
    /// The first message stored at or after this time, in milliseconds since 1970
    #[arg(long, value_name = "MS", conflicts_with = "to")]
    pub to_ms: Option<i64>,
    /// The queue, for an offset
    #[arg(long, value_name = "N")]
    pub queue: Option<u32>,
    /// Which one.
    #[command(flatten)]
    pub named: Named,
}

/// What a copy is called.
#[derive(Args, Debug)]
pub struct Copy {
    /// Name of the copy
    #[arg(long = "as", value_name = "NAME")]
    pub to: String,
    /// Which one.
    #[command(flatten)]
    pub named: Named,
}

/// What to import.
#[derive(Args, Debug)]
pub struct Import {
    /// The file [default: standard input]
    pub file: Option<PathBuf>,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// What to export.
#[derive(Args, Debug)]
pub struct Export {
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Does it.
///
/// # Errors
/// What the store says.
pub fn run(args: &CursorsArgs, output: &mut Output) -> Outcome<()> {
    match &args.what {
        What::List(chosen) => show(chosen, output, &list),
        What::Lag(chosen) => show(chosen, output, &lag),
        What::Reset(reset) => {
            let seek = reset.seek()?;
            let Named { topic, name, store } = &reset.named;
            change(store, output, &|store| store.reset_cursor(topic, name, seek))
        }
        What::Copy(Copy { to, named: Named { topic, name, store } }) => {
            change(store, output, &|store| store.copy_cursor(topic, name, to))
        }
        What::Delete(Named { topic, name, store }) => {
            change(store, output, &|store| store.delete_cursor(topic, name))
        }
        What::Import(import) => import.run(output),
        What::Export(export) => {
            let store = export.store.target()?.open_to_read(output)?;
            output.line(store.export_consumer_offsets()?)
        }
    }
}

/// Opens the store for a change, and closes it.
fn change(
    store: &StoreArgs,
    output: &Output,
    change: &dyn Fn(&Store) -> spanlog::Result<()>,
) -> Outcome<()> {
    let store = store.target()?.open_existing(output)?;
    let outcome = change(&store);
    let closed = store.close();
    Ok(outcome.and(closed)?)
}

impl Reset {
    fn seek(&self) -> Outcome<Seek> {
        if let Some(time_ms) = self.to_ms {
            return Ok(Seek::Time { time_ms });
        }
        match (self.to.as_deref().unwrap_or_default(), self.queue) {
            ("start", None) => Ok(Seek::Start),
            ("end", None) => Ok(Seek::End),
            (place, Some(queue)) => {
                let offset = place.parse().map(QueueOffset::new);
                let offset =
                    offset.map_err(|_| Failure::usage("with --queue, --to is an offset"))?;
                Ok(Seek::Offset { queue, offset })
            }
            _ => Err(Failure::usage("--to is start, end, or with --queue an offset")),
        }
    }
}

impl Import {
    fn run(&self, output: &mut Output) -> Outcome<()> {
        let mut text = Vec::new();
        let read = match &self.file {
            Some(path) => fs::read(path).map(|bytes| text = bytes),
            None => io::stdin().read_to_end(&mut text).map(drop),
        };
        let name = self.file.clone().unwrap_or_else(|| "standard input".into());
        read.map_err(|error| Failure::from(spanlog::Error::io("read", &name, error)))?;
        let store = self.store.target()?.open_existing(output)?;
        let outcome = store.import_consumer_offsets(&text);
        let closed = store.close();
        let count = outcome?;
        closed?;
        match output.is_json() {
            true => output.object(&json!({ "cursors": count })),
            false => output.line(format_args!("imported {}", counted(count as u64, "cursor"))),
        }
    }
}

/// How reports are shown as text.
type Show = dyn Fn(&[CursorReport], &mut Output) -> Outcome<()>;

fn show(chosen: &Chosen, output: &mut Output, text: &Show) -> Outcome<()> {
    let store = chosen.store.target()?.open_to_read(output)?;
    let is_chosen = |report: &CursorReport| {
        chosen.topic.as_ref().is_none_or(|topic| *topic == report.topic)
            && chosen.name.as_ref().is_none_or(|name| *name == report.name)
    };
    let reports: Vec<_> = store.cursors()?.into_iter().filter(is_chosen).collect();
    match output.is_json() {
        true => reports.iter().try_for_each(|report| output.object(&object(report))),
        false => text(&reports, output),
    }
}

fn object(report: &CursorReport) -> Value {
    let hold = |hold: Hold| json!({"max_age_ms": hold.max_age_ms, "max_bytes": hold.max_bytes});
    let queue = |row: &CursorQueue| {
        json!({
            "queue": row.queue,
            "acknowledged": row.acknowledged.get(),
            "committed": row.committed.get(),
            "next": row.next.get(),
            "min": row.bounds.min.get(),
            "max": row.bounds.max.get(),
            "lag": lag_object(row.lag),
        })
    };
    json!({
        "topic": report.topic,
        "name": report.name,
        "hold": report.hold.map(hold),
        "damage": report.damage,
        "lag": lag_object(report.lag()),
        "queues": report.queues.iter().map(queue).collect::<Vec<_>>(),
    })
}

fn lag_object(lag: Lag) -> Value {
    json!({"messages": lag.messages, "bytes": lag.bytes, "age_ms": lag.age_ms})
}

fn list(reports: &[CursorReport], output: &mut Output) -> Outcome<()> {
    let mut table =
        Table::new(&["topic", "cursor", ">queues", ">lag", ">bytes", ">oldest", "state"]);
    for report in reports {
        let state = match (&report.damage, report.hold) {
            (Some(damage), _) => damage.clone(),
            (None, Some(_)) => "holds segments".into(),
            (None, None) => String::new(),
        };
        let row =
            [report.topic.clone().into(), report.name.clone().into(), report.queues.len().into()];
        table.row(row.into_iter().chain(lag_cells(report.lag())).chain([state.into()]));
    }
    table.write(output)
}

fn lag(reports: &[CursorReport], output: &mut Output) -> Outcome<()> {
    let heads = ["topic", "cursor", ">queue", ">acknowledged", ">end", ">lag", ">bytes", ">oldest"];
    let mut table = Table::new(&heads);
    for report in reports {
        for queue in &report.queues {
            let row = [
                report.topic.clone().into(),
                report.name.clone().into(),
                queue.queue.into(),
                queue.acknowledged.into(),
                queue.bounds.max.into(),
            ];
            table.row(row.into_iter().chain(lag_cells(queue.lag)));
        }
    }
    table.write(output)
}

fn lag_cells(lag: Lag) -> [Cell; 3] {
    let age = lag.age_ms.map_or(String::new(), |age_ms| format!("{:.1} s", age_ms as f64 / 1000.0));
    [HumanCount(lag.messages).into(), HumanBytes(lag.bytes).into(), age.into()]
}
