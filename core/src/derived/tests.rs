//! Consume queues on a disk in memory: files, gaps, offsets that never come back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::base::units::{Position, QueueOffset};
use crate::disk::{Access, Disk, MemDisk};
use crate::error::{ErrorKind, Result};
use crate::record::{Encoding, Message, MessageView, Stamp, UniqueIds, encode, stamp};
use crate::segment::Budget;
use crate::segment::name::segment_name;

/// Units in a file of these tests.
const FILE_UNITS: u64 = 5;
const FILE_LEN: u64 = FILE_UNITS * 20;

/// The length of every record, and so the distance of their positions.
const SIZE: u64 = 200;

fn shelf(disk: &Arc<MemDisk>, access: Access) -> Shelf {
    let seam = Arc::clone(disk) as Arc<dyn Disk>;
    Shelf { disk: seam, budget: Budget::new(16), file_len: FILE_LEN, access }
}

fn queues(disk: &Arc<MemDisk>) -> Queues {
    Queues::new(Path::new("/cq"), shelf(disk, Access::Write))
}

/// A record of topic `T`, queue 0.
fn record(offset: u64, position: u64) -> Vec<u8> {
    let encoding = Encoding {
        record_checksum: true,
        max_body_bytes: 1 << 20,
        max_record_bytes: 1 << 20,
        store_host: ([127, 0, 0, 1], 10_911).into(),
    };
    let id = UniqueIds::new([127, 0, 0, 1].into(), 1, 1, 0).next(0);
    let mut bytes = Vec::new();
    encode(&Message::new("T", 0, &[0; 46]), &encoding, &id, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, SIZE, "adapt the body");
    stamp(&mut bytes, &Stamp { position, queue_offset: offset, store_ms: 7 });
    bytes
}

/// Applies messages `offset` at positions `offset * SIZE`, and publishes them.
fn apply(queues: &Queues, offsets: impl IntoIterator<Item = u64>) {
    for offset in offsets {
        let bytes = record(offset, offset * SIZE);
        queues.apply(&MessageView::parse(&bytes).unwrap());
    }
    queues.publish().unwrap();
}

fn bounds(queues: &Queues) -> (u64, u64) {
    let Bounds { min, max } = queues.find("T", 0).unwrap().bounds();
    assert!(min <= max);
    (min.get(), max.get())
}

/// Every offset of the queue with what its unit points to; fillers point nowhere.
fn units(queues: &Queues) -> Vec<(u64, Option<u64>)> {
    let queue = queues.find("T", 0).unwrap();
    let (min, max) = bounds(queues);
    let mut units = Vec::new();
    let mut visit = |offset: QueueOffset, unit: Option<Unit>| {
        let unit = unit.filter(|unit| !unit.is_filler());
        units.push((offset.get(), unit.map(|unit| unit.position.get() / SIZE)));
    };
    queue.visit(QueueOffset::new(min), QueueOffset::new(max), &mut visit).unwrap();
    units
}

/// The queue holds exactly the messages `from..to`, each at its place.
#[track_caller]
fn check(queues: &Queues, from: u64, to: u64) {
    assert_eq!(bounds(queues), (from, to));
    assert_eq!(units(queues), (from..to).map(|n| (n, Some(n))).collect::<Vec<_>>());
}

fn file(number: u64) -> PathBuf {
    Path::new("/cq/T/0").join(segment_name(Position::new(number * FILE_LEN)))
}

/// The numbers of the queue's files.
fn files(disk: &MemDisk) -> Vec<u64> {
    let names = disk.list(Path::new("/cq/T/0")).unwrap().into_iter();
    let mut numbers: Vec<u64> =
        names.map(|entry| entry.name.parse::<u64>().unwrap() / FILE_LEN).collect();
    numbers.sort_unstable();
    numbers
}

/// As at the next opening with a ledger: the queue is known up to `max`.
fn resumed(disk: &Arc<MemDisk>, min: u64, max: u64) -> Result<Queues> {
    let queues = queues(disk);
    let bounds = Bounds { min: QueueOffset::new(min), max: QueueOffset::new(max) };
    queues.resume(&Resume { topic: "T".into(), id: 0, bounds })?;
    Ok(queues)
}

/// As at the next opening without a ledger, of a log that begins at message `start`.
fn found(disk: &Arc<MemDisk>, start: u64) -> Queues {
    let queues = queues(disk);
    queues.resume_below(Position::new(start * SIZE)).unwrap();
    queues
}

fn kind<T>(outcome: Result<T>) -> Option<ErrorKind> {
    outcome.err().map(|error| error.kind())
}

// Files.

