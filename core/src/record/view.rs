//! A record in the log, read in place.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use super::layout::{
    BODY_CHECKSUM, BORN_HOST, BORN_MS, FLAG, MAGIC, MAGIC_V1, MAGIC_V2, MIN_RECORD_BYTES, POSITION,
    QUEUE, QUEUE_OFFSET, SIZE, SYS_FLAG, V4_HOST_BYTES, host_bytes,
};
use super::message::{Transaction, sys_flag};
use super::properties::{
    Properties, breaks_off, has_record_checksum, property, record_checksum_digits,
    split_record_checksum,
};
use crate::base::bytes::{array, read_i16, read_i32, read_i64};
use crate::base::crc::checksum;
use crate::base::hash::java_hash;

/// Why bytes are not the record that should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The bytes end before the record does.
    Truncated,
    /// Neither a record nor a padding begins like this.
    BadMagic(i32),
    /// No record or padding has this size here, in bytes.
    BadSize(i64),
    /// The lengths within the record do not add up to its size.
    BadLengths,
    /// The topic is empty, is not UTF-8, or could not be the name of a directory.
    BadTopic,
    /// The queue or the queue offset is negative.
    BadQueue,
    /// The properties end in bytes that were never written.
    BadProperties,
    /// The record says that it stands elsewhere: it is left from earlier use of these bytes.
    WrongPlace {
        /// The position that the record carries.
        says: u64,
    },
    /// The body does not match its checksum.
    BodyChecksum,
    /// The record does not match its checksum.
    RecordChecksum,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the record is cut off"),
            Self::BadMagic(magic) => write!(f, "no record begins with magic 0x{magic:08x}"),
            Self::BadSize(size) => write!(f, "a size of {size} bytes is impossible here"),
            Self::BadLengths => f.write_str("the record's lengths do not add up to its size"),
            Self::BadTopic => f.write_str("the topic is not a name"),
            Self::BadQueue => f.write_str("the queue or the queue offset is negative"),
            Self::BadProperties => f.write_str("the properties break off"),
            Self::WrongPlace { says } => write!(f, "the record belongs to position {says}"),
            Self::BodyChecksum => f.write_str("the body does not match its checksum"),
            Self::RecordChecksum => f.write_str("the record does not match its checksum"),
        }
    }
}

impl std::error::Error for Damage {}

/// A record in the log, borrowed. Its structure was checked when it was made, its checksums only
/// by [`MessageView::verify`].
#[derive(Clone, Copy)]
pub struct MessageView<'a> {
    record: &'a [u8],
    body: &'a [u8],
    topic: &'a str,
    properties: &'a [u8],
}

impl<'a> MessageView<'a> {
    /// The record at the start of `bytes`, which may go on behind it.
    ///
    /// # Errors
    /// What is wrong with the structure. Nothing else is checked: neither the checksums, see
    /// [`MessageView::verify`], nor the position, see [`at`](super::at).
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Damage> {
        let (magic, record) = cut(bytes)?;
        let (body, topic, properties) = split(record, magic).ok_or(Damage::BadLengths)?;
        let view = Self { record, body, topic: read_topic(topic)?, properties };
        if view.i32_at(QUEUE) < 0 || view.i64_at(QUEUE_OFFSET) < 0 {
            return Err(Damage::BadQueue);
        }
        Ok(view)
    }

    /// A fixed field, all of which lie within the shortest record.
    fn i32_at(&self, at: usize) -> i32 {
        read_i32(self.record, at).expect("parsed: the fixed fields are there")
    }

    /// A fixed field, all of which lie within the shortest record.
    fn i64_at(&self, at: usize) -> i64 {
        read_i64(self.record, at).expect("parsed: the fixed fields are there")
    }

    fn stored(&self) -> usize {
        stored_at(self.sys_flag())
    }

    fn consumed(&self) -> usize {
        consumed_at(self.sys_flag())
    }

