//! RocketMQ's stores verified as they lie there, before anybody opened them.

use std::fs;

use spanlog::{FindingKind, OnDamage, Options, Verification};

use crate::store::{Golden, goldens, tree};

fn names() -> Vec<String> {
    let entries = fs::read_dir(goldens()).expect("the golden stores");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| goldens().join(name).is_dir()).collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    names
}

fn verified(golden: &Golden, options: &Options) -> Verification {
    let mut verification = Verification::new(&golden.root, options).expect("a store");
    verification.run().expect("everything is read");
    verification
}

/// What is wrong with which store: the kind, the position and whether it is damage.
const WRONG: [(&str, FindingKind, u64, bool); 6] = [
    ("v49-multipath-crash", FindingKind::TornTail, 35744, false),
    ("v5-crash", FindingKind::TornTail, 9024, false),
    ("v5-torn-body", FindingKind::TornTail, 8608, false),
    ("v5-torn-middle", FindingKind::Record, 2898, true),
    ("v5-torn-middle-full-scan", FindingKind::TornTail, 2898, false),
    ("v5-torn-zeroed", FindingKind::TornTail, 8608, false),
];

#[test]
fn every_store_is_told_as_it_is() {
    for name in names() {
        let golden = Golden::unpack(&name);
        let before = tree(&golden.root);
        let told = verified(&golden, &golden.options());
        let found = told.findings().iter().map(|found| {
            let range = found.range.clone().unwrap_or_default();
            (&*name, found.kind, range.start, found.is_damage)
        });
        let expected: Vec<_> = WRONG.into_iter().filter(|row| row.0 == name).collect();
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let is_record = |row: &&serde_json::Value| row["blank"].is_null();
        let records = golden.records().iter().filter(is_record).count() as u64;
        let is_damaged = name == "v5-torn-middle";
        assert_eq!(told.records(), records - u64::from(is_damaged), "{name}");
        assert!(tree(&golden.root) == before, "{name}: something on disk changed");
    }
}

/// As spanlog leaves them: queues, marks, ledger and RocketMQ's checkpoint fit the log.
#[test]
fn every_store_is_sound_once_spanlog_closed_it() {
    for name in names() {
        let golden = Golden::unpack(&name);
        let options = golden.options().on_damage(OnDamage::Cut);
        golden.try_open(options).expect("it opens").close().expect("it closes");
        let told = verified(&golden, &Options::new());
        let texts: Vec<_> = told.findings().iter().map(ToString::to_string).collect();
        assert_eq!(texts, [""; 0], "{name}");
        assert!(told.was_closed() && told.is_sound());
    }
}

/// RocketMQ's own index files are compared too, entry by entry.
#[test]
fn a_flipped_byte_of_rocketmqs_index_is_found() {
    let mut flipped = 0;
    for name in names() {
        let golden = Golden::unpack(&name);
        let entries = fs::read_dir(golden.root.join("index")).into_iter().flatten();
        let Some(path) = entries.map(|entry| entry.expect("an entry").path()).next() else {
            continue;
        };
        let whole = fs::read(&path).expect("it is read");
        let count = u32::from_be_bytes(whole[36..40].try_into().expect("4 bytes")) as usize;
        let is_closed = !golden.root.join("abort").exists();
        if count < 3 || !is_closed || !verified(&golden, &golden.options()).is_sound() {
            continue;
        }
        let entry = 40 + 4 * golden.slots.unwrap_or(5_000_000) as usize + 20;
        for at in [8, 39, entry, entry + 11, entry + 19] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).expect("it is written");
            let told = verified(&golden, &golden.options());
            let is_here = |found: &spanlog::Finding| found.is_damage && found.path == path;
            assert!(told.findings().iter().any(is_here), "{name}: byte {at}");
            flipped += 1;
        }
        fs::write(&path, &whole).expect("it is written");
    }
    assert!(flipped >= 10, "{flipped} bytes were flipped");
}
