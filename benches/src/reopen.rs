//! Opening a store of 4 GiB again, after a kill and after a clean close, and the memory it takes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use spanlog::{Options, Store, Stored};

use crate::harness::{Figure, Outcome, Setup, median};
use crate::load::{QUEUES, Sizes, append, body, store};
use crate::queue;
use crate::read::read_queue;

/// Messages between two looks at how large the store is.
const PIECE: u64 = 10_000;

/// Each round: a child builds a store and is killed while it appends; the store is opened, closed
/// and opened once more. All of it stays in the page cache.
pub fn measure(setup: &Setup) -> Outcome<Vec<Figure>> {
    let root = setup.dir.join("store");
    let (mut killed, mut clean, mut anonymous) = (Vec::new(), Vec::new(), 0.0);
    for round in 0..setup.sizes.rounds {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        setup.warm(setup.sizes.store_bytes)?;
        build_and_kill(&root)?;
        killed.push(seconds_to_open(&root, false)?);
        clean.push(seconds_to_open(&root, true)?);
        eprintln!("  round {}: {:.3} | {:.4}", round + 1, killed[round], clean[round]);
    }
    anonymous += read_in_child(&root)?;
    Ok(vec![
        Figure { name: "reopen_killed_4g", value: median(&mut killed), baseline: None },
        Figure { name: "reopen_clean_4g", value: median(&mut clean), baseline: None },
        Figure { name: "anonymous_mib", value: anonymous, baseline: None },
    ])
}

/// Opening returns once the log is read, the queues are complete and appends are taken.
fn seconds_to_open(root: &Path, clean: bool) -> Outcome<f64> {
    let start = Instant::now();
    let store = Store::open(root, Options::new())?;
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(store.recovery().was_clean, clean, "how the store was left");
    if !clean {
        eprintln!("  {} records were read again", store.recovery().records);
    }
    store.close()?;
    Ok(seconds)
}

pub fn start_child(task: &str, dir: &Path) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--child", task]).arg(dir).stdout(Stdio::piped());
    Ok(command.spawn()?)
}

pub fn first_line(child: &mut Child) -> Outcome<String> {
    let mut line = String::new();
    let out = child.stdout.take().expect("the child's output is a pipe");
    BufReader::new(out).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn build_and_kill(root: &Path) -> Outcome<()> {
    let mut child = start_child("build", root)?;
    let line = first_line(&mut child)?;
    child.kill()?;
    child.wait()?;
    if line == "built" { Ok(()) } else { Err("the store could not be built".into()) }
}

fn read_in_child(root: &Path) -> Outcome<f64> {
    let mut child = start_child("read", root)?;
    let line = first_line(&mut child)?;
    child.wait()?;
    Ok(line.parse()?)
}

/// What a process started by [`measure`] does.
pub fn child(task: &str, dir: &Path) -> Outcome<()> {
    match task {
        "build" => build(dir),
        "read" => read(dir),
        "queue-fill" => queue::fill_and_wait(dir),
        "queue-resident" => queue::fill_and_measure(dir),
        _ => Err(format!("no task is called {task}").into()),
    }
}

/// Appends until the store is large enough, says so, and goes on until it is killed.
fn build(root: &Path) -> Outcome<()> {
    let sizes = Sizes::from_environment();
    let (store, body) = (store(root, sizes.options())?, body(1024));
    while store.watermarks().appended.get() < sizes.store_bytes {
        append(&store, PIECE, &body)?;
    }
    println!("built");
    loop {
        append(&store, 1, &body)?;
    }
}

/// Reads every message and prints the most anonymous memory that was seen on the way, in MiB.
fn read(root: &Path) -> Outcome<()> {
    let store = Store::open(root, Options::new())?;
    let mut most = anonymous_mib()?;
    for queue in 0..QUEUES {
        read_queue(&store, queue, verify)?;
        most = most.max(anonymous_mib()?);
    }
    println!("{most}");
    Ok(())
}

fn verify(stored: Stored<'_>) -> Outcome<()> {
    stored.decode_verified()?;
    Ok(())
}

/// Memory of this process that no file stands behind.
fn anonymous_mib() -> Outcome<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|rest| rest.trim().strip_suffix(" kB")).ok_or("no RssAnon line")?;
    Ok(number.trim().parse::<f64>()? / 1024.0)
}
