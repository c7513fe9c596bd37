//! `spanlog bench`: how fast this machine appends and reads.

mod figure;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use clap::{Args, value_parser};
use indicatif::ProgressBar;
use spanlog::{Message, QueueOffset, ReadLimits, ReadStatus, Result, Store, quantity};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::opening::StoreArgs;
use crate::output::Output;
use crate::progress::{self, Unit};

use figure::Figure;

const AFTER_HELP: &str = "\
Examples:
  spanlog bench
  spanlog bench --size 128 --size 64KiB --batch 16 --threads 2
  spanlog bench --in /mnt/slow --durable --messages 5000 --json

Without a store, a temporary one is made and removed. A store that is named keeps what was appended,
under topic `spanlog_bench`.

In JSON each figure is one object on a line: name (append, read_slices, read_verified), size_bytes,
batch, threads, durable, messages, elapsed_ms, messages_per_s, body_bytes_per_s.";

const TOPIC: &str = "spanlog_bench";

/// Body bytes per size, unless told otherwise.
const DEFAULT_BYTES: u64 = 128 << 20;

/// Durable appends per thread, unless told otherwise: each batch is a flush of the device.
const DEFAULT_DURABLE: u64 = 2000;

/// What to measure.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct BenchArgs {
    /// Where the temporary store is made [default: the system's directory for those]
    #[arg(long = "in", value_name = "DIR", conflicts_with_all = ["root", "conf"])]
    pub place: Option<std::path::PathBuf>,
    /// Size of a body; can be repeated [default: 128 and 1024]
    #[arg(long = "size", value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub sizes: Vec<u64>,
    /// How many messages of each size [default: 128 MiB of bodies; 2000 a thread if durable]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub messages: Option<u64>,
    /// Messages appended together
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=100_000))]
    pub batch: u32,
    /// Threads that append, each to a queue of its own
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Waits for the device after each batch
    #[arg(long)]
    pub durable: bool,
    /// The store, if not a temporary one.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Measures.
///
/// # Errors
/// What the store says.
pub fn run(args: &BenchArgs, output: &mut Output) -> Outcome<()> {
    if args.store.is_named() {
        let store = args.store.target()?.open(output)?;
        return measure(args, &store, output);
    }
    let place = args.place.clone().unwrap_or_else(std::env::temp_dir);
    let failed = |error| Failure::file("make a temporary store", &place, &error);
    let dir =
        tempfile::Builder::new().prefix("spanlog-bench-").tempdir_in(&place).map_err(failed)?;
    let store = temporary(args, dir.path(), output)?;
    let outcome = measure(args, &store, output);
    drop(store);
    outcome.and(dir.close().map_err(failed))
}

/// Segments small enough that a small disk takes several.
fn temporary(args: &BenchArgs, dir: &Path, output: &Output) -> Outcome<Store> {
    let mut target = args.store.target_at(&dir.join("store"))?;
    if args.store.options.segment_size.is_none() {
        target.options.segment_len_bytes = 256 << 20;
    }
    target.open(output)
}

fn measure(args: &BenchArgs, store: &Store, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let sizes = if args.sizes.is_empty() { &[128, 1024][..] } else { &args.sizes };
    for &size in sizes {
        let froms = ends(args, store)?;
        append_all(args, store, size, &interrupt, output)?.print(output)?;
        store.catch_up()?;
        for verified in [false, true] {
            read_all(args, store, size, verified, &froms)?.print(output)?;
        }
        output.flush()?;
        if interrupt.is_asked() {
            return Err(Failure::interrupted("stopped"));
        }
    }
    Ok(store.close()?)
}

impl BenchArgs {
    /// Messages of one thread.
    fn share(&self, size: u64) -> u64 {
        let threads = u64::from(self.threads);
        let all = match (self.messages, self.durable) {
            (Some(count), _) => count,
            (None, true) => DEFAULT_DURABLE * threads * u64::from(self.batch),
            (None, false) => DEFAULT_BYTES / size.max(32),
        };
        all.div_ceil(threads)
    }
}

