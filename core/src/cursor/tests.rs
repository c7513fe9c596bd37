//! Progress by tables, the file byte by byte, RocketMQ's file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::disk::slots::Slots;
use crate::disk::{Access, Allocation, Disk, MemDisk};
use crate::error::{ErrorKind, Result};

const PATH: &str = "/cursors/orders/billing";

fn delivered(progress: &mut Progress, offsets: std::ops::Range<u64>, due_ms: i64) {
    for offset in offsets {
        progress.deliver(offset, due_ms).unwrap();
    }
}

fn open(progress: &Progress) -> Vec<u64> {
    progress.open_offsets().collect()
}

#[test]
fn the_floor_moves_only_over_what_was_acknowledged() {
    let mut progress = Progress::new(10);
    delivered(&mut progress, 10..15, 100);
    for (offset, floor) in [(12, 10), (11, 10), (10, 13), (10, 13), (14, 13), (13, 15)] {
        progress.acknowledge(offset).unwrap();
        assert_eq!(progress.floor(), floor, "after {offset}");
    }
    assert_eq!((progress.next(), open(&progress)), (15, vec![]));
}

#[test]
fn what_was_not_delivered_cannot_be_acknowledged() {
    let mut progress = Progress::new(10);
    delivered(&mut progress, 10..12, 100);
    for outcome in [progress.acknowledge(12), progress.acknowledge_below(13)] {
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.limit()), (ErrorKind::Invalid, Some(12)));
    }
    progress.acknowledge_below(12).unwrap();
    progress.acknowledge_below(12).unwrap();
    progress.acknowledge(3).unwrap();
    assert_eq!(progress.floor(), 12);
}

#[test]
fn what_is_not_acknowledged_comes_again_when_its_time_is_over_and_counts() {
    let mut progress = Progress::new(0);
    delivered(&mut progress, 0..4, 100);
    progress.acknowledge(1).unwrap();
    assert_eq!((progress.take_due(99, 100, 9), progress.next_due_ms()), (vec![], Some(100)));
    assert_eq!(progress.take_due(100, 100, 2), [0, 2]);
    assert_eq!(progress.deliver(0, 200), Some(2));
    progress.put_back(2);
    assert_eq!(progress.take_due(100, 100, 9), [2, 3]);
    assert_eq!((progress.deliver(2, 200), progress.deliver(3, 200)), (Some(2), Some(2)));
    progress.acknowledge_below(3).unwrap();
    assert_eq!((progress.take_due(200, 100, 9), progress.deliver(3, 300)), (vec![3], Some(3)));
    progress.acknowledge(3).unwrap();
    assert_eq!((progress.next_due_ms(), progress.take_due(i64::MAX, 100, 9)), (None, vec![]));
}

/// A clock that stood a year ahead when they were delivered kept messages back for a year.
#[test]
fn a_clock_that_is_set_back_keeps_nothing_back() {
    let mut progress = Progress::new(0);
    delivered(&mut progress, 0..1, 1_000_000);
    assert_eq!(progress.take_due(900_000, 100_000, 9), []);
    assert_eq!(progress.take_due(899_999, 100_000, 9), [0]);
}

#[test]
fn offsets_without_a_message_are_passed_and_a_full_window_delivers_nothing() {
    let mut progress = Progress::new(0);
    progress.pass(1 << 40);
    assert_eq!(progress.floor(), 1 << 40);
    let mut progress = Progress::new(0);
    assert_eq!((progress.deliver(0, 5), progress.deliver(3, 5)), (Some(1), Some(1)));
    assert_eq!((open(&progress), progress.room(6)), (vec![0, 3], 2));
    assert_eq!(progress.deliver(1 << 40, 5), None);
    assert_eq!(progress.next(), MAX_PENDING as u64);
    progress.acknowledge_below(4).unwrap();
    assert_eq!((progress.floor(), open(&progress)), (MAX_PENDING as u64, vec![]));
    assert_eq!(progress.deliver(1 << 40, 5), Some(1));
    assert_eq!(progress.floor(), 1 << 40);
}

#[test]
fn cleaning_overtakes_and_a_loss_of_power_cuts() {
    let sample = || {
        let mut progress = Progress::new(10);
        delivered(&mut progress, 10..20, 100);
        progress.acknowledge_below(12).unwrap();
        progress.acknowledge(12 + 1).unwrap();
        progress
    };
    let rows = [(12, None, 12), (13, Some(12..13), 14), (15, Some(12..15), 15)];
    for (min, lost, floor) in rows {
        let mut progress = sample();
        assert_eq!((progress.overtake(min), progress.floor()), (lost, floor), "{min}");
    }
    let mut progress = sample();
    assert_eq!(
        (progress.overtake(50), progress.next(), open(&progress)),
        (Some(12..50), 50, vec![])
    );
    for (max, is_beyond, floor, next) in [(20, false, 12, 20), (14, true, 12, 14), (3, true, 3, 3)]
    {
        let mut progress = sample();
        assert_eq!(progress.cut(max), is_beyond, "{max}");
        assert_eq!((progress.floor(), progress.next()), (floor, next), "{max}");
    }
    // Other messages get the offsets: nothing of before counts for them.
    let mut progress = sample();
    progress.acknowledge(18).unwrap();
    progress.cut(18);
    progress.deliver(18, 500).unwrap();
    assert_eq!(open(&progress), [12, 14, 15, 16, 17, 18]);
}

