//! Opening: lock, find the directories, read what is not known, write down what follows, start.
//!
//! No record is changed before the log was read and judged, so an open that fails leaves all of
//! them. Queue units and the ledger are derived: reading may write them anew.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::checkpoint::{Ledger, Marks, MarksFile, RocketmqCheckpoint};
use crate::derived::{KeyIndex, Queues, Shelf};
use crate::directory::{Directory, Inventory, Registry, read_registry};
use crate::disk::{Access, Clock, Disk, EntryKind, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Log, WritePath, rewrite};
use crate::options::{Durability, OnDamage, Options};
use crate::record::{Encoding, PADDING_BYTES, UniqueIds};
use crate::retention::{Pressure, Role};
use crate::segment::{Budget, Place, Segment, Snapshot, Supply};
use crate::store::cursors::open_cursors;
use crate::store::fleet::Fleet;
use crate::store::follow::Follower;
use crate::store::handle::Steps;
use crate::store::recovery::{Known, Outcome, Recovery, cut_tail, recover};
use crate::store::{Store, own_dir, usual_directory};
use crate::tasks::{Disks, Engine, LEDGER, Parts, ProbeStep, Workers};

/// Exists while a store is open, as in RocketMQ; found at open, it says that nobody closed it.
pub(super) const ABORT: &str = "abort";

/// The store's own marks, under `.spanlog/`.
pub(super) const MARKS: &str = "marks";

/// Under `.spanlog/`: exists from the moment that a store begins to be destroyed.
pub(super) const DESTROYING: &str = "destroying";

/// Where the queues lie under the root.
pub(super) const QUEUES: &str = "consumequeue";

/// Where RocketMQ's batch queues lie under the root; they are not ours.
const BATCH_QUEUES: &str = "batchconsumequeue";

/// Everything that was found and read, before anything is changed.
pub(super) struct Opening {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) root: PathBuf,
    pub(super) options: Options,
    pub(super) budget: Arc<Budget>,
    pub(super) fleet: Fleet,
    pub(super) inventory: Inventory,
    pub(super) marks: Option<Marks>,
    pub(super) lock: Option<Box<dyn Lock>>,
}

/// What recovery made of it.
struct Derived {
    log: Log,
    queues: Queues,
    keys: KeyIndex,
    last: Option<(Position, i64)>,
    patchy: bool,
}

pub(super) fn open(
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    root: &Path,
    options: Options,
) -> Result<Store> {
    options.validate()?;
    let root = find_root(disk.as_ref(), root, &options)?;
    // The lock comes first: a second opener must not touch anything.
    let lock = match options.read_only {
        true => None,
        false => {
            Some(disk.lock(&root.join("lock")).map_err(|error| name_holder(&*disk, &root, error))?)
        }
    };
    let mut tries = if options.read_only { READ_ONLY_TRIES } else { 1 };
    let mut lock = lock;
    let store = loop {
        let (disk, clock) = (Arc::clone(&disk), Arc::clone(&clock));
        let opening = Opening::look(disk, clock, root.clone(), options.clone(), lock.take());
        tries -= 1;
        match opening.and_then(Opening::recover) {
            // A writer may drop segments while a reader looks for them: they are gone, not away.
            Err(error) if tries > 0 && is_passing(&error) => {}
            opened => break opened?,
        }
    };
    if store.engine.options.background && !store.engine.options.read_only {
        store.start()?;
    }
    Ok(store)
}

/// How often a reader looks at a store that somebody else may be changing.
const READ_ONLY_TRIES: u32 = 8;

pub(super) fn is_passing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Offline | ErrorKind::Gone | ErrorKind::Corrupt)
}

/// A store of which a part was removed is no store any more.
pub(super) fn refuse_half_destroyed(disk: &dyn Disk, root: &Path) -> Result<()> {
    let mark = own_dir(root).join(DESTROYING);
    match disk.stat(&mark)? {
        None => Ok(()),
        Some(_) => {
            let text = "destroying the store was interrupted; destroy it again to finish";
            Err(Error::new(ErrorKind::Invalid, text).at(root))
        }
    }
}

pub(super) fn find_root(disk: &dyn Disk, root: &Path, options: &Options) -> Result<PathBuf> {
    let there_is_none = || Error::new(ErrorKind::Invalid, "there is no store").at(root);
    let may_make = options.create && !options.read_only;
    if disk.stat(root)?.is_none() {
        if !may_make {
            return Err(there_is_none());
        }
        disk.make_dir(root)?;
    } else if !may_make && options.directories.is_empty() && !holds_store(disk, root)? {
        return Err(there_is_none());
    }
    let stat = disk.stat(root)?.expect("it was found or made");
    Ok(stat.canonical)
}

