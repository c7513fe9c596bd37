//! Bytes of a store that are not what was written: every byte flipped, every file cut at every
//! length. Opening never panics and always ends; what is whole is still there, byte for byte, and
//! what is not is told.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spanlog::disk::MemDisk;
use spanlog::{Error, ErrorKind, OnDamage, Store, Task};
use spanlog_tests::small_store::{
    ROOT, append, bare_options, files, open, options, survivors, try_append,
};

const MESSAGES: u32 = 45;

/// A store on a disk, and where its messages are.
struct Subject {
    disk: MemDisk,
    /// Where each message's record lies in the log.
    places: Vec<Range<u64>>,
}

/// How the store was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Closed cleanly.
    Clean,
    /// Killed; everything was known to be flushed, but the queues' offsets are not known.
    Flushed,
    /// Killed before anything was flushed.
    Unflushed,
}

impl Subject {
    fn new(left: Left) -> Self {
        let disk = Arc::new(MemDisk::new());
        let store = open(&disk, options()).unwrap();
        let place = |number| {
            let receipt = try_append(&store, number).unwrap();
            receipt.position.get()..receipt.end.get()
        };
        let places = (0..MESSAGES).map(place).collect();
        match left {
            Left::Clean => store.close().unwrap(),
            Left::Flushed => {
                store.catch_up().unwrap();
                store.run(Task::Checkpoint).unwrap();
            }
            Left::Unflushed => {}
        }
        let disk = disk.kill();
        if left == Left::Flushed {
            disk.lose(&Path::new(ROOT).join(".spanlog/queues"));
        }
        Self { disk, places }
    }

    fn copy(&self) -> Arc<MemDisk> {
        Arc::new(self.disk.kill())
    }

    /// Everything in the segments and under the root.
    fn files(&self) -> Vec<(PathBuf, u64)> {
        let dirs = ["/d0", "/d1", "/d2", ROOT].map(Path::new);
        dirs.iter().flat_map(|dir| files(&self.disk, dir)).collect()
    }

    fn segments(&self) -> Vec<(PathBuf, u64)> {
        self.files().into_iter().filter(|(path, _)| !path.starts_with(ROOT)).collect()
    }

    /// The message whose record holds that byte of a segment.
    fn message_at(&self, path: &Path, at: u64) -> Option<u32> {
        let base: u64 = path.file_name()?.to_str()?.parse().ok()?;
        let found = self.places.iter().position(|place| place.contains(&(base + at)))?;
        Some(found as u32)
    }

    fn all_but(&self, message: Option<u32>) -> Vec<u32> {
        (0..MESSAGES).filter(|number| Some(*number) != message).collect()
    }
}

fn open_damaged(disk: &Arc<MemDisk>, mode: OnDamage) -> Result<Store, Error> {
    open(disk, bare_options().on_damage(mode))
}

/// An error says what is wrong and where.
fn check_error(error: &Error, context: &str) {
    let fitting = [ErrorKind::Corrupt, ErrorKind::Version, ErrorKind::Offline, ErrorKind::Foreign];
    assert!(fitting.contains(&error.kind()), "{context}: {error}");
    assert!(error.path().is_some(), "{context} names no path: {error}");
}

/// Everything but `message` is there, and if it is not, somebody says so.
fn check_rest(store: &Store, message: Option<u32>, context: &str) {
    let found = survivors(store);
    let missing: Vec<u32> =
        (0..MESSAGES).filter(|number| !found.numbers.contains(number)).collect();
    let allowed = missing.is_empty() || message.is_some_and(|own| missing == [own]);
    assert!(allowed, "{context}: {missing:?} are missing, {:?} is damaged", message);
    assert!(
        missing.is_empty() || !found.errors.is_empty(),
        "{context}: message {missing:?} is missing and nobody says so"
    );
}

#[test]
fn every_byte_of_a_closed_store_may_flip() {
    let subject = Subject::new(Left::Clean);
    for (path, len) in subject.files() {
        for at in (0..len).step_by(step(len, 1)) {
            check_flip(&subject, &path, at, 1 << (at % 8));
        }
    }
}

#[test]
fn every_byte_of_a_queue_may_flip() {
    let subject = Subject::new(Left::Clean);
    for (path, len) in subject.files().into_iter().filter(|(path, _)| is_queue(path)) {
        for at in 0..len {
            for mask in [0x80, 0xFF] {
                check_flip(&subject, &path, at, mask);
            }
        }
    }
}

/// The space kept in reserve is longer than all else and holds nothing: some places will do.
fn step(len: u64, usual: usize) -> usize {
    if len > 10_000 { 9973 } else { usual }
}

fn is_queue(path: &Path) -> bool {
    path.starts_with(Path::new(ROOT).join("consumequeue"))
}

/// A flipped byte is refused, or costs at most the message it belongs to; a unit of a queue
/// belongs to one message.
fn check_flip(subject: &Subject, path: &Path, at: u64, mask: u8) {
    let context = format!("{} byte {at} mask {mask:#x}", path.display());
    let disk = subject.copy();
    disk.flip(path, at, mask).unwrap();
    let message = subject.message_at(path, at).filter(|_| !path.starts_with(ROOT));
    match open_damaged(&disk, OnDamage::Refuse) {
        Err(error) => check_error(&error, &context),
        Ok(store) if is_queue(path) => {
            let found = survivors(&store);
            let missing = MESSAGES as usize - found.numbers.len();
            assert!(missing <= 1, "{context}: {missing} are missing");
            assert!(missing == 0 || !found.errors.is_empty(), "{context}: silently");
        }
        Ok(store) => check_rest(&store, message, &context),
    }
}

