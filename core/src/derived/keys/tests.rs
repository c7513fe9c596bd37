use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::base::units::Position;
use crate::disk::{Access, Disk, EntryKind, MemDisk};
use crate::error::{ErrorKind, Result};
use crate::segment::Budget;

const SHAPE: Shape = Shape { slots: 7, entries: 20 };
const START_MS: i64 = 1_700_000_000_123;

fn shelf(disk: &Arc<MemDisk>, access: Access) -> KeyShelf {
    let disk: Arc<dyn Disk> = Arc::clone(disk) as Arc<_>;
    KeyShelf { disk, budget: Budget::new(8), dir: "/index".into(), shape: SHAPE, access }
}

fn opened(disk: &Arc<MemDisk>, catalogue: Option<&Catalogue>) -> KeyIndex {
    KeyIndex::open(shelf(disk, Access::Write), catalogue, false, Position::ZERO, true).unwrap()
}

/// Record `n` stands at `100 * n`, is stored `n` seconds after the first, and has two hashes: its
/// own and that of its number's last digit.
fn hashes(n: u64) -> [u32; 2] {
    [1000 + n as u32, n as u32 % 10]
}

fn add(index: &KeyIndex, numbers: impl IntoIterator<Item = u64>) -> Result<()> {
    let mut writer = index.writer();
    for n in numbers {
        let store_ms = START_MS + 1000 * n as i64;
        writer.add(Position::new(100 * n), store_ms, &hashes(n))?;
        writer.advance(Position::new(100 * n + 100));
    }
    Ok(())
}

fn synced(index: &KeyIndex) -> Catalogue {
    let catalogue = index.begin_sync(true).expect("something was added");
    index.sync().unwrap();
    index.note_synced(&catalogue);
    catalogue
}

/// The numbers of the records of a hash, newest first.
fn found(index: &KeyIndex, hash: u32) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for source in index.sources(Position::ZERO..index.done(), KeyKind::Key) {
        let Source::File(file) = source else { continue };
        let Some(mut chain) = KeyIndex::chain(&file, hash)? else { continue };
        while let Some(position) = chain.next()? {
            numbers.push(position.get() / 100);
        }
    }
    Ok(numbers)
}

fn check(index: &KeyIndex, range: std::ops::Range<u64>) {
    for n in range.clone() {
        assert_eq!(found(index, hashes(n)[0]).unwrap(), [n]);
    }
    for digit in 0..10 {
        let own: Vec<_> = range.clone().rev().filter(|n| n % 10 == digit).collect();
        assert_eq!(found(index, digit as u32).unwrap(), own, "digit {digit}");
    }
    assert_eq!(found(index, 999).unwrap(), [0; 0]);
}

fn files(disk: &MemDisk) -> Vec<PathBuf> {
    let entries = disk.list(Path::new("/index")).unwrap_or_default().into_iter();
    let mut files: Vec<_> = entries
        .filter(|entry| entry.kind == EntryKind::File)
        .map(|entry| Path::new("/index").join(entry.name))
        .collect();
    files.sort();
    files
}

