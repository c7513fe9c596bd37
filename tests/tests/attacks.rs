//! What somebody found who tried to break the store's promises, each told by one short history.

use std::path::Path;
use std::sync::Arc;

use spanlog::disk::{Disk, MemDisk};
use spanlog::{ErrorKind, Message, Options, QueueOffset, ReadLimits, Store};
use spanlog_tests::fault_disk::FaultDisk;
use spanlog_tests::small_store::{
    ROOT, TOPIC, append, bare_options, check, files, open, options, try_append,
};

fn plain(disk: &Arc<MemDisk>) -> Arc<dyn Disk> {
    Arc::clone(disk) as Arc<dyn Disk>
}

fn copy(disk: &MemDisk, from: &Path, to: &Path) {
    for (path, _) in files(disk, from) {
        let bytes = disk.read(&path).unwrap().unwrap();
        let target = to.join(path.strip_prefix(from).unwrap());
        disk.make_dir(target.parent().unwrap()).unwrap();
        disk.write(&target, &bytes);
    }
}

#[test]
fn eviction_by_many_threads_never_panics() {
    // The maps were sorted by a number that other threads changed, and the sort panicked.
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options().max_maps(64)).unwrap();
    append(&store, 0..3000);
    store.catch_up().unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4_u64 {
            let store = &store;
            scope.spawn(move || {
                let mut number = seed;
                for _ in 0..3000 {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed + 1);
                    let from = QueueOffset::new((number >> 33) % 1000);
                    let one = ReadLimits { max_messages: 1, ..ReadLimits::default() };
                    let batch = store.read(TOPIC, (number % 3) as u32, from, one).unwrap();
                    assert_eq!(batch.iter().next().unwrap().queue_offset(), from);
                }
            });
        }
    });
}

#[test]
fn a_copy_of_the_root_cannot_write_beside_the_original() {
    // Only the root was locked: both wrote the same segments, and acknowledged messages were lost.
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..50);
    store.close().unwrap();
    copy(&disk, Path::new(ROOT), Path::new("/copy"));
    let store = open(&disk, bare_options()).unwrap();
    let clock = Arc::new(spanlog::disk::ManualClock::new(1_700_000_000_000));
    let at_copy = || Store::open_on(plain(&disk), clock.clone(), "/copy", bare_options());
    assert_eq!(at_copy().unwrap_err().kind(), ErrorKind::Locked);
    append(&store, 50..60);
    check(&store, 0..60);
    store.close().unwrap();
    drop(at_copy().expect("the directories are free again"));
}

#[test]
fn a_lost_or_damaged_registry_can_be_made_anew() {
    // The advice was to remove it, and then the directories were taken for another store's.
    for damage in [None, Some(b"garbage".as_slice())] {
        let disk = Arc::new(MemDisk::new());
        let store = open(&disk, options()).unwrap();
        append(&store, 0..50);
        store.close().unwrap();
        let registry = Path::new(ROOT).join(".spanlog/store");
        match damage {
            None => disk.lose(&registry),
            Some(bytes) => disk.write(&registry, bytes),
        }
        let refused = open(&disk, options()).unwrap_err().kind();
        assert!(matches!(refused, ErrorKind::Foreign | ErrorKind::Corrupt), "{refused}");
        check(&open(&disk, options().adopt(true)).unwrap(), 0..50);
        check(&open(&disk, bare_options()).unwrap(), 0..50);
    }
}

#[test]
fn an_interrupted_destruction_can_be_finished() {
    // Its first directories were gone, and that was an error for every later attempt.
    for nth in 1..60 {
        let mem = Arc::new(MemDisk::new());
        let faults = Arc::new(FaultDisk::new(plain(&mem)));
        append(&open(&mem, options()).unwrap(), 0..50);
        faults.stop_at(nth);
        let first = Store::destroy_on(Arc::clone(&faults) as Arc<dyn Disk>, ROOT, &Options::new());
        if first.is_err() {
            // That nothing is left to destroy is no failure here.
            let _ = Store::destroy_on(plain(&mem), ROOT, &Options::new());
        }
        for dir in ["/d0", "/d1", "/d2", ROOT] {
            assert_eq!(files(mem.as_ref(), Path::new(dir)), [], "stopped at {nth}: {dir}");
        }
    }
}

#[test]
fn a_queue_file_in_another_queues_place_is_told() {
    // The messages of one queue were read as those of the other, without a word.
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..60);
    store.close().unwrap();
    let file = |queue: u32| {
        Path::new(ROOT).join(format!("consumequeue/{TOPIC}/{queue}/00000000000000000000"))
    };
    let bytes = disk.read(&file(1)).unwrap().unwrap();
    disk.write(&file(0), &bytes);
    let store = open(&disk, options()).unwrap();
    let read = store.read(TOPIC, 0, QueueOffset::ZERO, ReadLimits::default());
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn readers_that_hold_every_map_do_not_stop_the_appender() {
    // The next segment could not be mapped, and appends were refused until a batch was released.
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options().max_maps(4)).unwrap();
    append(&store, 0..200);
    store.catch_up().unwrap();
    let mut held = Vec::new();
    for from in 0..60 {
        let one = ReadLimits { max_messages: 1, ..ReadLimits::default() };
        match store.read(TOPIC, 0, QueueOffset::new(from), one) {
            Ok(batch) => held.push(batch),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Full),
        }
    }
    for number in 200..300 {
        try_append(&store, number).expect("appending goes on");
    }
    drop(held);
    check(&store, 0..300);
}

#[test]
fn a_failed_append_leaves_no_queue_behind() {
    // A queue that never had a message was listed from its first failed append on.
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    let large = vec![7; 5000];
    assert!(store.append(&Message::new("new", 0, &large)).is_err());
    assert_eq!(store.bounds("new", 0), None);
    assert_eq!(store.queues(), []);
}
