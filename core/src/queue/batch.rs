//! What readers get: records that keep their bytes in place.

use std::sync::Arc;

use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::disk::{Map, Slice};

/// Records that were popped together, with the maps they lie in: its bytes stay what they are as
/// long as it lives, also after they were committed and the queue was closed. It holds the files
/// of its records, which count against the capacity until it is dropped or filled again.
///
/// A batch that is used again, by [`QueueReader::pop_into`](crate::QueueReader::pop_into), asks
/// the allocator for nothing once it is warm.
#[derive(Debug, Default)]
pub struct QueueBatch {
    maps: Vec<Arc<Map>>,
    rows: Vec<Row>,
    /// The bytes of records that lay in several segments.
    gathered: Vec<u8>,
    payload_bytes: u64,
}

/// One record of a batch.
#[derive(Clone, Copy, Debug)]
struct Row {
    position: Position,
    end: Position,
    number: u64,
    /// Which map it lies in; nothing for the gathered bytes.
    map: Option<u32>,
    at: u64,
    len: u32,
}

/// One record, which keeps its bytes in place.
#[derive(Clone, Debug)]
pub struct QueueRecord {
    /// Where it begins on the queue's line.
    pub position: Position,
    /// Where it ends: committing up to there commits it.
    pub end: Position,
    /// How many records were pushed before it.
    pub number: u64,
    /// Its bytes. Cloning copies none.
    pub payload: Slice,
}

impl QueueBatch {
    /// An empty batch, to be filled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of all payloads.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Where the last record ends: committing up to there commits all of them. Nothing for an
    /// empty batch.
    #[must_use]
    pub fn end(&self) -> Option<Position> {
        self.rows.last().map(|row| row.end)
    }

    /// The bytes of the record at `index`.
    #[must_use]
    #[inline]
    pub fn payload(&self, index: usize) -> Option<&[u8]> {
        self.rows.get(index).map(|row| self.bytes(row))
    }

    /// The record at `index`. One that lay in several segments is copied.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<QueueRecord> {
        let row = self.rows.get(index)?;
        Some(QueueRecord {
            position: row.position,
            end: row.end,
            number: row.number,
            payload: self.slice(row),
        })
    }

    /// The payloads, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().map(|row| self.bytes(row))
    }

    #[inline]
    fn bytes(&self, row: &Row) -> &[u8] {
        let range = row.at..row.at + u64::from(row.len);
        match row.map {
            Some(map) => {
                let map = &self.maps[map as usize];
                map.bytes(range, Published::all()).expect("it was visible when it was popped")
            }
            None => &self.gathered[range.start as usize..range.end as usize],
        }
    }

    fn slice(&self, row: &Row) -> Slice {
        let range = row.at..row.at + u64::from(row.len);
        let taken = match row.map {
            Some(map) => self.maps[map as usize].slice(range, Published::all()),
            None => {
                Map::of_bytes(self.bytes(row).into()).slice(0..row.len.into(), Published::all())
            }
        };
        taken.expect("it was visible when it was popped")
    }

    /// Empties it and lets go of its maps.
    pub fn clear(&mut self) {
        self.maps.clear();
        self.rows.clear();
        self.gathered.clear();
        self.payload_bytes = 0;
    }

    /// Adds a record of the map that a reader holds.
    #[inline]
    pub(super) fn add(
        &mut self,
        place: [Position; 2],
        number: u64,
        map: &Arc<Map>,
        at: u64,
        len: u32,
    ) {
        if !self.maps.last().is_some_and(|last| Arc::ptr_eq(last, map)) {
            self.maps.push(Arc::clone(map));
        }
        let map = u32::try_from(self.maps.len() - 1).expect("a batch has few maps");
        self.add_row(Row { position: place[0], end: place[1], number, map: Some(map), at, len });
    }

    /// Adds a record that was gathered from several segments.
    pub(super) fn add_gathered(&mut self, place: [Position; 2], number: u64, bytes: &[u8]) {
        let at = self.gathered.len() as u64;
        self.gathered.extend_from_slice(bytes);
        let len = u32::try_from(bytes.len()).expect("a payload's length fits");
        self.add_row(Row { position: place[0], end: place[1], number, map: None, at, len });
    }

    #[inline]
    fn add_row(&mut self, row: Row) {
        self.payload_bytes += u64::from(row.len);
        self.rows.push(row);
    }
}
