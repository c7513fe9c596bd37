//! Waiting for something to read: with a deadline, or beside a host's own descriptors.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::units::{Position, QueueOffset};
use crate::base::waiting::{Answer, Waiter};
use crate::disk::{BorrowedFd, Deadline};
use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::store::follow::Follower;
use crate::tasks::{Engine, Growing, TopicQueues, Wish};

/// How often a store opened for reading looks what the writer did while somebody waits.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched<'a> {
    /// Messages of one queue; it need not exist yet.
    Queue {
        /// The topic.
        topic: &'a str,
        /// The queue's number.
        queue: u32,
    },
    /// Messages of any queue of a topic, also of queues to come.
    Topic {
        /// The topic.
        topic: &'a str,
    },
    /// Records of any topic, at the end of the log.
    Tail,
}

/// Tells whether there is more than was seen. A new watch has seen nothing, so it is told at once
/// if there is anything at all: [`Watch::clear`] it, read on until there is no more, and wait.
/// What comes between the clearing and the waiting is not missed.
///
/// Any number of them costs no thread. It may be used from any thread, and outlive the store.
///
/// ```
/// use std::time::Duration;
/// use spanlog::{Message, Options, Store, Watched};
/// let dir = tempfile::tempdir().unwrap();
/// let store = Store::open(dir.path(), Options::new().segment_len_bytes(1 << 20))?;
/// let watch = store.watch(Watched::Topic { topic: "orders" })?;
/// assert!(!watch.wait(Duration::ZERO)?);
/// store.append(&Message::new("orders", 3, b"tea"))?;
/// assert!(watch.wait(Duration::from_secs(10))?);
/// watch.clear();
/// assert!(!watch.wait(Duration::ZERO)?);
/// # Ok::<(), spanlog::Error>(())
/// ```
pub struct Watch {
    engine: Arc<Engine>,
    waiter: Arc<Waiter<Wish>>,
    /// Looks again, in a store opened for reading.
    follower: Option<Arc<Follower>>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.waiter).finish()
    }
}

impl Watch {
    pub(super) fn new(engine: &Arc<Engine>, wish: Wish, follower: Option<&Arc<Follower>>) -> Self {
        let waiter = engine.enter(wish);
        Self { engine: Arc::clone(engine), waiter, follower: follower.cloned() }
    }

    /// Returns true as soon as there is something that was not seen, and false when it has
    /// waited so long: zero looks and returns. Until [`Watch::clear`] it returns true at once.
    /// In a store without background threads, whoever runs the index step wakes it. In a store
    /// opened for reading it looks again every few milliseconds: see [`Store::refresh`].
    ///
    /// # Errors
    /// `Closed`, also when the store is closed while it waits.
    pub fn wait(&self, timeout: Duration) -> Result<bool> {
        let Some(follower) = &self.follower else { return told(self.waiter.wait(timeout)) };
        let deadline = Deadline::after(timeout);
        loop {
            follower.look()?;
            let left = deadline.left();
            if told(self.waiter.wait(left.min(LOOK_AGAIN)))? {
                return Ok(true);
            }
            if left <= LOOK_AGAIN {
                return Ok(false);
            }
        }
    }

    /// A descriptor (`eventfd`) that is readable while there is something that was not seen, and
    /// once the store was closed: for hosts that wait with `poll` or `epoll`. It is the watch's:
    /// poll it and do nothing else with it.
    ///
    /// In a store opened for reading, the first one starts a thread that looks every few
    /// milliseconds what the writer did; without background threads, [`Store::refresh`] makes it
    /// readable.
    ///
    /// # Errors
    /// `Io` if the system gives none, or no thread.
    pub fn event_fd(&self) -> Result<BorrowedFd<'_>> {
        if let Some(follower) = &self.follower {
            follower.look_by_itself()?;
        }
        let event = self.engine.event_of(&self.waiter)?;
        self.engine.index_bell.ring();
        Ok(event.descriptor())
    }

    /// Everything that is there now has been seen, or is about to be read.
    pub fn clear(&self) {
        self.engine.rearm(&self.waiter);
        // It sleeps while nobody waits.
        self.engine.index_bell.ring();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.engine.waiting.leave(&self.waiter);
    }
}

fn told(answer: Answer) -> Result<bool> {
    match answer {
        Answer::Told => Ok(true),
        Answer::NotYet => Ok(false),
        Answer::Over => Err(Error::new(ErrorKind::Closed, "the store was closed")),
    }
}

impl Store {
    /// Waits until a message at or after `from` can be read from the queue, which need not exist
    /// yet. True when there is one, false when it has waited so long; zero looks and returns.
    /// True as well where `from` was dropped by retention: reading there tells so.
    ///
    /// Any number of threads may wait. An append wakes them as soon as it can be read: with group
    /// durability when it is durable. In a store without background threads, whoever runs the
    /// index step wakes them.
    ///
    /// # Errors
    /// `Closed`, also when the store is closed meanwhile.
    pub fn wait(
        &self,
        topic: &str,
        queue: u32,
        from: QueueOffset,
        timeout: Duration,
    ) -> Result<bool> {
        self.wait_for(Growing::Queue(topic.into(), queue), from.get(), timeout)
    }

    /// Waits until the log, as readers see it, goes on behind `after`, as [`Store::wait`] does
    /// for a queue.
    ///
    /// # Errors
    /// As [`Store::wait`].
    pub fn wait_appended(&self, after: Position, timeout: Duration) -> Result<bool> {
        self.wait_for(Growing::Tail, after.get(), timeout)
    }

    fn wait_for(&self, growing: Growing, seen: u64, timeout: Duration) -> Result<bool> {
        self.check_open()?;
        let wish = Wish::new(growing, seen);
        if wish.is_met(&self.engine) {
            return Ok(true);
        }
        Watch::new(&self.engine, wish, self.follower.as_ref()).wait(timeout)
    }

    /// A watch over a queue, a topic or the tail of the log.
    ///
    /// # Errors
    /// `Closed`.
    pub fn watch(&self, watched: Watched<'_>) -> Result<Watch> {
        self.check_open()?;
        let growing = match watched {
            Watched::Queue { topic, queue } => Growing::Queue(topic.into(), queue),
            Watched::Topic { topic } => Growing::Topic(Arc::new(TopicQueues::new(topic))),
            Watched::Tail => Growing::Tail,
        };
        Ok(Watch::new(&self.engine, Wish::new(growing, 0), self.follower.as_ref()))
    }
}
