//! Mending: what a verification found, turned into a plan, and the plan carried out.
//!
//! There is no second engine here. Files that cannot be segments are made to be some, damaged
//! ranges become records that recovery reads like any other, and then the store is opened and
//! closed: recovery cuts the tail and derives what is derived. Whatever is cut or written over
//! is saved before, byte for byte.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::Position;
use crate::checkpoint::Ledger;
use crate::cursor::{CursorFile, salvage};
use crate::directory::set_aside;
use crate::disk::{Access, Allocation, Disk, File, OsClock};
use crate::error::{Error, ErrorKind, Result};
use crate::log::{fill, save_bytes, save_file};
use crate::options::{OnDamage, Options};
use crate::segment::{Segment, Snapshot};
use crate::store::{Recovery, Store, Survey};
use crate::verify::files::Walked;
use crate::verify::wording::UNMENDABLE;
use crate::verify::{Finding, FindingKind, Verification};

/// One thing that mending a store takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairAction {
    /// A segment file of the wrong length is replaced by one of the right length with the same
    /// bytes, and set aside. What its records then lack is found by another verification.
    Resize {
        /// The file.
        path: PathBuf,
        /// The right length in bytes.
        len_bytes: u64,
    },
    /// A file that is no segment of the log is set aside.
    SetAside {
        /// The file.
        path: PathBuf,
    },
    /// Damaged bytes are saved, and written over with a padding that readers pass by.
    Pad {
        /// The file they begin in.
        path: PathBuf,
        /// Where, on the log's line.
        range: Range<u64>,
    },
    /// What a crash left behind the log's end is saved and cut off.
    CutTail {
        /// The file it begins in.
        path: PathBuf,
        /// Where, on the log's line.
        range: Range<u64>,
    },
    /// The queues are derived anew from the log.
    RebuildQueues,
    /// The key index is built anew from the log.
    RebuildKeys,
    /// A cursor's file is saved, and written anew with what is whole in it. A queue whose page is
    /// lost begins anew with its first message.
    MendCursor {
        /// The file.
        path: PathBuf,
    },
    /// The registry is written anew; the directories are those that the options name.
    RewriteRegistry,
    /// Marks, offsets and checkpoint are written anew.
    RewriteMarks,
}

/// Nothing of a later release is mended.
const LATER: &str = "a later release";

impl RepairAction {
    /// The action's name, as the command prints it in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resize { .. } => "resize",
            Self::SetAside { .. } => "set_aside",
            Self::Pad { .. } => "pad",
            Self::CutTail { .. } => "cut_tail",
            Self::RebuildQueues => "rebuild_queues",
            Self::RebuildKeys => "rebuild_keys",
            Self::MendCursor { .. } => "mend_cursor",
            Self::RewriteRegistry => "rewrite_registry",
            Self::RewriteMarks => "rewrite_marks",
        }
    }

    /// The file concerned and the range of the log, where there are any.
    #[must_use]
    pub fn place(&self) -> (Option<&Path>, Option<Range<u64>>) {
        match self {
            Self::Resize { path, .. } | Self::SetAside { path } | Self::MendCursor { path } => {
                (Some(path), None)
            }
            Self::Pad { path, range } | Self::CutTail { path, range } => {
                (Some(path), Some(range.clone()))
            }
            _ => (None, None),
        }
    }
}

impl fmt::Display for RepairAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |range: &Range<u64>| range.end - range.start;
        match self {
            Self::Resize { path, len_bytes } => {
                let path = path.display();
                write!(f, "give {path} its length of {len_bytes} bytes, the old file set aside")
            }
            Self::SetAside { path } => write!(f, "set {} aside", path.display()),
            Self::Pad { path, range } => {
                let (count, at) = (bytes(range), range.start);
                write!(
                    f,
                    "save {count} bytes at position {at} and pad them over: {}",
                    path.display()
                )
            }
            Self::CutTail { path, range } => {
                let (count, at) = (bytes(range), range.start);
                write!(
                    f,
                    "save {count} bytes behind position {at} and cut them: {}",
                    path.display()
                )
            }
            Self::RebuildQueues => f.write_str("derive the queues anew from the log"),
            Self::RebuildKeys => f.write_str("build the key index anew from the log"),
            Self::MendCursor { path } => {
                write!(f, "save the cursor and write what is whole of it anew: {}", path.display())
            }
            Self::RewriteRegistry => f.write_str("write the registry anew"),
            Self::RewriteMarks => f.write_str("write marks, offsets and checkpoint anew"),
        }
    }
}

