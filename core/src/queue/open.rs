//! Opening a queue: lock, find the files, read on from what is known to be durable, begin.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::base::waiting::Waiting;
use crate::base::watermark::{Published, Watermark};
use crate::directory::{Directory, Found, Inventory, NO_QUEUE_FILES, OWN_DIR, read_registry};
use crate::disk::{Clock, Disk, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Poison, rewrite};
use crate::options::Options;
use crate::queue::line::{Line, Meta, Numbers};
use crate::queue::meta::{Facts, Mark, MetaFile};
use crate::queue::options::{QueueDurability, QueueOptions};
use crate::queue::push::Tail;
use crate::queue::readers::{Cursor, ReaderRow, Readers};
use crate::queue::ready::{Ready, fill_holes};
use crate::queue::steps::ProbeStep;
use crate::queue::walk::{Segments, Walk};
use crate::retention::{Pressure, Role};
use crate::segment::{Budget, Ring, Scopes, Supply};
use crate::store::fleet::Fleet;
use crate::tasks::{Bell, Disks};

/// The meta page, under `.spanlog/`.
const META: &str = "queue";

/// What opening a queue found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueRecovery {
    /// Whether the queue had been closed.
    pub clean: bool,
    /// Whether the meta page was lost, so that everything was found by reading.
    pub meta_lost: bool,
    /// Records that were found behind what was known to be durable.
    pub found_records: u64,
    /// Readers whose cursors lay behind the end and were brought back to it: what they had
    /// committed was lost with power.
    pub clamped: Vec<String>,
    /// Files that are no part of the queue and were set aside, or left alone.
    pub ignored: Vec<PathBuf>,
}

/// Everything that was found, before anything is changed.
struct Opening {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    options: QueueOptions,
    fleet: Fleet,
    inventory: Inventory,
    segments: Segments,
    meta: MetaFile,
    facts: Facts,
    report: QueueRecovery,
}

/// A queue that was opened, with the locks that keep others out.
pub struct Opened {
    pub line: Arc<Line>,
    pub fleet: Fleet,
    pub lock: Box<dyn Lock>,
    pub report: QueueRecovery,
}

pub fn open(
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    root: &Path,
    options: QueueOptions,
) -> Result<Opened> {
    options.validate()?;
    let root = find_root(disk.as_ref(), root, &options)?;
    // The lock comes first: a second opener must not touch anything.
    let lock = disk.lock(&root.join("lock"))?;
    let mut opening = Opening::look(disk, root, options)?;
    let start = opening.start()?;
    let end = opening.end(start)?;
    opening.check_capacity(start, end)?;
    opening.settle(end)?;
    opening.assemble(clock, start, end, lock)
}

fn find_root(disk: &dyn Disk, root: &Path, options: &QueueOptions) -> Result<PathBuf> {
    if disk.stat(root)?.is_none() {
        if !options.create {
            return Err(Error::new(ErrorKind::Invalid, "there is no queue").at(root));
        }
        disk.make_dir(root)?;
    }
    let stat = disk.stat(root)?.expect("it was found or made");
    Ok(stat.canonical)
}

/// No cursor is anywhere yet.
fn nowhere() -> Scopes {
    Scopes { max: u64::MAX, ..Scopes::default() }
}

impl Opening {
    fn look(disk: Arc<dyn Disk>, root: PathBuf, mut options: QueueOptions) -> Result<Self> {
        let registry = read_registry(disk.as_ref(), &root)?;
        match &registry {
            // The length of segments is what it was when the queue was made.
            Some(known) if known.queue_file_len == NO_QUEUE_FILES => {
                options.segment_len_bytes = known.segment_len
            }
            None if !options.create => {
                return Err(Error::new(ErrorKind::Invalid, "there is no queue").at(&root));
            }
            _ => {}
        }
        options.validate()?;
        let is_new = registry.as_ref().is_none_or(|known| known.directories.is_empty());
        if options.directories.is_empty() && is_new {
            options.directories.push(root.join("segments").into());
        }
        let mut fleet = Fleet::find(&disk, &root, &options.of_directories(), registry)?;
        fleet.write_down(&disk, &root)?;
        let (meta, facts) = MetaFile::open(disk.as_ref(), &root.join(OWN_DIR).join(META))?;
        let start = facts.as_ref().map_or(Position::ZERO, |facts| facts.start.position);
        let inventory = take_inventory(disk.as_ref(), &fleet, start, options.segment_len_bytes)?;
        fleet.sweep(disk.as_ref())?;
        let meta_lost = facts.is_none() && !inventory.segments.is_empty();
        let facts = facts.unwrap_or_default();
        let report = QueueRecovery {
            clean: facts.clean,
            meta_lost,
            ignored: [&inventory.ignored[..], &inventory.spare[..]].concat(),
            ..QueueRecovery::default()
        };
        let segments = segments(&disk, &fleet, &options, &inventory.segments);
        Ok(Self { disk, root, options, fleet, inventory, segments, meta, facts, report })
    }

