//! RocketMQ reads what spanlog wrote: every message byte for byte, every queue unit by unit.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use spanlog::{Message, Placement, Store, Task};
use spanlog_tests::oracle::{Oracle, Version};

use crate::answers::{check_same, count, ours};
use crate::world::{World, append_long_topic, options, write};

/// With each strategy, closed in order: RocketMQ finds all, and leaves it so that spanlog does.
#[test]
fn rocketmq_reads_a_closed_store() {
    let Some(oracle) = Oracle::find() else { return };
    for placement in Placement::ALL {
        let world = World::new();
        let store = world.open(placement);
        write(&store, 0..40);
        let answer = ours(&store);
        assert!(count(&answer) > 100);
        store.close().expect("it closes");
        for version in Version::ALL {
            world.check_read(&oracle, version, &answer);
            check_same(&ours(&world.open(placement)), &answer);
        }
    }
}

/// As a process leaves it that dies: the log is ahead of the queues, and these of the checkpoint.
#[test]
fn rocketmq_recovers_a_killed_store() {
    let Some(oracle) = Oracle::find() else { return };
    for (placement, steps) in Placement::ALL.into_iter().zip(0..) {
        for version in Version::ALL {
            println!("{placement} {version:?}");
            let world = World::new();
            let (snapshot, answer) = killed(&world, placement, steps);
            world.restore(&snapshot);
            world.check_recovered(&oracle, version, &answer);
            check_same(&ours(&world.open(placement)), &answer);
            // And so does spanlog, without RocketMQ's help.
            world.restore(&snapshot);
            check_same(&ours(&world.open(placement)), &answer);
        }
    }
}

/// A store that did so many steps of its background work before it died, and what was in it.
fn killed(
    world: &World,
    placement: Placement,
    steps: usize,
) -> (std::collections::BTreeMap<PathBuf, Vec<u8>>, Value) {
    let store = world.open(placement);
    write(&store, 0..15);
    for &task in [Task::Index, Task::Checkpoint].iter().take(steps) {
        store.run(task).expect("the step is done");
    }
    write(&store, 15..30);
    if steps > 0 {
        store.run(Task::Index).expect("the step is done");
    }
    write(&store, 30..40);
    let snapshot = world.snapshot();
    (snapshot, ours(&store))
}

/// Slot 40 of the checkpoint tells 5.5.1 where to begin: it must not pass what every queue has.
#[test]
fn the_checkpoint_never_passes_the_queues() {
    let world = World::new();
    let slots = || {
        // RocketMQ takes a missing file for zeros.
        let page = fs::read(world.root.join("checkpoint")).unwrap_or_else(|_| vec![0; 4096]);
        let slot = |at: usize| i64::from_be_bytes(page[at..at + 8].try_into().expect("8 bytes"));
        [0, 8, 40].map(slot)
    };
    let store = world.open(Placement::Rocketmq);
    assert_eq!(slots(), [0, 0, 0], "5.5.1 reads a new store from its start");
    write(&store, 0..10);
    store.run(Task::Checkpoint).expect("the step is done");
    assert_eq!(slots(), [0, 0, 0], "nothing is in the queues yet");
    let end = store.watermarks().appended;
    let receipt = store.append(&Message::new("Orders", 0, b"last")).expect("there is room");
    store.run(Task::Index).expect("the step is done");
    store.run(Task::Checkpoint).expect("the step is done");
    let begin = i64::try_from(receipt.position.get()).expect("a small store");
    assert!(receipt.position >= end);
    assert_eq!(slots(), [receipt.store_ms, receipt.store_ms, begin]);
    write(&store, 10..20);
    store.flush().expect("it is flushed");
    assert_eq!(slots(), [receipt.store_ms, receipt.store_ms, begin]);
}

#[test]
fn rocketmq_reads_hosts_of_six_and_long_topics() {
    let Some(oracle) = Oracle::find() else { return };
    for version in Version::ALL {
        let world = World::new();
        let six = (Ipv6Addr::LOCALHOST, 10_911).into();
        let options = world.options(Placement::Rocketmq).store_host(six).record_checksum(false);
        let store = Store::open(&world.root, options).expect("the store opens");
        write(&store, 0..20);
        if version == Version::V55 {
            append_long_topic(&store);
        }
        let answer = ours(&store);
        store.close().expect("it closes");
        world.check_read(&oracle, version, &answer);
    }
}

// A real process, and a real kill.

const CHILD: &str = "SPANLOG_INTEROP_CHILD";

/// Not a test of its own: the process that [`rocketmq_recovers_what_a_killed_process_wrote`]
/// kills. It says each message that was acknowledged.
#[test]
fn writes_until_it_is_killed() {
    let Ok(root) = std::env::var(CHILD) else { return };
    let root = PathBuf::from(root);
    let paths = ["a", "b", "c"].map(|name| root.with_file_name(name));
    let store = Store::open(&root, options(&paths).background(true)).expect("the store opens");
    for number in 0_u64.. {
        let body = format!("message {number}");
        let queue = u32::try_from(number % 3).expect("one of three");
        let receipt = store.append(&Message::new("Killed", queue, body.as_bytes()));
        println!("acknowledged {}", receipt.expect("there is room").end);
    }
}

#[test]
fn rocketmq_recovers_what_a_killed_process_wrote() {
    let Some(oracle) = Oracle::find() else { return };
    for (version, enough) in [(Version::V49, 300), (Version::V55, 50), (Version::V55, 2000)] {
        let world = World::new();
        let acknowledged = kill_after(&world, enough);
        let read = oracle.read(version, &world.layout());
        let end = read["maxPhyOffset"].as_u64().expect("a number");
        assert!(end >= acknowledged, "{end} is before {acknowledged}");
        let answer = crate::answers::theirs(read);
        assert!(count(&answer) >= enough);
        check_same(&ours(&world.open(Placement::Rocketmq)), &answer);
    }
}

/// Lets a process write until so many messages were acknowledged, and kills it; returns the end of
/// the last one that it told.
fn kill_after(world: &World, enough: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "ours::writes_until_it_is_killed", "--nocapture"])
        .env(CHILD, &world.root)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut last = 0;
    let mut note = |line: std::io::Result<String>| {
        let line = line.expect("text");
        let end = line.strip_prefix("acknowledged ").and_then(|end| end.parse().ok());
        last = end.unwrap_or(last);
    };
    lines.by_ref().take(enough + 4).for_each(&mut note);
    child.kill().expect("it was running");
    child.wait().expect("it ends");
    lines.for_each(note);
    last
}
