//! Stores that come back from ends of every kind, each told by one short history: what was
//! promised is there, at its offset, and what was cut stays away.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use spanlog::disk::{Disk, MemDisk};
use spanlog::{ErrorKind, Store, Task, Usage};
use spanlog_tests::small_store::{append, bare_options, check, open, options, try_append};

const SEGMENT: usize = 4096;
const MESSAGES: u32 = 45;

/// The file and the base of segment `number`.
fn segment(store: &Store, number: usize) -> (PathBuf, u64) {
    let segment = &store.segments()[number];
    (segment.path.clone(), segment.base.get())
}

/// What a crash can leave of a new segment that had a record in it: zeros alone, the first bytes
/// of the head, a head that was never one.
fn beginnings(segment: &[u8]) -> [Vec<u8>; 3] {
    let zeros = vec![0; SEGMENT];
    let mut half = zeros.clone();
    half[..10].copy_from_slice(&segment[..10]);
    let mut wrong = zeros.clone();
    wrong[..16].fill(0xEE);
    [zeros, half, wrong]
}

#[test]
fn the_newest_segment_may_be_as_a_crash_left_it() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    let receipts: Vec<_> = (0..MESSAGES).map(|n| try_append(&store, n).unwrap()).collect();
    let (path, base) = segment(&store, store.segments().len() - 1);
    let kept = receipts.iter().filter(|receipt| receipt.position.get() < base).count() as u32;
    assert!(0 < kept && kept < MESSAGES);
    for beginning in beginnings(&disk.read(&path).unwrap().unwrap()) {
        let killed = Arc::new(disk.kill());
        killed.write(&path, &beginning);
        let store = open(&killed, bare_options()).unwrap();
        check(&store, 0..kept);
        append(&store, kept..2 * MESSAGES);
        let again = Arc::new(killed.kill());
        drop(store);
        check(&open(&again, bare_options()).unwrap(), 0..2 * MESSAGES);
    }
}

#[test]
fn an_older_segment_as_a_crash_leaves_a_new_one_is_damage() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..MESSAGES);
    store.flush().unwrap();
    store.run(Task::Checkpoint).unwrap();
    let (path, _) = segment(&store, 1);
    let killed = Arc::new(disk.kill());
    for beginning in beginnings(&disk.read(&path).unwrap().unwrap()) {
        let damaged = Arc::new(killed.kill());
        damaged.write(&path, &beginning);
        let error = open(&damaged, bare_options()).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some(path.as_path())));
    }
}

#[test]
fn a_store_keeps_the_segment_length_it_was_made_with() {
    for other in [4096, 16_384] {
        let disk = Arc::new(MemDisk::new());
        let store = open(&disk, options().segment_len_bytes(8192)).unwrap();
        append(&store, 0..MESSAGES);
        store.close().unwrap();
        let store = open(&disk, bare_options().segment_len_bytes(other)).unwrap();
        append(&store, MESSAGES..3 * MESSAGES);
        store.close().unwrap();
        let store = open(&disk, bare_options()).unwrap();
        check(&store, 0..3 * MESSAGES);
        assert!(store.segments().iter().all(|segment| segment.len_bytes == 8192), "{other}");
    }
}

#[test]
fn what_was_not_indexed_before_the_close_is_in_its_queue_afterwards() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..5);
    store.catch_up().unwrap();
    append(&store, 5..MESSAGES);
    store.close().unwrap();
    let store = open(&disk, bare_options()).unwrap();
    assert!(store.recovery().was_clean);
    check(&store, 0..MESSAGES);
}

#[test]
fn losses_of_power_in_a_row_leave_no_hole_and_shift_no_offset() {
    let mut disk = Arc::new(MemDisk::new());
    let mut kept = 0;
    for round in 0..6 {
        let store = open(&disk, options()).unwrap();
        check(&store, 0..kept);
        append(&store, kept..kept + 20);
        store.flush().unwrap();
        kept += 20;
        // Lost: of other lengths than what will be written in their place, some in the queues.
        append(&store, 1000 + round..1017 + round);
        store.catch_up().unwrap();
        append(&store, 2000..2005);
        disk = Arc::new(disk.crash(&mut || false));
    }
    let store = open(&disk, options()).unwrap();
    check(&store, 0..kept);
    let receipt = try_append(&store, kept).unwrap();
    assert_eq!(receipt.queue_offset.get(), u64::from(kept / 3));
}

#[test]
fn a_segment_that_was_moved_to_another_directory_is_found_there() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..MESSAGES);
    let (path, _) = segment(&store, 1);
    store.close().unwrap();
    let elsewhere = ["/d0", "/d1", "/d2"].map(Path::new).into_iter();
    for dir in elsewhere.filter(|dir| path.parent() != Some(dir)) {
        let moved = Arc::new(disk.kill());
        let to = dir.join(path.file_name().unwrap());
        moved.write(&to, &moved.read(&path).unwrap().unwrap());
        moved.lose(&path);
        let store = open(&moved, bare_options()).unwrap();
        append(&store, MESSAGES..2 * MESSAGES);
        check(&store, 0..2 * MESSAGES);
        assert_eq!(segment(&store, 1).0, to);
    }
}

/// The segments in a directory.
fn segments_in(store: &Store, dir: &str) -> Vec<PathBuf> {
    let paths = store.segments().into_iter().map(|segment| segment.path);
    paths.filter(|path| path.starts_with(dir)).collect()
}

#[test]
fn a_disk_above_its_mark_gets_no_further_segment() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..MESSAGES);
    // The one being written is in the directory that fills up.
    let (active, _) = segment(&store, store.segments().len() - 1);
    let full = active.parent().unwrap().to_str().unwrap();
    store.set_usage(full, Usage::new(86, 14)).unwrap();
    let before = segments_in(&store, full);
    append(&store, MESSAGES..4 * MESSAGES);
    assert_eq!(segments_in(&store, full), before);
    assert!(store.segments().len() > before.len() + 4);
    check(&store, 0..4 * MESSAGES);
}

#[test]
fn a_refusal_does_not_wait_until_cleaning_has_ended() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options().retention_ms(0)).unwrap();
    append(&store, 0..10 * MESSAGES);
    store.catch_up().unwrap();
    let before = store.segments().len();
    store.clean_now().unwrap();
    store.run(Task::Clean).unwrap();
    assert!(store.segments().len() > before / 2, "one step is a small part of it");
    for dir in ["/d0", "/d1", "/d2"] {
        store.set_usage(dir, Usage::new(92, 8)).unwrap();
    }
    assert_eq!(try_append(&store, 0).unwrap_err().kind(), ErrorKind::Full);
}
