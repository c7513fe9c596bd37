use proptest::prelude::*;

use super::super::encode::{Encoding, Stamp, encode, stamp};
use super::super::layout::MAGIC_PADDING;
use super::super::message::Message;
use super::super::unique_id::UniqueId;
use super::*;
use crate::base::bytes::put;

fn record(message: &Message<'_>, record_checksum: bool) -> Vec<u8> {
    let encoding = Encoding {
        record_checksum,
        max_body_bytes: 1 << 20,
        max_record_bytes: 1 << 20,
        store_host: SocketAddr::from(([10, 0, 0, 5], 10_911)),
    };
    let mut out = Vec::new();
    encode(message, &encoding, &UniqueId([b'0'; 32]), &mut out).unwrap();
    stamp(&mut out, &Stamp { position: 640, queue_offset: 5, store_ms: 1_700_000_000_123 });
    out
}

fn plain() -> Vec<u8> {
    record(&Message::new("Topic", 2, b"body").tags("TagA").keys(&["key"]), false)
}

/// A plain record with `bytes` put at `at`.
fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut record = plain();
    put(&mut record, at, bytes);
    record
}

fn damage(bytes: &[u8]) -> Option<Damage> {
    MessageView::parse(bytes).err()
}

/// Calls everything there is: nothing may panic, whatever the bytes are.
fn read_all(bytes: &[u8]) {
    let Ok(view) = MessageView::parse(bytes) else { return };
    assert_eq!(view.bytes(), &bytes[..view.size() as usize]);
    assert!(view.body().len() + view.topic().len() < view.bytes().len());
    let _ = (view.verify(), view.tag_code(), view.keys().count(), view.properties().count());
    let _ = (view.unique_id(), view.tags(), view.transaction(), format!("{view:?}"));
}

#[test]
fn decoder_prefix_and_mutation() {
    for record_checksum in [false, true] {
        let message = Message::new("Topic", 2, b"body").tags("TagA").keys(&["key"]);
        let record = record(&message, record_checksum);
        for len in 0..record.len() {
            assert_eq!(damage(&record[..len]), Some(Damage::Truncated), "{len}");
        }
        for i in 0..record.len() {
            for value in 0..=255 {
                let mut other = record.clone();
                other[i] = value;
                read_all(&other);
                other.extend_from_slice(&record);
                read_all(&other);
            }
        }
    }
}

