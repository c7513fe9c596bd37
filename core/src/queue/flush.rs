//! Flushing: `flushed` chases `appended`. Sample, flush, publish the sample.

use std::sync::atomic::Ordering;

use crate::base::units::Position;
use crate::error::Result;
use crate::queue::line::Line;
use crate::queue::meta::Mark;

impl Line {
    /// Makes everything durable that was pushed before the call.
    ///
    /// # Errors
    /// What the disk says; the queue is poisoned then.
    pub fn flush(&self) -> Result<()> {
        let mark = self.end_mark();
        self.flush_mark(mark)
    }

    /// Makes everything below `mark` durable, which is written already.
    ///
    /// # Errors
    /// As [`Line::flush`].
    pub fn flush_mark(&self, mark: Mark) -> Result<()> {
        let _alone = self.flushing.lock();
        // Only now: a flush that failed meanwhile took its bytes with it.
        self.poison.check()?;
        let outcome = self.flush_alone(mark);
        outcome.inspect_err(|error| self.poison.set(&format!("a flush failed: {error}")))
    }

    fn flush_alone(&self, mark: Mark) -> Result<()> {
        let from = self.flushed.load();
        if mark.position <= from {
            return Ok(());
        }
        let ring = &self.segments.ring;
        let last = ring.number_of(Position::new(mark.position.get() - 1));
        let mut are_named = true;
        // What was committed meanwhile may be used for something else by now.
        let segments = || (ring.number_of(from)..=last).filter_map(|number| ring.get(number));
        for segment in segments() {
            segment.file()?.sync()?;
            if segment.end() <= mark.position {
                segment.close_file();
            }
            are_named &= segment.is_named();
        }
        if !are_named {
            ring.sync_names()?;
            segments().for_each(|segment| segment.set_named());
        }
        self.numbers.flushed.store(mark.number, Ordering::Release);
        self.flushed.publish(mark.position);
        Ok(())
    }

    /// Returns once everything below `position` is durable. Whoever finds that nobody is
    /// flushing does it, for everyone.
    ///
    /// # Errors
    /// As [`Line::flush`].
    pub fn flush_to(&self, position: Position) -> Result<()> {
        self.flushed.wait_or_run(position, || self.flush())
    }
}
