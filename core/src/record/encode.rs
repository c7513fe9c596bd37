//! From a message to the bytes of its record, in two steps: [`encode`] before the append lock,
//! [`stamp`] under it.

use std::net::SocketAddr;

use super::layout::{
    BODY_CHECKSUM, BORN_HOST, BORN_MS, FLAG, MAGIC, MAGIC_PADDING, MAGIC_V1, MAGIC_V2,
    MAX_HEADER_BYTES, MAX_PROPERTIES_BYTES, MAX_V1_TOPIC_BYTES, POSITION, QUEUE, QUEUE_OFFSET,
    SIZE, SYS_FLAG, host_bytes,
};
use super::message::{Message, check_topic, sys_flag};
use super::properties::{
    EMPTY_RECORD_CHECKSUM, FIRST_DIGIT, NAME_END, RECORD_CHECKSUM_BYTES, VALUE_END, property,
    record_checksum_digits, split_record_checksum,
};
use super::unique_id::UniqueId;
use crate::base::bytes::{put, read_i32, read_i64};
use crate::base::crc::checksum;
use crate::error::{Error, ErrorKind, Result};

/// What is common to all records of a store.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// Whether records end with a checksum of the whole record (RocketMQ's
    /// `enabledAppendPropCRC`); without it only the body has one.
    pub record_checksum: bool,
    /// The longest body, in bytes.
    pub max_body_bytes: u32,
    /// The longest record, in bytes: a segment without the padding's header.
    pub max_record_bytes: u64,
    /// The address that records name as their store.
    pub store_host: SocketAddr,
}

/// Appends the record of `message` to `out` and returns its length in bytes. Position, queue
/// offset and time are left for [`stamp`]. `unique_id` becomes property `UNIQ_KEY` unless the
/// message has one.
///
/// # Errors
/// [`ErrorKind::Invalid`] for a topic, queue, key, tag or property that cannot be written;
/// [`ErrorKind::TooLarge`] for a body, property string or record over its limit. Then `out` is
/// as it was.
pub fn encode(
    message: &Message<'_>,
    encoding: &Encoding,
    unique_id: &UniqueId,
    out: &mut Vec<u8>,
) -> Result<usize> {
    let lengths = Lengths::checked(message, encoding)?;
    let start = out.len();
    out.reserve(lengths.record);
    push_header(message, encoding, &lengths, out);
    out.extend_from_slice(message.body);
    push_topic(message.topic, out);
    out.extend_from_slice(&(lengths.properties as u16).to_be_bytes());
    push_properties(message, encoding, lengths.adds_unique_id.then_some(unique_id), out);
    assert_eq!(out.len() - start, lengths.record, "lengths and bytes of a record agree");
    Ok(lengths.record)
}

/// The lengths of a record's parts, in bytes, all within their limits.
struct Lengths {
    header: usize,
    properties: usize,
    record: usize,
    adds_unique_id: bool,
}

impl Lengths {
    fn checked(message: &Message<'_>, encoding: &Encoding) -> Result<Self> {
        check_topic(message.topic)?;
        check_numbers(message)?;
        let body = message.body.len();
        check_size("body", body, u64::from(encoding.max_body_bytes))?;
        let (properties, adds_unique_id) = property_bytes(message, encoding)?;
        check_size("property string", properties, MAX_PROPERTIES_BYTES as u64)?;
        let sys_flag = host_flags(message, encoding);
        let hosts =
            host_bytes(sys_flag, sys_flag::BORN_V6) + host_bytes(sys_flag, sys_flag::STORE_V6);
        let header = 72 + hosts;
        let topic = topic_width(message.topic) + message.topic.len();
        let record = header + body + topic + 2 + properties;
        check_size("record", record, encoding.max_record_bytes.min(i32::MAX as u64))?;
        Ok(Self { header, properties, record, adds_unique_id })
    }
}

fn topic_width(topic: &str) -> usize {
    if topic.len() <= MAX_V1_TOPIC_BYTES { 1 } else { 2 }
}

/// The caller's system flags with the bits that follow from the addresses.
fn host_flags(message: &Message<'_>, encoding: &Encoding) -> i32 {
    let mut flags = message.sys_flag & !(sys_flag::BORN_V6 | sys_flag::STORE_V6);
    if message.born_host.is_ipv6() {
        flags |= sys_flag::BORN_V6;
    }
    if encoding.store_host.is_ipv6() {
        flags |= sys_flag::STORE_V6;
    }
    flags
}

fn check_size(what: &str, len: usize, limit: u64) -> Result<()> {
    if len as u64 > limit { Err(too_large(what, len, limit)) } else { Ok(()) }
}

#[cold]
fn too_large(what: &str, len: usize, limit: u64) -> Error {
    let text = format!("the {what} has {len} bytes, {limit} are allowed");
    Error::new(ErrorKind::TooLarge, text).with_limit(limit)
}

#[cold]
fn invalid(text: String) -> Error {
    Error::new(ErrorKind::Invalid, text)
}

