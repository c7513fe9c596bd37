//! What the processes agree on that use one store at the same time: one writes, many read.

use std::path::Path;

use spanlog::{Durability, Options};

/// The only topic.
pub const TOPIC: &str = "beside";

/// Queues of the topic.
pub const QUEUES: u32 = 3;

/// The body of the last message of each queue.
pub const END: &[u8] = b"end";

/// How the store is opened by all: segments and queue files that are soon full, and gone soon.
#[must_use]
pub fn options(dir: &Path) -> Options {
    let options = Options::new()
        .segment_len_bytes(64 * 1024)
        .queue_file_len_bytes(4000)
        .prepare_bytes(16 * 1024)
        .checkpoint_interval_ms(20)
        .retention_ms(100)
        .clean_pause_ms(1)
        .durability(Durability::Async { interval_ms: 5, bytes: 100_000 });
    let dirs = ["a", "b", "c"].map(|name| dir.join(name));
    dirs.iter().fold(options, |options, dir| options.directory(dir.as_path()))
}

/// The body of message `offset` of a queue.
#[must_use]
pub fn body(queue: u32, offset: u64) -> Vec<u8> {
    let filler = "0123456789".repeat((offset * 7 % 41) as usize);
    format!("{queue} {offset} {filler}").into_bytes()
}
