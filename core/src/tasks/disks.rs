//! The directories of an open store, and the gate that the disk policy opens and closes.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::sync::Mutex;
use crate::directory::Directory;
use crate::error::{Error, ErrorKind, Result};
use crate::retention::{self, Policy, Pressure, Refusal, Role, Usage};
use crate::segment::{Room, Shelf, Supply};

/// Where nothing but the queues lies.
const ROOT_ID: u64 = u64::MAX;

/// The directories and what the last probe made of them. Any thread may use it.
#[derive(Debug)]
pub struct Disks {
    policy: Policy,
    rows: Mutex<Rows>,
    gate: Gate,
}

#[derive(Debug)]
struct Rows {
    directories: Vec<Directory>,
    root: Directory,
}

/// Whether appends are refused, and why.
#[derive(Debug, Default)]
pub struct Gate {
    closed: AtomicBool,
    refusal: Mutex<Option<Refusal>>,
}

/// What one probe found.
#[derive(Debug)]
pub struct Probed {
    /// When to probe again, after so many milliseconds.
    pub delay_ms: u64,
    /// Whether segments should go before the next regular round.
    pub pressed: bool,
}

impl Gate {
    /// # Errors
    /// `Full`, naming each directory with its figures.
    pub fn check(&self) -> Result<()> {
        if !self.closed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.refusal.lock().as_ref().map_or(Ok(()), |refusal| Err(refusal.to_error()))
    }

    fn set(&self, refusal: Option<Refusal>) {
        let mut current = self.refusal.lock();
        if current.is_some() != refusal.is_some() {
            match &refusal {
                Some(refusal) => log::warn!("{refusal}"),
                None => log::info!("appends are accepted again"),
            }
        }
        self.closed.store(refusal.is_some(), Ordering::Release);
        *current = refusal;
    }
}

impl Disks {
    /// The directories, and the root with its limits; nothing was probed yet.
    #[must_use]
    pub fn new(directories: Vec<Directory>, mut root: Directory, policy: Policy) -> Self {
        root.id = ROOT_ID;
        Self { policy, rows: Mutex::new(Rows { directories, root }), gate: Gate::default() }
    }

    /// The directories as of now.
    #[must_use]
    pub fn directories(&self) -> Vec<Directory> {
        self.rows.lock().directories.clone()
    }

    /// What the store wants of retention.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether appends are refused.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Whether the directory of that index lies on the root's disk.
    #[must_use]
    pub fn shares_root(&self, index: usize) -> bool {
        let rows = self.rows.lock();
        rows.directories.get(index).is_some_and(|row| row.disk() == rows.root.disk())
    }

    /// Adds a directory.
    pub fn add(&self, directory: Directory) {
        self.rows.lock().directories.push(directory);
    }

    /// Takes a directory off.
    pub fn remove(&self, id: u64) {
        self.rows.lock().directories.retain(|directory| directory.id != id);
    }

    /// Changes what a directory is for.
    ///
    /// # Errors
    /// `Invalid` if there is no such directory.
    pub fn set_role(&self, id: u64, role: Role) -> Result<()> {
        self.change(id, |directory| directory.role = role)
    }

    /// Puts a usage in place of what the file system says, or takes it off again.
    ///
    /// # Errors
    /// `Invalid` if there is no such directory.
    pub fn tell_usage(&self, id: u64, usage: Option<Usage>) -> Result<()> {
        self.change(id, |directory| directory.told = usage)
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Directory)) -> Result<()> {
        let mut rows = self.rows.lock();
        let found = rows.directories.iter_mut().find(|directory| directory.id == id);
        let missing = || Error::new(ErrorKind::Invalid, "the store has no such directory");
        change(found.ok_or_else(missing)?);
        Ok(())
    }

    /// Measures every disk with `measure`, lets the policy judge, and tells `supply` where new
    /// segments may go. All under one lock: an older verdict never goes over a newer one.
    pub fn probe(
        &self,
        interval_ms: u64,
        measure: &mut dyn FnMut(&Directory) -> Option<Usage>,
        supply: &Supply,
    ) -> Probed {
        let mut rows = self.rows.lock();
        let Rows { directories, root } = &mut *rows;
        for row in directories.iter_mut().chain([&mut *root]) {
            row.usage = match row.offline {
                None => row.told.or_else(|| measure(row)),
                Some(_) => None,
            };
        }
        let facts = facts(directories, root);
        let verdict = retention::judge(&facts, &self.policy);
        for (row, &pressure) in directories.iter_mut().chain([root]).zip(&verdict.pressures) {
            note_change(row, pressure);
        }
        let shelves = shelves(&rows.directories, &verdict.writable);
        supply.set_room(Room { shelves });
        self.gate.set(verdict.refused);
        Probed {
            delay_ms: retention::probe_delay_ms(&facts, interval_ms),
            pressed: verdict.clean || verdict.force,
        }
    }

    /// The directories as the policy sees them; the root comes last.
    #[must_use]
    pub fn facts(&self) -> Vec<retention::Directory> {
        let rows = self.rows.lock();
        facts(&rows.directories, &rows.root)
    }
}

fn facts(directories: &[Directory], root: &Directory) -> Vec<retention::Directory> {
    directories.iter().map(|row| fact(row, false)).chain([fact(root, true)]).collect()
}

fn fact(row: &Directory, is_root: bool) -> retention::Directory {
    retention::Directory {
        path: row.path.display().to_string(),
        role: row.role,
        online: row.offline.is_none(),
        device: row.disk(),
        usage: row.usage,
        thresholds: row.thresholds,
        pressure: row.pressure,
        is_root,
    }
}

fn note_change(row: &mut Directory, pressure: Pressure) {
    if row.pressure != pressure {
        log::info!("{}: disk pressure {} -> {pressure}", row.path.display(), row.pressure);
        row.pressure = pressure;
    }
}

/// The writable directories. Those on one disk share its room, so each has its part of it.
fn shelves(directories: &[Directory], writable: &[usize]) -> Vec<Shelf> {
    let rows = || writable.iter().map(|&at| &directories[at]);
    let sharers = |disk| rows().filter(|row| row.disk() == disk).count() as u64;
    rows()
        .map(|row| {
            let available = row.usage.map_or(u64::MAX / 1024, Usage::available_bytes);
            let usable = available.saturating_sub(row.thresholds.floor_bytes);
            Shelf {
                directory: row.id,
                path: row.path.clone(),
                usable_bytes: usable / sharers(row.disk()),
            }
        })
        .collect()
}
