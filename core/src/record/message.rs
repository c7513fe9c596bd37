//! What callers hand in: a message, before it becomes a record.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use super::layout::MAX_TOPIC_BYTES;
use crate::error::{Error, ErrorKind, Result};

/// The bits of a record's system flags (RocketMQ's `MessageSysFlag`).
pub mod sys_flag {
    /// The body is compressed, by the producer.
    pub const COMPRESSED: i32 = 0x1;
    /// The topic carries several tags per message; the tag hash does not change.
    pub const MULTI_TAGS: i32 = 0x2;
    /// The two bits of the transaction state.
    pub const TRANSACTION_MASK: i32 = 0xC;
    /// Transaction state: prepared, not yet decided.
    pub const PREPARED: i32 = 0x4;
    /// Transaction state: committed.
    pub const COMMIT: i32 = 0x8;
    /// Transaction state: rolled back.
    pub const ROLLBACK: i32 = 0xC;
    /// The born host takes 20 bytes; set from the address.
    pub const BORN_V6: i32 = 0x10;
    /// The store host takes 20 bytes; set from the address.
    pub const STORE_V6: i32 = 0x20;
    /// Consumers must unwrap the body.
    pub const NEEDS_UNWRAP: i32 = 0x40;
    /// The body holds several messages.
    pub const INNER_BATCH: i32 = 0x80;
    /// The bits that say how the body is compressed.
    pub const COMPRESSION_MASK: i32 = 0x700;
    /// Compressed as an LZ4 frame.
    pub const LZ4: i32 = 0x100;
    /// Compressed as a Zstandard frame.
    pub const ZSTD: i32 = 0x200;
    /// Compressed as a zlib stream; old writers leave the bits at zero instead.
    pub const ZLIB: i32 = 0x300;
}

/// The transaction state of a message, from its system flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transaction {
    /// Not part of a transaction.
    None,
    /// Prepared, not yet decided.
    Prepared,
    /// Committed.
    Commit,
    /// Rolled back.
    Rollback,
}

impl Transaction {
    /// The state in the system flags of a record.
    #[must_use]
    pub const fn of(sys_flag: i32) -> Self {
        match sys_flag & sys_flag::TRANSACTION_MASK {
            sys_flag::PREPARED => Self::Prepared,
            sys_flag::COMMIT => Self::Commit,
            sys_flag::ROLLBACK => Self::Rollback,
            _ => Self::None,
        }
    }

    /// Whether a message of this state stands in its queue.
    #[must_use]
    pub const fn has_queue_unit(self) -> bool {
        matches!(self, Self::None | Self::Commit)
    }
}

/// A message to append. It borrows everything, so building one costs nothing.
///
/// ```
/// use spanlog::Message;
///
/// let message = Message::new("orders", 0, b"two teapots")
///     .tags("kitchen")
///     .keys(&["order-17", "customer-4"])
///     .properties(&[("region", "north")]);
/// assert_eq!(message.topic, "orders");
/// assert_eq!(message.tags, Some("kitchen"));
/// ```
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The topic: 1 to 255 of letters, digits, `%`, `|`, `_` and `-`.
    pub topic: &'a str,
    /// The queue within the topic, at most `i32::MAX`.
    pub queue: u32,
    /// The payload; it may be empty.
    pub body: &'a [u8],
    /// What consumers filter by, stored as property `TAGS`.
    pub tags: Option<&'a str>,
    /// What the message is found by, stored as property `KEYS`, joined with spaces.
    pub keys: &'a [&'a str],
    /// Further properties, names and values; of two with one name the last is found.
    pub properties: &'a [(&'a str, &'a str)],
    /// A number of the caller's own.
    pub flag: i32,
    /// System flags, see [`sys_flag`]; the two bits for the hosts are set from the addresses.
    pub sys_flag: i32,
    /// When the message was made, in ms since 1970; the time of storing if absent or 0.
    pub born_ms: Option<i64>,
    /// Who made the message.
    pub born_host: SocketAddr,
    /// How often consumers gave it back.
    pub reconsume_times: i32,
    /// With a committed transaction: the position of its prepared message.
    pub prepared_position: u64,
}

