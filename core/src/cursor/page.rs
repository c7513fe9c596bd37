//! What a cursor's file holds: its settings in one page, and each queue in one of its own.
//! `FORMAT.md`, section 8, has the bytes.

use crate::base::bytes::{array, put, read_i32, read_i64};
use crate::cursor::{Hold, MAX_PENDING, Progress};
use crate::disk::slots::Slots;

const SETTINGS_BYTES: usize = 25;

/// Before the acknowledgements of a queue's page.
const QUEUE_HEADER_BYTES: usize = 16;

const _: () = assert!(QUEUE_HEADER_BYTES + MAX_PENDING.div_ceil(8) <= Slots::MAX_PAYLOAD);

const HAS_AGE: u8 = 1;
const HAS_BYTES: u8 = 2;
const ONLY_KNOWN: u8 = 4;

/// What is kept of a cursor besides its progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether it keeps segments from being dropped.
    pub hold: Option<Hold>,
    /// Whether it is about no other queues than those it knows.
    pub only_known: bool,
}

impl Settings {
    /// The payload of the first page, in a file of so many pages for queues.
    #[must_use]
    pub fn encode(self, pages: u64) -> Vec<u8> {
        let (age, bytes) = self.hold.map_or((None, None), |hold| (hold.max_age_ms, hold.max_bytes));
        let mut out = vec![0; SETTINGS_BYTES];
        out[0] = if age.is_some() { HAS_AGE } else { 0 }
            | if bytes.is_some() { HAS_BYTES } else { 0 }
            | if self.only_known { ONLY_KNOWN } else { 0 };
        put(&mut out, 1, &pages.to_be_bytes());
        put(&mut out, 9, &age.unwrap_or(0).to_be_bytes());
        put(&mut out, 17, &bytes.unwrap_or(0).to_be_bytes());
        out
    }

    /// Reads the payload of the first page: the settings and the number of pages for queues.
    #[must_use]
    pub fn decode(from: &[u8]) -> Option<(Self, u64)> {
        let flags = *from.first()?;
        let number = |at| array(from, at).map(u64::from_be_bytes);
        let (pages, age, bytes) = (number(1)?, number(9)?, number(17)?);
        let hold = Hold {
            max_age_ms: (flags & HAS_AGE != 0).then_some(age),
            max_bytes: (flags & HAS_BYTES != 0).then_some(bytes),
        };
        let hold = (flags & (HAS_AGE | HAS_BYTES) != 0).then_some(hold);
        Some((Self { hold, only_known: flags & ONLY_KNOWN != 0 }, pages))
    }
}

/// The payload of a queue's page.
#[must_use]
pub fn encode_queue(queue: u32, progress: &Progress) -> Vec<u8> {
    let acknowledged = progress.acknowledgements();
    let count = acknowledged.len();
    assert!(count <= MAX_PENDING, "a window is bounded when it is delivered");
    let mut out = vec![0; QUEUE_HEADER_BYTES + count.div_ceil(8)];
    put(&mut out, 0, &queue.to_be_bytes());
    put(&mut out, 4, &progress.floor().to_be_bytes());
    put(&mut out, 12, &(count as i32).to_be_bytes());
    for (at, is_set) in acknowledged.enumerate() {
        out[QUEUE_HEADER_BYTES + at / 8] |= u8::from(is_set) << (7 - at % 8);
    }
    out
}

/// Reads the payload of a queue's page.
#[must_use]
pub fn decode_queue(from: &[u8]) -> Option<(u32, Progress)> {
    let queue = array(from, 0).map(u32::from_be_bytes)?;
    let floor = u64::try_from(read_i64(from, 4)?).ok()?;
    let count = usize::try_from(read_i32(from, 12)?).ok()?;
    let bits = from.get(QUEUE_HEADER_BYTES..)?;
    if count > MAX_PENDING || bits.len() != count.div_ceil(8) {
        return None;
    }
    let acknowledged = (0..count).map(|at| bits[at / 8] & (1 << (7 - at % 8)) != 0);
    Some((queue, Progress::saved(floor, acknowledged)))
}
