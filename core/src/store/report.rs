//! What a store looks like: for people, for the command, for monitoring.

use std::ops::Range;
use std::path::PathBuf;

use crate::base::units::Position;
use crate::derived::Bounds;
use crate::error::Result;
use crate::retention::{Pressure, Role, Thresholds, Usage};
use crate::store::Store;
use crate::tasks::{Dropped, ProbeStep};

/// The positions that tell how far a store has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermarks {
    /// First byte still kept.
    pub start: Position,
    /// Everything below is durable.
    pub flushed: Position,
    /// Everything below is in the queues.
    pub indexed: Position,
    /// Everything below is written.
    pub appended: Position,
}

/// One directory of a store.
#[derive(Clone, Debug)]
pub struct DirectoryReport {
    /// Where it is.
    pub path: PathBuf,
    /// What it is for.
    pub role: Role,
    /// The file system it is on: directories with the same number share their space.
    pub device: u64,
    /// Its limits.
    pub thresholds: Thresholds,
    /// Its disk's usage, if known.
    pub usage: Option<Usage>,
    /// The pressure on its disk.
    pub pressure: Pressure,
    /// Why it cannot be used, if it cannot.
    pub offline: Option<String>,
    /// Whether the next segment may go there.
    pub takes_segments: bool,
    /// Number of segments it holds.
    pub segments: usize,
    /// Bytes of segments it holds.
    pub segment_bytes: u64,
}

/// One segment of a store.
#[derive(Clone, Debug)]
pub struct SegmentReport {
    /// First position it covers.
    pub base: Position,
    /// Length in bytes.
    pub len_bytes: u64,
    /// Its file.
    pub path: PathBuf,
    /// Store time of its last record in milliseconds, where somebody has read it.
    pub last_store_ms: Option<i64>,
    /// Whether a batch or a slice holds it.
    pub held: bool,
    /// Whether retention dropped it; its space comes back when it is released.
    pub dropped: bool,
}

/// One queue of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReport {
    /// The topic.
    pub topic: String,
    /// The queue's number.
    pub queue: u32,
    /// The first message kept and one past the last that can be read.
    pub bounds: Bounds,
}

/// A picture of a whole store.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The positions.
    pub watermarks: Watermarks,
    /// Length of every segment in bytes.
    pub segment_len_bytes: u64,
    /// The directories.
    pub directories: Vec<DirectoryReport>,
    /// The segments, by position.
    pub segments: Vec<SegmentReport>,
    /// The queues, by topic and number.
    pub queues: Vec<QueueReport>,
    /// Ranges on directories that are not there.
    pub offline: Vec<Range<u64>>,
    /// Files mapped now.
    pub maps: usize,
    /// Why appends are refused, if they are.
    pub refused: Option<String>,
    /// Why nothing more can be promised, if that is so.
    pub poisoned: Option<String>,
}

impl Store {
    /// The positions as of now.
    #[must_use]
    pub fn watermarks(&self) -> Watermarks {
        let engine = &self.engine;
        // In this order none is shown above one that it never passes.
        let start = engine.log.start();
        let indexed = engine.indexed.load();
        let flushed = engine.log.flushed();
        Watermarks { start, flushed, indexed, appended: engine.log.appended() }
    }

    /// The directories, measured now.
    ///
    /// # Errors
    /// `Closed`.
    pub fn disks(&self) -> Result<Vec<DirectoryReport>> {
        self.check_open()?;
        ProbeStep::probe(&self.engine);
        Ok(self.directory_reports())
    }

    fn directory_reports(&self) -> Vec<DirectoryReport> {
        let engine = &self.engine;
        let snapshot = engine.log.chain().snapshot();
        let room = engine.supply.room();
        let report = |row: crate::directory::Directory| {
            let held = snapshot.segments().iter().filter(|seg| seg.directory() == row.id);
            DirectoryReport {
                takes_segments: room.shelves.iter().any(|shelf| shelf.directory == row.id),
                segments: held.clone().count(),
                segment_bytes: held.map(|segment| segment.len_bytes()).sum(),
                path: row.path,
                role: row.role,
                device: row.device,
                thresholds: row.thresholds,
                usage: row.usage,
                pressure: row.pressure,
                offline: row.offline,
            }
        };
        engine.disks.directories().into_iter().map(report).collect()
    }

    /// The segments, those that were dropped while somebody read them first.
    #[must_use]
    pub fn segments(&self) -> Vec<SegmentReport> {
        let engine = &self.engine;
        let report = |segment: &crate::segment::Segment, dropped| SegmentReport {
            base: segment.base(),
            len_bytes: segment.len_bytes(),
            path: segment.path().to_owned(),
            last_store_ms: segment.last_store_ms(),
            held: segment.is_held(),
            dropped,
        };
        let held = engine.held.lock();
        let held = held.iter().filter(|segment| segment.is_held());
        let dropped = held.map(|segment| report(segment, true));
        let snapshot = engine.log.chain().snapshot();
        let kept = snapshot.segments().iter().map(|segment| report(segment, false));
        dropped.chain(kept).collect()
    }

    /// The queues, by topic and number.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueReport> {
        let bounds = self.engine.queues.bounds().into_iter();
        bounds
            .map(|queue| QueueReport { topic: queue.topic, queue: queue.id, bounds: queue.bounds })
            .collect()
    }

    /// What cleaning dropped since the store was opened, newest last, at most a thousand.
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.engine.dropped.lock().clone()
    }

    /// Everything at once.
    ///
    /// # Errors
    /// `Closed`.
    pub fn inspect(&self) -> Result<Inspection> {
        let directories = self.disks()?;
        let refused = self.engine.disks.gate().check().err().map(|error| error.to_string());
        Ok(Inspection {
            watermarks: self.watermarks(),
            segment_len_bytes: self.engine.supply.segment_len(),
            directories,
            segments: self.segments(),
            queues: self.queues(),
            offline: self.recovery.offline.clone(),
            maps: self.engine.budget.in_use(),
            refused: self.no_appends.clone().or(refused),
            poisoned: self.engine.log.poison().cause().map(str::to_owned),
        })
    }
}
