//! What every disk must do, asked of the real one and of the one in memory alike.

use super::*;
use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::error::ErrorKind;

/// A disk to be tested, and a directory of it that is ours.
struct World {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    _dir: Option<tempfile::TempDir>,
}

impl World {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn file(&self, name: &str, len: u64) -> Arc<dyn File> {
        let file = self.disk.create(&self.root, len, Allocation::Reserved).unwrap();
        file.link(&self.path(name)).unwrap();
        file
    }

    fn names(&self) -> Vec<String> {
        let entries = self.disk.list(&self.root).unwrap();
        let mut names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
        names.sort();
        names
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        self.disk.read(&self.path(name)).unwrap().unwrap()
    }
}

fn worlds() -> [World; 2] {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let real = World { disk: Arc::new(OsDisk::new()), root, _dir: Some(dir) };
    let memory = World { disk: Arc::new(MemDisk::new()), root: "/data".into(), _dir: None };
    memory.disk.make_dir(&memory.root).unwrap();
    [real, memory]
}

fn kind_of<T: Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

#[test]
fn a_file_is_made_named_written_and_read() {
    for world in worlds() {
        let file = world.disk.create(&world.root, 10_000, Allocation::Reserved).unwrap();
        assert!(file.is_reserved(), "{world:?}", world = world.disk);
        assert_eq!(file.len_bytes(), 10_000);
        assert_eq!(world.names(), [""; 0]);
        file.link(&world.path("a")).unwrap();
        world.disk.sync_dir(&world.root).unwrap();
        assert_eq!(world.names(), ["a"]);

        let map = file.map(Access::Write).unwrap();
        map.populate(0..10_000, Access::Write).unwrap();
        let mut writer = map.writer().unwrap();
        writer.put(9_990, b"0123456789");
        file.write_at(5, b"written").unwrap();
        file.sync().unwrap();
        assert_eq!(map.bytes(9_990..10_000, Published::all()).unwrap(), b"0123456789");
        assert_eq!(map.bytes(4..13, Published::all()).unwrap(), b"\0written\0");
        let mut read = [1; 4];
        file.read_at(9_996, &mut read).unwrap();
        assert_eq!(&read, b"6789");
        assert_eq!(world.bytes("a").len(), 10_000);
        assert_eq!(&world.bytes("a")[9_990..9_993], b"012");
    }
}

#[test]
fn two_maps_of_a_file_show_the_same_bytes() {
    for world in worlds() {
        let file = world.file("a", 8192);
        let reader = world.disk.open(&world.path("a"), Access::Read).unwrap();
        let seen = reader.map(Access::Read).unwrap();
        seen.populate(0..8192, Access::Read).unwrap();
        assert!(seen.writer().is_none(), "a map for reading has no writer");
        let map = file.map(Access::Write).unwrap();
        map.writer().unwrap().put(4096, b"shared");
        let published = Published::all().below(Position::new(u64::MAX - 4102));
        assert_eq!(seen.bytes(4096..4102, published).unwrap(), b"shared");
        assert_eq!(seen.bytes(4096..4103, published), None);
        assert_eq!(kind_of(reader.write_at(0, b"x")), ErrorKind::Io);
        assert_eq!(kind_of(reader.map(Access::Write)), ErrorKind::Io);
    }
}

#[test]
fn bytes_outlive_handle_name_and_disk() {
    for world in worlds() {
        let file = world.file("a", 4096);
        let map = file.map(Access::Write).unwrap();
        map.writer().unwrap().put(0, b"alive");
        let slice = map.slice(0..5, Published::all()).unwrap();
        world.disk.remove(&world.path("a")).unwrap();
        assert_eq!(world.names(), [""; 0]);
        drop((map, file, world));
        assert_eq!(&slice[..], b"alive");
        assert_eq!(slice.clone().as_ref(), b"alive");
    }
}

