//! Recovery: where the log ends, what is damage, and what follows for the queues.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::Position;
use crate::checkpoint::{Ledger, Marks, RocketmqMarks};
use crate::derived::Queues;
use crate::disk::Disk;
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Damaged, Salvage, Scan, Stop, cut, salvage};
use crate::options::OnDamage;
use crate::record::{Check, Found, at};
use crate::segment::{Chain, Segment, Snapshot, resident_from};
use crate::store::own_dir;

/// Records between two publications of queue units, so that memory stays bounded.
const PUBLISH_RECORDS: u64 = 65_536;

/// What opening a store found and did.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// Whether the store had been closed cleanly.
    pub was_clean: bool,
    /// Where reading began: everything below was known.
    pub scanned_from: Position,
    /// Where the log ends.
    pub end: Position,
    /// Records that were read.
    pub records: u64,
    /// Whether the queues were derived anew from the whole log.
    pub rebuilt_queues: bool,
    /// What stood at the end and was no record, if a crash left something there. It was cut off.
    pub torn_tail: Option<Damaged>,
    /// Whole records behind the cut, saved beside the store.
    pub salvaged: Option<Salvage>,
    /// Damaged ranges that were passed over, with the option that allows it.
    pub skipped: Vec<Damaged>,
    /// Ranges on directories that are not there.
    pub offline: Vec<Range<u64>>,
    /// Files in the segment directories that are none of the store's, left alone.
    pub ignored: Vec<PathBuf>,
}

/// What is known before the log is read.
#[derive(Debug)]
pub(crate) struct Known {
    /// Neither RocketMQ nor spanlog was interrupted.
    pub(crate) clean: bool,
    pub(crate) marks: Option<Marks>,
    pub(crate) ledger: Option<Ledger>,
    pub(crate) rocketmq: RocketmqMarks,
    pub(crate) on_damage: OnDamage,
    /// Parts of the log may be on directories that are not there.
    pub(crate) partial: bool,
}

/// The outcome of reading the log.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) report: Recovery,
    pub(super) last: Option<(Position, i64)>,
    /// Whether bytes behind the end have to be cut.
    pub(super) cut: bool,
    /// Whether queues were derived over a hole: they are derived anew once the log is whole.
    pub(super) patchy: bool,
    /// Whether the ledger fits the log: what was derived up to its position still holds.
    pub(super) fits_ledger: bool,
}

impl Known {
    /// The log's start: its first segment's, unless that is on a directory that is not there.
    pub(super) fn start(&self, snapshot: &Snapshot, end: Position) -> Position {
        let first = snapshot.segments().first().map_or(end, |first| first.base());
        let marked = self.marks.filter(|_| self.partial).map_or(first, |marks| marks.start);
        marked.min(first)
    }

    /// Marks are written before a segment is removed, so they never lie before a removal of ours:
    /// RocketMQ cleaned the store meanwhile, or somebody lost the files.
    pub(super) fn tell_removed(&self, start: Position) {
        if let Some(marks) = self.marks.filter(|marks| marks.start < start) {
            let range = marks.start.get()..start.get();
            log::warn!(
                "the log's first segments are gone, {range:?}: another program removed them"
            );
        }
    }

    /// Everything below was durable.
    pub(crate) fn flushed(&self) -> Position {
        self.marks.map_or(Position::ZERO, |marks| marks.flushed)
    }

    /// Whether something kept is missing of a log whose segments begin at `first`.
    fn lacks_front(&self, first: Position) -> bool {
        self.partial && self.marks.is_some_and(|marks| marks.start < first)
    }

    /// The end of a log that was closed cleanly by spanlog.
    pub(crate) fn clean_end(&self) -> Option<Position> {
        self.marks.filter(|marks| self.clean && marks.clean).map(|marks| marks.flushed)
    }
}

/// Reads the log from where the queues are known, and derives what is missing of them. Before
/// it derives queues anew or over a hole, `distrust` must make the ledger on disk one that fits no
/// log.
///
/// # Errors
/// `Corrupt` for damage below what was flushed, unless the option says otherwise; what the disk
/// says.
pub(super) fn recover(
    known: &Known,
    snapshot: &Snapshot,
    queues: &Queues,
    distrust: &dyn Fn() -> Result<()>,
) -> Result<Outcome> {
    let start = snapshot.segments().first().map_or(Position::ZERO, |first| first.base());
    let from = from_ledger(known, snapshot, queues, start)?;
    let patchy = match from {
        Some(position) => passes_hole(snapshot, position),
        None => passes_hole(snapshot, start) || known.lacks_front(start),
    };
    // Units that are derived anew are not durable before the next checkpoint.
    if patchy || from.is_none() {
        distrust()?;
    }
    if from.is_none() {
        queues.forget();
        queues.resume_below(start)?;
    }
    let mut outcome = Walk::new(known, snapshot, queues, from.unwrap_or(start)).run()?;
    outcome.patchy = patchy;
    outcome.fits_ledger = from.is_some();
    match &known.ledger {
        Some(ledger) if from.is_some() => outcome.last = outcome.last.or(ledger.last),
        _ => outcome.report.rebuilt_queues = outcome.report.records > 0,
    }
    Ok(outcome)
}

