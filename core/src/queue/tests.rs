//! A queue on a disk in memory, without threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::base::units::Position;
use crate::disk::{Clock, Disk, ManualClock, MemDisk};
use crate::error::{Error, ErrorKind, Result};

const NOW: Duration = Duration::ZERO;

fn options() -> QueueOptions {
    QueueOptions::new()
        .segment_len_bytes(4096)
        .capacity_segments(8)
        .max_in_memory_segments(8)
        .background(false)
}

fn open_with(disk: &Arc<MemDisk>, options: QueueOptions) -> Result<Queue> {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(1_000_000));
    Queue::open_on(Arc::clone(disk) as Arc<dyn Disk>, clock, "/queue", options)
}

fn open(disk: &Arc<MemDisk>) -> Queue {
    open_with(disk, options()).expect("the queue opens")
}

fn new() -> (Arc<MemDisk>, Queue) {
    let disk = Arc::new(MemDisk::new());
    let queue = open(&disk);
    (disk, queue)
}

/// A payload that says which one it is.
fn payload(number: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (number * 31 + at) as u8).collect()
}

fn kind<T>(outcome: Result<T>) -> ErrorKind {
    outcome.map(drop).expect_err("it fails").kind()
}

/// Pushes the payload of each of these numbers.
fn push_all(queue: &Queue, numbers: std::ops::Range<u64>, payload: impl Fn(u64) -> Vec<u8>) {
    numbers.for_each(|number| assert!(queue.push(&payload(number)).is_ok(), "{number}"));
}

fn popped(queue: &Queue) -> Vec<Vec<u8>> {
    let batch = queue.pop_many(usize::MAX, u64::MAX, NOW).expect("pops");
    batch.iter().map(<[u8]>::to_vec).collect()
}

/// The process dies: the disk keeps what it has.
fn killed(disk: &Arc<MemDisk>, queue: Queue) -> Arc<MemDisk> {
    let after = Arc::new(disk.kill());
    drop(queue);
    after
}

/// Power is lost: of what was not flushed nothing is kept.
fn unplugged(disk: &Arc<MemDisk>, queue: Queue) -> Arc<MemDisk> {
    let after = Arc::new(disk.crash(&mut || false));
    drop(queue);
    after
}

#[test]
fn records_come_out_as_they_went_in() {
    let (_disk, queue) = new();
    let lens = [0, 1, 7, 8, 100, 4047, 4048, 4049, 4072, 4096, 9000];
    for (number, &len) in lens.iter().enumerate() {
        queue.push(&payload(number as u64, len)).unwrap();
    }
    for (number, &len) in lens.iter().enumerate() {
        let record = queue.pop(NOW).unwrap().expect("one more");
        assert_eq!(
            (record.number, &*record.payload),
            (number as u64, &*payload(number as u64, len))
        );
    }
    assert!(queue.pop(NOW).unwrap().is_none());
}

/// A length word at a segment's end: every number of bytes that can be left there.
#[test]
fn a_record_can_begin_at_any_place_before_a_segments_end() {
    for left in (0..=64).step_by(8) {
        let (disk, queue) = new();
        queue.push(&payload(1, 4096 - 24 - left)).unwrap();
        queue.push(&payload(2, 5000)).unwrap();
        queue.push(b"third").unwrap();
        let queue = open(&killed(&disk, queue));
        assert_eq!(
            popped(&queue),
            [payload(1, 4096 - 24 - left), payload(2, 5000), b"third".into()]
        );
    }
}

/// Satellite's benchmark of memory: the count of maps after each of twenty records, nothing read.
#[test]
fn the_golden_trace_of_maps() {
    let disk = Arc::new(MemDisk::new());
    let queue = open_with(&disk, options().capacity_segments(100)).unwrap();
    let count = |_| {
        queue.push(&payload(0, 2200)).unwrap();
        queue.stat().mapped_segments
    };
    let trace: Vec<u64> = (0..20).map(count).collect();
    assert_eq!(trace, [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 8, 6, 6, 7, 7, 8, 8]);
}

