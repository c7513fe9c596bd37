//! Where everything stands in a record (RocketMQ's commit log, as its message encoder writes it).
//!
//! All integers are big-endian. A host takes 8 bytes, or 20 if it is IPv6; the two bits in the
//! flags are the only way to know. With `b` and `s` the widths of the born and the store host:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | size of the whole record |
//! | 4 | 4 | magic: the width of the topic's length |
//! | 8 | 4 | checksum of the body |
//! | 12 | 4 | queue |
//! | 16 | 4 | flag, the caller's own |
//! | 20 | 8 | queue offset |
//! | 28 | 8 | position of byte 0 |
//! | 36 | 4 | system flags |
//! | 40 | 8 | born, ms |
//! | 48 | b | born host |
//! | 48 + b | 8 | stored, ms |
//! | 56 + b | s | store host |
//! | 56 + b + s | 4 | times it was consumed again |
//! | 60 + b + s | 8 | position of the prepared message of a transaction |
//! | 68 + b + s | 4 | length of the body, then the body |
//! | | 1 or 2 | length of the topic, then the topic |
//! | | 2 | length of the properties, then the properties |

/// The magic of a record whose topic has a length of one (signed) byte.
pub const MAGIC_V1: i32 = 0xDAA3_20A7_u32 as i32;
/// The magic of a record whose topic has a length of two bytes; RocketMQ reads it since 5.1.0.
pub const MAGIC_V2: i32 = 0xDAA3_20AB_u32 as i32;
/// The magic of the padding that closes a segment.
pub const MAGIC_PADDING: i32 = 0xCBD4_3194_u32 as i32;

/// The length of a padding's header, in bytes: what every record must leave free behind it.
pub const PADDING_BYTES: u64 = 8;
/// The length of the shortest record, in bytes: no body, topic or properties, both hosts IPv4.
pub const MIN_RECORD_BYTES: u64 = 91;
/// The longest topic, in bytes of UTF-8.
pub const MAX_TOPIC_BYTES: usize = 255;
/// The longest topic of a record with [`MAGIC_V1`], in bytes of UTF-8.
pub(super) const MAX_V1_TOPIC_BYTES: usize = 127;
/// The longest property string, in bytes, with the record's checksum.
pub const MAX_PROPERTIES_BYTES: usize = 32_767;

pub(super) const SIZE: usize = 0;
pub(super) const MAGIC: usize = 4;
pub(super) const BODY_CHECKSUM: usize = 8;
pub(super) const QUEUE: usize = 12;
pub(super) const FLAG: usize = 16;
pub(super) const QUEUE_OFFSET: usize = 20;
pub(super) const POSITION: usize = 28;
pub(super) const SYS_FLAG: usize = 36;
pub(super) const BORN_MS: usize = 40;
pub(super) const BORN_HOST: usize = 48;

pub(super) const V4_HOST_BYTES: usize = 8;
pub(super) const V6_HOST_BYTES: usize = 20;
/// From the size to the length of the body, with both hosts IPv6.
pub(super) const MAX_HEADER_BYTES: usize = 72 + 2 * V6_HOST_BYTES;

/// The width of a host whose bit in the system flags is `bit`.
pub(super) const fn host_bytes(sys_flag: i32, bit: i32) -> usize {
    if sys_flag & bit == 0 { V4_HOST_BYTES } else { V6_HOST_BYTES }
}

const _: () = assert!(MIN_RECORD_BYTES as usize == 72 + 2 * V4_HOST_BYTES + 1 + 2);
const _: () = assert!(MAX_PROPERTIES_BYTES == i16::MAX as usize);
const _: () = assert!(MAX_V1_TOPIC_BYTES == i8::MAX as usize);
