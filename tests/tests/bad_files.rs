//! Files of a store that are missing, doubled, strange or of another time, disks that run full and
//! fail at every step: what is whole is served, what is not is told, and nothing is left locked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use spanlog::disk::slots::Slots;
use spanlog::disk::{Access, Disk, MemDisk};
use spanlog::{Error, ErrorKind, QueueOffset, ReadLimits, Store, Task};
use spanlog_tests::fault_disk::{Failure, Fault, FaultDisk, Operation};
use spanlog_tests::small_store::{
    NOW_MS, ROOT, TOPIC, append, bare_options, body, check, files, open, open_at, options,
    try_append,
};

const MESSAGES: u32 = 45;
const TEN_YEARS_MS: i64 = 10 * 365 * 24 * 3600 * 1000;

fn own(name: &str) -> PathBuf {
    Path::new(ROOT).join(".spanlog").join(name)
}

/// A store with messages `0..MESSAGES` in four segments, closed cleanly or killed after everything
/// was flushed and indexed.
fn stored(clean: bool) -> Arc<MemDisk> {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..MESSAGES);
    store.catch_up().unwrap();
    store.run(Task::Checkpoint).unwrap();
    if clean {
        store.close().unwrap();
    }
    Arc::new(disk.kill())
}

/// The path of segment `number`, wherever it is.
fn segment(disk: &MemDisk, number: u64) -> PathBuf {
    let name = format!("{:020}", number * 4096);
    let paths = ["/d0", "/d1", "/d2"].map(|dir| Path::new(dir).join(&name));
    let found = paths.into_iter().find(|path| disk.stat(path).unwrap().is_some());
    found.expect("there is such a segment")
}

fn reopened(disk: &Arc<MemDisk>) -> Result<Store, Error> {
    open(disk, bare_options())
}

fn refused(disk: &Arc<MemDisk>) -> Error {
    reopened(disk).expect_err("the store is refused")
}

#[test]
fn strange_names_are_ignored_and_kept() {
    let disk = stored(true);
    let names =
        ["README", ".nfs000123", "00000000000000000000.tmp", "0000000000000004096", "lost+found/x"];
    for name in names {
        disk.write(&Path::new("/d1").join(name), b"not ours");
    }
    disk.write(&Path::new(ROOT).join("consumequeue").join(TOPIC).join("x").join("y"), b"?");
    let store = reopened(&disk).unwrap();
    assert_eq!(store.recovery().ignored.len(), names.len());
    append(&store, MESSAGES..2 * MESSAGES);
    check(&store, 0..2 * MESSAGES);
    store.close().unwrap();
    for name in names {
        let found = disk.read(&Path::new("/d1").join(name)).unwrap();
        assert_eq!(found.as_deref(), Some(b"not ours".as_slice()), "{name}");
    }
}

#[test]
fn zero_length_segments() {
    for clean in [true, false] {
        // Behind the last, next to it or in another directory, one or two: nothing is lost.
        for extra in [&["/d0"][..], &["/d1"], &["/d2"], &["/d1", "/d2"]] {
            let disk = stored(clean);
            let last = reopened(&disk.kill().into()).unwrap().segments().len() as u64;
            for (at, dir) in extra.iter().enumerate() {
                let name = format!("{:020}", (last + at as u64) * 4096);
                disk.write(&Path::new(dir).join(name), b"");
            }
            let store = reopened(&disk).unwrap_or_else(|error| panic!("{extra:?}: {error}"));
            append(&store, MESSAGES..2 * MESSAGES);
            check(&store, 0..2 * MESSAGES);
        }
        // In the middle it is damage.
        let disk = stored(clean);
        let path = segment(&disk, 1);
        disk.truncate(&path, 0).unwrap();
        let error = refused(&disk);
        assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some(path.as_path())));
    }
    // The only file of a store.
    let disk = Arc::new(MemDisk::new());
    disk.write(Path::new("/d0/00000000000000000000"), b"");
    let store = open(&disk, options()).unwrap();
    append(&store, 0..3);
    check(&store, 0..3);
}

#[test]
fn wrong_lengths_and_names() {
    for (len, limit) in [(4095, 4096), (4097, 4096), (8192, 4096), (1, 4096)] {
        let disk = stored(true);
        let path = segment(&disk, 1);
        disk.truncate(&path, len).unwrap();
        let error = refused(&disk);
        assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some(path.as_path())));
        assert_eq!((error.offset(), error.limit()), (Some(len as u64), Some(limit)));
    }
    let disk = stored(true);
    let path = Path::new("/d0/00000000000000001000");
    disk.write(path, &[1; 4096]);
    let error = refused(&disk);
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some(path)));
}