#[test]
fn files_are_used_again_and_never_more_than_the_capacity() {
    let (disk, queue) = new();
    for number in 0..500 {
        queue.push(&payload(number, 1500)).unwrap();
        if number % 3 == 2 {
            let batch = queue.pop_many(3, u64::MAX, NOW).unwrap();
            assert_eq!(batch.payload(2), Some(&*payload(number, 1500)));
            let end = batch.end().unwrap();
            drop(batch);
            queue.commit(end).unwrap();
        }
        assert!(disk.list(Path::new("/queue/segments")).unwrap().len() <= 8);
    }
    let stat = queue.stat();
    assert!(stat.end.get() > 8 * 8 * 4096, "many laps: {stat:?}");
    assert!(stat.segments <= 4, "files behind the reader are used again: {stat:?}");
}

/// What is kept of a segment nobody uses is a row of the ring: neither a backlog that grows nor
/// laps without an eviction may add to it.
#[test]
fn memory_follows_the_maps_and_not_the_backlog() {
    let disk = Arc::new(MemDisk::new());
    let growing = open_with(&disk, options().capacity_segments(2000)).unwrap();
    push_all(&growing, 0..2000, |number| payload(number, 3000));
    assert!(growing.stat().segments > 1000, "{:?}", growing.stat());
    let live = growing.line.segments.ring.live_segments();
    assert!(live <= 128, "{live} segments are live");
    drop(growing);

    let (_disk, going_round) = new();
    for number in 0..2000 {
        going_round.push(&payload(number, 3000)).unwrap();
        let end = going_round.pop(NOW).unwrap().unwrap().end;
        going_round.commit(end).unwrap();
    }
    let known = going_round.line.segments.budget.known();
    assert!(known <= 32, "the budget knows {known} segments");
}

/// The original lost what was not flushed when its process was killed, although the bytes were
/// there, and took zeros or old bytes for records.
#[test]
fn a_kill_loses_nothing() {
    let (mut disk, mut queue) = new();
    for round in 0..20_u64 {
        for number in 0..5 {
            queue.push(&payload(round * 5 + number, 1000)).unwrap();
        }
        disk = killed(&disk, queue);
        queue = open(&disk);
        let records = popped(&queue);
        assert_eq!(records.len(), 5, "round {round}");
        assert_eq!(records[4], payload(round * 5 + 4, 1000));
        queue.commit(queue.stat().end).unwrap();
    }
}

#[test]
fn a_loss_of_power_keeps_what_was_flushed_and_its_order() {
    let (disk, queue) = new();
    push_all(&queue, 0..4, |number| payload(number, 1500));
    queue.flush().unwrap();
    queue.push(&payload(4, 1500)).unwrap();
    let queue = open(&unplugged(&disk, queue));
    assert_eq!(popped(&queue), (0..4).map(|n| payload(n, 1500)).collect::<Vec<_>>());
    assert_eq!(queue.stat().records, 4);
}

/// The four positions: what a crash does to each of them.
#[test]
fn four_positions_after_a_loss_of_power() {
    let (disk, queue) = new();
    let number = |from, to| (from..to).map(|n| payload(n, 10)).collect::<Vec<_>>();
    push_all(&queue, 0..10, |n| payload(n, 10));
    queue.flush().unwrap();
    push_all(&queue, 10..15, |n| payload(n, 10));
    assert_eq!(queue.pop_many(6, u64::MAX, NOW).unwrap().len(), 6);
    queue.commit(queue.reader("default").unwrap().cursor().unwrap().1).unwrap();
    queue.pop_many(2, u64::MAX, NOW).unwrap();
    queue.line.sync_meta(false).unwrap();
    let queue = open(&unplugged(&disk, queue));
    assert_eq!(popped(&queue), number(6, 10));
}

/// The original read on into old bytes when more was acknowledged than was flushed.
#[test]
fn a_cursor_beyond_the_data_is_brought_back_to_the_end() {
    let (disk, queue) = new();
    let (fast, slow) = (queue.reader("fast").unwrap(), queue.reader("slow").unwrap());
    queue.push(b"kept").unwrap();
    queue.flush().unwrap();
    queue.push(b"lost").unwrap();
    let batch = fast.pop_many(2, u64::MAX, NOW).unwrap();
    fast.commit(batch.end().unwrap()).unwrap();
    queue.line.sync_meta(false).unwrap();
    drop((batch, fast, slow));
    let queue = open(&unplugged(&disk, queue));
    assert_eq!(queue.recovery().clamped, ["fast"]);
    let fast = queue.reader("fast").unwrap();
    assert!(fast.pop(NOW).unwrap().is_none());
    queue.push(b"new").unwrap();
    assert_eq!(&*fast.pop(NOW).unwrap().unwrap().payload, b"new");
    assert_eq!(&*queue.reader("slow").unwrap().pop(NOW).unwrap().unwrap().payload, b"kept");
}