    /// The first record kept: what the meta page says, or the first there is.
    fn start(&self) -> Result<Mark> {
        if !self.report.meta_lost {
            return Ok(self.facts.start);
        }
        let first = self.inventory.segments.first().map_or(Position::ZERO, |found| found.base);
        let mut walk = Walk::default();
        let found = walk.find(&self.segments, &nowhere, first, Published::all())?;
        Ok(found.unwrap_or(Mark { position: first, number: 0 }))
    }

    /// Reads on from what was durable to the last whole record.
    fn end(&mut self, start: Mark) -> Result<Mark> {
        let durable = match self.facts.flushed.position < start.position {
            true => start,
            false => self.facts.flushed,
        };
        self.check_whole(start, durable)?;
        let mut walk = Walk::default();
        // A push of several records is there whole or not at all.
        let (mut end, mut at) = (durable, durable);
        let all = Published::all();
        while let Some(frame) = walk.frame(&self.segments, &nowhere, at.position, all)? {
            if frame.head.number != at.number {
                break;
            }
            at = frame.next;
            if !frame.head.more {
                end = at;
            }
        }
        self.report.found_records = end.number - durable.number;
        Ok(end)
    }

    /// Every segment from the start to what was durable must be there.
    fn check_whole(&self, start: Mark, durable: Mark) -> Result<()> {
        let ring = &self.segments.ring;
        if start.position >= durable.position {
            return Ok(());
        }
        let last = ring.number_of(Position::new(durable.position.get() - 1));
        let missing = (ring.number_of(start.position)..=last).find(|&number| !ring.has(number));
        match missing {
            None => Ok(()),
            Some(number) => {
                let text = "a segment of the queue is missing: perhaps a directory was left off";
                Err(Error::new(ErrorKind::Offline, text)
                    .at(&self.root)
                    .with_range(ring.base_of(number).get()..ring.base_of(number + 1).get()))
            }
        }
    }

    /// A capacity below what is in use would break what is kept.
    fn check_capacity(&self, start: Mark, end: Mark) -> Result<()> {
        let ring = &self.segments.ring;
        let last = end.position.get().saturating_sub(1).max(start.position.get());
        let used = ring.number_of(Position::new(last)) - ring.number_of(start.position) + 1;
        if used <= self.options.segments() {
            return Ok(());
        }
        let text = format!(
            "the capacity of {} segments is less than the {used} in use: open it with more, and \
             let readers commit",
            self.options.segments()
        );
        let error = Error::new(ErrorKind::Invalid, text).at(&self.root);
        Err(error.with_offset(used).with_limit(self.options.segments()))
    }

    /// Makes the end one: what a crash left behind it must never be taken for records, since
    /// its positions are given out again.
    fn settle(&self, end: Mark) -> Result<()> {
        let ring = &self.segments.ring;
        let tail = ring.number_of(end.position);
        let durable = self.facts.flushed.position;
        if self.facts.poisoned && durable < end.position {
            let numbers = ring.number_of(durable)..=tail;
            let touched: Vec<_> = numbers.filter_map(|number| ring.get(number)).collect();
            rewrite(&touched, durable..end.position)?;
        }
        if !self.facts.clean || self.report.found_records > 0 {
            ring.remove_from(tail + 1)?;
            self.cut(tail, end.position)?;
            ring.sync_names()?;
        }
        // The names of those that were ready may be lost, one and not the next.
        let missing = (tail..).find(|&number| !ring.has(number)).expect("the ring has an end");
        ring.remove_from(missing)?;
        if let Some(segment) = ring.get(tail) {
            fill_holes(segment.file()?.as_ref())?;
            segment.close_file();
        }
        Ok(())
    }

    /// Zeros the last segment behind the end.
    fn cut(&self, tail: u64, end: Position) -> Result<()> {
        let Some(segment) = self.segments.ring.get(tail) else { return Ok(()) };
        let file = segment.file()?;
        file.zero(end - segment.base(), segment.len_bytes())?;
        file.sync()
    }

