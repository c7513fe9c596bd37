//! What a read found, and how it is laid out in JavaScript's memory.
//!
//! One row of [`ROW`] 64-bit numbers per message, and the records' bytes, whole. A row has queue
//! offset, position, born and store time, and then pairs of 32 bits, the lower first: queue and
//! caller's flag, then where among the bytes they begin and how long they are: record, body,
//! topic, tags, keys and unique id; last how often a cursor delivered it. What is absent begins at
//! 0, where a record does.

use serde_json::{Value, json};
use spanlog::record::{Damage, property};
use spanlog::{
    Batch, Bounds, Delivery, Error, ErrorKind, MessageView, ReadStatus, Result, Slice, Stored,
};

use crate::answers::overtaken;
use crate::failure::{fields, invalid};

/// 64-bit numbers of a row; `lib/batch.js` has the same.
pub const ROW: usize = 12;

/// Every status by its number; `lib/batch.js` has the same.
const STATUSES: [ReadStatus; 8] = [
    ReadStatus::Found,
    ReadStatus::NoQueue,
    ReadStatus::Empty,
    ReadStatus::TooSmall,
    ReadStatus::AtEnd,
    ReadStatus::TooLarge,
    ReadStatus::Removed,
    ReadStatus::NoMatch,
];

/// The messages of one read.
pub enum Found<'a> {
    /// Of a queue, or of a look-up.
    Batch(Batch),
    /// The record at a position.
    Record(Slice),
    /// Of a cursor.
    Delivery(&'a Delivery),
}

/// One message, not yet decoded; of a delivered one the queue, and how often it was delivered.
enum Item<'a> {
    Stored(Stored<'a>, u32, u32),
    Record(&'a [u8]),
}

impl Found<'_> {
    fn items(&self) -> Vec<Item<'_>> {
        match self {
            Self::Batch(batch) => batch.iter().map(|stored| Item::Stored(stored, 0, 0)).collect(),
            Self::Record(record) => vec![Item::Record(record)],
            Self::Delivery(delivery) => {
                let all = delivery.iter();
                all.map(|one| Item::Stored(one.message, one.queue, one.attempt)).collect()
            }
        }
    }

    /// What `lib/batch.js` has to know before it makes room: how many messages and bytes of records
    /// there are, and of a batch its status, where to read on, and its queue's bounds.
    pub fn numbers(&self) -> [u64; 6] {
        let items = self.items();
        let bytes: usize = items.iter().map(|item| item.bytes().len()).sum();
        let (count, bytes) = (items.len() as u64, bytes as u64);
        let Self::Batch(batch) = self else { return [count, bytes, 0, 0, 0, 0] };
        let status = STATUSES.iter().position(|&status| status == batch.status());
        let status = status.expect("every status has a number") as u64;
        let Bounds { min, max } = batch.bounds();
        [count, bytes, status, batch.next().get(), min.get(), max.get()]
    }

    /// Writes rows and records. Returns how many there are, and what is wrong with those that are
    /// damaged: a queue is read no further, of a delivery they are left out.
    ///
    /// # Errors
    /// That the first of a queue is damaged, or that there is no room.
    pub fn lay_out(
        &self,
        rows: &mut [u64],
        bytes: &mut [u8],
        verify: bool,
    ) -> Result<(usize, Vec<Value>)> {
        let short = || invalid("the block is smaller than what was found");
        let items = self.items();
        let mut rows = rows.get_mut(..ROW * items.len()).ok_or_else(short)?.chunks_exact_mut(ROW);
        let (mut count, mut end, mut damages) = (0, 0, Vec::new());
        for item in &items {
            let view = match item.decode(verify) {
                Ok(view) => view,
                Err(damage) => match (self, item) {
                    (Self::Delivery(_), Item::Stored(_, queue, _)) => {
                        damages.push(failure(*queue, &damage));
                        continue;
                    }
                    _ if count == 0 => return Err(damage),
                    _ => {
                        damages.push(fields(&damage));
                        break;
                    }
                },
            };
            let record = view.bytes();
            let room = bytes.get_mut(end..end + record.len()).ok_or_else(short)?;
            room.copy_from_slice(record);
            write_row(rows.next().expect("a row for each"), item, &view, end);
            end += record.len();
            count += 1;
        }
        Ok((count, damages))
    }
}

impl<'a> Item<'a> {
    fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Stored(stored, ..) => stored.bytes(),
            Self::Record(record) => record,
        }
    }

    fn decode(&self, verify: bool) -> Result<MessageView<'a>> {
        match self {
            Self::Stored(stored, ..) if verify => stored.decode_verified(),
            Self::Stored(stored, ..) => stored.decode(),
            Self::Record(record) => {
                let damaged = |damage: Damage| {
                    Error::new(ErrorKind::Corrupt, format!("the record is damaged: {damage}"))
                };
                let view = MessageView::parse(record).map_err(damaged)?;
                let checked = if verify { view.verify() } else { Ok(()) };
                checked.map_err(|damage| damaged(damage).with_offset(view.position()))?;
                Ok(view)
            }
        }
    }
}

/// What a poll gave beside messages, as JSON.
pub fn describe(delivery: &Delivery) -> Value {
    let [count, bytes, ..] = Found::Delivery(delivery).numbers();
    let overtaken: Value = delivery.overtaken().iter().map(overtaken).collect();
    let failures = delivery.failures().iter();
    let failures: Value = failures.map(|(queue, error)| failure(*queue, error)).collect();
    json!({ "count": count, "bytes": bytes, "overtaken": overtaken, "failures": failures })
}

/// What is wrong with a queue.
fn failure(queue: u32, error: &Error) -> Value {
    let mut told = fields(error);
    told["queue"] = json!(queue);
    told
}

fn write_row(row: &mut [u64], item: &Item<'_>, view: &MessageView<'_>, start: usize) {
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
    let (offset, attempt) = match item {
        Item::Stored(stored, _, attempt) => (stored.queue_offset().get(), *attempt),
        Item::Record(_) => (view.queue_offset(), 0),
    };
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
        u64::from(attempt),
    ]);
}

/// Two words as one, the lower first.
pub fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
