//! The walk over everything.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::checkpoint::MarksFile;
use crate::derived::{Audit, Extent, KeyAudit, KeyClaim};
use crate::disk::{Disk, OsDisk};
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Scan, Stop, written_behind};
use crate::options::Options;
use crate::record::Check;
use crate::segment::Segment;
use crate::store::{Judge, Store, Survey};
use crate::verify::files::{self, Walked};
use crate::verify::wording::{key_finding, layout_finding, queue_finding};
use crate::verify::{Finding, FindingKind, Part, Progress};

/// Bytes of the log that one step reads.
const STEP_BYTES: u64 = 16 << 20;

const TORN: &str = "what a crash left: the next opening cuts it off";
const TORN_WITH_RECORDS: &str =
    "what a crash left, with whole records behind it: the next opening saves those and cuts it off";

/// Findings that are kept; more are counted.
const MOST_FINDINGS: usize = 10_000;

/// Reads everything of a store and compares it: record checksums and positions, the chain over the
/// directories, every queue unit and every entry of the key index against its record, and every
/// record against those, marks, ledger, RocketMQ's checkpoint and cursors. It changes nothing
/// and takes no lock; one thread at a time drives it.
///
/// Of a store that is open, in this process or another, it tells damage of what was there when it
/// began, and takes what is under way for no damage.
///
/// ```
/// use spanlog::{Message, Options, Store, Verification};
/// let dir = tempfile::tempdir().unwrap();
/// let store = Store::open(dir.path(), Options::new().segment_len_bytes(1 << 20))?;
/// store.append(&Message::new("orders", 0, b"tea"))?;
/// store.close()?;
///
/// let mut verification = Verification::new(dir.path(), &Options::new())?;
/// while let Some(progress) = verification.step()? {
///     assert!(progress.done <= progress.total);
/// }
/// assert!(verification.is_sound());
/// assert_eq!(verification.records(), 1);
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Debug)]
pub struct Verification {
    survey: Survey,
    scan: Scan,
    audit: Audit,
    keys: KeyAudit,
    furthest: OnceCell<Position>,
    records: u64,
    stage: Stage,
    walked: Walked,
    findings: Vec<Finding>,
    more_findings: u64,
    damages: u64,
    /// Where segments were missing before, if only what is missing twice counts.
    seen: Option<Vec<Range<Position>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Log,
    Queues,
    Files(usize),
    Done,
}

impl Verification {
    /// A verification of the store at `root`. The options name its directories where it does not
    /// remember them, and `allow_offline` says that those that are not there are no damage.
    ///
    /// # Errors
    /// `Invalid` if there is no store; `Foreign` for a directory of another one; `Version` if a
    /// later release wrote it; `Corrupt` if the registry is damaged and the options do not name
    /// the directories; what the disk says.
    pub fn new(root: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::on(Arc::new(OsDisk::new()), root, options)
    }

    /// As [`Verification::new`], on a disk of the caller's.
    ///
    /// # Errors
    /// As [`Verification::new`].
    pub fn on(disk: Arc<dyn Disk>, root: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::begin(disk, root.as_ref(), options, || None)
    }

    /// A verification of an open store, up to what can be read of it now.
    ///
    /// # Errors
    /// As [`Verification::new`].
    pub fn of(store: &Store) -> Result<Self> {
        let limit = || Some(store.visible());
        Self::begin(store.disk(), store.root(), store.options(), limit)
    }

    fn begin(
        disk: Arc<dyn Disk>,
        root: &Path,
        options: &Options,
        limit: impl Fn() -> Option<Published>,
    ) -> Result<Self> {
        let mut survey = crate::store::survey(Arc::clone(&disk), root, options)?;
        let mut passing = None;
        if !survey.known.clean && !survey.snapshot.gaps().is_empty() {
            // A writer may add segments while directories are listed one after the other: what
            // is missing twice is missing.
            passing = Some(survey.snapshot.gaps());
            survey = crate::store::survey(disk, root, options)?;
        }
        // After the look at the marks, which are never ahead of it.
        let limit = limit();
        let extent = Extent {
            start: survey.start,
            sure: sure(&survey),
            closed: survey.known.clean && limit.is_none(),
        };
        let claim = survey.keys.as_ref().unwrap_or(&KeyClaim::Nothing);
        let keys =
            KeyAudit::begin(&survey.disk, survey.keys_dir(), claim, survey.start, extent.closed)?;
        let scan = Scan::new(survey.snapshot.clone(), survey.start, Check::Checksums);
        let mut verification = Self {
            scan: scan.below(limit.unwrap_or(Published::all())),
            audit: Audit::begin(&survey.queues, extent)?,
            keys,
            furthest: OnceCell::new(),
            records: 0,
            stage: Stage::Log,
            walked: Walked { end: survey.start, last: None },
            findings: Vec::new(),
            more_findings: 0,
            damages: 0,
            seen: passing,
            survey,
        };
        verification.tell_layout();
        Ok(verification)
    }