#[test]
fn a_gap_is_refused_or_served_around() {
    let disk = stored(true);
    disk.lose(&segment(&disk, 1));
    let error = refused(&disk);
    assert_eq!((error.kind(), error.range()), (ErrorKind::Offline, Some(4096..8192)));
    let store = open(&disk, bare_options().allow_offline(true)).unwrap();
    assert_eq!(store.recovery().offline, vec![4096..8192]);
    let mut offline = 0;
    for number in 0..MESSAGES {
        let offset = QueueOffset::new(u64::from(number / 3));
        let limits = ReadLimits { max_messages: 1, ..ReadLimits::default() };
        match store.read(TOPIC, number % 3, offset, limits) {
            Ok(batch) => {
                let stored = batch.iter().next().unwrap();
                assert_eq!(stored.decode_verified().unwrap().body(), body(number).as_bytes());
            }
            Err(error) => {
                assert_eq!((error.kind(), error.range()), (ErrorKind::Offline, Some(4096..8192)));
                offline += 1;
            }
        }
    }
    assert!((5..25).contains(&offline), "{offline} messages are offline");
}

#[test]
fn twins_are_judged_by_their_content() {
    let twin_of = |disk: &MemDisk, path: &Path| {
        let name = path.file_name().unwrap();
        let dirs = ["/d0", "/d1", "/d2"].map(Path::new);
        let dir = dirs.into_iter().find(|dir| !path.starts_with(dir)).unwrap();
        assert!(disk.stat(&dir.join(name)).unwrap().is_none());
        dir.join(name)
    };
    for number in 0..3 {
        for kind in ["none", "zeros", "same"] {
            let disk = stored(number == 1);
            let path = segment(&disk, number);
            let bytes = disk.read(&path).unwrap().unwrap();
            let twin = twin_of(&disk, &path);
            match kind {
                "none" => disk.write(&twin, b""),
                "zeros" => disk.write(&twin, &[0; 4096]),
                _ => disk.write(&twin, &bytes),
            }
            let store = reopened(&disk).unwrap_or_else(|error| panic!("{number} {kind}: {error}"));
            let names = store.segments().into_iter().filter(|s| s.base.get() == number * 4096);
            assert_eq!(names.count(), 1);
            check(&store, 0..MESSAGES);
        }
        let disk = stored(true);
        let path = segment(&disk, number);
        let twin = twin_of(&disk, &path);
        let mut bytes = disk.read(&path).unwrap().unwrap();
        bytes[300] ^= 1;
        disk.write(&twin, &bytes);
        let error = refused(&disk);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        let text = error.to_string();
        assert!([&path, &twin].iter().all(|p| text.contains(&*p.to_string_lossy())), "{text}");
    }
}

#[test]
fn small_files_may_be_damaged_in_any_way() {
    let names = [own("marks"), own("queues"), Path::new(ROOT).join("checkpoint")];
    let registry = own("store");
    for clean in [true, false] {
        for path in names.iter().chain([&registry]) {
            let original = stored(clean).read(path).unwrap().unwrap();
            let garbage: Vec<u8> = (0..original.len()).map(|at| (at * 37 + 11) as u8).collect();
            let variants = [
                Vec::new(),
                vec![0; original.len()],
                vec![0xFF; original.len()],
                original[..original.len() / 2].to_vec(),
                [&original[..], b"more"].concat(),
                garbage,
            ];
            for (at, bytes) in variants.iter().enumerate() {
                let disk = stored(clean);
                disk.write(path, bytes);
                match reopened(&disk) {
                    Ok(store) => check(&store, 0..MESSAGES),
                    Err(error) => {
                        assert_eq!(path, &registry, "variant {at}: {error}");
                        assert_eq!(error.kind(), ErrorKind::Corrupt, "variant {at}: {error}");
                        assert_eq!(error.path(), Some(registry.as_path()), "variant {at}");
                    }
                }
            }
        }
        for path in &names {
            let disk = stored(clean);
            disk.lose(path);
            check(&reopened(&disk).unwrap(), 0..MESSAGES);
        }
    }
}

