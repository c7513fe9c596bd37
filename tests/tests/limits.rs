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
