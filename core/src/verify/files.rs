//! The small files: what each says for itself, and whether it fits the log.

use std::path::Path;

use crate::base::bytes::read_i64;
use crate::base::units::Position;
use crate::checkpoint::{Ledger, Marks};
use crate::cursor::{Saved, cursor_faults, names_in};
use crate::disk::slots::{SlotState, Slots, slot_states};
use crate::error::Result;
use crate::store::Survey;
use crate::verify::{Finding, FindingKind};

/// Where the walk over the log ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked {
    pub(super) end: Position,
    /// Where the last record begins, and its store time, if the walk met one.
    pub(super) last: Option<(Position, i64)>,
}

/// How many checks there are.
pub(super) const CHECKS: usize = 4;

/// Runs the check of that number.
///
/// # Errors
/// What the disk says.
pub(super) fn check(number: usize, survey: &Survey, walked: Walked) -> Result<Vec<Finding>> {
    match number {
        0 => marks(survey, walked.end),
        1 => ledger(survey, walked.end),
        2 => checkpoint(survey, walked),
        _ => cursors(survey),
    }
}

/// Two slots, of which one may be torn by a crash; of a closed store both are whole.
fn marks(survey: &Survey, end: Position) -> Result<Vec<Finding>> {
    let path = survey.marks_path();
    let Some(page) = survey.disk.read(&path)? else { return Ok(Vec::new()) };
    let finding = |text: &str| Finding::new(FindingKind::Marks, &path, text);
    if page.len() as u64 != Slots::LEN {
        let text = format!("the file has {} bytes and not {}", page.len(), Slots::LEN);
        return Ok(vec![finding(&text)]);
    }
    let mut found = Vec::new();
    let states = slot_states(&page);
    let is_alone = !states.iter().any(|slot| matches!(slot, SlotState::Whole { .. }));
    for (number, state) in states.iter().enumerate() {
        let senseless = match state {
            SlotState::Empty => false,
            SlotState::Whole { payload, .. } => Marks::decode(payload).is_none(),
            SlotState::Damaged => true,
        };
        if senseless {
            let at = number as u64 * Slots::LEN / 2;
            let torn = finding("one of the two slots is not whole").with_bytes(at..at + 512);
            found.push(torn.only_if(survey.known.clean || is_alone));
        }
    }
    if let Some(marks) = survey.known.marks.filter(|marks| marks.clean && survey.known.clean)
        && marks.flushed != end
    {
        let text =
            format!("the log ended at {} when it was closed, and ends at {end}", marks.flushed);
        found.push(finding(&text));
    }
    Ok(found)
}

fn ledger(survey: &Survey, end: Position) -> Result<Vec<Finding>> {
    let path = survey.ledger_path();
    let finding = |text: &str| vec![Finding::new(FindingKind::Ledger, &path, text)];
    let closed = survey.known.marks.is_some_and(|marks| marks.clean && survey.known.clean);
    // Read again: a writer may have written it since.
    let bytes = survey.disk.read(&path)?;
    Ok(match bytes.as_deref().map(Ledger::decode) {
        Some(None) => finding("the queues' offsets are not whole"),
        None if closed => finding("the queues' offsets are not there"),
        Some(Some(ledger)) if closed && ledger.position != end => {
            let text = format!("it is of position {}, and the log ends at {end}", ledger.position);
            finding(&text)
        }
        _ => Vec::new(),
    })
}

/// Length of RocketMQ's checkpoint.
const CHECKPOINT_BYTES: usize = 4096;

/// RocketMQ's checkpoint has no checksum; of a closed store it cannot be ahead of the log, and
/// what spanlog wrote into it follows from the last record.
fn checkpoint(survey: &Survey, walked: Walked) -> Result<Vec<Finding>> {
    let path = survey.root.join("checkpoint");
    let Some(page) = survey.disk.read(&path)?.filter(|_| survey.known.clean) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    if page.len() < CHECKPOINT_BYTES {
        let text = format!("the file has {} bytes and not {CHECKPOINT_BYTES}", page.len());
        found.push(Finding::new(FindingKind::Checkpoint, &path, text));
    }
    let ours = survey.known.marks.is_some_and(|marks| marks.clean);
    let ledger = survey.known.ledger.as_ref().and_then(|ledger| ledger.last);
    let (begin, time) = walked.last.or(ledger).unwrap_or((Position::ZERO, 0));
    for (at, limit) in [(0, Some(time)), (8, Some(time)), (32, None), (40, None)] {
        let limit = limit.unwrap_or(begin.get().cast_signed());
        let value = read_i64(&page, at).unwrap_or(0);
        // Where RocketMQ confirms something else than the last record, that is its own.
        let is_right = if ours { value == limit } else { at == 32 || value <= limit };
        if !is_right {
            let text = format!("it says {value}, and the log says {limit}");
            let finding = Finding::new(FindingKind::Checkpoint, &path, text);
            found.push(finding.with_bytes(at as u64..at as u64 + 8));
        }
    }
    Ok(found)
}

/// Every page of every cursor's file; of a closed store also whether its queues go so far. A crash
/// may leave a slot torn, which the next opening mends.
fn cursors(survey: &Survey) -> Result<Vec<Finding>> {
    let (disk, dir) = (survey.disk.as_ref(), survey.cursors_dir());
    let mut found = Vec::new();
    for (topic, name) in names_in(disk, &dir)? {
        let path = dir.join(&topic).join(name);
        let (faults, saved) = cursor_faults(disk, &path)?;
        found.extend(faults.into_iter().map(|fault| {
            let finding = Finding::new(FindingKind::Cursor, &path, fault.text);
            finding.with_bytes(fault.range).only_if(survey.known.clean || !fault.is_torn)
        }));
        let ledger = survey.known.ledger.as_ref().filter(|_| survey.known.clean);
        if let (Some(saved), Some(ledger)) = (saved, ledger) {
            found.extend(beyond(&path, &topic, &saved, ledger));
        }
    }
    Ok(found)
}

/// A queue of the cursor's that ends before the cursor does, if there is one.
fn beyond(path: &Path, topic: &str, saved: &Saved, ledger: &Ledger) -> Option<Finding> {
    let end = |id: u32| {
        let mut queues = ledger.queues.iter();
        let queue = queues.find(|queue| queue.id == id && queue.topic == topic);
        queue.map_or(0, |queue| queue.bounds.max.get())
    };
    let mut queues = saved.queues.iter();
    let (id, progress) = queues.find(|(id, progress)| progress.next() > end(**id))?;
    let text = format!("it is at {} of queue {id}, which ends at {}", progress.next(), end(*id));
    Some(Finding::new(FindingKind::Cursor, path, text))
}