#[test]
fn small_files_from_the_future() {
    let disk = stored(true);
    disk.write(&own("store"), b"spanlog 2\nwhatever\n");
    let error = refused(&disk);
    assert_eq!((error.kind(), error.path()), (ErrorKind::Version, Some(own("store").as_path())));

    // RocketMQ's marks, of a time and a place that never were.
    for clean in [true, false] {
        let disk = stored(clean);
        disk.write(&Path::new(ROOT).join("checkpoint"), &[0x7F; 4096]);
        check(&reopened(&disk).unwrap(), 0..MESSAGES);
    }

    // More was flushed than there is: a part of the log is missing.
    let disk = stored(false);
    let file = disk.open(&own("marks"), Access::Write).unwrap();
    let (mut slots, payload) = Slots::open(file).unwrap();
    let mut payload = payload.unwrap();
    payload[1..9].copy_from_slice(&1_000_000_u64.to_be_bytes());
    slots.write(&payload).unwrap();
    let error = refused(&disk);
    assert!([ErrorKind::Corrupt, ErrorKind::Offline].contains(&error.kind()), "{error}");
    let end = error.range().expect("the range that is missing").start;
    assert_eq!(end, reopened(&stored(false)).unwrap().watermarks().appended.get());
}

#[test]
fn a_clock_that_jumps_ten_years() {
    let disk = stored(true);
    for (at, jump) in [-TEN_YEARS_MS, TEN_YEARS_MS, 0].into_iter().enumerate() {
        let from = MESSAGES + 6 * at as u32;
        let store = open_at(&disk, bare_options(), NOW_MS + jump).unwrap();
        check(&store, 0..from);
        append(&store, from..from + 6);
        for task in [Task::Flush, Task::Index, Task::Checkpoint, Task::Probe] {
            store.run(task).unwrap();
        }
        check(&store, 0..from + 6);
        store.close().unwrap();
    }
}

#[test]
fn a_disk_that_is_full_at_any_allocation() {
    let takes_space = Operation::ALL.into_iter().filter(|operation| operation.takes_space());
    for operation in takes_space {
        for sparse in [false, true] {
            for nth in 1..12 {
                fill_at(operation, nth, sparse);
            }
        }
    }
}

/// One allocation fails; whatever was acknowledged is there, and appending goes on.
fn fill_at(operation: Operation, nth: u64, sparse: bool) {
    let context = format!("{operation:?} {nth} {sparse}");
    let mem = Arc::new(MemDisk::new());
    let faults = Arc::new(FaultDisk::new(Arc::clone(&mem) as Arc<dyn Disk>));
    faults.set_sparse(sparse);
    faults.fail_nth(operation, nth, Failure::Full);
    let mut next = 0;
    let mut store = open(&faults, options()).or_else(|error| {
        assert_eq!(error.kind(), ErrorKind::Full, "{context}: {error}");
        open(&faults, options())
    });
    for _ in 0..70 {
        let store = store.as_mut().unwrap_or_else(|error| panic!("{context}: {error}"));
        match try_append(store, next) {
            Ok(_) => next += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Full, "{context}: {error}"),
        }
        for task in [Task::Flush, Task::Index, Task::Checkpoint, Task::Probe, Task::Prepare] {
            if let Err(error) = store.run(task) {
                assert_eq!(error.kind(), ErrorKind::Full, "{context}: {error}");
            }
        }
    }
    assert!(next >= 69, "{context}: {next} messages");
    check(store.as_ref().unwrap(), 0..next);
    drop(store);
    faults.heal();
    check(&open(&faults, bare_options()).unwrap(), 0..next);
}

#[test]
fn a_failure_at_any_step_of_opening_leaves_nothing_locked() {
    for clean in [true, false] {
        for (failure, lasting) in
            [(Failure::Io, false), (Failure::Full, false), (Failure::Io, true)]
        {
            for nth in 1.. {
                let mem = stored(clean);
                let faults = Arc::new(FaultDisk::new(Arc::clone(&mem) as Arc<dyn Disk>));
                faults.fail(Fault { operation: None, nth, failure, lasting });
                let outcome = open(&faults, bare_options());
                let struck = !faults.fired().is_empty();
                faults.heal();
                drop(outcome);
                let store = open(&faults, bare_options());
                let store = store.unwrap_or_else(|error| panic!("{clean} step {nth}: {error}"));
                check(&store, 0..MESSAGES);
                append(&store, MESSAGES..MESSAGES + 3);
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_second_opener_changes_nothing() {
    let mem = stored(true);
    let faults = Arc::new(FaultDisk::new(Arc::clone(&mem) as Arc<dyn Disk>));
    let store = reopened(&mem).unwrap();
    let before = files(mem.as_ref(), Path::new("/"));
    assert_eq!(open(&faults, bare_options()).unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(faults.changes(), faults.count(Operation::Lock));
    assert_eq!(files(mem.as_ref(), Path::new("/")), before);
    append(&store, MESSAGES..MESSAGES + 3);
    check(&store, 0..MESSAGES + 3);
}
