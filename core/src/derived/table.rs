//! The queues of a store by topic and number, found without a lock.
//!
//! Appenders and the index step look up a queue for every message, on different cores. A lock for
//! reading and a counted pointer cost two changes of a shared cache line each, and those lines
//! then travel between the cores for every message: a third of the time of a small append. Here
//! a look-up only loads: chains grow at their ends and lose nothing before the table is dropped.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHasher;

use crate::base::sync::Mutex;
use crate::derived::queue::Queue;

/// Chains; 64 KiB of memory. Stores have some thousand queues at most.
const CHAINS: usize = 4096;

/// All queues of a store. Any thread may look one up or add one.
#[derive(Debug)]
pub(super) struct Table {
    chains: Box<[Link]>,
    /// Held by whoever adds a queue; how many were added.
    adding: Mutex<u32>,
}

type Link = OnceLock<Box<Node>>;

#[derive(Debug)]
struct Node {
    queue: Arc<Queue>,
    /// The queue was forgotten; it is not found any more.
    is_gone: AtomicBool,
    next: Link,
}

impl Table {
    /// No queues.
    pub(super) fn new() -> Self {
        let chains = (0..CHAINS).map(|_| Link::new()).collect();
        Self { chains, adding: Mutex::new(0) }
    }

    fn chain(&self, topic: &str, id: u32) -> &Link {
        let mut hasher = FxHasher::default();
        (topic, id).hash(&mut hasher);
        &self.chains[hasher.finish() as usize % CHAINS]
    }

    /// The queue, if it is known.
    pub(super) fn find(&self, topic: &str, id: u32) -> Option<&Arc<Queue>> {
        let mut link = self.chain(topic, id);
        while let Some(node) = link.get() {
            if node.is(topic, id) {
                return Some(&node.queue);
            }
            link = &node.next;
        }
        None
    }

    /// The queue, made with `make` if it is not known.
    pub(super) fn find_or_add(
        &self,
        topic: &str,
        id: u32,
        make: impl FnOnce() -> Queue,
    ) -> &Arc<Queue> {
        if let Some(queue) = self.find(topic, id) {
            return queue;
        }
        let mut added = self.adding.lock();
        match self.find(topic, id) {
            Some(queue) => queue,
            None => self.append(make(), &mut added),
        }
    }

    /// How many queues were ever added.
    pub(super) fn added(&self) -> u32 {
        *self.adding.lock()
    }

    /// Adds `queue` in the place of the one of that name.
    pub(super) fn replace(&self, queue: Queue) {
        let mut added = self.adding.lock();
        let known = self.nodes().find(|node| node.is(queue.topic(), queue.id()));
        known.inspect(|node| node.is_gone.store(true, Ordering::Release));
        self.append(queue, &mut added);
    }

    /// Adds `queue` at the end of its chain; the caller holds `adding`.
    fn append(&self, queue: Queue, added: &mut u32) -> &Arc<Queue> {
        let queue = queue.numbered(*added);
        *added += 1;
        let mut link = self.chain(queue.topic(), queue.id());
        while let Some(node) = link.get() {
            link = &node.next;
        }
        let node =
            Node { queue: Arc::new(queue), is_gone: AtomicBool::new(false), next: Link::new() };
        &link.get_or_init(|| Box::new(node)).queue
    }

    /// Forgets every queue.
    pub(super) fn clear(&self) {
        let _alone = self.adding.lock();
        self.nodes().for_each(|node| node.is_gone.store(true, Ordering::Release));
    }

    /// All queues, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Queue>> {
        let known = self.nodes().filter(|node| !node.is_gone.load(Ordering::Acquire));
        known.map(|node| &node.queue)
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        let first = self.chains.iter().filter_map(Link::get);
        first
            .flat_map(|node| std::iter::successors(Some(node), |node| node.next.get()))
            .map(AsRef::as_ref)
    }
}

impl Node {
    fn is(&self, topic: &str, id: u32) -> bool {
        self.queue.id() == id
            && self.queue.topic() == topic
            && !self.is_gone.load(Ordering::Acquire)
    }
}
