//! Queues checked against the log: every record against its unit, and no unit without a record.
//!
//! The log is walked once, in its order. The records of one queue come in the order of their
//! offsets, so each queue is read once too, in small pieces and without a map.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use rustc_hash::FxBuildHasher;

use crate::base::units::Position;
use crate::derived::Queues;
use crate::derived::files::UnitFiles;
use crate::derived::queue::is_plausible;
use crate::derived::unit::{UNIT_BYTES, Unit};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{DELAY_TOPIC, MessageView};

/// Units that are read in one piece.
const PIECE_UNITS: u64 = 256;

/// What is wrong with some units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A record has no unit.
    Missing,
    /// A unit is not the one of its record.
    Differs,
    /// A unit points to no record of its queue.
    Stray,
    /// Bytes that are no unit stand behind the last one. Nobody reads them.
    Leftover,
    /// Two records have one offset; only the first can be read.
    Twice,
    /// A record says an offset that cannot be, so no unit leads to it.
    Unlikely,
    /// The files of the queue cannot be used or read.
    File,
}

/// Units of one file that are wrong in one way, side by side.
#[derive(Debug)]
pub struct Misfit {
    /// What is wrong.
    pub wrong: Wrong,
    /// The file, or the queue's directory where there is none.
    pub path: PathBuf,
    /// Bytes of that file.
    pub range: Range<u64>,
    /// More about it, if there is more to say.
    pub text: Option<String>,
}

/// What is known of the log that the queues are checked against.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// First position kept.
    pub start: Position,
    /// Records below have units. Above, units may be there or not yet, unless `closed`.
    pub sure: Position,
    /// The store was closed: nothing is under way.
    pub closed: bool,
}

/// The check of all queues of a store that nobody derives anew meanwhile.
#[derive(Debug)]
pub struct Audit {
    extent: Extent,
    checks: Vec<Check>,
    by_topic: HashMap<Box<str>, Vec<(u32, usize)>, FxBuildHasher>,
    /// Ranges of the log without readable records, in order.
    holes: Vec<Range<Position>>,
    misfits: Vec<Misfit>,
    finished: usize,
}

/// The check of one queue.
#[derive(Debug)]
struct Check {
    dir: PathBuf,
    files: Option<UnitFiles>,
    /// RocketMQ's queues of other topics' records: their records do not name them.
    is_foreign: bool,
    is_delay: bool,
    /// Whether records are to have units here.
    is_kept: bool,
    /// The offset behind the last record seen.
    next: Option<u64>,
    /// Units from `piece_at` on.
    piece: Vec<u8>,
    piece_at: u64,
    /// A misfit that may go on.
    open: Option<Misfit>,
    /// Files do not go away meanwhile.
    is_fixed: bool,
}

impl Audit {
    /// Finds the queues' files. What is wrong with them is the first to be told.
    ///
    /// # Errors
    /// What the disk says.
    pub fn begin(queues: &Queues, extent: Extent) -> Result<Self> {
        let mut audit = Self {
            extent,
            checks: Vec::new(),
            by_topic: HashMap::default(),
            holes: Vec::new(),
            misfits: Vec::new(),
            finished: 0,
        };
        for (topic, id) in queues.found()? {
            let (dir, files) = queues.files(&topic, id);
            let mut check = Check::new(dir, &topic, extent.closed);
            match files {
                Ok(files) => check.files = Some(files),
                Err(error) if error.kind() == ErrorKind::Corrupt => check.fail(&error),
                Err(error) => return Err(error),
            }
            audit.add(&topic, id, check);
        }
        Ok(audit)
    }

    fn add(&mut self, topic: &str, id: u32, check: Check) -> usize {
        self.checks.push(check);
        let at = self.checks.len() - 1;
        self.by_topic.entry(topic.into()).or_default().push((id, at));
        at
    }

    /// Notes a range without readable records: units that point there are right.
    pub fn hole(&mut self, range: Range<Position>) {
        let at = self.holes.partition_point(|hole| hole.start < range.start);
        self.holes.insert(at, range);
    }

    /// Checks the unit of the next record of the log.
    pub fn record(&mut self, view: &MessageView<'_>, queues: &Queues) {
        if !view.has_queue_unit() {
            return;
        }
        let known = self.by_topic.get(view.topic());
        let known = known.and_then(|ids| ids.iter().find(|(id, _)| *id == view.queue()));
        let at = match known {
            Some(&(_, at)) => at,
            None => {
                let (dir, _) = queues.files(view.topic(), view.queue());
                let mut check = Check::new(dir, view.topic(), self.extent.closed);
                check.is_kept = !queues.is_batch_topic(view.topic());
                self.add(view.topic(), view.queue(), check)
            }
        };
        let (extent, holes) = (self.extent, &self.holes);
        self.checks[at].record(view, extent, holes, &mut self.misfits);
    }

