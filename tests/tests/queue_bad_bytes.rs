//! A small queue with damage of every kind: a typed error or the right answer, never a wrong
//! record, an endless loop or a panic.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use spanlog::disk::{Disk, ManualClock, MemDisk};
use spanlog::{Error, ErrorKind, Queue, QueueOptions};

const NOW: Duration = Duration::ZERO;
const RECORDS: u64 = 14;

fn options() -> QueueOptions {
    QueueOptions::new()
        .segment_len_bytes(4096)
        .capacity_segments(8)
        .max_in_memory_segments(8)
        .directory("/a")
        .directory("/b")
        .background(false)
}

fn open(disk: &Arc<MemDisk>) -> Result<Queue, Error> {
    let shared = Arc::clone(disk) as Arc<dyn Disk>;
    Queue::open_on(shared, Arc::new(ManualClock::new(0)), "/queue", options())
}

fn payload(number: u64) -> Vec<u8> {
    let mut payload = number.to_be_bytes().to_vec();
    payload.resize(500 + (number * 97 % 300) as usize, number as u8);
    payload
}

/// A queue with a few records over three segments, closed, or with the last of them not flushed.
fn small_queue(is_closed: bool) -> Arc<MemDisk> {
    let disk = Arc::new(MemDisk::new());
    let queue = open(&disk).unwrap();
    queue.reader("reader").unwrap();
    (0..RECORDS - 3).for_each(|number| assert!(queue.push(&payload(number)).is_ok()));
    queue.flush().unwrap();
    (RECORDS - 3..RECORDS).for_each(|number| assert!(queue.push(&payload(number)).is_ok()));
    if is_closed {
        queue.close().unwrap();
        return disk;
    }
    Arc::new(disk.kill())
}

/// Opens the queue and takes everything there is, over damage. Every record that comes is one
/// that was pushed, in order. Says which came, or why it does not open.
fn take_all(disk: &Arc<MemDisk>, what: &str) -> Result<BTreeSet<u64>, Error> {
    let queue = open(disk)?;
    let reader = queue.reader("reader")?;
    let mut taken = BTreeSet::new();
    for _ in 0..2 * RECORDS {
        match reader.pop(NOW) {
            Ok(None) => return Ok(taken),
            Ok(Some(record)) => {
                let number = u64::from_be_bytes(record.payload[..8].try_into().unwrap());
                assert_eq!(*record.payload, payload(number), "{what}");
                assert!(taken.last().is_none_or(|last| *last < number), "{what}: {number}");
                taken.insert(number);
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                assert!(error.path().is_some() && error.offset().is_some(), "{what}: {error}");
                assert!(reader.skip_damaged()?.is_some(), "{what}");
            }
            Err(error) => return Err(error),
        }
    }
    panic!("{what}: no end");
}

fn segments(disk: &MemDisk) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for dir in ["/a", "/b"] {
        let entries = disk.list(Path::new(dir)).unwrap();
        all.extend(entries.iter().map(|entry| Path::new(dir).join(&entry.name)));
    }
    all.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    all
}

fn len(disk: &MemDisk, path: &Path) -> u64 {
    disk.stat(path).unwrap().expect("it is there").len
}

#[test]
fn a_flipped_byte_of_a_segment_costs_the_record_it_is_in() {
    for is_closed in [true, false] {
        let whole = small_queue(is_closed);
        for path in segments(&whole) {
            for at in 0..len(&whole, &path) {
                let disk = Arc::new(whole.kill());
                disk.flip(&path, at, 1 << (at % 8)).unwrap();
                let what = format!("{} byte {at}, closed: {is_closed}", path.display());
                let taken =
                    take_all(&disk, &what).unwrap_or_else(|error| panic!("{what}: {error}"));
                // Below what was flushed one record is lost, or two where it ends a segment;
                // above it, damage is the end.
                let least = if is_closed { RECORDS - 2 } else { RECORDS - 4 };
                assert!(taken.len() as u64 >= least, "{what}: {taken:?}");
            }
        }
    }
}

