//! Named consumers on a disk in memory, with a clock that stands still.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::base::units::QueueOffset;
use crate::cursor::Hold;
use crate::disk::{Clock, Disk, ManualClock, MemDisk, OsClock};
use crate::error::{ErrorKind, Result};
use crate::options::{OnDamage, Options};
use crate::record::Message;

const NOW_MS: i64 = 1_700_000_000_000;
const VISIBILITY_MS: u64 = 1000;

struct World {
    disk: Arc<MemDisk>,
    clock: Arc<ManualClock>,
    store: Store,
}

fn options() -> Options {
    Options::new()
        .segment_len_bytes(4096)
        .queue_file_len_bytes(400)
        .retention_ms(10_000)
        .background(false)
}

fn open(disk: &Arc<MemDisk>, clock: &Arc<ManualClock>) -> Store {
    let (disk, clock) = (Arc::clone(disk) as Arc<dyn Disk>, Arc::clone(clock) as Arc<dyn Clock>);
    Store::open_on(disk, clock, "/store", options()).unwrap()
}

impl World {
    fn new() -> Self {
        let (disk, clock) = (Arc::new(MemDisk::new()), Arc::new(ManualClock::new(NOW_MS)));
        let store = open(&disk, &clock);
        Self { disk, clock, store }
    }

    /// As the machine is after the process was killed, or after power was lost.
    fn after_crash(self, power: bool) -> Self {
        let disk = Arc::new(if power { self.disk.crash(&mut || false) } else { self.disk.kill() });
        let store = open(&disk, &self.clock);
        Self { disk, clock: self.clock, store }
    }

    fn append(&self, queue: u32, count: u64) {
        for _ in 0..count {
            self.store.append(&Message::new("orders", queue, &[b'x'; 100])).unwrap();
        }
        self.store.catch_up().unwrap();
    }

    fn cursor(&self, options: CursorOptions) -> Cursor {
        self.store.cursor("billing", "orders", options).unwrap()
    }

    fn clean(&self, times: u32) {
        self.store.clean_now().unwrap();
        for _ in 0..times {
            self.clock.advance(1_000_000);
            self.store.run(Task::Clean).unwrap();
        }
    }
}

fn quick() -> CursorOptions {
    CursorOptions { visibility_ms: VISIBILITY_MS, ..CursorOptions::default() }
}

/// Queue, offset and attempt of what one poll delivers.
fn poll(cursor: &Cursor, max_messages: usize) -> Vec<(u32, u64, u32)> {
    let limits = ReadLimits { max_messages, ..ReadLimits::default() };
    told(&cursor.poll(limits, Duration::ZERO).unwrap())
}

fn told(delivery: &Delivery) -> Vec<(u32, u64, u32)> {
    let row = |d: Delivered<'_>| (d.queue, d.message.queue_offset().get(), d.attempt);
    delivery.iter().map(row).collect()
}

fn ack(cursor: &Cursor, queue: u32, offset: u64) -> Result<()> {
    cursor.ack(queue, QueueOffset::new(offset))
}

fn acknowledged(report: &CursorReport) -> Vec<(u32, u64)> {
    report.queues.iter().map(|row| (row.queue, row.acknowledged.get())).collect()
}

/// One queue with a backlog kept those with a message now and then from being served.
#[test]
fn every_queue_gets_its_share_of_each_poll() {
    let world = World::new();
    for (queue, count) in [(0, 500), (1, 3), (2, 40), (7, 1)] {
        world.append(queue, count);
    }
    let cursor = world.cursor(quick());
    let count = |rows: &[(u32, u64, u32)], queue| rows.iter().filter(|r| r.0 == queue).count();
    let first = poll(&cursor, 40);
    assert_eq!([0, 1, 2, 7].map(|queue| count(&first, queue)), [10, 3, 14, 1]);
    // Fewer places than queues: whoever came last comes first.
    world.append(1, 5);
    world.append(7, 5);
    let mut order = Vec::new();
    for _ in 0..8 {
        let rows = poll(&cursor, 1);
        order.push(rows[0].0);
    }
    assert_eq!(order, [0, 1, 2, 7, 0, 1, 2, 7]);
    let mut all = first.len() + 8;
    loop {
        let rows = poll(&cursor, 100);
        if rows.is_empty() {
            break;
        }
        assert!(rows.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].1 < pair[1].1));
        all += rows.len();
    }
    assert_eq!(all, 500 + 8 + 40 + 6);
}

