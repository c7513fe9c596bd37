//! Directories that are not what they should be, on real file systems: not mounted, another
//! store's, named twice, without a free byte, or not to be written. Parts need root, or are
//! skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use spanlog::{
    ErrorKind, Message, Options, Placement, QueueOffset, ReadLimits, ReadStatus, Store, Task,
};
use spanlog_tests::appender::{self, Plan};
use spanlog_tests::mounts::{Kind, Mount, mounted};

const MIB: u64 = 1 << 20;
const TOPIC: &str = "disks";

fn options(dirs: &[PathBuf]) -> Options {
    dirs.iter().fold(bare_options(), |options, dir| options.directory(dir))
}

fn bare_options() -> Options {
    Options::new()
        .segment_len_bytes(64 * 1024)
        .queue_file_len_bytes(20_000)
        .prepare_bytes(0)
        .background(false)
}

fn body(number: u64) -> Vec<u8> {
    let mut body = number.to_be_bytes().to_vec();
    body.resize(1000, number as u8);
    body
}

fn append(store: &Store, numbers: std::ops::Range<u64>) {
    for number in numbers {
        store.append(&Message::new(TOPIC, 0, &body(number))).unwrap();
    }
}

/// Asserts that exactly these messages are there.
fn check(store: &Store, expected: std::ops::Range<u64>) {
    store.catch_up().unwrap();
    assert_eq!(numbers(store, expected.start), expected.collect::<Vec<_>>());
}

/// The messages that can be read from `first` on.
fn numbers(store: &Store, first: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut from = QueueOffset::new(first);
    loop {
        let batch = store.read(TOPIC, 0, from, ReadLimits::default()).unwrap();
        if batch.status() != ReadStatus::Found {
            return found;
        }
        for stored in batch.iter() {
            let view = stored.decode_verified().unwrap();
            let number = u64::from_be_bytes(view.body()[..8].try_into().unwrap());
            assert_eq!(view.body(), body(number));
            found.push(number);
        }
        from = batch.next();
    }
}

/// Everything below a directory.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

#[test]
fn an_empty_mount_point_is_offline_and_no_new_store() {
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str| Mount::tmpfs(&dir.path().join(name), 2 * MIB);
    let made = make("a").and_then(|a| Ok([a, make("b")?, make("c")?]));
    let Some(mut disks) = mounted("an empty mount point", made) else { return };
    let root = dir.path().join("root");
    let dirs: Vec<_> = disks.iter().map(|disk| disk.dir().to_owned()).collect();
    let store = Store::open(&root, options(&dirs)).unwrap();
    append(&store, 0..300);
    store.close().unwrap();
    drop(store);
    let before = tree(&root);
    disks[1].unmount();
    for options in [options(&dirs), bare_options()] {
        let error = Store::open(&root, options).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Offline, Some(dirs[1].as_path())));
        assert!(tree(&dirs[1]).is_empty(), "nothing was made in the mount point");
        assert_eq!(tree(&root), before, "nothing was changed");
    }
    let store = Store::open(&root, options(&dirs).allow_offline(true)).unwrap();
    let lost = store.recovery().offline.clone();
    assert!(!lost.is_empty() && lost.iter().all(|range| range.end - range.start >= 64 * 1024));
    let first = store.read(TOPIC, 0, QueueOffset::ZERO, ReadLimits::default()).unwrap();
    assert_eq!(first.status(), ReadStatus::Found);
    assert!(tree(&dirs[1]).is_empty(), "nothing was made in the mount point");
}

#[test]
fn a_directory_of_another_store_is_foreign() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let first = Store::open(path("one"), options(&[path("a")])).unwrap();
    append(&first, 0..100);
    first.close().unwrap();
    for other in [options(&[path("a")]), options(&[path("b"), path("a")])] {
        let error = Store::open(path("two"), other).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Foreign, "{error}");
        assert_eq!(error.path().unwrap().file_name().unwrap(), "a");
    }
    check(&Store::open(path("one"), bare_options()).unwrap(), 0..100);
}

#[test]
fn a_directory_is_one_however_it_is_spelled() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("real");
    fs::create_dir(&real).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let mut slash = real.clone().into_os_string();
    slash.push("/");
    let dotted = dir.path().join("x/../real");
    fs::create_dir(dir.path().join("x")).unwrap();
    let relative = pathdiff(&real);
    let spellings = [real.clone(), link, slash.into(), dotted, relative];
    let root = dir.path().join("root");
    for one in &spellings {
        for other in &spellings {
            let error = Store::open(&root, options(&[one.clone(), other.clone()])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{one:?} {other:?}: {error}");
        }
    }
    for (round, spelling) in (0..).zip(&spellings) {
        let store = Store::open(&root, options(std::slice::from_ref(spelling))).unwrap();
        append(&store, 100 * round..100 * round + 100);
        check(&store, 0..100 * round + 100);
        store.close().unwrap();
    }
}

