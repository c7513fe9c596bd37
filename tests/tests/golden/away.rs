//! A directory that is away for a while: the rest is served, the hole is told by range, and
//! nothing that was there is lost when it is back. RocketMQ serves such a store as a shorter one.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use spanlog::{ErrorKind, Message, Options, Position, QueueOffset, ReadLimits, Result, Store};

use crate::answers::{check, check_history, read};
use crate::store::{Golden, number, refused, rows, text};
use crate::whole::SEVERAL_DIRECTORIES;

/// A golden store that spanlog knows, with one of its directories moved elsewhere.
struct Away {
    golden: Golden,
    missing: PathBuf,
    elsewhere: PathBuf,
    /// Bases of the segments that are away.
    bases: Vec<u64>,
}

impl Away {
    fn new(name: &str, directory: usize) -> Self {
        let golden = Golden::unpack(name);
        golden.open().close().expect("it closes");
        let missing = golden.paths[directory].clone();
        let names = fs::read_dir(&missing).expect("a directory");
        let names = names.map(|entry| entry.expect("an entry").file_name());
        let bases = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
        let elsewhere = golden.root.join("elsewhere");
        fs::rename(&missing, &elsewhere).expect("it moves");
        Self { golden, missing, elsewhere, bases }
    }

    fn open(&self, read_only: bool) -> Store {
        let options = Options::new().background(false).allow_offline(true).read_only(read_only);
        self.golden.try_open(options).expect("the rest opens")
    }

    fn holds(&self, position: u64) -> bool {
        self.bases.contains(&(position / 4096 * 4096))
    }

    fn come_back(&self) -> Store {
        fs::rename(&self.elsewhere, &self.missing).expect("it moves back");
        self.golden.reopen()
    }
}

fn each(try_one: impl Fn(Away)) {
    for name in SEVERAL_DIRECTORIES {
        for directory in 0..3 {
            println!("{name} without {directory}");
            try_one(Away::new(name, directory));
        }
    }
}

#[test]
fn the_rest_is_served_and_the_hole_is_told() {
    each(|away| {
        let error = refused(away.golden.try_open(Options::new()), "one is away");
        assert_eq!(error.kind(), ErrorKind::Offline);
        assert_eq!(error.path(), Some(away.missing.as_path()));
        for read_only in [true, false, false] {
            let store = away.open(read_only);
            check_rest(&away, &store);
            store.close().expect("it closes");
        }
        check(&away.golden, &away.come_back());
    });
}

fn check_rest(away: &Away, store: &Store) {
    let end = number(&away.golden.expected["maxPhyOffset"]);
    assert_eq!(store.watermarks().appended.get(), end);
    let mut bases = away.bases.clone();
    bases.sort_unstable();
    let holes: Vec<_> = bases.iter().map(|&base| base..end.min(base + 4096)).collect();
    assert_eq!(store.recovery().offline, holes);
    for row in away.golden.records().iter().filter(|row| row["blank"].is_null()) {
        let position = number(&row["offset"]);
        let outcome = store.get(Position::new(position)).map(|record| record.len() as u64);
        check_one(away, position, outcome, number(&row["size"]));
    }
    away.golden.queues().for_each(|row| check_queue(away, store, row));
}

/// Either the answer, or that it is away.
fn check_one(away: &Away, position: u64, outcome: Result<u64>, answer: u64) {
    match outcome {
        Ok(found) => assert_eq!((found, away.holds(position)), (answer, false), "{position}"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Offline, "{position}: {error}");
            assert!(away.holds(position), "{position}: {error}");
            assert!(error.range().is_some_and(|range| range.contains(&position)), "{error}");
        }
    }
}

/// Each message is there or away: none is passed over.
fn check_queue(away: &Away, store: &Store, row: &Value) {
    let queue = u32::try_from(number(&row["queueId"])).expect("a queue's number");
    for (number_of, unit) in rows(&row["units"]).iter().enumerate() {
        let offset = QueueOffset::new(number(&row["min"]) + number_of as u64);
        let limits = ReadLimits { max_messages: 1, ..ReadLimits::default() };
        let batch = store.read(text(&row["topic"]), queue, offset, limits);
        let first = batch.map(|batch| {
            batch.iter().next().unwrap_or_else(|| panic!("no {offset}")).position().get()
        });
        let position = number(&unit[0]);
        check_one(away, position, first, position);
    }
}

/// Queues that must be derived while a part is away are derived anew once it is back.
#[test]
fn queues_derived_over_a_hole_are_mended() {
    each(|away| {
        fs::remove_dir_all(away.golden.root.join("consumequeue")).expect("there were queues");
        let store = away.open(false);
        for row in away.golden.queues() {
            let queue = u32::try_from(number(&row["queueId"])).expect("a queue's number");
            let expected: Vec<_> =
                rows(&row["units"]).iter().map(|unit| number(&unit[0])).collect();
            let there: Vec<_> = expected.into_iter().filter(|&at| !away.holds(at)).collect();
            let min = store.bounds(text(&row["topic"]), queue).expect("a queue").min.get();
            assert_eq!(read(&store, text(&row["topic"]), queue, min, 100), there);
        }
        store.close().expect("it closes");
        check(&away.golden, &away.come_back());
    });
}

/// Appending goes on if the end of the log is known and at hand, else positions and offsets would
/// be given out twice.
#[test]
fn appending_needs_the_end_of_the_log() {
    each(|away| {
        let end = number(&away.golden.expected["maxPhyOffset"]);
        let store = away.open(false);
        let row = away.golden.queues().next().expect("a queue");
        let topic = text(&row["topic"]);
        let outcome = store.append(&Message::new(topic, 0, b"meanwhile"));
        if away.holds(end) {
            assert_eq!(refused(outcome, "the end is away").kind(), ErrorKind::Offline);
        } else {
            assert_eq!(outcome.expect("the end is there").queue_offset.get(), number(&row["max"]));
        }
        store.close().expect("it closes");
        let store = away.come_back();
        check_history(&away.golden, &store);
        let appended = store.bounds(topic, 0).expect("a queue").max.get() - number(&row["max"]);
        assert_eq!(appended, u64::from(!away.holds(end)));
    });
}
