//! The engine in a simulated world: histories drawn by seed, with crashes, faults, full disks and
//! clocks that jump, each checked against a model of what must be there.
//!
//! A failing history names its seed. To play it again:
//!
//! ```text
//! SPANLOG_SEED=42 cargo test -p spanlog-tests --test simulation
//! ```
//!
//! `SIM_SEEDS=10000` plays that many fresh seeds besides the fixed ones, and prints which.

use spanlog_tests::fault_disk::Lie;
use spanlog_tests::workload::simulate;
use spanlog_tests::world::Settings;

/// Histories that every run plays.
const FIXED_SEEDS: u64 = 10_000;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, no number")))
}

/// Plays every seed and tells the first failure, and how many there were.
fn play(seeds: impl Iterator<Item = u64>, settings: Settings) {
    let mut failures = seeds.filter_map(|seed| simulate(seed, settings).err());
    if let Some(first) = failures.next() {
        let more = failures.count();
        panic!("{first}\n{more} more seeds fail; again: SPANLOG_SEED=<seed>, see the file's head");
    }
}

#[test]
fn what_was_promised_is_there() {
    if let Some(seed) = number("SPANLOG_SEED") {
        return play(std::iter::once(seed), Settings::default());
    }
    play(0..FIXED_SEEDS, Settings::default());
    let fresh = number("SIM_SEEDS").unwrap_or(0);
    if fresh > 0 {
        let first = fastrand::u64(..u64::MAX - fresh);
        println!("fresh seeds: {first}..{}", first + fresh);
        play(first..first + fresh, Settings::default());
    }
}

/// The checks can fail: some seed among the first ones must notice a disk that lies.
fn is_caught(lie: Lie) {
    let settings = Settings { lie: Some(lie) };
    let caught = (0..FIXED_SEEDS).find(|&seed| simulate(seed, settings).is_err());
    let seed = caught.unwrap_or_else(|| panic!("no seed notices that {lie:?} is a lie"));
    println!("seed {seed} notices {lie:?}");
}

#[test]
fn a_disk_that_lies_about_flushing_is_caught() {
    is_caught(Lie::Sync);
}

#[test]
fn a_disk_that_lies_about_names_is_caught() {
    is_caught(Lie::SyncDir);
}

#[test]
fn a_cut_that_is_not_zeroed_is_caught() {
    is_caught(Lie::Zero);
}

/// For work on the engine: one line for each seed that fails.
#[test]
#[ignore = "a report, no check"]
fn every_failure() {
    for seed in 0..number("SIM_SEEDS").unwrap_or(FIXED_SEEDS) {
        if let Err(failure) = simulate(seed, Settings::default()) {
            println!("{}", failure.lines().next().unwrap_or_default());
        }
    }
}
