//! The committed corpora through every target, without libFuzzer.

use std::fs;
use std::path::Path;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 8] = [
    ("record", spanlog_fuzz::record),
    ("scan", spanlog_fuzz::scan),
    ("index", spanlog_fuzz::index),
    ("properties", spanlog_fuzz::properties),
    ("slots", spanlog_fuzz::slots),
    ("conf", spanlog_fuzz::conf),
    ("tags", spanlog_fuzz::tags),
    ("condition", spanlog_fuzz::condition),
];

/// Every input, whole and cut at some lengths, and with some bits turned.
#[test]
fn every_input_of_the_corpora_is_taken() {
    for (name, target) in TARGETS {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let entries = fs::read_dir(&dir).expect("a corpus");
        let mut count = 0;
        for entry in entries {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            let data = fs::read(&path).expect("an input");
            vary(&data, target);
            count += 1;
        }
        assert!(count > 0, "{name} has inputs");
    }
}

fn vary(data: &[u8], target: fn(&[u8])) {
    target(data);
    let step = (data.len() / 16).max(1);
    for at in (0..data.len()).step_by(step) {
        target(&data[..at]);
        let mut other = data.to_vec();
        other[at] ^= 1 << (at % 8);
        target(&other);
    }
}
