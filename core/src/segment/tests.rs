//! The bound on maps, the line of segments, and where new ones come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::base::units::Position;
use crate::disk::{Access, Allocation, Disk, MemDisk};
use crate::error::{ErrorKind, Result};
use crate::segment::name::segment_name;
use crate::segment::placement::Placement;

const LEN: u64 = 4096;

/// A segment of [`LEN`] bytes in `/d`, its file made now.
fn segment(disk: &Arc<MemDisk>, budget: &Arc<Budget>, base: u64) -> Arc<Segment> {
    let dir = Path::new("/d");
    let path = dir.join(segment_name(Position::new(base)));
    disk.make_dir(dir).unwrap();
    disk.create(dir, LEN, Allocation::Reserved).unwrap().link(&path).unwrap();
    let disk = Arc::clone(disk) as Arc<dyn Disk>;
    let place = Place { base: Position::new(base), len: LEN, path, directory: 0 };
    Arc::new(Segment::existing(&disk, budget, place, Access::Read))
}

fn segments(max_maps: usize, bases: &[u64]) -> (Arc<Budget>, Vec<Arc<Segment>>) {
    let (disk, budget) = (Arc::new(MemDisk::new()), Budget::new(max_maps));
    let segments = bases.iter().map(|&base| segment(&disk, &budget, base)).collect();
    (budget, segments)
}

fn numbered(count: u64) -> Vec<u64> {
    (0..count).map(|number| number * LEN).collect()
}

/// What an operation came to: the bases it names, or the kind of its error.
#[track_caller]
fn check(found: &[Arc<Segment>], bases: &[u64]) {
    let found: Vec<_> = found.iter().map(|segment| segment.base().get()).collect();
    assert_eq!(found, bases);
}

fn kind<T>(outcome: Result<T>) -> Option<ErrorKind> {
    outcome.err().map(|error| error.kind())
}

// The budget.

#[test]
fn maps_are_bounded() {
    let (budget, segments) = segments(3, &numbered(10));
    for _ in 0..3 {
        for segment in &segments {
            segment.map().unwrap();
            assert!(budget.in_use() <= 3);
        }
    }
    assert_eq!(budget.in_use(), 3);
}

#[test]
fn the_least_recently_used_map_goes() {
    let (_, segments) = segments(3, &numbered(4));
    let maps: Vec<_> = segments[..3].iter().map(|s| Arc::downgrade(&s.map().unwrap())).collect();
    segments[0].map().unwrap();
    segments[3].map().unwrap();
    let alive: Vec<_> = maps.iter().map(|map| map.strong_count() > 0).collect();
    assert_eq!(alive, [true, false, true]);
}

/// A map that somebody reads is never taken away.
#[test]
fn held_maps_stay() {
    let (budget, segments) = segments(3, &numbered(10));
    let held: Vec<_> = segments[..2].iter().map(|segment| segment.map().unwrap()).collect();
    for segment in &segments[2..] {
        segment.map().unwrap();
    }
    assert!(Arc::ptr_eq(&held[0], &segments[0].map().unwrap()));
    assert!(Arc::ptr_eq(&held[1], &segments[1].map().unwrap()));
    assert!(segments[0].is_held() && !segments[9].is_held());
    assert_eq!(budget.in_use(), 3);
}

#[test]
fn with_every_map_held_there_is_no_room() {
    let (budget, segments) = segments(2, &numbered(3));
    let mut held: Vec<_> = segments[..2].iter().map(|segment| segment.map().unwrap()).collect();
    let refused = segments[2].map().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Full);
    assert_eq!(budget.in_use(), 2);
    segments[0].map().expect("it is mapped already");
    held.pop();
    segments[2].map().expect("a map was released");
    assert_eq!(budget.in_use(), 2);
}

#[test]
fn a_segment_that_is_dropped_gives_its_map_back() {
    let (budget, mut segments) = segments(1, &numbered(2));
    let map = segments[0].map().unwrap();
    drop(segments.remove(0));
    assert_eq!(budget.in_use(), 0);
    segments[0].map().expect("the budget counts segments, whoever still reads");
    assert_eq!(map.len_bytes(), LEN);
}

