//! Which directories a store has, whether each is the right one, and the segments in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::base::units::Position;
use crate::disk::{MemDisk, OsDisk};
use crate::error::{ErrorKind, Result};
use crate::record::{Encoding, Message, Stamp, UniqueIds, encode, stamp};
use crate::segment::name::segment_name;

use Holds::{Empty, Length, Record, Zeros};

const ROOT: &str = "/store";
const LEN: u64 = 4096;

fn registry(paths: &[&str]) -> Registry {
    let registered = |(id, path): (usize, &&str)| Registered {
        id: id as u64,
        path: PathBuf::from(path),
        role: Role::ReadWrite,
    };
    let directories = paths.iter().enumerate().map(registered).collect();
    Registry { store: 7, segment_len: LEN, queue_file_len: 400, directories }
}

/// A disk with a store's root and with these directories, labelled as the registry says.
fn known(registry: &Registry) -> Arc<MemDisk> {
    let disk = Arc::new(MemDisk::new());
    disk.make_dir(Path::new(ROOT)).unwrap();
    for entry in &registry.directories {
        disk.make_dir(&entry.path).unwrap();
        disk.set_label(&entry.path, Some(&registry.label(entry.id))).unwrap();
    }
    disk
}

fn look(disk: &dyn Disk, paths: &[&str], registry: Option<&Registry>) -> Result<Vec<Resolved>> {
    let wanted = |path: &&str| Wanted { path: PathBuf::from(path), role: None };
    let wanted: Vec<_> = paths.iter().map(wanted).collect();
    resolve(disk, Path::new(ROOT), &wanted, registry, true)
}

/// What came of it: number and path of each directory, with `!` if it is not there; or the kind
/// of the error and the path it names.
fn told(outcome: Result<Vec<Resolved>>) -> Vec<String> {
    let row = |row: &Resolved| {
        let id = row.id.map_or("new".to_owned(), |id| id.to_string());
        format!("{id}{} {}", if row.offline.is_some() { "!" } else { "" }, row.path.display())
    };
    match outcome {
        Ok(rows) => rows.iter().map(row).collect(),
        Err(error) => vec![format!("{} {}", error.kind(), error.path().unwrap().display())],
    }
}

#[track_caller]
fn check(outcome: Result<Vec<Resolved>>, expected: &[&str]) {
    assert_eq!(told(outcome), expected);
}

// Which directories there are.

#[test]
fn a_new_store_has_what_is_named() {
    let disk = known(&registry(&[]));
    check(look(disk.as_ref(), &["/a", "b/../c/"], None), &["new /a", "new /c"]);
    assert!(disk.stat(Path::new("/a")).unwrap().is_some(), "they are made");
    let wanted = [Wanted { path: "/d".into(), role: None }];
    let outcome = resolve(disk.as_ref(), Path::new(ROOT), &wanted, None, false);
    check(outcome, &["invalid /d"]);
    disk.write(Path::new("/file"), b"");
    check(look(disk.as_ref(), &["/file"], None), &["invalid /file"]);
}

/// Neither order nor spelling matters, and by the root alone all are found.
#[test]
fn reopen_with_changed_path_set() {
    let registry = registry(&["/a", "/b"]);
    let disk = known(&registry);
    let rows: [(&[&str], &[&str]); 7] = [
        (&[], &["0 /a", "1 /b"]),
        (&["/a", "/b"], &["0 /a", "1 /b"]),
        (&["/b/", "/x/../a"], &["1 /b", "0 /a"]),
        (&["/b", "/c", "/a"], &["1 /b", "new /c", "0 /a"]),
        (&["/a"], &["invalid /b"]),
        (&["/c"], &["invalid /a"]),
        (&["/a", "/b", "/a/."], &["invalid /a"]),
    ];
    for (named, expected) in rows {
        check(look(disk.as_ref(), named, Some(&registry)), expected);
    }
}

