//! Reading a queue: a batch of records that stay mapped for as long as it lives.

use std::sync::Arc;

use crate::base::bytes;
use crate::base::units::{Position, QueueOffset};
use crate::derived::{Bounds, Queue, Unit};
use crate::disk::Slice;
use crate::error::{Error, ErrorKind, Result};
use crate::log::{LogReader, Span};
use crate::options::OnDamage;
use crate::record::{MIN_RECORD_BYTES, MessageView};
use crate::store::open::QUEUES;
use crate::tasks::Engine;

/// How much one read may return. At least one message is returned whatever its size.
///
/// ```
/// use spanlog::ReadLimits;
/// let limits = ReadLimits { max_messages: 10, ..ReadLimits::default() };
/// assert_eq!(limits.max_bytes, 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Number of messages, from 1.
    pub max_messages: usize,
    /// Bytes of whole records.
    pub max_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { max_messages: 256, max_bytes: 1 << 20 }
    }
}

/// What a read found, and so where to go on (RocketMQ's statuses in parentheses).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStatus {
    /// Messages (FOUND).
    Found,
    /// The queue never had a message (NO_MATCHED_LOGIC_QUEUE); go on at 0.
    NoQueue,
    /// Nothing was ever readable in the queue (NO_MESSAGE_IN_QUEUE); go on at 0.
    Empty,
    /// Retention dropped the offset (OFFSET_TOO_SMALL); go on at the queue's minimum.
    TooSmall,
    /// The offset is the next to come (OFFSET_OVERFLOW_ONE); ask again.
    AtEnd,
    /// The offset is behind the next to come (OFFSET_OVERFLOW_BADLY); go on at the maximum,
    /// never at the start.
    TooLarge,
    /// The messages at the offset are gone or lost (MESSAGE_WAS_REMOVING); go on behind them.
    Removed,
    /// No message is one that was asked for (NO_MATCHED_MESSAGE); go on behind those that were
    /// looked at.
    NoMatch,
}

/// The messages that one read found. It owns what it needs: it may outlive the store.
#[derive(Debug)]
pub struct Batch {
    pub(super) reader: LogReader,
    entries: Vec<Entry>,
    status: ReadStatus,
    next: QueueOffset,
    bounds: Bounds,
    /// The queue that was read; none where it never had a message.
    queue: Option<Arc<Queue>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: QueueOffset,
    position: Position,
    span: Span,
}

/// One message of a batch: its record's bytes, not yet decoded.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    batch: &'a Batch,
    at: usize,
}

impl Batch {
    pub(super) fn nothing(
        engine: &Engine,
        status: ReadStatus,
        next: QueueOffset,
        bounds: Bounds,
    ) -> Self {
        let (reader, entries) = (engine.log.reader(), Vec::new());
        Self { reader, entries, status, next, bounds, queue: None }
    }

    /// Adds the record at `position`, which the reader has found.
    pub(super) fn push(&mut self, position: Position, span: Span) {
        let offset = bytes::read_i64(self.reader.bytes(span), QUEUE_OFFSET).unwrap_or_default();
        let offset = QueueOffset::new(offset.unsigned_abs());
        self.entries.push(Entry { offset, position, span });
        self.status = ReadStatus::Found;
    }

    /// What was found.
    #[must_use]
    pub fn status(&self) -> ReadStatus {
        self.status
    }

    /// Where to read on; 0 after a look-up that was not by queue.
    #[must_use]
    pub fn next(&self) -> QueueOffset {
        self.next
    }

    /// The queue's first message kept and one past its last, as of this read; 0 and 0 after a
    /// look-up that was not by queue.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no message was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The message number `at` of the batch, from 0.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Stored<'_>> {
        (at < self.len()).then_some(Stored { batch: self, at })
    }

    /// The messages, in queue order; those of a look-up by key are newest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Stored<'_>> {
        (0..self.entries.len()).map(|at| Stored { batch: self, at })
    }
}

impl<'a> Stored<'a> {
    fn entry(&self) -> &'a Entry {
        &self.batch.entries[self.at]
    }

    /// Its number within its queue.
    #[must_use]
    pub fn queue_offset(&self) -> QueueOffset {
        self.entry().offset
    }

    /// Where its record begins.
    #[must_use]
    pub fn position(&self) -> Position {
        self.entry().position
    }

    /// The whole record's bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.batch.reader.bytes(self.entry().span)
    }

    /// The whole record's bytes, owned: they stay valid without the batch.
    #[must_use]
    pub fn slice(&self) -> Slice {
        self.batch.reader.slice(self.entry().span)
    }

    /// The message, its structure checked, its checksums not.
    ///
    /// # Errors
    /// `Corrupt`, naming file and position.
    pub fn decode(&self) -> Result<MessageView<'a>> {
        MessageView::parse(self.bytes()).map_err(|damage| self.corrupt(&damage.to_string()))
    }

    /// The message, after checking every checksum it carries.
    ///
    /// # Errors
    /// `Corrupt`, naming file and position.
    pub fn decode_verified(&self) -> Result<MessageView<'a>> {
        // All of this record is read now, so all of the next one is on its way meanwhile.
        if let Some(next) = self.batch.entries.get(self.at + 1) {
            self.batch.reader.fetch_ahead(next.position, next.span.len);
        }
        let view = self.decode()?;
        view.verify().map_err(|damage| self.corrupt(&damage.to_string()))?;
        let queue = self.batch.queue.as_ref().filter(|queue| holds_its_own(queue.topic()));
        if queue.is_some_and(|queue| queue.topic() != view.topic()) {
            return Err(self.corrupt("it belongs to another topic than its queue"));
        }
        Ok(view)
    }

    fn corrupt(&self, damage: &str) -> Error {
        let segment = self.batch.reader.segment(self.entry().span);
        Error::new(ErrorKind::Corrupt, format!("the record is damaged: {damage}"))
            .at(segment.path())
            .with_offset(self.entry().position.get())
    }
}

