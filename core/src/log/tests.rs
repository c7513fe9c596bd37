//! The log on a disk in memory: appending against the ends of segments, flushing, reading,
//! finding the end again, cutting.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::base::units::Position;
use crate::disk::{Access, Disk, MemDisk};
use crate::error::{ErrorKind, Result};
use crate::record::{
    Check, Encoding, Message, MessageView, PADDING_BYTES, Stamp, UniqueIds, encode, stamp,
};
use crate::segment::name::segment_name;
use crate::segment::placement::Placement;
use crate::segment::{Budget, Chain, Place, Room, Segment, Shelf, Supply};

const LEN: u64 = 4096;
const DIRS: [&str; 2] = ["/d0", "/d1"];

/// A log over two directories, and what it stands on.
struct World {
    disk: Arc<MemDisk>,
    supply: Supply,
    log: Log,
}

impl NextSegment for Supply {
    fn next_segment(&self, base: Position) -> Result<Arc<Segment>> {
        self.next(base)
    }
}

impl World {
    fn new(path: WritePath) -> Self {
        Self::over(Arc::new(MemDisk::new()), Vec::new(), 0, path)
    }

    fn over(disk: Arc<MemDisk>, segments: Vec<Arc<Segment>>, end: u64, path: WritePath) -> Self {
        let shelf = |directory: usize| {
            // A file system of its own each.
            disk.set_capacity(Path::new(DIRS[directory]), 1 << 30);
            let path = DIRS[directory].into();
            Shelf { directory: directory as u64, path, usable_bytes: 1 << 30 }
        };
        let room = Room { shelves: vec![shelf(0), shelf(1)] };
        let seam = Arc::clone(&disk) as Arc<dyn Disk>;
        let supply = Supply::new(seam, Budget::new(64), Placement::Rocketmq, LEN);
        supply.set_room(room);
        Self { disk, supply, log: Log::new(segments, Position::new(end), path) }
    }

    /// Appends one record of `size` bytes.
    fn append(&self, size: u64) -> Result<u64> {
        let mut record = record(size);
        let set = |bytes: &mut [u8], position: Position| {
            stamp(bytes, &Stamp { position: position.get(), queue_offset: 0, store_ms: 7 });
        };
        let mut accepted = false;
        let outcome = self.log.append(&mut record, &self.supply, set, || accepted = true);
        assert_eq!(accepted, outcome.is_ok());
        outcome.map(Position::get)
    }

    /// Appends `count` records of `size` bytes; returns their places.
    fn fill(&self, count: usize, size: u64) -> Vec<(u64, u64)> {
        (0..count).map(|_| (self.append(size).unwrap(), size)).collect()
    }

    fn set_capacity(&self, bytes: u64) {
        DIRS.iter().for_each(|dir| self.disk.set_capacity(Path::new(dir), bytes));
    }

    fn appended(&self) -> u64 {
        self.log.appended().get()
    }

    fn bytes(&self, position: u64, len: u32) -> Result<Vec<u8>> {
        let mut reader = self.log.reader();
        let span = reader.span(Position::new(position), len)?;
        Ok(reader.bytes(span).to_vec())
    }
}

/// A record of `size` bytes, not stamped.
fn record(size: u64) -> Vec<u8> {
    let encoding = Encoding {
        record_checksum: true,
        max_body_bytes: 1 << 20,
        max_record_bytes: 1 << 20,
        store_host: ([127, 0, 0, 1], 10_911).into(),
    };
    let id = UniqueIds::new([127, 0, 0, 1].into(), 1, 1, 0).next(0);
    let mut empty = Vec::new();
    encode(&Message::new("T", 0, b""), &encoding, &id, &mut empty).unwrap();
    let body = vec![b'x'; usize::try_from(size).unwrap() - empty.len()];
    let mut bytes = Vec::new();
    encode(&Message::new("T", 0, &body), &encoding, &id, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, size);
    bytes
}