/// Whether reading on from `from` leads over a gap.
fn passes_hole(snapshot: &Snapshot, from: Position) -> bool {
    snapshot.gaps().last().is_some_and(|gap| from < gap.end)
}

/// Takes up the queues as the ledger knows them, and says from where on the log is to be read;
/// nothing if the ledger does not fit what is on disk.
fn from_ledger(
    known: &Known,
    snapshot: &Snapshot,
    queues: &Queues,
    start: Position,
) -> Result<Option<Position>> {
    let Some(ledger) = &known.ledger else { return Ok(None) };
    if !fits(ledger, snapshot, start, known.partial)? {
        return Ok(None);
    }
    for queue in &ledger.queues {
        match queues.resume(queue) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                log::warn!("the queues are derived anew: {error}");
                return Ok(None);
            }
            other => other?,
        }
    }
    queues.resume_unknown()?;
    queues.times().set(ledger.times.clone());
    Ok(Some(ledger.position))
}

/// Whether the last record that the ledger names still ends where the ledger says: another
/// program may have cut the log since, and written on. In a log that is `partial` the record may
/// be away, and the ledger is believed.
fn fits(ledger: &Ledger, snapshot: &Snapshot, start: Position, partial: bool) -> Result<bool> {
    if ledger.position == start {
        return Ok(true);
    }
    let Some((last, _)) = ledger.last.filter(|_| partial || start < ledger.position) else {
        return Ok(false);
    };
    let Some(segment) = snapshot.find(last) else { return Ok(partial) };
    let map = segment.map()?;
    let mut position = last;
    for _ in 0..2 {
        let rest = resident_from(&map, position - segment.base())?;
        position = match at(rest, position.get(), Check::Checksums) {
            Found::Record(view) => position + u64::from(view.size()),
            Found::Padding => segment.end(),
            _ => return Ok(false),
        };
        if position == ledger.position {
            return Ok(true);
        }
        if position >= segment.end() {
            break;
        }
    }
    Ok(false)
}

/// Tells the end that a crash left from damage, for whoever reads the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) known: &'a Known,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) queues: &'a Queues,
    /// The highest position that any queue points behind, once it was asked for.
    pub(crate) furthest: &'a OnceCell<Position>,
}

/// A place of the log where no record stands.
#[derive(Debug)]
pub(crate) struct Place {
    /// It is the log's end, and not damage.
    pub(crate) is_tail: bool,
    /// Where something whole stands behind it.
    pub(crate) behind: Option<Range<Position>>,
    /// What it is if it is damage.
    pub(crate) damage: Damaged,
}

impl Judge<'_> {
    /// Looks at the place where a walk stopped.
    pub(crate) fn look(&self, at: Position, stop: &Stop) -> Result<Place> {
        let mut ahead = Scan::new(self.snapshot.clone(), at, Check::Checksums);
        let path = ahead.path();
        let behind = ahead.skip()?;
        let is_tail = self.is_tail(at, behind.as_ref(), &mut ahead)?;
        let end = behind.as_ref().map(|range| range.end);
        let end = end.or(self.snapshot.last().map(|last| last.end())).unwrap_or(at);
        let reason = match stop {
            Stop::Damaged(damage) => damage.to_string(),
            _ => "nothing is written where records were".to_owned(),
        };
        let damage = Damaged { range: at.get()..end.get(), path, reason };
        Ok(Place { is_tail, behind, damage })
    }

    /// The highest position that any queue on disk points behind.
    pub(crate) fn furthest(&self) -> Result<Position> {
        match self.furthest.get() {
            Some(&known) => Ok(known),
            None => self.queues.furthest().map(|found| *self.furthest.get_or_init(|| found)),
        }
    }

    /// Whether this place is the end that a crash left, and not damage.
    ///
    /// Above what was known to be flushed a crash may leave anything. RocketMQ keeps no such
    /// mark, but the store time up to which it had flushed: a whole record behind this place
    /// that is older was flushed, and so was this place.
    fn is_tail(
        &self,
        at: Position,
        behind: Option<&Range<Position>>,
        ahead: &mut Scan,
    ) -> Result<bool> {
        if at < self.known.flushed() {
            return Ok(false);
        }
        if self.known.clean {
            // Nothing may follow but what a failed write left, and no queue may know of a record
            // behind.
            let is_end = behind.is_none() || self.known.clean_end() == Some(at);
            return Ok(is_end && self.furthest()? <= at);
        }
        if behind.is_none() || self.known.marks.is_some() {
            return Ok(true);
        }
        if at.get() < self.known.rocketmq.queue_position.unsigned_abs() {
            // Since 5.5 it also tells how far all queues were durable: it reads nothing below.
            return Ok(false);
        }
        let mut oldest = None;
        ahead.run(&mut |view| {
            oldest.get_or_insert(view.store_ms());
            Ok(())
        })?;
        Ok(oldest.is_none_or(|time| time >= self.known.rocketmq.log_time_ms))
    }
}