/// The path seen from the present directory.
fn pathdiff(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    up.join(path.strip_prefix("/").unwrap())
}

#[test]
fn nested_directories_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let cases = [
        (path("root"), vec![path("a"), path("a/b")]),
        (path("root"), vec![path("a/b"), path("a")]),
        (path("a/root"), vec![path("a")]),
        (path("a"), vec![path("a")]),
    ];
    for (root, dirs) in cases {
        let error = Store::open(&root, options(&dirs)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{root:?} {dirs:?}: {error}");
    }
    // The usual place, under the root, is fine.
    let store = Store::open(path("r"), options(&[path("r/commitlog")])).unwrap();
    append(&store, 0..10);
}

/// Opening allocates nothing while the last segment has room.
#[test]
fn opening_needs_less_than_a_segment() {
    let dir = tempfile::tempdir().unwrap();
    let made = Mount::tmpfs(&dir.path().join("disk"), MIB);
    let Some(disk) = mounted("little free space", made) else { return };
    let log = disk.dir().join("log");
    let root = disk.dir().join("root");
    let options = options(&[log]);
    let store = Store::open(&root, options.clone()).unwrap();
    append(&store, 0..70);
    store.close().unwrap();
    drop(store);
    // Only some pages are left, for the marks.
    let ballast = disk.fill();
    let len = fs::metadata(&ballast).unwrap().len();
    fs::OpenOptions::new().write(true).open(&ballast).unwrap().set_len(len - 40_960).unwrap();
    let store = Store::open(&root, options.clone()).unwrap();
    check(&store, 0..70);
    store.close().unwrap();
    drop(store);
    fs::remove_file(ballast).unwrap();
    let store = Store::open(&root, options).unwrap();
    append(&store, 70..90);
    check(&store, 0..90);
}

#[test]
fn clean_works_at_100_percent() {
    let dir = tempfile::tempdir().unwrap();
    let made = Mount::tmpfs(&dir.path().join("disk"), 4 * MIB);
    let Some(disk) = mounted("cleaning a full disk", made) else { return };
    // Queues, marks and segments on one disk, and not a byte left.
    let options = options(&[disk.dir().join("log")]).retention_ms(0);
    let store = Store::open(disk.dir().join("root"), options).unwrap();
    append(&store, 0..1500);
    let _ballast = disk.fill();
    store.run(Task::Probe).unwrap();
    let refused = store.append(&Message::new(TOPIC, 0, b"x")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Full);
    store.clean_now().unwrap();
    for _ in 0..20 {
        store.run(Task::Clean).unwrap();
    }
    let start = store.watermarks().start.get();
    assert!(start > MIB / 2, "the log starts at {start}");
    store.run(Task::Probe).unwrap();
    append(&store, 1500..1520);
    store.catch_up().unwrap();
    let bounds = store.bounds(TOPIC, 0).unwrap();
    assert_eq!(bounds.max.get(), 1520);
    check(&store, bounds.min.get()..1520);
}

#[test]
fn a_read_only_open_needs_not_one_free_byte() {
    let dir = tempfile::tempdir().unwrap();
    let made = Mount::image(&dir.path().join("disk"), Kind::Ext4, 16 * MIB);
    let Some(disk) = mounted("a full read-only disk", made) else { return };
    let plan = Plan { dir: disk.dir().join("x"), group: false, placement: Placement::Rocketmq };
    fs::create_dir(&plan.dir).unwrap();
    // Killed, so that it would have to be recovered.
    let mut child = Command::new(env!("CARGO_BIN_EXE_appender"))
        .arg("0")
        .args(plan.arguments())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap());
    let acknowledged = std::io::BufRead::lines(lines).take(100).count() as u64;
    child.kill().unwrap();
    child.wait().unwrap();
    let _ballast = disk.fill();
    disk.remount("ro").unwrap();
    let store = Store::open(plan.root(), plan.options().read_only(true)).unwrap();
    assert!(!store.recovery().was_clean);
    let mut messages = 0;
    for queue in 0..appender::QUEUES {
        let bounds = store.bounds(appender::TOPIC, queue).unwrap();
        let limits = ReadLimits { max_messages: 1000, max_bytes: 1 << 24 };
        let batch = store.read(appender::TOPIC, queue, bounds.min, limits).unwrap();
        assert!(batch.iter().all(|stored| stored.decode_verified().is_ok()));
        messages += bounds.max - bounds.min;
    }
    assert!(messages >= (0..acknowledged).map(appender::batch_len).sum());
    let refused = store.append(&Message::new(TOPIC, 0, b"x")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}
