//! `flushed` chases `appended`, by time and by bytes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::error::Result;
use crate::options::Durability;
use crate::tasks::{Engine, Next, Step};

/// Flushes what was appended, at the store's interval or when enough bytes wait.
#[derive(Debug)]
pub struct FlushStep(pub Arc<Engine>);

impl Step for FlushStep {
    fn name(&self) -> &'static str {
        "flush"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        let engine = &self.0;
        let waiting = engine.log.appended().since(engine.log.flushed());
        // With group durability the appenders flush; what they leave is an append that failed.
        let (interval, bytes) = match engine.options.durability {
            Durability::Async { interval_ms, bytes } => (interval_ms, bytes),
            Durability::Group => (1000, u64::MAX),
        };
        let due = engine.last_flush_ms.load(Ordering::Relaxed).saturating_add_unsigned(interval);
        // A clock that was set back must not put flushing off.
        let is_due = now_ms >= due
            || due.saturating_sub(now_ms) > i64::try_from(interval).unwrap_or(i64::MAX);
        if waiting > 0 && (is_due || waiting >= bytes) {
            engine.flush_to(engine.log.appended())?;
        }
        if is_due {
            engine.last_flush_ms.store(now_ms, Ordering::Relaxed);
            return Ok(Next::At(now_ms.saturating_add_unsigned(interval)));
        }
        Ok(Next::At(due))
    }
}
