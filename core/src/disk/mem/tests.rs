//! Crashes, kills, space and damage. What every disk does is in the tests of all disks.

use super::*;
use crate::base::watermark::Published;
use crate::disk::Map;

const BLOCK: u64 = 4096;

fn path(name: &str) -> PathBuf {
    Path::new("/d").join(name)
}

/// A disk with a directory `/d`.
fn disk() -> MemDisk {
    let disk = MemDisk::new();
    disk.make_dir(Path::new("/d")).unwrap();
    disk
}

/// A file of three sectors of `a`, all durable.
fn durable_file(disk: &MemDisk, name: &str) -> Arc<dyn File> {
    let file = disk.create(Path::new("/d"), 3 * 512, Allocation::Reserved).unwrap();
    file.write_at(0, &[b'a'; 3 * 512]).unwrap();
    file.sync().unwrap();
    file.link(&path(name)).unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    file
}

fn names(disk: &MemDisk) -> Vec<String> {
    disk.list(Path::new("/d")).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// The first byte of each sector, as a text.
fn sectors(disk: &MemDisk, name: &str) -> String {
    let bytes = disk.read(&path(name)).unwrap().unwrap();
    bytes.chunks(512).map(|sector| char::from(sector[0])).collect()
}

/// The disk after a crash with these choices; as many must be asked for.
fn crash(disk: &MemDisk, choices: &[bool]) -> MemDisk {
    let mut rest = choices.iter();
    let crashed = disk.crash(&mut || *rest.next().expect("no more choices"));
    assert_eq!(rest.len(), 0, "choices that nobody asked for");
    crashed
}

fn kind_of<T: fmt::Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

#[test]
fn each_unsynced_sector_is_old_or_new() {
    let disk = disk();
    let file = durable_file(&disk, "f");
    let map = file.map(Access::Write).unwrap();
    map.writer().unwrap().put(0, &[b'b'; 3 * 512]);
    for bits in 0..8_u8 {
        let choices = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
        let expected: String = choices.iter().map(|new| if *new { 'b' } else { 'a' }).collect();
        let crashed = crash(&disk, &choices);
        assert_eq!(sectors(&crashed, "f"), expected);
        // What survived is durable now.
        assert_eq!(sectors(&crash(&crashed, &[]), "f"), expected);
    }
    assert_eq!(sectors(&disk, "f"), "bbb");
    file.sync().unwrap();
    assert_eq!(sectors(&crash(&disk, &[]), "f"), "bbb");
}

#[test]
fn a_crash_is_asked_only_about_what_changed() {
    let disk = disk();
    let file = durable_file(&disk, "f");
    file.write_at(600, b"x").unwrap();
    file.write_at(1400, b"a").unwrap();
    assert_eq!(sectors(&crash(&disk, &[true]), "f"), "aaa");
    file.zero(0, 512).unwrap();
    assert_eq!(sectors(&crash(&disk, &[true, false]), "f"), "\0aa");
}

#[test]
fn names_are_durable_once_their_directory_is_synced() {
    let disk = disk();
    let file = disk.create(Path::new("/d"), 512, Allocation::Sparse).unwrap();
    file.link(&path("f")).unwrap();
    assert_eq!(names(&crash(&disk, &[false])), [""; 0]);
    assert_eq!(names(&crash(&disk, &[true])), ["f"]);
    disk.sync_dir(Path::new("/d")).unwrap();
    assert_eq!(names(&crash(&disk, &[])), ["f"]);

    disk.rename(&path("f"), &path("g")).unwrap();
    assert_eq!(names(&crash(&disk, &[false])), ["f"]);
    assert_eq!(names(&crash(&disk, &[true])), ["g"]);
    disk.sync_dir(Path::new("/d")).unwrap();

    disk.remove(&path("g")).unwrap();
    assert_eq!(names(&disk), [""; 0]);
    assert_eq!(names(&crash(&disk, &[false])), ["g"]);
    disk.sync_dir(Path::new("/d")).unwrap();
    assert_eq!(names(&crash(&disk, &[])), [""; 0]);
}

#[test]
fn later_changes_of_names_fall_with_those_they_build_on() {
    let disk = disk();
    durable_file(&disk, "f");
    disk.rename(&path("f"), &path("g")).unwrap();
    disk.remove(&path("g")).unwrap();
    disk.replace(&path("other"), b"").unwrap();
    let file = disk.create(Path::new("/d"), 512, Allocation::Sparse).unwrap();
    file.link(&path("f")).unwrap();
    // Rename, removal, new name.
    let rows: [(&[bool], &[&str]); 6] = [
        (&[false, false, false], &["f", "other"]),
        (&[true, false, false], &["g", "other"]),
        (&[false, true, false], &["f", "other"]),
        (&[true, true, false], &["other"]),
        (&[true, true, true], &["f", "other"]),
        (&[true, false, true], &["f", "g", "other"]),
    ];
    for (choices, expected) in rows {
        assert_eq!(names(&crash(&disk, choices)), expected, "{choices:?}");
    }
    let new_name_without_room = crash(&disk, &[false, false, true]);
    assert_eq!(sectors(&new_name_without_room, "f"), "aaa");
}

#[test]
fn a_sync_takes_along_what_its_names_build_on() {
    let disk = disk();
    disk.make_dir(Path::new("/e")).unwrap();
    let file = disk.create(Path::new("/d"), 512, Allocation::Sparse).unwrap();
    file.link(&path("f")).unwrap();
    durable_free_name(&disk);
    disk.rename(&path("f"), Path::new("/e/f")).unwrap();
    disk.sync_dir(Path::new("/e")).unwrap();
    let crashed = crash(&disk, &[false]);
    assert!(crashed.stat(Path::new("/e/f")).unwrap().is_some());
    assert_eq!(names(&crashed), [""; 0]);
}

/// A name that stays undecided.
fn durable_free_name(disk: &MemDisk) {
    let file = disk.create(Path::new("/d"), 512, Allocation::Sparse).unwrap();
    file.link(&path("undecided")).unwrap();
}

#[test]
fn directories_and_replaced_files_are_durable_at_once() {
    let disk = disk();
    disk.make_dir(&path("x/y")).unwrap();
    disk.replace(&path("f"), b"one").unwrap();
    disk.replace(&path("f"), b"two").unwrap();
    disk.set_label(&path("x"), Some("label")).unwrap();
    let crashed = crash(&disk, &[]);
    assert_eq!(crashed.read(&path("f")).unwrap().unwrap(), b"two");
    assert_eq!(crashed.label(&path("x")).unwrap().as_deref(), Some("label"));
    assert!(crashed.stat(&path("x/y")).unwrap().is_some());

    // A directory whose removal is undecided, made again, is there.
    disk.remove(&path("x/y")).unwrap();
    disk.make_dir(&path("x/y")).unwrap();
    assert!(crash(&disk, &[]).stat(&path("x/y")).unwrap().is_some());
    // A removed directory comes back with the file whose removal was lost.
    disk.replace(&path("x/y/f"), b"").unwrap();
    disk.remove(&path("x/y/f")).unwrap();
    disk.remove(&path("x/y")).unwrap();
    assert!(crash(&disk, &[false, true]).stat(&path("x/y/f")).unwrap().is_some());
    assert_eq!(crash(&disk, &[true, true]).stat(&path("x/y")).unwrap(), None);
}

#[test]
fn a_crash_frees_locks_and_nameless_files_and_shares_nothing() {
    let disk = disk();
    let file = durable_file(&disk, "f");
    let _nameless = disk.create(Path::new("/d"), 512, Allocation::Reserved).unwrap();
    let _lock = disk.lock(&path("lock")).unwrap();
    let slice = file.map(Access::Read).unwrap().slice(0..3, Published::all()).unwrap();
    let crashed = crash(&disk, &[true]);
    let _again = crashed.lock(&path("lock")).unwrap();
    let other = crashed.open(&path("f"), Access::Write).unwrap();
    other.write_at(0, b"changed").unwrap();
    assert_eq!((&slice[..], sectors(&disk, "f").as_str()), (&b"aaa"[..], "aaa"));
    assert_eq!(crashed.space(Path::new("/")).unwrap().used, 2 * BLOCK);
    assert_eq!(kind_of(disk.lock(&path("lock"))), ErrorKind::Locked);
}

#[test]
fn a_killed_process_loses_nothing_until_the_power_fails() {
    let disk = disk();
    let file = durable_file(&disk, "f");
    let _nameless = disk.create(Path::new("/d"), 512, Allocation::Reserved).unwrap();
    let _lock = disk.lock(&path("lock")).unwrap();
    file.write_at(0, &[b'b'; 3 * 512]).unwrap();
    disk.rename(&path("f"), &path("g")).unwrap();
    let killed = disk.kill();
    assert_eq!(names(&killed), ["g", "lock"]);
    assert_eq!(sectors(&killed, "g"), "bbb");
    killed.lock(&path("lock")).unwrap();
    assert_eq!(killed.space(Path::new("/")).unwrap().used, 2 * BLOCK);
    // The lock file's name, the rename, three sectors.
    let crashed = crash(&killed, &[true, false, true, false, true]);
    assert_eq!(names(&crashed), ["f", "lock"]);
    assert_eq!(sectors(&crashed, "f"), "bab");
    let killed_file = killed.open(&path("g"), Access::Write).unwrap();
    killed_file.write_at(0, b"c").unwrap();
    assert_eq!(sectors(&disk, "g"), "bbb");
}

#[test]
fn reserved_files_take_their_space_at_once_and_sparse_ones_as_they_are_written() {
    let disk = disk();
    disk.set_capacity(Path::new("/d"), 10 * BLOCK);
    let create = |blocks, how| disk.create(Path::new("/d"), blocks * BLOCK - 100, how);
    let used = || disk.space(Path::new("/d")).unwrap().used / BLOCK;
    let error = create(11, Allocation::Reserved).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Full, Some(Path::new("/d"))));
    assert_eq!(error.limit(), Some(11 * BLOCK - 100));
    let reserved = create(7, Allocation::Reserved).unwrap();
    assert_eq!(used(), 7);
    let sparse = create(8, Allocation::Sparse).unwrap();
    assert_eq!(used(), 7);
    sparse.write_at(BLOCK - 1, b"xy").unwrap();
    assert_eq!(used(), 9);
    assert_eq!(kind_of(sparse.write_at(3 * BLOCK - 1, b"xy")), ErrorKind::Full);
    sparse.write_at(BLOCK - 2, b"xy").unwrap();
    assert_eq!(kind_of(sparse.reserve()), ErrorKind::Full);
    assert_eq!(kind_of(disk.replace(&path("f"), &[1; 2 * BLOCK as usize])), ErrorKind::Full);
    assert_eq!(used(), 9);
    drop(reserved);
    sparse.reserve().unwrap();
    assert_eq!((used(), sparse.is_reserved()), (8, true));
}

