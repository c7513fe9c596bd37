//! Findings made of what the layers below find.

use std::path::PathBuf;

use crate::derived::{KeyMisfit, KeyWrong, Misfit, Wrong};
use crate::error::Error;
use crate::verify::{Finding, FindingKind};

/// What no derivation can mend.
pub(super) const UNMENDABLE: [&str; 2] = [TWICE, UNLIKELY];

const TWICE: &str = "two records have one offset in the queue";
const UNLIKELY: &str = "the record's offset in its queue cannot be: no unit leads to it";

pub(super) fn layout_finding(found: &crate::directory::Found, error: &Error) -> Finding {
    let finding = Finding::new(FindingKind::Segment, &found.path, error.message());
    let base = found.base.get();
    let len = error.limit().filter(|_| found.len > 0).unwrap_or(found.len);
    finding.with_bytes(found.len..found.len.max(len)).with_range(base..base.saturating_add(len))
}

pub(super) fn queue_finding(misfit: Misfit) -> Finding {
    let (kind, text) = match misfit.wrong {
        Wrong::Missing => (FindingKind::Unit, "records have no unit in their queue"),
        Wrong::Differs => (FindingKind::Unit, "the queue's unit is not that of its record"),
        Wrong::Stray => (FindingKind::Unit, "the queue's unit points to no record of its queue"),
        Wrong::Twice => (FindingKind::Unit, TWICE),
        Wrong::Unlikely => (FindingKind::Unit, UNLIKELY),
        Wrong::Leftover => (FindingKind::Leftover, "bytes behind the queue's end that are no unit"),
        Wrong::File => (FindingKind::QueueFile, "the queue's file cannot be used"),
    };
    let path: PathBuf = misfit.path;
    let finding = Finding::new(kind, path, misfit.text.unwrap_or_else(|| text.to_owned()));
    finding.with_bytes(misfit.range).only_if(misfit.wrong != Wrong::Leftover)
}

pub(super) fn key_finding(misfit: KeyMisfit, is_sure: bool) -> Finding {
    let KeyMisfit { wrong, path, range, text } = misfit;
    let kind = match wrong {
        KeyWrong::Entry => FindingKind::Key,
        KeyWrong::File => FindingKind::KeyFile,
        KeyWrong::Leftover => FindingKind::Leftover,
    };
    let is_damage = is_sure && wrong != KeyWrong::Leftover;
    Finding::new(kind, path, text).with_bytes(range).only_if(is_damage)
}
