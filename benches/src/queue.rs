//! Queue mode: pushing, popping, both together, opening again, and the memory it takes.
//!
//! Default options: segments of 256 KiB, checksums on, a flush every second or 10,000 records. Each
//! side keeps its queue over its runs, so what is counted runs on files that are used again, as a
//! queue does for all its life but the first lap.

use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use spanlog::base::crc::checksum;
use spanlog::record::FRAME_HEAD_BYTES;
use spanlog::{Position, Queue, QueueBatch, QueueOptions, QueueReader};

use crate::harness::{Figure, Outcome, Setup, Side, median, per_second};
use crate::load::{Sizes, body};
use crate::reopen::{first_line, start_child};

/// Records that a consumer takes at once.
const BATCH: usize = 1000;

const NOW: Duration = Duration::ZERO;

/// The backlog of a queue that is opened again: what the original's defaults hold.
const REOPEN_BYTES: u64 = 516 << 20;

fn options() -> QueueOptions {
    QueueOptions::new().capacity_segments(4000)
}

fn open(setup: &Setup, name: &str) -> Outcome<(Queue, QueueReader)> {
    let queue = Queue::open(setup.dir.join(name), options())?;
    let reader = queue.reader("bench")?;
    Ok((queue, reader))
}

/// Pops and commits everything.
fn drain(reader: &QueueReader, batch: &mut QueueBatch) -> Outcome<u64> {
    let mut count = 0;
    while reader.pop_into(batch, BATCH, u64::MAX, NOW)? > 0 {
        count += batch.len() as u64;
        reader.commit(batch.end().expect("not empty"))?;
    }
    batch.clear();
    Ok(count)
}

/// Records pushed per second; they are drained before the next run, and that is not counted.
fn pushes(queue: &Queue, reader: &QueueReader, count: u64, body: &[u8]) -> Outcome<f64> {
    let rate = per_second(count, || {
        for _ in 0..count {
            queue.push(body)?;
        }
        Ok(())
    })?;
    assert_eq!(drain(reader, &mut QueueBatch::new())?, count);
    Ok(rate)
}

/// One `write` of the same frame per record, its checksum computed.
fn writes(setup: &Setup, count: u64, body: &[u8]) -> Outcome<f64> {
    let path = setup.dir.join("plain");
    let mut file = OpenOptions::new().append(true).create_new(true).open(&path)?;
    let frame = [&vec![7; FRAME_HEAD_BYTES as usize][..], body].concat();
    let rate = per_second(count, || {
        for _ in 0..count {
            black_box(checksum(black_box(body)));
            file.write_all(&frame)?;
        }
        Ok(())
    })?;
    fs::remove_file(path)?;
    Ok(rate)
}

fn microseconds(rate: f64) -> f64 {
    1e6 / rate
}

/// 8 KiB, one by one; the baseline is `write`.
pub fn push_8k(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.large / 8, body(8192));
    let (queue, reader) = open(setup, "queue")?;
    let mut sides: [Side<'_>; 2] = [
        Box::new(|| Ok(microseconds(pushes(&queue, &reader, count, &body)?))),
        Box::new(|| Ok(microseconds(writes(setup, count, &body)?))),
    ];
    figure(setup, "queue_push_8k", count * 8216, &mut sides)
}

/// 128 bytes, one by one; the baseline is `write`.
pub fn push_128(setup: &Setup) -> Outcome<Vec<Figure>> {
    push_beside_write(setup, "queue_push_128", setup.sizes.small * 2, &body(128))
}

/// 1 KiB, one by one; the baseline is `write`.
pub fn push_1k(setup: &Setup) -> Outcome<Vec<Figure>> {
    push_beside_write(setup, "queue_push_1k", setup.sizes.large, &body(1024))
}

fn push_beside_write(
    setup: &Setup,
    name: &'static str,
    count: u64,
    body: &[u8],
) -> Outcome<Vec<Figure>> {
    let (queue, reader) = open(setup, "queue")?;
    let mut sides: [Side<'_>; 2] = [
        Box::new(|| pushes(&queue, &reader, count, body)),
        Box::new(|| writes(setup, count, body)),
    ];
    figure(setup, name, count * (body.len() as u64 + FRAME_HEAD_BYTES), &mut sides)
}