    /// All bytes of the record.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.record
    }

    /// The length of the record, in bytes.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.record.len() as u32
    }

    /// The topic.
    #[must_use]
    pub const fn topic(&self) -> &'a str {
        self.topic
    }

    /// The queue within the topic.
    #[must_use]
    pub fn queue(&self) -> u32 {
        self.i32_at(QUEUE) as u32
    }

    /// The index in the queue; meaningless without [`MessageView::has_queue_unit`].
    #[must_use]
    pub fn queue_offset(&self) -> u64 {
        self.i64_at(QUEUE_OFFSET) as u64
    }

    /// Where the record says that it stands on the log's number line.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.i64_at(POSITION) as u64
    }

    /// The caller's own number.
    #[must_use]
    pub fn flag(&self) -> i32 {
        self.i32_at(FLAG)
    }

    /// The system flags, see [`sys_flag`].
    #[must_use]
    pub fn sys_flag(&self) -> i32 {
        self.i32_at(SYS_FLAG)
    }

    /// When the message was made, in ms since 1970, by the producer's clock.
    #[must_use]
    pub fn born_ms(&self) -> i64 {
        self.i64_at(BORN_MS)
    }

    /// Who made the message.
    #[must_use]
    pub fn born_host(&self) -> SocketAddr {
        read_host(self.record, BORN_HOST, self.stored() - BORN_HOST)
    }

    /// When the message was stored, in ms since 1970, by the store's clock.
    #[must_use]
    pub fn store_ms(&self) -> i64 {
        self.i64_at(self.stored())
    }

    /// Who stored the message.
    #[must_use]
    pub fn store_host(&self) -> SocketAddr {
        read_host(self.record, self.stored() + 8, self.consumed() - self.stored() - 8)
    }

    /// How often consumers gave the message back.
    #[must_use]
    pub fn reconsume_times(&self) -> i32 {
        self.i32_at(self.consumed())
    }

    /// With a committed transaction: the position of its prepared message, else 0.
    #[must_use]
    pub fn prepared_position(&self) -> u64 {
        self.i64_at(self.consumed() + 4) as u64
    }

    /// The payload.
    #[must_use]
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The checksum of the body, as stored: 31 bits.
    #[must_use]
    pub fn body_checksum(&self) -> u32 {
        self.i32_at(BODY_CHECKSUM) as u32
    }

    /// The properties, tags and keys among them, in the order of the bytes.
    #[must_use]
    pub const fn properties(&self) -> Properties<'a> {
        Properties::new(self.properties)
    }

    /// The value of a property; of several with that name, the last one's.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&'a str> {
        self.properties().get(name)
    }

    /// What consumers filter by.
    #[must_use]
    pub fn tags(&self) -> Option<&'a str> {
        self.property(property::TAGS)
    }

    /// What the message is found by.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let keys = self.property(property::KEYS).unwrap_or_default();
        keys.split(' ').filter(|key| !key.is_empty())
    }

    /// The identifier that the producer, or else the store, gave.
    #[must_use]
    pub fn unique_id(&self) -> Option<&'a str> {
        self.property(property::UNIQ_KEY)
    }

    /// The state of the message's transaction.
    #[must_use]
    pub fn transaction(&self) -> Transaction {
        Transaction::of(self.sys_flag())
    }

    /// Whether the message stands in its queue.
    #[must_use]
    pub fn has_queue_unit(&self) -> bool {
        self.transaction().has_queue_unit()
    }

    /// What the queue's unit carries to filter by: the hash of the tags, 0 without tags; for a
    /// message parked at a delay level, the time of its delivery in ms since 1970.
    #[must_use]
    pub fn tag_code(&self) -> i64 {
        if self.topic == DELAY_TOPIC
            && let Some(delay_ms) = self.property(property::DELAY).and_then(delay_ms)
        {
            return self.store_ms().saturating_add(delay_ms);
        }
        self.tags().map_or(0, |tags| i64::from(java_hash(tags)))
    }

    /// Whether the record ends with a checksum of itself, whole or damaged.
    #[must_use]
    pub fn has_record_checksum(&self) -> bool {
        has_record_checksum(self.properties)
    }

    /// Checks the body against its checksum, and the record against its own if it ends with one.
    /// An empty body has none. Without a checksum of the record, its end is still told from
    /// sectors that were never written.
    ///
    /// # Errors
    /// [`Damage::BodyChecksum`], [`Damage::RecordChecksum`] or [`Damage::BadProperties`].
    pub fn verify(&self) -> Result<(), Damage> {
        if !self.body.is_empty() && checksum(self.body) != self.body_checksum() {
            return Err(Damage::BodyChecksum);
        }
        if !self.has_record_checksum() {
            let is_torn = breaks_off(self.properties);
            return if is_torn { Err(Damage::BadProperties) } else { Ok(()) };
        }
        match split_record_checksum(self.record) {
            Some((covered, digits)) if record_checksum_digits(covered) == *digits => Ok(()),
            _ => Err(Damage::RecordChecksum),
        }
    }
}