/// A batch sees all segments of its time: their own maps kept the space of removed files for as
/// long as any batch lived, and cleaning for space went on and on.
#[test]
fn a_removed_segment_gives_its_map_back_though_a_snapshot_has_it() {
    let (budget, segments) = segments(2, &numbered(2));
    let held = segments[1].map().unwrap();
    segments[0].map().unwrap();
    for segment in &segments {
        segment.remove().unwrap();
    }
    assert_eq!(budget.in_use(), 1, "a reader holds the other");
    assert!(segments[1].is_held() && !segments[1].let_go());
    drop(held);
    assert!(segments[1].let_go());
    assert_eq!(budget.in_use(), 0);
}

#[test]
fn a_map_that_cannot_be_made_costs_nothing() {
    let (budget, segments) = segments(1, &numbered(2));
    segments[0].remove().unwrap();
    for _ in 0..3 {
        assert_eq!(kind(segments[0].map()), Some(ErrorKind::Gone));
        assert_eq!(budget.in_use(), 0);
    }
    segments[1].map().unwrap();
}

/// Three threads that hold at most one map each never find a budget of four used up.
#[test]
fn threads_share_the_budget() {
    let (budget, segments) = segments(4, &numbered(16));
    let read = |seed: usize| {
        for round in 0..4000 {
            let map = segments[(round * 7 + seed * 5) % 16].map().expect("one is free");
            assert!(budget.in_use() <= 4);
            assert_eq!(map.len_bytes(), LEN);
        }
    };
    thread::scope(|scope| {
        for seed in 0..3 {
            scope.spawn(move || read(seed));
        }
    });
}

// The chain.

#[test]
fn lookup_over_a_gap() {
    let (_, segments) = segments(1, &[4096, 8192, 20480]);
    let snapshot = Chain::new(segments).snapshot();
    let base = |found: Option<&Arc<Segment>>| found.map(|segment| segment.base().get());
    let rows = [
        // position, the one that covers it, the one it leads to
        (0, None, Some(4096)),
        (4095, None, Some(4096)),
        (4096, Some(4096), Some(4096)),
        (8191, Some(4096), Some(4096)),
        (8192, Some(8192), Some(8192)),
        (12287, Some(8192), Some(8192)),
        (12288, None, Some(20480)),
        (20479, None, Some(20480)),
        (20480, Some(20480), Some(20480)),
        (24575, Some(20480), Some(20480)),
        (24576, None, None),
        (u64::MAX, None, None),
    ];
    for (position, covers, leads) in rows {
        let position = Position::new(position);
        assert_eq!(base(snapshot.find(position)), covers, "{position}");
        assert_eq!(base(snapshot.from(position)), leads, "{position}");
    }
    assert_eq!(base(snapshot.last()), Some(20480));
}

#[test]
fn holes_are_told_between_and_at_both_ends() {
    let at = Position::new;
    let (_, segments) = segments(1, &[4096, 8192, 20480]);
    let snapshot = Chain::new(segments).snapshot();
    let gap = at(12288)..at(20480);
    assert_eq!(snapshot.gaps(), std::slice::from_ref(&gap));
    let rows = [
        (4096..24576, vec![gap.clone()]),
        (0..24000, vec![at(0)..at(4096), gap.clone()]),
        (4096..30000, vec![gap, at(24576)..at(30000)]),
    ];
    for (line, holes) in rows {
        assert_eq!(snapshot.holes(at(line.start)..at(line.end)), holes, "{line:?}");
    }
    let empty = Chain::default().snapshot();
    assert_eq!(empty.holes(at(0)..at(0)), []);
    assert_eq!(empty.holes(at(0)..at(10)), [at(0)..at(10)]);
    assert_eq!(empty.gaps(), []);
}