/// Two threads push 1 KiB each into one queue; the baseline is one thread that pushes as many.
pub fn two_producers(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.large, body(1024));
    let (queue, reader) = open(setup, "queue")?;
    let half = || (0..count / 2).try_for_each(|_| queue.push(&body).map(drop_position));
    let doubles = || {
        let rate = per_second(count, || {
            thread::scope(|scope| {
                let other = scope.spawn(half);
                half()?;
                other.join().expect("the second producer does not panic")?;
                Ok(())
            })
        })?;
        drain(&reader, &mut QueueBatch::new())?;
        Ok(rate)
    };
    let mut sides: [Side<'_>; 2] =
        [Box::new(doubles), Box::new(|| pushes(&queue, &reader, count, &body))];
    figure(setup, "queue_push_1k_two_producers", count * 1048, &mut sides)
}

fn drop_position(_: Position) {}

fn figure(
    setup: &Setup,
    name: &'static str,
    bytes: u64,
    sides: &mut [Side<'_>; 2],
) -> Outcome<Vec<Figure>> {
    let medians = setup.in_turns(bytes, sides)?;
    Ok(vec![Figure { name, value: medians[0], baseline: Some(medians[1]) }])
}

/// 8 KiB pushed and popped in turn, committed every 100; the baseline is the `write` alone.
pub fn pair_8k(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.large / 8, body(8192));
    let (queue, reader) = open(setup, "queue")?;
    let mut batch = QueueBatch::new();
    let pairs = || {
        let rate = per_second(count, || {
            for number in 0..count {
                queue.push(&body)?;
                reader.pop_into(&mut batch, 1, u64::MAX, NOW)?;
                let end = batch.end().ok_or("what was pushed can be popped")?;
                if number % 100 == 99 {
                    reader.commit(end)?;
                }
            }
            Ok(())
        })?;
        drain(&reader, &mut batch)?;
        Ok(microseconds(rate))
    };
    let mut sides: [Side<'_>; 2] =
        [Box::new(pairs), Box::new(|| Ok(microseconds(writes(setup, count, &body)?)))];
    figure(setup, "queue_pair_8k", count * 8216, &mut sides)
}

/// 128 bytes popped in batches, every checksum verified.
pub fn pop_128(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.small * 2, body(128));
    let (queue, reader) = open(setup, "queue")?;
    let mut batch = QueueBatch::new();
    let pops = || {
        (0..count).try_for_each(|_| queue.push(&body).map(drop_position))?;
        per_second(count, || {
            assert_eq!(drain(&reader, &mut batch)?, count);
            Ok(())
        })
    };
    let mut sides: [Side<'_>; 1] = [Box::new(pops)];
    let value = setup.in_turns(count * 152, &mut sides)?[0];
    Ok(vec![Figure { name: "queue_pop_128", value, baseline: None }])
}

/// A producer and a consumer of 1 KiB at once: records per second, processor time of the whole
/// process for each, and how long the slowest push in a thousand took.
pub fn end_to_end(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.large * 2, body(1024));
    let (queue, reader) = open(setup, "queue")?;
    let (mut rates, mut processor, mut slow) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=setup.sizes.rounds {
        setup.warm(count * 1048)?;
        let before = processor_seconds()?;
        let rate = per_second(count, || together(&queue, &reader, count, &body))?;
        let used = processor_seconds()? - before;
        let slowest = slowest_in_a_thousand(&queue, &reader, count, &body)?;
        // The first one makes the files.
        if round > 0 {
            rates.push(rate);
            processor.push(used * 1e6 / count as f64);
            slow.push(slowest);
            eprintln!("  round {round}: {rate:.0} | {:.2} | {slowest:.1}", processor[round - 1]);
        }
    }
    let row = |name, samples: &mut [f64]| Figure { name, value: median(samples), baseline: None };
    Ok(vec![
        row("queue_end_to_end_1k", &mut rates),
        row("queue_end_to_end_1k_processor", &mut processor),
        row("queue_push_1k_slowest_in_1000", &mut slow),
    ])
}

