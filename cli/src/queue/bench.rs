//! `spanlog queue bench`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;
use spanlog::{Queue, QueueBatch, quantity};

use super::QueueOptionArgs;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// Bytes of payload per size, unless told otherwise.
const DEFAULT_BYTES: u64 = 128 << 20;

/// What to measure.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Where the temporary queue is made [default: the system's directory for those]
    #[arg(long = "in", value_name = "DIR")]
    pub place: Option<PathBuf>,
    /// Size of a record; can be repeated [default: 128, 1024 and 8192]
    #[arg(long = "size", value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub sizes: Vec<u64>,
    /// How many records of each size [default: 128 MiB of them]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub records: Option<u64>,
    /// How it is opened.
    #[command(flatten)]
    pub options: QueueOptionArgs,
}

/// Measures on a temporary queue, which is removed.
///
/// # Errors
/// What the queue says.
pub fn run(args: &BenchArgs, output: &mut Output) -> Outcome<()> {
    let place = args.place.clone().unwrap_or_else(std::env::temp_dir);
    let failed = |error| Failure::file("make a temporary queue", &place, &error);
    let dir =
        tempfile::Builder::new().prefix("spanlog-bench-").tempdir_in(&place).map_err(failed)?;
    let outcome = measure(args, dir.path(), output);
    outcome.and(dir.close().map_err(failed))
}

fn measure(args: &BenchArgs, dir: &Path, output: &mut Output) -> Outcome<()> {
    let queue = Queue::open(dir.join("queue"), args.options.options())?;
    let sizes = if args.sizes.is_empty() { &[128, 1024, 8192][..] } else { &args.sizes };
    for &size in sizes {
        let records = args.records.unwrap_or(DEFAULT_BYTES / size.max(1));
        let payload = vec![7; usize::try_from(size).unwrap_or(usize::MAX)];
        let start = Instant::now();
        for _ in 0..records {
            queue.push(&payload)?;
        }
        print("push", size, records, start.elapsed(), output)?;
        let start = Instant::now();
        drain(&queue)?;
        print("pop", size, records, start.elapsed(), output)?;
        output.flush()?;
    }
    Ok(queue.close()?)
}

fn drain(queue: &Queue) -> Outcome<()> {
    let (reader, mut batch) = (queue.reader("bench")?, QueueBatch::new());
    while reader.pop_into(&mut batch, 1000, 1 << 20, Duration::ZERO)? > 0 {
        batch.end().map_or(Ok(()), |end| reader.commit(end))?;
    }
    Ok(())
}

fn print(
    name: &str,
    size: u64,
    records: u64,
    elapsed: Duration,
    output: &mut Output,
) -> Outcome<()> {
    let rate = (records as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
    if output.is_json() {
        return output.object(&json!({
            "name": name,
            "size_bytes": size,
            "records": records,
            "elapsed_ms": elapsed.as_secs_f64() * 1000.0,
            "records_per_s": rate,
        }));
    }
    let (count, bytes) = (HumanCount(rate).to_string(), HumanBytes(rate.saturating_mul(size)));
    let size = HumanBytes(size).to_string();
    output.line(format_args!("{name:<5} {size:>10} {count:>14}/s {bytes:>14}/s"))
}
