//! The world of a queue's simulation: a disk in memory that fails by plan, a queue, and the model
//! of what must be in it. Everything that happens follows from one seed.

mod steps;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use spanlog::disk::{Disk, ManualClock, MemDisk};
use spanlog::{
    Error, OnFull, Placement, Position, Queue, QueueBatch, QueueDurability, QueueOptions,
    QueueReader,
};

use crate::check::{Checked, ensure};
use crate::fault_disk::{FaultDisk, Lie};
use crate::world::told;

const ROOT: &str = "/queue";
const NOW: Duration = Duration::ZERO;

/// A record that was pushed.
#[derive(Clone, Debug)]
struct Entry {
    payload: Vec<u8>,
    /// Where it ends, if a push said so or it was popped.
    end: Option<Position>,
    /// Pushed together with the next one.
    more: bool,
}

/// What a reader has done, as numbers of records.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// What it must have committed after a loss of power, and what it has.
    durable: usize,
    committed: usize,
    reading: usize,
}

/// One simulated machine with one queue.
#[derive(Debug)]
pub struct QueueWorld {
    rng: Rng,
    mem: Arc<MemDisk>,
    disk: FaultDisk,
    clock: Arc<ManualClock>,
    options: QueueOptions,
    dirs: Vec<PathBuf>,
    queue: Option<Queue>,
    entries: Vec<Entry>,
    /// Records that a push which failed may have left.
    maybe: Vec<Entry>,
    durable: usize,
    readers: [Progress; 2],
    held: Vec<(QueueBatch, Vec<Vec<u8>>)>,
    hurt: bool,
    lie: Option<Lie>,
    trace: Vec<String>,
}

const READERS: [&str; 2] = ["one", "two"];

/// Plays the history of a seed. A failure names the seed and tells what was done last.
///
/// # Errors
/// What went wrong, with the end of the history.
pub fn simulate_queue(seed: u64, lie: Option<Lie>) -> Result<(), String> {
    let mut world = QueueWorld::new(seed, lie);
    let steps = world.rng.usize(10..100);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.open()?;
        for _ in 0..steps {
            world.step()?;
        }
        let power = world.rng.bool();
        world.crash(power);
        world.reopen(power)?;
        world.drain()
    }));
    let outcome = played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panic: {}", text.unwrap_or_else(|| "of another kind".into())))
    });
    outcome.map_err(|what| {
        let last = world.trace.iter().rev().take(25).rev().cloned().collect::<Vec<_>>();
        format!("seed {seed}: {what}\n  {}", last.join("\n  "))
    })
}

