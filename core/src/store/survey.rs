//! A store looked at as it lies there: what an opening would refuse is told instead.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::Position;
use crate::checkpoint::MarksFile;
use crate::derived::{KeyClaim, Queues};
use crate::directory::{Fault, read_registry, registry_path};
use crate::disk::{Disk, OsClock};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::segment::{Budget, Chain, Snapshot};
use crate::store::cursors::cursors_dir;
use crate::store::fleet::Fleet;
use crate::store::open::{self, ABORT, MARKS, Opening};
use crate::store::open_keys::KEYS;
use crate::store::own_dir;
use crate::store::recovery::Known;
use crate::tasks::{CATALOGUE, LEDGER};

/// What a store consists of, and what is wrong with that. Nothing on disk was changed.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) root: PathBuf,
    /// How the caller would open it.
    pub(crate) options: Options,
    pub(crate) known: Known,
    pub(crate) snapshot: Snapshot,
    pub(crate) queues: Queues,
    /// What the key index is said to hold; nothing if what says so is damaged.
    pub(crate) keys: Option<KeyClaim>,
    /// First position kept.
    pub(crate) start: Position,
    /// Files in the segment directories that cannot be segments.
    pub(crate) faults: Vec<Fault>,
    /// The registry is damaged.
    pub(crate) registry: Option<Error>,
    /// Directories that are not there, and why.
    pub(crate) offline: Vec<(PathBuf, String)>,
}

/// Looks at the store at `root`.
///
/// # Errors
/// `Invalid` if there is no store; `Foreign` and `Version` as opening; `Corrupt` if the registry
/// is damaged and the options do not name directories; what the disk says.
pub(crate) fn survey(disk: Arc<dyn Disk>, root: &Path, options: &Options) -> Result<Survey> {
    options.validate()?;
    let reading = options.clone().read_only(true).create(false).allow_offline(true);
    let root = open::find_root(disk.as_ref(), root, &reading)?;
    open::refuse_half_destroyed(disk.as_ref(), &root)?;
    let (registry, damage) = match read_registry(disk.as_ref(), &root) {
        Err(error) if error.kind() == ErrorKind::Corrupt => (None, Some(error)),
        registry => (registry?, None),
    };
    let reading = Options { adopt: reading.adopt || damage.is_some(), ..reading };
    let fleet = match (Fleet::find(&disk, &root, &reading, registry), damage.is_some()) {
        // Without the registry nobody knows where the directories are.
        (Err(_), true) => return Err(damage.expect("it is there")),
        (fleet, _) => fleet?,
    };
    let marks = MarksFile::peek(disk.as_ref(), &own_dir(&root).join(MARKS))?;
    let first = marks.map_or(Position::ZERO, |marks| marks.start);
    let inventory = fleet.survey(disk.as_ref(), first)?;
    let budget = Budget::new(options.max_maps);
    let clock = Arc::new(OsClock::new());
    let mut opening = Opening {
        disk,
        clock,
        root,
        options: reading,
        budget,
        fleet,
        inventory,
        marks,
        lock: None,
    };
    opening.fleet.settle_lengths(opening.disk.as_ref(), &opening.inventory, &opening.root)?;
    finish(opening, options.clone(), damage)
}

fn finish(mut opening: Opening, options: Options, registry: Option<Error>) -> Result<Survey> {
    let snapshot = Chain::new(opening.segments()).snapshot();
    let known = opening.known()?;
    let start = known.start(&snapshot, known.flushed());
    Ok(Survey {
        queues: opening.queues()?,
        keys: opening.key_claim(&known)?,
        offline: opening.fleet.offline(),
        faults: std::mem::take(&mut opening.inventory.faults),
        disk: opening.disk,
        root: opening.root,
        options,
        known,
        snapshot,
        start,
        registry,
    })
}

impl Survey {
    /// The file of the store's marks.
    pub(crate) fn marks_path(&self) -> PathBuf {
        own_dir(&self.root).join(MARKS)
    }

    /// The file of the queues' offsets.
    pub(crate) fn ledger_path(&self) -> PathBuf {
        own_dir(&self.root).join(LEDGER)
    }

    /// The file that says how far the key index goes.
    pub(crate) fn catalogue_path(&self) -> PathBuf {
        own_dir(&self.root).join(CATALOGUE)
    }

    /// The directory of the key index.
    pub(crate) fn keys_dir(&self) -> PathBuf {
        self.root.join(KEYS)
    }

    /// Where cursors lie.
    pub(crate) fn cursors_dir(&self) -> PathBuf {
        cursors_dir(&self.root)
    }

    /// The registry's file.
    pub(crate) fn registry_path(&self) -> PathBuf {
        registry_path(&self.root)
    }

    /// Where bytes are saved before they are cut or written over.
    pub(crate) fn saved_dir(&self) -> PathBuf {
        own_dir(&self.root).join("saved")
    }

    /// The file that exists while the store is open.
    pub(crate) fn abort_path(&self) -> PathBuf {
        self.root.join(ABORT)
    }
}
