//! RocketMQ and spanlog append in turns, each leaving the store closed or not: no message is lost
//! and queue offsets follow each other.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spanlog::{Message, Placement, Task};
use spanlog_tests::oracle::{End, Oracle, Version};

use crate::answers::{bodies, check_same, ours, sha256};
use crate::world::World;

/// Who appends.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// RocketMQ, and how it ends.
    Theirs(Version, End),
    /// spanlog, which closes.
    Closed,
    /// spanlog, which is killed after so many steps of its background work.
    Killed(usize),
}

use Turn::{Closed, Killed, Theirs};

const HALT: End = End::Halt;
const SHUTDOWN: End = End::Shutdown;

const MESSAGES: u32 = 20;

/// What was acknowledged: bodies by queue, in order.
#[derive(Default)]
struct Expected(BTreeMap<u32, Vec<String>>);

impl Expected {
    fn note(&mut self, queue: u32, offset: u64, body: &str) {
        let bodies = self.0.entry(queue).or_default();
        assert_eq!(offset, bodies.len() as u64, "{body}: an offset of queue {queue}");
        bodies.push(sha256(body.as_bytes()));
    }

    #[track_caller]
    fn check(&self, answer: &Value) {
        for (&queue, expected) in &self.0 {
            assert_eq!(&bodies(answer, "Turns", queue), expected, "queue {queue}");
        }
    }
}

fn body_of(turn: usize, number: u32) -> String {
    format!("turn {turn} message {number} {}", "y".repeat(300))
}

fn take(world: &World, oracle: &Oracle, number: usize, turn: Turn, expected: &mut Expected) {
    match turn {
        Theirs(version, end) => their_turn(world, oracle, number, (version, end), expected),
        Closed => our_turn(world, number, None, expected),
        Killed(steps) => our_turn(world, number, Some(steps), expected),
    }
}

fn their_turn(
    world: &World,
    oracle: &Oracle,
    number: usize,
    (version, end): (Version, End),
    expected: &mut Expected,
) {
    let puts = (0..MESSAGES).map(
        |at| json!({"put": {"topic": "Turns", "queueId": at % 3, "body": body_of(number, at)}}),
    );
    let script = json!({"ops": puts.collect::<Vec<_>>()});
    let written = oracle.write(version, &world.layout(), &script, end);
    for (at, result) in (0..).zip(written["results"].as_array().expect("a list")) {
        assert_eq!(result["status"], "PUT_OK");
        let offset = result["offset"].as_u64().expect("a number");
        expected.note(at % 3, offset, &body_of(number, at));
    }
}

fn our_turn(world: &World, number: usize, killed: Option<usize>, expected: &mut Expected) {
    let store = world.open(Placement::Rocketmq);
    expected.check(&ours(&store));
    for at in 0..MESSAGES {
        if at == MESSAGES / 2 {
            for &task in [Task::Index, Task::Checkpoint].iter().take(killed.unwrap_or(0)) {
                store.run(task).expect("the step is done");
            }
        }
        let body = body_of(number, at);
        let message = Message::new("Turns", at % 3, body.as_bytes());
        let receipt = store.append(&message).expect("there is room");
        expected.note(at % 3, receipt.queue_offset.get(), &body);
    }
    let snapshot = world.snapshot();
    store.close().expect("it closes");
    if killed.is_some() {
        world.restore(&snapshot);
    }
    world.check_no_folders();
}

fn play(turns: &[Turn]) {
    let Some(oracle) = Oracle::find() else { return };
    let (world, mut expected) = (World::new(), Expected::default());
    for (number, &turn) in turns.iter().enumerate() {
        println!("{number}: {turn:?}");
        take(&world, &oracle, number, turn, &mut expected);
    }
    let store = world.open(Placement::Rocketmq);
    let answer = ours(&store);
    expected.check(&answer);
    store.close().expect("it closes");
    for version in Version::ALL {
        world.check_read(&oracle, version, &answer);
    }
    check_same(&ours(&world.open(Placement::Rocketmq)), &answer);
}

#[test]
fn in_turns_with_4_9_and_5_5() {
    let (v49, v55) = (Version::V49, Version::V55);
    play(&[
        Theirs(v55, SHUTDOWN),
        Closed,
        Theirs(v49, SHUTDOWN),
        Closed,
        Theirs(v55, SHUTDOWN),
        Theirs(v49, SHUTDOWN),
        Closed,
    ]);
}

#[test]
fn in_turns_with_unclean_ends() {
    let (v49, v55) = (Version::V49, Version::V55);
    play(&[
        Closed,
        Theirs(v55, HALT),
        Killed(0),
        Theirs(v49, HALT),
        Killed(1),
        Theirs(v55, SHUTDOWN),
        Killed(2),
        Theirs(v55, HALT),
        Closed,
        Theirs(v49, HALT),
        Killed(2),
        Killed(1),
        Theirs(v55, HALT),
    ]);
}

#[test]
fn spanlog_is_killed_again_and_again() {
    play(&[Killed(0), Killed(1), Killed(2), Killed(0), Theirs(Version::V55, HALT), Killed(2)]);
}