#[test]
fn a_label_is_stronger_than_a_path() {
    let registry = registry(&["/a", "/b"]);
    let disk = known(&registry);
    disk.set_label(Path::new("/a"), Some(&registry.label(1))).unwrap();
    disk.set_label(Path::new("/b"), Some(&registry.label(0))).unwrap();
    let expected: &[&str] = &["1 /a", "0 /b"];
    check(look(disk.as_ref(), &["/a", "/b"], Some(&registry)), expected);
    // A disk that is mounted elsewhere now.
    let disk = known(&registry);
    disk.lose(Path::new("/b"));
    disk.make_dir(Path::new("/mnt")).unwrap();
    disk.set_label(Path::new("/mnt"), Some(&registry.label(1))).unwrap();
    check(look(disk.as_ref(), &["/a", "/mnt"], Some(&registry)), &["0 /a", "1 /mnt"]);
    check(look(disk.as_ref(), &[], Some(&registry)), &["0 /a", "1! /b"]);
}

#[test]
fn a_directory_of_another_store_is_foreign() {
    let registry = registry(&["/a"]);
    let other = Registry { store: 8, ..registry.clone() };
    let disk = known(&registry);
    disk.make_dir(Path::new("/other")).unwrap();
    disk.set_label(Path::new("/other"), Some(&other.label(0))).unwrap();
    let foreign: &[&str] = &["foreign /other"];
    check(look(disk.as_ref(), &["/a", "/other"], Some(&registry)), foreign);
    // A store without a registry takes no directory that some store has labelled.
    check(look(disk.as_ref(), &["/other"], None), foreign);
    disk.set_label(Path::new("/a"), Some(&other.label(0))).unwrap();
    check(look(disk.as_ref(), &[], Some(&registry)), &["foreign /a"]);
    disk.set_label(Path::new("/a"), Some("spanlog 1 zz")).unwrap();
    check(look(disk.as_ref(), &[], Some(&registry)), &["0! /a"]);
}

/// What a test does to a disk.
type Change = fn(&MemDisk);

/// A known directory is never made anew: what is not there may only not be mounted.
#[test]
fn what_is_not_there_is_not_made() {
    let registry = registry(&["/a", "/b"]);
    let rows: [(&str, Change); 3] = [
        ("it does not exist", |disk| disk.lose(Path::new("/b"))),
        ("an empty mount point", |disk| disk.set_label(Path::new("/b"), None).unwrap()),
        ("a file", |disk| {
            disk.lose(Path::new("/b"));
            disk.write(Path::new("/b"), b"");
        }),
    ];
    for (what, change) in rows {
        for named in [&[][..], &["/a", "/b"]] {
            let disk = known(&registry);
            change(&disk);
            let before = disk.stat(Path::new("/b")).unwrap();
            let found = look(disk.as_ref(), named, Some(&registry)).unwrap();
            assert!(found[1].offline.is_some(), "{what}");
            check(Ok(found), &["0 /a", "1! /b"]);
            assert_eq!(disk.stat(Path::new("/b")).unwrap(), before, "{what}");
        }
    }
}

/// Copying a store loses labels: the segments say which directory it is.
#[test]
fn a_copy_without_labels_is_the_store() {
    let registry = registry(&["/a", "/b"]);
    let disk = known(&registry);
    for dir in ["/a", "/b"] {
        disk.set_label(Path::new(dir), None).unwrap();
        disk.write(&Path::new(dir).join(segment_name(Position::ZERO)), &[0; 10]);
    }
    for named in [&[][..], &["/a", "/b"]] {
        let rows = look(disk.as_ref(), named, Some(&registry));
        check(rows, &["0 /a", "1 /b"]);
    }
    let seam = Arc::clone(&disk) as Arc<dyn Disk>;
    put_label(&seam, &registry, 1, Path::new("/b")).unwrap();
    assert_eq!(disk.label(Path::new("/b")).unwrap(), Some(registry.label(1)));
}

