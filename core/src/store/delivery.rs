//! What a cursor hands out, and how a poll is filled.

use std::ops::Range;

use crate::base::units::QueueOffset;
use crate::cursor::Progress;
use crate::derived::Queue;
use crate::error::{Error, Result};
use crate::store::{Batch, ReadLimits, ReadStatus, Stored, batch};
use crate::tasks::Engine;

/// Messages of one poll, those of a queue side by side and in order. Its bytes stay mapped for as
/// long as it lives. What is not acknowledged within the visibility time comes again.
#[derive(Debug, Default)]
pub struct Delivery {
    parts: Vec<Part>,
    overtaken: Vec<Overtaken>,
    failures: Vec<(u32, Error)>,
    bytes: u64,
}

#[derive(Debug)]
struct Part {
    queue: u32,
    batch: Batch,
    attempts: Vec<u32>,
}

/// One message of a delivery.
#[derive(Clone, Copy, Debug)]
pub struct Delivered<'a> {
    /// The queue it belongs to.
    pub queue: u32,
    /// How often it was delivered, from 1; counted from 2 on for what was delivered before the
    /// store was opened.
    pub attempt: u32,
    /// The message.
    pub message: Stored<'a>,
}

/// Retention dropped messages that a cursor had not acknowledged. It goes on behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// The queue.
    pub queue: u32,
    /// The offsets that are gone, of which those acknowledged out of order are no loss.
    pub gone: Range<QueueOffset>,
}

impl Delivery {
    /// The messages.
    pub fn iter(&self) -> impl Iterator<Item = Delivered<'_>> {
        self.parts.iter().flat_map(|part| {
            let messages = part.batch.iter().zip(&part.attempts);
            let queue = part.queue;
            messages.map(move |(message, &attempt)| Delivered { queue, attempt, message })
        })
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.attempts.len()).sum()
    }

    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What cleaning took from the cursor before it came to it: told once, with where each queue
    /// starts now (the end of the range).
    #[must_use]
    pub fn overtaken(&self) -> &[Overtaken] {
        &self.overtaken
    }

    /// Queues that could not be read, by number, while others could: see [`ErrorKind`]. They are
    /// tried again by the next poll; seek past what is damaged.
    ///
    /// [`ErrorKind`]: crate::ErrorKind
    #[must_use]
    pub fn failures(&self) -> &[(u32, Error)] {
        &self.failures
    }

    /// Whether there is nothing to tell.
    pub(super) fn is_nothing(&self) -> bool {
        self.is_empty() && self.overtaken.is_empty()
    }

    /// The first failure, where nothing else is to be told.
    pub(super) fn or_failure(mut self) -> Result<Self> {
        match self.is_nothing() && !self.failures.is_empty() {
            true => Err(self.failures.swap_remove(0).1),
            false => Ok(self),
        }
    }

    pub(super) fn fail(&mut self, queue: u32, error: Error) {
        self.failures.push((queue, error));
    }

    /// Notes what retention took from a queue that begins at `min` now.
    pub(super) fn overtake(&mut self, queue: u32, progress: &mut Progress, min: QueueOffset) {
        if let Some(gone) = progress.overtake(min.get()) {
            let gone = QueueOffset::new(gone.start)..QueueOffset::new(gone.end);
            self.overtaken.push(Overtaken { queue, gone });
        }
    }

    /// What the next of so many queues may add, within the limits of all; nothing once they are
    /// reached.
    pub(super) fn share(&self, limits: ReadLimits, queues: usize) -> Option<ReadLimits> {
        let max_messages = limits.max_messages.saturating_sub(self.len());
        let max_bytes = limits.max_bytes.saturating_sub(self.bytes);
        let is_full = max_messages == 0 || (max_bytes == 0 && !self.is_empty());
        (!is_full).then(|| ReadLimits {
            max_messages: max_messages.div_ceil(queues),
            max_bytes: max_bytes.max(1).div_ceil(queues as u64),
        })
    }
}

