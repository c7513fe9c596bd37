//! What is wrong with a cursor's file, page by page, and what can be saved of it.

use std::collections::btree_map::Entry as Row;
use std::ops::Range;
use std::path::Path;

use crate::cursor::page::decode_queue;
use crate::cursor::{CursorFile, Saved, Settings};
use crate::disk::slots::{SlotState, Slots, slot_states};
use crate::disk::{Access, Disk};
use crate::error::{Error, ErrorKind, Result};

/// What is wrong with bytes of a cursor's file.
#[derive(Debug)]
pub struct CursorFault {
    /// The bytes.
    pub range: Range<u64>,
    /// What is wrong with them.
    pub text: String,
    /// Whether a crash may have left it, with nothing lost: a slot that is torn beside a whole one.
    pub is_torn: bool,
}

/// What is wrong with a cursor's file, the first damage only, and what it says if it can be used.
///
/// # Errors
/// What the disk says.
pub fn cursor_faults(disk: &dyn Disk, path: &Path) -> Result<(Vec<CursorFault>, Option<Saved>)> {
    match CursorFile::open(disk, path, Access::Read) {
        Ok((_, saved)) => Ok((torn(disk, path)?, Some(saved))),
        Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Version) => {
            Ok((vec![fault(&error)], None))
        }
        // Deleted meanwhile.
        Err(_) if disk.stat(path)?.is_none() => Ok((Vec::new(), None)),
        Err(error) => Err(error),
    }
}

fn fault(error: &Error) -> CursorFault {
    let at = error.offset().unwrap_or(0);
    let len = if at.is_multiple_of(Slots::LEN) { Slots::LEN } else { 0 };
    CursorFault { range: at..at + len, text: error.message().to_owned(), is_torn: false }
}

/// The slots that are not whole, of a file that can be used.
fn torn(disk: &dyn Disk, path: &Path) -> Result<Vec<CursorFault>> {
    let file = disk.open(path, Access::Read)?;
    let mut page = vec![0; Slots::LEN as usize];
    let mut found = Vec::new();
    for at in (0..file.len_bytes()).step_by(Slots::LEN as usize) {
        file.read_at(at, &mut page)?;
        let states = slot_states(&page);
        for (slot, _) in states.iter().enumerate().filter(|(_, one)| **one == SlotState::Damaged) {
            let from = at + slot as u64 * Slots::LEN / 2;
            let text = "one of the two slots of a page is not whole".to_owned();
            found.push(CursorFault { range: from..from + 512, text, is_torn: true });
        }
    }
    Ok(found)
}

/// What can be saved of a cursor's file. A queue whose page is lost is not known any more, and
/// begins with its first message: nothing of it is passed by.
#[must_use]
pub fn salvage(bytes: &[u8]) -> Saved {
    let mut pages = bytes.chunks(Slots::LEN as usize).map(newest);
    let head = pages.next().flatten().and_then(|payload| Settings::decode(&payload));
    let mut saved = Saved { settings: head.unwrap_or_default().0, ..Saved::default() };
    for (queue, progress) in pages.flatten().filter_map(|payload| decode_queue(&payload)) {
        match saved.queues.entry(queue) {
            Row::Vacant(row) => drop(row.insert(progress)),
            Row::Occupied(mut row) if progress.floor() < row.get().floor() => {
                row.insert(progress);
            }
            Row::Occupied(_) => {}
        }
    }
    saved
}

/// The newest whole value of a page.
fn newest(page: &[u8]) -> Option<Vec<u8>> {
    let whole = slot_states(page).into_iter().filter_map(|slot| match slot {
        SlotState::Whole { sequence, payload } => Some((sequence, payload)),
        _ => None,
    });
    whole.max_by_key(|(sequence, _)| *sequence).map(|(_, payload)| payload)
}
