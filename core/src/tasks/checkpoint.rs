//! The marks on disk follow what is durable.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::checkpoint::{Ledger, encode_catalogue};
use crate::derived::Catalogue;
use crate::directory::OWN_DIR;
use crate::error::{ErrorKind, Result};
use crate::tasks::{Engine, Next, Step};

/// Name of the file that holds the queues' offsets.
pub const LEDGER: &str = "queues";

/// Name of the file that says how far the key index goes.
pub const CATALOGUE: &str = "keys";

/// Makes log and queues durable up to one position and writes that down, for us and RocketMQ.
#[derive(Debug)]
pub struct CheckpointStep {
    engine: Arc<Engine>,
    /// What was written last: nothing is written while nothing moves.
    written: Option<(u64, u64, u64)>,
}

impl CheckpointStep {
    /// A step that has written nothing yet.
    #[must_use]
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine, written: None }
    }

    /// Writes every mark as of now.
    ///
    /// # Errors
    /// What the disk says; the marks before still stand then.
    pub fn write(engine: &Engine, clean: bool) -> Result<()> {
        // Cleaning writes checkpoints too: the older of two must not be written last, nor one be
        // written before the flushes that the other began are done.
        let _alone = engine.checkpointing.lock();
        // The position first, then the offsets, then the flushes: whatever a mark covers was
        // applied before it was read, and is durable before it is written.
        let (position, last, times, keys) = {
            // Between two steps the key index is not ahead of the queues.
            let _indexing = engine.indexing.lock();
            let (position, last) = engine.indexed_with_last();
            (position, last, engine.queues.times().get(), engine.keys.begin_sync(clean))
        };
        let queues = engine.queues.bounds();
        engine.queues.sync()?;
        engine.flush_to(engine.log.appended())?;
        // Without a last record the ledger fits no log: see `Engine::patchy`.
        let known = last.filter(|_| !engine.patchy);
        let ledger = Ledger { position, last: known, queues, times };
        // The start first: offsets that follow it must not outrun it.
        engine.write_marks(clean)?;
        let path = engine.root.join(OWN_DIR).join(LEDGER);
        with_reserve(engine, || engine.disk.replace(&path, &ledger.encode()))?;
        engine.ledger.store(position.get(), Ordering::Release);
        let index_ms = keys.and_then(|keys| Self::write_keys(engine, keys));
        with_reserve(engine, || engine.rocketmq.write(engine.disk.as_ref(), last, index_ms))?;
        engine.reserve.hold(engine.disk.as_ref());
        Ok(())
    }

    /// Makes the key index durable and writes down how far it goes, after the ledger: with that it
    /// is judged whether it fits the log. Returns the store time of the last entry in a full file.
    /// A failure costs no more than reading the log again, so the queues go on.
    fn write_keys(engine: &Engine, catalogue: Catalogue) -> Option<i64> {
        let write = || {
            engine.keys.sync()?;
            if !engine.patchy {
                let path = engine.root.join(OWN_DIR).join(CATALOGUE);
                engine.disk.replace(&path, &encode_catalogue(&catalogue))?;
            }
            engine.keys.note_synced(&catalogue);
            Ok::<_, crate::error::Error>(catalogue.full_ms)
        };
        let written = write();
        let warn = |error: &_| log::warn!("how far the key index goes is not written: {error}");
        written.inspect_err(warn).ok()
    }
}

/// On a full disk the store's own marks go where the reserve was.
fn with_reserve(engine: &Engine, write: impl Fn() -> Result<()>) -> Result<()> {
    match write() {
        Err(error) if error.kind() == ErrorKind::Full => {
            match engine.reserve.spend(engine.disk.as_ref())? {
                true => write(),
                false => Err(error),
            }
        }
        written => written,
    }
}

impl Step for CheckpointStep {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        let engine = &self.engine;
        let (indexed, start) = (engine.indexed.load(), engine.log.start());
        let state = (indexed.get(), start.get(), engine.keys.done().get());
        if self.written != Some(state) {
            Self::write(engine, false)?;
            self.written = Some(state);
        }
        Ok(Next::At(now_ms.saturating_add_unsigned(engine.options.checkpoint_interval_ms)))
    }
}
