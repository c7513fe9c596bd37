//! spanlog reads what RocketMQ wrote, closed in order or halted, and RocketMQ what is left then.

use serde_json::{Value, json};
use spanlog::{Options, Placement, Store};
use spanlog_tests::oracle::{End, Oracle, Version};

use crate::answers::{check_same, count, ours};
use crate::world::World;

pub const ENDS: [End; 2] = [End::Shutdown, End::Halt];

/// What RocketMQ is told to write: texts, bytes, hosts, batches, a parked message.
fn script() -> Value {
    let put = json!({"topic": "Orders", "queues": 3, "body": "order ${i} ", "bodyLength": 300,
        "tags": "Tag${i}", "keys": "order-${i} all", "properties": {"UNIQ_KEY": "id${n}"}});
    let six = json!({"topic": "Six", "queueId": 1, "hex": "00ff10808182feff0a", "flag": 7,
        "bornHost": "[2001:db8::1]:40000", "storeHost": "[::1]:10911"});
    let batch = json!({"topic": "Batch", "queueId": 1, "messages": [
        {"body": "one ${i}", "keys": "first"}, {"body": "two", "tags": "T"}, {"body": ""}]});
    let parked = json!({"topic": "Orders", "queueId": 1, "body": "later", "delayLevel": 18});
    json!({"ops": [{"repeat": 30, "put": put}, {"repeat": 4, "put": six},
        {"repeat": 6, "batch": batch}, {"put": parked}, {"repeat": 20, "put": put}]})
}

#[test]
fn spanlog_reads_what_rocketmq_wrote() {
    let Some(oracle) = Oracle::find() else { return };
    for version in Version::ALL {
        for end in ENDS {
            println!("{version:?} {end:?}");
            let world = World::new();
            let written = oracle.write(version, &world.layout(), &script(), end);
            let before = world.snapshot();
            let read_only = world.options(Placement::Rocketmq).read_only(true);
            let store = Store::open(&world.root, read_only).expect("it opens");
            assert_eq!(store.recovery().was_clean, end == End::Shutdown);
            let answer = ours(&store);
            check_written(&written, &answer);
            store.close().expect("it closes");
            assert!(world.snapshot() == before, "opened for reading");

            let store = world.open(Placement::Rocketmq);
            check_same(&ours(&store), &answer);
            store.close().expect("it closes");
            let by_root = Store::open(&world.root, Options::new().background(false));
            check_same(&ours(&by_root.expect("it is known now")), &answer);
            world.check_read(&oracle, version, &answer);
        }
    }
}

/// Every message that RocketMQ acknowledged is there, at the place that it told.
fn check_written(written: &Value, answer: &Value) {
    assert_eq!(written["maxPhyOffset"], answer["maxPhyOffset"]);
    let results = written["results"].as_array().expect("a list");
    let queues = answer["queues"].as_array().expect("a list");
    for result in results {
        assert_eq!(result["status"], "PUT_OK");
        let is_its = |queue: &&Value| {
            queue["topic"] == result["topic"] && queue["queueId"] == result["queueId"]
        };
        let queue = queues.iter().find(is_its).expect("its queue");
        let offset = result["offset"].as_u64().expect("a number");
        let message = &queue["messages"][usize::try_from(offset).expect("a small store")];
        assert_eq!(message["position"], result["position"]);
    }
    let messages = |result: &Value| result["messages"].as_u64().expect("a number");
    assert_eq!(count(answer) as u64, results.iter().map(messages).sum::<u64>());
}

/// Neither program loses its way if the other has never indexed anything.
#[test]
fn queues_of_either_are_derived_anew() {
    let Some(oracle) = Oracle::find() else { return };
    let world = World::new();
    drop(oracle.write(Version::V55, &world.layout(), &script(), End::Shutdown));
    let store = world.open(Placement::Rocketmq);
    let answer = ours(&store);
    store.close().expect("it closes");
    for version in Version::ALL {
        // The recipe that makes every version read the whole log (format, section 1).
        for folder in ["consumequeue", "index"] {
            let _ = std::fs::remove_dir_all(world.root.join(folder));
        }
        std::fs::remove_file(world.root.join("checkpoint")).expect("there was one");
        std::fs::write(world.root.join("abort"), b"").expect("room for a file");
        world.check_recovered(&oracle, version, &answer);
        check_same(&ours(&world.open(Placement::Rocketmq)), &answer);
    }
}
