//! Limits on what the engine asks of those who build on it.

use std::process::Command;

use serde_json::Value;
use spanlog_tests::source;

const MOST_DEPENDENCIES: usize = 6;

/// Runtimes that must not come in through the engine.
const RUNTIMES: [&str; 6] = ["tokio", "async-std", "smol", "futures", "rayon", "glommio"];

/// Names of the ordinary dependencies of the engine, from what `cargo metadata` prints. Those of
/// tests and of the concurrency model (`cfg(loom)`) are nobody else's burden.
fn dependencies(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let core = packages.iter().find(|package| package["name"] == "spanlog");
    let all = core.expect("the engine's package")["dependencies"].as_array().expect("a list");
    all.iter()
        .filter(|dependency| dependency["kind"].is_null() && dependency["target"] != "cfg(loom)")
        .map(|dependency| dependency["name"].as_str().expect("a name").to_owned())
        .collect()
}

fn faults(metadata: &Value) -> Vec<String> {
    let names = dependencies(metadata);
    let mut faults: Vec<String> =
        names.iter().filter(|name| RUNTIMES.contains(&name.as_str())).cloned().collect();
    if names.len() > MOST_DEPENDENCIES {
        faults.push(format!("{} dependencies: {}", names.len(), names.join(", ")));
    }
    faults
}

#[test]
fn the_engine_needs_little() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(source::workspace())
        .output()
        .expect("cargo runs");
    let metadata = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    assert_eq!(faults(&metadata), [""; 0]);
}

#[test]
fn too_many_dependencies_and_a_runtime_are_found() {
    let row = |name: &str| serde_json::json!({"name": name, "kind": null, "target": null});
    let with = |names: &[&str]| {
        let rows: Vec<Value> = names.iter().map(|name| row(name)).collect();
        serde_json::json!({"packages": [{"name": "spanlog", "dependencies": rows}]})
    };
    assert_eq!(faults(&with(&["a", "b", "c", "d", "e", "f"])), [""; 0]);
    assert_eq!(faults(&with(&["a", "b", "c", "d", "e", "f", "g"])).len(), 1);
    assert_eq!(faults(&with(&["tokio"])), ["tokio"]);
}

/// What `FORMAT.md` says a constant is.
fn documented(format: &str, name: &str) -> Option<String> {
    let row = format.lines().find(|line| line.starts_with(&format!("| {name} | ")))?;
    Some(row.split('|').nth(2)?.trim().to_owned())
}

/// The constants of the code that are not what `FORMAT.md` says.
fn out_of_step(format: &str) -> Vec<String> {
    use spanlog::record as r;
    let magic = |value: i32| format!("{value:08X}");
    let code = [
        ("MAGIC_V1", magic(r::MAGIC_V1)),
        ("MAGIC_V2", magic(r::MAGIC_V2)),
        ("MAGIC_PADDING", magic(r::MAGIC_PADDING)),
        ("PADDING_BYTES", r::PADDING_BYTES.to_string()),
        ("MIN_RECORD_BYTES", r::MIN_RECORD_BYTES.to_string()),
        ("MAX_TOPIC_BYTES", r::MAX_TOPIC_BYTES.to_string()),
        ("MAX_PROPERTIES_BYTES", r::MAX_PROPERTIES_BYTES.to_string()),
        ("SLOTS_BYTES", spanlog::disk::slots::Slots::LEN.to_string()),
        ("FRAME_HEAD_BYTES", r::FRAME_HEAD_BYTES.to_string()),
        ("FRAME_ALIGN_BYTES", r::FRAME_ALIGN_BYTES.to_string()),
        ("MAX_READERS", spanlog::MAX_READERS.to_string()),
        ("MAX_READER_NAME_BYTES", spanlog::MAX_READER_NAME_BYTES.to_string()),
    ];
    let differs = |(name, value): &(&str, String)| documented(format, name).as_ref() != Some(value);
    code.into_iter().filter(differs).map(|(name, value)| format!("{name} is {value}")).collect()
}

fn format_document() -> String {
    std::fs::read_to_string(source::workspace().join("FORMAT.md")).expect("FORMAT.md is there")
}

#[test]
fn the_format_document_is_in_step_with_the_code() {
    assert_eq!(out_of_step(&format_document()), [""; 0]);
}

#[test]
fn a_format_document_out_of_step_is_found() {
    let wrong = format_document().replace("| PADDING_BYTES | 8 |", "| PADDING_BYTES | 9 |");
    assert_eq!(out_of_step(&wrong), ["PADDING_BYTES is 8"]);
    let missing = format_document().replace("| MAGIC_V2 |", "| MAGIC |");
    assert_eq!(out_of_step(&missing), ["MAGIC_V2 is DAA320AB"]);
}