    /// Checks what stands behind the last records of the next queue, the log ending at `end`.
    /// Says whether there was one.
    pub fn finish_one(&mut self, end: Position) -> bool {
        let Some(check) = self.checks.get_mut(self.finished) else { return false };
        self.finished += 1;
        check.finish(self.extent, end, &self.holes, &mut self.misfits);
        true
    }

    /// How many queues there are, and how many are finished.
    #[must_use]
    pub fn queues(&self) -> (usize, usize) {
        (self.checks.len(), self.finished)
    }

    /// What was found since the last call.
    pub fn take(&mut self) -> Vec<Misfit> {
        std::mem::take(&mut self.misfits)
    }
}

impl Check {
    fn new(dir: PathBuf, topic: &str, is_fixed: bool) -> Self {
        Self {
            dir,
            files: None,
            is_foreign: topic.starts_with("%LMQ%"),
            is_delay: topic == DELAY_TOPIC,
            is_kept: true,
            next: None,
            piece: Vec::new(),
            piece_at: 0,
            open: None,
            is_fixed,
        }
    }

    /// The files cannot be used: that is told once, and nothing is checked.
    fn fail(&mut self, error: &Error) {
        self.files = None;
        self.is_kept = false;
        if error.kind() == ErrorKind::Offline && !self.is_fixed {
            // Retention drops files of an open store.
            return;
        }
        let path = error.path().unwrap_or(&self.dir).to_owned();
        let text = Some(error.message().to_owned());
        self.open = Some(Misfit { wrong: Wrong::File, path, range: 0..0, text });
    }

    fn covered(&self) -> Range<u64> {
        let (first, end) = self.files.as_ref().map_or((0, 0), UnitFiles::covered);
        first..end
    }

    fn record(
        &mut self,
        view: &MessageView<'_>,
        extent: Extent,
        holes: &[Range<Position>],
        out: &mut Vec<Misfit>,
    ) {
        let offset = view.queue_offset();
        let is_sure = extent.closed || view.position() < extent.sure.get();
        if !self.is_kept {
            return;
        }
        let next = self.next;
        if next.is_some_and(|next| offset < next) {
            return self.told(is_sure, Wrong::Twice, offset, out);
        }
        let raw = self.unit(offset, out);
        let fits = raw.is_some_and(|raw| self.fits(raw, view));
        if !fits {
            let is_there = raw.is_some_and(|raw| raw != [0; 20]);
            let guarded = view.has_record_checksum();
            let wrong = match is_there {
                true => Wrong::Differs,
                false if is_plausible(next.unwrap_or(0), offset, guarded) => Wrong::Missing,
                false => Wrong::Unlikely,
            };
            self.told(is_sure, wrong, offset, out);
        }
        // What no checksum guards may say anything: only what fits moves far.
        let covered = self.covered();
        let is_next = next.map_or(offset < covered.end, |next| offset == next);
        if fits || is_next {
            let from = next.unwrap_or(covered.start);
            self.between(from..offset, extent, holes, out);
            self.next = Some(offset + 1);
        }
    }

    fn told(&mut self, is_sure: bool, wrong: Wrong, offset: u64, out: &mut Vec<Misfit>) {
        if is_sure {
            self.tell(wrong, offset, out);
        }
    }

    /// The delay topic's units carry times that follow from a broker's own levels, and RocketMQ
    /// may keep more about a message elsewhere, which a code far below all hashes says.
    fn fits(&self, raw: [u8; 20], view: &MessageView<'_>) -> bool {
        let expected = Unit::of(view);
        let Some(found) = Unit::decode(&raw) else { return false };
        let is_free = self.is_delay || found.tag_code < i64::from(i32::MIN);
        let tag_code = if is_free { expected.tag_code } else { found.tag_code };
        Unit { tag_code, ..found } == expected
    }

