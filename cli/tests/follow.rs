//! The command that follows, and the one about cursors.
#![allow(clippy::disallowed_methods)]

mod command;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use command::{Place, command, run_with};
use serde_json::{Value, json};

fn start(place: &Place, line: &str) -> (Child, impl Iterator<Item = String>) {
    let mut child = command(&place.words(line)).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(Result::unwrap))
}

fn offsets(lines: impl Iterator<Item = String>) -> Vec<(u64, String)> {
    let parsed = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    parsed
        .map(|one| (one["queue"].as_u64().unwrap(), one["body"].as_str().unwrap().to_owned()))
        .collect()
}

fn appended(place: &Place, words: &str) {
    place.run(&format!("append --topic web {words}")).text();
}

#[test]
fn tail_shows_the_last_messages_and_follows_another_process() {
    let place = Place::filled(500);
    let last = place.run("tail -n 3 --bodies").text();
    assert_eq!(last.lines().count(), 3);
    assert!(last.lines().last().unwrap().ends_with("line 499"), "{last}");
    assert_eq!(place.run("tail -n 0").text(), "");
    assert_eq!(place.run("tail -n 9999 --json").objects().len(), 500);
    let (mut child, mut lines) = start(&place, "tail -f -n 2 --topic web --json");
    let first = offsets(lines.by_ref().take(2));
    assert!(first[1].1.ends_with("line 499"), "{first:?}");
    appended(&place, "--queue 1 fresh");
    appended(&place, "--queue 77 of-a-new-queue");
    let come = offsets(lines.by_ref().take(2));
    assert_eq!(come, [(1, "fresh".to_owned()), (77, "of-a-new-queue".to_owned())]);
    let stop = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &stop]).status().unwrap().success());
    assert_eq!(lines.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The last messages with a tag may lie far before the end, and in one queue alone.
#[test]
fn tail_shows_the_last_messages_with_a_tag() {
    let place = Place::new();
    let append = |words: &str| place.run(&format!("append --segment-size 64KiB {words}")).text();
    append("--topic web --tags paid --queue 1 p0");
    append("--topic web --tags paid --queue 0 p1");
    let many: String = (0..900).map(|number| format!("other {number}\n")).collect();
    let words = "append --topic web --queue 0 --tags open --lines";
    place.run_with(words, many.as_bytes()).text();
    append("--topic web --tags paid --queue 1 p2");
    append("--topic web --tags shipped --queue 0 s0");
    let tail = |words: &str| place.run(&format!("tail --bodies {words}")).text();
    assert_eq!(tail("-n 2 --tags paid"), "p1\np2\n");
    assert_eq!(tail("-n 9 --tags paid"), "p0\np1\np2\n");
    let both = place.run_with("tail --bodies -n 2 --tags paid||shipped", b"").text();
    assert_eq!(both, "p2\ns0\n");
    assert_eq!(tail("-n 3 --tags nobody"), "");
    assert_eq!(tail("-n 0 --tags paid"), "");
}

#[test]
fn read_takes_a_condition_on_properties() {
    let place = Place::new();
    for (price, region) in [("9", "eu"), ("12", "eu"), ("30.5", "us"), ("none", "eu")] {
        let words = format!("append --segment-size 64KiB --topic web --property price={price}");
        place.run(&format!("{words} --property region={region} {price}")).text();
    }
    let read = |condition: &str| {
        let mut words = place.words("read --bodies --where");
        words.insert(3, condition.to_owned());
        run_with(&words, b"")
    };
    assert_eq!(read("price > 10.0").text(), "12\n30.5\n");
    assert_eq!(read("price > 10 AND region = 'eu'").text(), "12\n");
    assert_eq!(read("region IS NULL OR weight > 3").text(), "");
    let refused = read("price >");
    assert_eq!((refused.code, &*refused.stdout), (2, &b""[..]));
    assert!(refused.stderr.contains("condition: "), "{}", refused.stderr);
}

#[test]
fn read_follows_a_topic_to_come_up_to_a_count() {
    let place = Place::filled(10);
    place.run("read --topic later --json").error(3);
    let (mut child, lines) = start(&place, "read --follow --topic later --count 3 --json");
    for number in 0..4 {
        place.run(&format!("append --topic later --queue {} m{number}", number % 2)).text();
    }
    let bodies: Vec<_> = offsets(lines).into_iter().map(|one| one.1).collect();
    assert_eq!(bodies, ["m0", "m1", "m2"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn cursors_are_imported_shown_moved_and_exported() {
    let place = Place::filled(30);
    assert_eq!(place.run("cursors list --json").text(), "");
    let text = r#"{"offsetTable":{"web@billing":{0:5,1:3},"web@audit":{2:1}}}"#;
    let imported = place.run_with("cursors import --json", text.as_bytes()).object();
    assert_eq!(imported, json!({"cursors": 2}));
    let rows = place.run("cursors lag --topic web --name billing --json").objects();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["lag"]["messages"], 5 + 7 + 10);
    assert_eq!(rows[0]["queues"][1]["acknowledged"], 3);
    let table = place.run("cursors list").text();
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(place.run("cursors lag").text().contains("billing"));
    place.run("cursors copy --topic web --name billing --as copy").text();
    place.run("cursors reset --topic web --name billing --to end").text();
    place.run("cursors reset --topic web --name audit --queue 2 --to 7").text();
    place.run("cursors delete --topic web --name copy").text();
    let exported = place.run("cursors export").text();
    assert!(exported.contains("\"web@billing\":{0:10,1:10,2:10"), "{exported}");
    assert!(exported.contains("\"web@audit\":{0:0,1:0,2:7"), "{exported}");
    let back = place.run_with("cursors import --json", exported.as_bytes()).object();
    assert_eq!(back, json!({"cursors": 2}));
    let missing = place.run("cursors delete --topic web --name copy --json").error(3);
    assert_eq!(missing["kind"], "invalid");
    place.run("cursors reset --topic web --name audit --to 7 --json").error(2);
    let odd = place.run_with("cursors import --json", b"{\"offsetTable\":[]}").error(3);
    assert_eq!(odd["offset"], 15);
    let far = place.run("cursors reset --topic web --name audit --queue 2 --to 70 --json");
    assert_eq!(far.error(3)["limit"], 10);
}
