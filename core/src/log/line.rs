//! The log itself: its segments, its watermarks, and who may change them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::base::watermark::{Published, Watermark};
use crate::error::Result;
use crate::log::append::Tail;
use crate::log::{Poison, WritePath};
use crate::segment::{Chain, Segment};

/// The log of one store. Any thread may use it; appends take turns.
#[derive(Debug)]
pub struct Log {
    pub(super) chain: Chain,
    pub(super) start: Watermark,
    pub(super) appended: Watermark,
    pub(super) flushed: Watermark,
    pub(super) tail: Mutex<Tail>,
    /// Held by whoever flushes; ordered before `tail`.
    pub(super) flushing: Mutex<()>,
    pub(super) poison: Poison,
    /// Nothing is appended any more; set under the tail's lock.
    pub(super) sealed: AtomicBool,
    pub(super) path: WritePath,
}

impl Log {
    /// The log over `segments`, whose records end at `end`, all of it durable.
    #[must_use]
    pub fn new(segments: Vec<Arc<Segment>>, end: Position, path: WritePath) -> Self {
        let start = segments.first().map_or(end, |segment| segment.base());
        Self {
            chain: Chain::new(segments),
            start: Watermark::new(start),
            appended: Watermark::new(end),
            flushed: Watermark::new(end),
            tail: Mutex::new(Tail::at(end)),
            flushing: Mutex::new(()),
            poison: Poison::default(),
            sealed: AtomicBool::new(false),
            path,
        }
    }

    /// The same log, beginning at `start` although no segment there is at hand.
    #[must_use]
    pub fn beginning_at(self, start: Position) -> Self {
        self.start.reset(start);
        self
    }

    /// The same log, of which only what lies below `flushed` is known to be durable.
    #[must_use]
    pub fn flushed_to(self, flushed: Position) -> Self {
        self.flushed.reset(flushed.min(self.appended()));
        self
    }

    /// First position that is kept.
    #[must_use]
    pub fn start(&self) -> Position {
        self.start.load()
    }

    /// The position after the last record.
    #[must_use]
    pub fn appended(&self) -> Position {
        self.appended.load()
    }

    /// The position up to which everything is durable.
    #[must_use]
    pub fn flushed(&self) -> Position {
        self.flushed.load()
    }

    /// What readers may see: all that was appended, or where an append is acknowledged when it
    /// is flushed, all that was.
    #[must_use]
    pub fn visible(&self) -> Published {
        match self.path {
            WritePath::Staged => self.flushed.published(),
            WritePath::Mapped => self.appended.published(),
        }
    }

    /// How bytes reach the files.
    #[must_use]
    pub fn write_path(&self) -> WritePath {
        self.path
    }

    /// The segments as they are now.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Why nothing more can be promised, once that is so.
    #[must_use]
    pub fn poison(&self) -> &Poison {
        &self.poison
    }

    /// Drops the segments that lie wholly below `start` and moves the log's start there. The
    /// files are the caller's to remove; the last segment always stays.
    pub fn drop_before(&self, start: Position) -> Vec<Arc<Segment>> {
        let last = self.chain.snapshot().last().map_or(start, |last| last.base());
        let start = start.min(last).max(self.start());
        self.start.publish(start);
        self.chain.drop_before(start)
    }

    /// Goes on to `end`, which another process has written, as it has made durable what lies
    /// below `flushed`.
    pub fn follow(&self, end: Position, flushed: Position) {
        self.appended.publish(end);
        self.flushed.publish(flushed.min(end).max(self.flushed()));
    }

    /// Ends appending: what is in the log when this returns is all there will be.
    pub fn seal(&self) {
        let _tail = self.tail.lock();
        self.sealed.store(true, Ordering::Relaxed);
    }

    /// Returns once every append that began before the call has ended.
    pub fn wait_for_appends(&self) {
        drop(self.tail.lock());
    }

    pub(super) fn check(&self) -> Result<()> {
        self.poison.check()
    }
}
