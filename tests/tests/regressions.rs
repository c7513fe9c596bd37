//! Bugs that the simulation found, each told by one short history. The first line of a test says
//! what went wrong.

use std::path::Path;
use std::sync::Arc;

use spanlog::disk::{Disk, MemDisk};
use spanlog::{DirectoryOptions, ErrorKind, Message, Task};
use spanlog_tests::fault_disk::{Failure, FaultDisk, Operation};
use spanlog_tests::small_store::{
    ROOT, TOPIC, append, bare_options, check, open, open_at, options, try_append,
};

/// A disk in memory and the faults around it.
fn disks() -> (Arc<MemDisk>, Arc<FaultDisk>) {
    let mem = Arc::new(MemDisk::new());
    let faults = Arc::new(FaultDisk::new(Arc::clone(&mem) as Arc<dyn Disk>));
    (mem, faults)
}

fn nothing_new() -> impl FnMut() -> bool {
    || false
}

#[test]
fn a_queue_made_after_the_checkpoint_does_not_keep_the_store_shut() {
    // The replay took the queue for new, and its file's name was taken: no open worked any more.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options()).unwrap();
    append(&store, 0..1);
    store.catch_up().unwrap();
    store.run(Task::Checkpoint).unwrap();
    append(&store, 1..6);
    store.catch_up().unwrap();
    let killed = Arc::new(mem.kill());
    check(&open(&killed, options()).unwrap(), 0..6);
}

#[test]
fn what_a_killed_process_made_is_durable_after_the_next_flush() {
    // The next process flushed the segment's bytes but not its name, and a power cut took both.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options()).unwrap();
    append(&store, 0..3);
    let killed = Arc::new(mem.kill());
    drop(store);
    let store = open(&killed, options()).unwrap();
    append(&store, 3..6);
    store.flush().unwrap();
    let crashed = Arc::new(killed.crash(&mut nothing_new()));
    check(&open(&crashed, options()).unwrap(), 0..6);
}

#[test]
fn an_empty_segment_is_named_durably_by_a_clean_close() {
    // Nothing was written to it, so nothing was flushed, and the next process took it for durable.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options()).unwrap();
    let large = vec![7; 5000];
    let refused = store.append(&Message::new(TOPIC, 0, &large)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    store.close().unwrap();
    let store = open(&mem, options()).unwrap();
    append(&store, 0..3);
    store.flush().unwrap();
    let crashed = Arc::new(mem.crash(&mut nothing_new()));
    check(&open(&crashed, options()).unwrap(), 0..3);
}

#[test]
fn retention_never_overtakes_the_index() {
    // Segments went before their records were indexed: the index step met "gone" for ever.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options().retention_ms(0)).unwrap();
    append(&store, 0..60);
    store.clean_now().unwrap();
    store.run(Task::Clean).unwrap();
    assert!(store.watermarks().start.get() > 0, "something was dropped");
    store.catch_up().unwrap();
    let bounds = store.bounds(TOPIC, 0).unwrap();
    assert_eq!(bounds.max.get(), 20);
    assert!(bounds.min.get() > 0);
}

#[test]
fn offsets_of_dropped_messages_are_not_given_out_again() {
    // The queue's units were not durable when its last record left: after a power cut its offsets
    // began at 0 again.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options().retention_ms(0)).unwrap();
    store.append(&Message::new("silent", 0, b"only one")).unwrap();
    append(&store, 0..60);
    store.clean_now().unwrap();
    for _ in 0..5 {
        store.run(Task::Clean).unwrap();
    }
    assert!(store.watermarks().start.get() > 0, "the message was dropped");
    let crashed = Arc::new(mem.crash(&mut nothing_new()));
    let store = open(&crashed, options()).unwrap();
    let receipt = store.append(&Message::new("silent", 0, b"another")).unwrap();
    assert_eq!(receipt.queue_offset.get(), 1);
}

#[test]
fn a_store_whose_making_was_interrupted_is_made_again() {
    // The registry named directories that had no label yet: they were taken for empty mount points.
    for nth in 1.. {
        let (mem, faults) = disks();
        faults.stop_at(nth);
        if open(&faults, options()).is_ok() {
            assert!(nth > 20, "making a store takes more than {nth} operations");
            return;
        }
        let crashed = Arc::new(mem.crash(&mut nothing_new()));
        let store = open(&crashed, options());
        let store = store.unwrap_or_else(|error| panic!("stopped at {nth}: {error}"));
        append(&store, 0..3);
        check(&store, 0..3);
    }
}

#[test]
fn a_directory_whose_adding_failed_can_be_added() {
    // The label was there, the registry entry not, and the directory counted as known.
    let (_mem, faults) = disks();
    let store = open(&faults, options()).unwrap();
    faults.fail_nth(Operation::Replace, 1, Failure::Io);
    let failed = store.add_directory(&DirectoryOptions::new("/d7"));
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Io);
    store.add_directory(&DirectoryOptions::new("/d7")).unwrap();
    store.close().unwrap();
    drop(store);
    let store = open(&faults, bare_options()).unwrap();
    assert_eq!(store.disks().unwrap().len(), 4);
}

