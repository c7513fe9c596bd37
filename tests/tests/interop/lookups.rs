//! By key and by time, each finds what the other wrote, also when they write in turns.

use std::fs;

use serde_json::{Value, json};
use spanlog::{Boundary, KeyKind, KeyQuery, Message, Placement, Store, Task};
use spanlog_tests::oracle::{End, Oracle, Version};

use crate::theirs::ENDS;
use crate::world::{World, write};

/// RocketMQ answers with so many of the newest.
const MOST: usize = 32;

/// Where spanlog finds the messages with a key, which may be a unique id; ascending.
fn ours(store: &Store, topic: &str, key: &str) -> Vec<u64> {
    let mut found = Vec::new();
    for kind in [KeyKind::Key, KeyKind::UniqueId] {
        let query = KeyQuery { kind, max_messages: MOST, ..KeyQuery::default() };
        let batch = store.query(topic, key, &query).expect("a look-up");
        for stored in batch.iter() {
            let view = stored.decode_verified().expect("a whole record");
            assert!(view.topic() == topic && kind.fits(&view, key), "{view:?}");
            found.push(stored.position().get());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What RocketMQ found for each key is what spanlog finds; says how many keys there were.
#[track_caller]
fn check_keys(store: &Store, read: &Value) -> usize {
    let keys = read["keys"].as_object().expect("an object");
    for (name, positions) in keys {
        let (topic, key) = name.split_once('#').expect("topic and key");
        let expected: Vec<u64> = serde_json::from_value(positions.clone()).expect("positions");
        assert_eq!(ours(store, topic, key), expected, "{name}");
    }
    keys.len()
}

/// What RocketMQ found for each store time that a message has is what spanlog finds. 4.9.8 chooses
/// a queue's file by when it was changed, and takes any of several messages with one time.
#[track_caller]
fn check_times(store: &Store, version: Version, read: &Value) {
    for queue in read["queues"].as_array().expect("a list") {
        let topic = queue["topic"].as_str().expect("a text");
        let id = queue["queueId"].as_u64().and_then(|id| u32::try_from(id).ok()).expect("a number");
        for row in queue["byTime"].as_array().expect("a list") {
            let time = row[0].as_i64().expect("a time");
            let found = store.offset_at(topic, id, time, Boundary::Lower).expect("a look-up");
            let mut messages = queue["messages"].as_array().expect("a list").iter();
            let first = messages.find(|one| one["storeTimestamp"].as_i64() == Some(time));
            assert_eq!(found.get(), first.expect("one of that time")["offset"]);
            if version == Version::V55 {
                assert_eq!(found.get(), row[1], "{topic}/{id} at {time}");
            }
        }
    }
}

#[test]
fn rocketmq_finds_what_spanlog_wrote() {
    let Some(oracle) = Oracle::find() else { return };
    for version in Version::ALL {
        let world = World::new();
        let store = world.open(Placement::Rocketmq);
        write(&store, 0..60);
        store.close().expect("it closes");
        assert!(world.root.join("index").read_dir().expect("files").count() > 1);
        let read = oracle.read(version, &world.layout());
        let store = world.open(Placement::Rocketmq);
        assert!(check_keys(&store, &read) > 200);
        check_times(&store, version, &read);
    }
}

#[test]
fn spanlog_finds_what_rocketmq_wrote() {
    let Some(oracle) = Oracle::find() else { return };
    for version in Version::ALL {
        for end in ENDS {
            println!("{version:?} {end:?}");
            let world = World::new();
            drop(oracle.write(version, &world.layout(), &script(0), end));
            let snapshot = world.snapshot();
            let read_only = world.options(Placement::Rocketmq).read_only(true);
            let reader = Store::open(&world.root, read_only).expect("it opens");
            check_all(&reader, &[0]);
            assert!(world.snapshot() == snapshot, "opened for reading");
            let store = world.open(Placement::Rocketmq);
            check_all(&store, &[0]);
            store.close().expect("it closes");
            let read = oracle.read(version, &world.layout());
            let store = world.open(Placement::Rocketmq);
            assert_eq!(check_keys(&store, &read), 2 * 40 + 1);
            check_times(&store, version, &read);
        }
    }
}

const MESSAGES: u32 = 40;

fn key(turn: usize, number: u32) -> String {
    format!("\u{4f60}-{turn}-{number}")
}

/// What RocketMQ puts in a turn: each message has a key of its own, one that all have, a unique id
/// and a tag.
fn script(turn: usize) -> Value {
    let puts = (0..MESSAGES).map(|number| {
        json!({"put": {"topic": "Keyed", "queueId": number % 3, "body": body(turn, number),
            "tags": format!("T{}", number % 2), "keys": format!("{} all", key(turn, number)),
            "properties": {"UNIQ_KEY": format!("id-{turn}-{number}")}}})
    });
    json!({"ops": puts.collect::<Vec<_>>()})
}

fn body(turn: usize, number: u32) -> String {
    format!("turn {turn} message {number} {}", "z".repeat(200))
}

/// Every message of these turns is found by each of its keys, and by nothing else.
#[track_caller]
fn check_all(store: &Store, turns: &[usize]) {
    store.catch_up().expect("it is indexed");
    for &turn in turns {
        for number in 0..MESSAGES {
            let query = KeyQuery::default();
            let batch = store.query("Keyed", &key(turn, number), &query).expect("a look-up");
            assert_eq!(batch.len(), 1, "{}", key(turn, number));
            let view = batch.get(0).expect("one").decode_verified().expect("a whole record");
            assert_eq!(view.body(), body(turn, number).as_bytes());
            let by_id = store.find_by_id("Keyed", view.unique_id().expect("an id"));
            assert_eq!(by_id.expect("a look-up").len(), 1);
        }
    }
    let many = KeyQuery { max_messages: 10_000, ..KeyQuery::default() };
    let all = store.query("Keyed", "all", &many).expect("a look-up");
    assert_eq!(all.len(), turns.len() * MESSAGES as usize);
    let tagged = KeyQuery { kind: KeyKind::Tag, ..many };
    let half = store.query("Keyed", "T1", &tagged).expect("a look-up");
    assert_eq!(half.len(), turns.len() * MESSAGES as usize / 2);
}

/// spanlog's turn. It is killed after so many steps of its background work, or closes.
fn our_turn(world: &World, turn: usize, killed: Option<usize>) {
    let store = world.open(Placement::Rocketmq);
    for number in 0..MESSAGES {
        if number == MESSAGES / 2 {
            for &task in [Task::Index, Task::Checkpoint].iter().take(killed.unwrap_or(0)) {
                store.run(task).expect("the step is done");
            }
        }
        let (body, own, id) =
            (body(turn, number), key(turn, number), format!("id-{turn}-{number}"));
        let (keys, ids) = ([own.as_str(), "all"], [("UNIQ_KEY", id.as_str())]);
        let tag = if number % 2 == 0 { "T0" } else { "T1" };
        let message = Message::new("Keyed", number % 3, body.as_bytes());
        let message = message.keys(&keys).properties(&ids).tags(tag);
        store.append(&message).expect("there is room");
    }
    if killed.is_some() {
        store.run(Task::Index).expect("the step is done");
    }
    let snapshot = world.snapshot();
    store.close().expect("it closes");
    if killed.is_some() {
        world.restore(&snapshot);
    }
}

/// Whoever writes, and however it ends, spanlog finds every message; and so does RocketMQ once
/// spanlog has closed the store.
#[test]
fn nothing_is_lost_in_turns() {
    let Some(oracle) = Oracle::find() else { return };
    let world = World::new();
    let turns: [(Option<Version>, Option<usize>); 9] = [
        (Some(Version::V55), None),
        (None, None),
        (Some(Version::V49), None),
        (None, Some(0)),
        (Some(Version::V55), Some(0)),
        (None, Some(2)),
        (Some(Version::V49), Some(0)),
        (None, Some(1)),
        (None, None),
    ];
    let mut done = Vec::new();
    for (turn, (theirs, killed)) in turns.into_iter().enumerate() {
        println!("{turn}: {theirs:?}, killed {killed:?}");
        match theirs {
            Some(version) => {
                let end = if killed.is_some() { End::Halt } else { End::Shutdown };
                drop(oracle.write(version, &world.layout(), &script(turn), end));
            }
            None => our_turn(&world, turn, killed),
        }
        done.push(turn);
        let read_only = world.options(Placement::Rocketmq).read_only(true);
        check_all(&Store::open(&world.root, read_only).expect("it opens"), &done);
    }
    for version in Version::ALL {
        let read = oracle.read(version, &world.layout());
        let store = world.open(Placement::Rocketmq);
        check_all(&store, &done);
        assert_eq!(check_keys(&store, &read), 2 * 9 * 40 + 1);
        store.close().expect("it closes");
    }
    // RocketMQ derives the keys of a store without an index, and finds the same in ours.
    fs::remove_dir_all(world.root.join("index")).expect("there were files");
    let store = world.open(Placement::Rocketmq);
    check_all(&store, &done);
    store.close().expect("it closes");
    let read = oracle.read(Version::V55, &world.layout());
    check_keys(&world.open(Placement::Rocketmq), &read);
}
