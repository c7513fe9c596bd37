//! RocketMQ reads what spanlog mended: every message but the damaged one, and nothing else.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use spanlog::{Placement, RepairPlan, Verification};
use spanlog_tests::oracle::{Oracle, Version};

use crate::answers::{bodies, check_same, count, ours, theirs};
use crate::world::{World, write};

/// What is done to a store at rest; each of them costs one message.
type Harm = (&'static str, fn(&World));

const HARMS: [Harm; 2] = [
    ("a flipped byte of a body, and a queue file that is half as long", |world| {
        flip_a_body(world);
        cut_a_queue_file(world);
    }),
    ("a record's length, and no index", |world| {
        spoil_a_length(world);
        fs::remove_dir_all(world.root.join("index")).expect("it was there");
    }),
];

#[test]
fn rocketmq_reads_a_mended_store() {
    let Some(oracle) = Oracle::find() else { return };
    for (name, harm) in HARMS {
        for version in Version::ALL {
            println!("{name}, {version:?}");
            let world = World::new();
            let before = written(&world);
            harm(&world);
            mend(&world, name);
            let answer = ours(&world.open(Placement::Rocketmq));
            assert_eq!(count(&answer), count(&before) - 1, "{name}");
            let left = |answer: &Value| bodies(answer, "Orders", 1).len();
            assert_eq!(left(&answer), left(&before) - 1, "{name}");
            world.check_no_folders();
            let found = without_fillers(theirs(oracle.read(version, &world.layout())));
            check_same(&found, &answer);
            check_same(&ours(&world.open(Placement::Rocketmq)), &answer);
        }
    }
}

/// The same answer without the units that stand for nothing, where a message was lost.
fn without_fillers(mut answer: Value) -> Value {
    for queue in answer["queues"].as_array_mut().expect("a list") {
        let units = queue["units"].as_array_mut().expect("a list");
        units.retain(|unit| *unit != json!([0, i32::MAX, 0]));
    }
    answer
}

/// Fills a store and closes it; says what is in it.
fn written(world: &World) -> Value {
    let store = world.open(Placement::Rocketmq);
    write(&store, 0..40);
    let answer = ours(&store);
    store.close().expect("it closes");
    answer
}

fn verification(world: &World) -> Verification {
    let options = world.options(Placement::Rocketmq);
    let mut verification = Verification::new(&world.root, &options).expect("it can be looked at");
    verification.run().expect("it can be read");
    verification
}

fn mend(world: &World, name: &str) {
    let plan = RepairPlan::of(&verification(world)).expect("all is there");
    assert!(!plan.is_empty() && plan.beyond().is_empty(), "{name}: {:?}", plan.beyond());
    plan.apply().expect("it is mended");
    let again = verification(world);
    assert!(again.is_sound(), "{name}: {:?}", again.findings());
}

/// Where a message of queue 1 of `Orders` lies that is neither the first nor the last: its file,
/// and the byte in it.
fn a_message(world: &World) -> (PathBuf, u64) {
    let store = world.open(Placement::Rocketmq);
    let from = spanlog::QueueOffset::new(5);
    let batch = store.read("Orders", 1, from, spanlog::ReadLimits::default()).expect("it is read");
    let position = batch.iter().next().expect("there are more than five").position().get();
    let segments = store.segments();
    let covers = |segment: &&spanlog::SegmentReport| {
        (segment.base.get()..segment.base.get() + segment.len_bytes).contains(&position)
    };
    let segment = segments.iter().find(covers).expect("a segment covers it");
    let place = (segment.path.clone(), position - segment.base.get());
    store.close().expect("it closes");
    place
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all_at(bytes, at).expect("room for as many bytes");
}

fn flip_a_body(world: &World) {
    let (path, at) = a_message(world);
    // Behind 84 bytes of head and 4 of its length.
    overwrite(&path, at + 88, b"\xff");
}

fn spoil_a_length(world: &World) {
    let (path, at) = a_message(world);
    overwrite(&path, at, &[0x7f, 0xff, 0xff, 0xff]);
}

fn cut_a_queue_file(world: &World) {
    let path = world.root.join("consumequeue/Orders/1/00000000000000000000");
    let file = fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.set_len(crate::world::QUEUE_FILE_LEN / 2).expect("it can be cut");
}
