//! The queues' offsets at one position of the log: what needs no replay.

use crate::base::bytes;
use crate::base::crc::checksum;
use crate::base::units::{Position, QueueOffset};
use crate::derived::{Bounds, Resume, Run, Times};

/// First bytes of the file; the last one is the version.
const MAGIC: &[u8; 8] = b"SPANQUE\x01";

/// Every queue's offsets when the log had been applied up to `position`, all of it durable.
///
/// It also keeps what the log cannot tell any more: the next offset of a queue whose messages
/// have all expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Records below are in the queues' files.
    pub position: Position,
    /// Where the last of them began and its store time in milliseconds.
    pub last: Option<(Position, i64)>,
    /// One entry per queue.
    pub queues: Vec<Resume>,
    /// The store times of all records below.
    pub times: Times,
}

impl Ledger {
    /// The file's bytes (`FORMAT.md`, section 9).
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.position.get().to_be_bytes());
        let (begin, time) = self.last.map_or((u64::MAX, 0), |(begin, time)| (begin.get(), time));
        out.extend_from_slice(&begin.to_be_bytes());
        out.extend_from_slice(&time.to_be_bytes());
        let count = u32::try_from(self.queues.len()).expect("fewer than 2^32 queues");
        out.extend_from_slice(&count.to_be_bytes());
        for queue in &self.queues {
            let topic_len = u16::try_from(queue.topic.len()).expect("a topic has 255 bytes");
            out.extend_from_slice(&topic_len.to_be_bytes());
            out.extend_from_slice(queue.topic.as_bytes());
            out.extend_from_slice(&queue.id.to_be_bytes());
            out.extend_from_slice(&queue.bounds.min.get().to_be_bytes());
            out.extend_from_slice(&queue.bounds.max.get().to_be_bytes());
        }
        self.encode_times(&mut out);
        let checksum = checksum(&out);
        out.extend_from_slice(&checksum.to_be_bytes());
        out
    }

    fn encode_times(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.times.high_ms.to_be_bytes());
        let count = u32::try_from(self.times.runs.len()).expect("a few runs at most");
        out.extend_from_slice(&count.to_be_bytes());
        for run in &self.times.runs {
            out.extend_from_slice(&run.start.get().to_be_bytes());
            out.extend_from_slice(&run.end.get().to_be_bytes());
            out.extend_from_slice(&run.low_ms.to_be_bytes());
            out.extend_from_slice(&run.high_ms.to_be_bytes());
        }
    }

    /// Reads the file's bytes; nothing if they are not whole, and the log is replayed then.
    #[must_use]
    pub fn decode(from: &[u8]) -> Option<Self> {
        let (content, stored) = from.split_at_checked(from.len().checked_sub(4)?)?;
        if bytes::array(stored, 0).map(u32::from_be_bytes)? != checksum(content) {
            return None;
        }
        let mut reader = Reader(content);
        if reader.take(MAGIC.len())? != MAGIC {
            return None;
        }
        let position = Position::new(reader.number()?);
        let (begin, time) = (reader.number()?, i64::from_be_bytes(reader.array()?));
        let last = (begin != u64::MAX).then(|| (Position::new(begin), time));
        let count = u32::from_be_bytes(reader.array()?);
        let queues = (0..count).map(|_| reader.queue()).collect::<Option<_>>()?;
        let high_ms = i64::from_be_bytes(reader.array()?);
        let count = u32::from_be_bytes(reader.array()?);
        let runs = (0..count).map(|_| reader.run()).collect::<Option<_>>()?;
        let times = Times { end: position, high_ms, runs };
        Some(Self { position, last, queues, times })
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn run(&mut self) -> Option<Run> {
        let (start, end) = (Position::new(self.number()?), Position::new(self.number()?));
        let [low_ms, high_ms] = [self.array()?, self.array()?].map(i64::from_be_bytes);
        Some(Run { start, end, low_ms, high_ms })
    }

    fn queue(&mut self) -> Option<Resume> {
        let topic_len = u16::from_be_bytes(self.array()?);
        let topic = std::str::from_utf8(self.take(usize::from(topic_len))?).ok()?.to_owned();
        let id = u32::from_be_bytes(self.array()?);
        let (min, max) = (self.number()?, self.number()?);
        let bounds = Bounds { min: QueueOffset::new(min), max: QueueOffset::new(max) };
        (min <= max).then_some(Resume { topic, id, bounds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let bounds = Bounds { min: QueueOffset::new(3), max: QueueOffset::new(9) };
        let queues = vec![
            Resume { topic: "orders".into(), id: 0, bounds },
            Resume { topic: "%RETRY%g".into(), id: 7, bounds },
        ];
        let last = Some((Position::new(4000), 1_700_000_000_000));
        let position = Position::new(4096);
        let run = Run { start: Position::new(7), end: Position::new(99), low_ms: -3, high_ms: 5 };
        let times = Times { end: position, high_ms: 8, runs: vec![run] };
        Ledger { position, last, queues, times }
    }

    #[test]
    fn round_trip() {
        assert_eq!(Ledger::decode(&ledger().encode()), Some(ledger()));
        let (queues, times) = (Vec::new(), Times::default());
        let none = Ledger { position: Position::ZERO, last: None, queues, times };
        assert_eq!(Ledger::decode(&none.encode()), Some(none));
    }

    #[test]
    fn damage_is_no_ledger() {
        let whole = ledger().encode();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert_eq!(Ledger::decode(&damaged), None, "byte {at}");
            assert_eq!(Ledger::decode(&whole[..at]), None, "first {at} bytes");
        }
    }
}