#[test]
fn no_name_is_taken_twice() {
    for world in worlds() {
        let first = world.file("a", 4096);
        let second = world.disk.create(&world.root, 4096, Allocation::Sparse).unwrap();
        let error = second.link(&world.path("a")).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(&*world.path("a"))));
        second.link(&world.path("b")).unwrap();
        assert_eq!(kind_of(first.link(&world.path("c"))), ErrorKind::Invalid);
        assert_eq!(kind_of(second.link(&world.path("c"))), ErrorKind::Invalid);
        assert_eq!(world.names(), ["a", "b"]);
    }
}

#[test]
fn a_file_dropped_without_a_name_leaves_nothing() {
    for world in worlds() {
        drop(world.disk.create(&world.root, 1 << 20, Allocation::Reserved).unwrap());
        assert_eq!(world.names(), [""; 0]);
        let missing = world.path("missing");
        let outcome = world.disk.create(&missing, 1, Allocation::Sparse);
        assert_eq!(kind_of(outcome), ErrorKind::Io);
        assert_eq!(world.disk.stat(&missing).unwrap(), None);
    }
}

#[test]
fn an_empty_file_can_be_made_and_mapped() {
    for world in worlds() {
        let file = world.file("a", 0);
        let map = file.map(Access::Write).unwrap();
        assert_eq!(map.bytes(0..0, Published::all()).unwrap(), b"");
        assert_eq!(map.bytes(0..1, Published::all()), None);
        file.zero(0, 0).unwrap();
        file.reserve().unwrap();
        map.populate(0..100, Access::Read).unwrap();
        assert_eq!(file.next_data(0).unwrap(), None);
        assert!(world.disk.open(&world.path("a"), Access::Read).unwrap().is_reserved());
    }
}

#[test]
fn zeroing_keeps_the_rest_and_the_blocks() {
    for world in worlds() {
        for allocation in [Allocation::Reserved, Allocation::Sparse] {
            let file = world.disk.create(&world.root, 20_000, allocation).unwrap();
            let map = file.map(Access::Write).unwrap();
            file.write_at(0, &[7; 20_000]).unwrap();
            file.zero(5_000, 15_000).unwrap();
            let bytes = map.bytes(0..20_000, Published::all()).unwrap();
            assert!(bytes[..5_000].iter().all(|byte| *byte == 7));
            assert!(bytes[5_000..15_000].iter().all(|byte| *byte == 0));
            assert!(bytes[15_000..].iter().all(|byte| *byte == 7));
            assert_eq!(file.is_reserved(), allocation == Allocation::Reserved);
        }
    }
}

#[test]
fn a_file_never_grows() {
    for world in worlds() {
        let file = world.file("a", 100);
        assert_eq!(kind_of(file.write_at(99, b"xy")), ErrorKind::Invalid);
        assert_eq!(kind_of(file.write_at(u64::MAX, b"xy")), ErrorKind::Invalid);
        assert_eq!(kind_of(file.read_at(101, &mut [])), ErrorKind::Invalid);
        assert_eq!(kind_of(file.zero(50, 101)), ErrorKind::Invalid);
        assert_eq!(kind_of(file.zero(50, 40)), ErrorKind::Invalid);
        assert_eq!(file.next_data(100).unwrap(), None);
        assert_eq!(world.bytes("a"), [0; 100]);
    }
}

#[test]
fn data_is_found_behind_a_hole() {
    const MIB: u64 = 1 << 20;
    for world in worlds() {
        let file = world.disk.create(&world.root, 4 * MIB, Allocation::Sparse).unwrap();
        assert!(!file.is_reserved());
        assert_eq!(file.next_data(0).unwrap(), None);
        file.write_at(2 * MIB + 5, b"data").unwrap();
        file.sync().unwrap();
        let found = file.next_data(0).unwrap().unwrap();
        assert!(found > 0 && found <= 2 * MIB + 5, "{found}");
        assert_eq!(file.next_data(2 * MIB + 6).unwrap(), Some(2 * MIB + 6));
        assert_eq!(file.next_data(3 * MIB + MIB / 2).unwrap(), None);
        file.reserve().unwrap();
        assert!(file.is_reserved());
    }
}