fn saved() -> Saved {
    let mut many = Progress::new(7);
    delivered(&mut many, 7..7 + MAX_PENDING as u64, 100);
    for offset in (8..7 + MAX_PENDING as u64).step_by(3) {
        many.acknowledge(offset).unwrap();
    }
    let hold = Some(Hold { max_age_ms: Some(5), max_bytes: None });
    let queues = BTreeMap::from([(0, Progress::new(3)), (9, many), (70_000, Progress::new(0))]);
    Saved { settings: Settings { hold, only_known: true }, queues }
}

/// Floors and what is not acknowledged: all that a file is to tell.
fn told(saved: &Saved) -> Vec<(u32, u64, Vec<u64>)> {
    saved.queues.iter().map(|(&queue, p)| (queue, p.floor(), open(p))).collect()
}

fn reread(disk: &MemDisk) -> Result<Saved> {
    Ok(CursorFile::open(disk, Path::new(PATH), Access::Read)?.1)
}

#[test]
fn a_file_keeps_floors_and_acknowledgements_out_of_order() {
    let disk = MemDisk::new();
    let mut saved = saved();
    let mut file = CursorFile::create(&disk, Path::new(PATH), &saved).unwrap();
    let found = reread(&disk).unwrap();
    assert_eq!((told(&found), found.settings), (told(&saved), saved.settings));
    for round in 0..5 {
        let queue = saved.queues.get_mut(&9).unwrap();
        queue.acknowledge_below(100 + 7 * round).unwrap();
        file.commit(&disk, &saved, &[9]).unwrap();
        assert_eq!(told(&reread(&disk).unwrap()), told(&saved), "{round}");
    }
    // More queues than there are pages.
    for queue in 100..120 {
        saved.queues.insert(queue, Progress::new(u64::from(queue)));
        file.commit(&disk, &saved, &[queue, 0]).unwrap();
    }
    assert_eq!(told(&reread(&disk).unwrap()), told(&saved));
}

#[test]
fn what_comes_from_a_file_comes_again_at_once_as_a_second_attempt() {
    let disk = MemDisk::new();
    CursorFile::create(&disk, Path::new(PATH), &saved()).unwrap();
    let mut progress = reread(&disk).unwrap().queues.remove(&9).unwrap();
    assert!(!progress.is_changed());
    assert_eq!(progress.take_due(i64::MIN, 10, 3), [7, 9, 10]);
    assert_eq!(progress.deliver(7, 50), Some(2));
}

/// Every byte flipped and every length: the file is refused, or it tells what was committed last
/// or before. Never an acknowledgement that nobody gave.
#[test]
fn a_damaged_file_is_refused_or_tells_an_earlier_commit() {
    let disk = MemDisk::new();
    let mut saved = saved();
    let mut file = CursorFile::create(&disk, Path::new(PATH), &saved).unwrap();
    let before = told(&saved);
    saved.queues.get_mut(&9).unwrap().acknowledge_below(500).unwrap();
    file.commit(&disk, &saved, &[9]).unwrap();
    let (after, path) = (told(&saved), Path::new(PATH));
    let bytes = disk.read(path).unwrap().unwrap();
    let (mut refused, mut earlier) = (0, 0);
    for at in 0..bytes.len() {
        // The slots, and some of the zeros between them.
        if at % Slots::LEN as usize % 4096 > 520 && at % 97 != 0 {
            continue;
        }
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        disk.replace(path, &damaged).unwrap();
        match reread(&disk) {
            Err(error) => {
                let is_told = [ErrorKind::Corrupt, ErrorKind::Version].contains(&error.kind());
                assert!(is_told && error.path() == Some(path), "byte {at}: {error}");
                refused += 1;
            }
            Ok(found) if told(&found) == before => earlier += 1,
            Ok(found) => assert_eq!(told(&found), after, "byte {at}"),
        }
    }
    assert!(refused > 1000 && earlier > 100, "{refused} refused, {earlier} earlier");
    for len in (0..bytes.len()).step_by(256).chain([bytes.len() - 1, bytes.len() + 1]) {
        let file = disk.create(Path::new("/"), len as u64, Allocation::Sparse).unwrap();
        file.write_at(0, &bytes[..len.min(bytes.len())]).unwrap();
        disk.remove(path).unwrap();
        file.link(path).unwrap();
        assert_eq!(reread(&disk).unwrap_err().kind(), ErrorKind::Corrupt, "{len} bytes");
    }
}