#[test]
fn a_flipped_byte_below_what_was_flushed_is_refused_skipped_or_cut() {
    let subject = Subject::new(Left::Flushed);
    for (path, len) in subject.segments() {
        for at in 0..len {
            let context = format!("{} byte {at}", path.display());
            let message = subject.message_at(&path, at);
            let disk = subject.copy();
            disk.flip(&path, at, 0x55).unwrap();
            let refused = open_damaged(&disk, OnDamage::Refuse);
            if message.is_some() {
                let error = refused.expect_err(&context);
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{context}: {error}");
                assert_eq!(error.path(), Some(path.as_path()), "{context}: {error}");
            }
            // What was refused was not touched.
            let skipped = open_damaged(&Arc::new(disk.kill()), OnDamage::Skip);
            let skipped = skipped.unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(survivors(&skipped).numbers, subject.all_but(message), "{context}");
            if at % 16 == 0 {
                check_cut(&disk, message, &context);
            }
        }
    }
}

/// Cutting keeps what lies before the damage, and saves the rest beside the store.
fn check_cut(disk: &Arc<MemDisk>, message: Option<u32>, context: &str) {
    let disk = Arc::new(disk.kill());
    let store = open_damaged(&disk, OnDamage::Cut);
    let store = store.unwrap_or_else(|error| panic!("{context}: {error}"));
    let Some(message) = message else { return };
    let kept: Vec<u32> = (0..message).collect();
    assert_eq!(survivors(&store).numbers, kept, "{context}");
    let saved = store.recovery().salvaged.as_ref().map_or(0, |salvage| salvage.records);
    assert_eq!(saved, u64::from(MESSAGES - message - 1), "{context}");
    append(&store, message..message + 6);
    store.catch_up().unwrap();
    assert_eq!(survivors(&store).numbers.len(), message as usize + 6, "{context}");
}

#[test]
fn a_flipped_byte_above_what_was_flushed_ends_the_log_there() {
    let subject = Subject::new(Left::Unflushed);
    for (path, len) in subject.segments() {
        for at in 0..len {
            let context = format!("{} byte {at}", path.display());
            let disk = subject.copy();
            disk.flip(&path, at, 0xFF).unwrap();
            let store = open_damaged(&disk, OnDamage::Refuse);
            let store = store.unwrap_or_else(|error| panic!("{context}: {error}"));
            let end = store.watermarks().appended.get();
            let kept: Vec<u32> = (0..MESSAGES)
                .filter(|number| subject.places[*number as usize].end <= end)
                .collect();
            assert_eq!(survivors(&store).numbers, kept, "{context}");
            if let Some(message) = subject.message_at(&path, at) {
                assert_eq!(kept.len() as u32, message, "{context}");
                let saved = store.recovery().salvaged.as_ref().map_or(0, |found| found.records);
                assert_eq!(saved, u64::from(MESSAGES - message - 1), "{context}");
            }
        }
    }
}

/// Sizes, magic numbers, positions and lengths: with every value of a byte.
#[test]
fn every_value_of_every_byte_of_a_header() {
    let subject = Subject::new(Left::Flushed);
    for message in [0, MESSAGES / 2] {
        let place = subject.places[message as usize].clone();
        let base = place.start / 4096 * 4096;
        let name = format!("{base:020}");
        let (path, _) =
            subject.segments().into_iter().find(|(path, _)| path.ends_with(&name)).unwrap();
        for at in 0..100 {
            for mask in (1..=255).step_by(if at < 8 { 1 } else { 11 }) {
                let context = format!("message {message} byte {at} mask {mask:#x}");
                let disk = subject.copy();
                disk.flip(&path, place.start - base + at, mask).unwrap();
                let store = open_damaged(&disk, OnDamage::Skip);
                let store = store.unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(survivors(&store).numbers, subject.all_but(Some(message)), "{context}");
            }
        }
    }
}

#[test]
fn every_file_may_be_cut_at_every_length() {
    for left in [Left::Clean, Left::Flushed, Left::Unflushed] {
        let subject = Subject::new(left);
        for (path, len) in subject.files() {
            let all = step(len, if len > 1000 { 13 } else { 1 });
            for cut in (0..len as usize).step_by(all) {
                let context = format!("{left:?}: {} cut at {cut}", path.display());
                let disk = subject.copy();
                disk.truncate(&path, cut).unwrap();
                check_truncated(&disk, left, &context);
            }
        }
    }
}

/// Refused with a reason and unchanged, or complete; of what was never flushed, a first part.
fn check_truncated(disk: &Arc<MemDisk>, left: Left, context: &str) {
    for mode in OnDamage::ALL {
        let disk = Arc::new(disk.kill());
        match open_damaged(&disk, mode) {
            Err(error) => check_error(&error, context),
            Ok(store) if left == Left::Unflushed => {
                let found = survivors(&store).numbers;
                assert!((0..).zip(&found).all(|(at, number)| at == *number), "{context}");
            }
            Ok(store) if mode == OnDamage::Refuse => {
                check_rest(&store, None, context);
                append(&store, MESSAGES..MESSAGES + 3);
            }
            Ok(store) => drop(survivors(&store)),
        }
    }
}