/// The segments that `disk` holds, as opening finds them.
fn found(disk: &Arc<MemDisk>) -> Vec<Arc<Segment>> {
    let budget = Budget::new(64);
    let seam = Arc::clone(disk) as Arc<dyn Disk>;
    let mut segments = Vec::new();
    for dir in DIRS.map(Path::new) {
        for entry in disk.list(dir).unwrap() {
            let base = crate::segment::name::parse_segment_name(&entry.name).unwrap();
            let place = Place { base, len: LEN, path: dir.join(entry.name), directory: 0 };
            segments.push(Arc::new(Segment::existing(&seam, &budget, place, Access::Write)));
        }
    }
    segments.sort_by_key(|segment| segment.base());
    segments
}

/// Position and size of every record that a walk from `from` finds, and why it stopped.
fn walk(disk: &Arc<MemDisk>, from: u64) -> (Vec<(u64, u64)>, Stop) {
    let snapshot = Chain::new(found(disk)).snapshot();
    let mut scan = Scan::new(snapshot, Position::new(from), Check::Checksums);
    let mut records = Vec::new();
    let stop = scan.run(&mut |view: MessageView<'_>| {
        records.push((view.position(), u64::from(view.size())));
        Ok(())
    });
    (records, stop.unwrap())
}

/// Every record that was appended is found again, and read, and nothing else.
#[track_caller]
fn check(world: &World, appended: &[(u64, u64)]) {
    assert_eq!(walk(&world.disk, 0).0, appended);
    for &(position, size) in appended {
        let bytes = world.bytes(position, size as u32).unwrap();
        let view = MessageView::parse(&bytes).unwrap();
        assert_eq!((view.position(), u64::from(view.size())), (position, size));
    }
}

fn kind<T>(outcome: Result<T>) -> Option<ErrorKind> {
    outcome.err().map(|error| error.kind())
}

// Against the end of a segment.

/// Whatever is left behind a record, it reads back and recovery finds it.
#[test]
fn segment_end_every_remainder() {
    for path in [WritePath::Mapped, WritePath::Staged] {
        for left in 0..=16 {
            let world = World::new(path);
            let mut appended = vec![(world.append(300).unwrap(), 300)];
            let size = LEN - 300 - left;
            let position = world.append(size).unwrap();
            // The padding takes eight bytes: with fewer left, the record begins the next segment.
            assert_eq!(position, if left < PADDING_BYTES { LEN } else { 300 }, "{left} left");
            appended.push((position, size));
            appended.push((world.append(200).unwrap(), 200));
            world.log.flush().unwrap();
            check(&world, &appended);
        }
    }
}

#[test]
fn a_record_may_fill_a_segment() {
    let world = World::new(WritePath::Mapped);
    let sizes = [LEN - 8, 200, LEN - 8, LEN - 8];
    let appended: Vec<_> = sizes.map(|size| (world.append(size).unwrap(), size)).to_vec();
    assert_eq!(appended.iter().map(|row| row.0).collect::<Vec<_>>(), [0, LEN, 2 * LEN, 3 * LEN]);
    check(&world, &appended);
}

/// RocketMQ fills a whole segment with padding for a record that can never fit one.
#[test]
fn an_oversized_record_costs_nothing() {
    let world = World::new(WritePath::Mapped);
    for size in [LEN - 7, LEN, 3 * LEN] {
        let first = world.append(200).unwrap();
        let (names, end) = (found(&world.disk).len(), world.appended());
        let error = world.append(size).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert_eq!((error.offset(), error.limit()), (Some(size), Some(LEN - 8)));
        assert_eq!((found(&world.disk).len(), world.appended()), (names, end));
        assert_eq!(world.append(200).unwrap(), first + 200, "the next record follows at once");
    }
}

#[test]
fn records_that_belong_together_are_not_parted() {
    let world = World::new(WritePath::Mapped);
    world.append(2000).unwrap();
    let mut batch = [record(1500), record(1500)].concat();
    let mut at = Position::ZERO;
    let outcome = world.log.append(&mut batch, &world.supply, |_, position| at = position, || {});
    assert_eq!((outcome.unwrap().get(), at.get()), (LEN, LEN));
}

