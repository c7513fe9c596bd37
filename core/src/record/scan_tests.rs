use super::super::encode::{Encoding, Stamp, encode, padding as header, stamp};
use super::super::layout::{MIN_RECORD_BYTES, PADDING_BYTES};
use super::super::message::Message;
use super::super::unique_id::UniqueId;
use super::*;

const BASE: u64 = 0x4000_0000;

/// A record with `body`, made for `position`.
fn record(body: &[u8], position: u64) -> Vec<u8> {
    let encoding = Encoding {
        record_checksum: true,
        max_body_bytes: 1 << 24,
        max_record_bytes: 1 << 24,
        store_host: ([10, 0, 0, 5], 10_911).into(),
    };
    let mut out = Vec::new();
    encode(&Message::new("T", 0, body), &encoding, &UniqueId([b'0'; 32]), &mut out).unwrap();
    stamp(&mut out, &Stamp { position, queue_offset: 0, store_ms: 1 });
    out
}

/// `count` records from [`BASE`] on and where each begins, closed by a padding of `left` bytes
/// with something behind its header.
fn segment(count: u8, left: u32) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for i in 0..count {
        starts.push(bytes.len());
        bytes.extend(record(&vec![i; 20 + usize::from(i)], BASE + bytes.len() as u64));
    }
    starts.push(bytes.len());
    bytes.extend(header(left));
    bytes.resize(bytes.len() + left as usize - 8, 0xDA);
    (bytes, starts)
}

fn found(rest: &[u8], position: u64) -> String {
    match at(rest, position, Check::Checksums) {
        Found::Record(view) => format!("record {}", view.size()),
        Found::Padding => "padding".into(),
        Found::Nothing => "nothing".into(),
        Found::Damaged(damage) => format!("{damage:?}"),
    }
}

#[test]
fn nothing_is_eight_zeros_or_the_end() {
    for len in 0..8 {
        assert_eq!(found(&[0xDA; 8][..len], 0), "nothing", "{len}");
    }
    assert_eq!(found(&[0; 8], 0), "nothing");
    let mut torn = [0; 200];
    torn[8..].fill(9);
    assert_eq!(found(&torn, 0), "nothing");
    torn[7] = 1;
    assert_eq!(found(&torn, 0), "BadMagic(1)");
    torn[3] = 100;
    torn[4..8].fill(0);
    assert_eq!(found(&torn, 0), "BadMagic(0)");
}

#[test]
fn recovery_over_all_filler_lengths() {
    for len in PADDING_BYTES as u32..300 {
        let mut rest = header(len).to_vec();
        // What is behind the header looks like a record, and must not be looked at.
        rest.extend(record(b"", BASE + 8));
        rest.resize(len as usize, 0xCB);
        assert_eq!(found(&rest, BASE), "padding", "{len}");
        rest.push(0);
        assert_eq!(found(&rest, BASE), format!("BadSize({len})"));
        rest.truncate(len as usize - 1);
        let expected = if len == 8 { "nothing".into() } else { format!("BadSize({len})") };
        assert_eq!(found(&rest, BASE), expected);
    }
    assert_eq!(found(&[0xFF, 0xFF, 0xFF, 0xFF, 0xCB, 0xD4, 0x31, 0x94], 0), "BadSize(-1)");
}

#[test]
fn a_record_must_be_at_home() {
    let bytes = record(b"body", BASE);
    assert_eq!(found(&bytes, BASE), format!("record {}", bytes.len()));
    assert_eq!(found(&bytes, 0), format!("WrongPlace {{ says: {BASE} }}"));
    assert_eq!(found(&bytes, BASE + 1), format!("WrongPlace {{ says: {BASE} }}"));
    let mut negative = bytes;
    negative[28] = 0x80;
    let says = 1 << 63 | BASE;
    assert_eq!(found(&negative, BASE), format!("WrongPlace {{ says: {says} }}"));
}

