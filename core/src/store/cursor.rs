//! A named consumer: polls, acknowledges, commits.

use std::sync::Arc;
use std::time::Duration;

use crate::base::units::QueueOffset;
use crate::base::waiting::Answer;
use crate::cursor::{Entry, Hold, MAX_PENDING, Owned, Progress};
use crate::derived::Queue;
use crate::disk::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::store::delivery::Turn;
use crate::store::seek_time::offset_at;
use crate::store::{Boundary, CursorReport, Delivery, Lag, ReadLimits, Watch};
use crate::tasks::{Engine, Growing, TopicQueues, Wish};

/// How a cursor is opened. Its hold, and whether it is about all queues, are kept with it.
///
/// ```
/// use spanlog::CursorOptions;
/// let options = CursorOptions { visibility_ms: 5000, ..CursorOptions::default() };
/// assert_eq!(options.max_pending, 1024);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorOptions {
    /// The queues it is about; nothing for all of the topic's, also those to come.
    pub queues: Option<Vec<u32>>,
    /// Whether a cursor that is made now begins at the end of its queues and not at their start.
    /// Queues to come are read from their start in either case.
    pub from_end: bool,
    /// After how long a message that was not acknowledged comes again, in milliseconds by the
    /// store's clock, from 1.
    pub visibility_ms: u64,
    /// How many messages of one queue may wait to be acknowledged, from 1 to 3600.
    pub max_pending: usize,
    /// Whether it keeps segments from being dropped.
    pub hold: Option<Hold>,
}

impl Default for CursorOptions {
    fn default() -> Self {
        Self { queues: None, from_end: false, visibility_ms: 30_000, max_pending: 1024, hold: None }
    }
}

impl CursorOptions {
    pub(super) fn validate(&self) -> Result<()> {
        let most = MAX_PENDING as u64;
        let rows = [
            ("visibility_ms", self.visibility_ms, i64::MAX.unsigned_abs()),
            ("max_pending", self.max_pending as u64, most),
        ];
        if let Some((name, value, most)) =
            rows.into_iter().find(|&(_, value, most)| value == 0 || value > most)
        {
            let text = format!("{name} is {value}: it must be from 1 to {most}");
            return Err(Error::new(ErrorKind::Invalid, text).with_offset(value).with_limit(most));
        }
        self.hold.map_or(Ok(()), |hold| hold.validate())
    }
}

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// At the first message kept of every queue.
    Start,
    /// Behind the last message of every queue.
    End,
    /// At an offset of one queue.
    Offset {
        /// The queue.
        queue: u32,
        /// The offset, within what is kept or at its end.
        offset: QueueOffset,
    },
    /// At the first message of every queue that was stored at or after a time.
    Time {
        /// Milliseconds since 1970.
        time_ms: i64,
    },
}

/// A named consumer of a topic, open. Any thread may use it; threads that poll at once share its
/// messages. What was acknowledged is durable once [`Cursor::commit`] returned, and a store or
/// cursor that is closed commits; after a crash, what was not committed comes again.
///
/// ```
/// use std::time::Duration;
/// use spanlog::{CursorOptions, Message, Options, ReadLimits, Store};
/// let dir = tempfile::tempdir().unwrap();
/// let store = Store::open(dir.path(), Options::new().segment_len_bytes(1 << 20))?;
/// let cursor = store.cursor("billing", "orders", CursorOptions::default())?;
/// store.append(&Message::new("orders", 0, b"tea"))?;
/// let delivery = cursor.poll(ReadLimits::default(), Duration::from_secs(10))?;
/// for delivered in delivery.iter() {
///     assert_eq!(delivered.message.decode()?.body(), b"tea");
///     cursor.ack(delivered.queue, delivered.message.queue_offset())?;
/// }
/// cursor.commit()?;
/// assert_eq!(cursor.lag()?.messages, 0);
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Debug)]
pub struct Cursor {
    pub(super) engine: Arc<Engine>,
    pub(super) owned: Owned,
    pub(super) topic: Arc<TopicQueues>,
    pub(super) options: CursorOptions,
}

impl Cursor {
    fn entry(&self) -> &Arc<Entry> {
        self.owned.entry()
    }

