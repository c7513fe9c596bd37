//! Stores of which spanlog keeps what RocketMQ keeps.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use spanlog::{
    ErrorKind, Message, MessageView, Options, Position, QueueOffset, ReadLimits, ReadStatus, Store,
};

use crate::answers::{check, check_history, read};
use crate::damaged::DAMAGED;
use crate::store::{Golden, goldens, number, refused, rows, text, tree};

pub const AGREED: [&str; 13] = [
    "v49-basic",
    "v49-multipath-crash",
    "v5-basic",
    "v5-batch-queue",
    "v5-crash",
    "v5-crc",
    "v5-expired",
    "v5-long-topic",
    "v5-multipath",
    "v5-torn-body",
    "v5-torn-middle-full-scan",
    "v5-torn-zeroed",
    "v5-transactions-and-delay",
];

pub const SEVERAL_DIRECTORIES: [&str; 3] = ["v49-multipath-crash", "v5-expired", "v5-multipath"];

#[test]
fn every_golden_store_is_tried() {
    let entries = fs::read_dir(goldens()).expect("a directory").map(|entry| entry.expect("one"));
    let mut names: Vec<_> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    let mut tried: Vec<_> = AGREED.into_iter().chain([DAMAGED]).collect();
    tried.sort_unstable();
    assert_eq!(names, tried);
}

#[test]
fn what_rocketmq_answers_spanlog_answers() {
    for name in AGREED {
        println!("{name}");
        let golden = Golden::unpack(name);
        let store = golden.open();
        assert_eq!(store.recovery().was_clean, golden.expected["abortBefore"] == false);
        check(&golden, &store);
        store.close().expect("it closes");
    }
}

#[test]
fn a_store_opened_for_reading_changes_nothing() {
    for name in AGREED {
        println!("{name}");
        let golden = Golden::unpack(name);
        let before = tree(&golden.root);
        let store = golden.try_open(golden.options().read_only(true)).expect("it opens");
        check(&golden, &store);
        let error = refused(store.append(&Message::new("Later", 0, b"no")), "read-only");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        store.close().expect("it closes");
        assert!(tree(&golden.root) == before, "{name}: something on disk changed");
    }
}

/// Opening once more, now by the root alone, needs no recovery and finds the same.
#[test]
fn opening_twice_gives_the_same() {
    for name in AGREED {
        println!("{name}");
        let golden = Golden::unpack(name);
        golden.open().close().expect("it closes");
        let before = contents(&golden);
        let store = golden.reopen();
        assert!(store.recovery().was_clean);
        assert_eq!(store.recovery().records, 0);
        check(&golden, &store);
        store.close().expect("it closes");
        assert!(contents(&golden) == before, "{name}: log or queues changed");
    }
}

/// The bytes of log and queues.
fn contents(golden: &Golden) -> Vec<(PathBuf, Vec<u8>)> {
    let queues = golden.root.join("consumequeue");
    let dirs = golden.paths.iter().chain([&queues]);
    let files = dirs.flat_map(|dir| tree(dir));
    files.map(|(path, found)| (path, found.bytes)).collect()
}

#[test]
fn queues_that_were_deleted_come_back() {
    for name in AGREED {
        println!("{name}");
        let golden = Golden::unpack(name);
        for _ in 0..2 {
            // Once as RocketMQ left the store, once as spanlog did.
            fs::remove_dir_all(golden.root.join("consumequeue")).expect("there were queues");
            let store = golden.open();
            assert!(store.recovery().rebuilt_queues);
            check(&golden, &store);
            store.close().expect("it closes");
        }
    }
}

/// Positions and queue offsets go on where RocketMQ left them.
#[test]
fn appending_goes_on_where_rocketmq_stopped() {
    for name in AGREED {
        println!("{name}");
        let golden = Golden::unpack(name);
        let store = golden.open();
        let end = number(&golden.expected["maxPhyOffset"]);
        for round in 0..40 {
            append_to_each(&golden, &store, round);
        }
        assert!(store.watermarks().appended.get() > end);
        store.catch_up().expect("it is indexed");
        check_appended(&golden, &store, 40);
        store.close().expect("it closes");
        let store = golden.reopen();
        assert!(store.recovery().was_clean);
        check_appended(&golden, &store, 40);
    }
}

fn body_of(round: u64) -> String {
    format!("appended {round} {}", "x".repeat(200))
}

fn append_to_each(golden: &Golden, store: &Store, round: u64) {
    for row in golden.queues() {
        let body = body_of(round);
        let queue = u32::try_from(number(&row["queueId"])).expect("a queue's number");
        let message = Message::new(text(&row["topic"]), queue, body.as_bytes());
        let receipt = store.append(&message).expect("there is room");
        assert_eq!(receipt.queue_offset.get(), number(&row["max"]) + round);
    }
}

fn check_appended(golden: &Golden, store: &Store, rounds: u64) {
    check_history(golden, store);
    for row in golden.queues() {
        let (topic, max) = (text(&row["topic"]), number(&row["max"]));
        let queue = u32::try_from(number(&row["queueId"])).expect("a queue's number");
        let batch = store.read(topic, queue, QueueOffset::new(max), ReadLimits::default());
        let batch = batch.expect("they are read");
        let bodies: Vec<_> = batch
            .iter()
            .map(|stored| stored.decode_verified().expect("whole").body().to_vec())
            .collect();
        let expected: Vec<_> = (0..rounds).map(|round| body_of(round).into_bytes()).collect();
        assert_eq!(bodies, expected, "{topic}/{queue}");
    }
}

