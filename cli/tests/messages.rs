//! What goes in through `append` comes out of `read`.
#![allow(clippy::disallowed_methods)]

mod command;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use command::{Place, run_with};
use serde_json::{Value, json};

#[test]
fn the_json_form_of_a_message_is_exact() {
    let place = Place::new();
    let mut words = place.words("append --topic orders --queue 2 --tags new --json");
    let more =
        ["--keys", "order-1 c2", "--keys", "x", "--property", "region=north=east", "two cups"];
    words.extend(more.map(str::to_owned));
    let ack = run_with(&words, b"").object();
    assert_eq!((&ack["offset"], &ack["position"]), (&json!(0), &json!(0)));
    let line = place.run("read --topic orders --json").text();
    let message: Value = serde_json::from_str(&line).unwrap();
    let names: Vec<_> = message.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "topic",
        "queue",
        "offset",
        "position",
        "size_bytes",
        "stored_ms",
        "born_ms",
        "tags",
        "keys",
        "properties",
        "body",
    ];
    assert_eq!(names, expected);
    assert_eq!(message["keys"], json!(["order-1", "c2", "x"]));
    assert_eq!((&message["tags"], &message["queue"]), (&json!("new"), &json!(2)));
    assert_eq!(message["body"], "two cups");
    assert_eq!(message["stored_ms"], ack["stored_ms"]);
    let properties = message["properties"].as_object().unwrap();
    assert_eq!(properties["region"], "north=east");
    assert!(!properties.contains_key("TAGS") && !properties.contains_key("KEYS"));
}

