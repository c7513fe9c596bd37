//! Appending messages: encode outside the lock, stamp and copy inside it.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use crate::base::hash::java_hash;
use crate::base::units::{Position, QueueOffset};
use crate::derived::{KeySeed, hash_message};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Durability;
use crate::record::{DELAY_TOPIC, Message, MessageView, Stamp, Transaction, encode, stamp};
use crate::store::Store;
use crate::tasks::{FreshUnit, PREPARE_STEP_BYTES};

/// Where a message, or the first one of a batch, was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Where its record begins in the log.
    pub position: Position,
    /// Its number within its queue; those of a batch follow each other.
    pub queue_offset: QueueOffset,
    /// The position after the last record.
    pub end: Position,
    /// When it was stored, in milliseconds since 1970.
    pub store_ms: i64,
}

impl Receipt {
    /// Whether the append passed a multiple of `bytes`: a cheap way to do something every so
    /// many bytes.
    fn crosses(&self, bytes: u64) -> bool {
        self.position.get() / bytes != self.end.get() / bytes
    }
}

/// Records on their way into the log.
#[derive(Debug, Default)]
struct Draft {
    bytes: Vec<u8>,
    records: Vec<Drafted>,
    /// What the key index needs of the records.
    hashes: Vec<u32>,
}

/// One of them: where its bytes are, its tag's code and how many of the hashes are its own.
#[derive(Debug)]
struct Drafted {
    range: Range<usize>,
    tag_code: i64,
    hashes: u32,
}

/// A draft never keeps more memory than this between appends.
const KEPT_BYTES: usize = 1 << 20;

thread_local! {
    /// Encoding happens outside the append lock, so each thread has its own buffer. It holds
    /// nothing between two appends.
    static DRAFT: RefCell<Draft> = RefCell::default();
}

impl Store {
    /// Appends one message. When it returns, the message is in the log and survives the end of
    /// this process; with [`Durability::Group`] it also survives the loss of power.
    ///
    /// # Errors
    /// `Invalid` or `TooLarge` for the message, `Full` when no directory has room, `Poisoned`
    /// after a failed flush, `Closed`, else what the disk says. Nothing was appended then, save
    /// that with group durability a failed flush leaves open whether the message survives.
    pub fn append(&self, message: &Message<'_>) -> Result<Receipt> {
        self.append_batch(std::slice::from_ref(message))
    }

