//! The next segment is ready, and the pages ahead of the appender exist, before they are needed.

use std::sync::Arc;

use crate::base::units::Position;
use crate::disk::Access;
use crate::error::Result;
use crate::log::WritePath;
use crate::segment::Segment;
use crate::tasks::{Engine, Next, Step};

/// How much is made ready in one step, and how often the appender rings.
pub const STEP_BYTES: u64 = 4 << 20;

/// Keeps pages ahead of the appender, and the next segment when the present one nears its end.
#[derive(Debug)]
pub struct PrepareStep {
    engine: Arc<Engine>,
    /// Pages below exist.
    populated: Position,
    /// After a failure: not before this time.
    retry_ms: i64,
}

impl PrepareStep {
    /// A step that has prepared nothing yet.
    #[must_use]
    pub fn new(engine: Arc<Engine>) -> Self {
        let populated = engine.log.appended();
        Self { engine, populated, retry_ms: i64::MIN }
    }

    /// Makes the next pages of `segment` exist, off the append path.
    fn populate(&mut self, segment: &Arc<Segment>, appended: Position) -> Result<bool> {
        let from = self.populated.max(appended).max(segment.base());
        let target = (appended + self.engine.options.prepare_bytes).min(segment.end());
        if from >= target || self.engine.log.write_path() == WritePath::Staged {
            return Ok(false);
        }
        let to = (from + STEP_BYTES).min(target);
        if segment.file()?.is_reserved() {
            let base = segment.base();
            segment.map()?.populate(from - base..to - base, Access::Write)?;
        }
        self.populated = to;
        Ok(to < target)
    }

    /// Whether the present segment is so full that the next one should be ready.
    fn nears_end(&self, segment: &Segment, appended: Position) -> bool {
        let ahead = (segment.len_bytes() / 4).max(self.engine.options.prepare_bytes);
        appended + ahead >= segment.end()
    }
}

impl Step for PrepareStep {
    fn name(&self) -> &'static str {
        "prepare"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        let engine = Arc::clone(&self.engine);
        let appended = engine.log.appended();
        let Some(segment) = engine.log.chain().snapshot().last().cloned() else {
            return Ok(Next::Idle);
        };
        if appended >= segment.end() {
            return Ok(Next::Idle);
        }
        if self.populate(&segment, appended)? {
            return Ok(Next::Again);
        }
        if now_ms >= self.retry_ms && self.nears_end(&segment, appended) {
            segment.settle_name()?;
            // No room is no failure of the store yet: the append that needs it will say so.
            if let Err(error) = engine.supply.prepare(segment.end()) {
                log::debug!("the next segment cannot be prepared yet: {error}");
                self.retry_ms = now_ms.saturating_add(1000);
            }
        }
        Ok(Next::Idle)
    }
}
