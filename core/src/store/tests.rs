//! The store on a disk in memory: opening, appending, reading, closing, recovering.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::base::units::QueueOffset;
use crate::disk::{Disk, ManualClock, MemDisk};
use crate::error::{ErrorKind, Result};
use crate::options::Options;
use crate::record::Message;

const ROOT: &str = "/store";

fn options() -> Options {
    Options::new()
        .directory("/d0")
        .directory("/d1")
        .directory("/d2")
        .segment_len_bytes(4096)
        .queue_file_len_bytes(400)
        .background(false)
}

fn open(disk: &Arc<MemDisk>, options: Options) -> Result<Store> {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    Store::open_on(Arc::clone(disk) as Arc<dyn Disk>, clock, ROOT, options)
}

fn append(store: &Store, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let body = format!("message {number}");
        store.append(&Message::new("orders", number % 3, body.as_bytes())).unwrap();
    }
}

fn bodies(store: &Store, queue: u32) -> Vec<String> {
    let mut all = Vec::new();
    let mut from = QueueOffset::ZERO;
    loop {
        let batch = store.read("orders", queue, from, ReadLimits::default()).unwrap();
        if batch.status() != ReadStatus::Found {
            return all;
        }
        for stored in batch.iter() {
            let view = stored.decode_verified().unwrap();
            assert_eq!(view.queue_offset(), all.len() as u64);
            all.push(String::from_utf8(view.body().to_vec()).unwrap());
        }
        from = batch.next();
    }
}

fn expected(queue: u32, count: u32) -> Vec<String> {
    (0..count).filter(|n| n % 3 == queue).map(|n| format!("message {n}")).collect()
}

fn check(store: &Store, count: u32) {
    store.catch_up().unwrap();
    for queue in 0..3 {
        assert_eq!(bodies(store, queue), expected(queue, count), "queue {queue}");
    }
}

#[test]
fn appends_are_read_back_over_three_directories() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..100);
    check(&store, 100);
    let used: std::collections::BTreeSet<_> =
        store.segments().iter().map(|s| s.path.parent().unwrap().to_owned()).collect();
    assert_eq!(used.len(), 3, "{used:?}");
    store.close().unwrap();
    let store = open(&disk, Options::new().background(false)).unwrap();
    assert!(store.recovery().was_clean);
    assert_eq!(store.recovery().records, 0);
    check(&store, 100);
    append(&store, 100..200);
    check(&store, 200);
}

#[test]
fn a_killed_store_comes_back_whole() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..100);
    let killed = Arc::new(disk.kill());
    drop(store);
    let store = open(&killed, options()).unwrap();
    assert!(!store.recovery().was_clean);
    check(&store, 100);
    append(&store, 100..150);
    check(&store, 150);
}

#[test]
fn queues_are_derived_anew_when_they_are_missing() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..100);
    store.close().unwrap();
    for queue in ["0", "2"] {
        let dir = Path::new(ROOT).join("consumequeue/orders").join(queue);
        for entry in disk.list(&dir).unwrap() {
            disk.lose(&dir.join(entry.name));
        }
    }
    let store = open(&disk, options()).unwrap();
    assert!(store.recovery().rebuilt_queues);
    check(&store, 100);
}

#[test]
fn a_store_open_for_reading_changes_nothing() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..50);
    let killed = Arc::new(disk.kill());
    killed.set_read_only(Path::new("/"), true);
    let store = open(&killed, options().read_only(true)).unwrap();
    check(&store, 50);
    let refused = store.append(&Message::new("orders", 0, b"x")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}
