//! Stores that were cut off or damaged: what a crash left is cut off and told, damage below what
//! was flushed is never the end of the log.

use std::fs;

use spanlog::{ErrorKind, Message, OnDamage, Options, Position, Store};

use crate::answers::{check, check_history, read};
use crate::store::{Golden, number, refused, rows, sha256, tree};

/// The one where 5.5.1 serves a damaged record unseen and 4.9.8 loses two thirds of the store.
pub const DAMAGED: &str = "v5-torn-middle";

/// Where its damaged record stands.
const DAMAGE: std::ops::Range<u64> = 2898..3312;

const TORN: [&str; 4] = ["v49-multipath-crash", "v5-crash", "v5-torn-body", "v5-torn-zeroed"];

/// The half record is cut off, told, and zero afterwards: RocketMQ leaves its bytes, and a second
/// crash may bring a dead record back.
#[test]
fn a_torn_tail_is_cut_and_zeroed() {
    for name in TORN {
        println!("{name}");
        let golden = Golden::unpack(name);
        let end = number(&golden.expected["maxPhyOffset"]);
        let torn = golden.log_bytes(end..end + 64);
        assert!(torn.iter().any(|&byte| byte != 0), "something is there");
        let store = golden.open();
        let recovery = store.recovery();
        assert_eq!(recovery.end.get(), end);
        let tail = recovery.torn_tail.as_ref().expect("the tail is told");
        assert_eq!(tail.range.start, end);
        assert!(golden.paths.iter().any(|dir| tail.path.starts_with(dir)), "{tail:?}");
        assert_eq!(recovery.salvaged, None, "nothing whole stood behind");
        assert_eq!((&recovery.skipped, &recovery.offline), (&vec![], &vec![]));
        store.close().expect("it closes");
        let behind = golden.log_bytes(end..u64::MAX / 2);
        assert!(behind.iter().all(|&byte| byte == 0), "{name}");
        check_dead_units(&golden);
    }
}

/// A queue's files hold no unit behind its last message.
fn check_dead_units(golden: &Golden) {
    for row in golden.queues() {
        let topic = row["topic"].as_str().expect("a topic");
        let units = golden.raw_units(topic, number(&row["queueId"]), number(&row["max"])..10_000);
        assert!(units.iter().all(|unit| *unit == [0, 0, 0]), "{topic}: {units:?}");
    }
}