/// Whether a store was made at `root`, by anyone: it has a registry, or RocketMQ's directory.
fn holds_store(disk: &dyn Disk, root: &Path) -> Result<bool> {
    Ok(disk.stat(&own_dir(root))?.is_some() || disk.stat(&usual_directory(root))?.is_some())
}

/// The system does not tell who holds a lock of spanlog's; who opened the store has written it
/// down.
fn name_holder(disk: &dyn Disk, root: &Path, error: Error) -> Error {
    let holder = disk.read(&root.join(ABORT)).ok().flatten();
    let pid = holder.and_then(|text| String::from_utf8(text).ok()?.trim().parse::<u32>().ok());
    match pid.filter(|_| error.kind() == ErrorKind::Locked) {
        Some(pid) => {
            let text = format!("{}; process {pid} opened the store last", error.message());
            Error::new(ErrorKind::Locked, text).at(&root.join("lock"))
        }
        None => error,
    }
}

impl Opening {
    /// Finds the directories and the segments in them.
    fn look(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        root: PathBuf,
        options: Options,
        lock: Option<Box<dyn Lock>>,
    ) -> Result<Self> {
        refuse_half_destroyed(disk.as_ref(), &root)?;
        let registry = match read_registry(disk.as_ref(), &root) {
            Err(error) if error.kind() == ErrorKind::Corrupt && options.adopt => None,
            registry => registry?,
        };
        let fleet = Fleet::find(&disk, &root, &options, registry)?;
        let marks = MarksFile::peek(disk.as_ref(), &own_dir(&root).join(MARKS))?;
        let start = marks.map_or(Position::ZERO, |marks| marks.start);
        let inventory = fleet.inventory(disk.as_ref(), start)?;
        if let Some(gap) = inventory.gaps.first().filter(|_| !options.allow_offline) {
            let text = "segments are missing: perhaps a directory was left off the list";
            return Err(Error::new(ErrorKind::Offline, text)
                .at(&root)
                .with_range(gap.start.get()..gap.end.get()));
        }
        let budget = Budget::new(options.max_maps);
        Ok(Self { disk, clock, root, options, budget, fleet, inventory, marks, lock })
    }

    fn recover(mut self) -> Result<Store> {
        self.fleet.settle_lengths(self.disk.as_ref(), &self.inventory, &self.root)?;
        let segments = self.segments();
        let snapshot = crate::segment::Chain::new(segments.clone()).snapshot();
        let known = self.known()?;
        let queues = self.queues()?;
        let outcome = recover(&known, &snapshot, &queues, &|| self.distrust(&known))?;
        self.check_whole(&known, &outcome, &queues, &snapshot)?;
        let mut report = outcome.report;
        report.ignored = std::mem::take(&mut self.inventory.ignored);
        let start = known.start(&snapshot, report.end);
        known.tell_removed(start);
        report.offline = self.note_holes(&snapshot, start..report.end);
        let mut segments = segments;
        if !self.options.read_only {
            self.check_end(&snapshot, report.end)?;
            self.settle(&mut segments, &known, outcome.cut, &mut report, &queues)?;
        }
        self.follow_start(&known, &queues, start, &report)?;
        // What an earlier process wrote is flushed as what this one writes.
        let is_whole = known.clean && !outcome.cut;
        let flushed = if is_whole { report.end } else { known.flushed().max(start) };
        let is_poisoned =
            known.marks.is_some_and(|marks| marks.poisoned) && !self.options.read_only;
        if is_poisoned {
            // What lies in a read-only directory stays as it is.
            let is_fixed =
                |segment: &Segment| self.fleet.role(segment.directory()) == Role::ReadOnly;
            let rest: Vec<_> = segments.iter().filter(|own| !is_fixed(own)).cloned().collect();
            rewrite(&rest, flushed..report.end)?;
        }
        let log = self.log(segments, start..report.end).flushed_to(flushed);
        if is_poisoned || log.write_path() == WritePath::Staged {
            log.flush()?;
        }
        let keys = self.keys(&known, outcome.fits_ledger && !outcome.patchy, start)?;
        let (last, patchy) = (outcome.last, outcome.patchy);
        self.assemble(Derived { log, queues, keys, last, patchy }, report, &known)
    }

    /// Nothing in a read-only directory changes, so the log cannot go on in one.
    fn check_end(&self, snapshot: &Snapshot, end: Position) -> Result<()> {
        let mut tail = snapshot.segments().iter().filter(|segment| end < segment.end());
        let fixed = tail.find(|segment| self.fleet.role(segment.directory()) == Role::ReadOnly);
        fixed.map_or(Ok(()), |last| {
            let text = "the log's end lies in a read-only directory: give that another role, or \
                        open the store for reading alone";
            Err(Error::new(ErrorKind::Invalid, text).at(last.path()).with_offset(end.get()))
        })
    }

