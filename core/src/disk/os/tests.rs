//! What only a real kernel can show: file systems that are full, small, read-only or old, locks
//! of other programs, and files that shrink.

use std::io::BufRead;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::super::Map;
use super::*;
use crate::base::watermark::Published;

const MIB: u64 = 1 << 20;

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn kind_of<T: std::fmt::Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

/// A file system of its own, until it is dropped.
struct Mount {
    dir: tempfile::TempDir,
}

impl Mount {
    /// Mounts one, or says why the test cannot run: only root may, and for root it must work.
    #[allow(clippy::print_stderr)]
    fn new(kind: &str, options: &str) -> Option<Self> {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            eprintln!("skipped: mounting a {kind} takes root");
            return None;
        }
        let mount = Self { dir: temporary() };
        mount.run("mount", &["-t", kind, "-o", options, "none"]);
        Some(mount)
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let status = Command::new(program).args(arguments).arg(self.path()).status().unwrap();
        assert!(status.success(), "{program} {arguments:?} failed: {status}");
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_is_an_error_and_never_a_signal() {
    let Some(mount) = Mount::new("tmpfs", "size=2m") else { return };
    let disk = OsDisk::new();
    let error = disk.create(mount.path(), 4 * MIB, Allocation::Reserved).unwrap_err();
    assert_eq!((error.kind(), error.limit()), (ErrorKind::Full, Some(4 * MIB)));
    assert_eq!((error.path(), error.raw_os_error()), (Some(mount.path()), Some(libc::ENOSPC)));
    assert_eq!(disk.space(mount.path()).unwrap(), Space { used: 0, available: 2 * MIB });

    let first = disk.create(mount.path(), MIB + MIB / 2, Allocation::Reserved).unwrap();
    assert!(first.is_reserved());
    let sparse = disk.create(mount.path(), MIB, Allocation::Sparse).unwrap();
    let map = sparse.map(Access::Write).unwrap();
    assert_eq!(kind_of(map.populate(0..MIB, Access::Write)), ErrorKind::Io);
    assert_eq!(kind_of(sparse.reserve()), ErrorKind::Full);
    assert_eq!(kind_of(sparse.write_at(0, &vec![1; MIB as usize])), ErrorKind::Full);
    assert!(!sparse.is_reserved());
    assert_eq!(kind_of(disk.replace(&mount.path().join("a"), &[1; 1 << 20])), ErrorKind::Full);
    assert_eq!(disk.list(mount.path()).unwrap(), []);
    drop((first, map, sparse));
    assert_eq!(disk.space(mount.path()).unwrap().used, 0);
    disk.lock(&mount.path().join("lock")).unwrap();
}

#[test]
fn zeroing_works_where_the_file_system_cannot_zero_ranges() {
    let Some(mount) = Mount::new("tmpfs", "size=4m") else { return };
    check_zeroing(mount.path(), true);
    let Some(mount) = Mount::new("ramfs", "mode=700") else { return };
    check_zeroing(mount.path(), false);
}

fn check_zeroing(dir: &Path, reserves: bool) {
    let file = OsFile::create(dir, 3 * MIB, Allocation::Reserved).unwrap();
    assert_eq!(file.is_reserved(), reserves);
    file.write_at(0, &vec![7; 3 * MIB as usize]).unwrap();
    file.zero(100, 3 * MIB - 100).unwrap();
    let map = file.map(Access::Read).unwrap();
    let bytes = map.bytes(0..3 * MIB, Published::all()).unwrap();
    let sevens = bytes.iter().filter(|byte| **byte == 7).count();
    assert_eq!((sevens, &bytes[99..101]), (200, &[7, 0][..]));
    assert_eq!(file.is_reserved(), reserves);
}

#[test]
fn labels_go_to_a_file_where_there_are_no_attributes() {
    let Some(mount) = Mount::new("ramfs", "mode=700") else { return };
    let (disk, dir) = (OsDisk::new(), mount.path());
    disk.set_label(dir, Some("store 1")).unwrap();
    assert_eq!(disk.read(&dir.join(".spanlog/label")).unwrap().unwrap(), b"store 1");
    assert_eq!(disk.label(dir).unwrap().as_deref(), Some("store 1"));
    disk.set_label(dir, None).unwrap();
    assert_eq!(disk.label(dir).unwrap(), None);
    assert_eq!(disk.list(dir).unwrap(), []);
    // This file system does not know its own size.
    assert_eq!(disk.space(dir).unwrap(), Space { used: 0, available: 0 });
}

#[test]
fn a_label_in_a_file_counts_until_an_attribute_is_set() {
    let (disk, dir) = (OsDisk::new(), temporary());
    label::set_in_file(dir.path(), b"moved here").unwrap();
    assert_eq!(disk.label(dir.path()).unwrap().as_deref(), Some("moved here"));
    disk.set_label(dir.path(), Some("newer")).unwrap();
    assert_eq!(disk.label(dir.path()).unwrap().as_deref(), Some("newer"));
    fs::write(dir.path().join(".spanlog/other"), b"").unwrap();
    disk.set_label(dir.path(), None).unwrap();
    assert_eq!(disk.label(dir.path()).unwrap(), None);
    assert!(dir.path().join(".spanlog/other").exists());
    label::set_in_file(dir.path(), b"\xFF").unwrap();
    assert_eq!(kind_of(disk.label(dir.path())), ErrorKind::Corrupt);
}

#[test]
fn a_read_only_disk_can_be_read_and_refuses_the_rest() {
    let Some(mount) = Mount::new("tmpfs", "size=4m") else { return };
    let (disk, dir) = (OsDisk::new(), mount.path());
    let path = dir.join("a");
    disk.replace(&path, b"kept").unwrap();
    mount.run("mount", &["-o", "remount,ro"]);

    let file = disk.open(&path, Access::Read).unwrap();
    let map = file.map(Access::Read).unwrap();
    map.populate(0..4, Access::Read).unwrap();
    assert_eq!(map.bytes(0..4, Published::all()).unwrap(), b"kept");
    disk.make_dir(dir).unwrap();
    let refused = [
        disk.open(&path, Access::Write).map(drop),
        disk.create(dir, 10, Allocation::Sparse).map(drop),
        disk.lock(&dir.join("lock")).map(drop),
        disk.lock(&path).map(drop),
        disk.replace(&path, b"new"),
        disk.remove(&path),
        disk.rename(&path, &dir.join("b")),
        disk.make_dir(&dir.join("d")),
        disk.set_label(dir, Some("label")),
        file.write_at(0, b"x"),
    ];
    for (step, outcome) in refused.into_iter().enumerate() {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Io, "{step}");
    }
    assert_eq!(disk.list(dir).unwrap().len(), 1);
}

