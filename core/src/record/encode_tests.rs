use std::collections::HashSet;

use proptest::prelude::*;

use super::super::scan::{Check, Found, at};
use super::super::unique_id::UniqueIds;
use super::super::view::{Damage, MessageView};
use super::*;

const UNIQUE_ID: UniqueId = UniqueId(*b"7F00000100010000000200000003ABCD");
const V4: &str = "10.0.0.5:10911";
const V6: &str = "[2001:db8::5]:10911";
const PLACE: Stamp = Stamp { position: 4096, queue_offset: 3, store_ms: 1_700_000_000_123 };

fn encoding(record_checksum: bool, store_host: &str) -> Encoding {
    Encoding {
        record_checksum,
        max_body_bytes: 1 << 20,
        max_record_bytes: 2 << 20,
        store_host: store_host.parse().unwrap(),
    }
}

fn stamped(message: &Message<'_>, encoding: &Encoding) -> Vec<u8> {
    let mut out = Vec::new();
    let len = encode(message, encoding, &UNIQUE_ID, &mut out).unwrap();
    assert_eq!(len, out.len());
    stamp(&mut out, &PLACE);
    out
}

/// Encodes what must be refused, and checks that nothing was written.
fn refused(message: &Message<'_>, encoding: &Encoding) -> Error {
    let mut out = b"before".to_vec();
    let error = encode(message, encoding, &UNIQUE_ID, &mut out).unwrap_err();
    assert_eq!(out, b"before");
    error
}

#[test]
fn header_offsets_all_address_kinds() {
    let rows = [
        (V4, V4, 0x00, 56, 72 + 16),
        (V6, V4, 0x10, 68, 72 + 28),
        (V4, V6, 0x20, 56, 72 + 28),
        (V6, V6, 0x30, 68, 72 + 40),
    ];
    for (born, store, flags, stored, header) in rows {
        let born_host = born.parse().unwrap();
        // The caller's own host bits are ignored.
        let message = Message::new("T", 1, b"body").born_host(born_host).sys_flag(0x31);
        let record = stamped(&message, &encoding(true, store));
        assert_eq!(read_i32(&record, 36), Some(flags | 1), "{born} {store}");
        assert_eq!(read_i64(&record, stored), Some(PLACE.store_ms), "{born} {store}");
        assert_eq!(&record[header..header + 6], b"body\x01T", "{born} {store}");
        let view = MessageView::parse(&record).unwrap();
        assert_eq!((view.born_host(), view.store_host()), (born_host, store.parse().unwrap()));
        assert_eq!(view.verify(), Ok(()));
    }
}

#[test]
fn field_order_of_the_properties() {
    let message = Message::new("T", 0, b"")
        .properties(&[("WAIT", "true"), ("a", "b")])
        .tags("TagA")
        .keys(&["k1", "k2"]);
    let record = stamped(&message, &encoding(true, V4));
    let view = MessageView::parse(&record).unwrap();
    let names = ["KEYS", "UNIQ_KEY", "TAGS", "WAIT", "a", "__CRC32#"];
    assert!(view.properties().map(|(name, _)| name).eq(names));
    assert_eq!(view.property("KEYS"), Some("k1 k2"));
    assert_eq!(record.last(), Some(&VALUE_END));
    assert_eq!(view.unique_id(), Some(UNIQUE_ID.as_str()));
}

#[test]
fn unique_id_of_the_producer_stays_the_only_one() {
    let message = Message::new("T", 0, b"").properties(&[("UNIQ_KEY", "mine")]);
    let record = stamped(&message, &encoding(false, V4));
    assert!(MessageView::parse(&record).unwrap().properties().eq([("UNIQ_KEY", "mine")]));
}

#[test]
fn topic_length_decides_the_version() {
    for (len, magic) in [(1, MAGIC_V1), (126, MAGIC_V1), (127, MAGIC_V1), (128, MAGIC_V2)] {
        let topic = "t".repeat(len);
        let record = stamped(&Message::new(&topic, 0, b"b"), &encoding(true, V4));
        assert_eq!(read_i32(&record, 4), Some(magic), "{len}");
        assert_eq!(MessageView::parse(&record).unwrap().topic(), topic);
    }
    let topic = "t".repeat(255);
    let record = stamped(&Message::new(&topic, 0, b"b"), &encoding(true, V4));
    assert_eq!(MessageView::parse(&record).unwrap().topic(), topic);
    let error = refused(&Message::new(&"t".repeat(256), 0, b""), &encoding(true, V4));
    assert_eq!((error.kind(), error.limit()), (ErrorKind::Invalid, Some(255)));
}

