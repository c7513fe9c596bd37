//! Every example runs, and says what it promises.

use std::path::Path;
use std::process::Command;

fn run(program: &str, dir: &Path) -> String {
    let output = Command::new(program).arg(dir).output().expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn quickstart_reads_back_what_it_appended() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let text = run(env!("CARGO_BIN_EXE_quickstart"), dir.path());
    assert!(text.contains("coffee is message 1 at "), "{text}");
    assert!(text.contains("2: cocoa [drink]"), "{text}");
}

#[test]
fn durable_flushes_before_it_says_so() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let text = run(env!("CARGO_BIN_EXE_durable"), dir.path());
    assert!(text.contains("messages up to 101 are durable"), "{text}");
}

#[test]
fn many_disks_spreads_segments_and_drains_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let text = run(env!("CARGO_BIN_EXE_many-disks"), dir.path());
    assert!(text.contains("draining"), "{text}");
    assert!(text.contains("4 queues over 6 segments"), "{text}");
}

#[test]
fn backlog_grows_and_drains_in_bounded_memory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let text = run(env!("CARGO_BIN_EXE_backlog"), dir.path());
    assert!(text.contains("64 MiB wait"), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.contains(" 0 MiB wait")), "{text}");
    let resident = |line: &str| line.rsplit(' ').nth(1)?.parse::<u64>().ok();
    let most_kib = text.lines().filter_map(resident).max().expect("the process tells its memory");
    assert!(most_kib < 32 << 10, "16 MiB of maps and the program: {text}");
}
