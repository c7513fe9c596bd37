//! Every benchmark runs, with tiny sizes, and says what it measured in the form that is promised.
//! What the figures are is no matter of a test: the machine may be busy.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const NAMES: [&str; 31] = [
    "append_128",
    "append_128_no_keys",
    "append_1k",
    "append_1k_no_keys",
    "append_1k_two_writers",
    "batch_16x128",
    "durable_groups_of_100",
    "read_1k_slices",
    "read_1k_checked",
    "reopen_killed_4g",
    "reopen_clean_4g",
    "anonymous_mib",
    "device_bytes_per_durable_1k",
    "wake",
    "tag_filter",
    "key_lookup",
    "time_lookup",
    "append_1k_two_keys",
    "rebuild_4g",
    "verify",
    "queue_push_8k",
    "queue_pair_8k",
    "queue_push_128",
    "queue_push_1k",
    "queue_push_1k_two_producers",
    "queue_pop_128",
    "queue_end_to_end_1k",
    "queue_end_to_end_1k_processor",
    "queue_push_1k_slowest_in_1000",
    "queue_reopen_516m",
    "queue_resident_mib",
];

fn run(dir: &Path, names: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spanlog-benches"))
        .args(names)
        .env("BENCH_QUICK", "1")
        .env("BENCH_DIR", dir.join("data"))
        .env("BENCH_JSON", dir.join("bench.json"))
        .output()
        .expect("the benchmarks were built")
}

#[test]
fn every_benchmark_runs_and_says_what_it_measured() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smoke");
    let output = run(&dir, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(dir.join("bench.json")).expect("the figures were written");
    let figures: Vec<Value> = serde_json::from_str(&text).expect("a list");
    let names: Vec<_> = figures.iter().map(|figure| figure["name"].as_str().unwrap()).collect();
    // The library for C is another package's, which need not be built.
    let own: Vec<_> = names.iter().copied().filter(|name| *name != "c_append_128").collect();
    assert_eq!(own, NAMES);
    figures.iter().for_each(check);
    let table = String::from_utf8(output.stdout).expect("a table");
    assert!(NAMES.iter().all(|name| table.contains(name)), "{table}");
    let left = fs::read_dir(dir.join("data")).expect("the data directory stays").count();
    assert_eq!(left, 0, "no data is left behind");
}

/// Five fields and no other, numbers that are some, and a ratio wherever there is a baseline.
fn check(figure: &Value) {
    // Their order depends on how the JSON crate was built for the other packages.
    let mut fields: Vec<_> = figure.as_object().expect("an object").keys().collect();
    fields.sort();
    assert_eq!(fields, ["baseline", "name", "ratio", "unit", "value"], "{figure}");
    let value = figure["value"].as_f64().expect("a number");
    assert!(value.is_finite() && value >= 0.0, "{figure}");
    assert!(!figure["unit"].as_str().expect("a text").is_empty(), "{figure}");
    match (figure["baseline"].as_f64(), figure["ratio"].as_f64()) {
        (None, None) => assert!(figure["baseline"].is_null() && figure["ratio"].is_null()),
        (Some(baseline), Some(ratio)) => {
            assert!((value / baseline - ratio).abs() <= ratio * 0.01, "{figure}");
        }
        _ => panic!("a ratio without a baseline, or the other way round: {figure}"),
    }
}

#[test]
fn an_unknown_figure_is_refused_before_anything_is_measured() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unknown");
    let output = run(&dir, &["append_129"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("append_129"));
    assert!(!dir.exists(), "nothing was made");
}
