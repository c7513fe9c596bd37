//! Bytes that others wrote: the worked examples of the format, and segments of RocketMQ's own.

use std::net::SocketAddr;

use super::*;

const BORN_MS: i64 = 1_700_000_000_000;
const STORE_MS: i64 = 1_700_000_000_123;
const STORE_HOST: &str = "10.0.0.5:10911";

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn host(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// V1, both hosts IPv4, at position 0x40000000.
fn record_a() -> Vec<u8> {
    unhex(
        "00 00 00 a7 da a3 20 a7 77 d1 89 82 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 07
         00 00 00 00 40 00 00 00 00 00 00 00 00 00 01 8b cf e5 68 00 c0 a8 01 0a 00 00 c8 22
         00 00 01 8b cf e5 68 7b 0a 00 00 05 00 00 2a 9f 00 00 00 00 00 00 00 00 00 00 00 00
         00 00 00 05 48 65 6c 6c 6f 09 54 6f 70 69 63 54 65 73 74 00 3e 4b 45 59 53 01 4b 45
         59 31 02 55 4e 49 51 5f 4b 45 59 01 43 30 41 38 30 31 30 41 31 46 39 43 31 38 42 34
         41 41 43 32 30 41 31 42 32 43 33 44 30 30 30 30 02 54 41 47 53 01 54 61 67 41 02",
    )
}

/// Born host IPv6 and a checksum of the record, at position 256.
fn record_b() -> Vec<u8> {
    unhex(
        "00 00 00 85 da a3 20 a7 4d 17 0e 0e 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00
         00 00 00 00 00 00 01 00 00 00 00 10 00 00 01 8b cf e5 68 00
         00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 9c 40
         00 00 01 8b cf e5 68 7b 0a 00 00 05 00 00 2a 9f 00 00 00 00 00 00 00 00 00 00 00 00
         00 00 00 02 48 69 01 54 00 1b 54 41 47 53 01 41 02
         5f 5f 43 52 43 33 32 23 01 32 34 35 30 34 39 31 35 35 31 02",
    )
}

/// V2, since the topic has 128 bytes; no body.
fn record_c() -> Vec<u8> {
    let mut record = unhex(
        "00 00 00 e9 da a3 20 ab 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 03
         00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 8b cf e5 68 00 c0 a8 01 0a 00 00 c8 22
         00 00 01 8b cf e5 68 7b 0a 00 00 05 00 00 2a 9f 00 00 00 01 00 00 00 00 00 00 00 00
         00 00 00 00 00 80",
    );
    record.extend_from_slice(format!("%RETRY%{}", "g".repeat(121)).as_bytes());
    record.extend(unhex("00 0d 52 45 41 4c 5f 54 4f 50 49 43 01 78 02"));
    record
}

#[test]
fn record_a_is_decoded() {
    let bytes = record_a();
    let view = MessageView::parse(&bytes).unwrap();
    assert_eq!((view.size(), view.topic(), view.queue()), (167, "TopicTest", 2));
    assert_eq!((view.queue_offset(), view.position()), (7, 0x4000_0000));
    assert_eq!((view.flag(), view.sys_flag(), view.reconsume_times()), (0, 0, 0));
    assert_eq!((view.born_ms(), view.store_ms()), (BORN_MS, STORE_MS));
    assert_eq!(view.born_host(), host("192.168.1.10:51234"));
    assert_eq!(view.store_host(), host(STORE_HOST));
    assert_eq!((view.body(), view.body_checksum()), (&b"Hello"[..], 0x77D1_8982));
    assert_eq!(view.unique_id(), Some("C0A8010A1F9C18B4AAC20A1B2C3D0000"));
    assert_eq!((view.tags(), view.tag_code()), (Some("TagA"), 2_598_919));
    assert!(view.keys().eq(["KEY1"]));
    assert!(view.properties().map(|(name, _)| name).eq(["KEYS", "UNIQ_KEY", "TAGS"]));
    assert_eq!(view.verify(), Ok(()));
}

#[test]
fn record_a_is_encoded() {
    let message = Message::new("TopicTest", 2, b"Hello")
        .tags("TagA")
        .keys(&["KEY1"])
        .born_ms(BORN_MS)
        .born_host(host("192.168.1.10:51234"));
    let encoding = Encoding {
        record_checksum: false,
        max_body_bytes: 5,
        max_record_bytes: 167,
        store_host: host(STORE_HOST),
    };
    let unique_id = UniqueId(*b"C0A8010A1F9C18B4AAC20A1B2C3D0000");
    let mut out = b"before".to_vec();
    let len = encode(&message, &encoding, &unique_id, &mut out).unwrap();
    assert_eq!(len, 167);
    let place = Stamp { position: 0x4000_0000, queue_offset: 7, store_ms: STORE_MS };
    stamp(&mut out[6..], &place);
    assert_eq!(out[6..], record_a());
    assert_eq!(&out[..6], b"before");
}

#[test]
fn record_b_is_decoded_and_its_checksum_is_ours() {
    let bytes = record_b();
    let view = MessageView::parse(&bytes).unwrap();
    assert_eq!((view.size(), view.flag(), view.sys_flag()), (133, 1, sys_flag::BORN_V6));
    assert_eq!(view.born_host(), host("[::1]:40000"));
    assert_eq!((view.store_ms(), view.store_host()), (STORE_MS, host(STORE_HOST)));
    assert_eq!(view.property(property::RECORD_CHECKSUM), Some("2450491551"));
    assert_eq!(view.tags(), Some("A"));
    assert_eq!(view.verify(), Ok(()));

    let mut erased = bytes.clone();
    erased[122..132].fill(b'0');
    assert_eq!(MessageView::parse(&erased).unwrap().verify(), Err(Damage::RecordChecksum));
    stamp(&mut erased, &Stamp { position: 256, queue_offset: 0, store_ms: STORE_MS });
    assert_eq!(erased, bytes);
}

#[test]
fn record_c_is_decoded() {
    let bytes = record_c();
    let view = MessageView::parse(&bytes).unwrap();
    assert_eq!((view.size(), view.topic().len()), (233, 128));
    assert_eq!((view.queue(), view.queue_offset(), view.reconsume_times()), (1, 3, 1));
    assert_eq!((view.body(), view.body_checksum()), (&b""[..], 0));
    assert!(view.properties().eq([("REAL_TOPIC", "x")]));
    assert_eq!((view.unique_id(), view.tag_code()), (None, 0));
    assert_eq!(view.verify(), Ok(()));
}

#[test]
fn padding_of_the_worked_example() {
    assert_eq!(padding(100), [0, 0, 0, 0x64, 0xCB, 0xD4, 0x31, 0x94]);
}

/// What a walk over a whole segment found: positions and sizes, and how it ended.
fn walk(segment: &[u8]) -> (Vec<(usize, u32)>, &'static str) {
    let mut records = Vec::new();
    let mut position = 0;
    loop {
        let rest = segment.get(position..).unwrap_or_default();
        match at(rest, position as u64, Check::Checksums) {
            Found::Record(view) => {
                records.push((position, view.size()));
                position += view.bytes().len();
            }
            Found::Padding => return (records, "padding"),
            Found::Nothing => return (records, "nothing"),
            Found::Damaged(damage) => panic!("{position}: {damage}"),
        }
    }
}

/// Records back to back of these sizes, with their positions.
fn row_of(sizes: &[u32]) -> Vec<(usize, u32)> {
    let mut position = 0;
    sizes
        .iter()
        .map(|size| {
            position += *size as usize;
            (position - *size as usize, *size)
        })
        .collect()
}

const V5_BASIC: &[u8] = include_bytes!("golden/v5-basic.bin");
const V5_CRC: &[u8] = include_bytes!("golden/v5-crc.bin");
const V49_BASIC: &[u8] = include_bytes!("golden/v49-basic.bin");
const V5_LONG_TOPIC: &[u8] = include_bytes!("golden/v5-long-topic.bin");

#[test]
fn segment_of_5_5() {
    let sizes = [
        183, 183, 183, 183, 183, 183, 183, 183, 183, 183, 187, 187, 121, 119, 105, 109, 192, 125,
        135, 119, 107, 108, 105, 111,
    ];
    assert_eq!(walk(V5_BASIC), (row_of(&sizes), "nothing"));
}

#[test]
fn segment_of_5_5_with_record_checksums_and_padding() {
    let sizes = [
        203, 203, 203, 203, 203, 203, 203, 203, 203, 203, 207, 207, 141, 139, 125, 129, 212, 145,
        155, 139, 127, 128, 125,
    ];
    let (records, end) = walk(V5_CRC);
    assert_eq!((&records, end), (&row_of(&sizes), "padding"));
    for (position, _) in records {
        let view = MessageView::parse(&V5_CRC[position..]).unwrap();
        assert!(view.property(property::RECORD_CHECKSUM).is_some(), "{position}");
        let mut again = view.bytes().to_vec();
        let place = Stamp {
            position: view.position(),
            queue_offset: view.queue_offset(),
            store_ms: view.store_ms(),
        };
        stamp(&mut again, &place);
        assert_eq!(again, view.bytes(), "stamping a stamped record changes nothing");
    }
}

#[test]
fn segment_of_4_9_without_last_separators() {
    let sizes = [
        182, 182, 182, 182, 182, 182, 182, 182, 182, 182, 186, 186, 120, 118, 105, 109, 191, 124,
        134, 119, 106, 107, 105, 111, 154,
    ];
    let (records, end) = walk(V49_BASIC);
    assert_eq!((&records, end), (&row_of(&sizes), "nothing"));
    let first = MessageView::parse(V49_BASIC).unwrap();
    assert_eq!(first.bytes().last(), Some(&b'e'));
    assert_eq!(first.property("WAIT"), Some("true"));
    assert!(first.keys().eq(["order-0", "batch-A"]));
}

#[test]
fn segment_with_both_widths_of_topic_length() {
    assert_eq!(walk(V5_LONG_TOPIC), (row_of(&[248, 250, 104]), "nothing"));
    let topic_at = |at: usize| MessageView::parse(&V5_LONG_TOPIC[at..]).unwrap().topic().len();
    assert_eq!([0, 248, 498].map(topic_at), [127, 128, 5]);
    assert_eq!([7, 248 + 7, 498 + 7].map(|at| V5_LONG_TOPIC[at]), [0xA7, 0xAB, 0xA7]);
}

#[test]
fn hosts_of_every_kind_as_rocketmq_wrote_them() {
    let hosts = |at: usize| {
        let view = MessageView::parse(&V5_BASIC[at..]).unwrap();
        (view.born_host().to_string(), view.store_host().to_string(), view.store_ms())
    };
    let row = |born: &str, store: &str, ms| (born.to_owned(), store.to_owned(), ms);
    let (four, store_four) = ("127.0.0.1:54321", "127.0.0.1:10911");
    assert_eq!(hosts(0), row(four, store_four, 1_796_018_689_991));
    assert_eq!(hosts(2850), row("[2001:db8::1]:40000", store_four, 1_796_018_690_008));
    assert_eq!(hosts(2975), row("[2001:db8::2]:40001", "[::1]:10911", 1_796_018_690_008));
    assert_eq!(hosts(3110), row(four, "[::1]:10911", 1_796_018_690_008));
}