/// Reads a queue; the statuses are those of RocketMQ's `getMessage`.
pub(super) fn read(
    engine: &Engine,
    topic: &str,
    queue: u32,
    from: QueueOffset,
    limits: ReadLimits,
) -> Result<Batch> {
    read_with(engine, (topic, queue), from, limits, Collector::collect)
}

/// Reads a queue; what is taken of it is up to `collect`, which is asked only where messages are.
pub(super) fn read_with<'a>(
    engine: &'a Engine,
    (topic, queue): (&str, u32),
    from: QueueOffset,
    limits: ReadLimits,
    collect: impl FnOnce(Collector<'a>, &Arc<Queue>) -> Result<Batch>,
) -> Result<Batch> {
    if limits.max_messages == 0 {
        return Err(Error::new(ErrorKind::Invalid, "max_messages is at least 1").with_offset(0));
    }
    let zero = Bounds { min: QueueOffset::ZERO, max: QueueOffset::ZERO };
    let queue = engine.queues.find(topic, queue);
    let Some(queue) = queue.filter(|queue| queue.had_messages()) else {
        return Ok(Batch::nothing(engine, ReadStatus::NoQueue, QueueOffset::ZERO, zero));
    };
    let bounds = queue.bounds();
    let (status, next) = match bounds {
        Bounds { max: QueueOffset::ZERO, .. } => (ReadStatus::Empty, QueueOffset::ZERO),
        Bounds { max, .. } if from > max => (ReadStatus::TooLarge, max),
        Bounds { max, .. } if from == max => (ReadStatus::AtEnd, from),
        Bounds { min, .. } if from < min => (ReadStatus::TooSmall, min),
        _ => {
            match collect(Collector::new(engine, queue, from, limits), queue) {
                // Cleaning was faster: the queue begins later now.
                Err(error) if error.kind() == ErrorKind::Gone => {
                    (ReadStatus::TooSmall, queue.bounds().min)
                }
                other => return other,
            }
        }
    };
    Ok(Batch::nothing(engine, status, next, bounds))
}

/// How far ahead the beginnings of records are asked for: those of one queue lie far apart, and
/// one comes from memory in the time in which a dozen others are looked at.
const AHEAD_RECORDS: usize = 12;

/// What is looked at of each record while a batch is filled.
const HEADER_BYTES: u32 = 36;

/// Where a record says its number within its queue.
const QUEUE_OFFSET: usize = 20;

/// Fills a batch.
pub(super) struct Collector<'a> {
    engine: &'a Engine,
    limits: ReadLimits,
    batch: Batch,
    bytes: u64,
}

impl<'a> Collector<'a> {
    fn new(engine: &'a Engine, queue: &Arc<Queue>, from: QueueOffset, limits: ReadLimits) -> Self {
        // The queue is looked at first: the reader's permission covers what its units point to.
        let bounds = queue.bounds();
        let mut batch = Batch::nothing(engine, ReadStatus::Removed, from, bounds);
        batch.queue = Some(Arc::clone(queue));
        Self { engine, limits, batch, bytes: 0 }
    }

    fn collect(mut self, queue: &Arc<Queue>) -> Result<Batch> {
        let from = self.batch.next;
        // No more units than the limit on bytes can need: a queue may have hundreds of millions.
        let most =
            (self.limits.max_messages as u64).min(self.limits.max_bytes / MIN_RECORD_BYTES + 1);
        let count = most.min(self.batch.bounds.max - from);
        let to = from + count;
        let mut units = Vec::with_capacity(usize::try_from(count).expect("a batch fits memory"));
        queue.visit(from, to, &mut |offset, unit| units.push((offset, unit)))?;
        self.batch.entries.reserve_exact(units.len());
        self.add_all(queue, &units, &|_| Some(true))?;
        Ok(self.finish(ReadStatus::Removed))
    }

    /// Where the batch goes on.
    pub(super) fn next(&self) -> QueueOffset {
        self.batch.next
    }

    /// One past the last message that can be read.
    pub(super) fn end(&self) -> QueueOffset {
        self.batch.bounds.max
    }

    /// Everything below was looked at.
    pub(super) fn go_on(&mut self, to: QueueOffset) {
        self.batch.next = to;
    }

