//! A store that is read beside its writer: both on one disk in memory, each with its own view.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::base::units::{Position, QueueOffset};
use crate::derived::TagFilter;
use crate::disk::{Clock, Disk, ManualClock, MemDisk, polls_readable};
use crate::error::{ErrorKind, Result};
use crate::options::{DirectoryOptions, Durability, Options};
use crate::record::Message;

struct Both {
    clock: Arc<ManualClock>,
    writer: Store,
    reader: Store,
}

fn options() -> Options {
    Options::new()
        .segment_len_bytes(4096)
        .queue_file_len_bytes(400)
        .retention_ms(10_000)
        .background(false)
}

fn both(options: &Options) -> Both {
    let disk = Arc::new(MemDisk::new());
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let open = |options: Options| {
        let (disk, clock) = (Arc::clone(&disk) as Arc<dyn Disk>, Arc::clone(&clock));
        Store::open_on(disk, clock as Arc<dyn Clock>, "/store", options).unwrap()
    };
    let writer = open(options.clone());
    let reader = open(options.clone().read_only(true));
    Both { clock, writer, reader }
}

impl Both {
    fn append(&self, from: u64, count: u64) {
        for number in from..from + count {
            let queue = u32::try_from(number % 3).unwrap();
            let body = format!("message {number}");
            self.writer.append(&Message::new("orders", queue, body.as_bytes())).unwrap();
        }
        self.writer.catch_up().unwrap();
    }

    fn clean(&self, segments: u32) {
        self.clock.advance(1_000_000);
        self.writer.clean_now().unwrap();
        for _ in 0..segments {
            self.writer.run(Task::Clean).unwrap();
            self.clock.advance(1000);
        }
    }

    /// The reader sees of every queue what the writer sees.
    fn check(&self) {
        assert_eq!(self.reader.watermarks().start, self.writer.watermarks().start);
        assert_eq!(self.reader.watermarks().appended, self.writer.watermarks().appended);
        for queue in 0..3 {
            let bounds = self.writer.bounds("orders", queue);
            assert_eq!(self.reader.bounds("orders", queue), bounds, "queue {queue}");
            let Some(bounds) = bounds else { continue };
            let mut from = bounds.min;
            while from < bounds.max {
                let few = ReadLimits { max_messages: 20, ..ReadLimits::default() };
                let batch = self.reader.read("orders", queue, from, few).unwrap();
                assert_eq!(batch.status(), ReadStatus::Found, "{queue}: {from} of {bounds:?}");
                for stored in batch.iter() {
                    let number = stored.queue_offset().get() * 3 + u64::from(queue);
                    let body = format!("message {number}");
                    assert_eq!(stored.decode_verified().unwrap().body(), body.as_bytes());
                }
                from = batch.next();
            }
        }
    }
}

#[test]
fn a_reader_follows_over_new_queues_segments_and_files() {
    for durability in [Durability::default(), Durability::Group] {
        let both = both(&options().durability(durability));
        assert!(!both.reader.refresh().unwrap());
        assert!(!both.writer.refresh().unwrap(), "a writer knows it all");
        for round in 0..12 {
            both.append(round * 25, 25);
            assert!(both.reader.refresh().unwrap());
            both.check();
            assert!(!both.reader.refresh().unwrap());
        }
        assert!(both.reader.segments().len() > 10);
        assert!(both.reader.watermarks().flushed <= both.writer.watermarks().flushed);
    }
}

#[test]
fn what_the_writer_dropped_is_gone_and_never_away() {
    // Few maps: what the reader looked at lately is not all that it can still see.
    let both = both(&options().max_maps(4));
    both.append(0, 300);
    both.reader.refresh().unwrap();
    let few = ReadLimits { max_messages: 3, ..ReadLimits::default() };
    let held = both.reader.read("orders", 0, QueueOffset::ZERO, few).unwrap();
    both.clean(10);
    // The reader has not looked: its queues still begin at 0.
    let from = QueueOffset::new(25);
    let batch = both.reader.read("orders", 1, from, few).unwrap();
    let min = both.writer.bounds("orders", 1).unwrap().min;
    assert!(from < min);
    assert_eq!((batch.status(), batch.next()), (ReadStatus::TooSmall, min));
    let error = both.reader.get(Position::new(2 * 4096)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Gone);
    assert_eq!(error.start(), Some(both.writer.watermarks().start));
    both.check();
    assert!(held.iter().all(|stored| stored.decode_verified().is_ok()), "what is held stays");
    both.append(300, 100);
    both.clean(5);
    both.reader.refresh().unwrap();
    both.check();
}

/// The reader slept while all that it knew was dropped, and more.
#[test]
fn a_reader_that_was_left_far_behind_goes_on_where_the_log_begins() {
    let both = both(&options());
    both.append(0, 60);
    both.reader.refresh().unwrap();
    for round in 0..6 {
        both.append(60 + round * 60, 60);
        both.clean(40);
    }
    assert!(both.writer.watermarks().start > both.reader.watermarks().appended);
    both.reader.refresh().unwrap();
    both.append(420, 60);
    both.reader.refresh().unwrap();
    both.check();
}

