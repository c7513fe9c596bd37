//! Everything that is in a store, in the form in which RocketMQ's answers come.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spanlog::record::property;
use spanlog::{MessageView, QueueOffset, QueueReport, ReadLimits, ReadStatus, Store};

/// What spanlog answers: the ends of the log, and of each queue its ends, units and messages.
pub fn ours(store: &Store) -> Value {
    store.catch_up().expect("it is indexed");
    let marks = store.watermarks();
    let queues = store.queues().into_iter().filter(|queue| queue.bounds.max.get() > 0);
    let queues: Vec<_> = queues.map(|queue| queue_of(store, &queue)).collect();
    json!({
        "minPhyOffset": marks.start.get(),
        "maxPhyOffset": marks.appended.get(),
        "queues": queues,
    })
}

/// What RocketMQ answered, as far as spanlog answers too.
pub fn theirs(mut answer: Value) -> Value {
    let fields = answer.as_object_mut().expect("an object");
    fields.remove("abortBefore");
    fields.remove("keys");
    for queue in fields["queues"].as_array_mut().expect("a list") {
        let queue = queue.as_object_mut().expect("an object");
        queue.remove("byTime");
        assert_eq!(queue.remove("misses"), Some(json!([])), "{queue:?}");
    }
    answer
}

/// Compares queue by queue, so that what differs can be seen.
#[track_caller]
pub fn check_same(found: &Value, expected: &Value) {
    let names = |answer: &Value| {
        let queues = answer["queues"].as_array().expect("a list").iter();
        queues.map(|queue| format!("{}/{}", queue["topic"], queue["queueId"])).collect::<Vec<_>>()
    };
    assert_eq!(names(found), names(expected));
    let pairs = found["queues"].as_array().into_iter().flatten();
    for (at, queue) in pairs.enumerate() {
        assert_eq!(queue, &expected["queues"][at]);
    }
    assert_eq!(found, expected);
}

/// The same answer without the times of delivery in units of parked messages: 4.9.8 does not know
/// its delay levels yet when it derives units in recovery, and puts 0.
pub fn without_delivery_times(mut answer: Value) -> Value {
    for queue in answer["queues"].as_array_mut().expect("a list") {
        let units = queue["units"].as_array_mut().expect("a list");
        units.iter_mut().filter(|unit| unit[2].as_i64() > Some(1 << 32)).for_each(|unit| {
            unit[2] = json!(0);
        });
    }
    answer
}

/// The bodies' hashes of a queue, in order.
pub fn bodies(answer: &Value, topic: &str, queue: u32) -> Vec<String> {
    let queues = answer["queues"].as_array().expect("a list");
    let found = queues.iter().find(|one| one["topic"] == topic && one["queueId"] == queue);
    let messages = found.map(|one| one["messages"].as_array().expect("a list"));
    let body = |message: &Value| message["bodySha256"].as_str().expect("a hash").to_owned();
    messages.into_iter().flatten().map(body).collect()
}

/// How many messages are in all queues.
pub fn count(answer: &Value) -> usize {
    let queues = answer["queues"].as_array().expect("a list").iter();
    queues.map(|queue| queue["messages"].as_array().expect("a list").len()).sum()
}

fn queue_of(store: &Store, queue: &QueueReport) -> Value {
    let (mut units, mut messages) = (Vec::new(), Vec::new());
    let mut from = queue.bounds.min;
    loop {
        let batch = store.read(&queue.topic, queue.queue, from, ReadLimits::default());
        let batch = batch.expect("it is read");
        if batch.status() != ReadStatus::Found {
            break;
        }
        for stored in batch.iter() {
            let view = stored.decode_verified().expect("a whole record");
            units.push(json!([view.position(), view.size(), view.tag_code()]));
            messages.push(message(&view, stored.queue_offset()));
        }
        from = batch.next();
    }
    json!({
        "topic": queue.topic,
        "queueId": queue.queue,
        "min": queue.bounds.min.get(),
        "max": queue.bounds.max.get(),
        "units": units,
        "messages": messages,
    })
}

fn message(view: &MessageView<'_>, offset: QueueOffset) -> Value {
    assert_eq!(view.queue_offset(), offset.get());
    let properties: BTreeMap<_, _> = view.properties().collect();
    json!({
        "position": view.position(),
        "size": view.size(),
        "sha256": sha256(view.bytes()),
        "offset": offset.get(),
        "topic": view.topic(),
        "bodyLength": view.body().len(),
        "bodySha256": sha256(view.body()),
        "tags": view.tags(),
        "keys": view.property(property::KEYS),
        "flag": view.flag(),
        "sysFlag": view.sys_flag(),
        "reconsumeTimes": view.reconsume_times(),
        "preparedTransactionOffset": view.prepared_position(),
        "bornTimestamp": view.born_ms(),
        "storeTimestamp": view.store_ms(),
        "bornHost": host(view.born_host()),
        "storeHost": host(view.store_host()),
        "properties": properties,
    })
}

/// As Java writes it, without leaving out zeros.
fn host(host: SocketAddr) -> String {
    match host {
        SocketAddr::V4(host) => host.to_string(),
        SocketAddr::V6(host) => {
            let parts = host.ip().segments().map(|part| format!("{part:x}"));
            format!("[{}]:{}", parts.join(":"), host.port())
        }
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a string takes all text");
    }
    text
}
