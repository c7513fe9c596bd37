//! RocketMQ's own `checkpoint`: written so that its store starts its recovery rightly on ours.

use std::path::{Path, PathBuf};

use crate::base::bytes;
use crate::base::units::Position;
use crate::disk::Disk;
use crate::error::Result;

/// Length of the file.
const LEN: usize = 4096;
const LOG_TIME: usize = 0;
const QUEUE_TIME: usize = 8;
const INDEX_TIME: usize = 16;
const CONFIRMED: usize = 32;
const QUEUE_POSITION: usize = 40;

/// What RocketMQ's checkpoint says (`FORMAT.md`, section 6). Times are store times in
/// milliseconds; zero means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RocketmqMarks {
    /// Records stored up to this time are durable in the log.
    pub log_time_ms: i64,
    /// Records stored up to this time are in the queues.
    pub queue_time_ms: i64,
    /// Where the last record begins that is durable in every queue (5.5 and later).
    pub queue_position: i64,
}

/// The file `checkpoint` under a store's root.
#[derive(Debug)]
pub struct RocketmqCheckpoint {
    path: PathBuf,
}

impl RocketmqCheckpoint {
    /// The file under `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { path: root.join("checkpoint") }
    }

    /// What the file says; a missing, short or senseless file says nothing.
    ///
    /// # Errors
    /// What the disk says.
    pub fn read(&self, disk: &dyn Disk) -> Result<RocketmqMarks> {
        let found = disk.read(&self.path)?.unwrap_or_default();
        let slot = |at| bytes::read_i64(&found, at).filter(|&value| value > 0).unwrap_or(0);
        Ok(RocketmqMarks {
            log_time_ms: slot(LOG_TIME),
            queue_time_ms: slot(QUEUE_TIME),
            queue_position: slot(QUEUE_POSITION),
        })
    }

    /// Says that every record up to the one that began at `last` with that store time is durable
    /// in log and queues, and every index file whose last entry is no younger than `index_ms`.
    /// Slots that are not ours stay as they are, and the index's if it says nothing.
    ///
    /// # Errors
    /// What the disk says; the file is as before then.
    pub fn write(
        &self,
        disk: &dyn Disk,
        last: Option<(Position, i64)>,
        index_ms: Option<i64>,
    ) -> Result<()> {
        let mut page = disk.read(&self.path)?.unwrap_or_default();
        page.resize(page.len().max(LEN), 0);
        if let Some(time) = index_ms {
            bytes::put(&mut page, INDEX_TIME, &time.to_be_bytes());
        }
        let (begin, time) = last.unwrap_or((Position::ZERO, 0));
        let begin = i64::try_from(begin.get()).expect("a position fits 63 bits");
        bytes::put(&mut page, LOG_TIME, &time.to_be_bytes());
        bytes::put(&mut page, QUEUE_TIME, &time.to_be_bytes());
        bytes::put(&mut page, CONFIRMED, &begin.to_be_bytes());
        bytes::put(&mut page, QUEUE_POSITION, &begin.to_be_bytes());
        disk.replace(&self.path, &page)
    }
}
