//! `spanlog queue pop` and `peek`.

use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use spanlog::{QueueBatch, QueueReader, QueueRecord, quantity};

use super::{QueueArgs, closing, no_record, record_object};
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::output::Output;

/// Records that are popped, written and committed together.
const BATCH_RECORDS: usize = 1000;

/// Bytes of such a batch: few maps are held at a time.
const BATCH_BYTES: u64 = 1 << 20;

/// How long one wait lasts before signals are looked at.
const PATIENCE: Duration = Duration::from_millis(100);

/// What to pop.
#[derive(Args, Debug)]
pub struct PopArgs {
    /// How many records at most [default: all there are]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// The reader: each has a cursor of its own, and the slowest holds the space
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub reader: String,
    /// Waits so long for the next record, as in 5s [default: not at all]
    #[arg(long, value_name = "DURATION", value_parser = quantity::parse_duration_ms)]
    pub wait: Option<u64>,
    /// Leaves them in the queue: the next pop gives them again
    #[arg(long)]
    pub no_commit: bool,
    /// The queue.
    #[command(flatten)]
    pub queue: QueueArgs,
}

/// What to peek at.
#[derive(Args, Debug)]
pub struct PeekArgs {
    /// The reader
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub reader: String,
    /// The queue.
    #[command(flatten)]
    pub queue: QueueArgs,
}

/// Pops.
///
/// # Errors
/// What the queue, the output or a signal says.
pub fn run(args: &PopArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let queue = args.queue.open_existing()?;
    let outcome = queue.reader(&args.reader).map_err(Into::into);
    let outcome = outcome.and_then(|reader| pop_all(args, &reader, &interrupt, output));
    closing(&queue, outcome)
}

fn pop_all(
    args: &PopArgs,
    reader: &QueueReader,
    interrupt: &Interrupt,
    output: &mut Output,
) -> Outcome<()> {
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut batch = QueueBatch::new();
    while left > 0 && !interrupt.is_asked() {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(BATCH_RECORDS);
        if !next(args, reader, interrupt, &mut batch, most)? {
            break;
        }
        (0..batch.len()).filter_map(|at| batch.get(at)).try_for_each(|own| print(&own, output))?;
        // What is not seen is not done.
        output.flush()?;
        left -= batch.len() as u64;
        if let Some(end) = batch.end().filter(|_| !args.no_commit) {
            reader.commit(end)?;
        }
    }
    Ok(())
}

/// Fills the batch, waiting as long as is wanted. Says whether anything came.
fn next(
    args: &PopArgs,
    reader: &QueueReader,
    interrupt: &Interrupt,
    batch: &mut QueueBatch,
    most: usize,
) -> Outcome<bool> {
    let (start, patience) = (Instant::now(), Duration::from_millis(args.wait.unwrap_or(0)));
    loop {
        let left = patience.saturating_sub(start.elapsed());
        if reader.pop_into(batch, most, BATCH_BYTES, left.min(PATIENCE))? > 0 {
            return Ok(true);
        }
        if left.is_zero() || interrupt.is_asked() {
            return Ok(false);
        }
    }
}

fn print(record: &QueueRecord, output: &mut Output) -> Outcome<()> {
    if output.is_json() {
        return output.object(&record_object(record));
    }
    output.bytes(&record.payload)?;
    output.bytes(b"\n")
}

/// Peeks.
///
/// # Errors
/// `invalid` for an empty queue, and what the queue says.
pub fn peek(args: &PeekArgs, output: &mut Output) -> Outcome<()> {
    let queue = args.queue.open_existing()?;
    let record = queue.reader(&args.reader).and_then(|reader| reader.peek());
    let outcome = match record {
        Ok(Some(record)) => print(&record, output),
        Ok(None) => Err(no_record(&args.queue.root)),
        Err(error) => Err(error.into()),
    };
    closing(&queue, outcome)
}