/// The worked example of the format: ten slots, four entries, the third and fourth put of one key.
#[test]
fn bytes_are_those_of_the_format() {
    let disk = Arc::new(MemDisk::new());
    let mut shelf = shelf(&disk, Access::Write);
    shelf.shape = Shape { slots: 10, entries: 4 };
    let index = KeyIndex::open(shelf, None, true, Position::ZERO, true).unwrap();
    let first = Position::new(0x4000_0000);
    {
        let mut writer = index.writer();
        writer.add(first, START_MS, &[0x7B44_6FA3, 0x62C3_592C]).unwrap();
        writer.add(Position::new(0x4000_00A7), START_MS + 7999, &[0x62C3_592C]).unwrap();
    }
    let path = Path::new("/index/20231114221320123");
    let bytes = disk.read(path).unwrap().unwrap();
    assert_eq!(bytes.len(), 160);
    let hex = |from: usize, to: usize| {
        bytes[from..to].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(hex(0, 16), "0000018bcfe5687b0000018bcfe587ba");
    assert_eq!(hex(16, 40), "000000004000000000000000400000a70000000200000004");
    let slot = |number: usize| hex(40 + 4 * number, 44 + 4 * number);
    let slots: Vec<_> = (0..10).map(slot).collect();
    assert_eq!((slots[5].as_str(), slots[6].as_str()), ("00000001", "00000003"));
    assert_eq!(slots.iter().filter(|slot| *slot == "00000000").count(), 8);
    let entry = |number: usize| hex(80 + 20 * number, 100 + 20 * number);
    assert_eq!(entry(0), "0".repeat(40));
    assert_eq!(entry(1), "7b446fa300000000400000000000000000000000");
    assert_eq!(entry(2), "62c3592c00000000400000000000000000000000");
    assert_eq!(entry(3), "62c3592c00000000400000a70000000700000002");
}

/// Full files are followed by others, also in the middle of a record's keys; what is found is
/// newest first over all of them.
#[test]
fn files_follow_each_other() {
    for count in [1, 9, 10, 19, 20, 100] {
        let disk = Arc::new(MemDisk::new());
        let index = opened(&disk, None);
        add(&index, 0..count).unwrap();
        check(&index, 0..count);
        assert_eq!(files(&disk).len() as u64, (2 * count).div_ceil(19), "{count}");
    }
}

#[test]
fn a_time_before_the_files_first_and_beyond_49_days() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    let times = [START_MS, START_MS - 5000, START_MS + 50 * 86_400_000, i64::MAX, i64::MIN];
    for (n, time) in (0..).zip(times) {
        index.writer().add(Position::new(100 * n), time, &[7]).unwrap();
        index.writer().advance(Position::new(100 * n + 100));
    }
    assert_eq!(found(&index, 7).unwrap(), [4, 3, 2, 1, 0]);
    let bytes = disk.read(&files(&disk)[0]).unwrap().unwrap();
    let entry = |number: usize| 40 + 4 * 7 + 20 * number;
    let seconds = |number| crate::base::bytes::read_i32(&bytes, entry(number) + 12).unwrap();
    let told: Vec<_> = (1..=5).map(seconds).collect();
    assert_eq!(told, [0, 0, 50 * 86_400, i32::MAX, 0], "seconds are held within their range");
}

/// The header counts slots that are in use, not entries.
#[test]
fn index_header_counts_verified() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    for n in 0..15 {
        index.writer().add(Position::new(100 * n), START_MS, &[5]).unwrap();
    }
    let bytes = disk.read(&files(&disk)[0]).unwrap().unwrap();
    assert_eq!(bytes[32..40], [0, 0, 0, 1, 0, 0, 0, 16]);
}

/// What was added since the last flush may be lost, whole or in part; what is left goes on from
/// there, and the same records may be added again.
#[test]
fn a_loss_of_power_takes_what_was_not_flushed() {
    for kept in [3, 9, 10, 18, 25] {
        for odds in 0..8_u32 {
            let disk = Arc::new(MemDisk::new());
            let index = opened(&disk, None);
            add(&index, 0..kept).unwrap();
            let catalogue = synced(&index);
            add(&index, kept..kept + 17).unwrap();
            let mut drawn = odds;
            let crashed = Arc::new(disk.crash(&mut || {
                drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                drawn >> 29 < odds
            }));
            let next = opened(&crashed, Some(&catalogue));
            assert_eq!(next.done(), Position::new(100 * kept));
            check(&next, 0..kept);
            add(&next, kept..kept + 30).unwrap();
            check(&next, 0..kept + 30);
            let again = opened(&crashed, Some(&synced(&next)));
            check(&again, 0..kept + 30);
        }
    }
}

/// A checkpoint that failed before it came to the index had taken the files that were not durable
/// with it: the next catalogue told of slots that nobody had flushed.
#[test]
fn a_flush_that_was_given_up_loses_nothing() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..9).unwrap();
    drop(index.begin_sync(true));
    let catalogue = synced(&index);
    let crashed = Arc::new(disk.crash(&mut || false));
    check(&opened(&crashed, Some(&catalogue)), 0..9);
}

/// What cannot be made leaves nothing behind, and adding goes on where it failed.
#[test]
fn failed_index_creation_leaves_nothing() {
    let disk = Arc::new(MemDisk::new());
    disk.make_dir(Path::new("/index")).unwrap();
    let index = opened(&disk, None);
    disk.set_read_only(Path::new("/"), true);
    for _ in 0..100 {
        assert!(add(&index, 0..3).is_err());
        assert!(files(&disk).is_empty());
    }
    disk.set_read_only(Path::new("/"), false);
    add(&index, 0..3).unwrap();
    check(&index, 0..3);
    assert_eq!(files(&disk).len(), 1);
}

