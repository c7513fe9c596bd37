//! The records of a queue: a head of 24 bytes, then the payload, then zeros or old bytes up to
//! a multiple of eight.
//!
//! | bytes | content |
//! |---|---|
//! | 0-3 | length of the payload; the top bit says that the next record was pushed with this one |
//! | 4-7 | checksum of the head, taken with the payload's checksum here |
//! | 8-15 | position of the head |
//! | 16-23 | number of the record, from 0 |
//! | 24- | payload |
//!
//! The checksum covers the position, and positions are given out once: what a recycled file holds
//! of an earlier lap is never taken for a record. A payload may go on in the next segment, a head
//! never does: where it does not fit, the record begins with the next segment.

use crate::base::bytes::{array, put};
use crate::base::crc::checksum;

/// Bytes before the payload.
pub const FRAME_HEAD_BYTES: u64 = 24;

/// Every frame begins at a multiple of this.
pub const FRAME_ALIGN_BYTES: u64 = 8;

/// The longest payload that the format can tell, in bytes.
pub const MAX_FRAME_PAYLOAD_BYTES: u64 = MORE as u64 - 1;

/// Says in the length that the next record belongs to the same push.
const MORE: u32 = 1 << 31;

const CHECKSUM_AT: usize = 4;
const POSITION_AT: usize = 8;
const NUMBER_AT: usize = 16;

/// What stands before a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Length of the payload in bytes.
    pub len: u32,
    /// Whether the next record was pushed together with this one.
    pub more: bool,
    /// Where the head begins on the queue's line.
    pub position: u64,
    /// How many records were pushed before.
    pub number: u64,
}

impl FrameHead {
    /// The bytes of the head of a payload with that checksum.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_FRAME_PAYLOAD_BYTES`]: the caller checks it.
    #[must_use]
    #[inline]
    pub fn encode(&self, payload_checksum: u32) -> [u8; FRAME_HEAD_BYTES as usize] {
        assert!(self.len < MORE, "a payload's length leaves the top bit free: {}", self.len);
        let mut bytes = [0; FRAME_HEAD_BYTES as usize];
        let marked = if self.more { self.len | MORE } else { self.len };
        put(&mut bytes, 0, &marked.to_be_bytes());
        put(&mut bytes, CHECKSUM_AT, &payload_checksum.to_be_bytes());
        put(&mut bytes, POSITION_AT, &self.position.to_be_bytes());
        put(&mut bytes, NUMBER_AT, &self.number.to_be_bytes());
        let sum = checksum(&bytes);
        put(&mut bytes, CHECKSUM_AT, &sum.to_be_bytes());
        bytes
    }

    /// The head that stands at `position`; nothing if these bytes cannot be one. It is believed
    /// only once [`FrameHead::is_of`] says so.
    #[must_use]
    #[inline]
    pub fn decode(bytes: &[u8], position: u64) -> Option<Self> {
        let marked = array(bytes, 0).map(u32::from_be_bytes)?;
        let stored = array(bytes, POSITION_AT).map(u64::from_be_bytes)?;
        let number = array(bytes, NUMBER_AT).map(u64::from_be_bytes)?;
        let head = Self { len: marked & !MORE, more: marked & MORE != 0, position, number };
        (stored == position).then_some(head)
    }

    /// Whether the head that was decoded from `bytes` belongs to a payload with that checksum.
    #[must_use]
    #[inline]
    pub fn is_of(&self, bytes: &[u8], payload_checksum: u32) -> bool {
        let expected = self.encode(payload_checksum);
        bytes.get(..expected.len()).is_some_and(|found| found == expected)
    }

    /// Bytes from this head to the end of its payload, in whole steps of alignment.
    #[must_use]
    #[inline]
    pub fn frame_bytes(&self) -> u64 {
        frame_bytes(u64::from(self.len))
    }
}

/// Bytes that a payload of that length takes on the line.
#[must_use]
#[inline]
pub fn frame_bytes(payload_bytes: u64) -> u64 {
    (FRAME_HEAD_BYTES + payload_bytes).next_multiple_of(FRAME_ALIGN_BYTES)
}

/// Where a frame begins that would begin at `position`, in segments of that length.
#[must_use]
#[inline]
pub fn frame_start(position: u64, segment_bytes: u64) -> u64 {
    let left = segment_bytes - position % segment_bytes;
    if left < FRAME_HEAD_BYTES { position + left } else { position }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