/// All were committed, none was flushed: the line goes on behind what was lost.
#[test]
fn what_was_committed_and_lost_is_not_seen_again() {
    let (disk, queue) = new();
    queue.push(b"gone").unwrap();
    let end = queue.pop(NOW).unwrap().unwrap().end;
    queue.commit(end).unwrap();
    queue.line.sync_meta(false).unwrap();
    let queue = open(&unplugged(&disk, queue));
    assert!(queue.pop(NOW).unwrap().is_none());
    queue.push(b"next").unwrap();
    assert_eq!(popped(&queue), [b"next".to_vec()]);
}

/// A record cut off by a crash, behind which a later one is whole, must not let that one come
/// back when another has taken its place.
#[test]
fn what_stood_behind_the_cut_never_comes_back() {
    let (disk, queue) = new();
    for number in 0..3 {
        queue.push(&payload(number, 1000)).unwrap();
    }
    let file = "/queue/segments/00000000000000000000";
    drop(queue.line.tail.lock());
    let disk = killed(&disk, queue);
    disk.flip(Path::new(file), 30, 1).expect("a bit of the first record");
    let queue = open(&disk);
    assert_eq!(queue.stat().records, 0, "everything was at or behind the end");
    queue.push(&payload(7, 1000)).unwrap();
    let queue = open(&killed(&disk, queue));
    assert_eq!(popped(&queue), [payload(7, 1000)]);
}

#[test]
fn a_batch_is_there_whole_or_not_at_all() {
    for cut in 0..3_u64 {
        let (disk, queue) = new();
        queue.push(b"before").unwrap();
        let batch: Vec<_> = (0..3).map(|number| payload(number, 200)).collect();
        queue.push_many(&batch).unwrap();
        let disk = killed(&disk, queue);
        let file = Path::new("/queue/segments/00000000000000000000");
        disk.flip(file, 32 + cut * 224 + 100, 1).expect("a bit of that record");
        let queue = open(&disk);
        assert_eq!(popped(&queue), [b"before".to_vec()], "record {cut} is damaged");
    }
}

#[test]
fn a_full_queue_refuses_before_it_writes_a_byte() {
    let (_disk, queue) = new();
    let mut count = 0;
    let full = loop {
        match queue.push(&payload(count, 1000)) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), ErrorKind::Full);
    assert_eq!(full.limit(), Some(8 * 4096));
    assert_eq!(kind(queue.push_many(&[payload(0, 10), payload(0, 4000)])), ErrorKind::Full);
    assert_eq!(queue.stat().records, count);
    let first = queue.pop(NOW).unwrap().unwrap();
    assert_eq!(kind(queue.push(&payload(count, 1000))), ErrorKind::Full, "full until committed");
    (1..5).for_each(|_| drop(queue.pop(NOW).unwrap()));
    drop(first);
    queue.commit(queue.reader("default").unwrap().cursor().unwrap().1).unwrap();
    queue.push(&payload(count, 1000)).unwrap();
}

/// The original judged by what was read, and overwrote what was not acknowledged.
#[test]
fn what_was_popped_and_not_committed_is_never_overwritten() {
    let (disk, queue) = new();
    let mut pushed = 0;
    while queue.push(&payload(pushed, 900)).is_ok() {
        pushed += 1;
        drop(queue.pop(NOW).unwrap());
    }
    let queue = open(&killed(&disk, queue));
    let again = popped(&queue);
    assert_eq!(again.len() as u64, pushed);
    assert!((0..pushed).all(|number| again[number as usize] == payload(number, 900)));
}

#[test]
fn what_can_never_fit_is_too_large() {
    let (_disk, queue) = new();
    assert_eq!(kind(queue.push(&payload(0, 8 * 4096))), ErrorKind::TooLarge);
    let half = payload(0, 15_000);
    assert_eq!(kind(queue.push_many(&[&half, &half])), ErrorKind::TooLarge);
    assert_eq!(queue.stat().records, 0);
    let most = payload(1, 7 * 4096 - 24);
    assert_eq!(most.len() as u64, options().record_limit());
    queue.push(&most).unwrap();
    assert_eq!(&*queue.pop(NOW).unwrap().unwrap().payload, &*most);
}