/// A record whose second key found no file is added again without its first one.
#[test]
fn a_record_that_was_added_in_part_is_added_once() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..9).unwrap();
    disk.set_read_only(Path::new("/"), true);
    assert!(add(&index, 9..10).is_err(), "the file has room for one more");
    disk.set_read_only(Path::new("/"), false);
    add(&index, 9..12).unwrap();
    check(&index, 0..12);
}

/// Adding again what was added before changes nothing.
#[test]
fn adding_again_changes_nothing() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..30).unwrap();
    let before: Vec<_> = files(&disk).iter().map(|file| disk.read(file).unwrap()).collect();
    add(&index, 0..30).unwrap();
    let after: Vec<_> = files(&disk).iter().map(|file| disk.read(file).unwrap()).collect();
    assert_eq!(before, after);
}

#[test]
fn files_go_with_their_part_of_the_log() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..40).unwrap();
    let catalogue = synced(&index);
    assert_eq!(files(&disk).len(), 5);
    assert_eq!(index.drop_before(Position::new(900)).unwrap(), 0, "record 9 is in two files");
    assert_eq!(index.drop_before(Position::new(1000)).unwrap(), 1);
    assert_eq!(index.drop_before(Position::new(99_999)).unwrap(), 3, "the last one stays");
    assert_eq!(files(&disk).len(), 1);
    assert_eq!(found(&index, 1039).unwrap(), [39]);
    // The catalogue is older than the removal: what it names in vain lies below the start.
    let start = Position::new(3900);
    let shelf = shelf(&disk, Access::Write);
    let next = KeyIndex::open(shelf, Some(&catalogue), true, start, true).unwrap();
    assert_eq!((next.done().get(), found(&next, 1039).unwrap()), (4000, vec![39]));
}

/// Whatever became of the files, they are as the catalogue says or are not believed.
#[test]
fn a_missing_or_short_file_is_not_believed() {
    for at in 0..3 {
        for short in [false, true] {
            let disk = Arc::new(MemDisk::new());
            let index = opened(&disk, None);
            add(&index, 0..25).unwrap();
            let catalogue = synced(&index);
            let file = &files(&disk)[at];
            match short {
                true => disk.truncate(file, 99).unwrap(),
                false => disk.lose(file),
            }
            let next = opened(&disk, Some(&catalogue));
            assert_eq!(next.done(), Position::ZERO);
            add(&next, 0..25).unwrap();
            check(&next, 0..25);
            assert_eq!(files(&disk).len(), 3, "nothing is left of the files before");
        }
    }
}

/// A store that is open for reading takes the files as they are: those of somebody else for what
/// lies between their first and last record, its own up to where the catalogue goes.
#[test]
fn a_reader_knows_what_files_hold() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..12).unwrap();
    let catalogue = synced(&index);
    add(&index, 12..15).unwrap();
    drop(index);
    disk.set_read_only(Path::new("/"), true);
    let line = Position::ZERO..Position::new(2000);
    let ranges = |index: &KeyIndex| {
        let sources = index.sources(line.clone(), KeyKind::Key).into_iter();
        sources
            .filter_map(|source| match source {
                Source::Log(range) => Some((range.start.get(), range.end.get())),
                Source::File(_) => None,
            })
            .collect::<Vec<_>>()
    };
    let own = KeyIndex::open(shelf(&disk, Access::Read), Some(&catalogue), false, line.start, true);
    let own = own.unwrap();
    let lost = KeyIndex::open(shelf(&disk, Access::Read), None, false, line.start, true).unwrap();
    assert_eq!(ranges(&lost), [(0, 2000)], "nothing says how far its own files are whole");
    assert_eq!(ranges(&own), [(1200, 2000)]);
    check(&own, 0..12);
    let foreign =
        KeyIndex::open(shelf(&disk, Access::Read), None, false, line.start, false).unwrap();
    // The last record may have further keys behind the last entry, so it is read again.
    assert_eq!(ranges(&foreign), [(1400, 2000)]);
    check(&foreign, 0..15);
    let none = KeyIndex::none(shelf(&disk, Access::Read));
    assert_eq!(ranges(&none), [(0, 2000)]);
}

