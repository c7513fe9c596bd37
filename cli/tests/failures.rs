//! Exit codes and errors, as text and as objects.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

mod command;

use std::fs;
use std::process::Command;

use command::{Place, run_with};
use serde_json::json;

#[test]
fn usage_errors() {
    let none: [&str; 0] = [];
    assert_eq!(run_with(&none, b"").code, 2);
    let rows = [
        "append --topic t",
        "append --topic t --queues 0 x",
        "append --topic t --queue 1 --queues 2 x",
        "append --topic t --tag-column 0 --lines",
        "append --topic t --tag-column 1 x",
        "append --topic t --batch 2 x",
        "append --topic t --body-file a x",
        "append --topic t --property novalue x",
        "append --topic t --segment-size 50M x",
        "append --topic t --retention 72 x",
        "append --topic t --clean-ratio 75 x",
        "append --topic t --hours 24 x",
        "append --topic t --placement best x",
        "append --topic t --path @/a=drainig x",
        "append --topic t --root @/r --conf @/c x",
        "read --queue 1",
        "read --bodies --json",
        "frobnicate",
    ];
    let place = Place::new();
    for row in rows {
        let mut words = place.words(row);
        words.push("--json".into());
        let error = run_with(&words, b"").error(2);
        assert_eq!(error["kind"], "usage", "{row}");
    }
    assert!(!fs::exists(place.path("store")).unwrap(), "a usage error makes nothing");
    let unnamed = run_with(&["read", "--json"], b"").error(2);
    assert!(unnamed["message"].as_str().unwrap().contains("--root"));
    assert_eq!(run_with(&["--help"], b"").code, 0);
    assert_eq!(run_with(&["append", "--help"], b"").code, 0);
}

#[test]
fn invalid_and_too_large() {
    let place = Place::new();
    let error = place.run("read --json").error(3);
    let expected = json!({
        "kind": "invalid", "message": "there is no store", "path": place.text("store"),
        "offset": null, "limit": null, "range": null,
    });
    assert_eq!(error, expected);
    let text = place.run("read");
    assert_eq!((text.code, text.stdout.len()), (3, 0));
    assert!(text.stderr.starts_with("error: invalid: there is no store: "), "{text:?}");
    for topic in ["a/b", "..", "a\u{e9}"] {
        let line = format!("append --topic {topic} x --segment-size 64KiB --json");
        assert_eq!(place.run(&line).error(3)["kind"], "invalid");
    }
    place.run("append --topic t x --clean-ratio 0.9 --json").error(3);
    let large =
        place.run_with("append --topic t --max-body 10B --body-file - --json", b"12345678901");
    let error = large.error(4);
    assert_eq!((&error["kind"], &error["limit"]), (&json!("too_large"), &json!(10)));
    assert!(error["message"].as_str().unwrap().contains("11 bytes, 10 are"), "{error}");
    fs::write(place.path("big"), [0; 100]).unwrap();
    let error = place.run("append --topic t --max-body 10B --body-file @/big --json").error(4);
    assert_eq!(error["offset"], 100);
    let lines =
        place.run_with("append --topic t --max-body 4B --lines --json", b"1234\n12345\n1\n");
    assert!(lines.error(4)["message"].as_str().unwrap().contains("line 2 of standard input"));
    assert_eq!(place.run("read --topic t --json").objects().len(), 1);
    assert_eq!(place.run("read --topic nope --json").error(3)["kind"], "invalid");
    assert_eq!(place.run("read --topic t --queue 9 --json").error(3)["kind"], "invalid");
}

#[test]
fn input_that_is_not_there_makes_no_store() {
    let place = Place::new();
    let error = place.run("append --topic t --lines @/nope --json").error(1);
    assert_eq!((&error["kind"], &error["path"]), (&json!("other"), &json!(place.text("nope"))));
    place.run("append --topic t --body-file @/nope --json").error(1);
    place.run("append --topic t --lines @/ --json").error(1);
    place.run("inspect --conf @/nope --json").error(1);
    assert!(!fs::exists(place.path("store")).unwrap());
}

