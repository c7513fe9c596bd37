//! What the command tells of a store, and what it does to one.
#![allow(clippy::disallowed_methods)]

mod command;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};

use command::{Place, Ran, command};
use serde_json::json;

/// A writer that has the store open and one message in it.
fn writer(place: &Place) -> (Child, ChildStdin) {
    let words = place.words("append --topic live --lines --acks --path @/a --segment-size 64KiB");
    let mut child = command(&words).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\n").unwrap();
    let mut ack = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut ack).unwrap();
    assert!(ack.starts_with("live/0 #0"), "{ack}");
    (child, stdin)
}

fn files(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![place.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn looking_works_beside_a_writer_and_changes_nothing() {
    let place = Place::new();
    let (mut child, stdin) = writer(&place);
    assert_eq!(place.run("append --topic live x --json").error(9)["kind"], "locked");
    let message = place.run("read --topic live --json").object();
    assert_eq!(message["body"], "hello");
    assert_eq!(place.run("inspect --json").object()["queues"][0]["max"], 1);
    assert!(place.run("disks").text().contains("accepted"));
    assert!(place.run("clean --dry-run").text().contains("the last segment never goes"));
    let locked = place.run("clean --json").error(9);
    assert_eq!(locked["kind"], "locked");
    place.run("recover --json").error(9);
    place.run("destroy --yes --json").error(9);
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let before = files(&place);
    for line in ["read", "inspect", "disks", "clean --dry-run", "recover --read-only"] {
        place.run(line).text();
    }
    assert!(before == files(&place), "reading changed a file");
}

#[test]
fn inspect_shows_everything() {
    let place = Place::filled(2000);
    let found = place.run("inspect --json").object();
    let marks = &found["watermarks"];
    assert_eq!((&marks["start"], &found["was_clean"]), (&json!(0), &json!(true)));
    assert_eq!(marks["flushed"], marks["appended"]);
    assert_eq!(marks["indexed"], marks["appended"]);
    assert_eq!(found["segment_len_bytes"], 65_536);
    let directories = found["directories"].as_array().unwrap();
    assert_eq!(directories.len(), 2);
    let used = directories[0]["used_ratio"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&used));
    let segments = found["segments"].as_array().unwrap();
    let held: u64 = directories.iter().map(|row| row["segments"].as_u64().unwrap()).sum();
    assert_eq!(segments.len() as u64, held);
    let queue = json!({"topic": "web", "queue": 1, "min": 0, "max": 667});
    assert_eq!(found["queues"][1], queue);
    let text = place.run("inspect").text();
    for part in ["Directories", "Segments", "Queues", "closed cleanly", &place.text("b")] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn disks_say_what_comes_next() {
    let place = Place::filled(2000);
    let found = place.run("disks --json --retention 1h --clean-ratio 0.6").object();
    assert_eq!(found["retention_ms"], 3_600_000);
    assert_eq!(found["refused"], json!(null));
    let marks = &found["directories"][0]["thresholds"];
    assert_eq!((&marks["clean_ratio"], &marks["refuse_ratio"]), (&json!(0.6), &json!(0.9)));
    let next = &found["next"];
    assert_eq!((&next["drop"], &next["start"]), (&json!(0), &json!(null)));
    assert_eq!(next["segments"][0]["reason"], "kept_young");
    let text = place.run("disks --retention 1h --hours 4;16").text();
    for part in ["75/85/90 %", "retention  1h, deleting at hours 04;16", "expires in"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn cleaning_does_what_its_dry_run_says() {
    let place = Place::filled(2000);
    let young = place.run("clean --json").object();
    assert_eq!((&young["dropped"], &young["start"]), (&json!(0), &json!(0)));
    let plan = place.run("clean --dry-run --retention 0ms --json").object();
    let segments = plan["segments"].as_array().unwrap().clone();
    let count = segments.len() - 1;
    assert!(count > 1, "{plan}");
    assert_eq!(plan["dropped"], count);
    assert_eq!(segments[0]["reason"], "expired");
    assert_eq!(segments[count]["reason"], "kept_last");
    assert!(fs::exists(segments[0]["path"].as_str().unwrap()).unwrap());
    let text = place.run("clean --retention 0ms").text();
    assert!(text.contains(&format!("\n{count} segments went")), "{text}");
    for segment in &segments[..count] {
        assert!(!fs::exists(segment["path"].as_str().unwrap()).unwrap());
    }
    let start = &plan["start"];
    assert_eq!(place.run("inspect --json").object()["watermarks"]["start"], *start);
    let first = place.run("read --count 1 --json").object();
    assert!(first["position"].as_u64() >= start.as_u64());
    let gone = place.run("read --topic web --queue 0 --from 0 --count 1 --json");
    assert_eq!(gone.code, 0);
    assert!(gone.stderr.contains("are gone, going on at"), "{gone:?}");
}

#[test]
fn recover_reports() {
    let place = Place::filled(100);
    let clean = place.run("recover --json").object();
    assert_eq!((&clean["was_clean"], &clean["records"]), (&json!(true), &json!(0)));
    fs::remove_dir_all(place.path("store/consumequeue")).unwrap();
    let _ = fs::remove_file(place.path("store/.spanlog/ledger"));
    fs::write(place.path("store/abort"), "").unwrap();
    let look = place.run("recover --read-only --json").loud_object();
    assert_eq!((&look["was_clean"], &look["changed"]), (&json!(false), &json!(false)));
    assert!(!fs::exists(place.path("store/consumequeue")).unwrap());
    let done = place.run("recover").loud_text();
    assert!(done.contains("was not closed cleanly"), "{done}");
    assert!(done.contains("derived anew"), "{done}");
    assert_eq!(place.run("read --json").objects().len(), 100);
    assert_eq!(place.run("recover --json").object()["was_clean"], true);
}

#[test]
fn destroy_removes_the_store_and_nothing_else() {
    let place = Place::filled(100);
    fs::write(place.path("a/mine.txt"), "keep").unwrap();
    let asked = place.run("destroy --json");
    assert_eq!(asked.error(2)["kind"], "usage");
    let done = place.run("destroy --yes --json").object();
    assert_eq!(done["destroyed"], place.text("store"));
    assert!(done["segments"].as_u64().unwrap() > 0);
    assert!(!fs::exists(place.path("store")).unwrap());
    assert!(!fs::exists(place.path("b")).unwrap());
    assert_eq!(fs::read_to_string(place.path("a/mine.txt")).unwrap(), "keep");
    assert_eq!(fs::read_dir(place.path("a")).unwrap().count(), 1);
    place.run("destroy --yes --json").error(3);
}

#[test]
fn a_directory_drains_when_told() {
    let place = Place::filled(10);
    place.run("append --path @/a=draining --path @/b --topic t x").text();
    let found = place.run("inspect --json").object();
    let role = |at: usize| found["directories"][at]["role"].clone();
    assert_eq!((role(0), role(1)), (json!("draining"), json!("read-write")));
    assert_eq!(found["directories"][0]["takes_segments"], false);
}

#[test]
fn a_directory_has_marks_of_its_own() {
    let place = Place::filled(10);
    let line = "disks --path @/a=force:80%,floor:1GiB --path @/b --json";
    let found = place.run(line).object()["directories"].clone();
    let marks = |at: usize| {
        let marks = &found[at]["thresholds"];
        (marks["force_ratio"].clone(), marks["floor_bytes"].clone())
    };
    assert_eq!(marks(0), (json!(0.8), json!(1 << 30)));
    assert_eq!(marks(1), (json!(0.85), json!(0)));
    let wrong = place.run("disks --path @/a=clean:95% --path @/b --json").error(3);
    assert_eq!((&wrong["kind"], &wrong["path"]), (&json!("invalid"), &json!(place.text("a"))));
}

#[test]
fn a_bench_measures_and_leaves_nothing() {
    let place = Place::new();
    let line = "bench --in @/ --size 100 --messages 500 --threads 2 --batch 4 --json";
    let words: Vec<_> = place.words(line).into_iter().take(12).collect();
    let figures = command::run_with(&words, b"").objects();
    let names: Vec<_> = figures.iter().map(|figure| figure["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["append", "read_slices", "read_verified"]);
    for figure in &figures {
        assert_eq!(figure["messages"], 500, "{figure}");
        assert!(figure["messages_per_s"].as_u64().unwrap() > 0);
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
    let kept = place.run("bench --size 100 --messages 10 --durable");
    assert!(kept.text().contains("durable"));
    assert_eq!(place.run("read --topic spanlog_bench --json").objects().len(), 10);
}

#[test]
fn pages_and_completions_are_made() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = command::run_with(&["completions", shell], b"").text();
        assert!(text.contains("durability"), "{shell}");
    }
    let place = Place::new();
    let text = command::run_with(&["man"], b"").text();
    assert!(text.contains(".TH spanlog 1") && text.contains("poisoned"), "{text}");
    assert!(command::run_with(&["man", "read"], b"").text().contains("spanlog\\-read"));
    command::run_with(&["man", "--dir", &place.text("pages")], b"").text();
    assert!(fs::exists(place.path("pages/spanlog-append.1")).unwrap());
    assert!(fs::exists(place.path("pages/spanlog.1")).unwrap());
    let Ran { code, .. } = command::run_with(&["man", "nothing"], b"");
    assert_eq!(code, 2);
}
