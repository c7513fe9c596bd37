//! What readers wait for, and who tells them.
//!
//! Everything is told by whoever moves `indexed`: the index step, or a caller that catches up.
//! An appender only makes sure that the step runs at once while somebody waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::base::sync::Mutex;
use crate::base::waiting::Waiter;
use crate::derived::{Queue, Queues};
use crate::disk::Event;
use crate::error::Result;
use crate::tasks::Engine;

/// Something that grows.
#[derive(Debug)]
pub enum Growing {
    /// The messages of one queue that can be read; it need not exist yet.
    Queue(Box<str>, u32),
    /// Those of all queues of a topic, also of queues to come.
    Topic(Arc<TopicQueues>),
    /// The log, as far as readers see it.
    Tail,
}

/// The queues of a topic, looked up again when a queue was added to the store.
#[derive(Debug)]
pub struct TopicQueues {
    topic: Box<str>,
    known: Mutex<(u32, Vec<Arc<Queue>>)>,
    /// Counts what lets a waiter go on besides messages.
    nudges: AtomicU64,
}

/// One wish: that something grows beyond what was seen of it.
#[derive(Debug)]
pub struct Wish {
    growing: Growing,
    seen: AtomicU64,
    /// Readable while the wish is met; made when somebody asks for it.
    event: OnceLock<Event>,
}

impl TopicQueues {
    /// The queues of `topic`.
    #[must_use]
    pub fn new(topic: &str) -> Self {
        Self { topic: topic.into(), known: Mutex::default(), nudges: AtomicU64::new(0) }
    }

    /// Lets those who wait look again.
    pub fn nudge(&self, engine: &Engine) {
        self.nudges.fetch_add(1, Ordering::Relaxed);
        engine.tell_waiting();
    }

    /// How many messages they ever had, and how often somebody nudged: it never falls.
    #[must_use]
    pub fn extent(&self, queues: &Queues) -> u64 {
        let end = |queue: &Arc<Queue>| queue.bounds().max.get();
        let ends: u64 = self.with(queues, |all| all.iter().map(end).sum());
        ends + self.nudges.load(Ordering::Relaxed)
    }

    /// Gives the queues to `visit`, in the order of their numbers.
    pub fn with<T>(&self, queues: &Queues, visit: impl FnOnce(&[Arc<Queue>]) -> T) -> T {
        let mut known = self.known.lock();
        let count = queues.count();
        if known.0 != count {
            *known = (count, queues.of_topic(&self.topic));
        }
        visit(&known.1)
    }
}

impl Growing {
    /// How far it has grown: a number that never falls.
    fn extent(&self, engine: &Engine) -> u64 {
        let end = |queue: &Arc<Queue>| queue.bounds().max.get();
        match self {
            Self::Queue(topic, queue) => engine.queues.find(topic, *queue).map_or(0, end),
            Self::Topic(topic) => topic.extent(&engine.queues),
            Self::Tail => engine.log.visible().end().get(),
        }
    }
}

impl Wish {
    /// That `growing` grows beyond `seen`.
    #[must_use]
    pub fn new(growing: Growing, seen: u64) -> Self {
        Self { growing, seen: AtomicU64::new(seen), event: OnceLock::new() }
    }

    /// Whether it is met.
    #[must_use]
    pub fn is_met(&self, engine: &Engine) -> bool {
        self.growing.extent(engine) > self.seen.load(Ordering::Relaxed)
    }

    /// Everything so far has been seen.
    fn see(&self, engine: &Engine) {
        self.seen.store(self.growing.extent(engine), Ordering::Relaxed);
        self.event.get().inspect(|event| event.lower());
    }

    fn raise(&self) {
        self.event.get().inspect(|event| event.raise());
    }
}

impl Engine {
    /// Readers see more, or will once the index step has run: it runs at once if somebody waits,
    /// and else when enough has gathered.
    #[inline]
    pub fn note_append(&self) {
        match self.waiting.is_any() {
            false => self.index_bell.ring(),
            true => self.index_bell.ring_loudly(),
        }
    }

    /// Tells everybody whose wish is met now.
    pub fn tell_waiting(&self) {
        self.waiting.tell(|wish| self.is_met(wish));
    }

    /// Enters `wish`, which is told if it is met already.
    pub fn enter(&self, wish: Wish) -> Arc<Waiter<Wish>> {
        let waiter = self.waiting.enter(wish);
        self.look_for(&waiter);
        waiter
    }

    /// Lets `waiter` wait for more than there is now.
    pub fn rearm(&self, waiter: &Waiter<Wish>) {
        self.waiting.arm(waiter, |wish| wish.see(self));
        self.look_for(waiter);
    }

    /// The descriptor of a wish, readable while it is met.
    ///
    /// # Errors
    /// `Io` if the system gives none.
    pub fn event_of<'a>(&self, waiter: &'a Waiter<Wish>) -> Result<&'a Event> {
        let wish = waiter.what();
        if wish.event.get().is_none() {
            let made = Event::new()?;
            // Another thread may have been faster; its own serves as well.
            let event = wish.event.get_or_init(|| made);
            if wish.is_met(self) || self.is_closed() {
                event.raise();
            }
        }
        Ok(wish.event.get().expect("made above"))
    }

    /// The second half of the rule in [`crate::base::waiting`]: who has entered meets the
    /// appender, looks, and has indexed what an appender passed by that did not see it yet.
    fn look_for(&self, waiter: &Waiter<Wish>) {
        self.log.wait_for_appends();
        self.waiting.tell_one(waiter, |wish| self.is_met(wish));
        if self.indexed.load() < self.log.visible().end() {
            self.index_bell.ring_loudly();
        }
    }

    fn is_met(&self, wish: &Wish) -> bool {
        let is_met = wish.is_met(self);
        if is_met {
            wish.raise();
        }
        is_met
    }

    /// Wakes everybody: the store closes.
    pub fn end_waiting(&self) {
        self.waiting.end(Wish::raise);
    }
}