    /// The batch; `status` is for one without messages.
    pub(super) fn finish(mut self, status: ReadStatus) -> Batch {
        self.batch.status = if self.batch.is_empty() { status } else { ReadStatus::Found };
        self.batch
    }

    /// Adds the records of these units that are wanted, as far as the limits allow, and says
    /// whether that was all. `is_wanted` says nothing of a record that it cannot judge.
    pub(super) fn add_all(
        &mut self,
        queue: &Queue,
        units: &[(QueueOffset, Option<Unit>)],
        is_wanted: &impl Fn(&[u8]) -> Option<bool>,
    ) -> Result<bool> {
        for (at, &(offset, unit)) in units.iter().enumerate() {
            if let Some((_, Some(ahead))) = units.get(at + AHEAD_RECORDS) {
                self.batch.reader.fetch_ahead(ahead.position, HEADER_BYTES);
            }
            let added = match unit {
                Some(unit) if unit.is_filler() => Ok(()),
                Some(unit) if self.is_full(unit) => return Ok(false),
                Some(unit) => self.add(offset, unit, is_wanted),
                None => self.unwritten(queue, offset),
            };
            match added {
                Ok(()) => {}
                // What was found before is returned; the next read begins with the error.
                Err(_) if !self.batch.is_empty() => return Ok(false),
                Err(error) => return Err(error),
            }
            self.batch.next = offset + 1;
        }
        Ok(true)
    }

    fn is_full(&self, unit: Unit) -> bool {
        let len = self.batch.len();
        len >= self.limits.max_messages
            || (len > 0 && self.bytes + u64::from(unit.size) > self.limits.max_bytes)
    }

    /// Adds the record that a unit points to, if it is wanted; one that is gone or skipped is left
    /// out.
    fn add(
        &mut self,
        offset: QueueOffset,
        unit: Unit,
        is_wanted: &impl Fn(&[u8]) -> Option<bool>,
    ) -> Result<()> {
        let reader = &mut self.batch.reader;
        let found = reader.span(unit.position, unit.size);
        let span = match found {
            Err(error) if error.kind() == ErrorKind::Gone => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Invalid => return self.astray(error),
            other => other?,
        };
        let record = self.batch.reader.bytes(span);
        if !is_at_home(record, unit) || !self.is_numbered(record, offset) {
            return self.misplaced(span, unit);
        }
        match is_wanted(record) {
            Some(true) => {
                self.bytes += u64::from(unit.size);
                self.batch.entries.push(Entry { offset, position: unit.position, span });
                Ok(())
            }
            Some(false) => Ok(()),
            None => self.misplaced(span, unit),
        }
    }

    /// A unit that points behind the log's end, or across a segment's.
    fn astray(&self, error: Error) -> Result<()> {
        match self.engine.options.on_damage {
            OnDamage::Skip => Ok(()),
            _ => Err(Error::new(ErrorKind::Corrupt, "the queue points to where no record can be")
                .at(error.path().unwrap_or(&self.engine.root))
                .with_offset(error.offset().unwrap_or_default())),
        }
    }

    /// Every message of a queue has a unit: a gap has units that point to nothing.
    fn unwritten(&self, queue: &Queue, offset: QueueOffset) -> Result<()> {
        if self.engine.options.on_damage == OnDamage::Skip {
            return Ok(());
        }
        let dir = self.engine.root.join(QUEUES).join(queue.topic()).join(queue.id().to_string());
        let text = "the queue holds nothing where a message was";
        Err(Error::new(ErrorKind::Corrupt, text).at(&dir).with_offset(offset.get()))
    }

    /// Whether a record says the number that its place in the queue says.
    fn is_numbered(&self, record: &[u8], offset: QueueOffset) -> bool {
        let Some(queue) = self.batch.queue.as_ref().filter(|own| holds_its_own(own.topic())) else {
            return true;
        };
        let id = bytes::read_i32(record, 12).and_then(|id| u32::try_from(id).ok());
        let number =
            bytes::read_i64(record, QUEUE_OFFSET).and_then(|number| u64::try_from(number).ok());
        id == Some(queue.id()) && number == Some(offset.get())
    }

    fn misplaced(&self, span: Span, unit: Unit) -> Result<()> {
        if self.engine.options.on_damage == OnDamage::Skip {
            return Ok(());
        }
        let path = self.batch.reader.segment(span).path();
        Err(Error::new(ErrorKind::Corrupt, "the queue points to bytes that are not its record")
            .at(path)
            .with_offset(unit.position.get()))
    }
}

/// RocketMQ's light queues hold records of other topics.
fn holds_its_own(topic: &str) -> bool {
    !topic.starts_with("%LMQ%")
}

/// Two fields tell whether a record stands where a unit says, without decoding it.
pub(super) fn is_at_home(record: &[u8], unit: Unit) -> bool {
    let size = bytes::read_i32(record, 0).and_then(|size| u32::try_from(size).ok());
    let position = bytes::read_i64(record, 28).and_then(|position| u64::try_from(position).ok());
    size == Some(unit.size) && position == Some(unit.position.get())
}