/// An empty folder got a file `lock` and was told that it lacks a directory of its own.
#[test]
fn an_empty_folder_is_no_store() {
    let place = Place::new();
    fs::create_dir(place.path("store")).unwrap();
    for row in ["inspect", "read", "disks", "clean", "recover", "destroy --yes"] {
        let error = place.run(&format!("{row} --json")).error(3);
        assert_eq!(error["message"], "there is no store", "{row}");
        assert_eq!(fs::read_dir(place.path("store")).unwrap().count(), 0, "{row}");
    }
}

/// A process that makes a file longer than it may is killed by the system (SIGXFSZ).
#[test]
fn a_limit_on_file_size_is_full_and_no_signal() {
    let place = Place::new();
    let mut words = vec!["-c", "ulimit -f 200; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_spanlog")];
    let line = place.words("append --topic t --segment-size 1MiB x --json");
    words.extend(line.iter().map(String::as_str));
    let output = Command::new("sh").args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("ulimit -f") && text.contains("limit 102400"), "{error}");
}

#[test]
fn descriptors_are_not_needed_for_each_segment_and_queue() {
    let place = Place::new();
    let lines: String = (0..3000).map(|n| format!("line {n} of many\n")).collect();
    let line = "append --topic web --lines --queues 200 --segment-size 4KiB --json --no-acks";
    assert_eq!(place.run_with(line, lines.as_bytes()).object()["appended"], 3000);
    assert!(fs::read_dir(place.path("store/commitlog")).unwrap().count() > 64);
    let few = |line: &str| {
        let binary = env!("CARGO_BIN_EXE_spanlog");
        let mut words = vec!["-c", "ulimit -n 40; exec \"$@\"", "sh", binary];
        let line = place.words(line);
        words.extend(line.iter().map(String::as_str));
        let output = Command::new("sh").args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(few("read --topic web --verify --summary --json")["messages"], 3000);
    few("append --topic web --durable --json one-more");
    assert_eq!(few("read --topic web --verify --summary --json")["messages"], 3001);
}

#[test]
fn a_directory_that_is_missing_is_offline() {
    let place = Place::filled(2000);
    fs::rename(place.path("b"), place.path("elsewhere")).unwrap();
    let error = place.run("inspect --json").error(7);
    assert_eq!((&error["kind"], &error["path"]), (&json!("offline"), &json!(place.text("b"))));
    let text = place.run("inspect");
    assert!(text.stderr.contains("hint: --allow-offline"), "{text:?}");
    let found = place.run("inspect --allow-offline --json").object();
    assert!(!found["offline"].as_array().unwrap().is_empty(), "{found}");
    let read = place.run("read --allow-offline --verify --summary --json");
    assert_eq!(read.error(7)["kind"], "offline");
    let summary = String::from_utf8(read.stdout).unwrap();
    assert!(summary.contains("\"damaged\":0"), "{summary}");
    fs::rename(place.path("elsewhere"), place.path("b")).unwrap();
    assert_eq!(place.run("read --json").objects().len(), 2000);
}

#[test]
fn a_directory_of_another_store_is_foreign() {
    let place = Place::filled(10);
    let line = "append --root @/other --path @/b --topic t x --json";
    let error = place.run(line).error(8);
    assert_eq!((&error["kind"], &error["path"]), (&json!("foreign"), &json!(place.text("b"))));
}

#[test]
fn damage_is_corrupt_and_verify_goes_on_behind_it() {
    let place = Place::filled(300);
    let message = place.run("read --count 100 --json").objects().remove(99);
    let segment = place.run("inspect --json").object()["segments"][0]["path"].clone();
    let segment = segment.as_str().unwrap();
    let position = message["position"].as_u64().unwrap() as usize;
    let mut bytes = fs::read(segment).unwrap();
    let at = bytes[position..].windows(4).position(|w| w == b"line").unwrap();
    bytes[position + at] ^= 1;
    fs::write(segment, bytes).unwrap();
    let read = place.run("read --verify --summary --json");
    let error = read.error(11);
    assert_eq!((&error["kind"], &error["path"]), (&json!("corrupt"), &json!(segment)));
    assert_eq!(error["offset"], message["position"]);
    let summary: serde_json::Value = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!((&summary["messages"], &summary["damaged"]), (&json!(299), &json!(1)));
    let text = place.run("read --verify --summary");
    assert_eq!(text.code, 11);
    assert!(text.stderr.contains("error: corrupt: 1 message cannot be read"), "{text:?}");
}

/// A file system of one mebibyte; nothing where this machine lets nobody mount.
fn small_disk(place: &Place) -> bool {
    let path = place.path("small");
    fs::create_dir(&path).unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(&path).output();
    mount.is_ok_and(|output| output.status.success())
}

#[test]
fn a_full_disk_refuses_appends_and_serves_reads() {
    let place = Place::new();
    if !small_disk(&place) {
        println!("skipped: nothing can be mounted here");
        return;
    }
    let input = "0123456789".repeat(10) + "\n";
    let line = "append --root @/small/s --path @/small/d --segment-size 64KiB --topic t --lines \
        --queue-file-size 2000B --no-forced-clean --json";
    let full = place.run_with(line, input.repeat(10_000).as_bytes());
    let error = full.error(5);
    let acks = String::from_utf8(full.stdout).unwrap().lines().count();
    let read = place.run("read --root @/small/s --verify --summary --json").loud_object();
    let disks = place.run("disks --root @/small/s --json").loud_object();
    let unmounted = Command::new("umount").arg(place.path("small")).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert_eq!(error["kind"], "full");
    assert!(acks > 1000, "{acks}");
    assert_eq!(read["messages"], acks);
    assert!(disks["directories"][0]["used_ratio"].as_f64().unwrap() > 0.8, "{disks}");
}

#[test]
fn a_broker_conf_names_the_store() {
    let place = Place::new();
    let conf = format!(
        "brokerName=a\nstorePathRootDir={0}/s\nstorePathCommitLog={0}/d0, {0}/d1 ,{0}/d2\n\
         readOnlyCommitLogStorePaths={0}/old\nmappedFileSizeCommitLog=65536\n\
         mappedFileSizeConsumeQueue=2000\ndiskMaxUsedSpaceRatio=70\nbrokerIP1=10.0.0.9\n",
        place.text("")
    );
    fs::write(place.path("broker.conf"), &conf).unwrap();
    let input = "x\n".repeat(3000);
    place.run_with("append --conf @/broker.conf --topic t --lines", input.as_bytes()).text();
    let found = place.run("inspect --conf @/broker.conf --json --clean-ratio 50%").object();
    let rows = found["directories"].as_array().unwrap();
    let name =
        |path: &serde_json::Value| path.as_str().unwrap().rsplit('/').next().map(str::to_owned);
    let names: Vec<_> = rows.iter().filter_map(|row| name(&row["path"])).collect();
    assert_eq!(names, ["d0", "d1", "d2", "old"]);
    assert_eq!((&rows[3]["role"], &rows[3]["segments"]), (&json!("draining"), &json!(0)));
    assert!(rows[..3].iter().all(|row| row["segments"].as_u64() > Some(0)), "{rows:?}");
    assert_eq!(rows[0]["thresholds"]["clean_ratio"], 0.5, "the command line wins");
    assert_eq!(found["segment_len_bytes"], 65_536);
    fs::write(place.path("broker.conf"), conf + "\ndiskSpaceWarningLevelRatio=95\n").unwrap();
    let error = place.run("inspect --conf @/broker.conf --json").error(3);
    let text = "line 10: diskSpaceWarningLevelRatio is \"95\": it must be a whole number \
        from 35 to 90, in percent";
    assert_eq!(error["message"], text);
    assert_eq!(error["path"], place.text("broker.conf"));
}