fn check_numbers(message: &Message<'_>) -> Result<()> {
    let queue = message.queue;
    if queue > i32::MAX as u32 {
        let text = format!("queue {queue} is not below 2^31");
        return Err(invalid(text).with_limit(i32::MAX as u64));
    }
    let position = message.prepared_position;
    if position > i64::MAX as u64 {
        let text = format!("position {position} of the prepared message is not below 2^63");
        return Err(invalid(text).with_limit(i64::MAX as u64));
    }
    Ok(())
}

/// The length of the property string, and whether `UNIQ_KEY` must be added to it.
fn property_bytes(message: &Message<'_>, encoding: &Encoding) -> Result<(usize, bool)> {
    let mut sum = 0;
    if !message.keys.is_empty() {
        let mut value = message.keys.len() - 1;
        for key in message.keys {
            check_text("key", key, 0x20)?;
            value += key.len();
        }
        sum += pair_bytes(property::KEYS.len(), value);
    }
    if let Some(tags) = message.tags {
        check_text("tag", tags, VALUE_END)?;
        sum += pair_bytes(property::TAGS.len(), tags.len());
    }
    let mut adds_unique_id = true;
    for (name, value) in message.properties {
        check_property(name, value)?;
        adds_unique_id &= *name != property::UNIQ_KEY;
        sum += pair_bytes(name.len(), value.len());
    }
    if adds_unique_id {
        sum += pair_bytes(property::UNIQ_KEY.len(), size_of::<UniqueId>());
    }
    if encoding.record_checksum {
        sum += RECORD_CHECKSUM_BYTES;
    }
    Ok((sum, adds_unique_id))
}

fn pair_bytes(name: usize, value: usize) -> usize {
    name + 1 + value + 1
}

/// A key must not hold spaces or control characters (bytes up to 0x20, and 0x7f), since spaces
/// part keys. Other texts must not hold the separators, nor NUL, by which a torn record is known
/// (bytes up to 0x02).
fn check_text(what: &str, text: &str, highest: u8) -> Result<()> {
    if !text.is_empty() && all_words(text.as_bytes(), |word| is_text(word, highest)) {
        return Ok(());
    }
    Err(bad_text(what, text, highest))
}

/// Whether `fine` holds for all words that cover the bytes: some lie twice in them, and where
/// there are less than four, other ones that are always fine fill the word.
fn all_words(bytes: &[u8], fine: impl Fn(u64) -> bool) -> bool {
    let (words, _) = bytes.as_chunks::<8>();
    let last = match (bytes.last_chunk::<8>(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(last), ..) => u64::from_be_bytes(*last),
        (None, Some(first), Some(last)) => {
            u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last))
        }
        _ => bytes.iter().fold(EVERY * 0x40, |word, byte| word << 8 | u64::from(*byte)),
    };
    words.iter().fold(fine(last), |all, word| all & fine(u64::from_be_bytes(*word)))
}

/// Times a byte: that byte eight times.
const EVERY: u64 = 0x0101_0101_0101_0101;

/// Whether none of eight bytes is bad in a text, see [`check_text`].
fn is_text(word: u64, highest: u8) -> bool {
    let any_below = |word: u64, limit: u8| {
        word.wrapping_sub(EVERY * u64::from(limit)) & !word & (EVERY * 0x80) != 0
    };
    let is_key = highest == 0x20;
    let is_bad = any_below(word, highest + 1) || (is_key && any_below(word ^ (EVERY * 0x7F), 1));
    !is_bad
}

#[cold]
fn bad_text(what: &str, text: &str, highest: u8) -> Error {
    let is_bad = |byte: u8| byte <= highest || (byte == 0x7F && highest == 0x20);
    match text.bytes().enumerate().find(|&(_, byte)| is_bad(byte)) {
        None => invalid(format!("a {what} is empty")),
        Some((at, byte)) => {
            let text =
                format!("byte {at} of {what} {text:?} is 0x{byte:02x}, which is not allowed");
            invalid(text).with_offset(at as u64)
        }
    }
}

fn check_property(name: &str, value: &str) -> Result<()> {
    let is_reserved = matches!(name, property::KEYS | property::TAGS)
        || name.ends_with(property::RECORD_CHECKSUM);
    if is_reserved {
        return Err(invalid(format!(
            "property {name:?} has a field of its own, or is the store's"
        )));
    }
    check_text("property name", name, VALUE_END)?;
    check_text("property value", value, VALUE_END)
}

fn push_header(message: &Message<'_>, encoding: &Encoding, lengths: &Lengths, out: &mut Vec<u8>) {
    let magic = if topic_width(message.topic) == 1 { MAGIC_V1 } else { MAGIC_V2 };
    let mut header = [0; MAX_HEADER_BYTES];
    put(&mut header, SIZE, &(lengths.record as u32).to_be_bytes());
    put(&mut header, MAGIC, &magic.to_be_bytes());
    put(&mut header, BODY_CHECKSUM, &checksum(message.body).to_be_bytes());
    put(&mut header, QUEUE, &message.queue.to_be_bytes());
    put(&mut header, FLAG, &message.flag.to_be_bytes());
    put(&mut header, SYS_FLAG, &host_flags(message, encoding).to_be_bytes());
    put(&mut header, BORN_MS, &message.born_ms.unwrap_or(0).to_be_bytes());
    let stored_ms = put_host(&mut header, BORN_HOST, message.born_host);
    let end = put_host(&mut header, stored_ms + 8, encoding.store_host);
    put(&mut header, end, &message.reconsume_times.to_be_bytes());
    put(&mut header, end + 4, &message.prepared_position.to_be_bytes());
    put(&mut header, end + 12, &(message.body.len() as u32).to_be_bytes());
    out.extend_from_slice(&header[..lengths.header]);
}

