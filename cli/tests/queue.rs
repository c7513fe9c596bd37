//! Queue mode from the command line.
#![allow(clippy::disallowed_methods)]

mod command;

use std::fs;

use command::Place;
use serde_json::json;

/// Lines that differ, one of them not UTF-8.
fn lines(count: usize) -> Vec<u8> {
    let mut text: Vec<u8> =
        (0..count).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    text.extend_from_slice(b"\xFF\xFE\n");
    text
}

#[test]
fn lines_of_a_file_go_in_and_come_out() {
    let place = Place::new();
    let text = lines(5000);
    fs::write(place.path("in"), &text).unwrap();
    let pushed = place.run("queue push --lines @/in --batch 100 --capacity 64 --json").object();
    assert_eq!(pushed["pushed"], 5001);
    let stat = place.run("queue stat --json").object();
    assert_eq!((&stat["records"], &stat["readers"]), (&json!(5001), &json!([])));
    let verified = place.run("queue verify --json").object();
    assert_eq!(verified["records"], 5001);
    // A reader begins with what is kept, and from then on it is kept for it.
    assert_eq!(place.run("queue peek --reader other").text(), "line 0\n");
    assert_eq!(place.run("queue peek").text(), "line 0\n");
    let first = place.run("queue pop --count 2 --json").objects();
    assert_eq!((&first[0]["payload"], &first[1]["number"]), (&json!("line 0"), &json!(1)));
    assert_eq!(place.run("queue pop --count 1 --no-commit").text(), "line 2\n");
    let rest = place.run("queue pop --wait 10ms");
    assert_eq!((rest.code, &*rest.stdout), (0, &text[14..]));
    assert_eq!(place.run("queue pop").text(), "");
    let last = place.run("queue pop --reader other --json").objects();
    assert_eq!(last[5000]["payload_base64"], "//4=");
    assert!(place.run("queue stat").text().contains("other"));
}

#[test]
fn a_full_queue_and_a_queue_that_is_not_there_have_exit_codes() {
    let place = Place::new();
    for action in ["pop", "peek", "stat", "verify"] {
        let error = place.run(&format!("queue {action} --json")).error(3);
        assert_eq!(error["kind"], "invalid", "{action}");
    }
    assert!(
        !fs::exists(place.path("store")).unwrap_or(true)
            || fs::read_dir(place.path("store")).unwrap().count() == 0
    );
    let small = "queue push --lines --segment-size 4KiB --capacity 4 --json";
    let error = place.run_with(small, &lines(2000)).error(5);
    assert!(error["message"].as_str().unwrap().contains("the queue is full"), "{error}");
    let dropping = place.run_with(&format!("{small} --on-full drop-oldest"), &lines(2000)).object();
    assert_eq!(dropping["pushed"], 2001);
    assert!(place.run("queue stat --json").object()["dropped"].as_u64().unwrap() > 1000);
    assert_eq!(place.run("queue push --on-full sometimes x").code, 2);
}

#[test]
fn measuring_leaves_nothing_behind() {
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    let words = ["queue", "bench", "--in", &place.text("in"), "--records", "100", "--json"];
    let figures = command::run_with(&words, b"").objects();
    assert_eq!(figures.len(), 6);
    assert!(figures.iter().all(|row| row["records"] == 100));
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 0);
}

/// Words of Satellite's meta page and lengths.
fn word(value: u64) -> [u8; 8] {
    value.swap_bytes().to_be_bytes()
}

#[test]
fn a_queue_of_satellites_is_imported_and_stays_as_it_is() {
    let place = Place::new();
    let dir = place.path("satellite");
    fs::create_dir(&dir).unwrap();
    let (mut segment, mut ends) = (Vec::new(), vec![0]);
    for text in ["acknowledged", "flushed", "only written"] {
        segment.extend_from_slice(&word(text.len() as u64));
        segment.extend_from_slice(text.as_bytes());
        ends.push(segment.len() as u64);
    }
    segment.resize(4096, 9);
    fs::write(dir.join("0_segment.dat"), &segment).unwrap();
    let words = [1, 0, ends[3], 0, ends[2], 0, ends[1], 0, ends[1], 10];
    fs::write(dir.join("meta.dat"), words.map(word).concat()).unwrap();
    let line = "queue import @/satellite --json";
    let imported = place.run(line).object();
    assert_eq!(imported["imported"], 2);
    assert_eq!(imported["taken_beyond_watermark_bytes"], ends[3] - ends[2]);
    assert_eq!(place.run("queue pop").text(), "flushed\nonly written\n");
    assert_eq!(fs::read(dir.join("0_segment.dat")).unwrap(), segment);
    assert_eq!(place.run("queue import @/in").code, 3);
}