#[test]
fn resync_finds_the_next_record_behind_any_damage() {
    let (bytes, starts) = segment(8, 50);
    assert_eq!(resync(&bytes, BASE), Some(0));
    for (i, start) in starts.iter().enumerate().take(8) {
        for offset in [0, 4, 30, 40, 95, starts[i + 1] - start - 1] {
            let mut damaged = bytes.clone();
            damaged[start + offset] ^= 0x40;
            let rest = &damaged[*start..];
            let position = BASE + *start as u64;
            assert!(matches!(at(rest, position, Check::Checksums), Found::Damaged(_)), "{i}");
            assert_eq!(resync(rest, position), Some(starts[i + 1] - start), "{i} at {offset}");
        }
    }
}

#[test]
fn resync_passes_zeros_and_strangers() {
    let (bytes, starts) = segment(3, 8);
    let mut damaged = vec![0; 1000];
    // At home nowhere here; and a padding that does not end at the end.
    damaged.extend(record(b"stranger", 12));
    damaged.extend(header(100));
    let shift = damaged.len();
    damaged.extend_from_slice(&bytes);
    assert_eq!(resync(&damaged, BASE - shift as u64), Some(shift));
    assert_eq!(resync(&damaged, BASE), Some(shift + starts[3]), "only the padding is at home");
    damaged.pop();
    assert_eq!(resync(&damaged, BASE), None);
}

/// What begins in a piece is found there and in no piece before, wherever the border falls, also
/// if it ends in a later one.
#[test]
fn resync_in_pieces_finds_each_record_in_its_piece() {
    let (bytes, _) = segment(2, 40);
    for zeros in 0..200 {
        let mut damaged = vec![0; zeros];
        damaged.extend_from_slice(&bytes);
        let position = BASE - zeros as u64;
        let search = |within| resync_within(&damaged, position, within, &mut 10_000);
        assert_eq!(search(zeros), None, "{zeros}");
        assert_eq!(search(zeros + 1), Some(zeros), "{zeros}");
        assert_eq!(search(usize::MAX), Some(zeros), "{zeros}");
    }
}

#[test]
fn resync_needs_good_checksums() {
    let (mut bytes, starts) = segment(3, 60);
    for start in &starts[..3] {
        bytes[start + 90] ^= 1;
    }
    assert_eq!(resync(&bytes, BASE), Some(starts[3]));
    bytes.truncate(starts[3]);
    assert_eq!(resync(&bytes, BASE), None);
    for len in 0..12 {
        assert_eq!(resync(&bytes[..len], BASE), None);
    }
    assert_eq!(resync(&bytes, u64::MAX - 3), None, "positions end before the bytes do");
}

/// Starts of records that all end at the same place and differ from real ones only in their
/// checksums: checking each one whole would take time quadratic in their number.
fn overlapping_starts(len: usize) -> Vec<u8> {
    let template = record(&[], BASE);
    let tail = &template[88..];
    let mut bytes = vec![0; len];
    let end = len - tail.len();
    for start in (0..end - 88).step_by(88) {
        let place = &mut bytes[start..start + 88];
        place.copy_from_slice(&template[..88]);
        place[..4].copy_from_slice(&((len - start) as u32).to_be_bytes());
        place[28..36].copy_from_slice(&(BASE + start as u64).to_be_bytes());
        place[84..88].copy_from_slice(&((end - start - 88) as u32).to_be_bytes());
    }
    bytes[end..].copy_from_slice(tail);
    bytes
}

#[test]
fn resync_is_linear_in_overlapping_starts() {
    let mut bytes = overlapping_starts(8 << 20);
    assert!(matches!(at(&bytes, BASE, Check::Structure), Found::Record(_)));
    assert!(matches!(at(&bytes[88..], BASE + 88, Check::Structure), Found::Record(_)));
    // Quadratic work would be some 400 GB of checksums: this test would not end.
    assert_eq!(resync(&bytes, BASE), None);
    let next = bytes.len();
    bytes.extend(record(b"whole again", BASE + next as u64));
    assert_eq!(resync(&bytes, BASE), Some(next));
}

#[test]
fn smallest_distance_between_starts() {
    // Starts closer than the shortest record are still looked at one by one.
    let bytes = record(b"inner", BASE + 5);
    let mut damaged = vec![0xCB, 0xD4, 0x31, 0x94, 0xDA];
    damaged.extend(&bytes);
    assert!(bytes.len() as u64 > MIN_RECORD_BYTES);
    assert_eq!(resync(&damaged, BASE), Some(5));
}