#[test]
fn properties_length_table() {
    for record_checksum in [false, true] {
        let encoding = encoding(record_checksum, V4);
        let fixed = "a\x01\x02UNIQ_KEY\x01\x02".len() + 32 + if record_checksum { 20 } else { 0 };
        for (total, fits) in [(32_766, true), (32_767, true), (32_768, false), (65_536, false)] {
            let value = "v".repeat(total - fixed);
            let pairs = [("a", &*value)];
            let message = Message::new("T", 0, b"b").properties(&pairs);
            if fits {
                let record = stamped(&message, &encoding);
                assert_eq!(record.len(), 91 + 1 + 1 + total);
                assert_eq!(MessageView::parse(&record).unwrap().property("a"), Some(&*value));
            } else {
                let error = refused(&message, &encoding);
                assert_eq!((error.kind(), error.limit()), (ErrorKind::TooLarge, Some(32_767)));
                assert!(error.message().contains(&total.to_string()), "{error}");
            }
        }
    }
}

#[test]
fn too_large_error_has_numbers() {
    let body = [7; 101];
    let limits = |max_body_bytes, max_record_bytes| Encoding {
        max_body_bytes,
        max_record_bytes,
        ..encoding(false, V4)
    };
    let record = 91 + 101 + 1 + 42;
    assert!(
        encode(&Message::new("T", 0, &body), &limits(101, record), &UNIQUE_ID, &mut vec![]).is_ok()
    );
    let error = refused(&Message::new("T", 0, &body), &limits(100, record));
    assert_eq!(error.to_string(), "too_large: the body has 101 bytes, 100 are allowed (limit 100)");
    let error = refused(&Message::new("T", 0, &body), &limits(101, record - 1));
    assert_eq!(
        error.to_string(),
        "too_large: the record has 235 bytes, 234 are allowed (limit 234)"
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    let plain = Message::new("T", 0, b"");
    let bad_pairs: [(&str, &str); 13] = [
        ("n\0", "v"),
        ("n", "v\0"),
        ("", "v"),
        ("n", ""),
        ("n\x01", "v"),
        ("n\x02", "v"),
        ("n", "\x01"),
        ("n", "v\x02"),
        ("KEYS", "v"),
        ("TAGS", "v"),
        ("__CRC32#", "v"),
        ("x__CRC32#", "0123456789"),
        ("\x01", "\x02"),
    ];
    for pair in bad_pairs {
        let pairs = [("good", "value"), pair];
        let error = refused(&plain.clone().properties(&pairs), &encoding(true, V4));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{pair:?}");
    }
    for key in ["", " ", "a b", "a\n", "\x01", "\x02", "a\x7f", "\0"] {
        let keys = ["good", key];
        let error = refused(&plain.clone().keys(&keys), &encoding(true, V4));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{key:?}");
    }
    for tags in ["", "a\x01", "\x02b", "\0"] {
        let error = refused(&plain.clone().tags(tags), &encoding(true, V4));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{tags:?}");
    }
    for topic in ["", ".", "..", "a/b", "a\\b", "a\0", "a b"] {
        let error = refused(&Message::new(topic, 0, b""), &encoding(true, V4));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{topic:?}");
    }
    let error = refused(&Message::new("T", 1 << 31, b""), &encoding(true, V4));
    assert_eq!((error.kind(), error.limit()), (ErrorKind::Invalid, Some(0x7FFF_FFFF)));
    let far = Message { prepared_position: 1 << 63, ..plain };
    assert_eq!(refused(&far, &encoding(true, V4)).kind(), ErrorKind::Invalid);
}

#[test]
fn unusual_but_allowed_texts() {
    let pairs = [("n ", "v\n"), ("caf\u{e9}", "\u{1F600}"), ("n ", "again")];
    let message = Message::new("T", i32::MAX as u32, b"")
        .properties(&pairs)
        .tags("a || b")
        .keys(&["\u{e9}t\u{e9}"]);
    let record = stamped(&message, &encoding(true, V4));
    let view = MessageView::parse(&record).unwrap();
    assert_eq!(view.queue(), i32::MAX as u32);
    assert_eq!(view.tags(), Some("a || b"));
    assert!(view.keys().eq(["\u{e9}t\u{e9}"]));
    assert!(view.properties().skip(3).take(3).eq(pairs));
    assert_eq!(view.property("n "), Some("again"));
}

#[test]
fn birth_is_the_time_of_storing_unless_given() {
    for (born, expected) in [(None, PLACE.store_ms), (Some(0), PLACE.store_ms), (Some(-5), -5)] {
        let message = Message { born_ms: born, ..Message::new("T", 0, b"") };
        let mut record = stamped(&message, &encoding(true, V6));
        assert_eq!(MessageView::parse(&record).unwrap().born_ms(), expected);
        let later = Stamp { position: 9, queue_offset: 8, store_ms: PLACE.store_ms + 7 };
        stamp(&mut record, &later);
        let view = MessageView::parse(&record).unwrap();
        assert_eq!((view.born_ms(), view.store_ms()), (expected, later.store_ms));
        assert_eq!((view.position(), view.queue_offset()), (9, 8));
        assert_eq!(view.verify(), Ok(()));
    }
}

/// Texts are looked at eight bytes at a time: none may hide at any place of any length.
#[test]
fn a_bad_byte_is_found_wherever_it_stands() {
    for (highest, bad) in [(0x20, &[0, 1, 2, 0x1F, 0x20, 0x7F][..]), (0x02, &[0, 1, 2])] {
        for len in 1..=19 {
            for at in 0..len {
                for byte in 0..=0x7F_u8 {
                    let mut text = ["\u{3}", "\u{7e}", "\u{21}"][len % 3].repeat(len).into_bytes();
                    text.iter_mut().for_each(|byte| *byte = (*byte).max(highest + 1));
                    text[at] = byte;
                    let text = String::from_utf8(text).unwrap();
                    let is_bad = byte <= highest || bad.contains(&byte);
                    assert_eq!(check_text("t", &text, highest).is_err(), is_bad, "{text:?}");
                }
            }
        }
        assert!(check_text("t", "", highest).is_err());
        assert!(check_text("t", "caf\u{e9}-\u{4f60}\u{597d}", highest).is_ok());
    }
}

#[test]
fn batch_members_are_distinct() {
    let encoding = encoding(true, V4);
    let ids = UniqueIds::new([127, 0, 0, 1].into(), 1, 2, 3);
    let (mut out, mut ranges) = (Vec::new(), Vec::new());
    for body in 0..10_u8 {
        let message = Message::new("T", 0, std::slice::from_ref(&body)).keys(&["k"]);
        let start = out.len();
        let len = encode(&message, &encoding, &ids.next(3), &mut out).unwrap();
        ranges.push(start..start + len);
    }
    for (queue_offset, range) in (0..).zip(&ranges) {
        let position = 1000 + range.start as u64;
        stamp(&mut out[range.clone()], &Stamp { position, queue_offset, store_ms: 5 });
    }
    let mut seen = HashSet::new();
    for (i, range) in ranges.iter().enumerate() {
        let found = at(&out[range.start..], 1000 + range.start as u64, Check::Checksums);
        let Found::Record(view) = found else { panic!("{i}: {found:?}") };
        assert_eq!((view.queue_offset(), view.body()), (i as u64, &[i as u8][..]));
        assert!(seen.insert(view.unique_id().unwrap()));
    }
}

#[test]
#[should_panic(expected = "at least its own header")]
fn padding_without_room_is_our_mistake() {
    let _ = padding(7);
}

/// A record with everything in it.
fn full(record_checksum: bool) -> Vec<u8> {
    let message = Message::new("Topic", 2, b"some body")
        .tags("TagA")
        .keys(&["k1", "k2"])
        .properties(&[("WAIT", "true")])
        .born_ms(1);
    stamped(&message, &encoding(record_checksum, V4))
}

#[test]
fn torn_tail_every_length_is_rejected() {
    for record in [full(true), full(false)] {
        for torn in 1..=record.len() {
            let mut segment = record.clone();
            segment.resize(record.len() + 64, 0);
            segment[record.len() - torn..record.len()].fill(0);
            match at(&segment, PLACE.position, Check::Checksums) {
                Found::Damaged(_) => {}
                Found::Nothing => assert!(torn >= record.len() - 3, "{torn}: all but the size"),
                other => panic!("{torn}: {other:?}"),
            }
        }
    }
}

/// After a crash any sector of a record may still hold the zeros it held before.
#[test]
fn torn_sectors_in_any_combination_are_rejected() {
    let (long, keys) = ("v".repeat(700), ["k1", "k2"]);
    let pairs = [("long", &*long), ("WAIT", "true"), ("longer", &long)];
    let message = Message::new("Topic", 2, &[7; 600]).keys(&keys).properties(&pairs);
    let record = stamped(&message, &encoding(true, V4));
    for start in 0..512 {
        let sectors = (start + record.len()).div_ceil(512);
        for lost in 1..1_u32 << sectors {
            let mut bytes = record.clone();
            for sector in (0..sectors).filter(|sector| lost >> sector & 1 == 1) {
                let from = (sector * 512).saturating_sub(start);
                let to = (sector * 512 + 512 - start).min(record.len());
                bytes[from..to].fill(0);
            }
            match at(&bytes, PLACE.position, Check::Checksums) {
                Found::Damaged(_) | Found::Nothing => {}
                Found::Record(_) if bytes == record => {}
                other => panic!("from {start}, sectors {lost:b}: {other:?}"),
            }
        }
    }
}

#[test]
fn every_change_of_a_byte_is_noticed() {
    let record = full(true);
    for i in 0..record.len() {
        for change in 1..=255 {
            let mut other = record.clone();
            other[i] ^= change;
            let found = at(&other, PLACE.position, Check::Checksums);
            assert!(matches!(found, Found::Damaged(_)), "byte {i} ^ {change}: {found:?}");
        }
    }
}

#[test]
fn without_record_checksum_the_body_is_still_checked() {
    let record = full(false);
    let body = record.windows(9).position(|window| window == b"some body").unwrap();
    let mut other = record.clone();
    other[body] ^= 1;
    assert_eq!(MessageView::parse(&other).unwrap().verify(), Err(Damage::BodyChecksum));
    let Found::Damaged(Damage::BodyChecksum) = at(&other, PLACE.position, Check::Checksums) else {
        panic!("a changed body")
    };
    assert!(matches!(at(&other, PLACE.position, Check::Structure), Found::Record(_)));
}

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_\u{e9}\u{1F600}]{1,12}"
}