#[test]
fn length_field_fuzz() {
    let len = plain().len();
    let sizes = [0, 1, 7, 8, 90, len as i64 - 1, len as i64 + 1, 0x7FFF_FFFF, 0xFFFF_FFFF];
    let found = sizes.map(|size| damage(&changed(0, &(size as u32).to_be_bytes())).unwrap());
    let small = |size| Damage::BadSize(size);
    let expected = [
        small(0),
        small(1),
        small(7),
        small(8),
        small(90),
        Damage::BadLengths,
        Damage::Truncated,
        Damage::Truncated,
        small(-1),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_wrong_is_named() {
    let body_len = 84;
    let topic_len = 88 + 4;
    let properties_len = topic_len + 1 + 5;
    let rows = [
        (changed(4, &[0xDA, 0xA3, 0x20, 0xA8]), Damage::BadMagic(0xDAA3_20A8_u32 as i32)),
        (changed(4, &MAGIC_PADDING.to_be_bytes()), Damage::BadMagic(MAGIC_PADDING)),
        (changed(4, &[0; 4]), Damage::BadMagic(0)),
        (changed(4, &MAGIC_V2.to_be_bytes()), Damage::BadLengths),
        (changed(body_len, &3_u32.to_be_bytes()), Damage::BadLengths),
        (changed(body_len, &u32::MAX.to_be_bytes()), Damage::BadLengths),
        (changed(body_len, &i32::MAX.to_be_bytes()), Damage::BadLengths),
        (changed(topic_len, &[4]), Damage::BadLengths),
        (changed(topic_len, &[0x85]), Damage::BadLengths),
        (changed(properties_len, &[0x80]), Damage::BadLengths),
        (changed(36, &sys_flag::STORE_V6.to_be_bytes()), Damage::BadLengths),
        (changed(topic_len + 1, &[0xFF]), Damage::BadTopic),
        (changed(topic_len + 1, b"/"), Damage::BadTopic),
        (changed(topic_len + 1, &[0]), Damage::BadTopic),
        (changed(12, &[0x80]), Damage::BadQueue),
        (changed(20, &[0x80]), Damage::BadQueue),
    ];
    for (bytes, expected) in rows {
        assert_eq!(damage(&bytes), Some(expected));
        assert!(!expected.to_string().is_empty());
    }
}

/// A record by hand, with a topic and properties that the encoder would refuse.
fn by_hand(topic: &[u8], properties: &[u8]) -> Vec<u8> {
    let mut record = plain();
    record.truncate(88);
    put(&mut record, 84, &[0; 4]);
    record.push(topic.len() as u8);
    record.extend_from_slice(topic);
    record.extend_from_slice(&(properties.len() as u16).to_be_bytes());
    record.extend_from_slice(properties);
    let size = record.len() as u32;
    put(&mut record, 0, &size.to_be_bytes());
    record
}

#[test]
fn topics_that_lead_elsewhere_are_damage() {
    for topic in [&b""[..], b".", b"..", b"../../etc", b"a/b", b"a\0", b"\xFF"] {
        assert_eq!(damage(&by_hand(topic, b"")), Some(Damage::BadTopic), "{topic:?}");
    }
    for topic in ["...", "a b", "caf\u{e9}", "a#b"] {
        let record = by_hand(topic.as_bytes(), b"");
        assert_eq!(MessageView::parse(&record).unwrap().topic(), topic);
    }
}

#[test]
fn shortest_record() {
    let record = by_hand(b"T", b"");
    assert_eq!(record.len() as u64, MIN_RECORD_BYTES + 1);
    let view = MessageView::parse(&record).unwrap();
    assert_eq!((view.topic(), view.body(), view.properties().count()), ("T", &b""[..], 0));
    assert_eq!((view.tags(), view.tag_code(), view.keys().count()), (None, 0, 0));
    assert_eq!(view.verify(), Ok(()));
}

#[test]
fn tag_code_is_the_hash_of_all_tags() {
    let rows = [
        (&b"TAGS\x01TagA\x02"[..], 2_598_919),
        (b"TAGS\x01polygenelubricants", i64::from(i32::MIN)),
        (b"TAGS\x01TagA || TagB\x02", i64::from(java_hash("TagA || TagB"))),
        (b"TAGS\x01\x02", 0),
        (b"DELAY\x013\x02TAGS\x01TagA\x02", 2_598_919),
        (b"", 0),
    ];
    for (properties, code) in rows {
        let record = by_hand(b"TopicTest", properties);
        assert_eq!(MessageView::parse(&record).unwrap().tag_code(), code, "{properties:?}");
    }
}

#[test]
fn tag_code_of_a_parked_message_is_its_time() {
    let stored = 1_700_000_000_123;
    let tag = 2_598_919;
    let rows = [
        ("1", stored + 1_000),
        ("3", stored + 10_000),
        ("18", stored + 7_200_000),
        ("19", stored + 7_200_000),
        ("2147483647", stored + 7_200_000),
        ("0", tag),
        ("-1", tag),
        ("x", tag),
        ("2147483648", tag),
    ];
    for (level, code) in rows {
        let properties = format!("DELAY\x01{level}\x02TAGS\x01TagA\x02");
        let record = by_hand(b"SCHEDULE_TOPIC_XXXX", properties.as_bytes());
        assert_eq!(MessageView::parse(&record).unwrap().tag_code(), code, "{level}");
    }
}

#[test]
fn keys_are_words() {
    let record = by_hand(b"T", b"KEYS\x01 a  b \x02");
    assert!(MessageView::parse(&record).unwrap().keys().eq(["a", "b"]));
}

#[test]
fn queue_unit_follows_the_transaction() {
    for (flags, unit) in [(0, true), (4, false), (8, true), (12, false)] {
        let bytes = record(&Message::new("T", 0, b"").sys_flag(flags), false);
        assert_eq!(MessageView::parse(&bytes).unwrap().has_queue_unit(), unit, "{flags}");
    }
}

#[test]
fn zero_checksum_is_checked() {
    // The four bytes whose CRC-32 is zero, behind nothing.
    let body = [0x9D, 0x0A, 0xD9, 0x6D];
    assert_eq!(checksum(&body), 0);
    let mut record = record(&Message::new("T", 0, &body), false);
    let view = MessageView::parse(&record).unwrap();
    assert_eq!((view.body_checksum(), view.verify()), (0, Ok(())));
    put(&mut record, 88, &[0]);
    assert_eq!(MessageView::parse(&record).unwrap().verify(), Err(Damage::BodyChecksum));
}

#[test]
fn zero_record_checksum_is_checked() {
    let mut record = record(&Message::new("T", 0, b"body"), true);
    let digits = record.len() - 11..record.len() - 1;
    for place in [b"0000000000", b"----------"] {
        record[digits.clone()].copy_from_slice(place);
        let view = MessageView::parse(&record).unwrap();
        assert_eq!(view.verify(), Err(Damage::RecordChecksum));
    }
}

#[test]
fn checksum_of_an_empty_body_is_not_looked_at() {
    let mut record = record(&Message::new("T", 0, b""), false);
    put(&mut record, 8, &[1]);
    assert_eq!(MessageView::parse(&record).unwrap().verify(), Ok(()));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        v2 in any::<bool>(),
        len_fits in any::<bool>(),
    ) {
        let magic = if v2 { MAGIC_V2 } else { MAGIC_V1 };
        if bytes.len() >= 8 {
            put(&mut bytes, 4, &magic.to_be_bytes());
            if len_fits {
                let len = bytes.len() as u32;
                put(&mut bytes, 0, &len.to_be_bytes());
            }
        }
        read_all(&bytes);
    }
}
