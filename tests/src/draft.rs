//! Messages that a simulated appender makes up, and how the model comes to know them.

use fastrand::Rng;
use spanlog::Message;
use spanlog::record::{Encoding, UniqueIds, encode, sys_flag};

use crate::model::Entry;
use crate::world::World;

/// Messages of one queue on their way into the store.
pub struct Draft {
    /// Which of the model's queues.
    pub line: usize,
    bodies: Vec<Vec<u8>>,
    tag: Option<&'static str>,
    keys: &'static [&'static str],
    /// They are of a transaction that is not committed: no offset is theirs.
    pub prepared: bool,
}

/// What messages are found by: of `Aa` and `BB` only the texts differ, not their hashes.
const KEYS: [&[&str]; 4] = [&[], &["k"], &["k", "Aa"], &["BB"]];

impl Draft {
    /// Draws so many messages for one queue.
    pub fn draw(world: &mut World, count: usize) -> Self {
        let rng = &mut world.rng;
        let line = rng.usize(..world.model.lines.len());
        let serial = world.model.log.len();
        let body = |rng: &mut Rng, at: usize| {
            let len = if rng.u8(..) < 20 { rng.usize(..3500) } else { rng.usize(..600) };
            let mut body = format!("{}-{at}-{:x}|", serial, rng.u64(..)).into_bytes();
            body.resize(body.len().max(len), b'a' + (serial % 26) as u8);
            body
        };
        let bodies = (0..count).map(|at| body(rng, at)).collect();
        let tag = [None, Some("TagA"), Some("BB")][rng.usize(..3)];
        let keys = KEYS[rng.usize(..KEYS.len())];
        Self { line, bodies, tag, keys, prepared: rng.u8(..) < 12 }
    }

    /// The messages, as the store takes them.
    pub fn messages<'a>(&'a self, lines: &'a [(String, u32)]) -> Vec<Message<'a>> {
        let (topic, queue) = &lines[self.line];
        let message = |body: &'a Vec<u8>| {
            let mut message = Message::new(topic, *queue, body);
            (message.tags, message.keys) = (self.tag, self.keys);
            if self.prepared {
                message.sys_flag = sys_flag::PREPARED;
            }
            message
        };
        self.bodies.iter().map(message).collect()
    }

    /// Length of each record.
    pub fn sizes(&self, world: &World) -> Vec<u64> {
        let host = world.options.store_host;
        let id = UniqueIds::new(host.ip(), 1, 1, 0).next(0);
        let encoding = Encoding {
            record_checksum: true,
            max_body_bytes: 1 << 20,
            max_record_bytes: 1 << 20,
            store_host: host,
        };
        let mut out = Vec::new();
        let messages = self.messages(&world.model.lines);
        let size = |message: &Message<'_>| encode(message, &encoding, &id, &mut out).expect("fits");
        messages.iter().map(size).map(|len| len as u64).collect()
    }

    /// Adds the messages to the model, from `position` on.
    pub fn enter(&self, world: &mut World, mut position: u64, sizes: &[u64], certain: bool) {
        use spanlog::Clock;
        let store_ms = world.clock.now_ms();
        for (body, &size) in self.bodies.iter().zip(sizes) {
            let offset = (!self.prepared).then(|| world.model.next[self.line]);
            let (line, body, tag, keys) = (self.line, body.clone(), self.tag, self.keys);
            let entry = Entry { line, offset, position, size, body, tag, keys, store_ms, certain };
            world.model.push(entry);
            position += size;
        }
    }
}