/// What mending a store takes, from what a verification found. Nothing is done before
/// [`RepairPlan::apply`].
#[derive(Debug)]
pub struct RepairPlan {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    options: Options,
    saved_dir: PathBuf,
    catalogue: PathBuf,
    ledger: Option<(PathBuf, Ledger)>,
    snapshot: Snapshot,
    /// The store time of the log's last record, in ms.
    last_ms: i64,
    actions: Vec<RepairAction>,
    beyond: Vec<Finding>,
}

/// What a repair did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// Files with what was cut or written over, as it stood there.
    pub saved: Vec<PathBuf>,
    /// What opening the store found and did then.
    pub recovery: Recovery,
}

impl RepairPlan {
    /// The plan for what was found; all of the verification's steps must have run. While a
    /// directory or a part of the log is not there, nothing is mended, unless the options say that
    /// this is all right.
    ///
    /// # Errors
    /// `Invalid` if steps are left to run.
    pub fn of(verification: &Verification) -> Result<Self> {
        let (survey, walked): (&Survey, Walked) = verification.outcome().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "the verification did not run to its end")
        })?;
        let mut plan = Self {
            disk: Arc::clone(&survey.disk),
            root: survey.root.clone(),
            options: survey.options.clone(),
            saved_dir: survey.saved_dir(),
            catalogue: survey.catalogue_path(),
            ledger: survey.known.ledger.clone().map(|ledger| (survey.ledger_path(), ledger)),
            snapshot: survey.snapshot.clone(),
            last_ms: walked.last.map_or(0, |(_, time)| time),
            actions: Vec::new(),
            beyond: Vec::new(),
        };
        for finding in verification.findings() {
            plan.take(finding, survey);
        }
        let is_away = |found: &Finding| found.kind == FindingKind::Missing && found.is_damage;
        if plan.beyond.iter().any(is_away) {
            // What is away may come back, and everything else follows from it.
            plan.actions.clear();
        }
        plan.actions.sort_by_key(order);
        plan.actions.dedup();
        Ok(plan)
    }

    fn take(&mut self, finding: &Finding, survey: &Survey) {
        let path = finding.path.clone();
        let range = finding.range.clone().unwrap_or_default();
        let action = match finding.kind {
            FindingKind::Leftover => return,
            FindingKind::Record if self.can_pad(&range) => RepairAction::Pad { path, range },
            FindingKind::TornTail => RepairAction::CutTail { path, range },
            FindingKind::Segment => match fault_action(finding, survey) {
                Some(action) => action,
                None => return self.beyond.push(finding.clone()),
            },
            FindingKind::Unit if UNMENDABLE.contains(&finding.text.as_str()) => {
                return self.beyond.push(finding.clone());
            }
            FindingKind::Unit | FindingKind::QueueFile | FindingKind::Ledger => {
                RepairAction::RebuildQueues
            }
            FindingKind::Key | FindingKind::KeyFile => RepairAction::RebuildKeys,
            FindingKind::Cursor if finding.text.contains(LATER) => {
                return self.beyond.push(finding.clone());
            }
            FindingKind::Cursor => RepairAction::MendCursor { path },
            FindingKind::Registry => RepairAction::RewriteRegistry,
            FindingKind::Marks | FindingKind::Checkpoint => RepairAction::RewriteMarks,
            _ => return self.beyond.push(finding.clone()),
        };
        let changes_log = matches!(action, RepairAction::Pad { .. } | RepairAction::Resize { .. });
        self.actions.push(action);
        if changes_log {
            self.actions.push(RepairAction::RebuildQueues);
        }
    }

    fn can_pad(&self, range: &Range<u64>) -> bool {
        let mut parts = parts(&self.snapshot, range);
        parts.all(|(segment, part)| crate::log::can_fill(&segment, &part))
    }

    /// What will be done, in order.
    #[must_use]
    pub fn actions(&self) -> &[RepairAction] {
        &self.actions
    }

    /// What was found and cannot be mended here: a directory that is not there has to come back,
    /// a device that does not give its bytes has to be replaced.
    #[must_use]
    pub fn beyond(&self) -> &[Finding] {
        &self.beyond
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Does it, and opens and closes the store, which recovers it. With
    /// [`RepairAction::Resize`] another verification is needed afterwards: what the file lacked is
    /// told by that.
    ///
    /// # Errors
    /// `Locked` while somebody has the store open; what opening and closing it say; what the disk
    /// says. It may be done again then, after another verification; what was saved stays.
    pub fn apply(self) -> Result<Repaired> {
        let mut saved = Vec::new();
        {
            let _locks = self.lock()?;
            for action in &self.actions {
                self.apply_one(action, &mut saved)?;
            }
        }
        if self.actions.iter().any(|action| matches!(action, RepairAction::Resize { .. })) {
            // Its records are not known yet.
            return Ok(Repaired { saved, recovery: Recovery::default() });
        }
        let rewrites = self.actions.contains(&RepairAction::RewriteRegistry);
        let options = Options {
            adopt: self.options.adopt || rewrites,
            on_damage: OnDamage::Refuse,
            ..self.options.clone().read_only(false).create(false).background(false)
        };
        let clock = Arc::new(OsClock::new());
        let store = Store::open_on(Arc::clone(&self.disk), clock, &self.root, options)?;
        let recovery = store.recovery().clone();
        store.close()?;
        saved.extend(recovery.salvaged.iter().map(|salvage| salvage.path.clone()));
        Ok(Repaired { saved, recovery })
    }

    /// Nobody may have the store open, nor a directory of it by another root.
    fn lock(&self) -> Result<Vec<Box<dyn crate::disk::Lock>>> {
        let dirs = self.snapshot.segments().iter().filter_map(|segment| segment.path().parent());
        let mut dirs: Vec<_> = dirs.map(Path::to_owned).collect();
        dirs.sort();
        dirs.dedup();
        let lock = self.root.join("lock");
        [lock].into_iter().chain(dirs).map(|path| self.disk.lock(&path)).collect()
    }

    fn apply_one(&self, action: &RepairAction, saved: &mut Vec<PathBuf>) -> Result<()> {
        let disk = self.disk.as_ref();
        match action {
            RepairAction::Resize { path, len_bytes } => {
                saved.push(resize(disk, path, *len_bytes)?);
            }
            RepairAction::SetAside { path } => saved.push(set_aside(disk, path)?),
            RepairAction::CutTail { range, .. } => saved.push(self.save(range)?),
            RepairAction::Pad { range, .. } => {
                saved.push(self.save(range)?);
                for (segment, part) in parts(&self.snapshot, range) {
                    fill(disk, &segment, part, self.last_ms)?;
                }
            }
            RepairAction::RebuildQueues => self.distrust()?,
            RepairAction::RebuildKeys => self.forget_keys()?,
            RepairAction::MendCursor { path } => saved.extend(self.mend_cursor(path)?),
            RepairAction::RewriteRegistry | RepairAction::RewriteMarks => {}
        }
        Ok(())
    }

    fn save(&self, range: &Range<u64>) -> Result<PathBuf> {
        let range = Position::new(range.start)..Position::new(range.end);
        save_bytes(self.disk.as_ref(), &self.snapshot, range, &self.saved_dir)
    }

    /// Without a catalogue, opening builds the index anew.
    fn forget_keys(&self) -> Result<()> {
        let disk = self.disk.as_ref();
        if disk.stat(&self.catalogue)?.is_none() {
            return Ok(());
        }
        disk.remove(&self.catalogue)?;
        disk.sync_dir(self.catalogue.parent().expect("it lies in a directory"))
    }

    fn mend_cursor(&self, path: &Path) -> Result<Option<PathBuf>> {
        let disk = self.disk.as_ref();
        let Some(bytes) = disk.read(path)? else { return Ok(None) };
        let saved = save_file(disk, &bytes, &self.saved_dir)?;
        CursorFile::create(disk, path, &salvage(&bytes))?;
        Ok(Some(saved))
    }

    /// Makes the ledger one that fits no log; what the log cannot tell it keeps.
    fn distrust(&self) -> Result<()> {
        match &self.ledger {
            Some((path, ledger)) => {
                let bytes = Ledger { last: None, ..ledger.clone() }.encode();
                self.disk.replace(path, &bytes)
            }
            None => Ok(()),
        }
    }
}