    fn assemble(
        mut self,
        clock: Arc<dyn Clock>,
        start: Mark,
        end: Mark,
        lock: Box<dyn Lock>,
    ) -> Result<Opened> {
        self.remove_surplus(start, end)?;
        let readers = self.readers(start, end);
        let inner = self.options.of_directories();
        let disks = self.disks(&inner)?;
        let budget = Arc::clone(&self.segments.budget);
        let segment_len = self.segments.segment_len;
        let supply = Supply::new(Arc::clone(&self.disk), budget, inner.placement, segment_len);
        let flushed =
            if self.facts.flushed.position < start.position { start } else { self.facts.flushed };
        let ring = &self.segments.ring;
        let limit = ring.base_of(ring.number_of(start.position) + self.options.segments());
        let tail = ring.number_of(end.position);
        let records = match self.options.durability {
            QueueDurability::Interval { records, .. } => records,
            _ => u64::MAX,
        };
        self.facts.capacity_segments = self.options.segments();
        let line = Arc::new(Line {
            root: self.root,
            options: self.options,
            disk: self.disk,
            clock,
            segments: self.segments,
            supply,
            disks,
            poison: Poison::default(),
            appended: Watermark::new(end.position),
            flushed: Watermark::new(flushed.position),
            numbers: Numbers {
                appended: AtomicU64::new(end.number),
                flushed: AtomicU64::new(flushed.number),
                flush_at: AtomicU64::new(flushed.number.saturating_add(records)),
            },
            limit: AtomicU64::new(limit.get()),
            free_below: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            readable: Waiting::default(),
            room: Waiting::default(),
            prepare_bell: Bell::default(),
            flush_bell: Bell::default(),
            probe_bell: Bell::default(),
            tail: Mutex::new(Tail::at(end)),
            flushing: Mutex::new(()),
            preparing: Mutex::new(()),
            ready: Mutex::new(Ready::new(tail)),
            readers: Mutex::new(readers),
            meta: Mutex::new(Meta { file: self.meta, facts: self.facts }),
        });
        ProbeStep::probe(&line);
        // From here on it is open: the page says so before anything is pushed.
        line.sync_meta(false)?;
        Ok(Opened { line, fleet: self.fleet, lock, report: self.report })
    }

    /// Files beyond a capacity that was made smaller go.
    fn remove_surplus(&self, start: Mark, end: Mark) -> Result<()> {
        let ring = &self.segments.ring;
        let capacity = usize::try_from(self.options.segments()).unwrap_or(usize::MAX);
        while ring.files() > capacity && ring.remove_oldest(ring.number_of(start.position))? {}
        if ring.files() > capacity {
            ring.remove_from(ring.number_of(end.position) + 1)?;
        }
        Ok(())
    }

    /// The readers, each between start and end.
    fn readers(&mut self, start: Mark, end: Mark) -> Readers {
        let mut readers = Readers { start, dropped: self.facts.dropped, ..Readers::default() };
        for facts in &self.facts.cursors {
            let committed = facts.committed;
            let committed = if committed.position < start.position { start } else { committed };
            let is_behind = committed.position > end.position;
            if is_behind {
                self.report.clamped.push(facts.name.to_string());
            }
            let committed = if is_behind { end } else { committed };
            let cursor = Cursor::new(&facts.name, committed);
            readers.list.push(ReaderRow { cursor, committed });
        }
        readers
    }

    fn disks(&self, options: &Options) -> Result<Disks> {
        let device = self.disk.stat(&self.root)?.map_or(0, |stat| stat.device);
        let root = Directory {
            id: 0,
            path: self.root.clone(),
            device,
            role: Role::ReadWrite,
            thresholds: options.thresholds,
            offline: None,
            usage: None,
            told: None,
            pressure: Pressure::None,
        };
        Ok(Disks::new(self.fleet.directories(options), root, options.policy()))
    }
}

/// The files of the queue. One that only held what was committed may be in any state: where it
/// cannot be used again, it goes.
fn take_inventory(
    disk: &dyn Disk,
    fleet: &Fleet,
    start: Position,
    segment_len: u64,
) -> Result<Inventory> {
    let mut inventory = fleet.survey(disk, Position::ZERO)?;
    let is_free = |base: Position| base.get().saturating_add(segment_len) <= start.get();
    for fault in std::mem::take(&mut inventory.faults) {
        if !is_free(fault.found.base) {
            return Err(fault.error);
        }
        log::warn!("a file that was free and cannot be used again was removed: {}", fault.error);
        disk.remove(&fault.found.path)?;
    }
    inventory.set_aside(disk)?;
    Ok(inventory)
}

fn segments(
    disk: &Arc<dyn Disk>,
    fleet: &Fleet,
    options: &QueueOptions,
    found: &[Found],
) -> Segments {
    let max_maps = usize::try_from(options.max_in_memory_segments).unwrap_or(usize::MAX);
    let budget = Budget::new(max_maps);
    let segment_len = options.segment_len_bytes;
    let directories = fleet.directories(&options.of_directories());
    let directories = directories.into_iter().map(|row| (row.id, row.path)).collect();
    let ring = Ring::new(Arc::clone(disk), Arc::clone(&budget), segment_len, directories);
    found.iter().for_each(|found| ring.add_found(found.base, found.directory));
    Segments { ring, budget, segment_len }
}