#[test]
fn a_sparse_file_is_known_when_it_is_opened_and_can_be_reserved() {
    for world in worlds() {
        let file = world.disk.create(&world.root, 1 << 20, Allocation::Sparse).unwrap();
        file.link(&world.path("a")).unwrap();
        let opened = world.disk.open(&world.path("a"), Access::Write).unwrap();
        assert!(!opened.is_reserved());
        opened.write_at(70, b"kept").unwrap();
        opened.reserve().unwrap();
        assert!(opened.is_reserved());
        let opened = world.disk.open(&world.path("a"), Access::Read).unwrap();
        assert!(opened.is_reserved());
        assert_eq!(&world.bytes("a")[70..74], b"kept");
    }
}

#[test]
fn labels_are_put_on_and_taken_off() {
    for world in worlds() {
        let dir = world.path("dir");
        assert_eq!(kind_of(world.disk.label(&dir)), ErrorKind::Io);
        assert_eq!(kind_of(world.disk.set_label(&dir, Some("x"))), ErrorKind::Io);
        world.disk.make_dir(&dir).unwrap();
        assert_eq!(world.disk.label(&dir).unwrap(), None);
        for text in ["store 1", "", "store \u{e9}"] {
            world.disk.set_label(&dir, Some(text)).unwrap();
            assert_eq!(world.disk.label(&dir).unwrap().as_deref(), Some(text));
        }
        assert_eq!(world.disk.list(&dir).unwrap(), [], "RocketMQ sees nothing");
        world.disk.set_label(&dir, None).unwrap();
        world.disk.set_label(&dir, None).unwrap();
        assert_eq!(world.disk.label(&dir).unwrap(), None);
    }
}

#[test]
fn a_lock_is_held_once_and_until_it_is_dropped() {
    for world in worlds() {
        let path = world.path("lock");
        let lock = world.disk.lock(&path).unwrap();
        assert_eq!(world.bytes("lock"), b"lock");
        let error = world.disk.lock(&path).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Locked, Some(&*path)));
        assert!(error.message().contains("another handle"), "{error}");
        drop(lock);
        // A file that was left over is no lock.
        drop(world.disk.lock(&path).unwrap());
        drop(world.disk.lock(&path).unwrap());
        assert_eq!(kind_of(world.disk.lock(&world.path("no/lock"))), ErrorKind::Io);
    }
}

#[test]
fn replacing_gives_the_new_bytes_and_leaves_no_other_name() {
    for world in worlds() {
        let path = world.path("a");
        assert_eq!(world.disk.read(&path).unwrap(), None);
        world.disk.replace(&path, b"one").unwrap();
        let old = world.disk.open(&path, Access::Read).unwrap();
        world.disk.replace(&path, b"second").unwrap();
        assert_eq!(world.bytes("a"), b"second");
        assert_eq!(old.len_bytes(), 3);
        assert_eq!(world.names(), ["a"]);
        assert_eq!(kind_of(world.disk.replace(&world.path("no/a"), b"x")), ErrorKind::Io);
        assert_eq!(kind_of(world.disk.replace(&world.root, b"x")), ErrorKind::Io);
        assert_eq!(kind_of(world.disk.read(&world.root)), ErrorKind::Io);
        assert_eq!(world.disk.read(&world.path("a/below")).ok().flatten(), None);
    }
}

#[test]
fn renaming_never_overwrites() {
    for world in worlds() {
        let (a, b) = (world.path("a"), world.path("b"));
        world.disk.replace(&a, b"a").unwrap();
        world.disk.replace(&b, b"b").unwrap();
        assert_eq!(kind_of(world.disk.rename(&a, &b)), ErrorKind::Io);
        assert_eq!((world.bytes("a"), world.bytes("b")), (b"a".to_vec(), b"b".to_vec()));
        world.disk.make_dir(&world.path("dir")).unwrap();
        world.disk.rename(&a, &world.path("dir/c")).unwrap();
        assert_eq!(world.bytes("dir/c"), b"a");
        assert_eq!(world.names(), ["b", "dir"]);
        assert_eq!(kind_of(world.disk.rename(&a, &world.path("d"))), ErrorKind::Io);
    }
}