/// A copy with its label beside the original: both would hold the same positions.
#[test]
fn a_directory_and_its_copy_are_one_too_many() {
    let registry = registry(&["/a"]);
    let disk = known(&registry);
    disk.make_dir(Path::new("/copy")).unwrap();
    disk.set_label(Path::new("/copy"), Some(&registry.label(0))).unwrap();
    check(look(disk.as_ref(), &["/a", "/copy"], Some(&registry)), &["invalid /copy"]);
}

#[test]
fn directories_do_not_lie_in_each_other() {
    let rows: [(&[&str], &[&str]); 5] = [
        (&["/store/log"], &["new /store/log"]),
        (&["/a", "/a/b"], &["invalid /a/b"]),
        (&["/a/b/c", "/a"], &["invalid /a/b/c"]),
        (&["/ab", "/a"], &["new /ab", "new /a"]),
        (&["/"], &["invalid /"]),
    ];
    for (named, expected) in rows {
        check(look(known(&registry(&[])).as_ref(), named, None), expected);
    }
    check(look(known(&registry(&[])).as_ref(), &[ROOT], None), &["invalid /store"]);
}

/// On the real file system, by whatever name a directory is called.
#[test]
fn one_directory_under_two_names() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let disk = OsDisk::new();
    disk.make_dir(&base.join("a/inner")).unwrap();
    disk.make_dir(&base.join("root")).unwrap();
    std::os::unix::fs::symlink(base.join("a"), base.join("link")).unwrap();
    for other in ["a/", "./a", "link", "link/../a", "a/inner/.."] {
        let wanted = ["a", other].map(|path| Wanted { path: base.join(path), role: None });
        let error = resolve(&disk, &base.join("root"), &wanted, None, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{other}");
        assert!(error.message().contains("twice"), "{other}: {error}");
    }
    let wanted = ["a", "link/inner"].map(|path| Wanted { path: base.join(path), role: None });
    let error = resolve(&disk, &base.join("root"), &wanted, None, true).unwrap_err();
    assert!(error.message().contains("within another"), "{error}");
}

