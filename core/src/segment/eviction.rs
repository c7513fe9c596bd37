//! Which map of a queue goes first: a pure function of where its cursors stand.
//!
//! What must stay is not asked about: whoever needs a map holds it. The segment being written,
//! those made ready behind it and the one each reader stands in are held by their users.

/// Where the cursors of a queue stand, as numbers of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// The slowest cursor that may be read again: the oldest that is not committed.
    pub committed: u64,
    /// Where each reader reads.
    pub reading: Vec<u64>,
    /// The segment being written.
    pub writing: u64,
    /// The most maps there may be.
    pub max: u64,
}

/// How soon a map goes: the least goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Read and committed: the oldest first.
    Read(u64),
    /// Written and not read yet: the newest first, as the farthest from the readers.
    Written(u64),
    /// Any other: the farthest from every cursor first.
    Far(u64),
    /// Being read or next to be, or being written: goes only where nothing else can.
    Near,
}

impl Scopes {
    /// The rank of the segment of that number.
    #[must_use]
    pub fn rank(&self, number: u64) -> Rank {
        let within = |end: u64| number < end && end - number <= self.max;
        let is_next = |&reading: &u64| number == reading || number == reading + 1;
        if within(self.committed) {
            Rank::Read(number)
        } else if number == self.writing || self.reading.iter().any(is_next) {
            Rank::Near
        } else if within(self.writing) {
            Rank::Written(u64::MAX - number)
        } else {
            Rank::Far(u64::MAX - self.distance(number))
        }
    }

    /// How far the nearest cursor is.
    fn distance(&self, number: u64) -> u64 {
        let cursors = self.reading.iter().chain([&self.committed, &self.writing]);
        cursors.map(|cursor| cursor.abs_diff(number)).min().unwrap_or(0)
    }

    /// How many maps one pass leaves.
    #[must_use]
    pub fn keep(&self) -> u64 {
        self.max - (self.max / 2).saturating_sub(1).max(1).min(self.max)
    }
}

#[cfg(test)]
#[path = "eviction_tests.rs"]
mod tests;
