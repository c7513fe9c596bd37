//! A store over three directories that both programs work on, and what is written to it.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use spanlog::record::sys_flag;
use spanlog::{Message, Options, Placement, Store};
use spanlog_tests::oracle::{Layout, Oracle, Version};
use tempfile::TempDir;

use crate::answers;

pub const SEGMENT_LEN: u64 = 4096;
pub const QUEUE_FILE_LEN: u64 = 400;

/// The directories of one store.
pub struct World {
    pub root: PathBuf,
    pub paths: Vec<PathBuf>,
    _folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let base = folder.path().canonicalize().expect("it is there");
        let paths = ["a", "b", "c"].map(|name| base.join(name)).to_vec();
        Self { root: base.join("root"), paths, _folder: folder }
    }

    pub fn layout(&self) -> Layout {
        Layout::new(&self.root, &self.paths, SEGMENT_LEN, QUEUE_FILE_LEN)
    }

    pub fn options(&self, placement: Placement) -> Options {
        options(&self.paths).placement(placement)
    }

    pub fn open(&self, placement: Placement) -> Store {
        Store::open(&self.root, self.options(placement)).expect("the store opens")
    }

    /// RocketMQ reads the store, and finds the same as spanlog did.
    #[track_caller]
    pub fn check_read(&self, oracle: &Oracle, version: Version, expected: &serde_json::Value) {
        self.check_no_folders();
        let read = answers::theirs(oracle.read(version, &self.layout()));
        answers::check_same(&read, expected);
    }

    /// As [`World::check_read`], where RocketMQ has to derive queue units itself.
    #[track_caller]
    pub fn check_recovered(&self, oracle: &Oracle, version: Version, expected: &serde_json::Value) {
        self.check_no_folders();
        let read = answers::theirs(oracle.read(version, &self.layout()));
        match version {
            Version::V55 => answers::check_same(&read, expected),
            Version::V49 => answers::check_same(
                &answers::without_delivery_times(read),
                &answers::without_delivery_times(expected.clone()),
            ),
        }
    }

    /// RocketMQ 4.9.8 refuses a log directory with a folder in it.
    #[track_caller]
    pub fn check_no_folders(&self) {
        for entry in self.paths.iter().flat_map(|path| fs::read_dir(path).expect("a directory")) {
            let path = entry.expect("an entry").path();
            assert!(path.is_file(), "{path:?}");
        }
    }

    /// All files and their bytes, as a process that dies now leaves them.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let dirs = self.paths.iter().chain([&self.root]);
        let files = dirs.flat_map(|dir| files(dir));
        files.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
    }

    /// Puts all files back as they were; the directories stay the same ones.
    pub fn restore(&self, snapshot: &BTreeMap<PathBuf, Vec<u8>>) {
        for path in self.paths.iter().chain([&self.root]).flat_map(|dir| files(dir)) {
            fs::remove_file(path).expect("it was there");
        }
        for (path, bytes) in snapshot {
            fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
            fs::write(path, bytes).expect("room for a file");
        }
    }
}

/// Options of the stores of these tests; the caller runs what runs in the background.
pub fn options(paths: &[PathBuf]) -> Options {
    let options = Options::new().background(false);
    let options = options.segment_len_bytes(SEGMENT_LEN).queue_file_len_bytes(QUEUE_FILE_LEN);
    // As the layout says to RocketMQ.
    let options = options.index_slots(Some(50)).index_entries(Some(200));
    paths.iter().fold(options, |options, path| options.directory(path))
}

/// All files below `dir`.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Appends messages of every kind, three to a round and a batch in some.
pub fn write(store: &Store, rounds: std::ops::Range<u32>) {
    for round in rounds {
        append_order(store, round);
        append_others(store, round);
        if round % 4 == 0 {
            append_batch(store, round);
        }
    }
}

fn append_order(store: &Store, round: u32) {
    let (tags, key) = (format!("Tag{}", round % 5), format!("order-{round}"));
    let body = format!("order {round} {}", "x".repeat(usize::try_from(round % 7).unwrap() * 60));
    let keys = [key.as_str(), "all"];
    let message = Message::new("Orders", round % 3, body.as_bytes())
        .tags(&tags)
        .keys(&keys)
        .properties(&[("WAIT", "true"), ("shop", "K\u{f6}ln")])
        .born_ms(1_700_000_000_000 + i64::from(round));
    store.append(&message).expect("there is room");
}

/// Whatever else a record may hold, one kind after the other.
fn append_others(store: &Store, round: u32) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let six = (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 40_000).into();
    let message = match round % 8 {
        0 => Message::new("Bodies", 0, b""),
        1 => Message::new("Bodies", 0, &all_bytes).flag(7),
        2 => Message::new("Bodies", 4, "\u{1F600} \u{4f60}\u{597d}".as_bytes())
            .tags("\u{1F600}")
            .keys(&["\u{4f60}\u{597d}"]),
        3 => Message::new("Six", 1, b"born on six").born_host(six).tags("v6"),
        4 => Message::new("%RETRY%group_one", 0, b"again").reconsume_times(3),
        // Prepared and rolled back: kept, and in no queue. Committed: in its queue.
        5 => Message::new("Pay", 0, b"prepared").sys_flag(sys_flag::PREPARED),
        6 => Message::new("Pay", 0, b"rolled back").sys_flag(sys_flag::ROLLBACK),
        _ => Message::new("Pay", 0, b"committed").sys_flag(sys_flag::COMMIT),
    };
    store.append(&message).expect("there is room");
    // Parked for two hours: its unit carries the time of delivery.
    let parked = Message::new("SCHEDULE_TOPIC_XXXX", 17, b"later");
    let properties = [("DELAY", "18"), ("REAL_TOPIC", "Orders"), ("REAL_QID", "1")];
    store.append(&parked.properties(&properties)).expect("there is room");
}

fn append_batch(store: &Store, round: u32) {
    let bodies: Vec<_> = (0..3).map(|number| format!("batch {round} {number}")).collect();
    let messages: Vec<_> =
        bodies.iter().map(|body| Message::new("Batch", 1, body.as_bytes()).tags("B")).collect();
    store.append_batch(&messages).expect("there is room");
}

/// A topic that needs a record of the second kind, which RocketMQ 4.9 does not know.
pub fn append_long_topic(store: &Store) {
    let topic = format!("%RETRY%{}", "g".repeat(121));
    store.append(&Message::new(&topic, 0, b"long")).expect("there is room");
    store.append(&Message::new("Short", 0, b"behind it")).expect("there is room");
}