/// One reading of the log.
struct Walk<'a> {
    known: &'a Known,
    queues: &'a Queues,
    snapshot: &'a Snapshot,
    furthest: OnceCell<Position>,
    scan: Scan,
    report: Recovery,
}

impl<'a> Walk<'a> {
    fn new(known: &'a Known, snapshot: &'a Snapshot, queues: &'a Queues, from: Position) -> Self {
        let scan = Scan::new(snapshot.clone(), from, Check::Checksums);
        let report = Recovery { was_clean: known.clean, scanned_from: from, ..Recovery::default() };
        Self { known, queues, snapshot, furthest: OnceCell::new(), scan, report }
    }

    fn run(mut self) -> Result<Outcome> {
        let mut cut = false;
        loop {
            let stop = self.read_on()?;
            if self.is_whole_end(&stop) {
                break;
            }
            match self.judge(&stop)? {
                Verdict::End { dirty } => {
                    cut = dirty;
                    break;
                }
                Verdict::Skipped => {}
            }
        }
        self.queues.publish()?;
        self.report.end = self.scan.position();
        // An empty segment that was made ready, as RocketMQ leaves them, is made again.
        cut |= self.snapshot.last().is_some_and(|last| self.report.end < last.base());
        let (last, report) = (self.scan.last(), self.report);
        Ok(Outcome { last, cut, patchy: false, fits_ledger: false, report })
    }

    fn read_on(&mut self) -> Result<Stop> {
        let (queues, report) = (self.queues, &mut self.report);
        self.scan.run(&mut |view| {
            queues.apply(&view);
            report.records += 1;
            match report.records.is_multiple_of(PUBLISH_RECORDS) {
                true => queues.publish(),
                false => Ok(()),
            }
        })
    }

    /// The end that needs no second look: that of the last segment, or the one a clean close
    /// wrote down.
    fn is_whole_end(&self, stop: &Stop) -> bool {
        match stop {
            Stop::LastSegment => true,
            Stop::Nothing => self.known.clean_end() == Some(self.scan.position()),
            Stop::Damaged(_) => false,
        }
    }

    /// Decides what something that is no record means.
    fn judge(&mut self, stop: &Stop) -> Result<Verdict> {
        let at = self.scan.position();
        let (known, snapshot, queues) = (self.known, self.snapshot, self.queues);
        let judge = Judge { known, snapshot, queues, furthest: &self.furthest };
        let Place { is_tail, behind, damage } = judge.look(at, stop)?;
        if is_tail {
            let dirty = behind.is_some() || *stop != Stop::Nothing || !self.known.clean;
            self.report.torn_tail =
                Some(damage).filter(|_| behind.is_some() || *stop != Stop::Nothing);
            return Ok(Verdict::End { dirty });
        }
        match self.known.on_damage {
            OnDamage::Refuse => Err(Error::new(
                ErrorKind::Corrupt,
                format!("the log is damaged below what was flushed: {}", damage.reason),
            )
            .at(&damage.path)
            .with_offset(at.get())
            .with_range(damage.range)),
            OnDamage::Cut => Ok(Verdict::End { dirty: true }),
            OnDamage::Skip => {
                self.report.skipped.push(damage);
                if self.scan.skip()?.is_none() {
                    // What was flushed is not given out again, although none of it is left.
                    self.scan.pass(self.known.flushed());
                    return Ok(Verdict::End { dirty: true });
                }
                Ok(Verdict::Skipped)
            }
        }
    }
}

enum Verdict {
    End { dirty: bool },
    Skipped,
}

/// Cuts what a crash left behind the end; whole records there are saved first.
///
/// # Errors
/// What the disk says.
pub(super) fn cut_tail(
    disk: &dyn Disk,
    root: &Path,
    segments: &mut Vec<Arc<Segment>>,
    report: &mut Recovery,
) -> Result<()> {
    let snapshot = Chain::new(segments.clone()).snapshot();
    report.salvaged = salvage(disk, &snapshot, report.end, &own_dir(root).join("saved"))?;
    if let Some(Salvage { records, path }) = &report.salvaged {
        log::warn!("{records} records behind the log's end were saved: {}", path.display());
    }
    cut(disk, segments, report.end)
}
