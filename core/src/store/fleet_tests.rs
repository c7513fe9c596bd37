//! Directories of an open store that change while it is appended to.

use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, ManualClock, MemDisk, OsClock, OsDisk};
use crate::error::{ErrorKind, Result};
use crate::options::{DirectoryOptions, Options};
use crate::record::Message;
use crate::retention::{Pressure, Role, Usage};
use crate::store::Store;
use crate::tasks::CheckpointStep;

fn options(draining: Role) -> Options {
    Options::new()
        .directory("/d0")
        .directory(DirectoryOptions::new("/d1").role(draining))
        .segment_len_bytes(4096)
        .queue_file_len_bytes(400)
        .background(false)
}

fn open(disk: &Arc<MemDisk>, options: Options) -> Result<Store> {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    Store::open_on(Arc::clone(disk) as Arc<dyn Disk>, clock, "/store", options)
}

fn append(store: &Store) -> Option<ErrorKind> {
    store.append(&Message::new("orders", 0, &[b'x'; 2000])).err().map(|error| error.kind())
}

/// A removal that was refused left the directory out until the next probe: with no other one to
/// write to, appends were refused as if all disks were full.
#[test]
fn a_refused_removal_changes_nothing() {
    let store = open(&Arc::new(MemDisk::new()), options(Role::Draining)).unwrap();
    assert_eq!(append(&store), None);
    let refused = store.remove_directory("/d0").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    for _ in 0..5 {
        assert_eq!(append(&store), None);
    }
    store.remove_directory("/d1").unwrap();
    assert_eq!(append(&store), None);
}

/// The first append to a log whose last segment lay in a read-only directory panicked.
#[test]
fn a_log_does_not_go_on_in_a_read_only_directory() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options(Role::Draining)).unwrap();
    assert_eq!(append(&store), None);
    let refused = store.set_role("/d0", Role::ReadOnly).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    store.set_role("/d1", Role::ReadOnly).unwrap();
    store.close().unwrap();

    let fixed = |options: Options| Options {
        directories: vec![
            DirectoryOptions::new("/d0").role(Role::ReadOnly),
            DirectoryOptions::new("/d1").role(Role::ReadWrite),
        ],
        ..options
    };
    let refused = open(&disk, fixed(options(Role::Draining))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.path().unwrap().starts_with(Path::new("/d0")), "{refused}");
    open(&disk, fixed(options(Role::Draining)).read_only(true)).unwrap();
}

/// Cleaning and the checkpoint step wrote the ledger side by side: over each other's temporary
/// file, and the older one last.
#[test]
fn checkpoints_are_written_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options::new().segment_len_bytes(1 << 20).background(false);
    let (disk, clock) = (Arc::new(OsDisk::new()), Arc::new(OsClock::new()));
    let store = Store::open_on(disk, clock, dir.path(), options).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100 {
                    CheckpointStep::write(&store.engine, false).unwrap();
                }
            });
        }
    });
    store.close().unwrap();
}

/// Two directories of one file system under quotas: each is judged by its own, and the measure of
/// the file system returns when the host has no more to say.
#[test]
fn a_told_usage_stands_for_the_file_systems() {
    let store = open(&Arc::new(MemDisk::new()), options(Role::ReadWrite)).unwrap();
    let told = |dir, used| store.set_usage(dir, Usage::new(used, 100 - used)).unwrap();
    let pressures = || -> Vec<_> { store.disks().unwrap().iter().map(|d| d.pressure).collect() };
    told("/d0", 86);
    assert_eq!(pressures(), [Pressure::Force, Pressure::None]);
    told("/d0", 91);
    told("/d1", 91);
    assert_eq!(append(&store), Some(ErrorKind::Full));
    store.set_usage("/d1", None).unwrap();
    assert_eq!(pressures(), [Pressure::Refuse, Pressure::None]);
    assert_eq!(append(&store), None);
    let unknown = store.set_usage("/d7", None).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Invalid);
}

/// A disk that filled up between two looks at the disks refused appends, although another one that
/// had been too full before could take them by then.
#[test]
fn a_disk_that_turns_out_full_makes_the_store_look_again() {
    let disk = Arc::new(MemDisk::new());
    disk.set_capacity(Path::new("/d0"), 40 << 10);
    disk.set_capacity(Path::new("/d1"), 400 << 10);
    disk.write(Path::new("/d1/others"), &[1; 380 << 10]);
    let store = open(&disk, options(Role::ReadWrite)).unwrap();
    let takes = |at: usize| store.disks().unwrap()[at].takes_segments;
    assert!(takes(0) && !takes(1));
    disk.remove(Path::new("/d1/others")).unwrap();
    for _ in 0..40 {
        assert_eq!(append(&store), None);
    }
    let segments = store.segments();
    assert!(segments.iter().any(|segment| segment.path.starts_with("/d1")), "{segments:?}");
}
