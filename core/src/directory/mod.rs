//! The directories of a store: which there are, whether each is the one it should be, and the
//! segments found in them.

mod inventory;
mod registry;
mod resolve;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, PRIVATE_DIR};
use crate::error::Result;
use crate::retention::{Pressure, Role, Thresholds, Usage};

pub use inventory::{Fault, Found, Inventory, set_aside, sweep};
pub use registry::{NO_QUEUE_FILES, Registered, Registry, parse_label};
pub use resolve::{Resolved, Wanted, resolve};

/// The sub-directory of a store's root, and where need be of a segment directory, that holds
/// what RocketMQ does not know.
pub const OWN_DIR: &str = PRIVATE_DIR;

/// One directory of an open store.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Its number within the store.
    pub id: u64,
    /// Where it is, without links, or where it should be.
    pub path: PathBuf,
    /// The file system it is on: directories with the same number share their space.
    pub device: u64,
    /// What it is for.
    pub role: Role,
    /// Its own limits, or the store's.
    pub thresholds: Thresholds,
    /// Why it cannot be used, if it cannot.
    pub offline: Option<String>,
    /// Its disk's usage at the last probe, if known.
    pub usage: Option<Usage>,
    /// The usage that the host told, in place of what the file system says.
    pub told: Option<Usage>,
    /// The pressure on its disk at the last probe.
    pub pressure: Pressure,
}

impl Directory {
    /// The number of its disk. One whose usage was told is a disk of its own: the quota is not
    /// its neighbours'.
    #[must_use]
    pub fn disk(&self) -> u64 {
        self.told.map_or(self.device, |_| u64::MAX - 1 - self.id)
    }
}

/// The registry's file under a store's root.
#[must_use]
pub fn registry_path(root: &Path) -> PathBuf {
    root.join(OWN_DIR).join("store")
}

/// Reads the registry of the store at `root`, if there is one.
///
/// # Errors
/// `Version` or `Corrupt` as [`Registry::decode`], else what the disk says.
pub fn read_registry(disk: &dyn Disk, root: &Path) -> Result<Option<Registry>> {
    let path = registry_path(root);
    match disk.read(&path)? {
        Some(bytes) => Registry::decode(&String::from_utf8_lossy(&bytes), &path).map(Some),
        None => Ok(None),
    }
}

/// Writes the registry, durably, all or nothing.
///
/// # Errors
/// What the disk says; the registry is as before then.
pub fn write_registry(disk: &dyn Disk, root: &Path, registry: &Registry) -> Result<()> {
    disk.make_dir(&root.join(OWN_DIR))?;
    disk.replace(&registry_path(root), registry.encode().as_bytes())
}

/// Puts the label of directory `id` on `dir`, unless it is there.
///
/// # Errors
/// What the disk says.
pub fn put_label(disk: &Arc<dyn Disk>, registry: &Registry, id: u64, dir: &Path) -> Result<()> {
    let label = registry.label(id);
    if disk.label(dir)?.as_deref() != Some(&label) {
        disk.set_label(dir, Some(&label))?;
    }
    Ok(())
}