/// What was popped before damage that was passed over can be committed afterwards, too.
#[test]
fn commits_before_damage_count_after_it_was_skipped() {
    let disk = small_queue(true);
    let path = segments(&disk).remove(0);
    disk.flip(&path, 900, 1).unwrap(); // in the second record
    let queue = open(&disk).unwrap();
    let reader = queue.reader("reader").unwrap();
    let first = reader.pop(NOW).unwrap().unwrap();
    assert_eq!(reader.pop(NOW).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(reader.skip_damaged().unwrap().map(|range| range.start), Some(first.end.get()));
    let third = reader.pop(NOW).unwrap().unwrap();
    assert_eq!(third.number, 2);
    let inside = reader.commit(first.end + 8).unwrap_err();
    assert_eq!(inside.kind(), ErrorKind::Invalid);
    reader.commit(first.end).unwrap();
    assert_eq!(queue.stat().records, RECORDS - 1);
    reader.commit(third.end).unwrap();
    assert_eq!(queue.stat().records, RECORDS - 3);
}

#[test]
fn a_flipped_byte_of_the_meta_page_costs_nothing() {
    for is_closed in [true, false] {
        let whole = small_queue(is_closed);
        let meta = Path::new("/queue/.spanlog/queue");
        for at in 0..len(&whole, meta) {
            let disk = Arc::new(whole.kill());
            disk.flip(meta, at, 1 << (at % 8)).unwrap();
            let what = format!("byte {at} of the meta page");
            let taken = take_all(&disk, &what).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(taken.len() as u64, RECORDS, "{what}");
        }
    }
}

#[test]
fn without_any_meta_page_everything_is_found_by_reading() {
    let whole = small_queue(true);
    let meta = Path::new("/queue/.spanlog/queue");
    for len in [0, 100, 4096, 8191] {
        let disk = Arc::new(whole.kill());
        disk.truncate(meta, len).unwrap();
        let taken = take_all(&disk, "a short meta page").unwrap();
        assert_eq!(taken.len() as u64, RECORDS, "{len} bytes");
        assert!(open(&Arc::new(disk.kill())).is_ok());
    }
}

#[test]
fn a_truncated_segment_is_told() {
    let whole = small_queue(true);
    for path in segments(&whole) {
        for len in (0..4096).step_by(61) {
            let disk = Arc::new(whole.kill());
            disk.truncate(&path, len).unwrap();
            match take_all(&disk, "truncated") {
                Ok(taken) => assert!(taken.len() as u64 >= RECORDS - 9 && len == 0, "{taken:?}"),
                Err(error) => {
                    let kinds = [ErrorKind::Corrupt, ErrorKind::Offline];
                    assert!(kinds.contains(&error.kind()), "{}: {error}", path.display());
                }
            }
        }
    }
}

/// What was popped and committed needs no file any more, whatever became of it.
#[test]
fn a_file_that_was_free_may_be_in_any_state() {
    let whole = Arc::new(small_queue(true).kill());
    let queue = open(&whole).unwrap();
    let reader = queue.reader("reader").unwrap();
    while let Some(record) = reader.pop(NOW).unwrap() {
        reader.commit(record.end).unwrap();
    }
    queue.close().unwrap();
    let all = segments(&whole);
    for path in &all[..2] {
        for len in [0, 1, 4095] {
            comes_round(&whole, &|disk| disk.truncate(path, len).unwrap());
        }
        comes_round(&whole, &|disk| disk.corrupt(path, 0, &[0xA5; 4096]).unwrap());
        comes_round(&whole, &|disk| disk.lose(path));
    }
}

/// Does what `harm` says to the files of a queue whose records are all committed; it opens, is
/// empty, and serves two laps.
fn comes_round(whole: &MemDisk, harm: &dyn Fn(&MemDisk)) {
    let disk = Arc::new(whole.kill());
    harm(&disk);
    let queue = open(&disk).unwrap();
    let reader = queue.reader("reader").unwrap();
    assert!(reader.pop(NOW).unwrap().is_none());
    for number in 0..100 {
        queue.push(&payload(number)).unwrap();
        let record = reader.pop(NOW).unwrap().expect("it was pushed");
        assert_eq!(*record.payload, payload(number));
        reader.commit(record.end).unwrap();
    }
    queue.close().unwrap();
    assert!(take_all(&disk, "after two laps").unwrap().is_empty());
}

#[test]
fn a_missing_segment_is_told_with_its_range() {
    let whole = small_queue(true);
    for (at, path) in segments(&whole).iter().enumerate().take(2) {
        let disk = Arc::new(whole.kill());
        disk.lose(path);
        let error = open(&disk).unwrap_err();
        let base = 4096 * at as u64;
        assert_eq!((error.kind(), error.range()), (ErrorKind::Offline, Some(base..base + 4096)));
    }
}

#[test]
fn swapped_segments_give_no_wrong_record() {
    let whole = small_queue(true);
    let all = segments(&whole);
    let contents: Vec<_> = all.iter().map(|path| whole.read(path).unwrap().unwrap()).collect();
    for (a, b) in [(0, 1), (1, 2), (0, 2)] {
        let disk = Arc::new(whole.kill());
        disk.corrupt(&all[a], 0, &contents[b]).unwrap();
        disk.corrupt(&all[b], 0, &contents[a]).unwrap();
        let taken = take_all(&disk, "swapped").unwrap();
        assert!(taken.len() < RECORDS as usize, "{taken:?}");
    }
}

#[test]
fn of_a_doubled_segment_one_is_taken_and_two_that_differ_are_told() {
    let whole = small_queue(true);
    let path = &segments(&whole)[1];
    let other = if path.starts_with("/a") { "/b" } else { "/a" };
    let twin = Path::new(other).join(path.file_name().unwrap());
    let mut bytes = whole.read(path).unwrap().unwrap();
    let disk = Arc::new(whole.kill());
    disk.write(&twin, &bytes);
    assert_eq!(take_all(&disk, "doubled").unwrap().len() as u64, RECORDS);
    bytes[1000] ^= 1;
    let disk = Arc::new(whole.kill());
    disk.write(&twin, &bytes);
    assert_eq!(open(&disk).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn over_damage_pushes_go_on_and_nothing_is_left_unread() {
    let disk = small_queue(true);
    let paths = segments(&disk);
    disk.flip(&paths[1], 2000, 0xFF).unwrap();
    let queue = open(&disk).unwrap();
    let reader = queue.reader("reader").unwrap();
    queue.push(&payload(RECORDS)).unwrap();
    let mut taken = Vec::new();
    while taken.last() != Some(&RECORDS) {
        match reader.pop(NOW) {
            Ok(record) => taken.push(record.expect("one more").number),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                assert!(reader.skip_damaged().unwrap().is_some());
            }
        }
    }
    assert_eq!(taken.len() as u64, RECORDS, "one is lost");
    reader.commit(queue.stat().end).unwrap();
    let stat = queue.stat().readers.into_iter().find(|reader| reader.name == "reader").unwrap();
    assert_eq!((stat.records, stat.unread_bytes), (0, 0));
}