#[test]
fn foreign_names_and_files_that_make_no_sense_are_passed_by() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..25).unwrap();
    drop(index);
    let whole = disk.read(&files(&disk)[1]).unwrap().unwrap();
    for at in 16..40 {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x11;
        disk.write(&files(&disk)[1], &damaged);
        let reader = KeyIndex::open(shelf(&disk, Access::Read), None, false, Position::ZERO, false);
        let sources = reader.unwrap().sources(Position::ZERO..Position::new(2500), KeyKind::Key);
        let files = sources.iter().filter(|source| matches!(source, Source::File(_))).count();
        // Not even a count that is one too low may hide an entry.
        let is_used_count = (32..36).contains(&at);
        assert_eq!(files, if is_used_count { 3 } else { 2 }, "byte {at}");
    }
    for name in ["note", "2023111422132012x", "202311142213201230"] {
        disk.write(&Path::new("/index").join(name), b"kept");
    }
    let reader = KeyIndex::open(shelf(&disk, Access::Read), None, false, Position::ZERO, false);
    reader.unwrap();
    let anew = opened(&disk, None);
    add(&anew, 0..3).unwrap();
    assert_eq!(disk.read(Path::new("/index/note")).unwrap().unwrap(), b"kept");
}

/// Links that lead to themselves, to each other, forward or behind the last entry.
#[test]
fn index_chain_cycles() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    for n in 0..9 {
        index.writer().add(Position::new(100 * n), START_MS, &[5]).unwrap();
        index.writer().advance(Position::new(100 * n + 100));
    }
    let path = files(&disk)[0].clone();
    let previous = |number: u64| 40 + 4 * 7 + 20 * number + 16;
    let slot = 40 + 4 * 5;
    for (at, value) in [
        (previous(4), 4_u32),
        (previous(3), 7),
        (previous(5), 999),
        (previous(5), u32::MAX),
        (slot, 10),
        (slot, u32::MAX),
    ] {
        let whole = disk.read(&path).unwrap().unwrap();
        disk.corrupt(&path, at, &value.to_be_bytes()).unwrap();
        assert_eq!(found(&index, 5).unwrap_err().kind(), ErrorKind::Corrupt, "{at}: {value}");
        let at_usize = usize::try_from(at).unwrap();
        disk.corrupt(&path, at, &whole[at_usize..at_usize + 4]).unwrap();
        assert_eq!(found(&index, 5).unwrap().len(), 9);
    }
}

/// Every byte flip of a small file: what is found is what was added, or less where a link was cut
/// short, or the file is said to be damaged; and the walk ends.
#[test]
fn every_byte_flip_of_a_file() {
    let disk = Arc::new(MemDisk::new());
    let mut shelf = shelf(&disk, Access::Write);
    // More slots than a byte has values: a hash with another byte is of another slot.
    shelf.shape = Shape { slots: 257, entries: 20 };
    let index = KeyIndex::open(shelf, None, true, Position::ZERO, true).unwrap();
    add(&index, 0..9).unwrap();
    let path = files(&disk)[0].clone();
    let entry_at = |number: u64| 40 + 4 * 257 + 20 * number;
    for at in 40..entry_at(19) {
        for flip in [0x01_u8, 0x80, 0xFF] {
            disk.flip(&path, at, flip).unwrap();
            for hash in (0..10).chain(1000..1009) {
                let is_own = |n: &u64| hashes(*n).contains(&hash);
                let whole: Vec<u64> = (0..9).rev().filter(is_own).collect();
                let is_link = at < entry_at(0) || (at - entry_at(0)) % 20 >= 16;
                let is_position = (4..12).contains(&(at.saturating_sub(entry_at(0)) % 20));
                match found(&index, hash) {
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt),
                    // Links have nothing that tells a lost end; what a position leads to is told
                    // by the record there.
                    Ok(some) if is_link => assert!(some.iter().all(|n| whole.contains(n))),
                    Ok(some) if is_position => assert_eq!(some.len(), whole.len()),
                    Ok(some) => assert_eq!(some, whole, "byte {at} ^ {flip:02x}, hash {hash}"),
                }
            }
            disk.flip(&path, at, flip).unwrap();
        }
    }
    check(&index, 0..9);
}

/// Somebody looks up while entries are added: whatever was in before is found.
#[test]
fn readers_beside_the_writer() {
    let disk = Arc::new(MemDisk::new());
    let index = opened(&disk, None);
    add(&index, 0..50).unwrap();
    std::thread::scope(|scope| {
        let adding = scope.spawn(|| add(&index, 50..2000).unwrap());
        while !adding.is_finished() {
            let seen = found(&index, 7).unwrap();
            assert!(seen.ends_with(&[47, 37, 27, 17, 7]), "{seen:?}");
            assert!(seen.is_sorted_by(|a, b| a > b));
        }
    });
    check(&index, 0..2000);
}
