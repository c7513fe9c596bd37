//! The shared scenarios of `tests/scenarios`, run against the engine: what every language layer
//! must do, told once. The format is in the README there.

mod answers;
mod consumers;
mod queue_mode;
mod settings;
mod values;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use spanlog::record::MessageView;
use spanlog_tests::source;

use crate::values::{bytes_of_hex, integer};
use crate::world::World;

fn folder() -> PathBuf {
    source::workspace().join("tests/scenarios")
}

fn load(name: &str) -> Value {
    let path = folder().join(format!("{name}.json"));
    let text = fs::read_to_string(path).expect("the scenario is there");
    serde_json::from_str(&text).expect("a scenario is JSON")
}

/// Runs a scenario; says which step did not do what it should.
fn run(scenario: &Value) -> Result<(), String> {
    let mut world = World::new();
    for (number, step) in scenario["steps"].as_array().expect("steps").iter().enumerate() {
        world.step(step).map_err(|fault| format!("step {number}: {step}\n{fault}"))?;
    }
    Ok(())
}

/// Declares a test for each scenario.
macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                run(&load(stringify!($name))).unwrap();
            }
        )*
    };
}

scenarios! {
    append_and_read,
    batches,
    closed,
    corrupt,
    cursors,
    cursors_again,
    cursors_gone,
    cursors_seek,
    directories,
    full,
    gone,
    high_offsets,
    invalid,
    largest_and_empty,
    locked,
    lookups,
    no_index,
    queue_full,
    queue_mode,
    queue_readers,
    read_only,
    repair,
    reopen,
    retention,
    times,
    unicode,
    waits,
}

#[test]
fn every_scenario_is_run() {
    let files = fs::read_dir(folder()).expect("the folder").map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let names: BTreeSet<_> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, NAMES.iter().map(|&name| name.to_owned()).collect());
}

/// What a scenario puts on disk is what the engine writes: whole, and at home.
#[test]
fn seeded_records_are_whole() {
    let mut seeded = 0;
    for name in NAMES {
        let scenario = load(name);
        let steps = scenario["steps"].as_array().expect("steps").iter();
        for step in steps.filter(|step| step["op"] == "write_file") {
            let path = step["path"].as_str().expect("a path");
            let base: u64 = path.rsplit('/').next().unwrap().parse().expect("a segment's name");
            for part in step["parts"].as_array().expect("parts") {
                let bytes = bytes_of_hex(&part["hex"]);
                let view = MessageView::parse(&bytes).expect("a record");
                view.verify().expect("its checksums match");
                let at = u64::try_from(integer(&part["at"]).unwrap()).unwrap();
                assert_eq!(view.position(), base + at, "{name}");
                seeded += 1;
            }
        }
    }
    assert!(seeded > 0, "nothing is seeded any more");
}

#[test]
fn a_wrong_expectation_is_found() {
    let open = json!({"op": "open", "root": "s"});
    let message = json!({"topic": "t", "queue": 0, "body": "b"});
    let append = |more: Value| {
        let mut step = json!({"op": "append", "message": message});
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"steps": [open, step]})
    };
    assert_eq!(run(&append(json!({"expect": {"queue_offset": 0}}))), Ok(()));
    for wrong in [
        json!({"expect": {"queue_offset": 1}}),
        json!({"expect": {"offset": 0}}),
        json!({"error": {"code": "invalid"}}),
    ] {
        assert!(run(&append(wrong.clone())).is_err(), "{wrong}");
    }
    let read = |body: Value| {
        let messages = json!({"messages": [{"body": body}]});
        let read = json!({"op": "read", "topic": "t", "queue": 0, "from": 0, "expect": messages});
        json!({"steps": [open, append(json!({}))["steps"][1], {"op": "catch_up"}, read]})
    };
    assert_eq!(run(&read(json!("b"))), Ok(()));
    assert_eq!(run(&read(json!({"hex": "62"}))), Ok(()));
    assert_eq!(run(&read(json!({"fill": "b", "bytes": 1}))), Ok(()));
    assert!(run(&read(json!("c"))).is_err());
    let unknown = json!({"steps": [{"op": "fly"}]});
    assert!(run(&unknown).unwrap_err().contains("fly"));
}