#[test]
fn the_registry_is_written_all_or_nothing() {
    let disk = Arc::new(MemDisk::new());
    let (old, new) = (registry(&["/a"]), registry(&["/a", "/b"]));
    assert_eq!(read_registry(disk.as_ref(), Path::new(ROOT)).unwrap(), None);
    write_registry(disk.as_ref(), Path::new(ROOT), &old).unwrap();
    write_registry(disk.as_ref(), Path::new(ROOT), &new).unwrap();
    let crashed = disk.crash(&mut || false);
    assert_eq!(read_registry(&crashed, Path::new(ROOT)).unwrap(), Some(new));
    disk.flip(&registry_path(Path::new(ROOT)), 20, 1).unwrap();
    let error = read_registry(disk.as_ref(), Path::new(ROOT)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

// What the directories hold.

/// What stands in a segment file of a test.
#[derive(Clone, Copy)]
enum Holds {
    /// No byte.
    Empty,
    /// A whole file, never written.
    Zeros,
    /// One record, born at this time.
    Record(i64),
    /// A file of another length.
    Length(usize),
}

fn content(holds: Holds, base: u64) -> Vec<u8> {
    let born_ms = match holds {
        Holds::Empty => return Vec::new(),
        Holds::Zeros => return vec![0; LEN as usize],
        Holds::Length(len) => return vec![0; len],
        Holds::Record(born_ms) => Some(born_ms),
    };
    let encoding = Encoding {
        record_checksum: true,
        max_body_bytes: 100,
        max_record_bytes: LEN,
        store_host: ([127, 0, 0, 1], 10_911).into(),
    };
    let id = UniqueIds::new([127, 0, 0, 1].into(), 1, 1, 0).next(0);
    let mut bytes = Vec::new();
    let message = Message { born_ms, ..Message::new("T", 0, b"body") };
    encode(&message, &encoding, &id, &mut bytes).unwrap();
    stamp(&mut bytes, &Stamp { position: base, queue_offset: 0, store_ms: 7 });
    bytes.resize(LEN as usize, 0);
    bytes
}

/// A file of a test: its directory, its base, what it holds.
type Row = (u64, u64, Holds);

fn disk_of(files: &[Row]) -> MemDisk {
    let disk = MemDisk::new();
    for dir in ["/d0", "/d1"] {
        disk.make_dir(Path::new(dir)).unwrap();
    }
    for &(dir, base, holds) in files {
        let path = format!("/d{dir}/{}", segment_name(Position::new(base)));
        disk.write(Path::new(&path), &content(holds, base));
    }
    disk
}

fn take(disk: &MemDisk) -> Result<Inventory> {
    let directories = [(0, PathBuf::from("/d0")), (1, PathBuf::from("/d1"))];
    Inventory::take(disk, &directories, None, Position::ZERO)
}

/// Directory and base of every segment; or the kind of the error.
type Told = Result<Vec<(u64, u64)>, ErrorKind>;

fn inventory(files: &[Row]) -> Told {
    let disk = disk_of(files);
    let taken = take(&disk).map_err(|error| {
        assert!(error.path().is_some(), "{error}");
        error.kind()
    })?;
    // Whatever is set aside, looking again finds the same and nothing to set aside.
    taken.set_aside(&disk).unwrap();
    let again = take(&disk).unwrap();
    assert_eq!((&again.segments, again.spare.len()), (&taken.segments, 0));
    Ok(taken.segments.iter().map(|found| (found.directory, found.base.get())).collect())
}

#[test]
fn zero_length_segments_table() {
    let rows: [(&[Row], Told); 6] = [
        (&[(0, 0, Empty)], Ok(vec![])),
        (&[(0, 0, Record(1)), (0, LEN, Empty)], Ok(vec![(0, 0)])),
        (&[(0, 0, Record(1)), (0, LEN, Empty), (0, 2 * LEN, Record(1))], Err(ErrorKind::Corrupt)),
        (&[(0, 0, Record(1)), (1, LEN, Empty)], Ok(vec![(0, 0)])),
        (&[(0, 0, Record(1)), (0, LEN, Empty), (1, 2 * LEN, Empty)], Ok(vec![(0, 0)])),
        (&[(0, 0, Record(1)), (1, 0, Empty)], Ok(vec![(0, 0)])),
    ];
    for (number, (files, expected)) in rows.into_iter().enumerate() {
        assert_eq!(inventory(files), expected, "row {number}");
    }
}

/// RocketMQ stops at the empty one of two twins and deletes all that follows.
#[test]
fn open_with_duplicate_base_offset() {
    let later = (0, LEN, Record(1));
    let rows: [(Row, Row, Result<u64, ErrorKind>); 6] = [
        ((0, 0, Record(1)), (1, 0, Zeros), Ok(0)),
        ((0, 0, Zeros), (1, 0, Record(1)), Ok(1)),
        ((0, 0, Empty), (1, 0, Record(1)), Ok(1)),
        ((0, 0, Zeros), (1, 0, Zeros), Ok(0)),
        ((0, 0, Record(1)), (1, 0, Record(1)), Ok(0)),
        ((0, 0, Record(1)), (1, 0, Record(2)), Err(ErrorKind::Corrupt)),
    ];
    for (number, (one, twin, expected)) in rows.into_iter().enumerate() {
        let expected = expected.map(|directory| vec![(directory, 0), (0, LEN)]);
        assert_eq!(inventory(&[one, twin, later]), expected, "row {number}");
    }
    let disk = disk_of(&[(0, 0, Record(1)), (1, 0, Record(2))]);
    let error = take(&disk).unwrap_err();
    assert!(error.path().unwrap().starts_with("/d0"), "{error}");
    assert!(error.message().contains("/d1/"), "both are named: {error}");
}

/// The twin that stands for nothing is moved out of RocketMQ's sight, never deleted.
#[test]
fn a_twin_is_set_aside_whole() {
    let disk = disk_of(&[(0, 0, Record(1)), (1, 0, Record(1))]);
    let name = segment_name(Position::ZERO);
    for aside in [name.clone(), format!("{name}.1")] {
        take(&disk).unwrap().set_aside(&disk).unwrap();
        let kept = Path::new("/d1").join(OWN_DIR).join("aside").join(aside);
        assert_eq!(disk.read(&kept).unwrap(), Some(content(Record(1), 0)));
        assert_eq!(disk.stat(&Path::new("/d1").join(&name)).unwrap(), None);
        disk.write(&Path::new("/d1").join(&name), &content(Record(1), 0));
    }
}

#[test]
fn foreign_files_are_ignored_and_kept() {
    let names = [
        "README",
        ".nfs000123",
        "00000000000000000000.tmp",
        "0000000000000000000",
        "000000000000000000000",
        "lost+found/inner",
        "00000000000000008192/directory",
    ];
    let disk = disk_of(&[(0, 0, Record(1))]);
    for name in names {
        disk.write(&Path::new("/d0").join(name), b"kept");
    }
    let inventory = take(&disk).unwrap();
    assert_eq!(inventory.segments.len(), 1);
    assert_eq!(inventory.ignored.len(), names.len());
    assert!(inventory.spare.is_empty());
    inventory.set_aside(&disk).unwrap();
    for name in names {
        assert_eq!(disk.read(&Path::new("/d0").join(name)).unwrap().unwrap(), b"kept");
    }
}

#[test]
fn one_bad_file_is_the_one_that_is_named() {
    let whole = [(0, 0, Record(1)), (1, LEN, Record(1)), (0, 2 * LEN, Record(1))];
    for (bad, holds) in [(0, Length(100)), (1, Length(8192)), (2, Length(4095))] {
        let mut files = whole;
        files[bad].2 = holds;
        let error = take(&disk_of(&files)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let name = segment_name(Position::new(files[bad].1));
        assert!(error.path().unwrap().ends_with(name), "{error}");
        assert_eq!(error.limit(), Some(LEN));
    }
    assert_eq!(inventory(&[(0, 0, Record(1)), (0, 100, Record(1))]), Err(ErrorKind::Corrupt));
}

#[test]
fn gaps_are_told_and_what_was_dropped_stays_dropped() {
    let files = [(0, LEN, Record(1)), (1, 2 * LEN, Record(1)), (0, 5 * LEN, Record(1))];
    let inventory = take(&disk_of(&files)).unwrap();
    assert_eq!(inventory.gaps, [Position::new(3 * LEN)..Position::new(5 * LEN)]);
    let directories = [(0, PathBuf::from("/d0")), (1, PathBuf::from("/d1"))];
    let start = Position::new(2 * LEN);
    let later = Inventory::take(&disk_of(&files), &directories, Some(LEN), start).unwrap();
    assert_eq!(later.segments[0].base, start);
    assert_eq!(later.dropped.len(), 1);
}

/// One stray file with a segment's name made the first opening panic: its length was taken for
/// that of every segment.
#[test]
fn no_segment_has_a_length_that_holds_no_record() {
    for len in [1, 5, 98] {
        let error = take(&disk_of(&[(0, 0, Length(len))])).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (ErrorKind::Corrupt, Some(99)), "{len}");
    }
    assert_eq!(inventory(&[(0, 0, Length(99))]), Ok(vec![(0, 0)]));
}

/// A store that is killed on a file system without nameless files left a segment's space behind
/// with every kill.
#[test]
fn what_a_killed_store_had_not_named_is_removed() {
    let disk = disk_of(&[(0, 0, Record(1))]);
    let own = Path::new("/d0").join(OWN_DIR);
    disk.make_dir(&own).unwrap();
    for name in ["unnamed-7-0", "unnamed-7-1", "label"] {
        disk.write(&own.join(name), b"x");
    }
    sweep(&disk, Path::new("/d0")).unwrap();
    sweep(&disk, Path::new("/d1")).unwrap();
    let names: Vec<_> = disk.list(&own).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["label"]);
}