#[test]
fn dropping_and_cutting_take_whole_segments() {
    let rows: [(u64, &[u64], &[u64]); 6] = [
        // position, dropped before it, cut after it
        (0, &[], &[0, 4096, 8192]),
        (1, &[], &[4096, 8192]),
        (4095, &[], &[4096, 8192]),
        (4096, &[0], &[4096, 8192]),
        (8193, &[0, 4096], &[]),
        (99999, &[0, 4096, 8192], &[]),
    ];
    for (position, dropped, cut) in rows {
        let chain = || Chain::new(segments(1, &numbered(3)).1);
        check(&chain().drop_before(Position::new(position)), dropped);
        check(&chain().cut_after(Position::new(position)), cut);
        let chain = chain();
        let before = chain.snapshot();
        chain.drop_before(Position::new(position));
        assert_eq!(before.segments().len(), 3, "a snapshot stays as it was");
        assert_eq!(chain.snapshot().segments().len(), 3 - dropped.len());
    }
}

#[test]
#[should_panic(expected = "in order and do not overlap")]
fn one_position_has_one_segment() {
    let (_, segments) = segments(1, &[0, 4096]);
    let chain = Chain::new(segments);
    let (_, twin) = self::segments(1, &[4096]);
    chain.push(Arc::clone(&twin[0]));
}

/// What a lookup finds belongs to the position that was asked for.
#[test]
fn lookup_while_cleaning() {
    let (_, mut all) = segments(1, &numbered(400));
    let later = all.split_off(20);
    let (chain, ended) = (Chain::new(all), AtomicBool::new(false));
    thread::scope(|scope| {
        for reader in 0..2 {
            let (chain, ended) = (&chain, &ended);
            scope.spawn(move || {
                let mut position = reader * 31;
                while !ended.load(Ordering::Relaxed) {
                    position = (position + 1237) % (400 * LEN);
                    let found = chain.snapshot().find(Position::new(position)).cloned();
                    assert!(found.is_none_or(|segment| segment.covers(Position::new(position))));
                }
            });
        }
        for segment in later {
            let start = Position::new(segment.base().get() - 19 * LEN);
            chain.push(segment);
            assert_eq!(chain.drop_before(start).len(), 1);
        }
        ended.store(true, Ordering::Relaxed);
    });
}

// The supply.

struct Source {
    disk: Arc<MemDisk>,
    supply: Supply,
}

fn shelf(directory: u64) -> Shelf {
    Shelf { directory, path: format!("/d{directory}").into(), usable_bytes: 1 << 30 }
}

impl Source {
    fn new(placement: Placement, directories: u64) -> Self {
        let disk = Arc::new(MemDisk::new());
        for directory in 0..directories {
            disk.set_capacity(&shelf(directory).path, 1 << 20);
        }
        let budget = Budget::new(8);
        let supply = Supply::new(Arc::clone(&disk) as Arc<dyn Disk>, budget, placement, LEN);
        let source = Self { disk, supply };
        source.allow(&(0..directories).collect::<Vec<_>>());
        source
    }

    fn allow(&self, directories: &[u64]) {
        let shelves = directories.iter().map(|&directory| shelf(directory)).collect();
        self.supply.set_room(Room { shelves });
    }

    fn fill(&self, directory: u64) {
        self.disk.set_capacity(&shelf(directory).path, 0);
    }

    /// The directory that the next segment lands in.
    fn next(&self, number: u64) -> Result<u64> {
        self.supply.next(Position::new(number * LEN)).map(|segment| segment.directory())
    }

    /// Names and bytes that the directories hold.
    fn held(&self) -> (Vec<PathBuf>, u64) {
        let (mut names, mut used) = (Vec::new(), 0);
        for directory in 0..3 {
            let path = shelf(directory).path;
            let listed = self.disk.list(&path).unwrap().into_iter();
            names.extend(listed.map(|entry| path.join(entry.name)));
            used += self.disk.space(&path).unwrap().used;
        }
        names.sort();
        (names, used)
    }
}

#[test]
fn segments_go_round_as_in_rocketmq() {
    let source = Source::new(Placement::Rocketmq, 3);
    let order: Vec<_> = (0..7).map(|number| source.next(number).unwrap()).collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(source.held().0.len(), 7);
}

#[test]
fn a_full_directory_is_passed_over() {
    for placement in Placement::ALL {
        let source = Source::new(placement, 3);
        source.fill(1);
        let used: Vec<_> = (0..9).map(|number| source.next(number).unwrap()).collect();
        assert!(used.contains(&0) && used.contains(&2) && !used.contains(&1), "{used:?}");
    }
}

