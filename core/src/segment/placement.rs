//! Which directory takes the next segment: a pure function of the segment's number and of the
//! directories that may take it.
//!
//! Nothing remembers a choice: a segment is found by listing directories, so a strategy can be
//! changed at any open.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// How the next segment's directory is chosen.
///
/// ```
/// use spanlog::Placement;
/// assert_eq!("free-space".parse::<Placement>()?, Placement::FreeSpace);
/// assert_eq!(Placement::default().to_string(), "rocketmq");
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Directories in Java's string order, segment number modulo their count: RocketMQ's choice.
    /// Every directory gets as many segments, whatever its size, until it is above its force
    /// mark.
    #[default]
    Rocketmq,
    /// In proportion to the usable bytes, so that unequal disks fill together.
    FreeSpace,
    /// By a hash of segment number and directory: adding a directory to n others changes the
    /// choice of one segment in n + 1, all of them in its favour.
    Hash,
}

impl Placement {
    /// All strategies.
    pub const ALL: [Self; 3] = [Self::Rocketmq, Self::FreeSpace, Self::Hash];

    /// The name in configurations and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rocketmq => "rocketmq",
            Self::FreeSpace => "free-space",
            Self::Hash => "hash",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Placement {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|placement| placement.name() == text).ok_or_else(|| {
            let message = format!("placement is {text:?}: it must be rocketmq, free-space or hash");
            Error::new(ErrorKind::Invalid, message)
        })
    }
}

/// A directory that may take the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Its path, as it was given: RocketMQ sorts by it.
    pub path: &'a str,
    /// Its lasting identity, which survives another mount point.
    pub id: u64,
    /// Bytes that may still be written there, 0 if not known.
    pub usable_bytes: u64,
}

/// The order in which the candidates should be asked for room, as indexes into `candidates`:
/// the first is the choice, the rest are tried in turn when it cannot reserve the bytes. The
/// order in which candidates are passed does not matter. Every index appears once.
///
/// `segment_number` is the segment's position divided by the segment length: a gap in the log
/// does not shift the choices behind it.
#[must_use]
pub fn order(
    placement: Placement,
    segment_number: u64,
    candidates: &[Candidate<'_>],
) -> Vec<usize> {
    let sorted = in_java_order(candidates);
    let order = match placement {
        Placement::Rocketmq => rotated(segment_number, sorted),
        Placement::FreeSpace => by_space(segment_number, sorted, candidates),
        Placement::Hash => by_hash(segment_number, sorted, candidates),
    };
    assert_eq!(order.len(), candidates.len(), "every candidate has its place in the order");
    order
}

/// Indexes sorted as Java compares strings: by UTF-16 code units, so `/d10` is before `/d2`, and
/// a character outside the basic plane before U+FF5E.
fn in_java_order(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..candidates.len()).collect();
    sorted
        .sort_by(|&a, &b| candidates[a].path.encode_utf16().cmp(candidates[b].path.encode_utf16()));
    sorted
}

/// The sorted directories, beginning with the one at `segment_number` modulo their count.
fn rotated(segment_number: u64, mut sorted: Vec<usize>) -> Vec<usize> {
    if let Some(first) = segment_number.checked_rem(sorted.len() as u64) {
        sorted.rotate_left(first as usize);
    }
    sorted
}

/// A directory drawn by its share of the usable bytes, then the others, roomiest first. Without
/// any usable byte known, all have the same share.
fn by_space(number: u64, mut sorted: Vec<usize>, candidates: &[Candidate<'_>]) -> Vec<usize> {
    let total: u128 = sorted.iter().map(|&i| u128::from(candidates[i].usable_bytes)).sum();
    if total == 0 {
        return rotated(number, sorted);
    }
    // Below 2^64 directories of below 2^64 bytes, the product can pass 128 bits only where the
    // total passes 64: then the low bits of the point do not matter.
    let point = match spread(number).checked_mul(total) {
        Some(product) => product >> 64,
        None => (spread(number) >> 32) * (total >> 32),
    };
    let chosen = holder_of(point, &sorted, candidates);
    sorted.sort_by_key(|&i| (i != chosen, Reverse(candidates[i].usable_bytes)));
    sorted
}

/// Whose bytes `point` falls on when the usable bytes of all lie end to end.
fn holder_of(point: u128, sorted: &[usize], candidates: &[Candidate<'_>]) -> usize {
    let mut end = 0_u128;
    let holder = sorted.iter().copied().find(|&i| {
        end += u128::from(candidates[i].usable_bytes);
        point < end
    });
    holder.expect("the point lies below the total")
}

/// Steps of the golden ratio through 2^64: any run of consecutive numbers is spread evenly, so
/// shares are met within a few segments where random draws need hundreds, and neighbours seldom
/// meet on one disk.
fn spread(number: u64) -> u128 {
    u128::from(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Highest random weight first: each directory draws a number for each segment.
fn by_hash(number: u64, mut sorted: Vec<usize>, candidates: &[Candidate<'_>]) -> Vec<usize> {
    sorted.sort_by_cached_key(|&i| Reverse(mixed(mixed(candidates[i].id) ^ number)));
    sorted
}

/// The finisher of splitmix64 (Steele, Lea, Flood 2014): every bit of the input moves half of
/// the output's.
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
#[path = "placement_tests.rs"]
mod tests;