#[test]
fn space_returns_when_the_last_user_is_gone() {
    let disk = disk();
    disk.set_capacity(Path::new("/d"), 4 * BLOCK);
    let space = || disk.space(Path::new("/d")).unwrap();
    let file = disk.create(Path::new("/d"), 4 * BLOCK, Allocation::Reserved).unwrap();
    file.link(&path("f")).unwrap();
    let map = file.map(Access::Read).unwrap();
    drop(file);
    assert_eq!(space(), Space { used: 4 * BLOCK, available: 0 });
    disk.remove(&path("f")).unwrap();
    assert_eq!(space().used, 4 * BLOCK, "a map is a user");
    drop(map);
    assert_eq!(space(), Space { used: 0, available: 4 * BLOCK });

    let _file = disk.create(Path::new("/d"), 4 * BLOCK, Allocation::Reserved).unwrap();
    assert_eq!(kind_of(disk.create(Path::new("/d"), 1, Allocation::Reserved)), ErrorKind::Full);
    disk.set_capacity(Path::new("/d"), 5 * BLOCK);
    disk.create(Path::new("/d"), 1, Allocation::Reserved).unwrap();
    disk.set_capacity(Path::new("/d"), BLOCK);
    assert_eq!(space(), Space { used: 4 * BLOCK, available: 0 });
}