/// A file that is full to its last byte is nothing special.
#[test]
fn queue_file_exact_fill() {
    for count in [FILE_UNITS - 1, FILE_UNITS, FILE_UNITS + 1, 2 * FILE_UNITS] {
        let disk = Arc::new(MemDisk::new());
        let first = queues(&disk);
        apply(&first, 0..count);
        first.sync().unwrap();
        check(&first, 0, count);
        let crashed = Arc::new(disk.crash(&mut || false));
        assert_eq!(files(&crashed).len() as u64, count.div_ceil(FILE_UNITS));
        let next = resumed(&crashed, 0, count).unwrap();
        check(&next, 0, count);
        apply(&next, [count]);
        check(&next, 0, count + 1);
        check(&resumed(&crashed, 0, count + 1).unwrap(), 0, count + 1);
    }
}

/// A queue that begins at offset `k` has one file, filled up to there as RocketMQ fills it.
#[test]
fn a_queue_begins_at_any_offset() {
    for k in [0, 1, 4, 5, 6, 9, 10, 23] {
        let disk = Arc::new(MemDisk::new());
        let queues = queues(&disk);
        apply(&queues, k..k + 2);
        check(&queues, k, k + 2);
        assert_eq!(files(&disk)[0], k / FILE_UNITS, "the files before it are not made");
        let bytes = disk.read(&file(k / FILE_UNITS)).unwrap().unwrap();
        let (filled, rest) = bytes.split_at(usize::try_from(k % FILE_UNITS * 20).unwrap());
        assert!(filled.chunks(20).all(|unit| unit == Unit::FILLER.encode()), "{k}");
        assert_eq!(Unit::decode(rest).unwrap().position.get(), k * SIZE);
        check(&found(&disk, k + 1), k + 1, k + 1);
    }
}

#[test]
fn a_gap_is_filled_with_units_that_point_nowhere() {
    let disk = Arc::new(MemDisk::new());
    let queues = queues(&disk);
    apply(&queues, [0, 1, 4, 12]);
    let there = |offset| if [0, 1, 4, 12].contains(&offset) { Some(offset) } else { None };
    assert_eq!(units(&queues), (0..13).map(|n| (n, there(n))).collect::<Vec<_>>());
    assert_eq!(files(&disk), [0, 1, 2]);
    assert_eq!(Unit::decode(&disk.read(&file(1)).unwrap().unwrap()), Some(Unit::FILLER));
}

/// Without a checksum a damaged header may carry any offset: it must not fill a disk.
#[test]
fn an_absurd_offset_is_left_out() {
    let shelf = shelf(&Arc::new(MemDisk::new()), Access::Write);
    let queue = queue::Queue::empty("T", 0, &shelf, "/cq/T/0".into());
    let unit = Unit { position: Position::ZERO, size: 200, tag_code: 0 };
    assert!(!queue.add(u64::MAX, &[unit], true), "no file name can tell it");
    assert!(queue.add(7, &[unit], false));
    assert!(!queue.add(8 + (1 << 20) + 1, &[unit], false));
    assert!(!queue.add(u64::MAX / 40, &[unit], true));
    queue.publish(true).unwrap();
    assert_eq!(queue.bounds().max.get(), 8);
}

/// Applying again what was applied before changes nothing.
#[test]
fn redispatch_is_idempotent() {
    let disk = Arc::new(MemDisk::new());
    let first = queues(&disk);
    apply(&first, 0..12);
    let bytes: Vec<_> = (0..3).map(|n| disk.read(&file(n)).unwrap()).collect();
    let same = |queues: &Queues| {
        check(queues, 0, 12);
        let now: Vec<_> = (0..3).map(|n| disk.read(&file(n)).unwrap()).collect();
        assert_eq!(now, bytes);
    };
    for from in [0, 1, 6, 11] {
        apply(&first, from..12);
        same(&first);
        let next = resumed(&disk, 0, from.max(1)).unwrap();
        apply(&next, from..12);
        same(&next);
    }
    let anew = found(&disk, 0);
    apply(&anew, 0..12);
    same(&anew);
}

// Cutting.

#[test]
fn what_lies_behind_the_end_is_removed() {
    for keep in [1, 4, 5, 6, 10, 11] {
        let disk = Arc::new(MemDisk::new());
        apply(&queues(&disk), 0..14);
        let cut = found(&disk, 0);
        apply(&cut, 0..keep);
        cut.trim().unwrap();
        cut.sync().unwrap();
        let crashed = Arc::new(disk.kill());
        check(&resumed(&crashed, 0, keep).unwrap(), 0, keep);
        let mut rest = Vec::new();
        for number in files(&crashed) {
            rest.extend(crashed.read(&file(number)).unwrap().unwrap());
        }
        let dead = &rest[usize::try_from(keep * 20).unwrap()..];
        assert!(dead.iter().all(|&byte| byte == 0), "{keep}");
        assert!(dead.len() as u64 <= FILE_LEN, "at most one file waits empty");
        assert_eq!(cut.furthest().unwrap().get(), keep * SIZE);
    }
}