    /// The cursor's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.entry().name
    }

    /// The cursor's topic.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.entry().topic
    }

    fn check_open(&self) -> Result<()> {
        match self.engine.is_closed() {
            false => Ok(()),
            true => Err(Error::new(ErrorKind::Closed, "the store was closed")),
        }
    }

    /// Its queues as they are now.
    fn queues(&self) -> Vec<Arc<Queue>> {
        let asked = self.options.queues.as_ref();
        let is_own = |queue: &&Arc<Queue>| asked.is_none_or(|own| own.contains(&queue.id()));
        self.topic.with(&self.engine.queues, |all| all.iter().filter(is_own).cloned().collect())
    }

    /// Messages of its queues, of all that have some in fair shares: those that are due again,
    /// then new ones. Returns as soon as there is one, or cleaning has overtaken the cursor, and
    /// with nothing when it has waited so long; zero looks and returns.
    ///
    /// # Errors
    /// `Invalid` for a limit of no messages; what reading says where no queue can be read;
    /// `Closed`.
    pub fn poll(&self, limits: ReadLimits, timeout: Duration) -> Result<Delivery> {
        if limits.max_messages == 0 {
            let error = Error::new(ErrorKind::Invalid, "max_messages is at least 1");
            return Err(error.with_offset(0));
        }
        let deadline = Deadline::after(timeout);
        loop {
            self.check_open()?;
            let seen = self.topic.extent(&self.engine.queues);
            let (delivery, due_ms) = self.collect(limits);
            let delivery = delivery.or_failure()?;
            let left = deadline.left();
            if !delivery.is_nothing() || left.is_zero() {
                return Ok(delivery);
            }
            self.sleep(seen, left.min(self.until(due_ms)))?;
        }
    }

    /// How long it is until something is due again.
    fn until(&self, due_ms: Option<i64>) -> Duration {
        let Some(due_ms) = due_ms else { return Duration::MAX };
        let left_ms = due_ms.saturating_sub(self.engine.clock.now_ms());
        // At least a tick: the clock may stand still.
        Duration::from_millis(u64::try_from(left_ms).unwrap_or(0).max(1))
    }

    fn sleep(&self, seen: u64, longest: Duration) -> Result<()> {
        let waiter = self.engine.enter(Wish::new(Growing::Topic(Arc::clone(&self.topic)), seen));
        let answer = waiter.wait(longest);
        self.engine.waiting.leave(&waiter);
        match answer {
            Answer::Over => self.check_open(),
            Answer::Told | Answer::NotYet => Ok(()),
        }
    }

    /// What can be delivered now, and when something is due again.
    fn collect(&self, limits: ReadLimits) -> (Delivery, Option<i64>) {
        let mut queues = self.queues();
        let mut state = self.entry().state();
        let state = &mut *state;
        let now_ms = self.engine.clock.now_ms();
        let mut delivery = Delivery::default();
        queues.retain(|queue| {
            let progress = state.queues.entry(queue.id()).or_default();
            delivery.overtake(queue.id(), progress, queue.bounds().min);
            self.has_some(queue, progress, now_ms)
        });
        // Begins behind the queue that was served last, so that each comes first in turn.
        let behind = state.served.map_or(0, |served| u64::from(served) + 1);
        let first = queues.partition_point(|queue| u64::from(queue.id()) < behind);
        queues.rotate_left(first);
        for (at, queue) in queues.iter().enumerate() {
            let Some(share) = delivery.share(limits, queues.len() - at) else { break };
            let before = delivery.len();
            let turn = Turn {
                engine: &self.engine,
                queue,
                progress: state.queues.get_mut(&queue.id()).expect("looked at above"),
                delivery: &mut delivery,
                limits: share,
                max_bytes: limits.max_bytes,
                now_ms,
                visibility_ms: self.visibility_ms(),
                max_pending: self.options.max_pending,
            };
            let outcome = turn.take();
            if delivery.len() > before {
                state.served = Some(queue.id());
            }
            if let Err(error) = outcome {
                delivery.fail(queue.id(), error);
            }
        }
        let due = state.queues.values_mut().filter_map(Progress::next_due_ms).min();
        (delivery, due)
    }

    fn visibility_ms(&self) -> i64 {
        i64::try_from(self.options.visibility_ms).expect("checked when the cursor was opened")
    }

    /// Whether a queue has something to deliver.
    fn has_some(&self, queue: &Queue, progress: &mut Progress, now_ms: i64) -> bool {
        let has_new = progress.next() < queue.bounds().max.get();
        has_new && progress.room(self.options.max_pending) > 0
            || progress.has_due(now_ms, self.visibility_ms())
    }

    /// Acknowledges one message that was delivered; doing so twice is fine. Any order will do.
    ///
    /// # Errors
    /// `Invalid` for one that was not delivered, `Closed`.
    pub fn ack(&self, queue: u32, offset: QueueOffset) -> Result<()> {
        self.acknowledge(queue, offset, &|progress| progress.acknowledge(offset.get()))
    }

    /// Acknowledges every message of a queue below `end`.
    ///
    /// # Errors
    /// `Invalid` if some of them were not delivered, `Closed`.
    pub fn ack_up_to(&self, queue: u32, end: QueueOffset) -> Result<()> {
        self.acknowledge(queue, end, &|progress| progress.acknowledge_below(end.get()))
    }

    fn acknowledge(
        &self,
        queue: u32,
        offset: QueueOffset,
        note: &dyn Fn(&mut Progress) -> Result<()>,
    ) -> Result<()> {
        self.check_open()?;
        let mut state = self.entry().state();
        let Some(progress) = state.queues.get_mut(&queue) else {
            let text = format!("nothing of queue {queue} was delivered");
            return Err(Error::new(ErrorKind::Invalid, text).with_offset(offset.get()));
        };
        let was_full = progress.room(self.options.max_pending) == 0;
        note(progress)?;
        let has_room = progress.room(self.options.max_pending) > 0;
        drop(state);
        if was_full && has_room {
            self.topic.nudge(&self.engine);
        }
        Ok(())
    }

    /// Makes what was acknowledged so far durable, with one flush of the cursor's file.
    ///
    /// # Errors
    /// `Closed`, or what the disk says; then it is not durable, and may be tried again.
    pub fn commit(&self) -> Result<()> {
        self.check_open()?;
        self.entry().commit(self.engine.disk.as_ref())?;
        // A store that was closed meanwhile has committed, or says why it has not.
        self.check_open()
    }

    /// Goes on elsewhere; what was delivered and not acknowledged is forgotten. Durable with the
    /// next commit.
    ///
    /// # Errors
    /// `Gone` below what is kept and `Invalid` behind the end, each with the bound as its limit:
    /// the cursor stays where it was. `Closed`.
    pub fn seek(&self, seek: Seek) -> Result<()> {
        self.check_open()?;
        let found = targets(&self.engine, self.topic(), &self.queues(), seek)?;
        let mut state = self.entry().state();
        for (queue, offset) in found {
            state.queues.insert(queue, Progress::new(offset));
        }
        drop(state);
        self.topic.nudge(&self.engine);
        Ok(())
    }

    /// What is not acknowledged, over all its queues.
    ///
    /// # Errors
    /// What reading says, `Closed`.
    pub fn lag(&self) -> Result<Lag> {
        Ok(self.report()?.lag())
    }

    /// Where it stands in each queue.
    ///
    /// # Errors
    /// As [`Cursor::lag`].
    pub fn report(&self) -> Result<CursorReport> {
        self.check_open()?;
        CursorReport::of(&self.engine, self.entry())
    }

    /// A watch over its topic: told when there are new messages. It is not told when a message
    /// is due again: see [`Cursor::next_due_ms`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn watch(&self) -> Result<Watch> {
        self.check_open()?;
        let wish = Wish::new(Growing::Topic(Arc::clone(&self.topic)), 0);
        Ok(Watch::new(&self.engine, wish, None))
    }

    /// When the next message that was not acknowledged is due again, in milliseconds since 1970:
    /// for hosts that wait by a descriptor and a timer of their own.
    #[must_use]
    pub fn next_due_ms(&self) -> Option<i64> {
        let mut state = self.entry().state();
        state.queues.values_mut().filter_map(Progress::next_due_ms).min()
    }

    /// Commits and lets others open the cursor.
    ///
    /// # Errors
    /// As [`Cursor::commit`]; it is closed all the same.
    pub fn close(self) -> Result<()> {
        self.commit()
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.entry().state().queues.values_mut().for_each(Progress::release);
        // After the store was closed there is nothing to write: closing it has.
        if let Err(error) = self.commit()
            && error.kind() != ErrorKind::Closed
        {
            log::warn!("cursor {} was not written down: {error}", self.name());
        }
    }
}

