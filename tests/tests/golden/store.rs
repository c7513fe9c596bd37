//! A golden store, unpacked into a directory of its own, and what lies on disk there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use spanlog::{Error, Options, Result, Store};
use spanlog_tests::source;
use tempfile::TempDir;

const UNIT_BYTES: usize = 20;

/// A store of RocketMQ's, unpacked.
pub struct Golden {
    pub root: PathBuf,
    pub paths: Vec<PathBuf>,
    pub expected: Value,
    /// How large its index files are.
    pub slots: Option<u32>,
    entries: Option<u32>,
    _folder: TempDir,
}

pub fn goldens() -> PathBuf {
    source::workspace().join("tests/golden")
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("a golden file");
    serde_json::from_str(&text).expect("a golden file is JSON")
}

impl Golden {
    pub fn unpack(name: &str) -> Self {
        let source = goldens().join(name);
        let folder = tempfile::tempdir().expect("a temporary directory");
        let packed = fs::File::open(source.join("store.tar.gz")).expect("a packed store");
        tar::Archive::new(GzDecoder::new(packed)).unpack(folder.path()).expect("it unpacks");
        let root = folder.path().join("store");
        let config = json(&source.join("config.json"));
        let paths = match config["paths"].as_array() {
            Some(paths) => paths.iter().map(|path| root.join(text(path))).collect(),
            None => vec![root.join("commitlog")],
        };
        let expected = json(&source.join("expected.json"));
        let size = |name: &str| config["set"][name].as_u64().map(|size| size as u32);
        let (slots, entries) = (size("maxHashSlotNum"), size("maxIndexNum"));
        Self { root, paths, expected, slots, entries, _folder: folder }
    }

    /// Options that name the directories, and the sizes that no file tells.
    pub fn options(&self) -> Options {
        let named = Options::new().background(false);
        let named = named.index_slots(self.slots).index_entries(self.entries);
        self.paths.iter().fold(named, |options, path| options.directory(path))
    }

    pub fn open(&self) -> Store {
        self.try_open(self.options()).expect("the store opens")
    }

    pub fn try_open(&self, options: Options) -> Result<Store> {
        Store::open(&self.root, options)
    }

    /// Opens the store as one opens it once spanlog knows it.
    pub fn reopen(&self) -> Store {
        self.try_open(Options::new().background(false)).expect("the store opens by its root alone")
    }

    pub fn records(&self) -> &[Value] {
        rows(&self.expected["records"])
    }

    pub fn last_record(&self) -> &Value {
        let records = self.records().iter().rev();
        records.clone().find(|row| row["blank"].is_null()).expect("a record")
    }

    /// The queues of 20-byte units; the others are not spanlog's.
    pub fn queues(&self) -> impl Iterator<Item = &Value> {
        rows(&self.expected["queues"]).iter().filter(|queue| queue["kind"] == "SimpleCQ")
    }

    /// The bytes of the log's segments from `start` on.
    pub fn log_bytes(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = BTreeMap::new();
        for entry in self.paths.iter().flat_map(|path| fs::read_dir(path).expect("a directory")) {
            let entry = entry.expect("an entry");
            if let Ok(base) = entry.file_name().to_string_lossy().parse::<u64>() {
                bytes.insert(base, fs::read(entry.path()).expect("a segment"));
            }
        }
        let first = *bytes.keys().next().expect("a segment");
        let line: Vec<u8> = bytes.into_values().flatten().collect();
        let at = |position: u64| usize::try_from(position - first).expect("a small store");
        line[at(range.start)..at(range.end).min(line.len())].to_vec()
    }

    /// A queue's units as they stand in its files.
    pub fn raw_units(&self, topic: &str, queue: u64, offsets: Range<u64>) -> Vec<[i64; 3]> {
        let dir = self.root.join("consumequeue").join(topic).join(queue.to_string());
        let files = tree(&dir).into_iter().filter(|(_, file)| !file.bytes.is_empty());
        let mut found = Vec::new();
        for (path, file) in files {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let first: u64 = name.parse().expect("a queue file's name");
            for (number, unit) in file.bytes.chunks(UNIT_BYTES).enumerate() {
                let offset = first / UNIT_BYTES as u64 + number as u64;
                if offsets.contains(&offset) {
                    found.push(unit_row(unit));
                }
            }
        }
        found
    }
}

/// The error of an operation that must fail; a store that opened is too long to print.
#[track_caller]
pub fn refused<T>(outcome: Result<T>, why: &str) -> Error {
    outcome.err().unwrap_or_else(|| panic!("it went well although {why}"))
}

pub fn unit_row(unit: &[u8]) -> [i64; 3] {
    let size = i32::from_be_bytes(unit[8..12].try_into().expect("four bytes"));
    let long = |at: usize| i64::from_be_bytes(unit[at..at + 8].try_into().expect("eight bytes"));
    [long(0), size.into(), long(12)]
}

pub fn rows(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is a text"))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all text");
        text
    })
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

// What is on disk.

#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub bytes: Vec<u8>,
    modified: SystemTime,
}

/// Everything below `dir`, with the time of its last change.
pub fn tree(dir: &Path) -> BTreeMap<PathBuf, Found> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let metadata = fs::metadata(&path).expect("it is there");
        let bytes = if metadata.is_dir() { Vec::new() } else { fs::read(&path).expect("a file") };
        if metadata.is_dir() {
            found.extend(tree(&path));
        }
        let modified = metadata.modified().expect("this system keeps times");
        found.insert(path, Found { bytes, modified });
    }
    found
}