impl<'a> Message<'a> {
    /// A message with a payload and nothing else, born at 127.0.0.1:0.
    #[must_use]
    pub const fn new(topic: &'a str, queue: u32, body: &'a [u8]) -> Self {
        Self {
            topic,
            queue,
            body,
            tags: None,
            keys: &[],
            properties: &[],
            flag: 0,
            sys_flag: 0,
            born_ms: None,
            born_host: SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)),
            reconsume_times: 0,
            prepared_position: 0,
        }
    }

    /// Sets what consumers filter by.
    #[must_use]
    pub const fn tags(mut self, tags: &'a str) -> Self {
        self.tags = Some(tags);
        self
    }

    /// Sets what the message is found by.
    #[must_use]
    pub const fn keys(mut self, keys: &'a [&'a str]) -> Self {
        self.keys = keys;
        self
    }

    /// Sets further properties.
    #[must_use]
    pub const fn properties(mut self, properties: &'a [(&'a str, &'a str)]) -> Self {
        self.properties = properties;
        self
    }

    /// Sets the caller's own number.
    #[must_use]
    pub const fn flag(mut self, flag: i32) -> Self {
        self.flag = flag;
        self
    }

    /// Sets the system flags, see [`sys_flag`].
    #[must_use]
    pub const fn sys_flag(mut self, sys_flag: i32) -> Self {
        self.sys_flag = sys_flag;
        self
    }

    /// Sets when the message was made, in ms since 1970.
    #[must_use]
    pub const fn born_ms(mut self, born_ms: i64) -> Self {
        self.born_ms = Some(born_ms);
        self
    }

    /// Sets who made the message.
    #[must_use]
    pub const fn born_host(mut self, born_host: SocketAddr) -> Self {
        self.born_host = born_host;
        self
    }

    /// Sets how often consumers gave it back.
    #[must_use]
    pub const fn reconsume_times(mut self, times: i32) -> Self {
        self.reconsume_times = times;
        self
    }
}

/// The characters of a topic, by byte: those that RocketMQ's broker accepts.
const TOPIC_BYTES: [bool; 256] = {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        allowed[byte] = b.is_ascii_alphanumeric() || matches!(b, b'%' | b'|' | b'_' | b'-');
        byte += 1;
    }
    allowed
};

/// Whether a topic can be written: 1 to 255 bytes of letters, digits, `%`, `|`, `_` and `-`.
/// What passes is also safe as the name of a directory.
///
/// # Errors
/// [`ErrorKind::Invalid`], with the limit, or with the offset of the byte that is not allowed.
pub fn check_topic(topic: &str) -> Result<()> {
    let allowed = topic.bytes().fold(true, |all, byte| all & TOPIC_BYTES[usize::from(byte)]);
    if allowed && !topic.is_empty() && topic.len() <= MAX_TOPIC_BYTES {
        return Ok(());
    }
    Err(bad_topic(topic))
}

#[cold]
fn bad_topic(topic: &str) -> Error {
    let invalid = |text: String| Error::new(ErrorKind::Invalid, text);
    let len = topic.len();
    if len > MAX_TOPIC_BYTES {
        return invalid(format!("the topic has {len} bytes, {MAX_TOPIC_BYTES} are allowed"))
            .with_limit(MAX_TOPIC_BYTES as u64);
    }
    match topic.bytes().enumerate().find(|&(_, byte)| !TOPIC_BYTES[usize::from(byte)]) {
        None => invalid("the topic is empty".into()),
        Some((at, byte)) => invalid(format!(
            "byte {at} of the topic is 0x{byte:02x}; letters, digits, '%', '|', '_' and '-' are \
             allowed"
        ))
        .with_offset(at as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_length_table() {
        let rows = [(0, false), (1, true), (126, true), (127, true), (128, true), (255, true)];
        for (len, fits) in rows {
            assert_eq!(check_topic(&"t".repeat(len)).is_ok(), fits, "{len}");
        }
        let error = check_topic(&"t".repeat(256)).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (ErrorKind::Invalid, Some(255)));
        assert!(error.message().contains("256") && error.message().contains("255"));
    }

    #[test]
    fn topics_that_would_be_unsafe_as_directories_are_refused() {
        let rows = [
            ("", None),
            (".", Some(0)),
            ("..", Some(0)),
            ("a/b", Some(1)),
            ("a\\b", Some(1)),
            ("ab\0", Some(2)),
            ("a\nb", Some(1)),
            ("a b", Some(1)),
            ("caf\u{e9}", Some(3)),
            ("a#b", Some(1)),
        ];
        for (topic, at) in rows {
            let error = check_topic(topic).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Invalid, at), "{topic:?}");
        }
        for topic in ["%RETRY%group_one", "SCHEDULE_TOPIC_XXXX", "a|b-C_9%"] {
            assert!(check_topic(topic).is_ok(), "{topic}");
        }
    }

    #[test]
    fn transaction_states() {
        let rows = [
            (0x0, Transaction::None, true),
            (0x4, Transaction::Prepared, false),
            (0x8, Transaction::Commit, true),
            (0xC, Transaction::Rollback, false),
            (0x7F3 | 0x8, Transaction::Commit, true),
        ];
        for (flags, state, unit) in rows {
            assert_eq!(Transaction::of(flags), state, "{flags:x}");
            assert_eq!(Transaction::of(flags).has_queue_unit(), unit, "{flags:x}");
        }
    }
}
