//! Cleaning: the front of the log goes, one segment at a time, off the append path.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::units::Position;
use crate::error::{Error, ErrorKind, Result};
use crate::record::MessageView;
use crate::retention::{CleanPlan, Fate, Moment, SegmentFacts, decide};
use crate::segment::{Segment, Snapshot, resident_from};
use crate::tasks::{CheckpointStep, Engine, Next, Step};

/// How many dropped segments are remembered for reports.
const REMEMBERED: usize = 1000;

/// A segment that cleaning dropped.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Where it began.
    pub base: Position,
    /// Its file.
    pub path: PathBuf,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Why, for people.
    pub reason: String,
}

/// Drops what the policy says, with a pause after each segment.
#[derive(Debug)]
pub struct CleanStep {
    engine: Arc<Engine>,
    /// What the present round still has to drop, first one last.
    pending: Vec<Fate>,
    next_round_ms: i64,
    /// Dropped segments whose files are still there; tried again every round.
    leaving: Vec<Arc<Segment>>,
}

impl CleanStep {
    /// A step that begins its first round when it is first run.
    #[must_use]
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine, pending: Vec::new(), next_round_ms: i64::MIN, leaving: Vec::new() }
    }

    /// What a round that begins now would do, and why.
    #[must_use]
    pub fn plan(engine: &Engine, now_ms: i64, manual: bool) -> CleanPlan {
        let snapshot = engine.log.chain().snapshot();
        let directories = engine.disks.directories();
        let row = |segment: &Segment| {
            directories.iter().position(|row| row.id == segment.directory()).unwrap_or(usize::MAX)
        };
        let segments = snapshot.segments();
        // Behind the young segments that one round may force out no time matters, and asking
        // costs a map each.
        let policy = engine.disks.policy();
        let mut young = 0;
        let mut facts = Vec::with_capacity(segments.len());
        for (at, segment) in segments.iter().enumerate() {
            let matters = young <= policy.max_forced_per_round;
            let last_store_ms = if matters { last_store_ms(&snapshot, at) } else { None };
            let is_young = |time| time <= now_ms && now_ms.abs_diff(time) < policy.retention_ms;
            young += u32::from(last_store_ms.is_some_and(is_young));
            facts.push(SegmentFacts {
                base: segment.base(),
                len: segment.len_bytes(),
                directory: row(segment),
                last_store_ms,
                held: segment.is_held(),
                is_last: at + 1 == segments.len(),
            });
        }
        let local_hour = engine.clock.local_hour(now_ms);
        let moment = Moment { now_ms, local_hour, manual };
        let mut disks = engine.disks.facts();
        for held in engine.held.lock().iter() {
            // Its space comes back when it is released: nothing more has to go for it.
            if let Some(disk) = disks.get_mut(row(held)) {
                disk.usage = disk.usage.map(|usage| usage.freed(held.len_bytes()));
            }
        }
        decide(&facts, &disks, &engine.holders(), policy, moment)
    }

    fn begin_round(&mut self, now_ms: i64) {
        let manual = self.engine.clean_asked.swap(false, Ordering::AcqRel);
        if let Err(error) = self.remove_files() {
            log::warn!("files of dropped segments stay: {error}");
        }
        self.engine.held.lock().retain(|segment| !segment.let_go());
        let plan = Self::plan(&self.engine, now_ms, manual);
        self.pending = plan.dropped().to_vec();
        self.pending.reverse();
        self.next_round_ms = now_ms.saturating_add_unsigned(self.engine.options.clean_interval_ms);
    }

    /// Drops the front segment. The log's start moves first: whatever a crash leaves behind
    /// points below it, and readers know that.
    fn drop_front(&mut self, fate: &Fate, now_ms: i64) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        let start = fate.segment.base + fate.segment.len;
        if start > engine.log.appended() {
            return Ok(());
        }
        let settled = engine.settle_below(start);
        let is_settled = settled.is_ok();
        settled.or_else(|error| engine.go_on_full(error, fate.segment.directory))?;
        for segment in engine.log.drop_before(start) {
            log::info!("segment {} was dropped: {}", segment.path().display(), fate.reason);
            engine.remember(&segment, fate, now_ms);
            self.leaving.push(segment);
        }
        // Before any file goes: who reads beside this process learns from the marks that what it
        // does not find is gone.
        let noted = engine.write_marks(false);
        let followed = match &noted {
            Ok(()) => engine.drop_derived(),
            Err(_) => engine.queues.follow(engine.log.start()),
        };
        noted?;
        self.remove_leaving();
        if is_settled {
            return followed;
        }
        // Now there is room for what is still known of the dropped records.
        let settled = engine.settle_below(start);
        engine.drop_derived()?;
        settled
    }

    /// Removes the files of dropped segments. The start is on disk before, so that what cannot be
    /// removed, or comes back after a crash, is no part of the log.
    fn remove_files(&mut self) -> Result<()> {
        if self.leaving.is_empty() {
            return Ok(());
        }
        self.engine.write_marks(false)?;
        self.remove_leaving();
        Ok(())
    }

    fn remove_leaving(&mut self) {
        let engine = &self.engine;
        self.leaving.retain(|segment| {
            let removed = engine.remove_file(segment);
            removed
                .inspect_err(|error| log::warn!("a file cannot be removed yet: {error}"))
                .is_err()
        });
    }
}

