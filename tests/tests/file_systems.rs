//! Small real file systems: disks of unequal size that fill up, give space back, turn read-only,
//! are not there, or cannot reserve blocks. None of it is a signal; all of it is a typed error or
//! another directory. Needs root, or is skipped.

use std::fs;
use std::path::Path;

use spanlog::{
    DirectoryOptions, Error, ErrorKind, Message, Options, Placement, QueueOffset, ReadLimits,
    ReadStatus, Role, Store, Task,
};
use spanlog_tests::mounts::{Kind, Mount, mounted};

const MIB: u64 = 1 << 20;
const TOPIC: &str = "disks";

fn options(dirs: &[&Path]) -> Options {
    let options = Options::new()
        .segment_len_bytes(256 * 1024)
        .queue_file_len_bytes(20_000)
        .prepare_bytes(0)
        .forced_clean(false)
        .background(false);
    dirs.iter().fold(options, |options, dir| options.directory(*dir))
}

fn body(number: u64) -> Vec<u8> {
    let mut body = number.to_be_bytes().to_vec();
    body.resize(1000 + (number % 50) as usize, number as u8);
    body
}

fn try_append(store: &Store, number: u64) -> Result<(), Error> {
    store.append(&Message::new(TOPIC, 0, &body(number))).map(drop)
}

fn append(store: &Store, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| try_append(store, number).expect("there is room"));
}

/// Appends from `first` on, looking at the disks now and then, until an append fails; returns the
/// number of that message and the error.
fn append_until_error(store: &Store, first: u64) -> (u64, Error) {
    for number in first.. {
        if number % 32 == 0 {
            store.run(Task::Probe).unwrap();
        }
        if let Err(error) = try_append(store, number) {
            return (number, error);
        }
    }
    unreachable!("every disk fills up")
}

/// Asserts that exactly these messages are there.
fn check(store: &Store, expected: std::ops::Range<u64>) {
    store.catch_up().unwrap();
    let (mut from, mut number) = (QueueOffset::new(expected.start), expected.start);
    loop {
        let batch = store.read(TOPIC, 0, from, ReadLimits::default()).unwrap();
        if batch.status() != ReadStatus::Found {
            break;
        }
        for stored in batch.iter() {
            assert_eq!(stored.decode_verified().unwrap().body(), body(number));
            number += 1;
        }
        from = batch.next();
    }
    assert_eq!(number, expected.end);
}

fn ratios(store: &Store) -> Vec<f64> {
    let disks = store.disks().unwrap();
    disks.iter().map(|disk| disk.usage.map_or(0.0, |usage| usage.used_ratio())).collect()
}

/// Three disks of 4, 8 and 16 MiB and one for the root.
fn unequal_disks(dir: &Path) -> Result<(Mount, [Mount; 3]), String> {
    let root = Mount::tmpfs(&dir.join("root"), 8 * MIB)?;
    let small = Mount::tmpfs(&dir.join("small"), 4 * MIB)?;
    let middle = Mount::tmpfs(&dir.join("middle"), 8 * MIB)?;
    let large = Mount::tmpfs(&dir.join("large"), 16 * MIB)?;
    Ok((root, [small, middle, large]))
}

/// Room for new segments comes back: appends work after one probe, and after a reopen.
fn check_relief(store: Store, options: Options, next: u64, relieve: impl FnOnce()) {
    assert_eq!(try_append(&store, next).unwrap_err().kind(), ErrorKind::Full);
    let root = store.root().to_owned();
    store.close().unwrap();
    let store = Store::open(&root, options.clone()).unwrap();
    check(&store, 0..next);
    assert_eq!(try_append(&store, next).unwrap_err().kind(), ErrorKind::Full);
    relieve();
    store.run(Task::Probe).unwrap();
    append(&store, next..next + 10);
    store.close().unwrap();
    drop(store);
    let store = Store::open(&root, options).unwrap();
    append(&store, next + 10..next + 20);
    check(&store, 0..next + 20);
}

fn fill_unequal_disks(test: &str, placement: Placement) {
    let dir = tempfile::tempdir().unwrap();
    let Some((root, disks)) = mounted(test, unequal_disks(dir.path())) else { return };
    let dirs: Vec<_> = disks.iter().map(|disk| disk.dir().join("log")).collect();
    let dirs: Vec<_> = dirs.iter().map(|dir| dir.as_path()).collect();
    let options = options(&dirs).placement(placement);
    let store = Store::open(root.dir(), options.clone()).unwrap();
    append(&store, 0..12_000);
    let half = ratios(&store);
    let spread =
        half.iter().cloned().fold(0.0, f64::max) - half.iter().cloned().fold(1.0, f64::min);
    let together = placement == Placement::FreeSpace;
    assert!(!together || spread < 0.2, "disks fill together: {half:?}");
    let (next, error) = append_until_error(&store, 12_000);
    assert_eq!(error.kind(), ErrorKind::Full, "{error}");
    let full = ratios(&store);
    assert!(full.iter().all(|ratio| *ratio > 0.89), "refused too early: {full:?}, {error}");
    let text = error.to_string();
    assert!(dirs.iter().all(|dir| text.contains(&*dir.to_string_lossy())), "{text}");
    check(&store, 0..next);
    check_relief(store, options, next, || disks[2].remount("size=64m").unwrap());
}