/// RocketMQ opens such a store, reads a hole, and cuts the log at the last segment it still sees:
/// offsets are given out twice then.
#[test]
fn a_directory_left_off_the_list_is_refused() {
    for name in SEVERAL_DIRECTORIES {
        for left_off in 0..3 {
            let golden = Golden::unpack(name);
            let before = tree(&golden.root);
            let error = refused(golden.try_open(without(&golden, left_off)), "a hole");
            assert_eq!(error.kind(), ErrorKind::Offline, "{name} without {left_off}: {error}");
            let range = error.range().expect("the missing range is named");
            assert!(range.start < range.end, "{range:?}");
            let after = tree(&golden.root);
            let changed = |path: &PathBuf| before.get(path) != after.get(path);
            let changed: Vec<_> = after.keys().filter(|path| changed(path)).collect();
            assert_eq!(changed, [&golden.root; 0], "{name}");

            golden.open().close().expect("it closes");
            let error = refused(golden.try_open(without(&golden, left_off)), "it is known");
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert_eq!(error.path(), Some(golden.paths[left_off].as_path()));
        }
    }
}

fn without(golden: &Golden, left_off: usize) -> Options {
    let mut options = golden.options();
    options.directories.remove(left_off);
    options
}

/// Slots 0, 8 and 40 of `checkpoint` say to RocketMQ what its own would (format: section 6).
#[test]
fn the_checkpoint_is_what_rocketmq_writes() {
    for name in AGREED {
        let golden = Golden::unpack(name);
        golden.open().close().expect("it closes");
        assert!(!golden.root.join("abort").exists());
        let page = fs::read(golden.root.join("checkpoint")).expect("a checkpoint");
        assert_eq!(page.len(), 4096);
        let slot = |at: usize| i64::from_be_bytes(page[at..at + 8].try_into().expect("8 bytes"));
        let last = golden.last_record();
        let time = last["storeTimestamp"].as_i64().expect("a time");
        let position = last["offset"].as_i64().expect("a position");
        assert_eq!([slot(0), slot(8), slot(40)], [time, time, position], "{name}");
        if golden.expected["abortBefore"] == false && name.starts_with("v5") {
            let rocketmq = rows(&golden.expected["checkpointFileAfterClose"]);
            // Slot 0 is of the moment: how far the log had been flushed.
            let slots: Vec<Value> = [8, 16, 24, 32, 40].map(|at| slot(at).into()).to_vec();
            assert_eq!(slots, rocketmq[1..], "{name}");
        }
    }
}

/// Records of RocketMQ's very old transactions are kept and stand in no queue.
#[test]
fn prepared_and_rolled_back_messages_have_no_unit() {
    let golden = Golden::unpack("v5-transactions-and-delay");
    let store = golden.open();
    let sys_flag = |position: u64| {
        let record = store.get(Position::new(position)).expect("a record");
        let view = MessageView::parse(&record).expect("whole");
        (view.topic().to_owned(), view.sys_flag(), view.has_queue_unit())
    };
    assert_eq!(sys_flag(826), ("Old".to_owned(), 4, false));
    assert_eq!(sys_flag(941), ("Old".to_owned(), 12, false));
    assert_eq!(read(&store, "Old", 1, 0, 10), [1056]);
}

/// A parked message's unit carries the time of its delivery, also when spanlog derives it.
#[test]
fn parked_messages_keep_their_delivery_time() {
    let golden = Golden::unpack("v5-transactions-and-delay");
    fs::remove_dir_all(golden.root.join("consumequeue")).expect("there were queues");
    golden.open().close().expect("it closes");
    let units = golden.raw_units("SCHEDULE_TOPIC_XXXX", 17, 0..1);
    assert_eq!(units, [[1331, 171, 1_796_026_007_217]]);
}

/// Units of 46 bytes are not spanlog's: it leaves those files alone and serves an inner batch as
/// one message, at its base offset, with nothing between the bases. Its own units for them lie
/// where RocketMQ does not look, because it refuses to start where a topic has both kinds.
#[test]
fn a_batch_queue_is_served_by_its_batches() {
    let golden = Golden::unpack("v5-batch-queue");
    let batch_queues = golden.root.join("batchconsumequeue");
    let before = tree(&batch_queues);
    let store = golden.open();
    assert_eq!(read(&store, "InnerBatch", 0, 0, 10), [0, 225, 450, 675]);
    assert_eq!(read(&store, "InnerBatch", 0, 3, 1), [225]);
    assert_eq!(read(&store, "InnerBatch", 0, 4, 10), [450, 675]);
    let between = store.read(
        "InnerBatch",
        0,
        QueueOffset::new(1),
        ReadLimits { max_messages: 2, ..ReadLimits::default() },
    );
    let between = between.expect("an answer");
    assert_eq!((between.status(), between.next().get()), (ReadStatus::Removed, 3));
    let error = refused(store.append(&Message::new("InnerBatch", 0, b"no")), "its queue is not");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    store.append(&Message::new("Plain", 0, b"yes")).expect("there is room");
    store.close().expect("it closes");
    assert!(!golden.root.join("consumequeue/InnerBatch").exists());
    assert!(tree(&batch_queues) == before);
    let store = golden.reopen();
    assert_eq!(store.recovery().records, 0, "they are known");
    assert_eq!(read(&store, "InnerBatch", 0, 0, 10), [0, 225, 450, 675]);
}