/// Writes an address and its port, the port as four bytes, and returns where they end.
fn put_host(header: &mut [u8], at: usize, host: SocketAddr) -> usize {
    let port = u32::from(host.port()).to_be_bytes();
    match host {
        SocketAddr::V4(v4) => {
            put(header, at, &v4.ip().octets());
            put(header, at + 4, &port);
            at + 8
        }
        SocketAddr::V6(v6) => {
            put(header, at, &v6.ip().octets());
            put(header, at + 16, &port);
            at + 20
        }
    }
}

fn push_topic(topic: &str, out: &mut Vec<u8>) {
    let len = (topic.len() as u16).to_be_bytes();
    out.extend_from_slice(&len[2 - topic_width(topic)..]);
    push_text(topic, out);
}

/// Texts are short: calling for a copy of each costs more than copying.
#[inline]
fn push_text(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    if rest.len() > 64 {
        return out.extend_from_slice(rest);
    }
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        out.extend_from_slice(word);
        rest = after;
    }
    if let Some((word, after)) = rest.split_first_chunk::<4>() {
        out.extend_from_slice(word);
        rest = after;
    }
    for byte in rest {
        out.push(*byte);
    }
}

fn push_properties(
    message: &Message<'_>,
    encoding: &Encoding,
    unique_id: Option<&UniqueId>,
    out: &mut Vec<u8>,
) {
    if !message.keys.is_empty() {
        push_keys(message.keys, out);
    }
    if let Some(unique_id) = unique_id {
        out.extend_from_slice(property::UNIQ_KEY.as_bytes());
        out.push(NAME_END);
        out.extend_from_slice(unique_id.as_bytes());
        out.push(VALUE_END);
    }
    if let Some(tags) = message.tags {
        push_pair(property::TAGS, tags, out);
    }
    for (name, value) in message.properties {
        push_pair(name, value, out);
    }
    if encoding.record_checksum {
        out.extend_from_slice(EMPTY_RECORD_CHECKSUM);
    }
}

fn push_keys(keys: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(property::KEYS.as_bytes());
    let mut separator = NAME_END;
    for key in keys {
        out.push(separator);
        push_text(key, out);
        separator = b' ';
    }
    out.push(VALUE_END);
}

fn push_pair(name: &str, value: &str, out: &mut Vec<u8>) {
    push_text(name, out);
    out.push(NAME_END);
    push_text(value, out);
    out.push(VALUE_END);
}

/// What is known of a record only under the append lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Where the record's first byte goes, on the log's number line.
    pub position: u64,
    /// The record's index in its queue; 0 for a message without a queue unit.
    pub queue_offset: u64,
    /// The time of storing, in ms since 1970.
    pub store_ms: i64,
}

/// Makes the record that [`encode`] built final: its place, its time (also as the time of birth
/// if the message had none), and the checksum over all of it if it reserved one. It may be
/// stamped again, for another place; the time of birth then stays.
///
/// # Panics
/// If `record` is not one whole record as built by [`encode`].
pub fn stamp(record: &mut [u8], stamp: &Stamp) {
    put(record, QUEUE_OFFSET, &stamp.queue_offset.to_be_bytes());
    put(record, POSITION, &stamp.position.to_be_bytes());
    if read_i64(record, BORN_MS) == Some(0) {
        put(record, BORN_MS, &stamp.store_ms.to_be_bytes());
    }
    let flags = read_i32(record, SYS_FLAG).expect("a record is longer than its fixed fields");
    let stored_ms = BORN_HOST + host_bytes(flags, sys_flag::BORN_V6);
    put(record, stored_ms, &stamp.store_ms.to_be_bytes());
    if let Some((covered, _)) = split_record_checksum(record) {
        let at = covered.len() + FIRST_DIGIT;
        let digits = record_checksum_digits(covered);
        put(record, at, &digits);
    }
}

/// The header of the padding that fills the last `len_bytes` bytes of a segment, header
/// included. What follows the header in the segment has no meaning.
///
/// # Panics
/// If `len_bytes` is less than the header itself: every record leaves that much free.
#[must_use]
pub fn padding(len_bytes: u32) -> [u8; 8] {
    assert!(len_bytes >= 8, "a padding holds at least its own header: {len_bytes}");
    let mut header = [0; 8];
    put(&mut header, SIZE, &len_bytes.to_be_bytes());
    put(&mut header, MAGIC, &MAGIC_PADDING.to_be_bytes());
    header
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
