//! The benchmarks: `make bench`, or `scripts/bench.sh NAME...` for some of them.
//!
//! Every figure stands beside its baseline, measured in the same run in turns, after guest memory
//! was warmed; see `harness`. Messages are whole ones: a topic of 16 characters, tags, one key, one
//! property, a unique id made by the store, both checksums, eight queues. **Every time of
//! appending ends when the queue units are readable too** (`catch_up` returned). Stores have the
//! library's defaults, a key index among them, but where a name says otherwise.
//!
//! `BENCH_QUICK=1` runs everything with tiny sizes: it shows that the benchmarks run, its figures
//! mean nothing. `BENCH_DIR` is where the data goes, `target/bench` by default.

mod append;
mod c;
mod device;
mod harness;
mod load;
mod lookup;
mod queue;
mod read;
mod rebuild;
mod reopen;
mod verify;
mod wake;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use harness::{Figure, Goal, Outcome, Row, Setup, report, write_json};

/// What is measured, in the order in which it is shown.
const ROWS: [Row; 32] = [
    Row { name: "append_128", unit: "msgs/s", goal: Goal::Beat { ratio: 4.0, value: 3.5e6 } },
    Row {
        name: "append_128_no_keys",
        unit: "msgs/s",
        goal: Goal::Beat { ratio: 4.0, value: 3.5e6 },
    },
    Row { name: "append_1k", unit: "msgs/s", goal: Goal::Beat { ratio: 4.0, value: 1.5e6 } },
    Row {
        name: "append_1k_no_keys",
        unit: "msgs/s",
        goal: Goal::Beat { ratio: 4.0, value: 1.5e6 },
    },
    Row {
        name: "append_1k_two_writers",
        unit: "msgs/s",
        goal: Goal::Beat { ratio: 0.9, value: 0.0 },
    },
    Row { name: "batch_16x128", unit: "msgs/s", goal: Goal::Beat { ratio: 2.0, value: 8e6 } },
    Row { name: "durable_groups_of_100", unit: "msgs/s", goal: Goal::AtLeast(4e5) },
    Row { name: "read_1k_slices", unit: "msgs/s", goal: Goal::AtLeast(2e7) },
    Row { name: "read_1k_checked", unit: "msgs/s", goal: Goal::AtLeast(5e6) },
    Row { name: "reopen_killed_4g", unit: "s", goal: Goal::AtMost(1.5) },
    Row { name: "reopen_clean_4g", unit: "s", goal: Goal::AtMost(0.05) },
    Row { name: "anonymous_mib", unit: "MiB", goal: Goal::AtMost(10.0) },
    Row { name: "device_bytes_per_durable_1k", unit: "bytes", goal: Goal::AtMost(16384.0) },
    Row { name: "wake", unit: "us", goal: Goal::AtMost(100.0) },
    Row { name: "c_append_128", unit: "ns", goal: Goal::Over(15.0) },
    Row { name: "tag_filter", unit: "units/s", goal: Goal::AtLeast(1.5e8) },
    Row { name: "key_lookup", unit: "us", goal: Goal::AtMost(1.0) },
    Row { name: "time_lookup", unit: "us", goal: Goal::AtMost(1.5) },
    Row {
        name: "append_1k_two_keys",
        unit: "msgs/s",
        // At most 1.3 times the time.
        goal: Goal::Beat { ratio: 0.77, value: 0.0 },
    },
    Row { name: "rebuild_4g", unit: "s", goal: Goal::AtMost(4.0) },
    Row { name: "verify", unit: "B/s", goal: Goal::AtLeast(2e9) },
    Row { name: "queue_push_8k", unit: "us", goal: Goal::AtMost(2.5) },
    Row { name: "queue_pair_8k", unit: "us", goal: Goal::AtMost(4.0) },
    Row { name: "queue_push_128", unit: "msgs/s", goal: Goal::AtLeast(8e6) },
    Row { name: "queue_push_1k", unit: "msgs/s", goal: Goal::AtLeast(2e6) },
    Row {
        name: "queue_push_1k_two_producers",
        unit: "msgs/s",
        goal: Goal::Beat { ratio: 0.9, value: 0.0 },
    },
    Row { name: "queue_pop_128", unit: "msgs/s", goal: Goal::AtLeast(1e7) },
    Row { name: "queue_end_to_end_1k", unit: "msgs/s", goal: Goal::AtLeast(1.2e6) },
    Row { name: "queue_end_to_end_1k_processor", unit: "us", goal: Goal::AtMost(1.5) },
    Row { name: "queue_push_1k_slowest_in_1000", unit: "us", goal: Goal::AtMost(50.0) },
    Row { name: "queue_reopen_516m", unit: "s", goal: Goal::AtMost(0.15) },
    Row { name: "queue_resident_mib", unit: "MiB", goal: Goal::AtMost(2.0) },
];