/// A child that locks the first byte as Java does, with a lock of its process.
fn other_program(path: &Path) -> (Child, String) {
    const CODE: &str = "import fcntl, os, sys\n\
        file = open(sys.argv[1], 'r+')\n\
        try:\n\
        \x20   fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)\n\
        \x20   print(os.getpid(), flush=True)\n\
        except OSError:\n\
        \x20   print('refused', flush=True)\n\
        sys.stdin.read()";
    let mut command = Command::new("python3");
    command.arg("-c").arg(CODE).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn locks_exclude_programs_that_lock_as_java_does() {
    let (disk, dir) = (OsDisk::new(), temporary());
    let path = dir.path().join("lock");
    fs::write(&path, b"lock").unwrap();
    let (child, pid) = other_program(&path);
    let error = disk.lock(&path).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Locked, Some(&*path)));
    assert!(error.message().ends_with(&format!("process {pid}")), "{error}");
    end(child);

    let lock = disk.lock(&path).unwrap();
    let (child, answer) = other_program(&path);
    assert_eq!(answer, "refused");
    end(child);
    drop(lock);
    let (child, _) = other_program(&path);
    end(child);
}

#[test]
fn a_lock_is_not_lost_when_another_handle_of_the_file_is_closed() {
    let (disk, dir) = (OsDisk::new(), temporary());
    let path = dir.path().join("lock");
    let _lock = disk.lock(&path).unwrap();
    drop(disk.open(&path, Access::Write).unwrap());
    assert_eq!(disk.read(&path).unwrap().unwrap(), b"lock");
    assert_eq!(kind_of(disk.lock(&path)), ErrorKind::Locked);
}

#[test]
fn a_killed_process_leaves_no_lock() {
    let (disk, dir) = (OsDisk::new(), temporary());
    let path = dir.path().join("lock");
    fs::write(&path, b"").unwrap();
    let (mut child, _) = other_program(&path);
    child.kill().unwrap();
    child.wait().unwrap();
    disk.lock(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"lock");
}