#[test]
fn dropping_the_oldest_counts_and_tells() {
    let disk = Arc::new(MemDisk::new());
    let queue = open_with(&disk, options().on_full(OnFull::DropOldest)).unwrap();
    let reader = queue.reader("slow").unwrap();
    for number in 0..200 {
        queue.push(&payload(number, 1500)).unwrap();
    }
    let stat = queue.stat();
    assert!(stat.dropped > 150 && stat.segments <= 8, "{stat:?}");
    let gone = reader.pop(NOW).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Gone);
    assert!(gone.to_string().contains(&format!("{} records", stat.dropped)), "{gone}");
    assert_eq!(gone.start(), Some(stat.start));
    let rest = reader.pop_many(1000, u64::MAX, NOW).unwrap();
    assert_eq!(rest.len() as u64, 200 - stat.dropped);
    assert_eq!(rest.payload(0), Some(&*payload(stat.dropped, 1500)));
    assert_eq!(rest.payload(rest.len() - 1), Some(&*payload(199, 1500)));
}

/// A record longer than what lies before the next boundary: the start moves to a whole record.
#[test]
fn dropping_the_oldest_keeps_whole_records_only() {
    let disk = Arc::new(MemDisk::new());
    let queue = open_with(&disk, options().on_full(OnFull::DropOldest)).unwrap();
    for number in 0..100 {
        queue.push(&payload(number, 9000)).unwrap();
        let last = queue.line.end_mark().number - 1;
        assert_eq!(last, number);
    }
    let rest = popped_after_gone(&queue);
    assert_eq!(rest.last(), Some(&payload(99, 9000)));
    assert!(rest.len() >= 2);
}

fn popped_after_gone(queue: &Queue) -> Vec<Vec<u8>> {
    match queue.pop_many(usize::MAX, u64::MAX, NOW) {
        Ok(batch) => batch.iter().map(<[u8]>::to_vec).collect(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Gone);
            popped(queue)
        }
    }
}

#[test]
fn the_slowest_reader_holds_the_space() {
    let (_disk, queue) = new();
    let readers = ["a", "b"].map(|name| queue.reader(name).unwrap());
    while queue.push(&payload(0, 1000)).is_ok() {}
    let all = readers[0].pop_many(usize::MAX, u64::MAX, NOW).unwrap();
    readers[0].commit(all.end().unwrap()).unwrap();
    drop(all);
    assert_eq!(kind(queue.push(&payload(0, 1000))), ErrorKind::Full);
    queue.remove_reader("b").unwrap();
    assert_eq!(kind(readers[1].pop(NOW)), ErrorKind::Closed);
    queue.push(&payload(0, 1000)).unwrap();
}

#[test]
fn rewinding_gives_what_was_not_committed_again() {
    let (_disk, queue) = new();
    let ends: Vec<Position> = (0..4).map(|n| queue.push(&payload(n, 50)).unwrap()).collect();
    assert_eq!(popped(&queue).len(), 4);
    queue.commit(ends[1]).unwrap();
    queue.rewind().unwrap();
    assert_eq!(popped(&queue), [payload(2, 50), payload(3, 50)]);
    queue.commit(ends[0]).expect("what is committed already");
    for wrong in [ends[3] + 8, ends[2] + 8, Position::new(u64::MAX)] {
        assert_eq!(kind(queue.commit(wrong)), ErrorKind::Invalid, "{wrong}");
    }
    queue.commit(ends[3]).unwrap();
    assert_eq!(queue.stat().records, 0);
}

#[test]
fn peeking_takes_nothing_and_lengths_are_told() {
    let (_disk, queue) = new();
    assert!(queue.peek().unwrap().is_none());
    queue.push(b"one").unwrap();
    queue.push(b"two").unwrap();
    let reader = queue.reader("default").unwrap();
    assert_eq!(&*queue.peek().unwrap().unwrap().payload, b"one");
    assert_eq!(reader.backlog().unwrap(), (2, 64));
    reader.pop(NOW).unwrap();
    assert_eq!(reader.backlog().unwrap(), (1, 32));
}

