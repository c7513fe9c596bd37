//! Verifying a store that lies in the page cache.

use std::fs;
use std::time::Instant;

use spanlog::{Options, Verification};

use crate::harness::{Figure, Outcome, Setup, median};
use crate::load::{append, body, store};

/// Messages between two looks at how large the store is.
const PIECE: u64 = 10_000;

/// A store of 4 GiB is built and closed, and verified in every round: all records with both their
/// checksums, every unit against its record.
pub fn measure(setup: &Setup) -> Outcome<Vec<Figure>> {
    let root = setup.dir.join("store");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    setup.warm(setup.sizes.store_bytes)?;
    let (built, body) = (store(&root, setup.sizes.options())?, body(1024));
    while built.watermarks().appended.get() < setup.sizes.store_bytes {
        append(&built, PIECE, &body)?;
    }
    let bytes = built.watermarks().appended.get();
    built.close()?;
    drop(built);
    let mut rates = Vec::new();
    for round in 0..setup.sizes.rounds {
        let start = Instant::now();
        let mut verification = Verification::new(&root, &Options::new())?;
        verification.run()?;
        rates.push(bytes as f64 / start.elapsed().as_secs_f64());
        assert!(verification.is_sound(), "{:?}", verification.findings());
        eprintln!("  round {}: {:.2} GB/s", round + 1, rates[round] / 1e9);
    }
    Ok(vec![Figure { name: "verify", value: median(&mut rates), baseline: None }])
}
