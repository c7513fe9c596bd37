//! A producer that is faster than its consumer: `backlog DIRECTORY [MIB]` pushes until so many MiB
//! wait, then drains them. Started again after a kill, it goes on with what is there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread, time::Duration};

use spanlog::{Queue, QueueOptions, Result};

const MIB: u64 = 1 << 20;

fn main() -> Result<()> {
    let mut given = std::env::args().skip(1);
    let root = given.next().unwrap_or_else(|| "backlog-queue".into());
    let wanted = given.next().and_then(|text| text.parse().ok()).unwrap_or(64) * MIB;
    let options = QueueOptions::new().capacity_segments(1 << 20);
    let queue = Queue::open(&root, options.capacity_bytes(wanted + wanted / 8 + 16 * MIB))?;
    report("opened", &queue);
    let slowly = AtomicBool::new(true);
    thread::scope(|scope| {
        let consumer = scope.spawn(|| consume(&queue, &slowly));
        for eighth in 1..=8 {
            while queue.stat().bytes < wanted * eighth / 8 {
                queue.push(&record(queue.stat().pushed))?;
            }
            report("growing", &queue);
        }
        slowly.store(false, Ordering::Relaxed);
        consumer.join().expect("every record is the next one")
    })?;
    report("drained", &queue);
    queue.close()
}

/// The record of that number: 8 KiB that say so.
fn record(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(1024)
}

#[expect(clippy::disallowed_methods, reason = "what a consumer does with a record takes time")]
fn consume(queue: &Queue, slowly: &AtomicBool) -> Result<()> {
    let stat = queue.stat();
    let mut number = stat.pushed - stat.records;
    loop {
        let batch = queue.pop_many(64, MIB, Duration::from_millis(100))?;
        let Some(end) = batch.end() else { return Ok(()) };
        for payload in batch.iter() {
            assert!(payload == record(number), "what comes is not record {number}");
            number += 1;
        }
        queue.commit(end)?;
        if slowly.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn report(what: &str, queue: &Queue) {
    let stat = queue.stat();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("?");
    let files = stat.segments * stat.segment_len_bytes / MIB;
    let (pushed, committed) = (stat.pushed, stat.pushed - stat.records);
    print!("{what}: pushed {pushed}, committed {committed}, {} MiB wait", stat.bytes / MIB);
    println!(" in {files} MiB of files; resident {}", resident.trim());
}
