//! A command that is stopped, killed, or whose reader goes away.
#![allow(clippy::disallowed_methods)]

mod command;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;

use command::{Place, command};
use serde_json::Value;

/// Starts an append that is fed numbered lines until it ends.
fn feed(place: &Place, more: &str) -> Child {
    let line = format!(
        "append --path @/a --path @/b --path @/c --segment-size 1MiB --topic t --lines --json \
         {more}"
    );
    let mut child = command(&place.words(&line)).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::spawn(move || (0_u64..).try_for_each(|n| writeln!(stdin, "line {n}")).is_err());
    child
}

/// Reads so many acks, sends the signal, and gives all acks there were, by queue and offset.
fn stop(child: &mut Child, acks: usize, signal: &str) -> BTreeMap<(u64, u64), u64> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen: Vec<String> = lines.by_ref().take(acks).map(Result::unwrap).collect();
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    seen.extend(lines.map_while(Result::ok));
    let parsed = seen.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let number = |value: &Value| value.as_u64().unwrap();
    let row =
        |ack: Value| ((number(&ack["queue"]), number(&ack["offset"])), number(&ack["position"]));
    parsed.map(row).collect()
}

fn check_acknowledged(place: &Place, acks: &BTreeMap<(u64, u64), u64>) {
    let mut found = BTreeMap::new();
    for message in place.run("read --verify --json").objects() {
        let number = |name: &str| message[name].as_u64().unwrap();
        found.insert((number("queue"), number("offset")), number("position"));
    }
    for (place, position) in acks {
        assert_eq!(found.get(place), Some(position), "{place:?} was acknowledged");
    }
}

#[test]
fn a_killed_append_loses_nothing_acknowledged() {
    for (acks, more) in [(1, ""), (500, "--queues 3"), (5000, "--batch 16")] {
        let place = Place::new();
        let mut child = feed(&place, more);
        let acks = stop(&mut child, acks, "KILL");
        child.wait().unwrap();
        let look = place.run("recover --read-only --json").object();
        assert_eq!(look["was_clean"], false);
        check_acknowledged(&place, &acks);
        place.run("recover").text();
        check_acknowledged(&place, &acks);
        assert_eq!(place.run("recover --json").object()["was_clean"], true);
    }
}

#[test]
fn an_interrupted_append_closes_its_store() {
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        let mut child = feed(&place, "--queues 2");
        let acks = stop(&mut child, 1000, signal);
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
        let error: Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!(error["error"]["kind"], "interrupted");
        assert_eq!(place.run("recover --json").object()["was_clean"], true);
        check_acknowledged(&place, &acks);
        assert_eq!(place.run("read --json").objects().len(), acks.len());
    }
}

#[test]
fn an_append_that_waits_for_a_line_can_be_stopped() {
    let place = Place::new();
    let words = place.words("append --topic t --lines --acks");
    let mut child = command(&words).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"one\n").unwrap();
    stop(&mut child, 1, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert_eq!(place.run("read --json").objects().len(), 1);
}

/// Reads one line of a command's answer and goes away.
fn first_line(mut child: Child) -> (Option<i32>, String) {
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    drop(reader);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn a_reader_that_had_enough_ends_a_command_quietly() {
    let place = Place::filled(5000);
    for line in ["read", "read --json", "read --bodies"] {
        let child = command(&place.words(line)).spawn().unwrap();
        assert_eq!(first_line(child), (Some(0), String::new()), "{line}");
    }
}

#[test]
fn an_append_whose_answers_nobody_reads_stops_quietly() {
    let place = Place::new();
    let child = feed(&place, "");
    assert_eq!(first_line(child), (Some(1), String::new()));
    assert_eq!(place.run("recover --json").object()["was_clean"], true);
}