/// The offsets that a seek leads to.
pub(super) fn targets(
    engine: &Engine,
    topic: &str,
    queues: &[Arc<Queue>],
    seek: Seek,
) -> Result<Vec<(u32, u64)>> {
    let each = |offset: &dyn Fn(&Queue) -> Result<QueueOffset>| {
        let target = |queue: &Arc<Queue>| Ok((queue.id(), offset(queue)?.get()));
        queues.iter().map(target).collect()
    };
    match seek {
        Seek::Start => each(&|queue| Ok(queue.bounds().min)),
        Seek::End => each(&|queue| Ok(queue.bounds().max)),
        Seek::Time { time_ms } => {
            each(&|queue| offset_at(engine, topic, queue.id(), time_ms, Boundary::Lower))
        }
        Seek::Offset { queue, offset } => {
            let found = engine
                .queues
                .find(topic, queue)
                .filter(|found| queues.iter().any(|own| own.id() == found.id()));
            let found = found.ok_or_else(|| {
                let text = format!("topic {topic} has no queue {queue} of the cursor's");
                Error::new(ErrorKind::Invalid, text)
            })?;
            check_within(found, offset)?;
            Ok(vec![(queue, offset.get())])
        }
    }
}

fn check_within(queue: &Queue, offset: QueueOffset) -> Result<()> {
    let bounds = queue.bounds();
    let (kind, text, limit) = match offset {
        offset if offset < bounds.min => {
            (ErrorKind::Gone, "retention dropped that offset", bounds.min)
        }
        offset if offset > bounds.max => {
            (ErrorKind::Invalid, "the offset lies behind the queue's end", bounds.max)
        }
        _ => return Ok(()),
    };
    Err(Error::new(kind, text).with_offset(offset.get()).with_limit(limit.get()))
}
