//! RocketMQ's own stores read what they wrote: the oracle itself is sound.

use std::path::Path;

use serde_json::{Value, json};
use spanlog_tests::oracle::{End, Layout, Oracle, Version};

/// A store over two directories, small enough to roll.
fn layout(folder: &Path) -> Layout {
    let paths = ["a", "b"].map(|name| folder.join(name));
    Layout::new(&folder.join("root"), &paths, 4096, 400)
}

fn script() -> Value {
    let put = json!({"topic": "Spread", "queues": 2, "body": "message ${i} ", "bodyLength": 380,
        "tags": "T${i}", "keys": "key${i} all", "properties": {"UNIQ_KEY": "unique${n}"}});
    let batch = json!({"topic": "Batch", "queueId": 1,
        "messages": [{"body": "one", "keys": "first"}, {"body": "two", "tags": "T"}]});
    json!({"ops": [{"repeat": 30, "put": put}, {"batch": batch}]})
}

fn queue<'a>(answer: &'a Value, topic: &str, id: u32) -> &'a Value {
    let queues = answer["queues"].as_array().expect("a list");
    let found = queues.iter().find(|queue| queue["topic"] == topic && queue["queueId"] == id);
    found.unwrap_or_else(|| panic!("no queue {topic}/{id} in {queues:?}"))
}

fn write_and_read(version: Version, end: End) {
    let Some(oracle) = Oracle::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let layout = layout(folder.path());
    let written = oracle.write(version, &layout, &script(), end);
    let results = written["results"].as_array().expect("a list");
    assert_eq!(results.len(), 31);
    assert!(results.iter().all(|result| result["status"] == "PUT_OK"), "{results:?}");

    let read = oracle.read(version, &layout);
    assert_eq!(read["abortBefore"], end == End::Halt);
    assert_eq!(read["maxPhyOffset"], written["maxPhyOffset"]);
    let messages = queue(&read, "Spread", 1)["messages"].as_array().expect("a list");
    assert_eq!(messages.len(), 15);
    for (round, message) in messages.iter().enumerate() {
        let result = &results[2 * round + 1];
        assert_eq!(message["offset"], round);
        assert_eq!(message["position"], result["position"]);
        assert_eq!(message["tags"], format!("T{}", 2 * round + 1));
    }
    assert_eq!(queue(&read, "Batch", 1)["max"], 2);
    assert_eq!(read["keys"]["Spread#unique7"], json!([results[7]["position"]]));
    assert!(folder.path().join("b").read_dir().expect("a directory").count() >= 1);
}

#[test]
fn v49_reads_what_it_wrote() {
    write_and_read(Version::V49, End::Shutdown);
}

#[test]
fn v55_reads_what_it_wrote_before_a_halt() {
    write_and_read(Version::V55, End::Halt);
}