#[test]
fn mounts_are_file_systems_of_their_own() {
    let disk = disk();
    for (mount, blocks) in [("/d/one", 4), ("/d/two", 6), ("/d/two/inner", 8)] {
        disk.set_capacity(Path::new(mount), blocks * BLOCK);
    }
    let device = |name: &str| disk.stat(&path(name)).unwrap().unwrap().device;
    disk.make_dir(&path("two/inner/deep")).unwrap();
    let devices = [device(""), device("one"), device("two"), device("two/inner/deep")];
    assert_eq!(devices, [1, 2, 3, 4]);
    let file = disk.create(&path("one"), BLOCK, Allocation::Reserved).unwrap();
    assert_eq!(kind_of(file.link(&path("two/f"))), ErrorKind::Io);
    file.link(&path("one/f")).unwrap();
    assert_eq!(device("one/f"), 2);
    assert_eq!(kind_of(disk.rename(&path("one/f"), &path("f"))), ErrorKind::Io);
    let available = |name: &str| disk.space(&path(name)).unwrap().available / BLOCK;
    assert_eq!([available("one/f"), available("two"), available("two/inner/deep")], [3, 6, 8]);
    assert_eq!(disk.kill().space(&path("one")).unwrap().available, 3 * BLOCK);
}

#[test]
fn a_read_only_mount_refuses_changes_and_syncs_of_changes() {
    let disk = disk();
    disk.set_capacity(Path::new("/d"), 1 << 20);
    let file = durable_file(&disk, "f");
    let map: Arc<Map> = file.map(Access::Write).unwrap();
    disk.set_read_only(Path::new("/d"), true);
    file.sync().unwrap();
    disk.make_dir(Path::new("/d")).unwrap();
    map.writer().unwrap().put(0, b"cached");
    let refused = [
        file.sync(),
        file.write_at(0, b"x"),
        file.zero(0, 1),
        file.reserve(),
        disk.make_dir(&path("x")),
        disk.set_label(Path::new("/d"), Some("x")),
        disk.lock(&path("lock")).map(drop),
        disk.create(Path::new("/d"), 1, Allocation::Sparse).map(drop),
        disk.open(&path("f"), Access::Write).map(drop),
        disk.replace(&path("f"), b"x"),
        disk.rename(&path("f"), &path("g")),
        disk.remove(&path("f")),
    ];
    for (step, outcome) in refused.into_iter().enumerate() {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Io, "{step}");
    }
    assert_eq!(sectors(&disk, "f"), "caa");
    disk.replace(Path::new("/elsewhere"), b"x").unwrap();
    disk.set_read_only(Path::new("/d"), false);
    file.sync().unwrap();
    assert_eq!(sectors(&crash(&disk, &[]), "f"), "caa");
}