impl QueueWorld {
    fn new(seed: u64, lie: Option<Lie>) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mem = Arc::new(MemDisk::new());
        let dirs: Vec<_> = (0..rng.usize(1..=3)).map(|n| format!("/d{n}").into()).collect();
        let options = options(&mut rng, &dirs);
        let disk = wrapped(&mem, lie);
        disk.set_sparse(rng.u8(..) < 25);
        Self {
            rng,
            mem,
            disk,
            clock: Arc::new(ManualClock::new(1_700_000_000_000)),
            options,
            dirs,
            queue: None,
            entries: Vec::new(),
            maybe: Vec::new(),
            durable: 0,
            readers: [Progress::default(); 2],
            held: Vec::new(),
            hurt: false,
            lie,
            trace: Vec::new(),
        }
    }

    fn note(&mut self, what: impl Into<String>) {
        self.trace.push(what.into());
    }

    fn queue(&self) -> &Queue {
        self.queue.as_ref().expect("the queue is open between steps")
    }

    fn reader(&self, at: usize) -> Result<QueueReader, Error> {
        self.queue().reader(READERS[at])
    }

    fn drops(&self) -> bool {
        self.options.on_full == OnFull::DropOldest
    }

    fn try_open(&self) -> Result<Queue, Error> {
        let disk: Arc<dyn Disk> = Arc::new(self.disk.clone());
        Queue::open_on(disk, Arc::clone(&self.clock) as Arc<_>, ROOT, self.options.clone())
    }

    /// Opens the queue for the first time.
    fn open(&mut self) -> Checked {
        let queue = self.try_open().map_err(|error| format!("open: {error}"))?;
        self.queue = Some(queue);
        for name in READERS {
            self.queue().reader(name).map_err(|error| format!("a new reader: {error}"))?;
        }
        self.queue().flush().map_err(|error| format!("the first flush: {error}"))
    }

    fn note_faults(&mut self) -> bool {
        self.hurt |= !self.disk.fired().is_empty();
        self.hurt
    }

    fn close(&mut self) -> Checked {
        let queue = self.queue.take().expect("open");
        let outcome = queue.close();
        self.note(format!("close: {}", told(&outcome)));
        self.disk.heal();
        if let Err(error) = outcome {
            ensure!(self.note_faults(), "close: {error}");
            self.queue = Some(queue);
            self.crash(false);
            return self.reopen(false);
        }
        self.everything_durable();
        drop(queue);
        if self.rng.u8(..) < 80 {
            self.change_capacity();
        }
        self.reopen(false)
    }

    /// More is taken, less only if that is enough.
    fn change_capacity(&mut self) {
        let capacity = self.rng.u64(4..16);
        let before = std::mem::replace(&mut self.options.capacity_segments, capacity);
        match self.try_open() {
            Ok(queue) => drop(queue),
            Err(error) => {
                self.note(format!("capacity {capacity} instead of {before}: {error}"));
                self.options.capacity_segments = before;
            }
        }
    }

    /// The process ends, and with `power` the machine.
    fn crash(&mut self, power: bool) {
        self.note(if power { "power cut" } else { "kill" });
        self.note_faults();
        self.disk.heal();
        let queue = self.queue.take();
        if let Some(queue) = &queue {
            let flushed = queue.stat().flushed;
            let is_durable = |entry: &Entry| entry.end.is_some_and(|end| end <= flushed);
            let count = self.entries.iter().rposition(is_durable).map_or(0, |last| last + 1);
            self.durable = self.durable.max(count);
        }
        let odds = [0, 10, 128, 245, 255][self.rng.usize(..5)];
        let rng = &mut self.rng;
        let mem = match power {
            true => self.mem.crash(&mut || rng.u8(..) < odds),
            false => self.mem.kill(),
        };
        self.mem = Arc::new(mem);
        let sparse = self.rng.u8(..) < 25;
        self.disk = wrapped(&self.mem, self.lie);
        self.disk.set_sparse(sparse);
        drop(queue);
    }

    /// Opens the queue, perhaps through faults and further crashes, and checks it.
    fn reopen(&mut self, mut power: bool) -> Checked {
        while self.rng.u8(..) < 50 {
            let nth = self.rng.u64(1..60);
            self.disk.stop_at(nth);
            let outcome = self.try_open();
            self.note(format!("  disturbed open, stopped at {nth}: {}", told(&outcome)));
            let again = self.rng.bool();
            self.crash(again);
            drop(outcome);
            power |= again;
        }
        let queue = self.try_open().map_err(|error| format!("open: {error}"))?;
        self.queue = Some(queue);
        self.settle(power)?;
        self.hurt = false;
        Ok(())
    }

    /// Compares what was found with the model, and lets the model follow.
    fn settle(&mut self, power: bool) -> Checked {
        let mut own = self.queue().stat();
        own.readers.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<_> = own.readers.iter().map(|row| row.name.as_str()).collect();
        ensure!(names == READERS, "the readers are {names:?}");
        let total = self.find_total(power)?;
        self.entries.truncate(total);
        self.maybe.clear();
        // A loss of power may keep what was not flushed, but now that is what there is.
        self.durable = self.durable.min(total);
        for at in 0..READERS.len() {
            let own = own.readers[at].clone();
            let committed = total.saturating_sub(own.records as usize);
            let before = self.readers[at];
            let least = if power { before.durable } else { before.committed };
            let is_less = committed < least.min(total);
            ensure!(!is_less || self.hurt, "reader {at} committed {committed}, not {least}");
            let is_more = committed > before.committed && !self.drops();
            ensure!(!is_more || self.hurt, "reader {at} committed {committed}: {before:?}");
            self.readers[at] = Progress { durable: committed, committed, reading: committed };
        }
        self.verify()
    }

    /// How many records were ever pushed, by what is there now.
    fn find_total(&mut self, power: bool) -> Checked<usize> {
        let stat = self.queue().stat();
        let total = stat.pushed as usize;
        let all: Vec<_> = self.entries.iter().chain(&self.maybe).cloned().collect();
        self.note(format!("  open: {total} of {} records, {stat:?}", self.entries.len()));
        ensure!(total <= all.len(), "{total} records, of {} ever pushed", all.len());
        let least = if power { self.durable } else { self.entries.len() };
        ensure!(total >= least, "{total} records are left, not {least}");
        // The rest of a push may be dropped, and then the others lost.
        let is_whole = stat.records == 0 || !all[total - 1].more;
        ensure!(is_whole, "a push of several records was cut at {total}");
        self.entries = all;
        Ok(total)
    }

    fn verify(&mut self) -> Checked {
        let found = self.queue().verify().map_err(|error| format!("verify: {error}"))?;
        let records = self.queue().stat().records;
        ensure!(found.damaged.is_empty(), "damaged: {:?}", found.damaged);
        ensure!(found.records == records, "{} whole records of {records}", found.records);
        Ok(())
    }

    /// The limits hold at any time.
    fn check(&mut self) -> Checked {
        let files = |dir: &PathBuf| self.mem.list(dir).unwrap_or_default().len() as u64;
        let count: u64 = self.dirs.iter().map(files).sum();
        let stat = self.queue().stat();
        let capacity = self.options.capacity_segments;
        ensure!(count <= capacity, "{count} files, of at most {capacity}");
        ensure!(stat.start <= stat.end && stat.flushed <= stat.end.max(stat.start), "{stat:?}");
        Ok(())
    }

    /// Everything that is left comes out, to both readers.
    fn drain(&mut self) -> Checked {
        self.release()?;
        for at in 0..READERS.len() {
            while self.readers[at].reading < self.entries.len() {
                let before = self.readers[at].reading;
                self.held.clear();
                self.pop(at)?;
                ensure!(self.readers[at].reading > before, "reader {at} stands still");
            }
        }
        Ok(())
    }
}

fn wrapped(mem: &Arc<MemDisk>, lie: Option<Lie>) -> FaultDisk {
    let disk = FaultDisk::new(Arc::clone(mem) as Arc<dyn Disk>);
    disk.lie(lie);
    disk
}

fn options(rng: &mut Rng, dirs: &[PathBuf]) -> QueueOptions {
    let durability = match rng.u8(..5) {
        0 => QueueDurability::None,
        1 => QueueDurability::Group,
        2 => QueueDurability::Each,
        _ => QueueDurability::Interval { interval_ms: 1000, records: rng.u64(1..20) },
    };
    let on_full = if rng.u8(..) < 80 { OnFull::DropOldest } else { OnFull::Refuse };
    let options = QueueOptions::new()
        .placement(Placement::ALL[rng.usize(..3)])
        .segment_len_bytes(4096 * rng.u64(1..=3))
        .capacity_segments(rng.u64(4..12))
        .max_in_memory_segments(rng.u64(4..10))
        .durability(durability)
        .on_full(on_full)
        .background(false);
    dirs.iter().fold(options, |options, dir| options.directory(Path::new(dir)))
}
