//! Flushing: `flushed` chases `appended`.

use std::sync::Arc;

use crate::base::units::Position;
use crate::error::Result;
use crate::log::append::Staged;
use crate::log::{Log, WritePath};
use crate::segment::Segment;

impl Log {
    /// Makes everything durable that was appended before the call.
    ///
    /// # Errors
    /// What the disk says; the log is poisoned then, because a flush that failed must not be
    /// tried again on the same file.
    pub fn flush(&self) -> Result<()> {
        let _alone = self.flushing.lock();
        // Only now: a flush that failed meanwhile took its bytes with it.
        self.check()?;
        self.flush_alone().inspect_err(|error| self.poison.set(&format!("a flush failed: {error}")))
    }

    fn flush_alone(&self) -> Result<()> {
        let (target, mut staged) = self.take_staged();
        assert!(staged.is_empty() || self.path == WritePath::Staged, "a map is written at once");
        for part in &staged {
            part.segment.file()?.write_at(part.at, &part.bytes)?;
        }
        for segment in self.unflushed(target) {
            let unflushed = self.flushed().max(segment.base())..target.min(segment.end());
            segment.sync_range(unflushed)?;
            if segment.end() <= target {
                segment.close_file();
            }
        }
        self.flushed.publish(target);
        self.give_back(&mut staged);
        Ok(())
    }

    /// The end of the log and the bytes below it that are not in a file yet.
    fn take_staged(&self) -> (Position, Vec<Staged>) {
        let mut tail = self.tail.lock();
        (self.appended(), std::mem::take(&mut tail.staged))
    }

    fn give_back(&self, staged: &mut Vec<Staged>) {
        let mut tail = self.tail.lock();
        for mut part in staged.drain(..) {
            part.bytes.clear();
            tail.spare.push(part.bytes);
        }
        if tail.staged.is_empty() {
            std::mem::swap(&mut tail.staged, staged);
        }
    }

    fn unflushed(&self, target: Position) -> Vec<Arc<Segment>> {
        let flushed = self.flushed();
        let snapshot = self.chain.snapshot();
        let touched = |segment: &&Arc<Segment>| {
            flushed < segment.end() && segment.base() < target && flushed < target
        };
        snapshot.segments().iter().filter(touched).cloned().collect()
    }

    /// Returns once everything below `position` is durable. Whoever finds that nobody is
    /// flushing does it, for everyone.
    ///
    /// # Errors
    /// As [`Log::flush`].
    pub fn flush_to(&self, position: Position) -> Result<()> {
        self.flushed.wait_or_run(position, || self.flush())
    }
}