/// Damage below what was flushed is an error that names the place, and changes nothing.
#[test]
fn damage_in_the_middle_is_refused() {
    let golden = Golden::unpack(DAMAGED);
    for options in [golden.options(), golden.options().read_only(true)] {
        let before = tree(&golden.root);
        let error = refused(golden.try_open(options), "it is damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(error.offset(), Some(DAMAGE.start));
        assert_eq!(error.range(), Some(DAMAGE));
        assert_eq!(error.path(), Some(golden.paths[0].join("00000000000000000000").as_path()));
        let after = tree(&golden.root);
        let changed = after.keys().filter(|path| before.get(*path) != after.get(*path));
        let changed: Vec<_> = changed.map(|path| path.file_name().expect("a name")).collect();
        assert!(changed.is_empty() || changed == ["lock"], "{changed:?}");
    }
}

/// 5.5.1 serves the damaged record, 4.9.8 nothing behind it. spanlog serves both sides.
#[test]
fn damage_in_the_middle_is_passed_over() {
    let golden = Golden::unpack(DAMAGED);
    let before = tree(&golden.root);
    let options = golden.options().on_damage(OnDamage::Skip);
    let store = golden.try_open(options.clone().read_only(true)).expect("it opens");
    check_both_sides(&golden, &store);
    store.close().expect("it closes");
    assert!(tree(&golden.root) == before, "opened for reading");

    let store = golden.try_open(options).expect("it opens");
    let skipped = &store.recovery().skipped;
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert_eq!(skipped[0].range, DAMAGE);
    assert_eq!(store.recovery().salvaged, None);
    check_both_sides(&golden, &store);
    let receipt = store.append(&Message::new("Crash", 1, b"goes on")).expect("there is room");
    assert_eq!(receipt.queue_offset.get(), 10);
    store.close().expect("it closes");
    let bytes = golden.log_bytes(DAMAGE);
    let kept = bytes == before[&golden.paths[0].join("00000000000000000000")].bytes[2898..3312];
    assert!(kept, "the damaged bytes are left for whoever can mend them");
    check_both_sides(&golden, &golden.reopen());
}

fn check_both_sides(golden: &Golden, store: &Store) {
    let whole = golden.records().iter().filter(|row| row["blank"].is_null());
    for row in whole.filter(|row| number(&row["offset"]) != DAMAGE.start) {
        let record = store.get(Position::new(number(&row["offset"]))).expect("a record");
        assert_eq!(sha256(&record), row["sha256"]);
    }
    for row in golden.queues() {
        let positions = rows(&row["units"]).iter().map(|unit| number(&unit[0]));
        let expected: Vec<_> = positions.filter(|&at| at != DAMAGE.start).collect();
        let queue = u32::try_from(number(&row["queueId"])).expect("a queue's number");
        let mut found = read(store, "Crash", queue, 0, 10);
        found.retain(|&at| at < 9024);
        assert_eq!(found, expected);
    }
}

/// Only when asked to, spanlog cuts as RocketMQ does; what stood behind the cut is saved.
#[test]
fn damage_in_the_middle_is_cut_when_asked() {
    let golden = Golden::unpack(DAMAGED);
    let options = golden.options().on_damage(OnDamage::Cut);
    let store = golden.try_open(options).expect("it opens");
    check_cut(&golden, &store);
    store.close().expect("it closes");
    let store = golden.reopen();
    assert_eq!(store.watermarks().appended.get(), DAMAGE.start);
    assert_eq!(read(&store, "Crash", 0, 0, 10), [0, 828, 1656, 2484]);
}

/// Without a checkpoint nothing is known to have been flushed, so the log of an interrupted store
/// ends at the damaged record, as RocketMQ's does. RocketMQ deletes the thirteen whole records
/// behind it; spanlog saves them.
#[test]
fn records_behind_the_end_are_saved() {
    let golden = Golden::unpack("v5-torn-middle-full-scan");
    let whole = golden.log_bytes(0..9024);
    let store = golden.open();
    check(&golden, &store);
    check_cut(&golden, &store);
    let saved = fs::read(&store.recovery().salvaged.as_ref().expect("saved").path).expect("a file");
    // The rest of the first segment and the padding at its end are no records.
    let mut expected = whole[3312..3726].to_vec();
    expected.extend_from_slice(&whole[4096..7838]);
    expected.extend_from_slice(&whole[8192..9024]);
    assert!(saved == expected, "{} and {} bytes", saved.len(), expected.len());
    store.close().expect("it closes");
    check_history(&golden, &golden.reopen());
}

fn check_cut(golden: &Golden, store: &Store) {
    let recovery = store.recovery();
    assert_eq!(recovery.end.get(), DAMAGE.start);
    let saved = recovery.salvaged.as_ref().expect("what stood behind is saved");
    assert_eq!(saved.records, 12);
    assert!(saved.path.starts_with(&golden.root), "{saved:?}");
    let zeros = golden.log_bytes(DAMAGE.start..4096);
    assert!(zeros.iter().all(|&byte| byte == 0));
    assert_eq!(fs::read_dir(&golden.paths[0]).expect("a directory").count(), 1);
}

/// A store without its log is not opened as a new one beside queues that say otherwise.
#[test]
fn a_log_that_is_away_is_no_new_store() {
    for name in ["v5-multipath", "v5-crash"] {
        let golden = Golden::unpack(name);
        for path in &golden.paths {
            fs::remove_dir_all(path).expect("it was there");
        }
        let error = refused(golden.try_open(golden.options()), "the log is away");
        assert_eq!(error.kind(), ErrorKind::Offline, "{error}");
        let error = refused(golden.try_open(Options::new()), "the log is away");
        assert_eq!(error.kind(), ErrorKind::Offline, "{error}");
    }
}
