//! What the process that is killed while it pushes into a queue, and the test that kills it,
//! agree on.

use std::path::Path;

use spanlog::{QueueDurability, QueueOptions};

/// How the queue is opened by both: three directories, segments that are soon full.
#[must_use]
pub fn options(dir: &Path, durability: &str) -> QueueOptions {
    let durability = match durability {
        "group" => QueueDurability::Group,
        "each" => QueueDurability::Each,
        _ => QueueDurability::Interval { interval_ms: 5, records: 100 },
    };
    let options = QueueOptions::new()
        .segment_len_bytes(16 * 1024)
        .capacity_segments(400)
        .max_in_memory_segments(8)
        .durability(durability);
    let dirs = ["a", "b", "c"].map(|name| dir.join(name));
    dirs.iter().fold(options, |options, dir| options.directory(dir))
}

/// How many records push `number` has: mostly one.
#[must_use]
pub fn push_len(number: u64) -> u64 {
    if number.is_multiple_of(5) { 2 + number % 3 } else { 1 }
}

/// The payload of record `member` of push `number`; now and then longer than a segment.
#[must_use]
pub fn payload(number: u64, member: u64) -> Vec<u8> {
    let repeats = if number.is_multiple_of(31) { 2000 } else { number * 13 % 61 };
    format!("{number} {member} {}", "0123456789".repeat(repeats as usize)).into_bytes()
}