#[test]
fn with_all_directories_full_each_is_named() {
    let source = Source::new(Placement::Rocketmq, 3);
    (0..3).for_each(|directory| source.fill(directory));
    let error = source.supply.next(Position::ZERO).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);
    for directory in ["/d0", "/d1", "/d2"] {
        assert!(error.message().contains(directory), "{error}");
    }
    assert_eq!(source.held(), (vec![], 0));
    source.allow(&[]);
    assert_eq!(kind(source.next(0)), Some(ErrorKind::Full));
    source.disk.set_capacity(Path::new("/d2"), 1 << 20);
    source.allow(&[0, 1, 2]);
    assert_eq!(source.next(0).unwrap(), 2, "space came back");
}

/// A segment that was made ready, and whose directory may not take it any more, leaves
/// nothing behind: there is one file of each base.
#[test]
fn prealloc_then_threshold_flip_leaves_one_file() {
    for placement in Placement::ALL {
        let source = Source::new(placement, 3);
        assert!(source.supply.prepare(Position::ZERO).unwrap());
        assert!(!source.supply.prepare(Position::ZERO).unwrap(), "it is ready");
        assert_eq!(source.held(), (vec![], LEN), "ready, and without a name");
        let first = Source::new(placement, 3).next(0).unwrap();
        let others: Vec<_> = (0..3).filter(|&directory| directory != first).collect();
        source.allow(&others);
        let chosen = source.next(0).unwrap();
        assert!(others.contains(&chosen), "{placement}");
        let (names, used) = source.held();
        assert_eq!(names, [shelf(chosen).path.join(segment_name(Position::ZERO))]);
        assert_eq!(used, LEN);
    }
}

#[test]
fn what_was_made_ready_needs_no_room_any_more() {
    let source = Source::new(Placement::Rocketmq, 1);
    source.supply.prepare(Position::ZERO).unwrap();
    source.disk.set_capacity(Path::new("/d0"), LEN);
    assert_eq!(source.next(0).unwrap(), 0);
    assert_eq!(kind(source.next(1)), Some(ErrorKind::Full));
}

#[test]
fn a_ready_segment_of_another_base_is_not_used() {
    let source = Source::new(Placement::Rocketmq, 3);
    source.supply.prepare(Position::new(LEN)).unwrap();
    assert_eq!(source.next(0).unwrap(), 0);
    assert_eq!(source.held().1, LEN, "the one that was ready is gone");
    source.supply.prepare(Position::new(LEN)).unwrap();
    source.supply.discard();
    assert_eq!(source.held().1, LEN);
}

// One segment.

#[test]
fn a_new_segment_survives_a_crash_once_it_is_synced() {
    for (synced, kept) in [(false, 0), (true, 1)] {
        let source = Source::new(Placement::Rocketmq, 3);
        let segment = source.supply.next(Position::ZERO).unwrap();
        segment.file().unwrap().write_at(0, b"bytes").unwrap();
        if synced {
            segment.sync().unwrap();
        }
        let crashed = source.disk.crash(&mut || false);
        assert_eq!(crashed.list(Path::new("/d0")).unwrap().len(), kept);
        let bytes = crashed.read(segment.path()).unwrap();
        assert_eq!(bytes.is_some_and(|bytes| bytes.starts_with(b"bytes")), synced);
    }
}

#[test]
fn a_file_that_changed_behind_our_back_is_told() {
    let disk = Arc::new(MemDisk::new());
    let budget = Budget::new(2);
    let (short, lost) = (segment(&disk, &budget, 0), segment(&disk, &budget, LEN));
    disk.truncate(short.path(), 100).unwrap();
    let error = short.map().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Corrupt, Some(100)));
    disk.lose(lost.path());
    let error = lost.map().unwrap_err();
    assert_eq!((error.kind(), error.range()), (ErrorKind::Offline, Some(LEN..2 * LEN)));
    lost.remove().expect("a file that is gone is as good as removed");
    assert_eq!(kind(lost.map()), Some(ErrorKind::Gone));
    assert_eq!(budget.in_use(), 0);
}