    /// Does one piece of the work and says how far it is; nothing when all is done.
    ///
    /// # Errors
    /// What the disk says where no byte of a file is concerned; `Locked` if the store was closed
    /// when this began and somebody has opened it since: what was found is not to be believed.
    pub fn step(&mut self) -> Result<Option<Progress>> {
        match self.stage {
            Stage::Log => self.step_log()?,
            Stage::Queues => self.step_queues(),
            Stage::Files(number) => {
                if number == 0 {
                    self.tell_keys();
                }
                let found = files::check(number, &self.survey, self.walked)?;
                found.into_iter().for_each(|finding| self.tell(finding));
                let is_last = number + 1 == files::CHECKS;
                self.stage = if is_last { Stage::Done } else { Stage::Files(number + 1) };
                if is_last {
                    self.check_undisturbed()?;
                }
            }
            Stage::Done => return Ok(None),
        }
        Ok(Some(self.progress()))
    }

    /// Runs all steps that are left.
    ///
    /// # Errors
    /// As [`Verification::step`].
    pub fn run(&mut self) -> Result<()> {
        while self.step()?.is_some() {}
        Ok(())
    }

    /// What was found so far, in the order in which it was met; at most ten thousand.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How many findings there were beyond those that are kept.
    #[must_use]
    pub fn more_findings(&self) -> u64 {
        self.more_findings
    }