/// Files first, then the log, then what follows from it.
fn order(action: &RepairAction) -> (u8, u64) {
    match action {
        RepairAction::Resize { .. } | RepairAction::SetAside { .. } => (0, 0),
        RepairAction::Pad { range, .. } => (1, range.start),
        RepairAction::CutTail { range, .. } => (2, range.start),
        RepairAction::RebuildQueues => (3, 0),
        RepairAction::RebuildKeys => (4, 0),
        RepairAction::MendCursor { .. } => (5, 0),
        RepairAction::RewriteRegistry => (6, 0),
        RepairAction::RewriteMarks => (7, 0),
    }
}

/// What makes a segment of a file that is none, if something does.
fn fault_action(finding: &Finding, survey: &Survey) -> Option<RepairAction> {
    let fault = survey.faults.iter().find(|fault| fault.found.path == finding.path)?;
    let path = finding.path.clone();
    match (fault.right_len, fault.is_twin) {
        (_, true) => None,
        (Some(len_bytes), _) => Some(RepairAction::Resize { path, len_bytes }),
        (None, _) => Some(RepairAction::SetAside { path }),
    }
}

/// The parts of a range that lie in segments, one by one.
fn parts<'a>(
    snapshot: &'a Snapshot,
    range: &'a Range<u64>,
) -> impl Iterator<Item = (Arc<Segment>, Range<u64>)> + 'a {
    snapshot.segments().iter().filter_map(move |segment| {
        let (base, end) = (segment.base().get(), segment.end().get());
        let part = range.start.max(base)..range.end.min(end);
        (part.start < part.end).then(|| (Arc::clone(segment), part.start - base..part.end - base))
    })
}

/// Bytes that are copied in one piece.
const PIECE_BYTES: u64 = 1 << 20;

/// Replaces a file by one of another length with the same bytes; says where the old one is.
fn resize(disk: &dyn Disk, path: &Path, len: u64) -> Result<PathBuf> {
    let dir = path.parent().expect("a segment lies in a directory");
    let old = disk.open(path, Access::Read)?;
    let new = disk.create(dir, len, Allocation::Reserved)?;
    copy(old.as_ref(), new.as_ref(), old.len_bytes().min(len))?;
    new.sync()?;
    let aside = set_aside(disk, path)?;
    new.link(path)?;
    disk.sync_dir(dir)?;
    Ok(aside)
}

fn copy(from: &dyn File, to: &dyn File, len: u64) -> Result<()> {
    let mut piece = vec![0; usize::try_from(PIECE_BYTES.min(len)).expect("a megabyte")];
    let mut at = 0;
    while at < len {
        let now = usize::try_from(PIECE_BYTES.min(len - at)).expect("a megabyte");
        from.read_at(at, &mut piece[..now])?;
        to.write_at(at, &piece[..now])?;
        at += now as u64;
    }
    Ok(())
}
