//! Several queues as one stream, by position: the order in which messages were appended.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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
    /// So many messages before the end of all queues together.
    Last(u64),
}

impl Begin {
    /// Where the queue begins, and how many of its messages there are from there on, if that
    /// counts.
    fn offset(
        self,
        store: &Store,
        row: &QueueReport,
        filter: &TagFilter,
    ) -> Result<(QueueOffset, u64)> {
        match self {
            Self::First => Ok((row.bounds.min, 0)),
            Self::Offset(offset) => Ok((QueueOffset::new(offset), 0)),
            Self::Last(0) => Ok((row.bounds.max, 0)),
            Self::Last(last) if filter.is_all() => {
                let first = before(row, last);
                Ok((first, row.bounds.max.since(first)))
            }
            Self::Last(last) => last_wanted(store, row, filter, last),
            Self::Time(time) => {
                Ok((store.offset_at(&row.topic, row.queue, time, Boundary::Lower)?, 0))
            }
        }
    }
}

/// So many messages before the queue's end, or its first.
fn before(row: &QueueReport, count: u64) -> QueueOffset {
    row.bounds.min.max(QueueOffset::new(row.bounds.max.get().saturating_sub(count)))
}

/// The `last` messages of a queue that the filter wants: where they begin, and how many there are.
fn last_wanted(
    store: &Store,
    row: &QueueReport,
    filter: &TagFilter,
    last: u64,
) -> Result<(QueueOffset, u64)> {
    let mut width = last.max(64);
    loop {
        let from = before(row, width);
        let found = wanted(store, row, filter, from, last)?;
        if found.len() as u64 >= last || from == row.bounds.min {
            return Ok((found.front().copied().unwrap_or(row.bounds.max), found.len() as u64));
        }
        width = width.saturating_mul(8);
    }
}

/// The offsets of the last messages from `from` on that the filter wants, at most so many.
fn wanted(
    store: &Store,
    row: &QueueReport,
    filter: &TagFilter,
    mut from: QueueOffset,
    most: u64,
) -> Result<VecDeque<QueueOffset>> {
    let mut found = VecDeque::new();
    while from < row.bounds.max {
        let limits = ReadLimits::default();
        let batch = store.read_filtered(&row.topic, row.queue, from, filter, limits)?;
        for stored in batch.iter().filter(|stored| stored.queue_offset() < row.bounds.max) {
            found.push_back(stored.queue_offset());
            if found.len() as u64 > most {
                found.pop_front();
            }
        }
        if batch.next() <= from {
            break;
        }
        from = batch.next();
    }
    Ok(found)
}

/// A stream over several queues.
#[derive(Debug)]
pub struct Merge<'a> {
    store: &'a Store,
    filter: &'a TagFilter,
    cursors: Vec<Cursor>,
    /// The first message of each queue that has one.
    heads: BinaryHeap<Reverse<(Position, usize)>>,
    /// Queues whose next messages are not fetched yet.
    empty: Vec<usize>,
    is_checked: bool,
}

#[derive(Debug)]
struct Cursor {
    topic: String,
    queue: u32,
    next: QueueOffset,
    batch: Option<Batch>,
    /// Messages of the batch that were given out.
    given: usize,
}

impl<'a> Merge<'a> {
    /// A stream over no queues yet, of messages that the filter wants. With `is_checked`,
    /// checksums are checked, and what cannot be read is a step of its own rather than the end.
    pub fn new(store: &'a Store, filter: &'a TagFilter, is_checked: bool) -> Self {
        let (cursors, heads, empty) = (Vec::new(), BinaryHeap::new(), Vec::new());
        Self { store, filter, cursors, heads, empty, is_checked }
    }

    /// Begins the queues; says how many of the first messages are not asked for.
    ///
    /// # Errors
    /// What the store says where a queue begins.
    pub fn begin(&mut self, queues: &[QueueReport], begin: Begin) -> Result<u64> {
        let mut all = 0;
        for row in queues {
            let (next, count) = begin.offset(self.store, row, self.filter)?;
            all += count;
            self.add(row, next);
        }
        match begin {
            Begin::Last(last) => Ok(all.saturating_sub(last)),
            _ => Ok(0),
        }
    }

    /// Looks again into queues that were at their end, and into new ones from their start.
    pub fn go_on(&mut self, queues: Vec<QueueReport>) {
        for row in queues {
            let is_known = |cursor: &Cursor| cursor.topic == row.topic && cursor.queue == row.queue;
            if !self.cursors.iter().any(is_known) {
                self.add(&row, row.bounds.min);
            }
        }
        let has_head = |at: &usize| self.heads.iter().any(|Reverse((_, other))| other == at);
        self.empty = (0..self.cursors.len()).filter(|at| !has_head(at)).collect();
    }

    fn add(&mut self, row: &QueueReport, next: QueueOffset) {
        let (topic, queue) = (row.topic.clone(), row.queue);
        self.empty.push(self.cursors.len());
        self.cursors.push(Cursor { topic, queue, next, batch: None, given: 0 });
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

impl Cursor {
    /// The first message that was not given out, of those fetched.
    fn head(&self) -> Option<Position> {
        let batch = self.batch.as_ref()?;
        Some(batch.get(self.given)?.position())
    }

    /// Reads on, up to where the queue ended when reading began.
    fn fetch(&mut self, store: &Store, filter: &TagFilter) -> Result<Option<Position>> {
        loop {
            self.batch = None;
            let (topic, queue) = (&self.topic, self.queue);
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
