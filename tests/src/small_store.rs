//! A small store for tests that damage, fill or interrupt it: three directories, segments of
//! 4 KiB, one topic with three queues, and messages that carry their number.

use std::path::Path;
use std::sync::Arc;

use spanlog::disk::{Disk, ManualClock};
use spanlog::{Error, Message, Options, QueueOffset, ReadLimits, ReadStatus, Receipt, Store};

/// Its root.
pub const ROOT: &str = "/store";

/// The only topic.
pub const TOPIC: &str = "orders";

/// Message `n` goes to queue `n % QUEUES`.
pub const QUEUES: u32 = 3;

/// The time at which it lives, in milliseconds since 1970.
pub const NOW_MS: i64 = 1_700_000_000_000;

/// Its options, without directories: those that it remembers.
#[must_use]
pub fn bare_options() -> Options {
    Options::new().segment_len_bytes(4096).queue_file_len_bytes(400).background(false)
}

/// Its options, with its directories.
#[must_use]
pub fn options() -> Options {
    bare_options().directory("/d0").directory("/d1").directory("/d2")
}

/// Opens it on any disk.
///
/// # Errors
/// What opening says.
pub fn open(disk: &Arc<impl Disk + 'static>, options: Options) -> Result<Store, Error> {
    open_at(disk, options, NOW_MS)
}

/// Opens it on any disk, with the clock standing at `now_ms`.
///
/// # Errors
/// What opening says.
pub fn open_at(
    disk: &Arc<impl Disk + 'static>,
    options: Options,
    now_ms: i64,
) -> Result<Store, Error> {
    let disk: Arc<dyn Disk> = Arc::clone(disk) as Arc<_>;
    Store::open_on(disk, Arc::new(ManualClock::new(now_ms)), ROOT, options)
}

/// The payload of message `number`: 30 to 230 bytes.
#[must_use]
pub fn body(number: u32) -> String {
    let filler = "abcdefghij".repeat((number % 21) as usize);
    format!("message {number:8} {filler}")
}

/// Appends one message.
///
/// # Errors
/// What appending says.
pub fn try_append(store: &Store, number: u32) -> Result<Receipt, Error> {
    store.append(&Message::new(TOPIC, number % QUEUES, body(number).as_bytes()))
}

/// Appends messages, every one without error.
///
/// # Panics
/// If one is refused.
pub fn append(store: &Store, numbers: std::ops::Range<u32>) {
    for number in numbers {
        try_append(store, number).expect("the message is appended");
    }
}

/// The numbers of all messages that can be read from a queue, verified and in order.
///
/// # Errors
/// What reading says, or what is wrong with a message.
pub fn numbers(store: &Store, queue: u32) -> Result<Vec<u32>, Error> {
    let mut numbers = Vec::new();
    let mut from = store.bounds(TOPIC, queue).map_or(QueueOffset::ZERO, |bounds| bounds.min);
    loop {
        let batch = store.read(TOPIC, queue, from, ReadLimits::default())?;
        if !matches!(batch.status(), ReadStatus::Found | ReadStatus::Removed) {
            return Ok(numbers);
        }
        for stored in batch.iter() {
            numbers.push(number_in(stored.decode_verified()?.body()));
        }
        assert!(batch.next() > from, "a read goes on");
        from = batch.next();
    }
}

/// Asserts that exactly the messages of `expected` can be read.
///
/// # Panics
/// If not.
pub fn check(store: &Store, expected: std::ops::Range<u32>) {
    store.catch_up().expect("everything is indexed");
    for queue in 0..QUEUES {
        let own: Vec<_> = expected.clone().filter(|number| number % QUEUES == queue).collect();
        assert_eq!(numbers(store, queue).expect("reads"), own, "queue {queue}");
    }
}

/// The files below a directory, with their lengths, sorted.
#[must_use]
pub fn files(disk: &dyn Disk, dir: &Path) -> Vec<(std::path::PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in disk.list(dir).unwrap_or_default() {
        let path = dir.join(&entry.name);
        match entry.kind {
            spanlog::disk::EntryKind::Directory => found.extend(files(disk, &path)),
            _ => found.push((path, entry.len)),
        }
    }
    found.sort();
    found
}

/// What can still be read of a damaged store.
#[derive(Debug, Default)]
pub struct Survivors {
    /// The numbers of the messages that are whole, ascending.
    pub numbers: Vec<u32>,
    /// What was said about the others.
    pub errors: Vec<Error>,
}

/// Reads every queue from end to end, over whatever cannot be read.
///
/// # Panics
/// If a message is not what was written and nobody noticed.
#[must_use]
pub fn survivors(store: &Store) -> Survivors {
    let mut found = Survivors::default();
    for queue in 0..QUEUES {
        survivors_of(store, queue, &mut found);
    }
    found.numbers.sort_unstable();
    found
}

fn survivors_of(store: &Store, queue: u32, found: &mut Survivors) {
    let Some(bounds) = store.bounds(TOPIC, queue) else { return };
    let mut from = bounds.min;
    while from < bounds.max {
        match store.read(TOPIC, queue, from, ReadLimits::default()) {
            Ok(batch) => {
                for stored in batch.iter() {
                    match stored.decode_verified() {
                        Ok(view) => found.numbers.push(number_in(view.body())),
                        Err(error) => found.errors.push(error),
                    }
                }
                assert!(batch.next() > from, "a read goes on: {:?}", batch.status());
                from = batch.next();
            }
            Err(error) => {
                found.errors.push(error);
                from += 1;
            }
        }
    }
}

/// The number in a payload, which must be whole.
fn number_in(payload: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(payload);
    let number = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    let number = number.unwrap_or_else(|| panic!("damage that nobody noticed: {text}"));
    assert_eq!(text, body(number), "damage that nobody noticed");
    number
}
