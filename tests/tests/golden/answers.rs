//! What RocketMQ answered, compared with what spanlog answers.

use std::collections::BTreeMap;

use serde_json::Value;
use spanlog::record::{MAGIC_V1, MAGIC_V2};
use spanlog::{
    ErrorKind, MessageView, Position, QueueOffset, ReadLimits, ReadStatus, Store, Stored,
};

use crate::store::{Golden, hex, number, refused, rows, sha256, text};

/// Every record of the physical walk, and everything that RocketMQ decoded from it.
fn check_records(golden: &Golden, store: &Store) {
    let marks = store.watermarks();
    assert_eq!(marks.start.get(), number(&golden.expected["minPhyOffset"]));
    let mut at = marks.start.get();
    for row in golden.records() {
        match row["blank"].as_u64() {
            Some(blank) => {
                assert_eq!(blank, at);
                let kind = refused(store.get(Position::new(at)), "a padding").kind();
                assert_eq!(kind, ErrorKind::Invalid);
            }
            None => {
                assert_eq!(number(&row["offset"]), at);
                let record = store.get(Position::new(at)).expect("a record");
                assert_eq!(sha256(&record), row["sha256"], "record at {at}");
                check_fields(&MessageView::parse(&record).expect("a whole record"), row);
            }
        }
        at += number(&row["size"]);
    }
    assert!(marks.appended.get() >= at, "{marks:?} ends before {at}");
}

fn check_fields(view: &MessageView<'_>, row: &Value) {
    view.verify().expect("the checksums are good");
    assert_eq!(u64::from(view.size()), number(&row["size"]));
    assert_eq!(view.position(), number(&row["physicalOffset"]));
    assert_eq!(view.topic(), row["topic"]);
    assert_eq!(view.queue(), row["queueId"]);
    assert_eq!(view.queue_offset(), number(&row["queueOffset"]));
    assert_eq!(view.flag(), row["flag"]);
    assert_eq!(view.sys_flag(), row["sysFlag"]);
    assert_eq!(view.born_ms(), row["bornTimestamp"]);
    assert_eq!(view.store_ms(), row["storeTimestamp"]);
    assert_eq!(view.born_host(), text(&row["bornHost"]).parse().expect("a host"));
    assert_eq!(view.store_host(), text(&row["storeHost"]).parse().expect("a host"));
    assert_eq!(view.reconsume_times(), row["reconsumeTimes"]);
    assert_eq!(view.prepared_position(), number(&row["preparedTransactionOffset"]));
    assert_eq!(view.body_checksum(), row["bodyCRC"]);
    assert_eq!(view.body().len() as u64, number(&row["bodyLength"]));
    check_text(view, row);
}

/// The body is told as text, as digits or by its hash; the properties as pairs.
fn check_text(view: &MessageView<'_>, row: &Value) {
    let magic = u32::from_str_radix(text(&row["magic"]), 16).expect("a magic").cast_signed();
    assert!(magic == if view.topic().len() > 127 { MAGIC_V2 } else { MAGIC_V1 });
    if let Some(body) = row["bodyText"].as_str() {
        assert_eq!(view.body(), body.as_bytes());
    } else if let Some(body) = row["bodyHex"].as_str() {
        assert_eq!(hex(view.body()), body);
    } else {
        assert_eq!(sha256(view.body()), row["bodySha256"]);
    }
    let properties: BTreeMap<_, _> = view.properties().collect();
    let expected = row["properties"].as_object().expect("pairs").iter();
    assert_eq!(properties, expected.map(|(name, value)| (name.as_str(), text(value))).collect());
}

/// The positions that reading the queue gives for these offsets.
pub fn read(store: &Store, topic: &str, queue: u32, from: u64, count: usize) -> Vec<u64> {
    let limits = ReadLimits { max_messages: count, max_bytes: u64::MAX };
    let batch = store.read(topic, queue, QueueOffset::new(from), limits).expect("it is read");
    let check = |stored: Stored<'_>| {
        let view = stored.decode_verified().expect("a whole record");
        assert_eq!((view.topic(), view.queue()), (topic, queue));
        assert_eq!(view.queue_offset(), stored.queue_offset().get());
        stored.position().get()
    };
    batch.iter().map(check).collect()
}