#[test]
fn directories_are_made_with_their_parents_and_removed_when_empty() {
    for world in worlds() {
        let deep = world.path("x/y/z");
        world.disk.make_dir(&deep).unwrap();
        world.disk.make_dir(&deep).unwrap();
        assert_eq!(kind_of(world.disk.remove(&world.path("x"))), ErrorKind::Io);
        for name in ["x/y/z", "x/y", "x"] {
            world.disk.remove(&world.path(name)).unwrap();
        }
        assert_eq!(kind_of(world.disk.remove(&world.path("x"))), ErrorKind::Io);
        world.disk.replace(&world.path("file"), b"").unwrap();
        assert_eq!(kind_of(world.disk.make_dir(&world.path("file"))), ErrorKind::Io);
        assert_eq!(kind_of(world.disk.make_dir(&world.path("file/below"))), ErrorKind::Io);
        assert_eq!(kind_of(world.disk.sync_dir(&world.path("x"))), ErrorKind::Io);
    }
}

#[test]
fn lists_tell_kinds_and_lengths() {
    for world in worlds() {
        world.file("a", 4097);
        world.disk.make_dir(&world.path("dir/inner")).unwrap();
        let mut entries = world.disk.list(&world.root).unwrap();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let expected = [
            Entry { name: "a".into(), kind: EntryKind::File, len: 4097 },
            Entry { name: "dir".into(), kind: EntryKind::Directory, len: 0 },
        ];
        assert_eq!(entries, expected);
        assert_eq!(kind_of(world.disk.list(&world.path("missing"))), ErrorKind::Io);
        assert_eq!(kind_of(world.disk.list(&world.path("a"))), ErrorKind::Io);
    }
}

#[test]
fn one_directory_has_one_identity_however_it_is_spelled() {
    for world in worlds() {
        world.disk.make_dir(&world.path("dir/inner")).unwrap();
        let plain = world.disk.stat(&world.path("dir")).unwrap().unwrap();
        assert_eq!((plain.kind, plain.len), (EntryKind::Directory, 0));
        assert_eq!(plain.canonical, world.path("dir"));
        for spelling in ["dir/", "./dir", "dir/inner/..", "dir//."] {
            assert_eq!(world.disk.stat(&world.path(spelling)).unwrap().unwrap(), plain);
        }
        let inner = world.disk.stat(&world.path("dir/inner")).unwrap().unwrap();
        assert_eq!(inner.device, plain.device);
        assert_ne!(inner.inode, plain.inode);
        world.file("a", 77);
        let file = world.disk.stat(&world.path("a")).unwrap().unwrap();
        assert_eq!((file.kind, file.len), (EntryKind::File, 77));
        assert_eq!(world.disk.stat(&world.path("missing/x")).unwrap(), None);
        assert_eq!(world.disk.stat(&world.path("a/x")).unwrap(), None);
    }
}

#[test]
fn space_is_told_of_what_is_there() {
    for world in worlds() {
        let file = world.file("a", 1 << 20);
        let space = world.disk.space(&world.path("a")).unwrap();
        assert!(space.used >= 1 << 20 && space.available > 0, "{space:?}");
        assert_eq!(kind_of(world.disk.space(&world.path("missing"))), ErrorKind::Io);
        drop(file);
    }
}

#[test]
fn clocks_count_milliseconds_since_1970() {
    let clocks: [Box<dyn Clock>; 2] =
        [Box::new(OsClock::new()), Box::new(ManualClock::new(1_600_000_000_000))];
    for clock in clocks {
        // Between 2020 and 2100.
        assert!((1_577_836_800_000..4_102_444_800_000).contains(&clock.now_ms()), "{clock:?}");
        assert!(clock.local_hour(clock.now_ms()) < 24);
        assert!(clock.local_hour(i64::MAX) < 24);
    }
}