/// Without room for the next segment nothing is written, not even the padding.
#[test]
fn a_roll_without_room_appends_nothing() {
    let world = World::new(WritePath::Mapped);
    world.set_capacity(0);
    assert_eq!(kind(world.append(200)), Some(ErrorKind::Full), "not even the first");
    world.set_capacity(LEN);
    let mut appended = world.fill(2, 1500);
    world.set_capacity(0);
    assert_eq!(kind(world.append(1500)), Some(ErrorKind::Full));
    assert_eq!(world.appended(), 3000);
    appended.push((world.append(1000).unwrap(), 1000));
    assert_eq!(appended[2].0, 3000, "a smaller one still fits");
    world.set_capacity(LEN);
    appended.push((world.append(1500).unwrap(), 1500));
    assert_eq!(appended[3].0, LEN, "space came back");
    check(&world, &appended);
}

/// Threads that append at once, to an empty log and at every roll, share one file
/// for each base and get positions that follow each other.
#[test]
fn first_append_race_and_roll_race() {
    for path in [WritePath::Mapped, WritePath::Staged] {
        let world = World::new(path);
        thread::scope(|scope| {
            for thread in 0..16 {
                let world = &world;
                scope.spawn(move || {
                    for round in 0..20 {
                        world.append(600 + 50 * ((thread + round) % 9)).unwrap();
                        world.log.flush_to(Position::new(1)).unwrap();
                    }
                });
            }
        });
        world.log.flush().unwrap();
        let (records, _) = walk(&world.disk, 0);
        assert_eq!(records.len(), 320);
        for pair in records.windows(2) {
            let end = pair[0].0 + pair[0].1;
            assert!(pair[1].0 == end || pair[1].0 == end.next_multiple_of(LEN), "{pair:?}");
        }
        let bases: Vec<_> = found(&world.disk).iter().map(|s| s.base().get()).collect();
        assert_eq!(bases, (0..bases.len() as u64).map(|n| n * LEN).collect::<Vec<_>>());
        assert_eq!(world.log.flushed(), world.log.appended());
    }
}

// Flushing.

#[test]
fn what_is_flushed_survives_a_crash_over_rolls() {
    for path in [WritePath::Mapped, WritePath::Staged] {
        let world = World::new(path);
        let flushed = world.fill(12, 900);
        world.log.flush().unwrap();
        assert_eq!(world.log.flushed(), world.log.appended());
        world.fill(12, 900);
        let crashed = Arc::new(world.disk.crash(&mut || false));
        assert_eq!(walk(&crashed, 0).0, flushed, "{path:?}");
    }
}

/// What an append is acknowledged for when it is flushed is not read before.
#[test]
fn staged_bytes_are_visible_once_flushed() {
    let world = World::new(WritePath::Staged);
    let appended = world.fill(10, 900);
    assert_eq!(world.log.visible().end(), Position::ZERO);
    assert_eq!(kind(world.bytes(0, 900)), Some(ErrorKind::Invalid));
    world.log.flush_to(Position::new(1)).unwrap();
    assert_eq!(world.log.visible().end(), world.log.appended());
    check(&world, &appended);
    let position = world.append(900).unwrap();
    assert_eq!(kind(world.bytes(position, 900)), Some(ErrorKind::Invalid));
    world.log.flush().unwrap();
    world.bytes(position, 900).unwrap();
}

/// A flush that failed is never tried again, and nothing is promised after it.
#[test]
fn fsync_failure_is_reported() {
    for path in [WritePath::Mapped, WritePath::Staged] {
        let world = World::new(path);
        world.append(300).unwrap();
        world.log.flush().unwrap();
        world.append(300).unwrap();
        world.disk.set_read_only(Path::new("/d0"), true);
        assert_eq!(kind(world.log.flush()), Some(ErrorKind::Io));
        world.disk.set_read_only(Path::new("/d0"), false);
        // The disk works again; the lost pages may count as clean.
        assert_eq!(kind(world.log.flush()), Some(ErrorKind::Poisoned));
        assert_eq!(kind(world.log.flush_to(Position::new(301))), Some(ErrorKind::Poisoned));
        assert_eq!(kind(world.append(300)), Some(ErrorKind::Poisoned));
        assert!(world.log.poison().cause().unwrap().contains("flush"));
        assert_eq!((world.log.flushed().get(), world.appended()), (300, 600));
        world.bytes(0, 300).expect("reads go on");
        world.log.flush_to(Position::new(300)).expect("this much is durable");
    }
}