prop_compose! {
    fn any_host()(six in any::<bool>(), bits in any::<u128>(), port in any::<u16>()) -> SocketAddr {
        let four = (bits as u32).to_be_bytes();
        if six { (bits.to_be_bytes(), port).into() } else { (four, port).into() }
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        topic in "[%|a-zA-Z0-9_-]{1,255}",
        queue in 0..=i32::MAX as u32,
        body in prop::collection::vec(any::<u8>(), 0..300),
        tags in prop::option::of(word()),
        keys in prop::collection::vec(word(), 0..4),
        pairs in prop::collection::vec((word(), word()), 0..4),
        (flag, sys_flag, reconsume_times) in any::<(i32, i32, i32)>(),
        (born_ms, prepared_position) in (1..i64::MAX, 0..=i64::MAX as u64),
        (born_host, store_host) in (any_host(), any_host()),
        record_checksum in any::<bool>(),
    ) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .filter(|(name, _)| !matches!(*name, "KEYS" | "TAGS" | "UNIQ_KEY"))
            .collect();
        let message = Message {
            topic: &topic, queue, body: &body, tags: tags.as_deref(), keys: &keys,
            properties: &pairs, flag, sys_flag, born_ms: Some(born_ms), born_host,
            reconsume_times, prepared_position,
        };
        let encoding = Encoding { store_host, ..encoding(record_checksum, V4) };
        let mut record = stamped(&message, &encoding);
        record.extend_from_slice(b"what follows");
        let view = MessageView::parse(&record).unwrap();
        prop_assert_eq!(view.verify(), Ok(()));
        prop_assert_eq!(view.bytes().len() + 12, record.len());
        prop_assert_eq!((view.topic(), view.queue(), view.body()), (&*topic, queue, &*body));
        prop_assert_eq!(view.tags(), tags.as_deref());
        prop_assert_eq!(view.unique_id(), Some(UNIQUE_ID.as_str()));
        prop_assert!(view.keys().eq(keys.iter().copied()));
        let given = keys.len().min(1) + tags.iter().count() + 1;
        prop_assert!(view.properties().skip(given).take(pairs.len()).eq(pairs.iter().copied()));
        let all = given + pairs.len() + usize::from(record_checksum);
        prop_assert_eq!(view.properties().count(), all);
        let hosts = i32::from(born_host.is_ipv6()) << 4 | i32::from(store_host.is_ipv6()) << 5;
        prop_assert_eq!((view.flag(), view.sys_flag()), (flag, sys_flag & !0x30 | hosts));
        prop_assert_eq!((view.born_ms(), view.born_host()), (born_ms, born_host));
        prop_assert_eq!((view.store_ms(), view.store_host()), (PLACE.store_ms, store_host));
        prop_assert_eq!(view.position(), PLACE.position);
        prop_assert_eq!(view.queue_offset(), PLACE.queue_offset);
        prop_assert_eq!(view.reconsume_times(), reconsume_times);
        prop_assert_eq!(view.prepared_position(), prepared_position);
    }
}