    /// Appends messages of one topic and queue, all or none of them, side by side. Returns where
    /// the first one is. A process that is killed leaves all or none; a loss of power may keep a
    /// first part of a batch that was not acknowledged.
    ///
    /// # Errors
    /// As [`Store::append`], and `Invalid` for an empty batch or one of several queues.
    pub fn append_batch(&self, messages: &[Message<'_>]) -> Result<Receipt> {
        let receipt = self.put(messages)?;
        match self.engine.options.durability {
            Durability::Group => self.engine.flush_to(receipt.end)?,
            Durability::Async { bytes, .. } if receipt.crosses(bytes) => {
                self.engine.flush_bell.ring_loudly();
            }
            Durability::Async { .. } => {}
        }
        if receipt.crosses(PREPARE_STEP_BYTES) {
            self.engine.prepare_bell.ring_loudly();
        }
        self.engine.note_append();
        Ok(receipt)
    }

    /// As [`Store::append`], but returns only when the message is durable, whatever the store's
    /// durability.
    ///
    /// # Errors
    /// As [`Store::append`].
    pub fn append_durable(&self, message: &Message<'_>) -> Result<Receipt> {
        self.append_batch_durable(std::slice::from_ref(message))
    }

    /// As [`Store::append_batch`], but returns only when all of it is durable.
    ///
    /// # Errors
    /// As [`Store::append_batch`].
    pub fn append_batch_durable(&self, messages: &[Message<'_>]) -> Result<Receipt> {
        let receipt = self.put(messages)?;
        self.engine.flush_to(receipt.end)?;
        self.engine.note_append();
        Ok(receipt)
    }

    // Inlined, so that the receipt is handed on in registers: a copy of it in memory has to wait
    // until the record's bytes left the store buffer.
    #[inline]
    fn put(&self, messages: &[Message<'_>]) -> Result<Receipt> {
        self.check_appendable()?;
        check_batch(messages)?;
        self.check_topic(messages[0].topic)?;
        DRAFT.with_borrow_mut(|draft| {
            // A panic that somebody caught may have left something.
            draft.clear();
            let outcome = self.put_draft(messages, draft);
            draft.clear();
            outcome
        })
    }

    fn check_topic(&self, topic: &str) -> Result<()> {
        match self.engine.queues.is_batch_topic(topic) {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Invalid,
                format!("the queues of topic {topic:?} are RocketMQ's batch queues"),
            )),
        }
    }

    #[inline]
    fn put_draft(&self, messages: &[Message<'_>], draft: &mut Draft) -> Result<Receipt> {
        let now_ms = self.engine.clock.now_ms();
        let (is_indexed, seed) = (self.engine.keys.is_kept(), KeySeed::of(messages[0].topic));
        for message in messages {
            let id = self.ids.next(now_ms);
            let start = draft.bytes.len();
            let len = encode(message, &self.encoding, &id, &mut draft.bytes)?;
            let tag_code = message.tags.map_or(0, |tags| i64::from(java_hash(tags)));
            let hashes = match is_indexed {
                true => hash_message(seed, message, &id, &mut draft.hashes),
                false => 0,
            };
            draft.records.push(Drafted { range: start..start + len, tag_code, hashes });
        }
        let first = &messages[0];
        let queue = self.engine.queues.find_or_make(first.topic, first.queue);
        let numbered = takes_offset(first);
        let placed = Cell::new(Placed::default());
        let Draft { bytes, records, hashes } = draft;
        let position = self.engine.log.append(
            bytes,
            self.engine.as_ref(),
            |bytes, position| {
                let store_ms = self.engine.clock.now_ms();
                let offset = if numbered { queue.next() } else { 0 };
                placed.set(Placed { position, offset, store_ms });
                stamp_all(bytes, records, placed.get(), numbered);
            },
            || {
                queue.advance(if numbered { messages.len() as u64 } else { 0 });
                if first.topic != DELAY_TOPIC {
                    let queue = numbered.then(|| queue.number());
                    self.tell_index(records, hashes, placed.get(), queue);
                }
            },
        )?;
        let end = position + bytes.len() as u64;
        let Placed { offset, store_ms, .. } = placed.get();
        Ok(Receipt { position, queue_offset: QueueOffset::new(offset), end, store_ms })
    }

    /// Tells the index step what it would have to read, before the records are published. Not of
    /// the delay topic: its tag codes are delivery times, which depend on more than the tags.
    #[inline]
    fn tell_index(&self, records: &[Drafted], hashes: &[u32], placed: Placed, queue: Option<u32>) {
        let units = records.iter().enumerate().map(|(number, record)| FreshUnit {
            position: placed.position + record.range.start as u64,
            size: record.range.len() as u32,
            queue,
            offset: placed.offset + number as u64,
            tag_code: record.tag_code,
            store_ms: placed.store_ms,
            hashes: record.hashes,
        });
        self.engine.fresh.add(units, hashes);
    }

    fn check_appendable(&self) -> Result<()> {
        self.check_writable()?;
        if let Some(why) = &self.no_appends {
            return Err(Error::new(ErrorKind::Offline, why.as_str()));
        }
        self.engine.disks.gate().check()
    }
}

impl Store {
    /// Appends a record of another store as it is: only its position is this log's. Its queue
    /// goes on behind it. For a store that nobody else appends to.
    pub(crate) fn append_whole(&self, view: &MessageView<'_>) -> Result<()> {
        self.check_appendable()?;
        let engine = &self.engine;
        let queue = engine.queues.find_or_make(view.topic(), view.queue());
        let (queue_offset, store_ms) = (view.queue_offset(), view.store_ms());
        let taken = if view.has_queue_unit() { queue_offset + 1 } else { 0 };
        if view.has_queue_unit() && queue_offset < queue.next() {
            let text = format!("the queue {}/{} has that offset", view.topic(), view.queue());
            return Err(Error::new(ErrorKind::Invalid, text)
                .with_offset(queue_offset)
                .with_limit(queue.next()));
        }
        let mut bytes = view.bytes().to_vec();
        engine.log.append(
            &mut bytes,
            engine.as_ref(),
            |record, position| {
                stamp(record, &Stamp { position: position.get(), queue_offset, store_ms });
            },
            || queue.advance(taken.saturating_sub(queue.next())),
        )?;
        engine.index_bell.ring();
        Ok(())
    }

    /// Never gives out an offset below `next` in that queue, which begins there if it is empty.
    pub(crate) fn begin_queue(&self, topic: &str, queue: u32, next: QueueOffset) {
        self.engine.queues.raise_next(topic, queue, next);
    }
}

impl Draft {
    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.records.clear();
        self.hashes.clear();
    }
}

/// Where records are put: the first one's position and offset, and the time of all.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    position: Position,
    offset: u64,
    store_ms: i64,
}

/// Completes the records, under the append lock.
fn stamp_all(bytes: &mut [u8], records: &[Drafted], placed: Placed, numbered: bool) {
    let Placed { position, offset, store_ms } = placed;
    for (number, Drafted { range, .. }) in records.iter().enumerate() {
        let queue_offset = if numbered { offset + number as u64 } else { 0 };
        let position = (position + range.start as u64).get();
        stamp(&mut bytes[range.clone()], &Stamp { position, queue_offset, store_ms });
    }
}

/// A prepared or rolled-back transaction has no place in its queue.
fn takes_offset(message: &Message<'_>) -> bool {
    matches!(Transaction::of(message.sys_flag), Transaction::None | Transaction::Commit)
}

fn check_batch(messages: &[Message<'_>]) -> Result<()> {
    let Some((first, rest)) = messages.split_first() else {
        return Err(Error::new(ErrorKind::Invalid, "a batch has at least one message"));
    };
    let same = |other: &Message<'_>| {
        (other.topic, other.queue, takes_offset(other))
            == (first.topic, first.queue, takes_offset(first))
    };
    match rest.iter().all(same) {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Invalid,
            "the messages of a batch are of one topic, one queue and one kind",
        )),
    }
}
