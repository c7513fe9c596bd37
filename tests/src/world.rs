//! The world of a simulation: a disk in memory that fails by plan, a clock, a store, and the
//! model of what must be in it. Everything that happens follows from one seed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastrand::Rng;
use spanlog::disk::{Disk, ManualClock, MemDisk};
use spanlog::{
    Batch, DirectoryOptions, DirectoryReport, Durability, Error, ErrorKind, Options, Placement,
    Role, Store,
};

use crate::check::{self, Checked, ensure};
use crate::consumer::{self, Consumer};
use crate::fault_disk::{FaultDisk, Lie};
use crate::model::{Entry, Model};

/// The store's root.
pub const ROOT: &str = "/store";

/// A disk with room for everything.
const AMPLE_BYTES: u64 = 1 << 40;

/// How a world differs from what the seed says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// What the disk lies about, to prove that the checks notice.
    pub lie: Option<Lie>,
}

/// What is kept of a read, to see that its bytes never change.
#[derive(Debug)]
pub struct Held {
    /// The batch.
    pub batch: Batch,
    /// What it held when it was read.
    pub entries: Vec<Entry>,
}

/// One simulated machine with one store.
#[derive(Debug)]
pub struct World {
    /// Where all choices come from.
    pub rng: Rng,
    /// The disk as it is now.
    pub mem: Arc<MemDisk>,
    /// What the store sees of it.
    pub disk: FaultDisk,
    /// The time.
    pub clock: Arc<ManualClock>,
    /// How the store is opened, without directories.
    pub options: Options,
    /// The store's directories.
    pub dirs: Vec<PathBuf>,
    /// The file systems: one for all, or one for each directory and the root.
    mounts: Vec<PathBuf>,
    /// Whether a list of directories may be given at open: after a failed change of them, the
    /// store alone knows.
    pub dirs_certain: bool,
    /// Whether the store was ever open.
    pub exists: bool,
    /// The store, while it is open.
    pub store: Option<Store>,
    /// What must be there.
    pub model: Model,
    /// Batches that are held over everything else.
    pub held: Vec<Held>,
    /// Whether some disk has little room.
    pub limited: bool,
    /// Whether a fault was met since the store was opened.
    pub hurt: bool,
    /// Whether the store said that it promises nothing more.
    pub poisoned: bool,
    /// Whether a removal may have been undone or left out.
    pub leftovers: bool,
    /// What was done, for the report.
    pub trace: Vec<String>,
    /// How many failures the disk had before the store was opened.
    forgiven: usize,
    /// Whether segments may have been dropped although a full disk kept their offsets from being
    /// written down: then offsets of dropped messages may come again after a crash.
    pub rushed: bool,
    /// A named consumer, once there is one.
    pub consumer: Consumer,
    settings: Settings,
}