/// A queue whose every message was cut off begins anew, and never has min above max.
#[test]
fn cut_whole_queue_resets_bounds() {
    let disk = Arc::new(MemDisk::new());
    apply(&queues(&disk), 0..14);
    let cut = found(&disk, 0);
    cut.trim().unwrap();
    cut.follow(Position::ZERO).unwrap();
    assert_eq!(bounds(&cut), (0, 0));
    assert_eq!(cut.furthest().unwrap(), Position::ZERO);
    assert_eq!(cut.find("T", 0).unwrap().next(), 0);
    apply(&cut, [0]);
    check(&cut, 0, 1);
}

// Following the log's start.

/// Files go, the last one stays, offsets stay, and a queue without messages is one
/// with min = max.
#[test]
fn min_offset_after_log_removed() {
    let rows: [(u64, u64, &[u64]); 7] = [
        // the log begins at this message, the queue's min, its files
        (0, 0, &[0, 1, 2]),
        (1, 1, &[0, 1, 2]),
        (4, 4, &[0, 1, 2]),
        (5, 5, &[1, 2]),
        (11, 11, &[2]),
        (12, 12, &[2]),
        (99, 12, &[2]),
    ];
    for (start, min, kept) in rows {
        let disk = Arc::new(MemDisk::new());
        let queues = queues(&disk);
        apply(&queues, 0..12);
        let removed = queues.drop_before(Position::new(start * SIZE)).unwrap();
        assert_eq!(removed, 3 - kept.len());
        assert_eq!(files(&disk), kept, "{start}");
        check(&queues, min, 12);
        // Neither opening gives offset 12 out again.
        check(&resumed(&disk, min, 12).unwrap(), min, 12);
        let anew = found(&disk, start);
        apply(&anew, start.min(12)..12);
        anew.follow(Position::new(start * SIZE)).unwrap();
        check(&anew, min, 12);
        apply(&anew, [12]);
        assert_eq!(bounds(&anew).1, 13);
    }
}

#[test]
fn several_queues_follow_at_once() {
    let disk = Arc::new(MemDisk::new());
    let queues = queues(&disk);
    for id in 0..3 {
        let queue = queues.find_or_make("U", id);
        let unit = Unit { position: Position::new(u64::from(id) * 1000), size: 9, tag_code: 0 };
        queue.add(0, &[unit], true);
        queue.publish(true).unwrap();
    }
    queues.drop_before(Position::new(1000)).unwrap();
    let mins: Vec<_> = queues.bounds().iter().map(|queue| queue.bounds.min.get()).collect();
    assert_eq!(mins, [1, 0, 0]);
}

/// Units that point nowhere tell nothing of what lies before and behind them.
#[test]
fn min_is_found_among_units_that_point_nowhere() {
    let rows = [(0, 0), (1, 4), (4, 4), (5, 12), (12, 12), (13, 13)];
    for (start, min) in rows {
        let queues = queues(&Arc::new(MemDisk::new()));
        apply(&queues, [0, 4, 12]);
        queues.follow(Position::new(start * SIZE)).unwrap();
        assert_eq!(bounds(&queues), (min, 13), "{start}");
    }
}

/// A queue that was derived while its front was away begins with such units; with the front back
/// it is whole again.
#[test]
fn a_front_that_was_away_is_derived() {
    let disk = Arc::new(MemDisk::new());
    apply(&queues(&disk), 3..9);
    let whole = found(&disk, 0);
    apply(&whole, 0..9);
    check(&whole, 0, 9);
}

/// What nothing but units that point nowhere hold is not given out again.
#[test]
fn offsets_that_were_lost_do_not_come_back() {
    let disk = Arc::new(MemDisk::new());
    apply(&queues(&disk), [0, 4]);
    let expired = found(&disk, 5);
    assert_eq!(bounds(&expired), (5, 5));
    expired.raise_next("T", 0, QueueOffset::new(3));
    assert_eq!(expired.find("T", 0).unwrap().next(), 5);
    expired.raise_next("T", 0, QueueOffset::new(8));
    assert_eq!((bounds(&expired), expired.find("T", 0).unwrap().next()), ((8, 8), 8));
    apply(&expired, [8]);
    check(&expired, 8, 9);
}

// Taking up again.

/// What a test does to a disk.
type Damage = fn(&MemDisk);