#[test]
fn file_systems_without_nameless_files_get_a_name_that_goes_away() {
    let dir = temporary();
    let private = dir.path().join(PRIVATE_DIR);
    let one = OsFile::create_unnamed(dir.path(), 4096, Allocation::Reserved).unwrap();
    let two = OsFile::create_unnamed(dir.path(), 4096, Allocation::Sparse).unwrap();
    let names: Vec<Entry> = list(&private).unwrap();
    assert!(names.iter().all(|entry| entry.name.starts_with(UNNAMED_PREFIX)), "{names:?}");
    assert_eq!(names.len(), 2);

    one.write_at(0, b"one").unwrap();
    one.link(&dir.path().join("a")).unwrap();
    assert_eq!(kind_of(two.link(&dir.path().join("a"))), ErrorKind::Io);
    assert_eq!(list(&private).unwrap().len(), 1);
    drop((one, two));
    assert!(!private.exists());
    assert_eq!(&fs::read(dir.path().join("a")).unwrap()[..3], b"one");
    let missing = OsFile::create_unnamed(&private, 1, Allocation::Sparse);
    assert_eq!(kind_of(missing), ErrorKind::Io);
}

#[test]
fn a_second_name_stands_in_for_a_rename_that_does_not_overwrite() {
    let dir = temporary();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    fs::write(&from, b"x").unwrap();
    // Such a flag is refused in the same way as by a file system that knows none.
    assert_eq!(calls::rename_to_free(&from, &to).map_err(|error| error.kind()), Ok(()));
    rename_to_free(&to, &from).unwrap();
    assert_eq!(fs::read(&from).unwrap(), b"x");
    assert!(!to.exists());
}

#[test]
fn links_are_followed_and_seen() {
    let (disk, dir) = (OsDisk::new(), temporary());
    let path = |name: &str| dir.path().join(name);
    disk.make_dir(&path("real")).unwrap();
    symlink(path("real"), path("link")).unwrap();
    symlink(path("nowhere"), path("dangling")).unwrap();
    symlink(path("loop"), path("loop")).unwrap();
    assert_eq!(disk.stat(&path("link")).unwrap(), disk.stat(&path("real")).unwrap());
    assert_eq!(disk.stat(&path("dangling")).unwrap(), None);
    assert_eq!(kind_of(disk.stat(&path("loop"))), ErrorKind::Io);
    // A link to a directory is a directory that is there.
    disk.make_dir(&path("link")).unwrap();
    disk.make_dir(&path("link/below")).unwrap();
    assert!(path("real/below").is_dir());
    let mut entries = disk.list(dir.path()).unwrap();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let kinds: Vec<EntryKind> = entries.iter().map(|entry| entry.kind).collect();
    let other = EntryKind::Other;
    assert_eq!(kinds, [other, other, other, EntryKind::Directory]);
}

#[test]
fn names_that_are_no_text_are_listed_and_never_ours() {
    use std::os::unix::ffi::OsStrExt;
    let dir = temporary();
    let name = std::ffi::OsStr::from_bytes(b"000\xFF");
    fs::write(dir.path().join(name), b"").unwrap();
    assert_eq!(OsDisk::new().list(dir.path()).unwrap()[0].name, "000\u{FFFD}");
}

#[test]
fn reading_leaves_no_trace() {
    let (disk, dir) = (OsDisk::new(), temporary());
    let path = dir.path().join("a");
    disk.replace(&path, b"bytes").unwrap();
    let before = fs::metadata(&path).unwrap();
    let file = disk.open(&path, Access::Read).unwrap();
    let map = file.map(Access::Read).unwrap();
    file.read_at(0, &mut [0; 5]).unwrap();
    map.populate(0..5, Access::Read).unwrap();
    disk.read(&path).unwrap().unwrap();
    let after = fs::metadata(&path).unwrap();
    let times = |found: &fs::Metadata| (found.atime(), found.atime_nsec(), found.ctime_nsec());
    assert_eq!(times(&before), times(&after));
}

#[test]
fn only_regular_files_are_opened() {
    let (disk, dir) = (OsDisk::new(), temporary());
    assert_eq!(kind_of(disk.open(dir.path(), Access::Read)), ErrorKind::Io);
    assert_eq!(kind_of(disk.open(Path::new("/dev/null"), Access::Write)), ErrorKind::Io);
    assert_eq!(kind_of(disk.open(&dir.path().join("missing"), Access::Read)), ErrorKind::Io);
}

#[test]
fn bytes_that_the_disk_cannot_give_are_an_error() {
    let (disk, dir) = (OsDisk::new(), temporary());
    let path = dir.path().join("a");
    let file = disk.create(dir.path(), MIB, Allocation::Sparse).unwrap();
    file.link(&path).unwrap();
    let map = file.map(Access::Read).unwrap();
    map.populate(0..MIB, Access::Read).unwrap();
    SystemFile::options().write(true).open(&path).unwrap().set_len(8192).unwrap();
    map.populate(0..8192, Access::Read).unwrap();
    let error = map.populate(4096..MIB, Access::Read).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Io, Some(4096)));
    assert_eq!(kind_of(file.read_at(8000, &mut [0; 500])), ErrorKind::Io);
}

