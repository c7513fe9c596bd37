//! `spanlog queue stat` and `verify`.

use clap::Args;
use indicatif::HumanBytes;
use serde_json::{Value, json};
use spanlog::{Error, ErrorKind, QueueStat, QueueVerification, ReaderStat};

use super::{QueueArgs, closing};
use crate::failure::Outcome;
use crate::output::{Output, counted};
use crate::report;
use crate::table::{Cell, Table};

/// What to look at.
#[derive(Args, Debug)]
pub struct StatArgs {
    /// The queue.
    #[command(flatten)]
    pub queue: QueueArgs,
}

/// What to verify.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The queue.
    #[command(flatten)]
    pub queue: QueueArgs,
}

/// Shows the queue.
///
/// # Errors
/// What the queue says.
pub fn run(args: &StatArgs, output: &mut Output) -> Outcome<()> {
    let queue = args.queue.open_existing()?;
    let stat = queue.stat();
    let outcome = match output.is_json() {
        true => output.object(&object(&stat)),
        false => text(&stat, output),
    };
    closing(&queue, outcome)
}

fn object(stat: &QueueStat) -> Value {
    let reader = |row: &ReaderStat| {
        json!({
            "name": row.name,
            "committed": row.committed.get(),
            "reading": row.reading.get(),
            "records": row.records,
            "unread_bytes": row.unread_bytes,
        })
    };
    json!({
        "start": stat.start.get(),
        "end": stat.end.get(),
        "flushed": stat.flushed.get(),
        "pushed": stat.pushed,
        "records": stat.records,
        "bytes": stat.bytes,
        "dropped": stat.dropped,
        "segment_len_bytes": stat.segment_len_bytes,
        "segments": stat.segments,
        "mapped_segments": stat.mapped_segments,
        "readers": stat.readers.iter().map(reader).collect::<Vec<_>>(),
    })
}

fn text(stat: &QueueStat, output: &mut Output) -> Outcome<()> {
    let files = HumanBytes(stat.segments * stat.segment_len_bytes);
    let segment = HumanBytes(stat.segment_len_bytes);
    output.line(format_args!("records   {}, {}", stat.records, HumanBytes(stat.bytes)))?;
    output.line(format_args!(
        "positions start {}, flushed {}, end {}",
        stat.start, stat.flushed, stat.end
    ))?;
    output.line(format_args!("segments  {} of {segment}: {files} on disk", stat.segments))?;
    if stat.dropped > 0 {
        output.line(format_args!(
            "dropped   {} while it was full",
            counted(stat.dropped, "record")
        ))?;
    }
    let mut table = Table::new(&["reader", ">committed", ">reading", ">records", ">unread"]);
    for row in &stat.readers {
        let unread = HumanBytes(row.unread_bytes).to_string();
        let numbers = [row.committed.get(), row.reading.get(), row.records].map(Cell::from);
        table.row([Cell::from(&row.name)].into_iter().chain(numbers).chain([unread.into()]));
    }
    if stat.readers.is_empty() { Ok(()) } else { table.write(output) }
}

/// Reads and checks everything.
///
/// # Errors
/// `corrupt` naming the first damaged range, and what the queue says.
pub fn verify(args: &VerifyArgs, output: &mut Output) -> Outcome<()> {
    let queue = args.queue.open_existing()?;
    let spinner = output.spinner("verifying");
    let found = queue.verify();
    spinner.finish_and_clear();
    let outcome = found.map_err(Into::into).and_then(|found| tell(&found, output));
    closing(&queue, outcome)
}

fn tell(found: &QueueVerification, output: &mut Output) -> Outcome<()> {
    for row in &found.damaged {
        let (path, range) = (report::path(&row.path), &row.range);
        match output.is_json() {
            true => output.object(&json!({
                "damaged": {"path": path, "start": range.start, "end": range.end},
                "reason": row.reason,
            }))?,
            false => {
                output
                    .line(format_args!("{path}: {}..{}: {}", range.start, range.end, row.reason))?;
            }
        }
    }
    let bytes = found.payload_bytes;
    match output.is_json() {
        true => output.object(&json!({"records": found.records, "payload_bytes": bytes}))?,
        false => {
            let bytes = HumanBytes(bytes);
            output.line(format_args!(
                "{}, {bytes} of payload",
                counted(found.records, "whole record")
            ))?;
        }
    }
    let Some(first) = found.damaged.first() else { return Ok(()) };
    output.flush()?;
    let text = match found.damaged.len() {
        1 => "a range of the queue is damaged".to_owned(),
        count => format!("{count} ranges of the queue are damaged"),
    };
    let error = Error::new(ErrorKind::Corrupt, text).at(&first.path);
    Err(error.with_range(first.range.clone()).into())
}