    /// Makes the ledger one that fits no log: queues are about to be derived anew, or over a hole.
    fn distrust(&self, known: &Known) -> Result<()> {
        match known.ledger.clone().filter(|_| !self.options.read_only) {
            Some(ledger) => {
                let bytes = Ledger { last: None, ..ledger }.encode();
                self.disk.replace(&own_dir(&self.root).join(LEDGER), &bytes)
            }
            None => Ok(()),
        }
    }

    /// Notes and returns the ranges that are on no directory there.
    fn note_holes(&mut self, snapshot: &Snapshot, line: Range<Position>) -> Vec<Range<u64>> {
        let holes = snapshot.holes(line).into_iter();
        let holes: Vec<_> = holes.map(|hole| hole.start.get()..hole.end.get()).collect();
        self.fleet.set_lost(holes.clone());
        holes
    }

    fn log(&self, segments: Vec<Arc<Segment>>, line: Range<Position>) -> Log {
        let path = match self.options.durability {
            Durability::Group if !self.options.read_only => WritePath::Staged,
            // Where nobody writes, everything is visible.
            _ => WritePath::Mapped,
        };
        Log::new(segments, line.end, path).beginning_at(line.start)
    }

    /// The segments as they were found, opened for writing where that is allowed.
    pub(super) fn segments(&self) -> Vec<Arc<Segment>> {
        let found = self.inventory.segments.iter();
        let segment = |found: &crate::directory::Found| {
            let role = self.fleet.role(found.directory);
            let access = match self.options.read_only || role == Role::ReadOnly {
                true => Access::Read,
                false => Access::Write,
            };
            let place = Place {
                base: found.base,
                len: found.len,
                path: found.path.clone(),
                directory: found.directory,
            };
            Arc::new(Segment::existing(&self.disk, &self.budget, place, access))
        };
        found.map(segment).collect()
    }

    /// What is known of the log before it is read.
    pub(super) fn known(&self) -> Result<Known> {
        let disk = self.disk.as_ref();
        let ledger = disk.read(&own_dir(&self.root).join(LEDGER))?;
        Ok(Known {
            clean: disk.stat(&self.root.join(ABORT))?.is_none(),
            marks: self.marks,
            ledger: ledger.and_then(|bytes| Ledger::decode(&bytes)),
            rocketmq: RocketmqCheckpoint::new(&self.root).read(disk)?,
            on_damage: self.options.on_damage,
            partial: self.options.allow_offline && self.fleet.is_partial(&self.inventory),
        })
    }

    pub(super) fn queues(&self) -> Result<Queues> {
        let access = if self.options.read_only { Access::Read } else { Access::Write };
        let shelf = Shelf {
            disk: Arc::clone(&self.disk),
            budget: Arc::clone(&self.budget),
            file_len: self.fleet.registry().queue_file_len,
            access,
        };
        let queues = Queues::new(&self.root.join(QUEUES), shelf);
        Ok(queues.keeping_aside(self.batch_topics()?, own_dir(&self.root).join(QUEUES)))
    }

    /// The topics for which RocketMQ keeps batch queues.
    fn batch_topics(&self) -> Result<BTreeSet<String>> {
        let dir = self.root.join(BATCH_QUEUES);
        if self.disk.stat(&dir)?.is_none() {
            return Ok(BTreeSet::new());
        }
        let entries = self.disk.list(&dir)?.into_iter();
        let topics = entries.filter(|entry| entry.kind == EntryKind::Directory);
        Ok(topics.map(|entry| entry.name).collect())
    }

    /// A log that ends before what was known to be flushed, or before what its queues point to,
    /// lost segments: its positions must not be given out again.
    fn check_whole(
        &self,
        known: &Known,
        outcome: &Outcome,
        queues: &Queues,
        snapshot: &Snapshot,
    ) -> Result<()> {
        let end = outcome.report.end;
        if self.options.allow_offline || self.options.on_damage == OnDamage::Cut {
            return Ok(());
        }
        let mut should_reach = known.marks.map_or(Position::ZERO, |marks| marks.flushed);
        let adopted = known.marks.is_none();
        if adopted {
            // Queues of an interrupted RocketMQ may run ahead, but not by a whole segment.
            let segment_end = snapshot.last().map_or(end, |last| last.end());
            let furthest = queues.furthest()?;
            let slack = if known.clean { end } else { segment_end.max(end) };
            should_reach = if furthest > slack { furthest } else { should_reach };
        }
        if should_reach <= end {
            return Ok(());
        }
        let text = "the log ends before what was known to be in it: segments or a directory \
                    are missing";
        Err(Error::new(ErrorKind::Offline, text)
            .at(&self.root)
            .with_range(end.get()..should_reach.get()))
    }

