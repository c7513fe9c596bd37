//! Looking after a store: verify, repair, dump, export, import, copy and map.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod command;

use std::fs;
use std::os::unix::fs::FileExt;

use command::{Place, Ran, run_with};
use serde_json::{Value, json};

/// Overwrites bytes of a file.
fn damage(path: &str, at: u64, bytes: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// The objects on standard output, whatever the exit code.
fn lines(ran: &Ran) -> Vec<Value> {
    let text = String::from_utf8(ran.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bodies(place: &Place, store: &str) -> Vec<u8> {
    place.run(&format!("read --bodies --root @/{store}")).stdout
}

#[test]
fn a_sound_store_is_verified() {
    let place = Place::filled(2000);
    let sum = place.run("verify --json").object();
    assert_eq!((&sum["sound"], &sum["records"]), (&json!(true), &json!(2000)));
    assert_eq!((&sum["damages"], &sum["was_closed"]), (&json!(0), &json!(true)));
    let text = place.run("verify").text();
    assert!(text.starts_with("everything is sound; read 2,000 records"), "{text}");
    let plan = place.run("repair --json").object();
    assert_eq!((&plan["actions"], &plan["sound"]), (&json!([]), &json!(true)));
    place.run("verify --root @/nothing --json").error(3);
}

#[test]
fn damage_is_told_planned_and_mended() {
    let place = Place::filled(2000);
    let segment = place.text("a/00000000000000000000");
    damage(&segment, 300, b"XXXX");
    let told = place.run("verify --json");
    assert_eq!((told.code, &*told.stderr), (1, ""));
    let found = lines(&told);
    assert_eq!((&found[0]["kind"], &found[0]["damage"]), (&json!("record"), &json!(true)));
    assert_eq!(found[0]["path"], segment);
    let at = found[0]["offset"].as_u64().unwrap();
    assert!(at <= 300 && 300 < at + found[0]["len_bytes"].as_u64().unwrap());
    assert_eq!(found[1]["sound"], false);

    let before = fs::read(&segment).unwrap();
    let plan = place.run("repair");
    assert_eq!(plan.code, 1);
    let text = String::from_utf8(plan.stdout).unwrap();
    for part in ["What --apply would do", "1. save ", "2. derive the queues anew", "nothing was"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(fs::read(&segment).unwrap() == before, "a plan changes nothing");

    let mended = place.run("repair --apply --json").loud_object();
    assert_eq!((&mended["applied"], &mended["sound"]), (&json!(true), &json!(true)));
    let saved = fs::read(mended["saved"][0].as_str().unwrap()).unwrap();
    assert_eq!(saved, before[at as usize..at as usize + saved.len()]);
    place.run("verify").text();
    assert!(place.run("repair --apply").text().contains("nothing to do"));
    let left = place.run("read --summary --verify --json").object();
    assert_eq!((&left["messages"], &left["damaged"]), (&json!(1999), &json!(0)));
}

#[test]
fn a_damaged_registry_needs_its_directories_named() {
    let place = Place::filled(100);
    damage(&place.text("store/.spanlog/store"), 12, b"X");
    let told = place.run("verify --json");
    assert_eq!((told.code, &lines(&told)[0]["kind"]), (1, &json!("registry")));
    let named = place.run("repair --apply --json --path @/a --path @/b").loud_object();
    assert_eq!(named["actions"][0]["action"], "rewrite_registry");
    place.run("verify").text();
}

#[test]
fn every_kind_of_file_is_dumped() {
    let place = Place::filled(2000);
    let records = place.run("dump @/a/00000000000000000000 --json --root x");
    assert_eq!(records.code, 2, "a file is dumped by itself");
    let dump = |line: &str| {
        let words: Vec<_> = place.words(&format!("dump {line} --root x"));
        run_with(&words[..words.len() - 2], b"")
    };
    let rows = dump("@/a/00000000000000000000 --json").objects();
    assert_eq!(rows.last().unwrap()["what"], "padding");
    let sum: u64 = rows.iter().map(|row| row["len"].as_u64().unwrap()).sum();
    assert_eq!(sum, 65_536, "every byte is explained");
    let topic = rows[0]["fields"].as_array().unwrap();
    let field = |name: &str| topic.iter().find(|field| field["name"] == name).unwrap();
    assert_eq!(field("topic")["value"], "web");
    assert_eq!(field("body")["value"], "INFO key-0 line 0");
    let lens: u64 = topic.iter().map(|field| field["len"].as_u64().unwrap()).sum();
    assert_eq!(rows[0]["len"], lens, "every byte of a record belongs to a field");

    let units = dump("@/store/consumequeue/web/1/00000000000000000000 --json").objects();
    assert_eq!((units.len(), &units[0]["what"]), (667, &json!("unit")));
    assert_eq!(dump("@/store/checkpoint --json").objects()[0]["what"], "checkpoint");
    let slots = dump("@/store/.spanlog/marks --json").objects();
    assert_eq!((slots.len(), &slots[0]["damage"]), (2, &json!(null)));
    let ledger = dump("@/store/.spanlog/queues --json").objects();
    assert_eq!((ledger.len(), &ledger[1]["what"]), (4, &json!("queue")));
    assert!(dump("@/store/.spanlog/store").text().contains("segment_len 65536"));
    let text = dump("@/a/00000000000000000000 --count 1").text();
    assert!(text.contains("store time") && text.lines().count() > 10, "{text}");

    damage(&place.text("a/00000000000000000000"), 300, b"XXXX");
    let rows = dump("@/a/00000000000000000000 --json").objects();
    assert_eq!(rows.iter().filter(|row| !row["damage"].is_null()).count(), 1);
    assert_eq!(rows.last().unwrap()["what"], "padding", "it goes on behind damage");
}

/// Bodies of all kinds, tags, keys and properties with anything in them.
fn varied(place: &Place) {
    let long = "x".repeat(100_000);
    let bodies: [&[u8]; 6] = [
        b"",
        b"plain",
        "caf\u{e9} \u{1F600}".as_bytes(),
        b"\xFF\x00\x01",
        b"a\nb\r\n",
        long.as_bytes(),
    ];
    for (number, body) in bodies.iter().enumerate() {
        let words = [
            "append",
            "--topic",
            "t|%_-1",
            "--queue",
            if number % 2 == 0 { "0" } else { "7" },
            "--tags",
            "a b",
            "--keys",
            "k1 k\u{e9}2",
            "--property",
            "name=va lue\u{1F600}",
            "--body-file",
            "-",
            "--segment-size",
            "256KiB",
            "--root",
            &place.text("store"),
        ];
        assert_eq!(run_with(&words, body).code, 0);
    }
}

/// What an import keeps of a line: all but what is the store's own.
fn own(line: &Value) -> Value {
    let mut line = line.clone();
    for name in ["position", "stored_ms", "store_host"] {
        line.as_object_mut().unwrap().remove(name);
    }
    line
}

#[test]
fn what_is_exported_is_imported_as_it_was() {
    let place = Place::new();
    varied(&place);
    let exported = place.run("export").text();
    let file = place.text("all.jsonl");
    let said = place.run(&format!("export --output {file} --json")).object();
    assert_eq!(said["messages"], 6);
    assert_eq!(fs::read_to_string(&file).unwrap(), exported);
    let imported = place.run(&format!("import {file} --root @/other --segment-size 256KiB --json"));
    assert_eq!(imported.object()["messages"], 6);
    let again = place.run("export --root @/other").objects();
    let first: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        again.iter().map(own).collect::<Vec<_>>(),
        first.iter().map(own).collect::<Vec<_>>()
    );
    assert!(bodies(&place, "other") == bodies(&place, "store"));
    assert!(first.iter().any(|line| line["body_base64"] == "/wAB"), "{exported}");
    place.run("verify --root @/other").text();
    // A file is never overwritten, and a bad line names its number.
    assert_eq!(place.run(&format!("export --output {file}")).code, 1);
    let bad = place.run_with("import - --json", b"{\"topic\":\"a\",\"queue\":0}\n{\"topic\":1}\n");
    let error = bad.error(3);
    assert!(error["message"].as_str().unwrap().contains("line 2"), "{error}");
}

#[test]
fn a_copy_has_the_same_messages_elsewhere() {
    let place = Place::filled(2000);
    let line = "copy --to @/new --to-path @/c --to-path @/d --to-segment-size 16KiB --json";
    let copied = place.run(line).object();
    assert_eq!((&copied["records"], &copied["sound"]), (&json!(2000), &json!(true)));
    assert_eq!(copied["segment_len_bytes"], 16_384);
    let messages = |root: &str| {
        let lines = place.run(&format!("export --root @/{root}")).objects();
        let strip = |mut line: Value| {
            line.as_object_mut().unwrap().remove("position");
            line
        };
        lines.into_iter().map(strip).collect::<Vec<_>>()
    };
    // Offsets, store times, ids and properties stay.
    assert_eq!(messages("new"), messages("store"));
    let inspected = place.run("inspect --root @/new --json").object();
    assert_eq!(inspected["directories"].as_array().unwrap().len(), 2);
    assert_eq!(place.run(line).code, 3, "there is a store now");
    // And it goes on.
    place.run("append --root @/new --topic web --queue 0 more").text();
    place.run("verify --root @/new").text();
}

#[test]
fn a_map_is_one_page_that_needs_nothing() {
    let place = Place::filled(2000);
    let said = place.run("map --output @/map.html --json").object();
    let page = fs::read_to_string(place.path("map.html")).unwrap();
    assert_eq!(said["bytes"], page.len());
    for part in ["<svg", "start", "appended", "prefers-color-scheme: dark", "takes segments"] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    for foreign in ["<script", "http:", "https:", "url(", "@import", "<link", "<img"] {
        assert!(!page.contains(foreign), "the page needs {foreign}");
    }
    let blocks = page.matches("<title>0000").count();
    assert_eq!(said["segments"], blocks, "one block for each segment");
    // The same on standard output, but for the time.
    let untimed = |page: &str| {
        let lines = page.lines().filter(|line| !line.contains("spanlog map, drawn"));
        lines.filter(|line| !line.contains("ms old")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(untimed(&place.run("map").text()), untimed(&page));
}

/// A cursor is a mark where its first message lies that it has not acknowledged.
#[test]
fn a_map_shows_cursors() {
    let place = Place::filled(900);
    let text =
        r#"{"offsetTable":{"web@billing":{0:150,1:200,2:300},"web@done":{0:300,1:300,2:300}}}"#;
    place.run_with("cursors import", text.as_bytes()).text();
    let page = place.run("map").text();
    let marks =
        page.lines().filter(|line| line.contains("class=\"cursor\"") && line.contains("<path"));
    let [billing, done] = &*marks.collect::<Vec<_>>() else { panic!("two marks") };
    assert!(billing.contains("billing of web: position "), "{billing}");
    assert!(billing.contains("250 messages behind"), "{billing}");
    assert!(billing.contains("queue 1: at 200 of 300"), "{billing}");
    assert!(done.contains("done of web: position "), "{done}");
    let x = |mark: &str| {
        let rest = mark.split_once("<path d=\"M").unwrap().1;
        rest.split_once(' ').unwrap().0.parse::<f64>().unwrap()
    };
    assert!(x(billing) < x(done) && x(done) > 980.0, "{} {}", x(billing), x(done));
}

/// As a broker is configured: the root and the directories come from its file.
#[test]
fn a_store_is_looked_after_by_its_brokers_configuration() {
    let place = Place::filled(500);
    let conf = format!(
        "storePathRootDir={}\nstorePathCommitLog={},{}\n",
        place.text("store"),
        place.text("a"),
        place.text("b")
    );
    fs::write(place.path("broker.conf"), conf).unwrap();
    assert_eq!(place.run("verify --conf @/broker.conf --json").object()["records"], 500);
    assert_eq!(place.run("repair --conf @/broker.conf --json").object()["actions"], json!([]));
    assert_eq!(place.run("export --conf @/broker.conf").objects().len(), 500);
    assert!(place.run("map --conf @/broker.conf").text().contains("</html>"));
}
