//! What cursors keep from being dropped.

use std::sync::Arc;

use crate::base::units::{Position, QueueOffset};
use crate::cursor::Entry;
use crate::derived::Queue;
use crate::error::Result;
use crate::retention::Holder;
use crate::tasks::Engine;

impl Engine {
    /// The cursors that hold segments, with the first record that each has not acknowledged,
    /// durably: a crash sets it back to there.
    #[must_use]
    pub fn holders(&self) -> Vec<Holder> {
        self.cursors.all().iter().filter_map(|entry| self.holder(entry)).collect()
    }

    fn holder(&self, entry: &Entry) -> Option<Holder> {
        let hold = entry.state().settings.hold?;
        let mut from = None;
        for queue in self.queues.of_topic(&entry.topic) {
            // What cannot be looked at is kept.
            let first = first_held(entry, &queue).unwrap_or(Some(self.log.start()));
            from = [from, first].into_iter().flatten().min();
        }
        Some(Holder {
            topic: Arc::clone(&entry.topic),
            cursor: Arc::clone(&entry.name),
            from: from?,
            max_age_ms: hold.max_age_ms,
            max_bytes: hold.max_bytes,
        })
    }
}

/// Where the first message of a queue begins that the cursor has not acknowledged.
fn first_held(entry: &Entry, queue: &Queue) -> Result<Option<Position>> {
    let state = entry.state();
    let from = match state.queues.get(&queue.id()) {
        Some(progress) => progress.committed(),
        None if state.settings.only_known => return Ok(None),
        None => 0,
    };
    drop(state);
    queue.position_from(QueueOffset::new(from))
}
