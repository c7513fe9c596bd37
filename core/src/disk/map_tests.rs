//! Bounds, permissions and the order of stores. What a file adds is in the tests of all disks.

use std::thread;

use super::*;
use crate::base::units::Position;
use crate::base::watermark::Watermark;

fn map(len: u64) -> Arc<Map> {
    Map::heap(HeapMemory::zeroed(len), Access::Write)
}

#[test]
fn bytes_are_given_below_the_mark_and_within_the_map() {
    let map = map(100);
    map.writer().unwrap().put(90, b"0123456789");
    // The file begins at 1000 on the number line, and the mark stands at 1095.
    let published = Watermark::new(Position::new(1095)).published().below(Position::new(1000));
    let rows: [(Range<u64>, Option<&[u8]>); 7] = [
        (90..95, Some(b"01234")),
        (90..96, None),
        (95..95, Some(b"")),
        (96..96, None),
        (Range { start: 5, end: 4 }, None),
        (0..u64::MAX, None),
        (u64::MAX..u64::MAX, None),
    ];
    for (range, bytes) in rows {
        assert_eq!(map.bytes(range.clone(), published), bytes, "{range:?}");
        assert_eq!(map.slice(range.clone(), published).as_deref(), bytes, "{range:?}");
    }
    let before = Watermark::new(Position::new(500)).published().below(Position::new(1000));
    assert_eq!(map.bytes(0..1, before), None);
    assert_eq!(map.bytes(0..101, Published::all()), None);
}

#[test]
fn a_map_has_one_writer_at_a_time() {
    let map = map(64);
    let writer = map.writer().unwrap();
    assert!(map.writer().is_none());
    drop(writer);
    assert_eq!(map.writer().unwrap().len_bytes(), 64);
    assert!(Map::heap(HeapMemory::zeroed(64), Access::Read).writer().is_none());
}

#[test]
fn batches_of_every_small_length_arrive_whole() {
    for len in 0..40_u8 {
        let (map, bytes) = (map(64), (1..=len).collect::<Vec<u8>>());
        map.writer().unwrap().put(3, &bytes);
        let all = map.bytes(0..64, Published::all()).unwrap();
        assert_eq!(&all[3..3 + bytes.len()], &bytes[..]);
        assert_eq!(all.iter().filter(|byte| **byte != 0).count(), bytes.len());
    }
}

#[test]
#[should_panic(expected = "5 bytes at 60 do not lie within 64")]
fn a_batch_beyond_the_end_is_our_own_mistake() {
    map(64).writer().unwrap().put(60, b"12345");
}

#[test]
#[should_panic(expected = "do not lie within 64")]
fn a_place_beyond_all_numbers_is_our_own_mistake() {
    map(64).writer().unwrap().put(u64::MAX, b"12345");
}

#[test]
fn maps_share_heap_memory_and_it_lives_as_long_as_they_do() {
    let memory = HeapMemory::zeroed(9);
    let (one, two) = (Map::heap(memory.clone(), Access::Write), Map::heap(memory, Access::Read));
    one.writer().unwrap().put(0, b"123456789");
    let slice = two.slice(1..9, Published::all()).unwrap();
    drop((one, two));
    assert_eq!(&slice[..], b"23456789");
}

#[test]
fn heap_memory_knows_what_changed() {
    let memory = HeapMemory::zeroed(3 * 4096);
    let mut durable = vec![0; 3 * 4096];
    let map = Map::heap(memory.clone(), Access::Write);
    map.writer().unwrap().put(4096, b"by map");
    memory.write(10, b"by call");
    assert_eq!(memory.changes().dirty(), 10..4102);
    memory.sync_into(&mut durable, 0..u64::MAX);
    assert_eq!((&durable[10..17], &durable[4096..4102]), (&b"by call"[..], &b"by map"[..]));
    assert_eq!(memory.changes().dirty(), 0..0);
    memory.clear(0..4096);
    assert_eq!(memory.changes().next_written(0, 3 * 4096), Some(4096));
    assert_eq!(&durable[10..17], b"by call");
}

/// The discipline of the head of the file, for Miri: readers hold slices below the mark while a
/// writer copies above it and a third thread makes things durable.
#[test]
fn readers_below_the_mark_do_not_race_with_the_writer() {
    const RECORD: u64 = 16;
    let memory = HeapMemory::zeroed(64 * RECORD);
    let map = Map::heap(memory.clone(), Access::Write);
    let mark = Watermark::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = map.writer().unwrap();
            for record in 0..64 {
                writer.put(record * RECORD, &[record as u8 + 1; RECORD as usize]);
                mark.publish(Position::new((record + 1) * RECORD));
            }
        });
        scope.spawn(|| {
            let mut durable = vec![0; 64 * RECORD as usize];
            (0..8).for_each(|_| memory.sync_into(&mut durable, 0..u64::MAX));
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut read = 0;
                while read < 64 {
                    let published = mark.published();
                    while read * RECORD < published.end().get() {
                        let place = read * RECORD..(read + 1) * RECORD;
                        let bytes = map.bytes(place, published).unwrap();
                        assert_eq!(bytes, [read as u8 + 1; RECORD as usize]);
                        read += 1;
                    }
                    thread::yield_now();
                }
            });
        }
    });
}