#[test]
fn unequal_disks_fill_together_by_free_space() {
    fill_unequal_disks("unequal disks by free space", Placement::FreeSpace);
}

#[test]
fn unequal_disks_fill_to_the_last_in_rocketmq_order() {
    fill_unequal_disks("unequal disks in RocketMQ's order", Placement::Rocketmq);
}

/// A disk that fills up between two looks at it: the append that needs room says so.
fn fill_suddenly(test: &str, make: impl FnOnce(&Path) -> Result<Mount, String>) {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = mounted(test, make(&dir.path().join("disk"))) else { return };
    let log = disk.dir().join("log");
    let options = options(&[&log]);
    let store = Store::open(dir.path().join("root"), options.clone()).unwrap();
    append(&store, 0..300);
    let ballast = disk.fill();
    let mut next = 300;
    let error = loop {
        match try_append(&store, next) {
            Ok(()) => next += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Full, "{error}");
    // What is there is readable, and flushing it does no harm.
    store.flush().unwrap();
    check(&store, 0..next);
    check_relief(store, options, next, || fs::remove_file(ballast).unwrap());
}

#[test]
fn a_disk_in_memory_that_fills_up_is_an_error() {
    fill_suddenly("a full tmpfs", |dir| Mount::tmpfs(dir, 4 * MIB));
}

#[test]
fn a_disk_that_fills_up_is_an_error() {
    fill_suddenly("a full ext4", |dir| Mount::image(dir, Kind::Ext4, 16 * MIB));
}

#[test]
fn a_disk_that_cannot_reserve_fills_up_without_a_signal() {
    fill_suddenly("a full ext2", |dir| Mount::image(dir, Kind::Ext2, 8 * MIB));
}

#[test]
fn lost_and_found_is_ignored_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let made = Mount::image(&dir.path().join("disk"), Kind::Ext4, 16 * MIB);
    let Some(disk) = mounted("lost+found", made) else { return };
    // The file system's own directory holds the segments.
    let options = options(&[disk.dir()]);
    for round in 0..2 {
        let store = Store::open(dir.path().join("root"), options.clone()).unwrap();
        assert!(store.recovery().ignored.contains(&disk.dir().join("lost+found")));
        append(&store, round * 500..round * 500 + 500);
        check(&store, 0..round * 500 + 500);
        store.close().unwrap();
    }
    Store::destroy(dir.path().join("root"), &Options::new()).unwrap();
    let names: Vec<_> = fs::read_dir(disk.dir()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["lost+found"]);
}

#[test]
fn a_directory_that_turns_read_only_is_passed_by() {
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str| Mount::image(&dir.path().join(name), Kind::Ext4, 16 * MIB);
    let made = make("a").and_then(|a| Ok([a, make("b")?, make("c")?]));
    let Some(disks) = mounted("a read-only disk", made) else { return };
    let dirs: Vec<_> = disks.iter().map(|disk| disk.dir().join("log")).collect();
    let dirs: Vec<_> = dirs.iter().map(|dir| dir.as_path()).collect();
    let store = Store::open(dir.path().join("root"), options(&dirs)).unwrap();
    append(&store, 0..400);
    store.flush().unwrap();
    let active = store.segments().last().unwrap().path.clone();
    let victim = disks.iter().find(|disk| !active.starts_with(disk.dir())).unwrap();
    victim.remount("abort").unwrap();
    append(&store, 400..2400);
    store.flush().unwrap();
    let before: Vec<_> = store.segments().into_iter().map(|segment| segment.path).collect();
    let used = |disk: &Mount| before.iter().filter(|path| path.starts_with(disk.dir())).count();
    assert!(used(victim) <= 1, "{before:?}");
    assert!(disks.iter().filter(|disk| used(disk) > 2).count() == 2, "{before:?}");
    check(&store, 0..2400);
    store.close().unwrap();
    // Opened again with the disk as it is now, declared for what it is.
    let path = victim.dir().join("log");
    let mut options = options(&dirs.iter().copied().filter(|dir| *dir != path).collect::<Vec<_>>());
    options = options.directory(DirectoryOptions::new(&path).role(Role::ReadOnly));
    let store = Store::open(dir.path().join("root"), options).unwrap();
    append(&store, 2400..2800);
    check(&store, 0..2800);
}

#[test]
fn the_disk_being_written_turns_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let made = Mount::image(&dir.path().join("disk"), Kind::Ext4, 16 * MIB);
    let Some(disk) = mounted("a read-only active disk", made) else { return };
    let log = disk.dir().join("log");
    let store = Store::open(dir.path().join("root"), options(&[&log])).unwrap();
    append(&store, 0..400);
    store.flush().unwrap();
    disk.remount("abort").unwrap();
    let durable = store.append_durable(&Message::new(TOPIC, 0, &body(400))).unwrap_err();
    assert_eq!(durable.kind(), ErrorKind::Io, "{durable}");
    let after = try_append(&store, 401).unwrap_err();
    assert_eq!(after.kind(), ErrorKind::Poisoned, "{after}");
    let batch = store.read(TOPIC, 0, QueueOffset::ZERO, ReadLimits::default());
    assert!(batch.is_ok() && store.close().is_err());
}
