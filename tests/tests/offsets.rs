//! Offsets that are asked for and given out at the edges: of a read's limits, of what is kept, of
//! an append that fails.

use std::sync::Arc;

use spanlog::disk::MemDisk;
use spanlog::{ErrorKind, Message, QueueOffset, ReadLimits, ReadStatus, Store, Task};
use spanlog_tests::small_store::{TOPIC, append, check, open, options, try_append};

/// How many messages a read from the first one gives.
fn count(store: &Store, max_messages: usize, max_bytes: u64) -> usize {
    let limits = ReadLimits { max_messages, max_bytes };
    store.read("t", 0, QueueOffset::ZERO, limits).unwrap().len()
}

#[test]
fn a_read_gives_as_much_as_its_limits_say() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    let message = Message::new("t", 0, b"always of one length");
    let first = store.append(&message).unwrap();
    let len = first.end.get() - first.position.get();
    for _ in 1..40 {
        store.append(&message).unwrap();
    }
    store.catch_up().unwrap();
    for max in [1, 2, 32, 39, 40, 41, usize::MAX] {
        assert_eq!(count(&store, max, 1 << 20), max.min(40));
    }
    // One message is given however few bytes are wanted: else nobody gets past it.
    let rows = [(0, 1), (1, 1), (len - 1, 1), (len, 1), (2 * len - 1, 1), (2 * len, 2)];
    for (bytes, expected) in rows {
        assert_eq!(count(&store, 40, bytes), expected, "{bytes} bytes");
    }
    assert_eq!(count(&store, 40, u64::MAX), 40);
    let none = ReadLimits { max_messages: 0, ..ReadLimits::default() };
    let refused = store.read("t", 0, QueueOffset::ZERO, none).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}

#[test]
fn a_failed_append_leaves_no_gap() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    let (small, large) = (vec![1; 50], vec![2; 5000]);
    let small = Message::new("t", 0, &small);
    let large = Message::new("t", 0, &large);
    // Enough for several segments: some failures come right before a roll.
    for number in 0..60 {
        assert_eq!(store.append(&small).unwrap().queue_offset.get(), number);
        let alone = store.append(&large).unwrap_err();
        let beside = store.append_batch(&[small.clone(), large.clone()]).unwrap_err();
        assert_eq!((alone.kind(), beside.kind()), (ErrorKind::TooLarge, ErrorKind::TooLarge));
    }
    assert!(store.segments().len() > 2);
    store.catch_up().unwrap();
    assert_eq!(count(&store, 100, 1 << 20), 60);
    assert_eq!(store.bounds("t", 0).unwrap().max.get(), 60);
}

#[test]
fn reading_outside_of_what_is_kept_says_where_to_go_on() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options().retention_ms(0)).unwrap();
    append(&store, 0..60);
    for task in [Task::Index, Task::Flush, Task::Checkpoint] {
        store.run(task).unwrap();
    }
    store.clean_now().unwrap();
    store.run(Task::Clean).unwrap();
    let bounds = store.bounds(TOPIC, 0).unwrap();
    let (min, max) = (bounds.min.get(), bounds.max.get());
    assert!(0 < min && min < max, "{bounds:?}");
    let rows = [
        (0, ReadStatus::TooSmall, min),
        (min - 1, ReadStatus::TooSmall, min),
        (min, ReadStatus::Found, max),
        (max - 1, ReadStatus::Found, max),
        (max, ReadStatus::AtEnd, max),
        (max + 1, ReadStatus::TooLarge, max),
        (i64::MAX as u64, ReadStatus::TooLarge, max),
        (u64::MAX, ReadStatus::TooLarge, max),
    ];
    for (from, status, next) in rows {
        let batch = store.read(TOPIC, 0, QueueOffset::new(from), ReadLimits::default()).unwrap();
        assert_eq!((batch.status(), batch.next().get()), (status, next), "from {from}");
    }
    // What comes next is found where the end was, and not where anybody had been sent.
    try_append(&store, 60).unwrap();
    store.catch_up().unwrap();
    let batch = store.read(TOPIC, 0, bounds.max, ReadLimits::default()).unwrap();
    assert_eq!((batch.status(), batch.len()), (ReadStatus::Found, 1));
}

#[test]
fn a_log_that_does_not_begin_at_zero_is_flushed_and_goes_on() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options().retention_ms(0)).unwrap();
    append(&store, 0..60);
    store.catch_up().unwrap();
    store.flush().unwrap();
    store.clean_now().unwrap();
    store.run(Task::Clean).unwrap();
    store.close().unwrap();
    let store = open(&disk, options()).unwrap();
    let kept = store.bounds(TOPIC, 0).unwrap();
    assert!(kept.min.get() > 0);
    let durable = store.append_durable(&Message::new("other", 0, b"durable")).unwrap();
    let lost = Arc::new(disk.crash(&mut || false));
    drop(store);
    let store = open(&lost, options()).unwrap();
    assert_eq!(store.bounds(TOPIC, 0), Some(kept));
    let batch = store.read("other", 0, durable.queue_offset, ReadLimits::default()).unwrap();
    assert_eq!(batch.iter().next().unwrap().decode_verified().unwrap().body(), b"durable");
}

#[test]
fn a_log_whose_queues_are_empty_is_counted_whole() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..3);
    // Nothing was indexed yet, so that no queue has a file.
    let killed = Arc::new(disk.kill());
    drop(store);
    let store = open(&killed, options()).unwrap();
    check(&store, 0..3);
    append(&store, 3..6);
    check(&store, 0..6);
    assert_eq!(store.bounds(TOPIC, 2).unwrap().max.get(), 2);
}