/// Which function measures which rows; one may fill several, from one store.
type Measure = fn(&Setup) -> Outcome<Vec<Figure>>;

const GROUPS: [(&[&str], Measure); 24] = [
    (&["append_128", "append_128_no_keys"], append::small),
    (&["append_1k", "append_1k_no_keys"], append::large),
    (&["append_1k_two_writers"], append::two_writers),
    (&["batch_16x128"], append::batches),
    (&["durable_groups_of_100"], append::durable_groups),
    (&["read_1k_slices", "read_1k_checked"], read::hot),
    (&["reopen_killed_4g", "reopen_clean_4g", "anonymous_mib"], reopen::measure),
    (&["device_bytes_per_durable_1k"], device::measure),
    (&["wake"], wake::measure),
    (&["c_append_128"], c::measure),
    (&["tag_filter"], lookup::tags),
    (&["key_lookup", "time_lookup"], lookup::keys_and_times),
    (&["append_1k_two_keys"], append::two_keys),
    (&["rebuild_4g"], rebuild::measure),
    (&["verify"], verify::measure),
    (&["queue_push_8k"], queue::push_8k),
    (&["queue_pair_8k"], queue::pair_8k),
    (&["queue_push_128"], queue::push_128),
    (&["queue_push_1k"], queue::push_1k),
    (&["queue_push_1k_two_producers"], queue::two_producers),
    (&["queue_pop_128"], queue::pop_128),
    (
        &["queue_end_to_end_1k", "queue_end_to_end_1k_processor", "queue_push_1k_slowest_in_1000"],
        queue::end_to_end,
    ),
    (&["queue_reopen_516m"], queue::reopen),
    (&["queue_resident_mib"], queue::resident),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.as_slice() {
        [flag, task, dir] if flag == "--child" => reopen::child(task, Path::new(dir)),
        names => run(names),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the named rows, or all of them.
fn run(names: &[String]) -> Outcome<()> {
    check_names(names)?;
    let setup = Setup::from_environment()?;
    let mut figures = Vec::new();
    for (rows, measure) in GROUPS {
        if names.is_empty() || rows.iter().any(|row| names.iter().any(|name| name == row)) {
            eprintln!("measuring {}", rows.join(", "));
            figures.extend(measure(&setup)?);
            setup.clear()?;
        }
    }
    report(&ROWS, &figures);
    let path = std::env::var_os("BENCH_JSON").map_or("target/bench.json".into(), PathBuf::from);
    write_json(&path, &ROWS, &figures)?;
    println!("written to {}", path.display());
    Ok(())
}

fn check_names(names: &[String]) -> Outcome<()> {
    match names.iter().find(|name| ROWS.iter().all(|row| row.name != name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<_> = ROWS.iter().map(|row| row.name).collect();
            Err(Box::<dyn Error>::from(format!("no figure is called {name}: {}", known.join(", "))))
        }
    }
}
