//! Turns, damage and versions.

use std::path::Path;

use super::super::{Access, Allocation, Disk, MemDisk};
use super::*;

const PATH: &str = "/slots";

/// A disk with a file of slots after `writes` writes of `value 1`, `value 2`, ...
fn written(writes: usize) -> (MemDisk, Arc<dyn File>) {
    let disk = MemDisk::new();
    let file = disk.create(Path::new("/"), Slots::LEN, Allocation::Reserved).unwrap();
    file.link(Path::new(PATH)).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    let (mut slots, _) = Slots::open(file.clone()).unwrap();
    for number in 1..=writes {
        slots.write(value(number).as_bytes()).unwrap();
    }
    (disk, file)
}

fn value(number: usize) -> String {
    format!("value {number}")
}

fn read(disk: &MemDisk) -> Option<String> {
    let file = disk.open(Path::new(PATH), Access::Read).unwrap();
    Slots::open(file).unwrap().1.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn the_newest_value_is_read_and_writing_goes_on() {
    for writes in 1..6 {
        let (disk, file) = written(writes);
        assert_eq!(read(&disk), Some(value(writes)));
        Slots::open(file).unwrap().0.write(b"next").unwrap();
        assert_eq!(read(&disk).as_deref(), Some("next"));
    }
    assert_eq!(read(&written(0).0), None);
}

#[test]
fn the_layout_is_the_documented_one() {
    let (disk, _) = written(1);
    let bytes = disk.read(Path::new(PATH)).unwrap().unwrap();
    assert_eq!(&bytes[..20], b"SPLS\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\x07");
    assert_eq!(&bytes[24..31], b"value 1");
    assert!(bytes[31..].iter().all(|byte| *byte == 0));
    let (disk, _) = written(2);
    let bytes = disk.read(Path::new(PATH)).unwrap().unwrap();
    assert_eq!(&bytes[4096 + 24..4096 + 31], b"value 2");
}

#[test]
fn any_flipped_bit_leaves_the_value_before() {
    for at in 0..512 {
        let (disk, _) = written(4);
        disk.flip(Path::new(PATH), 4096 + at, 1 << (at % 8)).unwrap();
        assert_eq!(read(&disk), Some(value(3)), "{at}");
        disk.flip(Path::new(PATH), 0, 1).unwrap();
        assert_eq!(read(&disk), None);
    }
}

#[test]
fn a_crash_while_writing_leaves_the_value_before_or_the_new_one() {
    for survives in [false, true] {
        let (disk, _) = written(3);
        let file = disk.open(Path::new(PATH), Access::Write).unwrap();
        file.write_at(4096, &encode(4, b"value 4")).unwrap();
        let expected = if survives { 4 } else { 3 };
        assert_eq!(read(&disk.crash(&mut || survives)), Some(value(expected)));
    }
}

#[test]
fn a_torn_slot_is_damage() {
    let (disk, file) = written(3);
    file.write_at(4096, &encode(4, &[9; 480])[..300]).unwrap();
    assert_eq!(read(&disk), Some(value(3)));
}

#[test]
fn a_later_version_is_refused_and_a_damaged_one_is_not_taken_for_later() {
    let (disk, file) = written(2);
    let mut slot = encode(3, b"");
    put(&mut slot, VERSION_AT, &2_i32.to_be_bytes());
    file.write_at(0, &slot).unwrap();
    assert_eq!(read(&disk), Some(value(2)));
    put(&mut slot, CHECKSUM_AT, &[0; 4]);
    let sum = checksum(&slot);
    put(&mut slot, CHECKSUM_AT, &sum.to_be_bytes());
    file.write_at(0, &slot).unwrap();
    let error = Slots::open(file).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Version, Some(0)));
}

#[test]
fn sums_that_fit_do_not_make_nonsense_right() {
    let (disk, file) = written(1);
    for (sequence, len) in [(0_i64, 3_i32), (-5, 3), (9, -1), (9, 481), (9, i32::MAX)] {
        let mut slot = encode(sequence, b"abc");
        put(&mut slot, LEN_AT, &len.to_be_bytes());
        put(&mut slot, CHECKSUM_AT, &[0; 4]);
        let sum = checksum(&slot);
        put(&mut slot, CHECKSUM_AT, &sum.to_be_bytes());
        file.write_at(4096, &slot).unwrap();
        assert_eq!(read(&disk), Some(value(1)), "{sequence} {len}");
    }
}

#[test]
fn values_and_files_of_the_wrong_size_are_refused() {
    let (disk, file) = written(1);
    let (mut slots, _) = Slots::open(file).unwrap();
    let error = slots.write(&[1; 481]).unwrap_err();
    assert_eq!((error.kind(), error.limit()), (ErrorKind::TooLarge, Some(480)));
    assert_eq!(read(&disk), Some(value(1)));
    slots.write(&[b'x'; 480]).unwrap();
    assert_eq!(read(&disk), Some("x".repeat(480)));
    disk.truncate(Path::new(PATH), 8191).unwrap();
    let short = disk.open(Path::new(PATH), Access::Read).unwrap();
    assert_eq!(Slots::open(short).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn nothing_is_written_after_a_failed_sync() {
    let (disk, file) = written(1);
    let (mut slots, _) = Slots::open(file).unwrap();
    disk.set_read_only(Path::new("/"), true);
    assert_eq!(slots.write(b"refused").unwrap_err().kind(), ErrorKind::Io);
    disk.set_read_only(Path::new("/"), false);
    slots.write(b"after a failed write").unwrap();
    slots.failed = true;
    assert_eq!(slots.write(b"after a failed sync").unwrap_err().kind(), ErrorKind::Poisoned);
    assert_eq!(read(&disk).as_deref(), Some("after a failed write"));
}