/// Where the queues end before anything is appended.
fn ends(args: &BenchArgs, store: &Store) -> Outcome<Vec<QueueOffset>> {
    store.catch_up()?;
    let end = |queue| store.bounds(TOPIC, queue).map_or(QueueOffset::ZERO, |bounds| bounds.max);
    Ok((0..args.threads).map(end).collect())
}

fn append_all<'a>(
    args: &'a BenchArgs,
    store: &Store,
    size: u64,
    interrupt: &Interrupt,
    output: &Output,
) -> Outcome<Figure<'a>> {
    let share = args.share(size);
    let total = share * u64::from(args.threads);
    let bar = progress::bar(output.shows_progress(), Unit::Count, Some(total), "appending");
    let failed = AtomicBool::new(false);
    let stop = || interrupt.is_asked() || failed.load(Ordering::Acquire);
    let work = |queue| {
        let outcome = append_share(args, store, size, queue, &stop, &bar);
        failed.fetch_or(outcome.is_err(), Ordering::AcqRel);
        outcome
    };
    let began = Instant::now();
    let outcomes: Vec<Result<u64>> = thread::scope(|scope| {
        let work = &work;
        let queues = 0..args.threads;
        let threads: Vec<_> = queues.map(|queue| scope.spawn(move || work(queue))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread does not panic")).collect()
    });
    let elapsed = began.elapsed();
    bar.finish_and_clear();
    let messages = outcomes.into_iter().sum::<Result<u64>>()?;
    Ok(Figure::new("append", args, size, messages, elapsed))
}

/// One thread's messages; gives how many there were.
fn append_share(
    args: &BenchArgs,
    store: &Store,
    size: u64,
    queue: u32,
    stop: &dyn Fn() -> bool,
    bar: &ProgressBar,
) -> Result<u64> {
    let body = vec![b'x'; usize::try_from(size).expect("a body fits memory")];
    let share = args.share(size);
    let batch = vec![Message::new(TOPIC, queue, &body); args.batch as usize];
    let mut done = 0;
    let mut shown = 0;
    while done < share && !stop() {
        let left = usize::try_from(share - done).unwrap_or(usize::MAX);
        let messages = &batch[..batch.len().min(left)];
        match args.durable {
            true => store.append_batch_durable(messages)?,
            false => store.append_batch(messages)?,
        };
        done += messages.len() as u64;
        // The bar is shared: telling it of every message would be what is measured.
        if done - shown >= 1024 {
            bar.inc(done - shown);
            shown = done;
        }
    }
    Ok(done)
}

fn read_all<'a>(
    args: &'a BenchArgs,
    store: &Store,
    size: u64,
    verified: bool,
    froms: &[QueueOffset],
) -> Outcome<Figure<'a>> {
    let began = Instant::now();
    let (mut messages, mut bytes) = (0, 0);
    for (queue, &from) in (0..args.threads).zip(froms) {
        let (count, sum) = read_queue(store, queue, from, verified)?;
        messages += count;
        bytes += sum;
    }
    let elapsed = began.elapsed();
    assert!(bytes >= messages * size, "every body was seen");
    let name = if verified { "read_verified" } else { "read_slices" };
    Ok(Figure::new(name, args, size, messages, elapsed))
}

/// Messages and record bytes of a queue from `from` on.
fn read_queue(
    store: &Store,
    queue: u32,
    mut from: QueueOffset,
    verified: bool,
) -> Result<(u64, u64)> {
    let (mut messages, mut bytes) = (0, 0);
    loop {
        let batch = store.read(TOPIC, queue, from, ReadLimits::default())?;
        if batch.status() != ReadStatus::Found {
            return Ok((messages, bytes));
        }
        for stored in batch.iter() {
            bytes += match verified {
                true => u64::from(stored.decode_verified()?.size()),
                false => stored.bytes().len() as u64,
            };
            messages += 1;
        }
        from = batch.next();
    }
}
