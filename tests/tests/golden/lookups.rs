//! What RocketMQ finds by key and by time, spanlog finds: in RocketMQ's own index files, with them
//! built anew, and without.

use serde_json::Value;
use spanlog::{Boundary, KeyKind, KeyQuery, Options, QueueOffset, Store};

use crate::store::{Golden, number, rows, text};
use crate::whole::AGREED;

/// Where the messages with a key are, that being one of its keys or its unique id; ascending.
fn positions(store: &Store, topic: &str, key: &str) -> Vec<u64> {
    let mut found = Vec::new();
    for kind in [KeyKind::Key, KeyKind::UniqueId] {
        let query = KeyQuery { kind, max_messages: 1000, ..KeyQuery::default() };
        let batch = store.query(topic, key, &query).expect("a look-up");
        for stored in batch.iter() {
            let view = stored.decode_verified().expect("a whole record");
            assert_eq!(view.topic(), topic);
            assert!(kind.fits(&view, key));
            found.push(stored.position().get());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// After a crash RocketMQ may have lost keys, which is no rule to follow.
fn check_keys(golden: &Golden, store: &Store) {
    let is_whole = golden.expected["abortBefore"] == false;
    let answers = golden.expected["queryMessage"].as_object().expect("keys");
    for (name, expected) in answers {
        let (topic, key) = name.split_once('#').expect("topic and key");
        let expected: Vec<u64> = rows(expected).iter().map(number).collect();
        let found = positions(store, topic, key);
        match is_whole {
            true => assert_eq!(found, expected, "{name}"),
            false => assert!(expected.iter().all(|at| found.contains(at)), "{name}: {found:?}"),
        }
    }
    for row in golden.records().iter().filter(|row| row["blank"].is_null()) {
        let (topic, properties) = (text(&row["topic"]), &row["properties"]);
        let words = properties["KEYS"].as_str().into_iter().flat_map(|keys| keys.split(' '));
        let own = words.chain(properties["UNIQ_KEY"].as_str()).filter(|key| !key.is_empty());
        // A transaction that was rolled back is found by nothing.
        let has_keys = row["sysFlag"].as_i64().is_some_and(|flags| flags & 12 != 12);
        for key in own {
            let is_found = positions(store, topic, key).contains(&number(&row["offset"]));
            assert_eq!(is_found, has_keys, "{topic}#{key}");
        }
    }
}

#[test]
fn keys_are_found_as_rocketmq_finds_them() {
    for name in AGREED {
        println!("{name}");
        let golden = Golden::unpack(name);
        let read_only = golden.options().read_only(true);
        let rows: [Options; 3] = [
            read_only.clone(),
            // Index files of another size than they are taken for are not read.
            read_only.clone().index_slots(Some(51)),
            read_only.key_index(false),
        ];
        for options in rows {
            check_keys(&golden, &golden.try_open(options).expect("it opens"));
        }
        let store = golden.open();
        check_keys(&golden, &store);
        store.catch_up_keys().expect("the index is built");
        check_keys(&golden, &store);
        store.close().expect("it closes");
        check_keys(&golden, &golden.reopen());
    }
}

/// The rule is 5.5's: 4.9 takes the nearest message between two.
#[test]
fn times_are_found_as_rocketmq_finds_them() {
    for name in AGREED.into_iter().filter(|name| name.starts_with("v5")) {
        println!("{name}");
        let golden = Golden::unpack(name);
        let store = golden.open();
        for queue in golden.queues() {
            let id = u32::try_from(number(&queue["queueId"])).expect("a queue's number");
            for row in rows(&queue["offsetByTime"]) {
                check_time(&store, (text(&queue["topic"]), id), rows(row));
            }
        }
    }
}

fn check_time(store: &Store, (topic, queue): (&str, u32), row: &[Value]) {
    let time = row[0].as_i64().expect("a time");
    let found = [Boundary::Lower, Boundary::Upper]
        .map(|boundary| store.offset_at(topic, queue, time, boundary).expect("a look-up"));
    let expected = [1, 2].map(|at| QueueOffset::new(number(&row[at])));
    assert_eq!(found, expected, "{topic}/{queue} at {time}");
}