    /// Writes down what was found, in an order that a crash at any point leaves to be done again.
    fn settle(
        &mut self,
        segments: &mut Vec<Arc<Segment>>,
        known: &Known,
        cut: bool,
        report: &mut Recovery,
        queues: &Queues,
    ) -> Result<()> {
        let disk = self.disk.as_ref();
        self.fleet.write_down(&self.disk, &self.root)?;
        self.inventory.set_aside(disk)?;
        self.fleet.sweep(disk)?;
        let is_unclean = !known.clean || cut;
        if is_unclean {
            cut_tail(disk, &self.root, segments, report)?;
            // The names of files that an earlier process made may not be durable yet.
            self.fleet.sync(disk)?;
        }
        if is_unclean || report.records > 0 {
            queues.trim()?;
        }
        let pid = std::process::id().to_string();
        disk.replace(&self.root.join(ABORT), pid.as_bytes())
    }

    /// Minimum offsets follow the log's start, and no offset is given out twice.
    fn follow_start(
        &self,
        known: &Known,
        queues: &Queues,
        start: Position,
        report: &Recovery,
    ) -> Result<()> {
        if let Some(ledger) = known.ledger.as_ref().filter(|old| old.position <= report.end) {
            for queue in &ledger.queues {
                queues.raise_next(&queue.topic, queue.id, queue.bounds.max);
            }
        }
        // Retention writes its mark alone: the queues' offsets may be of before.
        let moved = !known.clean || known.marks.is_none_or(|marks| marks.start != start);
        if report.records > 0 || moved {
            queues.follow(start)?;
        }
        Ok(())
    }

    fn assemble(mut self, derived: Derived, report: Recovery, known: &Known) -> Result<Store> {
        let registry = self.fleet.registry().clone();
        let marks = match self.options.read_only {
            true => None,
            false => {
                let path = own_dir(&self.root).join(MARKS);
                Some(MarksFile::open(self.disk.as_ref(), &path)?.0)
            }
        };
        let no_appends = self.fleet.may_lack_the_tail(known, report.end);
        let cut_to = no_appends.is_none().then_some(&derived.queues);
        let cursors = open_cursors(self.disk.as_ref(), &self.root, &self.options, cut_to)?;
        let (disk, budget) = (Arc::clone(&self.disk), Arc::clone(&self.budget));
        let placement = self.options.placement;
        let now_ms = self.clock.now_ms();
        let options = self.options.clone();
        let engine = Engine::new(Parts {
            log: derived.log,
            queues: derived.queues,
            keys: derived.keys,
            supply: Supply::new(
                Arc::clone(&disk),
                Arc::clone(&budget),
                placement,
                registry.segment_len,
            ),
            disks: Disks::new(self.fleet.directories(&options), self.root_row()?, options.policy()),
            root: self.root,
            options,
            disk,
            clock: self.clock,
            budget,
            cursors,
            marks,
            last: derived.last,
            patchy: derived.patchy,
        });
        ProbeStep::probe(&engine);
        let store = Store {
            encoding: encoding(&engine.options, registry.segment_len),
            ids: UniqueIds::new(engine.options.store_host.ip(), std::process::id(), seed(), now_ms),
            recovery: report,
            no_appends,
            workers: Mutex::new(Workers::default()),
            steps: Mutex::new(Steps::new(&engine)),
            fleet: Mutex::new(self.fleet),
            lock: Mutex::new(self.lock.take()),
            follower: engine.options.read_only.then(|| Arc::new(Follower::new(&engine))),
            engine,
        };
        if !store.engine.options.read_only {
            store.engine.write_marks(false)?;
        }
        Ok(store)
    }

    /// The root as the disk policy sees it.
    fn root_row(&self) -> Result<Directory> {
        let device = self.disk.stat(&self.root)?.map_or(0, |stat| stat.device);
        Ok(Directory {
            id: 0,
            path: self.root.clone(),
            device,
            role: Role::ReadWrite,
            thresholds: self.options.thresholds,
            offline: None,
            usage: None,
            told: None,
            pressure: Pressure::None,
        })
    }
}

fn encoding(options: &Options, segment_len: u64) -> Encoding {
    Encoding {
        record_checksum: options.record_checksum,
        max_body_bytes: u32::try_from(options.max_body_bytes).unwrap_or(u32::MAX),
        max_record_bytes: segment_len - PADDING_BYTES,
        store_host: options.store_host,
    }
}

/// A number that no other process draws.
pub(super) fn seed() -> u32 {
    let number = RandomState::new().build_hasher().finish();
    u32::try_from(number >> 32).expect("half of a number fits")
}

/// A new store's number.
pub(super) fn draw_store() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The registry of a store that has none yet.
pub(super) fn new_registry(options: &Options) -> Registry {
    Registry {
        store: draw_store(),
        segment_len: options.segment_len_bytes,
        queue_file_len: options.queue_file_len_bytes,
        directories: Vec::new(),
    }
}
