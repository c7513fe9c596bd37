//! What a read found, and how it is laid out in JavaScript's memory.
//!
//! One row of [`ROW`] 64-bit numbers per message, and the records' bytes, whole. A row has queue
//! offset, position, born and store time, and then pairs of 32 bits, the lower first: queue and
//! caller's flag, then where among the bytes they begin and how long they are: record, body,
//! topic, tags, keys and unique id. What is absent begins at 0, where a record does.

use spanlog::record::{Damage, property};
use spanlog::{Batch, Bounds, Error, ErrorKind, MessageView, Result, Slice};

use crate::failure::invalid;

/// 64-bit numbers of a row; `lib/batch.js` has the same.
pub const ROW: usize = 11;

/// The messages of one read.
pub enum Found {
    /// Of a queue.
    Batch(Batch),
    /// The record at a position.
    Record(Slice),
}

impl Found {
    pub fn len(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.len(),
            Self::Record(_) => 1,
        }
    }

    /// Bytes of all records.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.iter().map(|stored| stored.bytes().len()).sum(),
            Self::Record(record) => record.len(),
        }
    }

    /// Status, where to read on, the queue's bounds, the number of messages and their bytes, as
    /// `lib/batch.js` reads them.
    pub fn numbers(&self) -> [u64; 6] {
        let (len, bytes) = (self.len() as u64, self.bytes() as u64);
        match self {
            Self::Record(_) => [0, 0, 0, 0, len, bytes],
            Self::Batch(batch) => {
                let Bounds { min, max } = batch.bounds();
                [batch.status() as u64, batch.next().get(), min.get(), max.get(), len, bytes]
            }
        }
    }

    /// Message number `at`, with its offset in its queue.
    fn message(&self, at: usize, verify: bool) -> Result<(u64, MessageView<'_>)> {
        match self {
            Self::Batch(batch) => {
                let stored = batch.get(at).expect("asked only for messages that there are");
                let view = if verify { stored.decode_verified()? } else { stored.decode()? };
                Ok((stored.queue_offset().get(), view))
            }
            Self::Record(record) => {
                let damage = |damage: Damage| {
                    Error::new(ErrorKind::Corrupt, format!("the record is damaged: {damage}"))
                };
                let view = MessageView::parse(record).map_err(damage)?;
                if verify {
                    view.verify().map_err(|it| damage(it).with_offset(view.position()))?;
                }
                Ok((view.queue_offset(), view))
            }
        }
    }

    /// Writes rows and records. Returns how many there are, and what is wrong with the one behind
    /// them, if it is damaged.
    ///
    /// # Errors
    /// That the first is damaged, or that there is no room.
    pub fn lay_out(
        &self,
        rows: &mut [u64],
        bytes: &mut [u8],
        verify: bool,
    ) -> Result<(usize, Option<Error>)> {
        let short = || invalid("the block is smaller than what was found");
        let rows = rows.get_mut(..ROW * self.len()).ok_or_else(short)?;
        let mut end = 0;
        for (at, row) in rows.chunks_exact_mut(ROW).enumerate() {
            let (offset, view) = match self.message(at, verify) {
                Ok(message) => message,
                Err(damage) if at == 0 => return Err(damage),
                Err(damage) => return Ok((at, Some(damage))),
            };
            let record = view.bytes();
            let room = bytes.get_mut(end..end + record.len()).ok_or_else(short)?;
            room.copy_from_slice(record);
            write_row(row, offset, &view, end);
            end += record.len();
        }
        Ok((self.len(), None))
    }
}

fn write_row(row: &mut [u64], offset: u64, view: &MessageView<'_>, start: usize) {
    let record = view.bytes();
    // A field lies within its record, so this is where its copy lies.
    let span = |field: &[u8]| {
        let within = field.as_ptr().addr().wrapping_sub(record.as_ptr().addr());
        assert!(within <= record.len(), "a field lies within its record");
        pair((start + within) as u32, field.len() as u32)
    };
    let (mut tags, mut keys, mut unique_id) = (0, 0, 0);
    for (name, value) in view.properties() {
        match name {
            property::TAGS => tags = span(value.as_bytes()),
            property::KEYS => keys = span(value.as_bytes()),
            property::UNIQ_KEY => unique_id = span(value.as_bytes()),
            _ => {}
        }
    }
    row.copy_from_slice(&[
        offset,
        view.position(),
        view.born_ms() as u64,
        view.store_ms() as u64,
        pair(view.queue(), view.flag() as u32),
        span(record),
        span(view.body()),
        span(view.topic().as_bytes()),
        tags,
        keys,
        unique_id,
    ]);
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