impl Step for CleanStep {
    fn name(&self) -> &'static str {
        "clean"
    }

    fn run(&mut self, now_ms: i64) -> Result<Next> {
        let asked = self.engine.clean_asked.load(Ordering::Acquire);
        // A clock that was set back must not put cleaning off.
        let interval = self.engine.options.clean_interval_ms;
        let far = self.next_round_ms > now_ms.saturating_add_unsigned(interval);
        if self.pending.is_empty() && (asked || far || now_ms >= self.next_round_ms) {
            self.begin_round(now_ms);
        }
        let Some(fate) = self.pending.pop() else { return Ok(Next::At(self.next_round_ms)) };
        self.drop_front(&fate, now_ms)?;
        Ok(Next::At(now_ms.saturating_add_unsigned(self.engine.options.clean_pause_ms)))
    }
}

impl Engine {
    /// What is about to leave the log was flushed, indexed and written down before: no offset is
    /// given out twice after its record is gone, and no recovery needs it.
    fn settle_below(&self, start: Position) -> Result<()> {
        self.flush_to(start)?;
        // What stays says where the log goes on.
        self.log.chain().snapshot().last().map_or(Ok(()), |last| last.settle_name())?;
        self.index_to(start)?;
        match self.ledger.load(Ordering::Acquire) < start.get() {
            true => CheckpointStep::write(self, false),
            false => Ok(()),
        }
    }

    /// Queues and key index follow the log's start.
    fn drop_derived(&self) -> Result<()> {
        let start = self.log.start();
        self.queues.drop_before(start)?;
        self.keys.drop_before(start).map(drop)
    }

    /// Without room on the root's disk, dropping a segment that lies there is what makes some.
    fn go_on_full(&self, error: Error, directory: usize) -> Result<()> {
        match error.kind() == ErrorKind::Full && self.disks.shares_root(directory) {
            true => Ok(()),
            false => Err(error),
        }
    }

    fn remember(&self, segment: &Arc<Segment>, fate: &Fate, now_ms: i64) {
        let mut dropped = self.dropped.lock();
        if dropped.len() == REMEMBERED {
            dropped.remove(0);
        }
        dropped.push(Dropped {
            base: segment.base(),
            path: segment.path().to_owned(),
            at_ms: now_ms,
            reason: fate.reason.to_string(),
        });
        if segment.is_held() {
            self.held.lock().push(Arc::clone(segment));
        }
    }

    /// Removes a dropped segment's file, durably.
    fn remove_file(&self, segment: &Segment) -> Result<()> {
        segment.remove()?;
        self.disk.sync_dir(segment.path().parent().expect("a segment lies in a directory"))
    }
}

/// The store time of a segment's last record. Where nobody has read it yet, the time of the next
/// segment's first record stands for it: that is the first one behind, and costs one page.
fn last_store_ms(snapshot: &Snapshot, at: usize) -> Option<i64> {
    let segments = snapshot.segments();
    if let Some(time) = segments[at].last_store_ms() {
        return Some(time);
    }
    let next = segments.get(at + 1)?;
    let time = first_store_ms(next).unwrap_or_default()?;
    segments[at].set_last_store_ms(time);
    Some(time)
}

fn first_store_ms(segment: &Arc<Segment>) -> Result<Option<i64>> {
    let map = segment.map()?;
    let first = MessageView::parse(resident_from(&map, 0)?);
    Ok(first.ok().map(|view| view.store_ms()))
}