#[test]
fn a_batch_keeps_its_bytes_whatever_happens() {
    let (_disk, queue) = new();
    queue.push(&payload(1, 3000)).unwrap();
    let held = queue.pop(NOW).unwrap().unwrap();
    queue.commit(held.end).unwrap();
    for number in 0..100 {
        queue.push(&payload(number, 3000)).unwrap();
        let record = queue.pop(NOW).unwrap().unwrap();
        queue.commit(record.end).unwrap();
    }
    assert_eq!(&*held.payload, &*payload(1, 3000));
    queue.close().unwrap();
    assert_eq!(&*held.payload, &*payload(1, 3000));
}

#[test]
fn capacity_may_grow_and_may_not_shrink_below_what_is_used() {
    let (disk, queue) = new();
    while queue.push(&payload(0, 1000)).is_ok() {}
    let count = queue.stat().records;
    queue.close().unwrap();
    let refused: Error = open_with(&disk, options().capacity_segments(7)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert_eq!((refused.offset(), refused.limit()), (Some(8), Some(7)));
    let queue = open_with(&disk, options().capacity_segments(16)).unwrap();
    while queue.push(&payload(0, 1000)).is_ok() {}
    assert!(queue.stat().records >= 2 * count);
    while let Some(end) = queue.pop_many(10, u64::MAX, NOW).unwrap().end() {
        queue.commit(end).unwrap();
    }
    queue.close().unwrap();
    let queue = open_with(&disk, options().capacity_bytes(5 * 4096)).unwrap();
    assert_eq!(queue.stat().capacity_segments, 5);
    assert!(queue.stat().segments <= 5);
}

#[test]
fn closed_queues_say_so() {
    let (disk, queue) = new();
    let reader = queue.reader("late").unwrap();
    queue.close().unwrap();
    queue.close().expect("closing twice is fine");
    for outcome in [queue.push(b"x").map(drop), queue.flush(), reader.rewind()] {
        assert_eq!(kind(outcome), ErrorKind::Closed);
    }
    assert_eq!(kind(reader.pop(Duration::from_secs(60))), ErrorKind::Closed);
    let queue = open(&disk);
    assert_eq!(kind(open_with(&disk, options())), ErrorKind::Locked);
    assert!(queue.recovery().clean);
}

#[test]
fn readers_have_limits() {
    let (_disk, queue) = new();
    for name in ["", "a b", "with/slash", &"x".repeat(25)] {
        assert_eq!(kind(queue.reader(name)), ErrorKind::Invalid, "{name:?}");
    }
    for number in 0..MAX_READERS {
        queue.reader(&format!("{number}{}", "x".repeat(MAX_READER_NAME_BYTES - 1))).unwrap();
    }
    assert_eq!(kind(queue.reader("more")), ErrorKind::TooLarge);
    queue.flush().expect("the page holds the longest names");
}

#[test]
fn a_store_is_no_queue_and_a_queue_no_store() {
    let (disk, queue) = new();
    queue.close().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(0));
    let shared = || Arc::clone(&disk) as Arc<dyn Disk>;
    let opened =
        crate::Store::open_on(shared(), Arc::clone(&clock), "/queue", crate::Options::new());
    assert_eq!(kind(opened), ErrorKind::Invalid);
    let store_options = crate::Options::new().segment_len_bytes(8192).background(false);
    let store = crate::Store::open_on(shared(), clock, "/store", store_options).unwrap();
    store.close().unwrap();
    let opened = Queue::open_on(shared(), Arc::new(ManualClock::new(0)), "/store", options());
    assert_eq!(kind(opened), ErrorKind::Invalid);
}

#[test]
fn damage_is_told_and_can_be_passed_over() {
    let (disk, queue) = new();
    push_all(&queue, 0..3, |number| payload(number, 500));
    queue.close().unwrap();
    let file = PathBuf::from("/queue/segments/00000000000000000000");
    disk.flip(&file, 528 + 100, 4).expect("the second record");
    let queue = open(&disk);
    assert_eq!(queue.verify().unwrap().damaged[0].range, 528..1056);
    assert_eq!(popped(&queue), [payload(0, 500)]);
    let damaged = queue.pop(NOW).unwrap_err();
    assert_eq!((damaged.kind(), damaged.path()), (ErrorKind::Corrupt, Some(&*file)));
    assert_eq!(damaged.offset(), Some(528));
    let reader = queue.reader("default").unwrap();
    assert_eq!(reader.skip_damaged().unwrap(), Some(528..1056));
    assert_eq!(reader.skip_damaged().unwrap(), None);
    assert_eq!(popped(&queue), [payload(2, 500)]);
}