fn check_queue(golden: &Golden, store: &Store, row: &Value) {
    let (topic, queue) = (text(&row["topic"]), number(&row["queueId"]));
    let id = u32::try_from(queue).expect("a queue's number");
    let (min, max) = (number(&row["min"]), number(&row["max"]));
    let bounds = store.bounds(topic, id).expect("the queue is known");
    assert_eq!(bounds.min.get(), min, "{topic}/{queue}");
    assert!(bounds.max.get() >= max, "{topic}/{queue}: {bounds:?} ends before {max}");
    let units: Vec<[i64; 3]> = rows(&row["units"]).iter().map(expected_unit).collect();
    let count = units.len();
    let positions: Vec<u64> = units.iter().map(|unit| unit[0].cast_unsigned()).collect();
    assert_eq!(read(store, topic, id, min, count), positions, "{topic}/{queue}");
    for answer in rows(&row["getMessage"]) {
        let expected: Vec<_> = rows(&answer["offsets"]).iter().map(number).collect();
        assert_eq!(read(store, topic, id, number(&answer["at"]), expected.len()), expected);
    }
    // In a store opened for reading, what recovery would keep stands in memory alone.
    if golden.root.join(".spanlog").exists() {
        assert_eq!(golden.raw_units(topic, queue, min..max), units, "{topic}/{queue}");
    }
}

fn expected_unit(row: &Value) -> [i64; 3] {
    let numbers: Vec<i64> = rows(row).iter().map(|n| n.as_i64().expect("a number")).collect();
    numbers.try_into().expect("three numbers")
}

/// Everything that RocketMQ answered is there; more may have been appended since.
pub fn check_history(golden: &Golden, store: &Store) {
    check_records(golden, store);
    golden.queues().for_each(|queue| check_queue(golden, store, queue));
}

/// As [`check_history`], and nothing else is there.
pub fn check(golden: &Golden, store: &Store) {
    check_history(golden, store);
    let end = store.watermarks().appended;
    assert_eq!(end.get(), number(&golden.expected["maxPhyOffset"]));
    assert_eq!(refused(store.get(end), "the end").kind(), ErrorKind::Invalid);
    let all: Vec<_> = store
        .queues()
        .into_iter()
        .map(|queue| (queue.topic, u64::from(queue.queue), queue.bounds.max.get()))
        .collect();
    let expected = rows(&golden.expected["queues"])
        .iter()
        .map(|row| (text(&row["topic"]).to_owned(), number(&row["queueId"]), number(&row["max"])));
    assert_eq!(all, expected.collect::<Vec<_>>());
    golden.queues().for_each(|row| check_edges(store, row));
}

/// The answers around a queue's ends (`getMessage` of RocketMQ's store).
fn check_edges(store: &Store, row: &Value) {
    let (min, max) = (number(&row["min"]), number(&row["max"]));
    let ask = |from: u64| {
        let queue = u32::try_from(number(&row["queueId"])).expect("a queue's number");
        let from = QueueOffset::new(from);
        let batch = store.read(text(&row["topic"]), queue, from, ReadLimits::default());
        batch.map(|batch| (batch.status(), batch.next().get())).expect("an answer")
    };
    assert_eq!(ask(max), (ReadStatus::AtEnd, max));
    assert_eq!(ask(max + 1), (ReadStatus::TooLarge, max));
    assert_eq!(ask(u64::MAX), (ReadStatus::TooLarge, max));
    if min > 0 {
        assert_eq!(ask(min - 1), (ReadStatus::TooSmall, min));
        assert_eq!(ask(0), (ReadStatus::TooSmall, min));
    }
}
