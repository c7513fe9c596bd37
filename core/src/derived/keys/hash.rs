//! What a record is found by, as RocketMQ hashes it: `topic#key`, and `topic#T#tags` from 5.4 on.

use crate::base::hash::java_hash_on;
use crate::record::{Message, MessageView, Transaction, UniqueId, property};

/// What somebody looks a message up by.
///
/// ```
/// use spanlog::KeyKind;
/// assert_eq!(KeyKind::default(), KeyKind::Key);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// One of the message's keys.
    #[default]
    Key,
    /// The identifier that the producer, or else the store, gave it.
    UniqueId,
    /// Its tags, the whole text.
    Tag,
}

impl KeyKind {
    /// The hash under which the index has it.
    #[must_use]
    pub fn hash(self, topic: &str, key: &str) -> u32 {
        let seed = KeySeed::of(topic);
        match self {
            Self::Key | Self::UniqueId => seed.key(key),
            Self::Tag => seed.tags(key),
        }
    }

    /// Whether the record is found by it. A transaction that was rolled back is found by nothing.
    #[must_use]
    pub fn fits(self, view: &MessageView<'_>, key: &str) -> bool {
        if view.transaction() == Transaction::Rollback {
            return false;
        }
        match self {
            Self::Key => view.keys().any(|own| own == key),
            Self::UniqueId => view.unique_id() == Some(key),
            Self::Tag => view.tags() == Some(key),
        }
    }
}

/// The part of a hash that all keys of a topic have in common.
#[derive(Clone, Copy, Debug)]
pub struct KeySeed(i32);

impl KeySeed {
    /// The seed of a topic.
    #[must_use]
    pub fn of(topic: &str) -> Self {
        Self(java_hash_on(java_hash_on(0, topic), "#"))
    }

    fn key(self, key: &str) -> u32 {
        magnitude(java_hash_on(self.0, key))
    }

    fn tags(self, tags: &str) -> u32 {
        magnitude(java_hash_on(java_hash_on(self.0, "T#"), tags))
    }
}

/// Java's `Math.abs` has no answer for the smallest number; RocketMQ takes zero then.
fn magnitude(hash: i32) -> u32 {
    hash.checked_abs().map_or(0, i32::unsigned_abs)
}

/// Adds the hashes of a message that gets `unique_id` unless it has one, in the order in which
/// RocketMQ writes its entries; says how many.
pub fn hash_message(
    seed: KeySeed,
    message: &Message<'_>,
    unique_id: &UniqueId,
    into: &mut Vec<u32>,
) -> u32 {
    if Transaction::of(message.sys_flag) == Transaction::Rollback {
        return 0;
    }
    let before = into.len();
    let own = message.properties.iter().rfind(|(name, _)| *name == property::UNIQ_KEY);
    into.push(seed.key(own.map_or(unique_id.as_str(), |(_, id)| id)));
    into.extend(message.keys.iter().map(|key| seed.key(key)));
    into.extend(message.tags.map(|tags| seed.tags(tags)));
    (into.len() - before) as u32
}

/// Adds the hashes of a record. A transaction that was rolled back has none.
pub fn hash_record(view: &MessageView<'_>, into: &mut Vec<u32>) {
    if view.transaction() == Transaction::Rollback {
        return;
    }
    let seed = KeySeed::of(view.topic());
    into.extend(view.unique_id().map(|id| seed.key(id)));
    into.extend(view.keys().map(|key| seed.key(key)));
    into.extend(view.tags().map(|tags| seed.tags(tags)));
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::record::{Encoding, UniqueIds, encode, sys_flag};

    #[test]
    fn hashes_are_those_of_the_format() {
        let id = "C0A8010A1F9C18B4AAC20A1B2C3D0000";
        assert_eq!(KeyKind::UniqueId.hash("TopicTest", id), 0x7B44_6FA3);
        assert_eq!(KeyKind::Key.hash("TopicTest", "KEY1"), 0x62C3_592C);
        assert_eq!(KeyKind::Tag.hash("t", "a"), KeyKind::Key.hash("t", "T#a"));
    }

    /// The smallest 32-bit number has no magnitude among them: RocketMQ counts it as zero.
    #[test]
    fn hash_min_value_key() {
        assert_eq!(magnitude(i32::MIN), 0);
        assert_eq!(magnitude(i32::MIN + 1), i32::MAX.unsigned_abs());
        assert_eq!(magnitude(java_hash_on(0, "polygenelubricants")), 0);
    }

    /// What the appender notes is what a reader of the record would find.
    #[test]
    fn a_message_and_its_record_have_the_same_hashes() {
        let id = UniqueIds::new(IpAddr::from([10, 0, 0, 1]), 1, 2, 3).next(4);
        let plain = Message::new("orders", 0, b"tea");
        let own = [("UNIQ_KEY", "first"), ("a", "b"), ("UNIQ_KEY", "last")];
        let keys = ["k1", "\u{4f60}\u{597d}", "k1"];
        let rows = [
            (plain.clone(), 1),
            (plain.clone().keys(&keys), 4),
            (plain.clone().tags("A || B").keys(&keys), 5),
            (plain.clone().properties(&own), 1),
            (plain.clone().sys_flag(sys_flag::PREPARED).keys(&keys), 4),
            (plain.clone().sys_flag(sys_flag::ROLLBACK).keys(&keys), 0),
        ];
        for (message, count) in rows {
            let encoding = Encoding {
                record_checksum: true,
                max_body_bytes: 100,
                max_record_bytes: 1000,
                store_host: ([127, 0, 0, 1], 1).into(),
            };
            let (mut bytes, mut told, mut read) = (Vec::new(), Vec::new(), Vec::new());
            encode(&message, &encoding, &id, &mut bytes).unwrap();
            let seed = KeySeed::of(message.topic);
            assert_eq!(hash_message(seed, &message, &id, &mut told), count);
            hash_record(&MessageView::parse(&bytes).unwrap(), &mut read);
            assert_eq!(told, read, "{message:?}");
        }
    }
}