/// A flush that had waited for one that failed went on: bytes that the failed one had taken out of
/// memory, and pages that the system had given up, counted as durable.
#[test]
fn a_flush_that_waited_for_a_failed_one_fails_too() {
    let world = World::new(WritePath::Staged);
    world.append(300).unwrap();
    let began = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        let first = world.log.flushing.lock();
        let second = scope.spawn(|| {
            began.store(true, Ordering::Release);
            world.log.flush()
        });
        while !began.load(Ordering::Acquire) {
            thread::yield_now();
        }
        // Time to come to the lock.
        (0..10_000).for_each(|_| thread::yield_now());
        world.log.poison().set("a flush failed");
        drop(first);
        second.join().unwrap()
    });
    assert_eq!(kind(outcome), Some(ErrorKind::Poisoned));
    assert_eq!(world.log.flushed(), Position::ZERO);
}

#[test]
fn a_sealed_log_takes_nothing_more() {
    let world = World::new(WritePath::Mapped);
    world.append(300).unwrap();
    world.log.seal();
    assert_eq!(kind(world.append(300)), Some(ErrorKind::Closed));
    world.log.flush().unwrap();
    assert_eq!(world.log.flushed().get(), 300);
}

// Reading.

#[test]
fn where_nothing_can_be_read_it_is_told_why() {
    let world = World::new(WritePath::Mapped);
    world.fill(20, LEN / 2 - 4);
    world.disk.lose(Path::new("/d1").join(segment_name(Position::new(3 * LEN))).as_path());
    let segments = found(&world.disk).split_off(2);
    let log = World::over(world.disk, segments, 12 * LEN, WritePath::Mapped).log;
    let mut reader = log.beginning_at(Position::new(LEN)).reader();
    let mut ask = |position| reader.span(Position::new(position), 100);
    let rows = [
        (0, ErrorKind::Gone),
        (LEN - 1, ErrorKind::Gone),
        (LEN, ErrorKind::Offline),
        (3 * LEN, ErrorKind::Offline),
        (4 * LEN - 1, ErrorKind::Offline),
        (5 * LEN - 99, ErrorKind::Invalid),
        (10 * LEN, ErrorKind::Offline),
        (12 * LEN, ErrorKind::Invalid),
        (u64::MAX, ErrorKind::Invalid),
    ];
    for (position, expected) in rows {
        assert_eq!(kind(ask(position)), Some(expected), "{position}");
    }
    assert_eq!(ask(0).unwrap_err().start(), Some(Position::new(LEN)));
    assert_eq!(ask(3 * LEN).unwrap_err().range(), Some(3 * LEN..4 * LEN));
    assert_eq!(ask(11 * LEN).unwrap_err().range(), Some(10 * LEN..12 * LEN));
    ask(5 * LEN - 100).unwrap();
}

/// A reader meets the position it asked for, or is told that it is gone.
#[test]
fn reading_while_cleaning() {
    let world = World::new(WritePath::Mapped);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut position = 0;
            while !ended.load(Ordering::Relaxed) {
                match world.bytes(position, 2000) {
                    Ok(bytes) => {
                        assert_eq!(MessageView::parse(&bytes).unwrap().position(), position);
                        position += LEN;
                    }
                    Err(error) if error.kind() == ErrorKind::Gone => {
                        position = error.start().unwrap().get();
                    }
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Invalid, "{error}"),
                }
            }
        });
        for round in 0..300 {
            // Two of them fill a segment.
            world.fill(2, 2000);
            let dropped = world.log.drop_before(Position::new(round * LEN));
            dropped.iter().for_each(|segment| segment.remove().unwrap());
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(world.log.drop_before(Position::new(u64::MAX / 2)).len(), 0);
    assert_eq!(world.log.start().get(), 299 * LEN, "the last segment stays");
}

// Finding the end, and cutting.

/// A flushed log of four records in each of three segments.
fn twelve() -> World {
    let world = World::new(WritePath::Mapped);
    world.fill(12, 1000);
    world.log.flush().unwrap();
    world
}