impl World {
    /// The world of a seed; the store is not open yet.
    #[must_use]
    pub fn new(seed: u64, settings: Settings) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mem = Arc::new(MemDisk::new());
        let dirs: Vec<_> = (0..rng.usize(1..=4)).map(|n| dir_path(n as u64)).collect();
        let shared = rng.u8(..) < 50;
        let mounts: Vec<_> = match shared {
            true => vec![PathBuf::from("/")],
            false => (0..8).map(dir_path).chain([PathBuf::from(ROOT)]).collect(),
        };
        for mount in &mounts {
            mem.set_capacity(mount, AMPLE_BYTES);
        }
        let clock = Arc::new(ManualClock::new(1_700_000_000_000));
        let segment_len = 4096 * rng.u64(1..=4);
        let options = options(&mut rng, segment_len);
        let lines = lines(&mut rng);
        let disk = wrapped(&mem, settings);
        let mut world = Self {
            rng,
            disk,
            mem,
            clock,
            options,
            dirs,
            mounts,
            dirs_certain: true,
            exists: false,
            store: None,
            model: Model::new(lines, segment_len),
            held: Vec::new(),
            limited: false,
            hurt: false,
            poisoned: false,
            leftovers: false,
            forgiven: 0,
            rushed: false,
            consumer: Consumer::default(),
            trace: Vec::new(),
            settings,
        };
        world.disk.set_sparse(world.rng.u8(..) < 25);
        world
    }

    /// Notes what happens.
    pub fn note(&mut self, what: impl Into<String>) {
        self.trace.push(what.into());
    }

    /// The open store.
    #[must_use]
    pub fn open_store(&self) -> &Store {
        self.store.as_ref().expect("the store is open between operations")
    }

    /// Whether any directory may take segments at all.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        let rows = self.open_store().disks().unwrap_or_default();
        rows.iter().any(|row| row.role == Role::ReadWrite)
    }

    /// The options for the next opening.
    fn next_options(&mut self) -> Options {
        let by_root_alone = self.exists && (!self.dirs_certain || self.rng.bool());
        let mut options = self.options.clone();
        if !by_root_alone {
            for dir in &self.dirs {
                options = options.directory(DirectoryOptions::new(dir));
            }
        }
        options
    }

    /// Opens the store with every directory made writable. They are known, or else the store is
    /// opened for reading to learn them.
    fn open_writable(&mut self) -> Result<Store, Error> {
        let root_alone = self.options.clone().read_only(true);
        let disks = self.open_with(root_alone)?.disks()?;
        let writable = |row: DirectoryReport| DirectoryOptions::new(row.path).role(Role::ReadWrite);
        let directories = disks.into_iter().map(writable);
        let options = self.options.clone();
        self.open_with(directories.fold(options, |options, given| options.directory(given)))
    }

    fn open_with(&self, options: Options) -> Result<Store, Error> {
        let disk: Arc<dyn Disk> = Arc::new(self.disk.clone());
        Store::open_on(disk, Arc::clone(&self.clock) as Arc<_>, ROOT, options)
    }

    fn try_open(&mut self, read_only: bool) -> Result<Store, Error> {
        let options = self.next_options().read_only(read_only);
        self.open_with(options)
    }

    /// Opens the store, through faults and further crashes at first, and checks everything.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(&mut self, mut power: bool) -> Checked {
        if self.exists && self.rng.u8(..) < 40 {
            self.peek()?;
        }
        while self.rng.u8(..) < 60 {
            power |= self.disturbed_open()?;
        }
        let store = match self.try_open(false) {
            Err(error) if error.kind() == ErrorKind::Full && self.limited => {
                self.note(format!("  no room to open: {error}"));
                self.make_room();
                self.try_open(false)
            }
            other => other,
        };
        let store = match store {
            // The end fell back into a directory that was read-only by then.
            Err(error) if error.message().contains("read-only directory") => {
                self.note(format!("  {error}"));
                self.open_writable()
            }
            other => other,
        };
        let store = store.map_err(|error| format!("open: {error}"))?;
        self.store = Some(store);
        self.exists = true;
        self.settle(power)
    }

    /// Tries to open on a disk that fails on the way. Says whether power was lost.
    fn disturbed_open(&mut self) -> Checked<bool> {
        let nth = self.rng.u64(1..150);
        let stops = self.rng.bool();
        if stops {
            self.disk.stop_at(nth);
        } else {
            self.disk.fail(crate::workload::random_fault(&mut self.rng));
        }
        let outcome = self.try_open(false);
        self.note(format!("  disturbed open (stop {stops} at {nth}): {}", told(&outcome)));
        self.leftovers |= !self.disk.fired().is_empty();
        // A store that opened all the same is not used: it ends where it stands.
        let opened = outcome.is_ok();
        self.exists |= opened;
        if let Ok(store) = &outcome {
            self.model.make_durable(store.watermarks().flushed);
        }
        let power = self.rng.bool();
        if stops || opened {
            self.replace_disk(power);
            drop(outcome);
            return Ok(power);
        }
        self.disk.heal();
        drop(outcome);
        Ok(false)
    }

    /// Opens for reading alone, which changes nothing.
    fn peek(&mut self) -> Checked {
        let before = self.disk.changes();
        let store = self.try_open(true).map_err(|error| format!("read-only open: {error}"))?;
        let end = store.watermarks().appended.get();
        self.note(format!("  peek: the log ends at {end}"));
        ensure!(end >= self.model.durable, "read-only: ends at {end}, not {}", self.model.durable);
        let mut seen = self.model.clone();
        seen.start = store.watermarks().start.get();
        for line in (0..seen.lines.len()).filter(|_| !self.rushed) {
            check::queue(&store, &seen, line, end, 7)
                .map_err(|what| format!("read-only: {what}"))?;
        }
        check::keys(&store, &seen, end).map_err(|what| format!("read-only: {what}"))?;
        drop(store);
        ensure!(self.disk.changes() == before, "a read-only open changed something");
        Ok(())
    }

    /// Compares what was found at open with the model, and lets the model follow.
    fn settle(&mut self, power: bool) -> Checked {
        let marks = self.open_store().watermarks();
        let (start, end) = (marks.start.get(), marks.appended.get());
        self.note(format!("  open: {start}..{end}"));
        let least = if power { self.model.durable } else { self.model.certain_end() };
        ensure!(end >= least, "the log ends at {end}, before {least}");
        ensure!(self.model.is_boundary(end), "the log ends at {end}, within a message");
        ensure!(
            start == self.model.start || (self.leftovers && start < self.model.start),
            "the log starts at {start}, not {}",
            self.model.start
        );
        let recovery = self.open_store().recovery();
        ensure!(recovery.skipped.is_empty(), "skipped {:?}", recovery.skipped);
        ensure!(recovery.offline.is_empty(), "offline {:?}", recovery.offline);
        self.model.start = start;
        self.model.cut(end);
        self.model.durable = marks.flushed.get();
        let certain = !self.rushed;
        self.forget_offsets();
        self.model.make_durable(marks.flushed);
        self.hurt = false;
        self.poisoned = false;
        self.leftovers = false;
        self.forgiven = self.disk.fired().len();
        self.dirs_certain = true;
        let disks = self.open_store().disks().map_err(|error| error.to_string())?;
        self.dirs = disks.into_iter().map(|row| row.path).collect();
        check::everything(self.open_store(), &self.model, 5)?;
        consumer::check_opened(self, certain)
    }

    /// Where a full disk may have cost the offsets of dropped messages, the store's word counts for
    /// queues that have none left.
    fn forget_offsets(&mut self) {
        for line in (0..self.model.lines.len()).filter(|_| self.rushed) {
            let (topic, queue) = &self.model.lines[line];
            let max = self.open_store().bounds(topic, *queue).map_or(0, |bounds| bounds.max.get());
            if self.model.kept(line, u64::MAX).next().is_none() && max < self.model.next[line] {
                self.model.log.retain(|entry| entry.line != line || entry.offset < Some(max));
                self.model.next[line] = max;
            }
        }
        self.rushed = false;
    }

    /// Whether all directories and the root share one disk.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.mounts.len() == 1
    }

    /// Closes the store. Says whether it was clean.
    pub fn close(&mut self) -> bool {
        let store = self.store.take().expect("open");
        let outcome = store.close();
        self.note(format!("close: {}", told(&outcome)));
        consumer::closed(self, outcome.is_ok());
        self.after_faults();
        if outcome.is_ok() {
            self.model.make_durable(store.watermarks().appended);
        } else {
            self.model.make_durable(store.watermarks().flushed);
        }
        outcome.is_ok()
    }

    /// The process ends, and with `power` the machine: the disk goes on as it would then be.
    pub fn crash(&mut self, power: bool) {
        self.note(if power { "power cut" } else { "kill" });
        let files = |dir: &PathBuf| self.mem.list(dir).unwrap_or_default();
        let files: Vec<_> = self.dirs.iter().flat_map(files).map(|entry| entry.name).collect();
        self.note(format!("  segments: {}", files.join(" ")));
        // It writes to the disk of before, if at all.
        let cursor = self.consumer.cursor.take();
        let store = self.store.take();
        if let Some(store) = &store {
            self.model.make_durable(store.watermarks().flushed);
        }
        self.after_faults();
        self.replace_disk(power);
        drop((cursor, store));
    }

    fn replace_disk(&mut self, power: bool) {
        let odds = [0, 10, 128, 245, 255][self.rng.usize(..5)];
        let rng = &mut self.rng;
        let mem = match power {
            true => self.mem.crash(&mut || rng.u8(..) < odds),
            false => self.mem.kill(),
        };
        self.mem = Arc::new(mem);
        self.disk = wrapped(&self.mem, self.settings);
        self.forgiven = 0;
    }

    /// Every fault is over; what it may have left behind is noted.
    pub fn after_faults(&mut self) {
        self.disk.heal();
        self.note_faults();
    }

    /// Whether the disk failed since the store was opened.
    pub fn note_faults(&mut self) -> bool {
        let met = self.disk.fired().len() > self.forgiven;
        self.hurt |= met;
        self.leftovers |= met;
        self.hurt
    }

    /// Gives every disk room.
    pub fn make_room(&mut self) {
        self.limited = false;
        for mount in &self.mounts {
            self.mem.set_capacity(mount, AMPLE_BYTES);
        }
    }

    /// Leaves one disk little room.
    pub fn take_room(&mut self) {
        self.limited = true;
        let used_ones = |mount: &&PathBuf| {
            self.dirs.contains(mount)
                || [ROOT, "/"].iter().any(|own| mount.as_path() == Path::new(own))
        };
        let mounts: Vec<_> = self.mounts.iter().filter(used_ones).cloned().collect();
        let dir = mounts[self.rng.usize(..mounts.len())].as_path();
        let used = self.mem.space(dir).map_or(0, |space| space.used);
        let spare = self.model.segment_len * self.rng.u64(..8);
        let bytes = if self.rng.bool() { used + spare } else { spare * 2 };
        self.mem.set_capacity(dir, bytes);
        let note = format!("{} has {bytes} bytes, {used} in use", dir.display());
        self.note(note);
    }
}