#[test]
fn damage_is_durable_and_seen_by_open_maps() {
    let disk = disk();
    let file = durable_file(&disk, "f");
    let map = file.map(Access::Read).unwrap();
    disk.flip(&path("f"), 512, 3).unwrap();
    disk.corrupt(&path("f"), 1024, b"zz").unwrap();
    assert_eq!(map.bytes(1024..1027, Published::all()).unwrap(), b"zza");
    assert_eq!(sectors(&crash(&disk, &[]), "f"), "abz");
    assert_eq!(kind_of(disk.flip(&path("f"), 3 * 512, 1)), ErrorKind::Io);
    assert_eq!(kind_of(disk.corrupt(&path("missing"), 0, b"x")), ErrorKind::Io);

    disk.truncate(&path("f"), 513).unwrap();
    assert_eq!(map.len_bytes(), 3 * 512);
    assert_eq!(disk.open(&path("f"), Access::Read).unwrap().len_bytes(), 513);
    assert_eq!(sectors(&crash(&disk, &[]), "f"), "ab");
    disk.write(&path("stray/file"), b"planted");
    disk.write(&path("stray/file"), b"again");
    assert_eq!(crash(&disk, &[]).read(&path("stray/file")).unwrap().unwrap(), b"again");
    disk.set_label(&path("stray"), Some("x")).unwrap();
    disk.lose(&path("stray"));
    assert_eq!(names(&disk), ["f"]);
    assert_eq!(names(&crash(&disk, &[])), ["f"]);
    assert_eq!(kind_of(disk.label(&path("stray"))), ErrorKind::Io);
}

#[test]
fn a_lost_directory_takes_no_open_file_along() {
    let disk = disk();
    let file = durable_file(&disk, "f");
    file.write_at(0, b"b").unwrap();
    let waiting = disk.create(Path::new("/d"), 512, Allocation::Sparse).unwrap();
    waiting.link(&path("g")).unwrap();
    disk.lose(Path::new("/d"));
    assert_eq!(disk.stat(Path::new("/d")).unwrap(), None);
    file.sync().unwrap();
    let mut byte = [0];
    file.read_at(0, &mut byte).unwrap();
    assert_eq!(byte, *b"b");
    assert_eq!(crash(&disk, &[]).stat(Path::new("/d")).unwrap(), None);
    assert_eq!(disk.space(Path::new("/")).unwrap().used, BLOCK);
    drop((file, waiting));
    assert_eq!(disk.space(Path::new("/")).unwrap().used, 0);
}
