//! `spanlog queue`: queue mode, from the command line.

mod bench;
mod import;
mod pop;
mod push;
mod stat;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::OsStringValueParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use spanlog::{
    Error, ErrorKind, OnFull, Queue, QueueDurability, QueueOptions, QueueRecord, Thresholds,
    quantity,
};

use crate::directory::DirectoryArg;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

const AFTER_HELP: &str = "\
Examples:
  spanlog queue push --root /data/q --lines events.log
  spanlog queue pop --root /data/q --count 100 --wait 5s
  spanlog queue push --root /data/q --on-full block=10s --durability group 'one event'
  spanlog queue stat --root /data/q --json
  spanlog queue import /var/lib/satellite/pipe --root /data/q

A queue is its own format in its own directory: records in, records out, in order, with a fixed
budget of disk and memory. What is popped is committed once it is written to the output.";

/// Queue mode.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct QueueCommand {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with a queue.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Push one record, or each line of a file or of standard input
    Push(push::PushArgs),
    /// Pop records and commit them once they are written out
    Pop(pop::PopArgs),
    /// Show the next record, which stays the next
    Peek(pop::PeekArgs),
    /// Show positions, lengths, files and readers
    Stat(stat::StatArgs),
    /// Read every record that is kept and check it
    Verify(stat::VerifyArgs),
    /// Measure pushing and popping
    Bench(bench::BenchArgs),
    /// Push what a queue directory of SkyWalking Satellite holds; the directory stays as it is
    Import(import::ImportArgs),
}

/// Which queue, and how it is opened.
#[derive(Args, Debug)]
#[command(next_help_heading = "Queue")]
pub struct QueueArgs {
    /// The queue's root directory: marks, and `segments` unless --path is given
    #[arg(long, value_name = "DIR")]
    pub root: PathBuf,
    /// How it is opened.
    #[command(flatten)]
    pub options: QueueOptionArgs,
}

/// How a queue is opened.
#[derive(Args, Debug)]
#[command(next_help_heading = "Queue options")]
pub struct QueueOptionArgs {
    /// A directory of segments; repeat it for each. A queue remembers them
    #[arg(long = "path", value_name = "DIR[=SETTING,...]",
        value_parser = OsStringValueParser::new().try_map(|text| DirectoryArg::parse(&text)))]
    pub paths: Vec<DirectoryArg>,
    /// Length of a new queue's segments, whole pages, as in 256KiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub segment_size: Option<u64>,
    /// The most segment files there may be [default: 2000]
    #[arg(long, value_name = "N")]
    pub capacity: Option<u64>,
    /// The most bytes of segment files, as in 4GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub capacity_size: Option<u64>,
    /// The most segments that are mapped at a time [default: 64]
    #[arg(long, value_name = "N")]
    pub mapped: Option<u64>,
    /// The longest record, as in 4MiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub max_record: Option<u64>,
    /// What a push does when the queue is full: refuse, drop-oldest, or block=DURATION
    #[arg(long, value_name = "CHOICE", value_parser = on_full)]
    pub on_full: Option<OnFull>,
    /// When records are durable: none, interval, group (before a push returns) or each
    #[arg(long, value_name = "CHOICE", value_parser = durability)]
    pub durability: Option<QueueDurability>,
}

fn on_full(text: &str) -> Result<OnFull, String> {
    match (text, text.strip_prefix("block=")) {
        ("refuse", _) => Ok(OnFull::Refuse),
        ("drop-oldest", _) => Ok(OnFull::DropOldest),
        (_, Some(time)) => match quantity::parse_duration_ms(time) {
            Ok(time_ms) => Ok(OnFull::Block(Duration::from_millis(time_ms))),
            Err(error) => Err(error.message().to_owned()),
        },
        _ => Err("it must be refuse, drop-oldest or block=DURATION".into()),
    }
}

fn durability(text: &str) -> Result<QueueDurability, String> {
    match text {
        "none" => Ok(QueueDurability::None),
        "interval" => Ok(QueueDurability::default()),
        "group" => Ok(QueueDurability::Group),
        "each" => Ok(QueueDurability::Each),
        _ => Err("it must be none, interval, group or each".into()),
    }
}

impl QueueOptionArgs {
    /// The options that are given; what is not is the default.
    pub fn options(&self) -> QueueOptions {
        let mut options = QueueOptions::new();
        let own = &mut options;
        let sizes = [
            (&mut own.segment_len_bytes, self.segment_size),
            (&mut own.capacity_segments, self.capacity),
            (&mut own.capacity_bytes, self.capacity_size),
            (&mut own.max_in_memory_segments, self.mapped),
            (&mut own.max_record_bytes, self.max_record),
        ];
        for (field, given) in sizes {
            *field = given.unwrap_or(*field);
        }
        // A limit in bytes alone is no limit in segments.
        if self.capacity.is_none() && self.capacity_size.is_some() {
            options.capacity_segments = 1 << 24;
        }
        options.on_full = self.on_full.unwrap_or(options.on_full);
        options.durability = self.durability.unwrap_or(options.durability);
        let thresholds = Thresholds::default();
        options.directories = self.paths.iter().map(|path| path.options(thresholds)).collect();
        options
    }
}

impl QueueArgs {
    /// Opens the queue, or makes one.
    pub fn open(&self) -> Outcome<Queue> {
        Ok(Queue::open(&self.root, self.options.options())?)
    }

    /// Opens a queue that must be there. What is not given about its capacity is what it was, as
    /// far as that goes: looking at a queue must not fail because it is large.
    pub fn open_existing(&self) -> Outcome<Queue> {
        let mut options = self.options.options().create(false);
        if self.options.capacity.is_none() && self.options.capacity_size.is_none() {
            options.capacity_segments = 1 << 24;
        }
        Ok(Queue::open(&self.root, options)?)
    }
}

/// Does what is asked for.
///
/// # Errors
/// What the queue says.
pub fn run(command: &QueueCommand, output: &mut Output) -> Outcome<()> {
    match &command.action {
        Action::Push(args) => push::run(args, output),
        Action::Pop(args) => pop::run(args, output),
        Action::Peek(args) => pop::peek(args, output),
        Action::Stat(args) => stat::run(args, output),
        Action::Verify(args) => stat::verify(args, output),
        Action::Bench(args) => bench::run(args, output),
        Action::Import(args) => import::run(args, output),
    }
}

/// Closes the queue whatever came before, and tells the first failure.
fn closing(queue: &Queue, outcome: Outcome<()>) -> Outcome<()> {
    let closed = queue.close().map_err(Failure::from);
    outcome.map_err(Failure::while_working).and(closed)
}

/// A record as an object: text where it is UTF-8, else base64.
fn record_object(record: &QueueRecord) -> Value {
    let (text, base64) = crate::message::text_or_base64(&record.payload);
    json!({
        "number": record.number,
        "position": record.position.get(),
        "end": record.end.get(),
        "payload": text,
        "payload_base64": base64,
    })
}

/// The error of a directory that holds no queue.
fn no_record(root: &Path) -> Failure {
    Error::new(ErrorKind::Invalid, "the queue has no record").at(root).into()
}
