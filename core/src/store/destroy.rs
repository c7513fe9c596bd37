//! Removing a store: what it made, in all its directories, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::directory::{OWN_DIR, Wanted, read_registry, resolve};
use crate::disk::{Disk, EntryKind, OsDisk};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::segment::name::parse_segment_name;
use crate::store::open::{ABORT, DESTROYING, QUEUES};
use crate::store::{Store, usual_directory};

/// Files of a store that lie in its root.
const ROOT_FILES: [&str; 4] = [ABORT, "abort.bak", "checkpoint", "lock"];

impl Store {
    /// Removes the store at `root`: its segments, queues, indexes and marks, in the directories
    /// that the options name or the store remembers. Other files stay, and so do the directories
    /// that hold any; `config` is the broker's and stays.
    ///
    /// # Errors
    /// `Invalid` if there is no store; `Locked` while somebody has it open; `Offline` if a
    /// directory is not there (its segments would come back); what the disk says.
    pub fn destroy(root: impl AsRef<Path>, options: &Options) -> Result<()> {
        Self::destroy_on(Arc::new(OsDisk::new()), root, options)
    }

    /// As [`Store::destroy`], on a disk of the caller's.
    ///
    /// # Errors
    /// As [`Store::destroy`].
    pub fn destroy_on(
        disk: Arc<dyn Disk>,
        root: impl AsRef<Path>,
        options: &Options,
    ) -> Result<()> {
        let disk = disk.as_ref();
        let stat = disk.stat(root.as_ref())?;
        let none = || Error::new(ErrorKind::Invalid, "there is no store").at(root.as_ref());
        let root =
            stat.filter(|stat| stat.kind == EntryKind::Directory).ok_or_else(none)?.canonical;
        let directories = directories(disk, &root, options)?;
        let is_there = |path: &Path| Ok::<_, Error>(disk.stat(path)?.is_some());
        if directories.is_empty() && !is_there(&root.join("lock"))? && !is_there(&mark(&root))? {
            return Err(none());
        }
        let lock = disk.lock(&root.join("lock"))?;
        // From here on it is no store any more, and destroying can be taken up again.
        disk.make_dir(&root.join(OWN_DIR))?;
        disk.replace(&mark(&root), b"")?;
        for dir in &directories {
            remove_segments(disk, dir)?;
        }
        for tree in [QUEUES, "index"] {
            remove_tree(disk, &root.join(tree))?;
        }
        for file in ROOT_FILES {
            if disk.stat(&root.join(file))?.is_some() {
                disk.remove(&root.join(file))?;
            }
        }
        remove_own(disk, &root.join(OWN_DIR))?;
        drop(lock);
        remove_if_empty(disk, &root)
    }
}

/// The segment directories of the store.
fn directories(disk: &dyn Disk, root: &Path, options: &Options) -> Result<Vec<PathBuf>> {
    let registry = read_registry(disk, root)?;
    let mut wanted: Vec<_> = options
        .directories
        .iter()
        .map(|given| Wanted { path: given.path.clone(), role: None })
        .collect();
    let usual = usual_directory(root);
    if wanted.is_empty() && registry.is_none() {
        if disk.stat(&usual)?.is_none() {
            return Ok(Vec::new());
        }
        wanted.push(Wanted { path: usual, role: None });
    }
    let found = resolve(disk, root, &wanted, registry.as_ref(), false)?;
    let is_begun = disk.stat(&mark(root))?.is_some();
    if let Some(row) = found.iter().find(|row| row.offline.is_some() && !is_begun) {
        let text = "a directory of the store is not there, and its segments would stay";
        return Err(Error::new(ErrorKind::Offline, text).at(&row.path));
    }
    let there = found.into_iter().filter(|row| row.offline.is_none());
    Ok(there.map(|row| row.path).collect())
}

/// Says that the store at `root` is being destroyed.
fn mark(root: &Path) -> PathBuf {
    root.join(OWN_DIR).join(DESTROYING)
}

fn remove_segments(disk: &dyn Disk, dir: &Path) -> Result<()> {
    for entry in disk.list(dir)? {
        if entry.kind == EntryKind::File && parse_segment_name(&entry.name).is_some() {
            disk.remove(&dir.join(entry.name))?;
        }
    }
    disk.set_label(dir, None)?;
    remove_tree(disk, &dir.join(OWN_DIR))?;
    remove_if_empty(disk, dir)
}

/// Removes the store's own directory; what says that it is being destroyed goes last.
fn remove_own(disk: &dyn Disk, dir: &Path) -> Result<()> {
    remove_entries(disk, dir, Some(DESTROYING))?;
    remove_tree(disk, dir)
}

/// Removes a directory that is all the store's own.
fn remove_tree(disk: &dyn Disk, dir: &Path) -> Result<()> {
    if disk.stat(dir)?.is_none() {
        return Ok(());
    }
    remove_entries(disk, dir, None)?;
    disk.remove(dir)
}

/// Empties a directory, but for one name.
fn remove_entries(disk: &dyn Disk, dir: &Path, kept: Option<&str>) -> Result<()> {
    for entry in disk.list(dir)?.into_iter().filter(|entry| kept != Some(entry.name.as_str())) {
        let path = dir.join(&entry.name);
        match entry.kind {
            EntryKind::Directory => remove_tree(disk, &path)?,
            _ => disk.remove(&path)?,
        }
    }
    Ok(())
}

/// A mount point is empty and still cannot be removed: that is no failure.
fn remove_if_empty(disk: &dyn Disk, dir: &Path) -> Result<()> {
    if disk.list(dir)?.is_empty()
        && let Err(error) = disk.remove(dir)
    {
        log::debug!("the empty directory stays: {error}");
    }
    Ok(())
}
