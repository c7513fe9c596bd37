//! Several queues as one stream, by position: the order in which messages were appended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use spanlog::{
    Batch, Boundary, Error, ErrorKind, MessageView, Position, QueueOffset, QueueReport, ReadLimits,
    ReadStatus, Result, Store, TagFilter,
};

/// What comes next.
pub enum Step<T> {
    /// A message, and what was made of it.
    Message(T),
    /// A message that cannot be read; the stream goes on behind it.
    Failed(Error),
    /// No more.
    End,
}

/// Where each queue begins.
#[derive(Clone, Copy, Debug)]
pub enum Begin {
    /// With its first message.
    First,
    /// At this offset.
    Offset(u64),
    /// With the first message that was stored at this time or later, in milliseconds.
    Time(i64),
}

impl Begin {
    fn offset(self, store: &Store, row: &QueueReport) -> Result<QueueOffset> {
        match self {
            Self::First => Ok(row.bounds.min),
            Self::Offset(offset) => Ok(QueueOffset::new(offset)),
            Self::Time(time) => store.offset_at(&row.topic, row.queue, time, Boundary::Lower),
        }
    }
}

/// A stream over several queues.
#[derive(Debug)]
pub struct Merge<'a> {
    store: &'a Store,
    filter: &'a TagFilter,
    cursors: Vec<Cursor<'a>>,
    /// The first message of each queue that has one.
    heads: BinaryHeap<Reverse<(Position, usize)>>,
    /// Queues whose next messages are not fetched yet.
    empty: Vec<usize>,
    is_checked: bool,
}

#[derive(Debug)]
struct Cursor<'a> {
    row: &'a QueueReport,
    next: QueueOffset,
    batch: Option<Batch>,
    /// Messages of the batch that were given out.
    given: usize,
}

impl<'a> Merge<'a> {
    /// Only messages that the filter wants. With `is_checked`, checksums are checked, and what
    /// cannot be read is a step of its own rather than the end.
    ///
    /// # Errors
    /// What the store says where a queue begins.
    pub fn new(
        store: &'a Store,
        queues: &'a [QueueReport],
        begin: Begin,
        filter: &'a TagFilter,
        is_checked: bool,
    ) -> Result<Self> {
        let cursor = |row: &'a QueueReport| {
            let next = begin.offset(store, row)?;
            Ok(Cursor { row, next, batch: None, given: 0 })
        };
        let cursors: Vec<_> = queues.iter().map(cursor).collect::<Result<_>>()?;
        let empty = (0..cursors.len()).collect();
        Ok(Self { store, filter, cursors, heads: BinaryHeap::new(), empty, is_checked })
    }

    /// Gives the next message to `visit`.
    ///
    /// # Errors
    /// What the store says of a message that cannot be read.
    pub fn next<T>(&mut self, visit: impl FnOnce(&MessageView<'_>) -> T) -> Result<Step<T>> {
        while let Some(&at) = self.empty.last() {
            let cursor = &mut self.cursors[at];
            let head = match cursor.fetch(self.store, self.filter) {
                Ok(head) => head,
                Err(error) if self.is_checked && is_local(&error) => {
                    cursor.next += 1;
                    return Ok(Step::Failed(error));
                }
                Err(error) => return Err(error),
            };
            self.empty.pop();
            self.heads.extend(head.map(|position| Reverse((position, at))));
        }
        let Some(Reverse((_, at))) = self.heads.pop() else { return Ok(Step::End) };
        self.take(at, visit)
    }

    /// Gives out the first message of a queue.
    fn take<T>(&mut self, at: usize, visit: impl FnOnce(&MessageView<'_>) -> T) -> Result<Step<T>> {
        let cursor = &mut self.cursors[at];
        let batch = cursor.batch.as_ref().expect("a queue with a head has a batch");
        let stored = batch.get(cursor.given).expect("the head is in the batch");
        let decoded = if self.is_checked { stored.decode_verified() } else { stored.decode() };
        let step = match decoded {
            Ok(view) => Step::Message(visit(&view)),
            Err(error) if self.is_checked => Step::Failed(error),
            Err(error) => return Err(error),
        };
        cursor.given += 1;
        match cursor.head() {
            Some(position) => self.heads.push(Reverse((position, at))),
            None => self.empty.push(at),
        }
        Ok(step)
    }
}

/// Whether an error is of one message and not of the store.
fn is_local(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Offline)
}

impl Cursor<'_> {
    /// The first message that was not given out, of those fetched.
    fn head(&self) -> Option<Position> {
        let batch = self.batch.as_ref()?;
        Some(batch.get(self.given)?.position())
    }

    /// Reads on, up to where the queue ended when reading began.
    fn fetch(&mut self, store: &Store, filter: &TagFilter) -> Result<Option<Position>> {
        loop {
            self.batch = None;
            let (topic, queue) = (&self.row.topic, self.row.queue);
            let limits = ReadLimits::default();
            let batch = store.read_filtered(topic, queue, self.next, filter, limits)?;
            let asked = std::mem::replace(&mut self.next, batch.next());
            let bounds = batch.bounds();
            match batch.status() {
                ReadStatus::Found => {
                    self.batch = Some(batch);
                    self.given = 0;
                    return Ok(self.head());
                }
                ReadStatus::TooSmall => {
                    let min = bounds.min;
                    log::warn!("{topic}/{queue}: {asked} to {min} are gone, going on at {min}");
                }
                ReadStatus::Removed | ReadStatus::NoMatch => {}
                ReadStatus::TooLarge => {
                    log::warn!("{topic}/{queue}: {asked} is behind the end, {}", bounds.max);
                    return Ok(None);
                }
                ReadStatus::NoQueue | ReadStatus::Empty | ReadStatus::AtEnd => return Ok(None),
            }
        }
    }
}