#[test]
fn the_address_space_is_named_when_a_map_does_not_fit_it() {
    let dir = temporary();
    let file = OsFile::create(dir.path(), 12 << 40, Allocation::Sparse).unwrap();
    let maps: Result<Vec<Arc<Map>>> = (0..12).map(|_| file.map(Access::Read)).collect();
    let error = maps.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("RLIMIT_AS"), "{error}");
}

#[test]
#[ignore = "takes every map of its process: run by the next test in a process of its own"]
fn take_every_map() {
    let dir = temporary();
    let file = OsFile::create(dir.path(), 4096, Allocation::Reserved).unwrap();
    let mut maps = Vec::with_capacity(1 << 20);
    let error = loop {
        match file.map(Access::Read) {
            Ok(map) => maps.push(map),
            Err(error) => break error,
        }
    };
    maps.truncate(maps.len() / 2);
    assert!(error.message().contains("vm.max_map_count"), "{error}");
    assert!(error.limit().is_some_and(|limit| limit > 1000), "{error}");
    file.map(Access::Read).unwrap();
}

#[test]
fn the_limit_of_maps_is_named_when_it_is_reached() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "disk::os::tests::take_every_map", "--ignored"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Batches of the test below, and bytes of each.
const BATCHES: u64 = 32;

#[test]
#[ignore = "copies until it is killed: run by the next test in a process of its own"]
fn copy_batches_until_killed() {
    let mut path = String::new();
    io::stdin().read_line(&mut path).unwrap();
    let file = OsFile::open(Path::new(path.trim()), Access::Write).unwrap();
    let map = file.map(Access::Write).unwrap();
    map.populate(0..BATCHES * MIB, Access::Write).unwrap();
    let mut writer = map.writer().unwrap();
    for batch in 0..BATCHES {
        writer.put(batch * MIB, &vec![batch as u8 + 1; MIB as usize]);
    }
    io::stdin().read_line(&mut path).unwrap();
}

#[test]
fn a_batch_whose_copying_was_killed_begins_with_zeros() {
    for round in 0..8 {
        let dir = temporary();
        let path = dir.path().join("a");
        let file = OsFile::create(dir.path(), BATCHES * MIB, Allocation::Reserved).unwrap();
        file.link(&path).unwrap();
        let mut child = batches_copied_to(&path);
        let mut begun = [0];
        while begun == [0] {
            assert_eq!(child.try_wait().unwrap(), None, "the child failed");
            file.read_at(round * 3 * MIB + 8, &mut begun).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let map = file.map(Access::Read).unwrap();
        for batch in 0..BATCHES {
            let bytes = map.bytes(batch * MIB..(batch + 1) * MIB, Published::all()).unwrap();
            let is_whole = bytes.iter().all(|byte| *byte == batch as u8 + 1);
            assert!(is_whole || bytes[..8] == [0; 8], "batch {batch} of round {round}");
            assert!(is_whole || batch >= round * 3, "batch {batch} of round {round}");
        }
    }
}

fn batches_copied_to(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "disk::os::tests::copy_batches_until_killed", "--ignored"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", path.display()).unwrap();
    child
}

#[test]
fn space_is_possible_whatever_the_system_says() {
    let rows = [
        ([4096, 100, 40, 30], 60 * 4096, 30 * 4096),
        ([4096, 0, 0, 0], 0, 0),
        ([4096, 100, 200, 300], 0, 100 * 4096),
        ([4096, 100, 40, u64::MAX], 60 * 4096, 40 * 4096),
        ([0, 100, 40, 30], 0, 0),
        // 10 PiB in blocks of 512 bytes, and more than 64 bits of bytes.
        ([512, 20 << 40, 10 << 40, 10 << 40], 5 << 50, 5 << 50),
        ([1 << 30, u64::MAX, 1, 1], u64::MAX, 1 << 30),
    ];
    for (told, used, available) in rows {
        assert_eq!(space_of(told), Space { used, available }, "{told:?}");
    }
}

#[test]
fn relative_paths_and_names_without_a_directory_work() {
    assert_eq!(parent_of(Path::new("a")), Path::new("."));
    assert_eq!(parent_of(Path::new("/")), Path::new("/"));
    make_dir(Path::new(".")).unwrap();
    let stat = OsDisk::new().stat(Path::new(".")).unwrap().unwrap();
    assert!(stat.canonical.is_absolute());
    let none = PathBuf::from("..");
    assert_eq!(kind_of(OsDisk::new().replace(&none, b"")), ErrorKind::Io);
}