/// One queue's turn in a poll.
pub(super) struct Turn<'a> {
    pub(super) engine: &'a Engine,
    pub(super) queue: &'a Queue,
    pub(super) progress: &'a mut Progress,
    pub(super) delivery: &'a mut Delivery,
    /// What this queue may add.
    pub(super) limits: ReadLimits,
    /// What all queues together may.
    pub(super) max_bytes: u64,
    pub(super) now_ms: i64,
    pub(super) visibility_ms: i64,
    pub(super) max_pending: usize,
}

impl Turn<'_> {
    /// Delivers what is due again, then what is new.
    pub(super) fn take(mut self) -> Result<()> {
        let max_messages = self.limits.max_messages;
        let mut due = self.progress.take_due(self.now_ms, self.visibility_ms, max_messages);
        due.sort_unstable();
        let mut at = 0;
        while at < due.len() {
            let run = due[at..].windows(2).take_while(|pair| pair[0] + 1 == pair[1]).count() + 1;
            let outcome = self.deliver(due[at], run);
            if !matches!(outcome, Ok(end) if end == due[at] + run as u64) {
                let first = outcome.as_ref().map_or(due[at], |&end| end);
                let left = due[at..].iter().rev().filter(|&&offset| offset >= first);
                left.for_each(|&offset| self.progress.put_back(offset));
                return outcome.map(drop);
            }
            at += run;
        }
        let room = self.progress.room(self.max_pending).min(self.limits.max_messages);
        if room > 0 {
            self.deliver(self.progress.next(), room)?;
        }
        Ok(())
    }

    /// Delivers up to `count` messages from `from` on; returns the offset behind the last one.
    fn deliver(&mut self, from: u64, count: usize) -> Result<u64> {
        let limits =
            ReadLimits { max_messages: count.min(self.limits.max_messages), ..self.limits };
        if limits.max_messages == 0 || limits.max_bytes == 0 {
            return Ok(from);
        }
        let (engine, offset) = (self.engine, QueueOffset::new(from));
        let batch = batch::read(engine, self.queue.topic(), self.queue.id(), offset, limits)?;
        match batch.status() {
            ReadStatus::Found if self.fits(&batch) => Ok(self.add(from, batch)),
            ReadStatus::TooSmall => {
                self.delivery.overtake(self.queue.id(), self.progress, batch.next());
                Ok(batch.next().get())
            }
            ReadStatus::Removed => {
                let end = batch.next().get();
                self.pass(from, end);
                Ok(end)
            }
            _ => Ok(from),
        }
    }

    /// A read returns one message whatever its size; only the first of a poll may pass the limit.
    fn fits(&self, batch: &Batch) -> bool {
        let first = batch.get(0).map_or(0, |stored| stored.bytes().len() as u64);
        self.delivery.is_empty() || self.delivery.bytes + first <= self.max_bytes
    }

    /// Adds the messages of a batch, read from `from` on, as far as the window has place for them;
    /// offsets between them have none.
    fn add(&mut self, from: u64, batch: Batch) -> u64 {
        let due_ms = self.now_ms.saturating_add(self.visibility_ms);
        let mut attempts = Vec::with_capacity(batch.len());
        let (mut bytes, mut at) = (0, from);
        for stored in batch.iter() {
            let offset = stored.queue_offset().get();
            self.pass(at, offset);
            at = offset;
            let Some(attempt) = self.progress.deliver(offset, due_ms) else { break };
            at += 1;
            attempts.push(attempt);
            bytes += stored.bytes().len() as u64;
        }
        if attempts.len() == batch.len() {
            self.pass(at, batch.next().get());
            at = batch.next().get();
        }
        self.limits.max_messages -= attempts.len();
        self.limits.max_bytes = self.limits.max_bytes.saturating_sub(bytes);
        self.delivery.bytes += bytes;
        if !attempts.is_empty() {
            self.delivery.parts.push(Part { queue: self.queue.id(), batch, attempts });
        }
        at
    }

    /// Nothing stands at `from..end` any more.
    fn pass(&mut self, from: u64, end: u64) {
        if from >= self.progress.next() {
            self.progress.pass(end);
            return;
        }
        for offset in from..end.min(self.progress.next()) {
            // It was delivered once, so it can be acknowledged.
            let _ = self.progress.acknowledge(offset);
        }
    }
}
