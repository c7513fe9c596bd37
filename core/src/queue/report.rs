//! What there is to see of a queue, and whether it is whole.

use crate::base::units::Position;
use crate::error::Result;
use crate::log::Damaged;
use crate::queue::handle::Queue;
use crate::queue::walk::Walk;

/// A queue at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStat {
    /// Where the first record kept begins.
    pub start: Position,
    /// Where the last record ends.
    pub end: Position,
    /// Everything before is durable.
    pub flushed: Position,
    /// Records pushed since the queue was made, but for those that were lost with power.
    pub pushed: u64,
    /// Records kept, until the slowest reader commits them.
    pub records: u64,
    /// Bytes from start to end, heads included.
    pub bytes: u64,
    /// Records that were dropped because the queue was full.
    pub dropped: u64,
    /// Length of every segment in bytes.
    pub segment_len_bytes: u64,
    /// The most segment files there may be.
    pub capacity_segments: u64,
    /// Segment files there are.
    pub segments: u64,
    /// Segments that are mapped.
    pub mapped_segments: u64,
    /// The readers, in the order in which they were made.
    pub readers: Vec<ReaderStat>,
}

/// A reader at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderStat {
    /// Its name.
    pub name: String,
    /// Everything before is committed.
    pub committed: Position,
    /// What it pops next.
    pub reading: Position,
    /// Records that it has not committed.
    pub records: u64,
    /// Bytes that it has not popped, heads included.
    pub unread_bytes: u64,
}

/// What reading all of a queue found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueVerification {
    /// Whole records.
    pub records: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// Ranges that are no records.
    pub damaged: Vec<Damaged>,
}

impl Queue {
    /// The queue as it is now.
    #[must_use]
    pub fn stat(&self) -> QueueStat {
        let line = &self.line;
        // Held until the readers stand still too: they may else have passed the end.
        let tail = line.tail.lock();
        let end = tail.mark();
        let readers = line.readers.lock();
        drop(tail);
        let start = readers.start;
        let reader = |row: &crate::queue::readers::ReaderRow| {
            let is_kept = row.committed.position >= start.position;
            let committed = if is_kept { row.committed } else { start };
            let reading = row.cursor.reading().max(start.position);
            ReaderStat {
                name: row.cursor.name.to_string(),
                committed: committed.position,
                reading,
                records: end.number.saturating_sub(committed.number),
                unread_bytes: end.position.since(reading),
            }
        };
        QueueStat {
            start: start.position,
            end: end.position,
            flushed: line.flushed.load(),
            pushed: end.number,
            records: end.number.saturating_sub(start.number),
            bytes: end.position.since(start.position),
            dropped: readers.dropped,
            segment_len_bytes: line.segments.segment_len,
            capacity_segments: line.capacity(),
            segments: line.segments.ring.files() as u64,
            mapped_segments: line.segments.budget.in_use() as u64,
            readers: readers.list.iter().map(reader).collect(),
        }
    }

    /// Reads every record that is kept and checks it. Changes nothing, and may take long.
    ///
    /// # Errors
    /// `Closed`, or what the disk says.
    pub fn verify(&self) -> Result<QueueVerification> {
        let line = &self.line;
        line.check_open()?;
        let visible = line.appended.published();
        let mut at = line.readers.lock().start.position;
        let (mut found, mut walk) = (QueueVerification::default(), Walk::default());
        while at < visible.end() {
            let frame = walk.frame(&line.segments, &|| line.scopes(), at, visible)?;
            if let Some(frame) = frame {
                found.records += 1;
                found.payload_bytes += u64::from(frame.head.len);
                at = frame.next.position;
                continue;
            }
            let next = walk.find(&line.segments, &|| line.scopes(), at, visible)?;
            let next = next.map_or(visible.end(), |mark| mark.position);
            let kept = line.readers.lock().start.position;
            if at >= kept {
                found.damaged.push(self.damaged(at, next));
            }
            at = next.max(kept);
        }
        Ok(found)
    }

    fn damaged(&self, from: Position, to: Position) -> Damaged {
        let ring = &self.line.segments.ring;
        let segment = ring.get(ring.number_of(from));
        Damaged {
            range: from.get()..to.get(),
            path: segment.map_or(self.line.root.clone(), |segment| segment.path().to_owned()),
            reason: "no whole record stands here".into(),
        }
    }
}