/// A loss of power keeps of every sector the old or the new content.
#[test]
fn a_crash_in_a_commit_leaves_the_old_or_the_new_of_each_queue() {
    let disk = Arc::new(MemDisk::new());
    let mut saved = saved();
    let mut file = CursorFile::create(disk.as_ref(), Path::new(PATH), &saved).unwrap();
    let mut seen = [0; 2];
    for round in 0..200_u64 {
        let old = told(&saved);
        saved.queues.get_mut(&9).unwrap().acknowledge_below(10 + round).unwrap();
        saved.queues.insert(0, Progress::new(4 + round));
        for queue in [0, 9] {
            let payload = page::encode_queue(queue, &saved.queues[&queue]);
            file.put_for_test(queue, &payload).unwrap();
        }
        let mut odds = round;
        let crashed = disk.crash(&mut || {
            odds = odds.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            odds >> 63 == 0
        });
        let found = told(&reread(&crashed).unwrap());
        for (at, row) in found.iter().enumerate() {
            let new = &told(&saved)[at];
            assert!(*row == old[at] || row == new, "round {round}: {row:?}");
            seen[usize::from(row == new)] += 1;
        }
        file.commit(disk.as_ref(), &saved, &[0, 9]).unwrap();
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}

#[test]
fn names_are_file_names() {
    let long = "n".repeat(250);
    for name in ["billing", "%RETRY%g", "two words", "a..b", long.as_str()] {
        assert!(check_name(name).is_ok(), "{name}");
    }
    let longer = "n".repeat(251);
    for name in ["", ".", "..", ".new", "a/b", "../x", "a\0b", longer.as_str()] {
        assert_eq!(check_name(name).unwrap_err().kind(), ErrorKind::Invalid, "{name:?}");
    }
    let unbounded = Hold { max_age_ms: None, max_bytes: None };
    assert_eq!(unbounded.validate().unwrap_err().kind(), ErrorKind::Invalid);
}

fn group(topic: &str, group: &str, offsets: &[(u32, u64)]) -> GroupOffsets {
    let offsets = offsets.iter().copied().collect();
    GroupOffsets { topic: topic.into(), group: group.into(), offsets }
}

#[test]
fn rocketmqs_file_is_read_with_and_without_quotes_and_what_else_it_holds() {
    let text = br#"{
        "dataVersion":{"counter":2,"stateVersion":0,"timestamp":1700000000000},
        "groupTopicMap":{"g":["t"]},
        "offsetTable":{"TopicTest@please_rename":{0:250,1:251 , 2 : 9007199254740993},
            "%RETRY%g@g":{"0":1}, "empty@g":{}}
    }"#;
    let expected = [
        group("%RETRY%g", "g", &[(0, 1)]),
        group("TopicTest", "please_rename", &[(0, 250), (1, 251), (2, 9_007_199_254_740_993)]),
        group("empty", "g", &[]),
    ];
    assert_eq!(parse_offsets(text).unwrap(), expected);
    assert_eq!(parse_offsets(write_offsets(&expected).as_bytes()).unwrap(), expected);
    assert_eq!(parse_offsets(b"{}").unwrap(), []);
    let odd = [group("a\"b\\c", "g\u{1}\u{e9}", &[(3, 4)])];
    assert_eq!(parse_offsets(write_offsets(&odd).as_bytes()).unwrap(), odd);
}

#[test]
fn what_is_no_file_of_rocketmqs_is_refused_with_its_place() {
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    let rows = [
        ("", 0),
        ("[]", 0),
        ("{\"offsetTable\":{\"t@g\":{0:1}}", 28),
        ("{\"offsetTable\":{\"t@g\":{0:-1}}}", 25),
        ("{\"offsetTable\":{\"t@g\":{-1:1}}}", 26),
        ("{\"offsetTable\":{\"t@g\":{0:99999999999999999999}}}", 25),
        ("{\"offsetTable\":{\"tg\":{0:1}}}", 21),
        ("{\"offsetTable\":3}", 15),
        ("{} x", 3),
        ("{\"a\":\"\\x\"}", 8),
        ("{\"a\":\"\\u12", 12),
        ("{\"a", 3),
        (deep.as_str(), 37),
    ];
    for (text, at) in rows {
        let error = parse_offsets(text.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert_eq!(error.offset(), Some(at), "{text}: {error}");
    }
}