#[test]
fn names_become_durable_in_the_order_of_the_log() {
    // A power cut kept the name of a later segment and lost an earlier one: a hole in the log.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options()).unwrap();
    append(&store, 0..40);
    for kept in 0..40 {
        let mut count = 0;
        let crashed = Arc::new(mem.crash(&mut || {
            count += 1;
            count - 1 == kept
        }));
        let store = open(&crashed, options());
        let store = store.unwrap_or_else(|error| panic!("change {kept} alone: {error}"));
        assert_eq!(store.watermarks().start.get(), 0, "change {kept} alone");
    }
}

#[test]
fn a_segment_made_ready_and_never_used_is_no_obstacle() {
    // RocketMQ leaves the next segment behind when it closes; the first append then panicked.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options()).unwrap();
    append(&store, 0..3);
    store.close().unwrap();
    drop(store);
    mem.write(Path::new("/d1/00000000000000004096"), &[0; 4096]);
    let store = open(&mem, options()).unwrap();
    assert!(store.recovery().was_clean);
    append(&store, 3..60);
    check(&store, 0..60);
}

#[test]
fn what_a_failed_write_left_is_neither_damage_nor_a_message() {
    // Half of a batch stood behind the end of a store that was closed cleanly: "corrupt".
    let (_mem, faults) = disks();
    faults.set_sparse(true);
    let store = open(&faults, options()).unwrap();
    append(&store, 0..1);
    let batch: Vec<_> = (0..8).map(|_| Message::new(TOPIC, 0, b"of a batch")).collect();
    faults.fail_nth(Operation::WriteAt, 1, Failure::Full);
    assert_eq!(store.append_batch(&batch).unwrap_err().kind(), ErrorKind::Full);
    let shorter = store.append(&Message::new(TOPIC, 1, b"of a batch")).unwrap();
    store.close().unwrap();
    drop(store);
    let store = open(&faults, options()).unwrap();
    assert_eq!(store.watermarks().appended, shorter.end);
    assert_eq!(store.bounds(TOPIC, 0).unwrap().max.get(), 1);
}

#[test]
fn padding_is_flushed_with_the_log_although_no_record_follows() {
    // The segment was closed, the record behind it failed, and the padding was never flushed.
    let (mem, faults) = disks();
    faults.set_sparse(true);
    let store = open(&faults, options()).unwrap();
    let large = vec![7; 3500];
    store.append_durable(&Message::new(TOPIC, 0, &large)).unwrap();
    faults.fail_nth(Operation::WriteAt, 2, Failure::Full);
    store.append(&Message::new(TOPIC, 0, &large)).unwrap_err();
    assert_eq!(store.watermarks().appended.get(), 4096);
    store.close().unwrap();
    drop(store);
    drop(open(&faults, options()).unwrap());
    let crashed = Arc::new(mem.crash(&mut nothing_new()));
    let store = open(&crashed, options()).unwrap();
    assert_eq!(store.watermarks().appended.get(), 4096);
}

#[test]
fn a_queue_that_lost_its_first_file_is_derived_from_its_first_message() {
    // A power cut kept the second file of a new queue alone; the queue then began in the middle.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options().queue_file_len_bytes(100)).unwrap();
    append(&store, 0..40);
    store.flush().unwrap();
    store.catch_up().unwrap();
    let crashed = Arc::new(mem.crash(&mut || true));
    let queue = Path::new(ROOT).join("consumequeue").join(TOPIC).join("1");
    crashed.lose(&queue.join("00000000000000000000"));
    check(&open(&crashed, options()).unwrap(), 0..40);
}

#[test]
fn a_failed_flush_of_a_queue_is_not_forgotten() {
    // The next checkpoint left out the file whose flush had failed and called it durable.
    let (mem, faults) = disks();
    let store = open(&faults, options()).unwrap();
    append(&store, 0..30);
    store.catch_up().unwrap();
    faults.fail_nth(Operation::Sync, 1, Failure::Io);
    assert_eq!(store.run(Task::Checkpoint).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(store.run(Task::Checkpoint).unwrap_err().kind(), ErrorKind::Poisoned);
    store.flush().unwrap();
    assert_eq!(store.close().unwrap_err().kind(), ErrorKind::Poisoned);
    let crashed = Arc::new(mem.crash(&mut nothing_new()));
    check(&open(&crashed, options()).unwrap(), 0..30);
}

#[test]
fn a_queue_follows_the_start_after_a_crash_behind_a_cleaning() {
    // Retention writes the start alone, and the queues kept the minimum of the ledger before.
    let mem = Arc::new(MemDisk::new());
    let store = open(&mem, options().retention_ms(0)).unwrap();
    append(&store, 0..60);
    store.run(Task::Index).unwrap();
    store.run(Task::Checkpoint).unwrap();
    store.clean_now().unwrap();
    store.run(Task::Clean).unwrap();
    let before = store.bounds(TOPIC, 0).unwrap();
    assert!(before.min.get() > 0);
    let killed = Arc::new(mem.kill());
    assert_eq!(open(&killed, options()).unwrap().bounds(TOPIC, 0).unwrap(), before);
}

#[test]
fn a_clock_at_either_end_of_time_overflows_nothing() {
    // The flush step subtracted two times that lay further apart than a number holds.
    for now_ms in [i64::MIN, -1, 0, i64::MAX] {
        let mem = Arc::new(MemDisk::new());
        let store = open_at(&mem, options(), now_ms).unwrap();
        try_append(&store, 0).unwrap();
        for task in [Task::Flush, Task::Index, Task::Checkpoint, Task::Probe, Task::Clean] {
            store.run(task).unwrap();
        }
        store.close().unwrap();
    }
}