    /// Whether nothing is damaged, as far as was looked. A torn tail is no damage.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages == 0
    }

    /// How many whole records there are, as far as was looked.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The range of the log that was looked at so far.
    #[must_use]
    pub fn range(&self) -> Range<Position> {
        self.survey.start..self.scan.position()
    }

    /// Whether the store had been closed cleanly when this began.
    #[must_use]
    pub fn was_closed(&self) -> bool {
        self.survey.known.clean
    }

    /// What everything is judged by, once all of it was.
    pub(super) fn outcome(&self) -> Option<(&Survey, Walked)> {
        (self.stage == Stage::Done).then_some((&self.survey, self.walked))
    }

    fn progress(&self) -> Progress {
        let last = self.survey.snapshot.last().map_or(self.survey.start, |last| last.end());
        let (part, done, total) = match self.stage {
            Stage::Log => (Part::Log, self.scan.position(), last),
            Stage::Queues => {
                let (total, done) = self.audit.queues();
                return Progress { part: Part::Queues, done: done as u64, total: total as u64 };
            }
            Stage::Files(number) => {
                let total = files::CHECKS as u64;
                return Progress { part: Part::Marks, done: number as u64, total };
            }
            Stage::Done => {
                let total = files::CHECKS as u64;
                return Progress { part: Part::Marks, done: total, total };
            }
        };
        let start = self.survey.start;
        Progress { part, done: done.since(start), total: total.since(start) }
    }

    fn tell(&mut self, finding: Finding) {
        self.damages += u64::from(finding.is_damage);
        match self.findings.len() < MOST_FINDINGS {
            true => self.findings.push(finding),
            false => self.more_findings += 1,
        }
    }

    /// What is wrong with files and directories before anything is read.
    fn tell_layout(&mut self) {
        if let Some(error) = self.survey.registry.take() {
            let path = self.survey.registry_path();
            self.tell(Finding::new(FindingKind::Registry, path, error.message()));
            self.survey.registry = Some(error);
        }
        let is_damage = !self.survey.options.allow_offline;
        for (path, why) in self.survey.offline.clone() {
            let text = format!("a directory of the store is not there: {why}");
            self.tell(Finding::new(FindingKind::Missing, path, text).only_if(is_damage));
        }
        let faults = self.survey.faults.iter();
        let faults: Vec<_> =
            faults.map(|fault| layout_finding(&fault.found, &fault.error)).collect();
        faults.into_iter().for_each(|finding| self.tell(finding));
        let known = self.survey.known.flushed().max(self.survey.start);
        let end = self.survey.snapshot.last().map_or(known, |last| last.base());
        for hole in self.survey.snapshot.holes(self.survey.start..end) {
            self.tell_hole(hole);
        }
    }

    /// A range of the log that no directory holds, unless the file there was told already.
    fn tell_hole(&mut self, hole: Range<Position>) {
        self.audit.hole(hole.clone());
        self.keys.hole(hole.clone());
        let mut faults = self.survey.faults.iter();
        let meets = |other: &Range<Position>| other.start < hole.end && hole.start < other.end;
        let is_passing = self.seen.as_ref().is_some_and(|seen| !seen.iter().any(meets));
        if !is_passing && !faults.any(|fault| hole.contains(&fault.found.base)) {
            let text = "segments are missing: perhaps a directory was left off the list";
            let finding = Finding::new(FindingKind::Missing, &self.survey.root, text);
            let finding = finding.only_if(!self.survey.options.allow_offline);
            self.tell(finding.with_range(hole.start.get()..hole.end.get()));
        }
    }

    fn step_log(&mut self) -> Result<()> {
        let (audit, queues, records) = (&mut self.audit, &self.survey.queues, &mut self.records);
        let keys = &mut self.keys;
        let stopped = self.scan.step(STEP_BYTES, &mut |view| {
            *records += 1;
            audit.record(&view, queues);
            keys.record(&view);
            Ok(())
        });
        self.tell_misfits();
        let judged = match stopped {
            Ok(None) => Ok(()),
            Ok(Some(stop)) => self.judge(&stop),
            Err(error) => Err(error),
        };
        judged.or_else(|error| self.pass_unreadable(error))
    }

    /// Decides what something that is no record means, and goes on behind it.
    fn judge(&mut self, stop: &Stop) -> Result<()> {
        let at = self.scan.position();
        if *stop == Stop::LastSegment {
            return self.end_log(at);
        }
        if *stop == Stop::Nothing && self.survey.known.clean_end() == Some(at) {
            self.tell_tail(at, false, false)?;
            return self.end_log(at);
        }
        let survey = &self.survey;
        let (known, snapshot, queues) = (&survey.known, &survey.snapshot, &survey.queues);
        let judge = Judge { known, snapshot, queues, furthest: &self.furthest };
        let place = judge.look(at, stop)?;
        if place.is_tail {
            let has_records = place.behind.is_some();
            self.tell_tail(at, *stop != Stop::Nothing, has_records)?;
            return self.end_log(at);
        }
        let furthest = judge.furthest()?.max(known.flushed());
        let mut end = Position::new(place.damage.range.end);
        if self.scan.skip()?.is_none() {
            self.scan.pass(furthest);
            end = self.scan.position();
        }
        self.audit.hole(at..end);
        self.keys.hole(at..end);
        let damage = Finding::new(FindingKind::Record, place.damage.path, place.damage.reason);
        let base = self.base_of(at);
        let damage = damage.with_bytes(at.since(base)..end.since(base));
        self.tell(damage.with_range(at.get()..end.get()));
        if place.behind.is_none() { self.end_log(end) } else { Ok(()) }
    }

    fn base_of(&self, position: Position) -> Position {
        self.survey.snapshot.find(position).map_or(Position::ZERO, |segment| segment.base())
    }

    /// What stands behind the end of the log: the rest of a crash, or bytes that nobody reads.
    fn tell_tail(&mut self, at: Position, is_torn: bool, has_records: bool) -> Result<()> {
        let snapshot = self.survey.snapshot.clone();
        let mut end = at;
        for segment in snapshot.segments().iter().filter(|segment| at < segment.end()) {
            let written = written_behind(segment, at.max(segment.base()))?;
            end = written.map_or(end, |range| range.end);
        }
        let Some(segment) = snapshot.find(at).filter(|_| at < end) else { return Ok(()) };
        let is_crash = (is_torn || has_records) && !self.survey.known.clean;
        let (kind, text) = match (is_crash, has_records) {
            (true, true) => (FindingKind::TornTail, TORN_WITH_RECORDS),
            (true, false) => (FindingKind::TornTail, TORN),
            _ => (FindingKind::Leftover, "bytes behind the log's end that nobody reads"),
        };
        let base = segment.base();
        let finding = Finding::new(kind, segment.path(), text).only_if(false);
        let finding = finding.with_bytes(at.since(base)..end.min(segment.end()).since(base));
        self.tell(finding.with_range(at.get()..end.get()));
        Ok(())
    }

    fn end_log(&mut self, end: Position) -> Result<()> {
        self.walked = Walked { end, last: self.scan.last() };
        self.stage = Stage::Queues;
        let mut should_reach = self.survey.known.flushed();
        // Without a mark of its own, what queues point to says where a closed log ended.
        if self.survey.known.clean && self.survey.known.marks.is_none() {
            should_reach = should_reach.max(self.survey.queues.furthest()?);
        }
        if end < should_reach {
            self.tell_hole(end..should_reach);
        }
        self.tell_lost_front(end)
    }

    /// Segments that are kept, by the marks, and are not there. RocketMQ's cleaning does not move
    /// the marks, so they count only where spanlog was the last to write.
    fn tell_lost_front(&mut self, end: Position) -> Result<()> {
        let marks = MarksFile::peek(self.survey.disk.as_ref(), &self.survey.marks_path())?;
        let known = self.survey.faults.first().map(|fault| fault.found.base);
        let is_told = known.is_some_and(|base| base < self.survey.start);
        if let Some(marks) = marks.filter(|marks| marks.start < self.survey.start && !is_told) {
            let text = "the first segments that are kept are missing";
            let is_damage = marks.flushed == end && !self.survey.options.allow_offline;
            let finding = Finding::new(FindingKind::Missing, &self.survey.root, text);
            let range = marks.start.get()..self.survey.start.get();
            self.tell(finding.only_if(is_damage).with_range(range));
        }
        Ok(())
    }

    /// Goes on in the next segment where the device does not give this one's bytes.
    fn pass_unreadable(&mut self, error: Error) -> Result<()> {
        let at = self.scan.position();
        let Some(segment) = self.survey.snapshot.from(at).cloned() else { return Err(error) };
        if !self.is_dropped(&segment)? {
            let is_gone = error.kind() == ErrorKind::Offline;
            let kind = if is_gone { FindingKind::Missing } else { FindingKind::Unreadable };
            let text = format!("the rest of the segment cannot be read: {error}");
            let from = at.max(segment.base());
            let finding = Finding::new(kind, segment.path(), text);
            let finding = finding.with_bytes(from.since(segment.base())..segment.len_bytes());
            self.tell(finding.with_range(from.get()..segment.end().get()));
        }
        self.audit.hole(at..segment.end());
        self.keys.hole(at..segment.end());
        self.scan = std::mem::replace(
            &mut self.scan,
            Scan::new(self.survey.snapshot.clone(), at, Check::Checksums),
        )
        .moved_to(segment.end());
        Ok(())
    }

    /// Whether retention dropped the segment since this began.
    fn is_dropped(&self, segment: &Segment) -> Result<bool> {
        let marks = MarksFile::peek(self.survey.disk.as_ref(), &self.survey.marks_path())?;
        Ok(marks.is_some_and(|marks| segment.end() <= marks.start))
    }

    fn step_queues(&mut self) {
        if !self.audit.finish_one(self.walked.end) {
            self.stage = Stage::Files(0);
        }
        self.tell_misfits();
    }

    fn tell_misfits(&mut self) {
        for misfit in self.audit.take() {
            self.tell(queue_finding(misfit));
        }
    }

    fn tell_keys(&mut self) {
        if self.survey.keys.is_none() {
            let (path, text) =
                (self.survey.catalogue_path(), "the key index's catalogue is not whole");
            self.tell(Finding::new(FindingKind::KeyFile, path, text));
        }
        let is_sure = self.keys.is_sure();
        for misfit in self.keys.finish(self.walked.end) {
            self.tell(key_finding(misfit, is_sure));
        }
    }

    /// A closed store that somebody opens meanwhile changes under the walk.
    fn check_undisturbed(&self) -> Result<()> {
        let is_open = self.survey.disk.stat(&self.survey.abort_path())?.is_some();
        match self.survey.known.clean && is_open && !self.is_sound() {
            false => Ok(()),
            true => {
                let text = "somebody opened the store while it was verified: verify it again";
                Err(Error::new(ErrorKind::Locked, text).at(&self.survey.root))
            }
        }
    }
}

/// Records below have units.
fn sure(survey: &Survey) -> Position {
    let known = &survey.known;
    // A ledger without a last record is one that recovery did not believe.
    let believed = |ledger: &&crate::checkpoint::Ledger| ledger.last.is_some();
    let ledger = known.ledger.as_ref().filter(believed).map(|ledger| ledger.position);
    match (known.clean, known.marks) {
        (true, _) => Position::new(u64::MAX),
        (false, Some(_)) => ledger.unwrap_or(Position::ZERO),
        (false, None) => Position::new(known.rocketmq.queue_position.unsigned_abs()),
    }
}
