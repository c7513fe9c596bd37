//! A queue's background work, in bounded steps.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::directory::Directory;
use crate::disk::Clock;
use crate::error::Result;
use crate::log::Poison;
use crate::queue::line::Line;
use crate::queue::options::QueueDurability;
use crate::retention::Usage;
use crate::tasks::{Host, Next, Step};

/// With other durabilities than by interval, the meta page follows at this interval.
const META_INTERVAL_MS: u64 = 1000;

impl Host for Line {
    fn root(&self) -> &Path {
        &self.root
    }

    fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    fn poison(&self) -> &Poison {
        &self.poison
    }
}

/// Keeps segments ready ahead of the pushes.
#[derive(Debug)]
pub struct PrepareStep(pub Arc<Line>);

impl Step for PrepareStep {
    fn name(&self) -> &'static str {
        "queue-prepare"
    }

    fn run(&mut self, _: i64) -> Result<Next> {
        match self.0.prepare() {
            Ok(true) => Ok(Next::Again),
            Ok(false) => Ok(Next::Idle),
            // No room is no failure yet: the push that needs it will say so.
            Err(error) => {
                log::debug!("the next segment cannot be made ready yet: {error}");
                Ok(Next::Soon)
            }
        }
    }
}

/// Flushes at the queue's interval or when enough records wait, and writes the meta page.
#[derive(Debug)]
pub struct FlushStep {
    line: Arc<Line>,
    due_ms: i64,
}

impl FlushStep {
    /// A step whose first interval begins now.
    pub fn new(line: Arc<Line>) -> Self {
        let due_ms = line.clock.now_ms().saturating_add_unsigned(interval(&line).0);
        Self { line, due_ms }
    }
}

/// The interval of a queue in milliseconds, and the records after which it flushes earlier.
fn interval(line: &Line) -> (u64, u64) {
    match line.options.durability {
        QueueDurability::Interval { interval_ms, records } => (interval_ms, records),
        _ => (META_INTERVAL_MS, u64::MAX),
    }
}

impl Step for FlushStep {
    fn name(&self) -> &'static str {
        "queue-flush"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        let line = &self.line;
        let (interval_ms, records) = interval(line);
        let end = line.end_mark();
        let flushed = line.flushed_mark();
        let is_due = now_ms >= self.due_ms
            // A clock that was set back must not put flushing off.
            || self.due_ms.saturating_sub_unsigned(interval_ms) > now_ms;
        let is_much = end.number.saturating_sub(flushed.number) >= records;
        if is_due || is_much {
            if line.options.durability != QueueDurability::None {
                line.flush_to(end.position)?;
            }
            line.sync_meta(false)?;
            let flush_at = line.numbers.flushed.load(Ordering::Acquire).saturating_add(records);
            line.numbers.flush_at.store(flush_at, Ordering::Relaxed);
            self.due_ms = now_ms.saturating_add_unsigned(interval_ms);
        }
        Ok(Next::At(self.due_ms))
    }
}

/// Measures the disks and lets the policy judge.
#[derive(Debug)]
pub struct ProbeStep(pub Arc<Line>);

impl ProbeStep {
    /// Measures and judges now; says after how many milliseconds to do so again.
    pub fn probe(line: &Line) -> u64 {
        let mut measure = |directory: &Directory| match line.disk.space(&directory.path) {
            Ok(space) => Usage::new(space.used, space.available),
            Err(error) => {
                log::debug!("usage is unknown: {error}");
                None
            }
        };
        line.disks.probe(line.options.probe_interval_ms, &mut measure, &line.supply).delay_ms
    }
}

impl Step for ProbeStep {
    fn name(&self) -> &'static str {
        "queue-probe"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        Ok(Next::At(now_ms.saturating_add_unsigned(Self::probe(&self.0))))
    }
}