fn together(queue: &Queue, reader: &QueueReader, count: u64, body: &[u8]) -> Outcome<()> {
    thread::scope(|scope| {
        let consumer = scope.spawn(|| consume(reader, count).map_err(|error| error.to_string()));
        for _ in 0..count {
            queue.push(body)?;
        }
        Ok(consumer.join().expect("the consumer does not panic")?)
    })
}

fn consume(reader: &QueueReader, count: u64) -> Outcome<()> {
    let (mut batch, mut left) = (QueueBatch::new(), count);
    while left > 0 {
        left -= reader.pop_into(&mut batch, BATCH, 1 << 20, Duration::from_secs(10))? as u64;
        reader.commit(batch.end().ok_or("the producer stopped")?)?;
    }
    Ok(())
}

/// Microseconds, while a consumer runs.
fn slowest_in_a_thousand(
    queue: &Queue,
    reader: &QueueReader,
    count: u64,
    body: &[u8],
) -> Outcome<f64> {
    let mut times = Vec::with_capacity(count as usize);
    thread::scope(|scope| {
        let consumer = scope.spawn(|| consume(reader, count).map_err(|error| error.to_string()));
        for _ in 0..count {
            let start = Instant::now();
            queue.push(body)?;
            times.push(start.elapsed());
        }
        Outcome::Ok(consumer.join().expect("the consumer does not panic")?)
    })?;
    times.sort();
    Ok(times[times.len() * 999 / 1000].as_secs_f64() * 1e6)
}

/// Processor time that this process has used.
fn processor_seconds() -> Outcome<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    // The name may hold blanks; behind it are a state and 11 numbers, then the two times.
    let rest = text.rsplit_once(')').ok_or("no such file")?.1;
    let ticks = rest.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Ok(ticks.sum::<Result<u64, _>>()? as f64 / 100.0)
}

/// Opening a queue with a backlog of 516 MiB whose process was killed, in the page cache.
pub fn reopen(setup: &Setup) -> Outcome<Vec<Figure>> {
    let root = setup.dir.join("queue");
    let mut samples = Vec::new();
    for _ in 0..setup.sizes.rounds {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let mut child = start_child("queue-fill", &root)?;
        let line = first_line(&mut child)?;
        child.kill()?;
        child.wait()?;
        assert_eq!(line, "filled", "the queue could not be filled");
        let start = Instant::now();
        let queue = Queue::open(&root, options())?;
        samples.push(start.elapsed().as_secs_f64());
        eprintln!("  {:.4}: {:?}", samples.last().expect("just now"), queue.recovery());
    }
    let value = median(&mut samples);
    Ok(vec![Figure { name: "queue_reopen_516m", value, baseline: None }])
}

/// What a queue with a backlog of 4 GiB takes of memory beyond its maps.
pub fn resident(setup: &Setup) -> Outcome<Vec<Figure>> {
    let mut child = start_child("queue-resident", &setup.dir.join("queue"))?;
    let line = first_line(&mut child)?;
    child.wait()?;
    Ok(vec![Figure { name: "queue_resident_mib", value: line.parse()?, baseline: None }])
}

fn fill(queue: &Queue, bytes: u64) -> Outcome<()> {
    let body = body(1024);
    while queue.push(&body)?.get() < bytes {}
    Ok(())
}

/// What a child of [`reopen`] does.
pub fn fill_and_wait(root: &Path) -> Outcome<()> {
    let bytes = REOPEN_BYTES.min(Sizes::from_environment().store_bytes);
    let queue = Queue::open(root, options())?;
    fill(&queue, bytes)?;
    println!("filled");
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// What a child of [`resident`] does: prints MiB.
pub fn fill_and_measure(root: &Path) -> Outcome<()> {
    let bytes = Sizes::from_environment().store_bytes;
    let before = resident_bytes()?;
    let options = options().capacity_segments(20_000);
    let maps = options.max_in_memory_segments * options.segment_len_bytes;
    let queue = Queue::open(root, options)?;
    fill(&queue, bytes)?;
    let grown = resident_bytes()?.saturating_sub(before);
    println!("{:.3}", grown.saturating_sub(maps) as f64 / f64::from(1 << 20));
    Ok(())
}

fn resident_bytes() -> Outcome<u64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")).ok_or("no such line")?;
    Ok(kib.trim().parse::<u64>()? * 1024)
}