/// The directory of that number.
#[must_use]
pub fn dir_path(number: u64) -> PathBuf {
    PathBuf::from(format!("/d{number}"))
}

/// What came of something, in few words.
pub fn told<T>(outcome: &Result<T, Error>) -> String {
    outcome.as_ref().map_or_else(ToString::to_string, |_| "ok".into())
}

fn wrapped(mem: &Arc<MemDisk>, settings: Settings) -> FaultDisk {
    let disk = FaultDisk::new(Arc::clone(mem) as Arc<dyn Disk>);
    disk.lie(settings.lie);
    disk
}

fn options(rng: &mut Rng, segment_len: u64) -> Options {
    let durability = match rng.bool() {
        true => Durability::Group,
        false => Durability::Async { interval_ms: 500, bytes: rng.u64(1..20_000) },
    };
    let retention_ms = [0, 1000, 3_600_000, 1 << 50][rng.usize(..4)];
    Options::new()
        .placement(Placement::ALL[rng.usize(..3)])
        .segment_len_bytes(segment_len)
        .queue_file_len_bytes(20 * rng.u64(10..=100))
        .index_slots(Some(rng.u32(1..=20)))
        .index_entries(Some(rng.u32(2..=60)))
        .durability(durability)
        .retention_ms(retention_ms)
        .forced_clean(rng.bool())
        .max_forced_per_round(rng.u32(1..5))
        .max_maps(if rng.u8(..) < 60 { rng.usize(4..8) } else { 1024 })
        .prepare_bytes(rng.u64(..10_000))
        .max_body_bytes(1 << 20)
        .background(false)
}

fn lines(rng: &mut Rng) -> Vec<(String, u32)> {
    let topics = rng.usize(1..=2);
    let queues = rng.u32(1..=3);
    let all = (0..topics).flat_map(|topic| (0..queues).map(move |queue| (topic, queue)));
    all.map(|(topic, queue)| (["orders", "%RETRY%group"][topic].to_owned(), queue)).collect()
}

/// The roles that a simulation gives.
pub const ROLES: [Role; 4] = [Role::ReadWrite, Role::ReadWrite, Role::Draining, Role::ReadOnly];