impl fmt::Debug for MessageView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageView")
            .field("position", &self.position())
            .field("size", &self.size())
            .field("topic", &self.topic)
            .field("queue", &self.queue())
            .field("queue_offset", &self.queue_offset())
            .finish_non_exhaustive()
    }
}

/// The magic of a record, and the record's own bytes.
fn cut(bytes: &[u8]) -> Result<(i32, &[u8]), Damage> {
    let size = read_i32(bytes, SIZE).ok_or(Damage::Truncated)?;
    let magic = read_i32(bytes, MAGIC).ok_or(Damage::Truncated)?;
    if magic != MAGIC_V1 && magic != MAGIC_V2 {
        return Err(Damage::BadMagic(magic));
    }
    match usize::try_from(size) {
        Ok(len) if len as u64 >= MIN_RECORD_BYTES => match bytes.get(..len) {
            Some(record) => Ok((magic, record)),
            None => Err(Damage::Truncated),
        },
        _ => Err(Damage::BadSize(i64::from(size))),
    }
}

/// Where the time of storing lies.
fn stored_at(sys_flag: i32) -> usize {
    BORN_HOST + host_bytes(sys_flag, sys_flag::BORN_V6)
}

/// Where the times that it was consumed again lie; then follow the position of the prepared
/// message and the length of the body.
fn consumed_at(sys_flag: i32) -> usize {
    stored_at(sys_flag) + 8 + host_bytes(sys_flag, sys_flag::STORE_V6)
}

/// A record's body, topic and properties; nothing if the lengths do not fill it exactly.
fn split(record: &[u8], magic: i32) -> Option<(&[u8], &[u8], &[u8])> {
    let consumed = consumed_at(read_i32(record, SYS_FLAG)?);
    let body_len = usize::try_from(read_i32(record, consumed + 12)?).ok()?;
    let (body, rest) = record.get(consumed + 16..)?.split_at_checked(body_len)?;
    let (topic_len, rest) = if magic == MAGIC_V1 {
        let (len, rest) = rest.split_first()?;
        // Signed, as RocketMQ reads it.
        (i16::from(*len as i8), rest)
    } else {
        (read_i16(rest, 0)?, rest.get(2..)?)
    };
    let (topic, rest) = rest.split_at_checked(usize::try_from(topic_len).ok()?)?;
    let properties_len = usize::try_from(read_i16(rest, 0)?).ok()?;
    let properties = rest.get(2..)?;
    (properties.len() == properties_len).then_some((body, topic, properties))
}

/// Topics become names of directories, so one that would lead elsewhere is damage. Otherwise
/// this is laxer than writing: stores of RocketMQ may hold topics that its broker would refuse.
fn read_topic(bytes: &[u8]) -> Result<&str, Damage> {
    let leads_elsewhere = bytes.iter().fold(false, |any, b| any | matches!(b, b'/' | 0))
        || matches!(bytes, b"" | b"." | b"..");
    match str::from_utf8(bytes) {
        Ok(topic) if !leads_elsewhere => Ok(topic),
        _ => Err(Damage::BadTopic),
    }
}

/// A host of `len` bytes. Ports take four bytes, of which the lower two are used.
fn read_host(record: &[u8], at: usize, len: usize) -> SocketAddr {
    let port = read_i32(record, at + len - 4).map(|port| port as u16);
    let host = if len == V4_HOST_BYTES {
        array::<4>(record, at).map(IpAddr::from)
    } else {
        array::<16>(record, at).map(IpAddr::from)
    };
    host.zip(port).map(SocketAddr::from).expect("parsed: the hosts are there")
}

/// The bytes of a record that hold its store time, whatever addresses it has, rounded up.
pub const TIMED_BYTES: u32 = 76;

/// The store time of the record that `bytes` begin with, in ms since 1970, without looking at the
/// rest of it.
#[must_use]
pub fn store_ms_of(bytes: &[u8]) -> Option<i64> {
    read_i64(bytes, stored_at(read_i32(bytes, SYS_FLAG)?))
}

/// Where RocketMQ parks messages until their delay is over.
pub const DELAY_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";

/// RocketMQ's default delay levels, in seconds; the first is level 1.
const DELAY_LEVELS_S: [i64; 18] =
    [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200];

/// The delay at a level, in ms. Levels beyond the last count as the last; below 1 is no delay.
fn delay_ms(level: &str) -> Option<i64> {
    let level = usize::try_from(level.parse::<i32>().ok()?).ok()?;
    let index = level.min(DELAY_LEVELS_S.len()).checked_sub(1)?;
    DELAY_LEVELS_S.get(index).map(|seconds| seconds * 1000)
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
