//! A store written anew elsewhere, record by record.

use crate::base::units::Position;
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Scan, Stop};
use crate::options::OnDamage;
use crate::record::Check;
use crate::store::Store;
use crate::verify::{Part, Progress};

/// Bytes of the log that one step copies.
const STEP_BYTES: u64 = 4 << 20;

/// Copies every record of one open store into another one, which may have other directories and
/// another segment length. Queue offsets, store times, ids and properties stay; positions are the
/// new log's. One thread at a time drives it, and nobody else appends to the target meanwhile.
///
/// ```
/// use spanlog::{Message, Options, Store, StoreCopy};
/// let dir = tempfile::tempdir().unwrap();
/// let options = |len| Options::new().segment_len_bytes(len);
/// let source = Store::open(dir.path().join("a"), options(1 << 20))?;
/// source.append(&Message::new("orders", 0, b"tea"))?;
///
/// let target = Store::open(dir.path().join("b"), options(1 << 16))?;
/// let mut copy = StoreCopy::new(&source, &target)?;
/// while copy.step()?.is_some() {}
/// assert_eq!(copy.records(), 1);
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Debug)]
pub struct StoreCopy<'a> {
    source: &'a Store,
    target: &'a Store,
    scan: Scan,
    start: Position,
    end: Position,
    records: u64,
    is_done: bool,
}

impl<'a> StoreCopy<'a> {
    /// A copy of what can be read of `source` now, into a `target` without a message.
    ///
    /// # Errors
    /// `Invalid` if the target has messages or was opened for reading alone.
    pub fn new(source: &'a Store, target: &'a Store) -> Result<Self> {
        let marks = target.watermarks();
        if marks.appended != Position::ZERO || target.options().read_only {
            let text = "the target must be open for writing and have no message";
            return Err(Error::new(ErrorKind::Invalid, text).at(target.root()));
        }
        source.catch_up()?;
        let (limit, snapshot) = (source.visible(), source.snapshot());
        let start = source.watermarks().start;
        let scan = Scan::new(snapshot, start, Check::Checksums).below(limit);
        let end = source.watermarks().appended;
        Ok(Self { source, target, scan, start, end, records: 0, is_done: false })
    }

    /// Copies one piece and says how far it is, in bytes of the source's log; nothing when all is
    /// copied, durable and readable.
    ///
    /// # Errors
    /// `Corrupt` for damage in the source, unless it was opened to skip it; what appending to the
    /// target says.
    pub fn step(&mut self) -> Result<Option<Progress>> {
        if self.is_done {
            return Ok(None);
        }
        let (target, records) = (self.target, &mut self.records);
        let stopped = self.scan.step(STEP_BYTES, &mut |view| {
            *records += 1;
            target.append_whole(&view)
        })?;
        match stopped {
            None => {}
            Some(Stop::LastSegment | Stop::Nothing) if self.scan.position() >= self.end => {
                self.finish()?;
            }
            Some(Stop::LastSegment) => self.finish()?,
            Some(stop) => self.pass(&stop)?,
        }
        let position = if self.is_done { self.end } else { self.scan.position() };
        let total = self.end.since(self.start);
        let done = position.since(self.start).min(total);
        Ok(Some(Progress { part: Part::Log, done, total }))
    }

    /// How many records were copied.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Goes on behind damage, where that is allowed.
    fn pass(&mut self, stop: &Stop) -> Result<()> {
        let at = self.scan.position();
        if self.source.options().on_damage == OnDamage::Skip {
            return match self.scan.skip()? {
                Some(_) => Ok(()),
                None => self.finish(),
            };
        }
        let what = match stop {
            Stop::Damaged(damage) => damage.to_string(),
            _ => "nothing is written where records were".to_owned(),
        };
        let error = Error::new(ErrorKind::Corrupt, format!("the record is damaged: {what}"));
        Err(error.at(&self.scan.path()).with_offset(at.get()))
    }

    /// Queues without a message left go on where they were, and all of it becomes durable.
    fn finish(&mut self) -> Result<()> {
        self.target.catch_up()?;
        for queue in self.source.queues() {
            self.target.begin_queue(&queue.topic, queue.queue, queue.bounds.max);
        }
        self.target.flush()?;
        self.is_done = true;
        Ok(())
    }
}