#[test]
fn bodies_of_every_kind() {
    let place = Place::new();
    let binary: Vec<u8> = (0..=255).collect();
    let bodies: [&[u8]; 5] =
        [b"", "caf\u{e9} \u{1F600} \u{4f60}".as_bytes(), b"a\nb\0c\x1b[2J", &binary, b"\xFF"];
    for body in bodies {
        place.run_with("append --topic t --body-file -", body).text();
    }
    fs::write(place.path("file"), &binary).unwrap();
    place.run("append --topic t --body-file @/file").text();
    let mut words: Vec<_> = place.words("append --topic t").iter().map(Into::into).collect();
    words.push(OsStr::from_bytes(b"\xC3(").to_owned());
    run_with(&words, b"").text();
    let found = place.run("read --topic t --json").objects();
    let body = |at: usize| found[at]["body"].as_str().map(str::as_bytes);
    for (at, expected) in bodies.iter().enumerate().take(3) {
        assert_eq!(body(at), Some(*expected), "{at}");
    }
    let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7";
    for at in [3, 5] {
        assert!(found[at]["body_base64"].as_str().unwrap().starts_with(base64));
        assert_eq!(found[at].get("body"), None);
    }
    assert_eq!(found[4]["body_base64"], "/w==");
    assert_eq!(found[6]["body_base64"], "wyg=");
    let text = place.run("read --topic t").text();
    assert_eq!(text.lines().count(), 7);
    assert!(text.contains("a\\nb\\u{0}c\\u{1b}[2J") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn lines_come_back_byte_for_byte() {
    let place = Place::new();
    let mut input = b"first\n\n  with blanks \r\n\xFF\xFE\nlast without newline".to_vec();
    let summary = place.run_with("append --topic t --lines --json --no-acks", &input).object();
    assert_eq!(summary["appended"], 5);
    assert_eq!(summary["body_bytes"].as_u64().unwrap(), input.len() as u64 - 4);
    input.push(b'\n');
    let read = place.run("read --topic t --queue 0 --bodies");
    assert_eq!(read.stdout, input);
    assert_eq!((read.code, &*read.stderr), (0, ""));
}

#[test]
fn columns_give_tags_and_keys() {
    let place = Place::new();
    let input = b"10:00 WARN u7 slow\n10:01\n10:02 INFO u8\n";
    fs::write(place.path("log"), input).unwrap();
    let line =
        "append --topic t --lines @/log --tag-column 2 --key-column 3 --tags none --keys all";
    assert!(place.run(line).text().starts_with("appended 3 messages"));
    let found = place.run("read --topic t --json").objects();
    let row = |at: usize| (found[at]["tags"].clone(), found[at]["keys"].clone());
    assert_eq!(row(0), (json!("WARN"), json!(["all", "u7"])));
    assert_eq!(row(1), (json!("none"), json!(["all"])));
    assert_eq!(row(2), (json!("INFO"), json!(["all", "u8"])));
}

#[test]
fn acks_name_where_each_message_is() {
    let place = Place::new();
    let input: String = (0..100).map(|n| format!("line {n}\n")).collect();
    for (batch, durable) in [(1, ""), (7, "--durable"), (1000, "")] {
        let topic = format!("t{batch}");
        let line =
            format!("append --topic {topic} --lines --queues 3 --batch {batch} {durable} --json");
        let acks = place.run_with(&line, input.as_bytes()).objects();
        assert_eq!(acks.len(), 100);
        let found = place.run(&format!("read --topic {topic} --json")).objects();
        assert_eq!(found.len(), 100);
        for ack in &acks {
            let same = |m: &&Value| ["queue", "offset"].iter().all(|name| m[*name] == ack[*name]);
            let message = found.iter().find(same).unwrap();
            assert_eq!(message["position"], ack["position"], "{batch}");
        }
        for queue in 0..3 {
            let bodies: Vec<_> = found.iter().filter(|m| m["queue"] == queue).collect();
            let numbers = (0..100).filter(|n| n % 3 == queue).map(|n| format!("line {n}"));
            assert!(bodies.iter().map(|m| m["body"].as_str().unwrap()).eq(numbers));
        }
    }
    let text = place.run_with("append --topic a --lines --acks", b"x\ny\n").text();
    let rows: Vec<_> = text.lines().collect();
    assert!(rows[0].starts_with("a/0 #0 at position "), "{text}");
    assert!(rows[2].starts_with("appended 2 messages"), "{text}");
}

#[test]
fn a_key_always_finds_the_same_queue() {
    let place = Place::new();
    let input = b"a 1\nb 2\na 3\npolygenelubricants 4\na 5\n";
    place.run_with("append --topic t --lines --queues 4 --key-column 1", input).text();
    let found = place.run("read --topic t --json").objects();
    let queues: Vec<_> = found.iter().map(|m| m["queue"].as_u64().unwrap()).collect();
    // Java's hash of "a" is 97, of "b" 98, of the last -2^31.
    assert_eq!(queues, [1, 2, 1, 0, 1]);
}

#[test]
fn several_queues_are_read_in_the_order_of_the_log() {
    let place = Place::filled(1000);
    let found = place.run("read --json").objects();
    let positions: Vec<_> = found.iter().map(|m| m["position"].as_u64().unwrap()).collect();
    assert!(positions.is_sorted() && positions.len() == 1000);
    assert_eq!(found[999]["body"], "INFO key-999 line 999");
    let some = place.run("read --topic web --queue 1 --from 300 --count 2 --json").objects();
    let offsets: Vec<_> = some.iter().map(|m| m["offset"].as_u64().unwrap()).collect();
    assert_eq!(offsets, [300, 301]);
    assert_eq!(place.run("read --topic web --queue 2 --from 333").text(), "");
    let behind = place.run("read --topic web --queue 2 --from 999");
    assert_eq!((behind.code, behind.stdout.len()), (0, 0));
    assert!(behind.stderr.contains("web/2: 999 is behind the end, 333"), "{behind:?}");
}

#[test]
fn verify_counts() {
    let place = Place::filled(500);
    let summary = place.run("read --verify --summary --json").object();
    assert_eq!((&summary["messages"], &summary["damaged"]), (&json!(500), &json!(0)));
    assert_eq!((&summary["queues"], &summary["verified"]), (&json!(3), &json!(true)));
    let text = place.run("read --verify --summary --topic web --queue 0").text();
    assert!(text.starts_with("read 167 messages of 1 queue"), "{text}");
    assert!(text.contains("every checksum is right"), "{text}");
    assert_eq!(place.run("read --verify --json").objects().len(), 500);
}