    /// Checks units that no record claimed, before one that did.
    fn between(
        &mut self,
        offsets: Range<u64>,
        extent: Extent,
        holes: &[Range<Position>],
        out: &mut Vec<Misfit>,
    ) {
        let covered = self.covered();
        for offset in offsets.start.max(covered.start)..offsets.end.min(covered.end) {
            let Some(raw) = self.unit(offset, out) else { return };
            let is_right = match Unit::decode(&raw) {
                Some(unit) if unit.is_filler() => raw == Unit::FILLER.encode(),
                Some(unit) => unit.position < extent.start || is_in(holes, unit.position),
                None => false,
            };
            let is_sure =
                extent.closed || Unit::decode(&raw).is_none_or(|unit| unit.position < extent.sure);
            self.told(!is_right && !self.is_foreign && is_sure, Wrong::Stray, offset, out);
        }
    }

    fn finish(
        &mut self,
        extent: Extent,
        end: Position,
        holes: &[Range<Position>],
        out: &mut Vec<Misfit>,
    ) {
        let covered = self.covered();
        let mut offset = self.next.unwrap_or(covered.start);
        while let Some(from) = self.next_written(offset, out) {
            let stop = (from + PIECE_UNITS).min(covered.end);
            for at in from..stop {
                let Some(raw) = self.unit(at, out) else { break };
                if let Some(wrong) = self.wrong_behind(raw, extent, end, holes) {
                    self.tell(wrong, at, out);
                }
            }
            offset = stop;
        }
        out.extend(self.open.take());
        self.piece = Vec::new();
    }

    /// What is wrong with a unit behind the last record's, if something is.
    fn wrong_behind(
        &self,
        raw: [u8; 20],
        extent: Extent,
        end: Position,
        holes: &[Range<Position>],
    ) -> Option<Wrong> {
        let Some(unit) = Unit::decode(&raw) else {
            return (raw != [0; 20] && extent.closed).then_some(Wrong::Leftover);
        };
        let is_expired = unit.position < extent.start && self.next.is_none();
        if unit.is_filler() || is_expired || is_in(holes, unit.position) {
            return None;
        }
        // Beside a writer, who has come further meanwhile.
        let is_sure = extent.closed || (unit.position < extent.sure && unit.position < end);
        let is_foreign = self.is_foreign && unit.end() <= end;
        (is_sure && !is_foreign).then_some(Wrong::Stray)
    }

    /// The bytes of a unit; nothing where no file is, or where it cannot be read.
    fn unit(&mut self, offset: u64, out: &mut Vec<Misfit>) -> Option<[u8; 20]> {
        let has =
            |at: u64, piece: &[u8]| at <= offset && offset < at + piece.len() as u64 / UNIT_BYTES;
        if !self.covered().contains(&offset) {
            return None;
        }
        if !has(self.piece_at, &self.piece) {
            self.fetch(offset, out);
        }
        if !has(self.piece_at, &self.piece) {
            return None;
        }
        let at = usize::try_from((offset - self.piece_at) * UNIT_BYTES).ok()?;
        self.piece.get(at..at + UNIT_BYTES as usize)?.try_into().ok()
    }

    fn fetch(&mut self, offset: u64, out: &mut Vec<Misfit>) {
        let Some(files) = &self.files else { return };
        self.piece.clear();
        self.piece_at = offset;
        if let Err(error) = files.read(offset, PIECE_UNITS, &mut self.piece) {
            out.extend(self.open.take());
            self.fail(&error);
        }
    }

    fn next_written(&mut self, offset: u64, out: &mut Vec<Misfit>) -> Option<u64> {
        match self.files.as_ref()?.next_written(offset) {
            Ok(found) => found,
            Err(error) => {
                out.extend(self.open.take());
                self.fail(&error);
                None
            }
        }
    }

    /// Notes a wrong unit, together with its neighbours where they are wrong in the same way.
    fn tell(&mut self, wrong: Wrong, offset: u64, out: &mut Vec<Misfit>) {
        let place = self.files.as_ref().and_then(|files| files.place_of(offset));
        let (path, at) =
            place.unwrap_or_else(|| (self.dir.clone(), offset.saturating_mul(UNIT_BYTES)));
        match &mut self.open {
            Some(open) if open.wrong == wrong && open.path == path && open.range.end == at => {
                open.range.end = at.saturating_add(UNIT_BYTES);
            }
            _ => {
                let range = at..at.saturating_add(UNIT_BYTES);
                out.extend(self.open.replace(Misfit { wrong, path, range, text: None }));
            }
        }
    }
}

pub(super) fn is_in(holes: &[Range<Position>], position: Position) -> bool {
    let after = holes.partition_point(|hole| hole.start <= position);
    after > 0 && holes.get(after - 1).is_some_and(|hole| position < hole.end)
}
