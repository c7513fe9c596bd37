//! Deriving queues and key index of a store anew.

use std::fs;
use std::path::Path;
use std::time::Instant;

use spanlog::Store;

use crate::harness::{Figure, Outcome, Setup, median};
use crate::load::{append, body, store};

/// Messages between two looks at how large the store is.
const PIECE: u64 = 10_000;

/// What is derived, under a store's root.
const DERIVED: [&str; 4] = ["consumequeue", "index", ".spanlog/queues", ".spanlog/keys"];

/// A store of 4 GiB, closed in order, loses all that can be derived; opening it and waiting until
/// everything can be found again is what counts. All of the log stays in the page cache.
pub fn measure(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (root, options) = (setup.dir.join("store"), setup.sizes.options());
    let (built, body) = (store(&root, options.clone())?, body(1024));
    while built.watermarks().appended.get() < setup.sizes.store_bytes {
        append(&built, PIECE, &body)?;
        built.catch_up()?;
    }
    built.close()?;
    drop(built);
    let mut seconds = Vec::new();
    for round in 0..setup.sizes.rounds.min(3) {
        forget(&root)?;
        let start = Instant::now();
        let opened = Store::open(&root, options.clone())?;
        opened.catch_up()?;
        opened.catch_up_keys()?;
        seconds.push(start.elapsed().as_secs_f64());
        assert!(opened.recovery().rebuilt_queues, "the queues were derived anew");
        eprintln!("  round {}: {:.2}", round + 1, seconds[round]);
        opened.close()?;
    }
    Ok(vec![Figure { name: "rebuild_4g", value: median(&mut seconds), baseline: None }])
}

fn forget(root: &Path) -> Outcome<()> {
    for path in DERIVED.map(|name| root.join(name)) {
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}