#[test]
fn a_queue_that_is_not_whole_is_told() {
    let rows: [(&str, Damage); 6] = [
        ("all files are gone", |disk| disk.lose(Path::new("/cq/T/0"))),
        ("the first file is gone", |disk| disk.lose(&file(0))),
        ("one between is gone", |disk| disk.lose(&file(1))),
        ("the last file is gone", |disk| disk.lose(&file(2))),
        ("a file is short", |disk| disk.truncate(&file(1), 99).unwrap()),
        ("the last unit is gone", |disk| disk.corrupt(&file(2), 20, &[0; 20]).unwrap()),
    ];
    for (what, damage) in rows {
        let disk = Arc::new(MemDisk::new());
        apply(&queues(&disk), 0..12);
        damage(&disk);
        assert_eq!(kind(resumed(&disk, 0, 12)), Some(ErrorKind::Corrupt), "{what}");
        let anew = found(&disk, 0);
        apply(&anew, 0..12);
        check(&anew, 0, 12);
        drop(anew);
        check(&resumed(&disk, 0, 12).unwrap(), 0, 12);
    }
}

/// A queue whose messages have all expired needs none of its files.
#[test]
fn an_empty_queue_needs_no_file() {
    let disk = Arc::new(MemDisk::new());
    let queues = resumed(&disk, 7, 7).unwrap();
    assert_eq!((bounds(&queues), queues.find("T", 0).unwrap().next()), ((7, 7), 7));
    apply(&queues, [7]);
    check(&queues, 7, 8);
}

/// RocketMQ tolerates directories that are no numbers; so do we, and nothing of them changes.
#[test]
fn foreign_names_are_left_alone() {
    let disk = Arc::new(MemDisk::new());
    apply(&queues(&disk), 0..3);
    for path in ["/cq/T/old/00000000000000000000", "/cq/T/0/note", "/cq/README"] {
        disk.write(Path::new(path), b"kept");
    }
    let queues = found(&disk, 0);
    apply(&queues, 0..3);
    queues.trim().unwrap();
    check(&queues, 0, 3);
    assert_eq!(queues.all().len(), 1);
    assert_eq!(disk.read(Path::new("/cq/T/0/note")).unwrap().unwrap(), b"kept");
}

/// RocketMQ refuses to start where a topic has queues of both kinds.
#[test]
fn units_of_batch_topics_lie_aside() {
    let disk = Arc::new(MemDisk::new());
    let queues = || queues(&disk).keeping_aside(["T".to_owned()].into(), "/own".into());
    let first = queues();
    apply(&first, 0..7);
    check(&first, 0, 7);
    assert!(first.is_batch_topic("T") && !first.is_batch_topic("U"));
    assert_eq!(disk.stat(Path::new("/cq/T")).unwrap(), None);
    assert_eq!(disk.list(Path::new("/own/T/0")).unwrap().len(), 2);
    let found = queues();
    assert_eq!(found.furthest().unwrap().get(), 7 * SIZE);
    found.resume_below(Position::new(3 * SIZE)).unwrap();
    assert_eq!(bounds(&found), (3, 3));
}

// Failures.

/// Without room nothing becomes visible and nothing is lost: the next try goes on.
#[test]
fn units_wait_for_room() {
    let disk = Arc::new(MemDisk::new());
    disk.set_capacity(Path::new("/cq"), 4096);
    let queues = queues(&disk);
    apply(&queues, 0..5);
    let bytes: Vec<_> = (5..7).map(|offset| record(offset, offset * SIZE)).collect();
    bytes.iter().for_each(|bytes| queues.apply(&MessageView::parse(bytes).unwrap()));
    for _ in 0..3 {
        assert_eq!(kind(queues.publish()), Some(ErrorKind::Full));
        check(&queues, 0, 5);
    }
    disk.set_capacity(Path::new("/cq"), 1 << 20);
    queues.publish().unwrap();
    check(&queues, 0, 7);
}

/// In a store that is opened for reading, what is derived stays in memory.
#[test]
fn a_reader_writes_nothing() {
    let disk = Arc::new(MemDisk::new());
    apply(&queues(&disk), 0..7);
    let before: Vec<_> = (0..2).map(|number| disk.read(&file(number)).unwrap()).collect();
    disk.set_read_only(Path::new("/"), true);
    let reader = Queues::new(Path::new("/cq"), shelf(&disk, Access::Read));
    let bounds = Bounds { min: QueueOffset::ZERO, max: QueueOffset::new(7) };
    reader.resume(&Resume { topic: "T".into(), id: 0, bounds }).unwrap();
    apply(&reader, 7..20);
    reader.trim().unwrap();
    check(&reader, 0, 20);
    let after: Vec<_> = (0..2).map(|number| disk.read(&file(number)).unwrap()).collect();
    assert_eq!((after, files(&disk)), (before, vec![0, 1]));
}