/// The segment that comes next was known by name, and its file was gone: looking failed for ever.
#[test]
fn a_known_segment_that_was_dropped_before_it_was_read_is_passed() {
    let both = both(&options());
    both.append(0, 100);
    let reader = both.reader.follower.as_ref().unwrap();
    // Names alone: it was about to read them.
    reader.find_segments_for_test();
    both.clean(4);
    both.append(100, 10);
    both.reader.refresh().unwrap();
    both.check();
}

#[test]
fn a_directory_that_the_writer_adds_is_found() {
    let both = both(&options());
    both.append(0, 10);
    both.writer.add_directory(&DirectoryOptions::new("/more")).unwrap();
    both.append(10, 200);
    let more =
        |store: &Store| store.segments().iter().filter(|s| s.path.starts_with("/more")).count();
    assert!(more(&both.writer) > 0);
    both.reader.refresh().unwrap();
    both.check();
    assert_eq!(more(&both.reader), more(&both.writer));
}

/// A follower kept every unit in memory for as long as it lived.
#[test]
fn units_that_the_writers_files_hold_take_no_memory() {
    let both = both(&options().segment_len_bytes(1 << 20).queue_file_len_bytes(20_000));
    for round in 0..6 {
        both.append(round * 30_000, 30_000);
        both.reader.refresh().unwrap();
    }
    for queue in 0..3 {
        let queue = both.reader.engine.queues.find("orders", queue).unwrap();
        assert!(queue.in_memory() < 2 * 16_384, "{} units", queue.in_memory());
    }
    both.check();
}

/// Look-ups said that segments were away which the writer had dropped since the reader looked.
#[test]
fn look_ups_beside_a_writer_that_drops_look_again() {
    let limits = ReadLimits::default();
    type LookUp = fn(&Store, ReadLimits) -> Result<u64>;
    let rows: [(&str, LookUp); 4] = [
        (
            "query",
            |store, _| Ok(store.query("orders", "every", &KeyQuery::default())?.len() as u64),
        ),
        ("find_by_id", |store, _| Ok(store.find_by_id("orders", "no such id")?.len() as u64)),
        ("offset_at", |store, _| {
            let at = store.offset_at("orders", 1, 1_700_000_000_001, Boundary::Lower)?;
            Ok(at.get())
        }),
        ("read_filtered", |store, limits| {
            let filter = TagFilter::parse("even")?;
            Ok(store.read_filtered("orders", 1, QueueOffset::new(9), &filter, limits)?.len() as u64)
        }),
    ];
    for (name, look_up) in rows {
        let both = both(&options().max_maps(4));
        let append = |count: u64| {
            for number in 0..count {
                let tag = if number % 2 == 0 { "even" } else { "odd" };
                let message = Message::new("orders", 1, b"body").tags(tag).keys(&["every"]);
                both.writer.append(&message).unwrap();
            }
            both.writer.catch_up().unwrap();
        };
        append(150);
        both.reader.refresh().unwrap();
        both.clean(40);
        let found = look_up(&both.reader, limits);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = look_up(&both.writer, limits).unwrap();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_readers_descriptor_becomes_readable_by_itself() {
    let both = both(&options());
    let (disk, clock) = (both.writer.disk(), Arc::clone(&both.clock) as Arc<dyn Clock>);
    let own = options().read_only(true).background(true);
    let reader = Store::open_on(disk, clock, "/store", own).unwrap();
    let watch = reader.watch(Watched::Topic { topic: "orders" }).unwrap();
    let tail = reader.watch(Watched::Tail).unwrap();
    let (fd, tail_fd) = (watch.event_fd().unwrap(), tail.event_fd().unwrap());
    for round in 0..5 {
        assert!(!polls_readable(fd, 0));
        both.append(3 * round, 3);
        assert!(polls_readable(fd, 60_000) && polls_readable(tail_fd, 60_000));
        assert!(reader.bounds("orders", 0).unwrap().max.get() > round);
        reader.refresh().unwrap();
        watch.clear();
        tail.clear();
    }
    reader.close().unwrap();
    assert!(polls_readable(fd, 60_000), "that it is over is told too");
    // Without threads, whoever looks makes it readable.
    let watch = both.reader.watch(Watched::Tail).unwrap();
    watch.clear();
    let fd = watch.event_fd().unwrap();
    both.append(15, 3);
    both.reader.refresh().unwrap();
    assert!(polls_readable(fd, 0));
}

#[test]
fn waiting_in_a_reader_sees_what_another_process_appends() {
    let both = both(&options());
    let long = Duration::from_secs(60);
    assert!(!both.reader.wait("orders", 1, QueueOffset::ZERO, Duration::from_millis(3)).unwrap());
    let watch = both.reader.watch(Watched::Topic { topic: "orders" }).unwrap();
    thread::scope(|scope| {
        let waits = [
            scope.spawn(|| both.reader.wait("orders", 1, QueueOffset::ZERO, long)),
            scope.spawn(|| both.reader.wait_appended(Position::ZERO, long)),
            scope.spawn(|| watch.wait(long)),
        ];
        both.append(0, 3);
        waits.into_iter().for_each(|wait| assert!(wait.join().unwrap().unwrap()));
        let closed = scope.spawn(|| both.reader.wait_appended(Position::new(1 << 40), long));
        while !both.reader.engine.waiting.is_any() && !closed.is_finished() {}
        both.reader.close().unwrap();
        assert_eq!(closed.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
    });
    assert_eq!(both.reader.refresh().unwrap_err().kind(), ErrorKind::Closed);
}