fn flip(world: &World, position: u64) {
    let base = position / LEN * LEN;
    let dir = Path::new(DIRS[usize::try_from(base / LEN % 2).unwrap()]);
    let path = dir.join(segment_name(Position::new(base)));
    world.disk.flip(&path, position - base, 0x40).unwrap();
}

#[test]
fn a_walk_stops_where_no_record_is_and_goes_on_behind() {
    let world = twelve();
    assert_eq!(walk(&world.disk, 0).1, Stop::Nothing);
    let rows = [
        // flipped byte, where the walk stops, where whole records go on
        (500, 0, Some(1000)),
        (3900, 3000, Some(4000)),
        (2 * LEN + 3999, 2 * LEN + 3000, None),
        (LEN + 4004, LEN + 4000, Some(2 * LEN)),
    ];
    for (flipped, stops, goes_on) in rows {
        let world = twelve();
        flip(&world, flipped);
        let snapshot = Chain::new(found(&world.disk)).snapshot();
        let mut scan = Scan::new(snapshot, Position::ZERO, Check::Checksums);
        let stop = scan.run(&mut |_| Ok(())).unwrap();
        assert!(matches!(stop, Stop::Damaged(_)), "{stop:?}");
        assert_eq!(scan.position().get(), stops);
        let skipped = scan.skip().unwrap().map(|range| range.end.get());
        assert_eq!(skipped, goes_on, "byte {flipped}");
        assert_eq!(scan.position().get(), goes_on.unwrap_or(stops));
    }
}

/// Whole records behind the cut are saved, beside those that an earlier cut saved.
#[test]
fn records_behind_a_cut_are_saved() {
    let world = twelve();
    flip(&world, 1500);
    let (cut_at, dir) = (Position::new(1000), Path::new("/saved"));
    let snapshot = Chain::new(found(&world.disk)).snapshot();
    for number in 0..2 {
        let saved = salvage(world.disk.as_ref(), &snapshot, cut_at, dir).unwrap().unwrap();
        assert_eq!(saved.path, dir.join(format!("00000000000000001000-{number}.records")));
        assert_eq!(saved.records, 10);
        let bytes = world.disk.read(&saved.path).unwrap().unwrap();
        let first = MessageView::parse(&bytes).unwrap();
        assert_eq!((first.position(), bytes.len()), (2000, 10 * 1000));
    }
    let end = Position::new(2 * LEN + 4000);
    assert_eq!(salvage(world.disk.as_ref(), &snapshot, end, dir).unwrap(), None);
}

/// RocketMQ leaves the bytes behind a cut: after a second crash a dead record may come back.
#[test]
fn nothing_behind_a_cut_comes_back() {
    let world = twelve();
    let mut segments = found(&world.disk);
    cut(world.disk.as_ref(), &mut segments, Position::new(1000)).unwrap();
    let crashed = Arc::new(world.disk.crash(&mut || false));
    assert_eq!(walk(&crashed, 0), (vec![(0, 1000)], Stop::Nothing));
    assert_eq!(found(&crashed).len(), 1);
    // The record that now stands there is as long as the dead one: its successors would fit.
    let segments = found(&crashed);
    let world = World::over(crashed, segments, 1000, WritePath::Mapped);
    world.append(1000).unwrap();
    world.log.flush().unwrap();
    assert_eq!(walk(&world.disk, 0).0, [(0, 1000), (1000, 1000)]);
}

/// The segment before the cut stays, and the first one always: it says where the log goes on.
#[test]
fn cutting_at_a_base_leaves_the_segment_before_it() {
    for (end, kept) in [(0, 1), (LEN, 1), (2 * LEN, 2)] {
        let world = twelve();
        let mut segments = found(&world.disk);
        cut(world.disk.as_ref(), &mut segments, Position::new(end)).unwrap();
        assert_eq!((segments.len(), found(&world.disk).len()), (kept, kept));
        let world = World::over(world.disk, segments, end, WritePath::Mapped);
        assert_eq!(world.append(300).unwrap(), end);
        let expected = (0..end / LEN * 4).map(|n| (n / 4 * LEN + n % 4 * 1000, 1000));
        check(&world, &expected.chain([(end, 300)]).collect::<Vec<_>>());
    }
}