#[test]
fn a_poll_keeps_to_its_bytes_but_for_one_message() {
    let world = World::new();
    world.append(0, 10);
    world.append(1, 10);
    let cursor = world.cursor(quick());
    let size = world.store.read("orders", 0, QueueOffset::ZERO, ReadLimits::default()).unwrap();
    let size = size.get(0).unwrap().bytes().len() as u64;
    for (max_bytes, count) in [(0, 1), (1, 1), (2 * size - 1, 1), (2 * size, 2), (5 * size, 5)] {
        let limits = ReadLimits { max_messages: 100, max_bytes };
        let delivery = cursor.poll(limits, Duration::ZERO).unwrap();
        assert_eq!(delivery.len(), count, "{max_bytes}");
        cursor.seek(Seek::Start).unwrap();
    }
    let none = ReadLimits { max_messages: 0, ..ReadLimits::default() };
    assert_eq!(cursor.poll(none, Duration::ZERO).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn what_is_not_acknowledged_in_time_comes_again_and_counts() {
    let world = World::new();
    world.append(0, 4);
    let cursor = world.cursor(quick());
    assert_eq!(poll(&cursor, 3), [(0, 0, 1), (0, 1, 1), (0, 2, 1)]);
    assert_eq!(cursor.next_due_ms(), Some(NOW_MS + 1000));
    ack(&cursor, 0, 1).unwrap();
    world.clock.advance(999);
    assert_eq!(poll(&cursor, 9), [(0, 3, 1)]);
    world.clock.advance(1);
    assert_eq!(poll(&cursor, 9), [(0, 0, 2), (0, 2, 2)]);
    ack(&cursor, 0, 0).unwrap();
    world.clock.advance(1000);
    // Those that are due come in order, and before new ones.
    world.append(0, 1);
    assert_eq!(poll(&cursor, 9), [(0, 2, 3), (0, 3, 2), (0, 4, 1)]);
    cursor.ack_up_to(0, QueueOffset::new(5)).unwrap();
    world.clock.advance(i64::MAX / 4);
    assert_eq!((poll(&cursor, 9), cursor.next_due_ms()), (vec![], None));
}

#[test]
fn a_full_window_delivers_no_more_until_something_is_acknowledged() {
    let (disk, clock) = (Arc::new(MemDisk::new()), Arc::new(OsClock::new()));
    let store = Store::open_on(disk, clock, "/store", options().background(true)).unwrap();
    for _ in 0..9 {
        store.append(&Message::new("orders", 0, b"x")).unwrap();
    }
    store.catch_up().unwrap();
    let narrow = CursorOptions { max_pending: 4, ..CursorOptions::default() };
    let cursor = store.cursor("billing", "orders", narrow).unwrap();
    assert_eq!(poll(&cursor, 9).len(), 4);
    assert_eq!(poll(&cursor, 9), []);
    // A thread that waits for more goes on when another acknowledges.
    let long = Duration::from_secs(60);
    thread::scope(|scope| {
        let waits = scope.spawn(|| told(&cursor.poll(ReadLimits::default(), long).unwrap()));
        ack(&cursor, 0, 2).unwrap();
        ack(&cursor, 0, 0).unwrap();
        assert_eq!(waits.join().unwrap(), [(0, 4, 1)]);
    });
}

#[test]
fn a_poll_waits_for_a_message_of_any_queue_and_no_longer_than_told() {
    let (disk, clock) = (Arc::new(MemDisk::new()), Arc::new(OsClock::new()));
    let store = Store::open_on(disk, clock, "/store", options().background(true)).unwrap();
    let brief = CursorOptions { visibility_ms: 1, ..CursorOptions::default() };
    let cursor = store.cursor("billing", "orders", brief).unwrap();
    let poll = |millis| cursor.poll(ReadLimits::default(), Duration::from_millis(millis)).unwrap();
    assert!(poll(5).is_empty());
    thread::scope(|scope| {
        let waits = scope.spawn(|| told(&poll(60_000)));
        store.append(&Message::new("orders", 5, b"x")).unwrap();
        assert_eq!(waits.join().unwrap(), [(5, 0, 1)]);
        // Nobody appends: it wakes when the message is due again.
        assert_eq!(told(&poll(60_000)), [(5, 0, 2)]);
        ack(&cursor, 5, 0).unwrap();
        let waits = scope.spawn(|| cursor.poll(ReadLimits::default(), Duration::MAX));
        while !store.engine.waiting.is_any() && !waits.is_finished() {}
        store.close().unwrap();
        assert_eq!(waits.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
    });
    assert_eq!(ack(&cursor, 5, 0).unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn after_a_kill_it_goes_on_at_its_last_commit_and_knows_what_was_acknowledged_out_of_order() {
    let world = World::new();
    world.append(0, 10);
    world.append(3, 10);
    let cursor = world.cursor(quick());
    assert_eq!(poll(&cursor, 100).len(), 20);
    for offset in [0, 1, 2, 4, 7] {
        ack(&cursor, 0, offset).unwrap();
    }
    cursor.commit().unwrap();
    cursor.ack_up_to(3, QueueOffset::new(10)).unwrap();
    std::mem::forget(cursor);
    let world = world.after_crash(false);
    let report = &world.store.cursors().unwrap()[0];
    assert_eq!(acknowledged(report), [(0, 3), (3, 0)]);
    let cursor = world.cursor(quick());
    let rows: Vec<_> = poll(&cursor, 100).into_iter().filter(|row| row.0 == 0).collect();
    assert_eq!(rows, [(0, 3, 2), (0, 5, 2), (0, 6, 2), (0, 8, 2), (0, 9, 2)]);
}

#[test]
fn closing_the_store_or_the_cursor_commits() {
    let world = World::new();
    world.append(0, 10);
    let cursor = world.cursor(quick());
    poll(&cursor, 5);
    ack(&cursor, 0, 0).unwrap();
    cursor.close().unwrap();
    let cursor = world.cursor(quick());
    assert_eq!(poll(&cursor, 1), [(0, 1, 2)]);
    ack(&cursor, 0, 1).unwrap();
    drop(cursor);
    let cursor = world.cursor(quick());
    poll(&cursor, 1);
    ack(&cursor, 0, 2).unwrap();
    world.store.close().unwrap();
    assert_eq!(cursor.commit().unwrap_err().kind(), ErrorKind::Closed);
    drop(cursor);
    let store = open(&world.disk, &world.clock);
    assert_eq!(acknowledged(&store.cursors().unwrap()[0]), [(0, 3)]);
}

/// A cursor was durable, the messages that it had acknowledged were not: others were given their
/// offsets, and were never delivered.
#[test]
fn a_cursor_beyond_the_end_after_a_loss_of_power_is_cut_back_for_good() {
    let world = World::new();
    world.append(0, 2);
    world.store.flush().unwrap();
    world.store.run(Task::Checkpoint).unwrap();
    let cursor = world.cursor(quick());
    world.append(0, 8);
    assert_eq!(poll(&cursor, 100).len(), 10);
    cursor.ack_up_to(0, QueueOffset::new(6)).unwrap();
    ack(&cursor, 0, 8).unwrap();
    cursor.commit().unwrap();
    std::mem::forget(cursor);
    let world = world.after_crash(true);
    assert_eq!(world.store.bounds("orders", 0).unwrap().max, QueueOffset::new(2));
    assert_eq!(acknowledged(&world.store.cursors().unwrap()[0]), [(0, 2)]);
    // The cut is durable before anything can be appended.
    world.append(0, 9);
    world.store.flush().unwrap();
    let world = world.after_crash(true);
    let rows = poll(&world.cursor(quick()), 100);
    assert_eq!(rows, (2..11).map(|offset| (0, offset, 1)).collect::<Vec<_>>());
}

/// A commit had written and not synced when its process was killed. The next one believed what it
/// read, had nothing to write itself, and a loss of power took it.
#[test]
fn what_a_killed_commit_wrote_is_durable_once_the_store_was_opened() {
    let world = World::new();
    world.append(0, 5);
    world.store.flush().unwrap();
    let cursor = world.cursor(quick());
    poll(&cursor, 5);
    cursor.ack_up_to(0, QueueOffset::new(4)).unwrap();
    cursor.commit().unwrap();
    let path = std::path::Path::new("/store/.spanlog/cursors/orders/billing");
    let file = world.disk.open(path, crate::disk::Access::Write).unwrap();
    let (page, _) = crate::disk::slots::Page::read(file.as_ref(), 1).unwrap();
    let all: Vec<u8> = [&[0; 4][..], &5_u64.to_be_bytes(), &[0; 4]].concat();
    page.put(file.as_ref(), &all).unwrap();
    std::mem::forget(cursor);
    let world = world.after_crash(false);
    assert_eq!(acknowledged(&world.store.cursors().unwrap()[0]), [(0, 5)]);
    let world = world.after_crash(true);
    assert_eq!(acknowledged(&world.store.cursors().unwrap()[0]), [(0, 5)]);
}

#[test]
fn who_is_overtaken_by_cleaning_is_told_once_and_goes_on() {
    let world = World::new();
    world.append(0, 100);
    let cursor = world.cursor(quick());
    assert_eq!(poll(&cursor, 3).len(), 3);
    ack(&cursor, 0, 0).unwrap();
    world.clean(2);
    let min = world.store.bounds("orders", 0).unwrap().min;
    assert!(min > QueueOffset::new(3));
    let delivery = cursor.poll(ReadLimits::default(), Duration::ZERO).unwrap();
    let gone = QueueOffset::new(1)..min;
    assert_eq!(delivery.overtaken(), [Overtaken { queue: 0, gone }]);
    assert_eq!(told(&delivery)[0], (0, min.get(), 1));
    ack(&cursor, 0, 2).unwrap();
    let delivery = cursor.poll(ReadLimits::default(), Duration::ZERO).unwrap();
    assert!(delivery.overtaken().is_empty() && delivery.is_empty());
}

#[test]
fn a_hold_keeps_segments_by_name_until_they_are_acknowledged_or_its_bound_is_passed() {
    let world = World::new();
    world.append(0, 100);
    let hold = |max_age_ms, max_bytes| Some(Hold { max_age_ms, max_bytes });
    let unbounded = CursorOptions { hold: hold(None, None), ..quick() };
    let error = world.store.cursor("billing", "orders", unbounded).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let bytes = 5 * 4096;
    let cursor = world.cursor(CursorOptions { hold: hold(None, Some(bytes)), ..quick() });
    let end = world.store.segments().last().unwrap().base + 4096;
    world.clean(10);
    assert_eq!(end - world.store.watermarks().start, bytes);
    let plan = world.store.plan_clean(true).unwrap();
    assert_eq!(plan.fates[0].reason.to_string(), "kept: held by cursor billing of topic orders");
    // It was overtaken below its bound, and told.
    let delivery = cursor.poll(ReadLimits::default(), Duration::ZERO).unwrap();
    let first = delivery.overtaken()[0].gone.end;
    assert_eq!(delivery.overtaken()[0].gone.start, QueueOffset::ZERO);
    let middle = first + 20;
    cursor.ack_up_to(0, middle).unwrap();
    world.clean(10);
    assert_eq!(world.store.bounds("orders", 0).unwrap().min, first, "it is not committed");
    cursor.commit().unwrap();
    world.clean(10);
    let min = world.store.bounds("orders", 0).unwrap().min;
    assert!(first < min && min <= middle, "{first} {min} {middle}");
    // A consumer that is not there holds too; one that is deleted does not.
    drop(cursor);
    world.clean(3);
    assert_eq!(world.store.bounds("orders", 0).unwrap().min, min);
    world.store.delete_cursor("orders", "billing").unwrap();
    world.clean(10);
    assert!(world.store.bounds("orders", 0).unwrap().min > middle);
}

#[test]
fn one_at_a_time_owns_a_cursor() {
    let world = World::new();
    world.append(0, 1);
    let cursor = world.cursor(quick());
    let again = world.store.cursor("billing", "orders", quick()).unwrap_err();
    let others = [
        again,
        world.store.reset_cursor("orders", "billing", Seek::End).unwrap_err(),
        world.store.delete_cursor("orders", "billing").unwrap_err(),
    ];
    others.iter().for_each(|error| assert_eq!(error.kind(), ErrorKind::Locked, "{error}"));
    world.store.cursor("billing", "invoices", quick()).unwrap();
    drop(cursor);
    world.cursor(quick());
    let odd = [("a/b", "orders"), ("..", "orders"), ("b", ""), ("b", "../x")];
    for (name, topic) in odd {
        let error = world.store.cursor(name, topic, quick()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{name} {topic}");
    }
    for options in [
        CursorOptions { visibility_ms: 0, ..quick() },
        CursorOptions { max_pending: 0, ..quick() },
        CursorOptions { max_pending: 3601, ..quick() },
    ] {
        let error = world.store.cursor("other", "orders", options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    let reader = Store::open_on(
        Arc::clone(&world.disk) as Arc<dyn Disk>,
        Arc::clone(&world.clock) as Arc<dyn Clock>,
        "/store",
        options().read_only(true),
    );
    let reader = reader.unwrap();
    let error = reader.cursor("billing", "orders", quick()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(reader.cursors().unwrap(), world.store.cursors().unwrap());
}

#[test]
fn seeking_reaches_every_place_that_is_kept_and_no_other() {
    let world = World::new();
    world.append(0, 100);
    let cursor = world.cursor(quick());
    poll(&cursor, 5);
    world.clean(2);
    let bounds = world.store.bounds("orders", 0).unwrap();
    let to = |queue, offset: u64| Seek::Offset { queue, offset: QueueOffset::new(offset) };
    let (min, max) = (bounds.min.get(), bounds.max.get());
    let first = |seek| {
        cursor.seek(seek).unwrap();
        poll(&cursor, 1).first().map(|row| row.1)
    };
    assert_eq!(first(Seek::Start), Some(min));
    assert_eq!(first(Seek::End), None);
    assert_eq!(first(to(0, min)), Some(min));
    assert_eq!(first(to(0, max - 1)), Some(max - 1));
    assert_eq!(first(to(0, max)), None);
    cursor.seek(to(0, min + 7)).unwrap();
    for (seek, kind, limit) in [
        (to(0, min - 1), ErrorKind::Gone, Some(min)),
        (to(0, max + 1), ErrorKind::Invalid, Some(max)),
        (to(0, u64::MAX), ErrorKind::Invalid, Some(max)),
        (to(9, 0), ErrorKind::Invalid, None),
    ] {
        let error = cursor.seek(seek).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (kind, limit), "{error}");
    }
    assert_eq!(poll(&cursor, 1), [(0, min + 7, 1)], "it stays where it was");
}

#[test]
fn seeking_by_time_reaches_the_first_message_stored_then_or_later() {
    let world = World::new();
    world.append(0, 3);
    world.append(1, 1);
    world.clock.advance(500);
    world.append(0, 3);
    let cursor = world.cursor(quick());
    let rows = [(0, vec![(0, 0, 1), (1, 0, 1)]), (1, vec![(0, 3, 1)]), (501, vec![])];
    for (after_ms, expected) in rows {
        cursor.seek(Seek::Time { time_ms: NOW_MS + after_ms }).unwrap();
        assert_eq!(poll(&cursor, 2)[..expected.len()], expected, "{after_ms}");
        assert_eq!(poll(&cursor, 9).is_empty(), after_ms == 501);
    }
}

#[test]
fn a_cursor_begins_where_it_was_told_and_reads_queues_to_come_from_their_start() {
    let world = World::new();
    world.append(0, 5);
    world.append(1, 5);
    let late = world.cursor(CursorOptions { from_end: true, ..quick() });
    let one = CursorOptions { queues: Some(vec![1, 8]), ..quick() };
    let one = world.store.cursor("one", "orders", one).unwrap();
    world.append(0, 1);
    world.append(8, 2);
    assert_eq!(poll(&late, 9), [(0, 5, 1), (8, 0, 1), (8, 1, 1)]);
    assert_eq!(poll(&one, 99).len(), 7);
    assert_eq!(acknowledged(&one.report().unwrap()), [(1, 0), (8, 0)]);
    // What it began with is durable before the first commit: nothing is left out after a kill.
    std::mem::forget((late, one));
    let world = world.after_crash(false);
    let reports = world.store.cursors().unwrap();
    assert_eq!(acknowledged(&reports[0]), [(0, 5), (1, 5), (8, 0)]);
}

#[test]
fn lag_counts_messages_bytes_and_the_age_of_the_oldest() {
    let world = World::new();
    world.append(0, 3);
    world.clock.advance(500);
    world.append(1, 2);
    let cursor = world.cursor(quick());
    world.clock.advance(100);
    let size = world.store.read("orders", 0, QueueOffset::ZERO, ReadLimits::default()).unwrap();
    let size = size.get(0).unwrap().bytes().len() as u64;
    let lag = |messages, age_ms| Lag { messages, bytes: messages * size, age_ms };
    assert_eq!(cursor.lag().unwrap(), lag(5, Some(600)));
    poll(&cursor, 9);
    ack(&cursor, 0, 1).unwrap();
    assert_eq!(cursor.lag().unwrap(), lag(4, Some(600)));
    cursor.ack_up_to(0, QueueOffset::new(3)).unwrap();
    assert_eq!(cursor.lag().unwrap(), lag(2, Some(100)));
    cursor.ack_up_to(1, QueueOffset::new(2)).unwrap();
    assert_eq!(cursor.lag().unwrap(), Lag::default());
}

#[test]
fn cursors_are_copied_reset_and_deleted() {
    let world = World::new();
    world.append(0, 9);
    let cursor = world.cursor(quick());
    poll(&cursor, 9);
    cursor.ack_up_to(0, QueueOffset::new(4)).unwrap();
    world.store.copy_cursor("orders", "billing", "audit").unwrap();
    let taken = world.store.copy_cursor("orders", "billing", "audit").unwrap_err();
    let missing = world.store.copy_cursor("orders", "nobody", "other").unwrap_err();
    assert_eq!((taken.kind(), missing.kind()), (ErrorKind::Invalid, ErrorKind::Invalid));
    drop(cursor);
    world.store.reset_cursor("orders", "billing", Seek::End).unwrap();
    world.store.flush().unwrap();
    let world = world.after_crash(true);
    let names = |store: &Store| -> Vec<_> {
        let row = |report: CursorReport| (report.name.clone(), acknowledged(&report));
        store.cursors().unwrap().into_iter().map(row).collect()
    };
    let rows = [("audit".to_owned(), vec![(0, 4)]), ("billing".to_owned(), vec![(0, 9)])];
    assert_eq!(names(&world.store), rows);
    world.store.delete_cursor("orders", "audit").unwrap();
    let world = world.after_crash(true);
    assert_eq!(names(&world.store), rows[1..]);
    let gone = world.store.delete_cursor("orders", "audit").unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Invalid);
}

/// A damaged cursor is no reason to refuse the store, and none to begin anew unasked.
#[test]
fn a_damaged_file_costs_one_cursor_until_it_is_reset() {
    let world = World::new();
    world.append(0, 3);
    drop(world.cursor(quick()));
    drop(world.store.cursor("audit", "orders", quick()).unwrap());
    let path = std::path::Path::new("/store/.spanlog/cursors/orders/billing");
    world.disk.replace(path, b"not a cursor").unwrap();
    let world = world.after_crash(false);
    let reports = world.store.cursors().unwrap();
    assert_eq!(reports.iter().filter(|report| report.damage.is_some()).count(), 1);
    let error = world.store.cursor("billing", "orders", quick()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some(path)));
    let error = world.store.copy_cursor("orders", "billing", "other").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    world.store.reset_cursor("orders", "billing", Seek::Start).unwrap();
    assert_eq!(poll(&world.cursor(quick()), 9).len(), 3);
}

/// One damaged message stopped its queue's consumers for good unless they knew where to seek: it is
/// told at every poll, the other queues go on, and behind it a seek or the option does.
#[test]
fn a_damaged_message_is_told_each_time_and_can_be_passed() {
    let world = World::new();
    world.append(0, 5);
    world.append(1, 2);
    let limits = ReadLimits { max_messages: 1, max_bytes: 1 << 20 };
    let batch = world.store.read("orders", 0, QueueOffset::new(2), limits).unwrap();
    let place = batch.get(0).unwrap().position().get();
    drop(batch);
    let World { disk, clock, store } = world;
    store.close().unwrap();
    drop(store);
    let path = std::path::Path::new("/store/commitlog/00000000000000000000");
    let mut bytes = disk.read(path).unwrap().unwrap();
    // Neither its length nor its position is right any more.
    let begin = usize::try_from(place).unwrap();
    bytes[begin..begin + 36].fill(0x5A);
    disk.write(path, &bytes);
    let world = World { store: open(&disk, &clock), disk, clock };
    let cursor = world.cursor(quick());
    assert_eq!(poll(&cursor, 9), [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]);
    for _ in 0..3 {
        let error = cursor.poll(ReadLimits::default(), Duration::ZERO).unwrap_err();
        assert_eq!(
            (error.kind(), error.path(), error.offset()),
            (ErrorKind::Corrupt, Some(path), Some(place))
        );
    }
    cursor.seek(Seek::Offset { queue: 0, offset: QueueOffset::new(3) }).unwrap();
    assert_eq!(poll(&cursor, 9), [(0, 3, 1), (0, 4, 1)]);
    drop(cursor);
    let World { disk, clock, store } = world;
    store.close().unwrap();
    drop(store);
    let shared = (Arc::clone(&disk) as Arc<dyn Disk>, Arc::clone(&clock) as Arc<dyn Clock>);
    let skipping = options().on_damage(OnDamage::Skip);
    let store = Store::open_on(shared.0, shared.1, "/store", skipping).unwrap();
    let cursor = store.cursor("audit", "orders", quick()).unwrap();
    let found: Vec<_> = poll(&cursor, 9).into_iter().filter(|row| row.0 == 0).collect();
    assert_eq!(found, [(0, 0, 1), (0, 1, 1), (0, 3, 1), (0, 4, 1)]);
}

#[test]
fn rocketmqs_offsets_come_and_go() {
    let world = World::new();
    world.append(0, 9);
    world.append(1, 9);
    let text = br#"{"offsetTable":{"orders@billing":{0:5,1:700},"invoices@%RETRY%x":{3:8}}}"#;
    assert_eq!(world.store.import_consumer_offsets(text).unwrap(), 2);
    let exported = world.store.export_consumer_offsets().unwrap();
    assert!(exported.contains("\"orders@billing\":{0:5,1:9"), "{exported}");
    assert!(exported.contains("\"invoices@%RETRY%x\":{3:0"), "{exported}");
    world.store.flush().unwrap();
    let world = world.after_crash(true);
    let cursor = world.cursor(quick());
    assert_eq!(poll(&cursor, 2), [(0, 5, 1), (0, 6, 1)]);
    assert_eq!(world.store.import_consumer_offsets(text).unwrap_err().kind(), ErrorKind::Locked);
    let odd = br#"{"offsetTable":{"orders@audit":{0:5},"orders@a/b":{0:1}}}"#;
    assert_eq!(world.store.import_consumer_offsets(odd).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(world.store.cursors().unwrap().len(), 2, "nothing of it was taken");
}
