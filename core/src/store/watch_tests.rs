//! Waiting: with deadlines, by descriptor, beside the index step's naps, through closing.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::base::units::{Position, QueueOffset};
use crate::disk::{Event, MemDisk, OsClock, polls_readable};
use crate::error::{ErrorKind, Result};
use crate::options::{Durability, Options};
use crate::record::Message;

/// Longer than any test: a call that is lost shows as a wait that fails.
const LONG: Duration = Duration::from_secs(60);

fn open(options: Options) -> Store {
    let options = options.segment_len_bytes(1 << 16).queue_file_len_bytes(2000);
    let (disk, clock) = (Arc::new(MemDisk::new()), Arc::new(OsClock::new()));
    Store::open_on(disk, clock, "/store", options).unwrap()
}

fn append(store: &Store, queue: u32) -> Receipt {
    store.append(&Message::new("orders", queue, b"tea")).unwrap()
}

/// Lets so many milliseconds pass: nobody raises the event.
fn pause(millis: u32) {
    let event = Event::new().unwrap();
    assert!(!polls_readable(event.descriptor(), i32::try_from(millis).unwrap()));
}

fn watches(store: &Store) -> [Watch; 3] {
    let all = [
        Watched::Queue { topic: "orders", queue: 7 },
        Watched::Topic { topic: "orders" },
        Watched::Tail,
    ];
    all.map(|watched| store.watch(watched).unwrap())
}

fn answers(watches: &[Watch; 3]) -> [bool; 3] {
    [0, 1, 2].map(|at| watches[at].wait(Duration::ZERO).unwrap())
}

/// The index step had just looked, or was about to nap: each append finds it in another state.
#[test]
fn no_append_is_missed_by_who_waits_for_it() {
    for durability in [Durability::default(), Durability::Group] {
        let store = open(Options::new().durability(durability));
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                for number in 0..3000 {
                    assert!(store.wait("orders", 0, QueueOffset::new(number), LONG).unwrap());
                    let found = store.bounds("orders", 0).unwrap().max;
                    assert!(found > QueueOffset::new(number));
                }
            });
            for number in 0..3000_u32 {
                append(&store, 0);
                if number % 50 == 0 {
                    pause(number / 1000);
                }
            }
            reader.join().unwrap();
        });
        assert!(!store.engine.waiting.is_any());
    }
}

#[test]
fn the_tail_and_a_queue_to_come_can_be_waited_for() {
    let store = open(Options::new());
    assert!(!store.wait("orders", 7, QueueOffset::ZERO, Duration::from_millis(5)).unwrap());
    assert!(!store.wait_appended(Position::ZERO, Duration::ZERO).unwrap());
    thread::scope(|scope| {
        let queue = scope.spawn(|| store.wait("orders", 7, QueueOffset::new(1), LONG));
        let tail = scope.spawn(|| store.wait_appended(Position::new(300), LONG));
        while !queue.is_finished() || !tail.is_finished() {
            append(&store, 7);
            pause(1);
        }
        assert!(queue.join().unwrap().unwrap() && tail.join().unwrap().unwrap());
    });
}

#[test]
fn a_watch_is_told_of_what_was_there_and_of_what_comes_until_it_is_cleared() {
    let store = open(Options::new().background(false));
    let watches = watches(&store);
    assert_eq!(answers(&watches), [false; 3]);
    append(&store, 3);
    assert_eq!(answers(&watches), [false; 3], "nobody has indexed it");
    store.run(Task::Index).unwrap();
    assert_eq!(answers(&watches), [false, true, true]);
    append(&store, 7);
    watches.iter().for_each(Watch::clear);
    assert_eq!(answers(&watches), [false; 3]);
    store.catch_up().unwrap();
    assert_eq!(answers(&watches), [true, true, false]);
    let late = self::watches(&store);
    assert_eq!(answers(&late), [true; 3], "they have seen nothing");
}

#[test]
fn closing_wakes_everybody() {
    let store = open(Options::new());
    let watches = watches(&store);
    let fd = watches[2].event_fd().unwrap();
    thread::scope(|scope| {
        let waits: [thread::ScopedJoinHandle<'_, Result<bool>>; 3] = [
            scope.spawn(|| store.wait("orders", 7, QueueOffset::ZERO, LONG)),
            scope.spawn(|| store.wait_appended(Position::ZERO, LONG)),
            scope.spawn(|| watches[1].wait(Duration::MAX)),
        ];
        assert!(!polls_readable(fd, 20));
        store.close().unwrap();
        for wait in waits {
            assert_eq!(wait.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
        }
    });
    assert!(polls_readable(fd, 0), "a host must learn that nothing will come");
    watches[0].clear();
    assert_eq!(watches[0].wait(LONG).unwrap_err().kind(), ErrorKind::Closed);
    let late = store.watch(Watched::Tail).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Closed);
}

#[test]
fn a_descriptor_is_readable_while_there_is_something_that_was_not_seen() {
    let store = open(Options::new());
    let watch = store.watch(Watched::Topic { topic: "orders" }).unwrap();
    let fd = watch.event_fd().unwrap();
    for _ in 0..20 {
        assert!(!polls_readable(fd, 0));
        append(&store, 0);
        append(&store, 1);
        assert!(polls_readable(fd, 60_000) && polls_readable(fd, 0), "until it is cleared");
        store.catch_up().unwrap();
        watch.clear();
    }
    append(&store, 0);
    store.catch_up().unwrap();
    let late = store.watch(Watched::Tail).unwrap();
    assert!(polls_readable(late.event_fd().unwrap(), 0), "it was met before anybody asked");
}

#[test]
fn a_thousand_watches_are_told_and_who_left_is_not_waited_for() {
    let store = open(Options::new().background(false));
    let watch = |queue| store.watch(Watched::Queue { topic: "orders", queue }).unwrap();
    let watches: Vec<_> = (0..1000).map(watch).collect();
    for queue in (0..1000).step_by(2) {
        append(&store, queue);
    }
    store.catch_up().unwrap();
    for (queue, watch) in watches.iter().enumerate() {
        assert_eq!(watch.wait(Duration::ZERO).unwrap(), queue % 2 == 0, "{queue}");
    }
    assert!(store.engine.waiting.is_any());
    drop(watches);
    assert!(!store.engine.waiting.is_any());
}
