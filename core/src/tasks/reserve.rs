//! A little room kept on the root's disk, so that a full disk can still be cleaned: dropping a
//! segment takes writing down that it goes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::directory::OWN_DIR;
use crate::disk::{Allocation, Disk};
use crate::error::Result;

/// Enough for the marks and the offsets of some thousands of queues.
const RESERVE_BYTES: u64 = 256 * 1024;

/// A file that is given up when there is no room for the store's own marks.
#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
    held: AtomicBool,
}

impl Reserve {
    /// The reserve of the store at `root`, which may be there or not.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { path: root.join(OWN_DIR).join("reserve"), held: AtomicBool::new(false) }
    }

    /// Takes the room if there is some. Without, nothing is wrong yet.
    pub fn hold(&self, disk: &dyn Disk) {
        if !self.held.load(Ordering::Relaxed)
            && let Err(error) = self.take(disk)
        {
            log::debug!("no room is kept in reserve: {error}");
        }
    }

    fn take(&self, disk: &dyn Disk) -> Result<()> {
        if disk.stat(&self.path)?.is_none() {
            let dir = self.path.parent().expect("the reserve lies in a directory");
            disk.create(dir, RESERVE_BYTES, Allocation::Reserved)?.link(&self.path)?;
        }
        self.held.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Gives the room up; says whether there was any.
    ///
    /// # Errors
    /// What the disk says.
    pub fn spend(&self, disk: &dyn Disk) -> Result<bool> {
        self.held.store(false, Ordering::Relaxed);
        if disk.stat(&self.path)?.is_none() {
            return Ok(false);
        }
        disk.remove(&self.path)?;
        Ok(true)
    }
}
