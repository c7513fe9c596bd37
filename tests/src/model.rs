//! What must be in a store: a list of messages in log order and a few positions.

use spanlog::Position;

/// One message of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which of the model's queues it went to.
    pub line: usize,
    /// Its number in that queue; a prepared transaction has none.
    pub offset: Option<u64>,
    /// Where its record begins.
    pub position: u64,
    /// Length of the record.
    pub size: u64,
    /// The payload, which no other message has.
    pub body: Vec<u8>,
    /// What consumers filter by.
    pub tag: Option<&'static str>,
    /// What it is found by.
    pub keys: &'static [&'static str],
    /// The clock when it was stored.
    pub store_ms: i64,
    /// Whether the append returned without error. Otherwise it may be there or not.
    pub certain: bool,
}

impl Entry {
    /// The position after the record.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.position + self.size
    }
}

/// The log as it should be.
#[derive(Clone, Debug)]
pub struct Model {
    /// Topic and number of every queue that is written to.
    pub lines: Vec<(String, u32)>,
    /// Everything ever appended and not cut, in log order, also what retention dropped.
    pub log: Vec<Entry>,
    /// Where the log starts.
    pub start: u64,
    /// Everything below survives a power cut.
    pub durable: u64,
    /// The next offset of every queue.
    pub next: Vec<u64>,
    /// Length of a segment.
    pub segment_len: u64,
}

impl Model {
    /// An empty log.
    #[must_use]
    pub fn new(lines: Vec<(String, u32)>, segment_len: u64) -> Self {
        let next = vec![0; lines.len()];
        Self { lines, log: Vec::new(), start: 0, durable: 0, next, segment_len }
    }

    /// Adds a message at the end.
    pub fn push(&mut self, entry: Entry) {
        if let Some(offset) = entry.offset {
            self.next[entry.line] = offset + 1;
        }
        self.log.push(entry);
    }

    /// The end of the last message.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.log.last().map_or(0, Entry::end)
    }

    /// The end of the last message whose append returned without error.
    #[must_use]
    pub fn certain_end(&self) -> u64 {
        self.log.iter().rev().find(|entry| entry.certain).map_or(0, Entry::end)
    }

    /// Notes that everything below is durable.
    pub fn make_durable(&mut self, below: Position) {
        self.durable = self.durable.max(below.get());
    }

    /// Whether a log can end at `end`: behind a message, or at the begin of the segment after it.
    #[must_use]
    pub fn is_boundary(&self, end: u64) -> bool {
        let count = self.log.partition_point(|entry| entry.end() <= end);
        let before = self.log[..count].last().map_or(0, Entry::end).max(self.start);
        let next_base = before.next_multiple_of(self.segment_len);
        end == before || end == next_base
    }

    /// The log was found to end at `end`: what lies behind is gone for good, and what lies before
    /// is there to stay unless power is lost.
    pub fn cut(&mut self, end: u64) {
        self.log.retain(|entry| entry.end() <= end);
        self.next.fill(0);
        for entry in &mut self.log {
            entry.certain = true;
            if let Some(offset) = entry.offset {
                self.next[entry.line] = offset + 1;
            }
        }
        self.durable = self.durable.min(end);
    }

    /// The messages of a queue that are kept and lie below `end`, in order.
    pub fn kept(&self, line: usize, end: u64) -> impl Iterator<Item = &Entry> {
        let first = self.log.partition_point(|entry| entry.position < self.start);
        self.log[first..]
            .iter()
            .filter(move |entry| entry.line == line && entry.offset.is_some() && entry.end() <= end)
    }

    /// Where the kept messages of a topic with a key lie, below `end`, newest first.
    #[must_use]
    pub fn keyed(&self, topic: &str, key: &str, end: u64) -> Vec<u64> {
        let is_one = |entry: &&Entry| {
            entry.position >= self.start
                && entry.end() <= end
                && self.lines[entry.line].0 == topic
                && entry.keys.contains(&key)
        };
        self.log.iter().rev().filter(is_one).map(|entry| entry.position).collect()
    }

    /// The first offset kept and the next to come, of what lies below `end`.
    #[must_use]
    pub fn bounds(&self, line: usize, end: u64) -> (u64, u64) {
        let all = self.log.iter().filter(|e| e.line == line && e.end() <= end);
        let max = all.filter_map(|entry| entry.offset).next_back().map_or(0, |offset| offset + 1);
        let min = self.kept(line, end).next().and_then(|entry| entry.offset).unwrap_or(max);
        (min, max)
    }
}
