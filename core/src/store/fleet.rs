//! The directories of a store as its registry remembers them, and changes to them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::Position;
use crate::checkpoint::Marks;
use crate::directory::{
    Directory, Inventory, NO_QUEUE_FILES, Registered, Registry, Resolved, Wanted, parse_label,
    put_label, resolve, sweep, write_registry,
};
use crate::disk::{Disk, EntryKind, Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{DirectoryOptions, Options};
use crate::retention::{Pressure, Role, Usage};
use crate::segment::name::parse_segment_name;
use crate::store::open::{QUEUES, new_registry};
use crate::store::recovery::Known;
use crate::store::{Store, usual_directory};

/// The directories of a store.
#[derive(Debug)]
pub(crate) struct Fleet {
    registry: Registry,
    /// Whether a store was here before.
    is_known: bool,
    rows: Vec<Row>,
    /// Ranges that no directory there holds.
    lost: Vec<Range<u64>>,
}

#[derive(Clone, Debug)]
struct Row {
    id: u64,
    resolved: Resolved,
    /// Held while the store is open for writing: a copy of the root must not write here too.
    lock: Option<Arc<dyn Lock>>,
}

impl Row {
    fn new(disk: &dyn Disk, id: u64, resolved: Resolved, read_only: bool) -> Result<Self> {
        let lock = match read_only || resolved.offline.is_some() {
            true => None,
            false => Some(Arc::from(disk.lock(&resolved.path)?)),
        };
        Ok(Self { id, resolved, lock })
    }
}

impl Fleet {
    /// Finds the directories that the options name and the registry knows.
    pub(crate) fn find(
        disk: &Arc<dyn Disk>,
        root: &Path,
        options: &Options,
        registry: Option<Registry>,
    ) -> Result<Self> {
        check_kind(root, options, registry.as_ref())?;
        let mut wanted: Vec<_> = options.directories.iter().map(wanted).collect();
        let is_new = registry.as_ref().is_none_or(|known| known.directories.is_empty());
        if wanted.is_empty() && is_new {
            wanted.push(Wanted { path: usual_directory(root), role: None });
        }
        let create = options.create && !options.read_only;
        let is_known = registry.is_some();
        let registry = match registry {
            None if options.adopt => labelled(disk.as_ref(), &wanted, options)?,
            registry => registry,
        };
        let found = resolve(disk.as_ref(), root, &wanted, registry.as_ref(), create)?;
        let offline = found.iter().find(|row| row.offline.is_some());
        if let Some(row) = offline.filter(|_| !options.allow_offline) {
            let why = row.offline.as_deref().unwrap_or_default();
            let text = format!("a directory of the store is not there: {why}");
            return Err(Error::new(ErrorKind::Offline, text).at(&row.path));
        }
        let registry = registry.unwrap_or_else(|| new_registry(options));
        let mut fleet = Self { registry, is_known, rows: Vec::new(), lost: Vec::new() };
        for resolved in found {
            let id = resolved.id.unwrap_or_else(|| fleet.free_id());
            fleet.rows.push(Row::new(disk.as_ref(), id, resolved, options.read_only)?);
        }
        Ok(fleet)
    }

    /// Lets other processes have the directories.
    pub(crate) fn release(&mut self) {
        self.rows.iter_mut().for_each(|row| row.lock = None);
    }

    fn free_id(&self) -> u64 {
        let registered = self.registry.directories.iter().map(|entry| entry.id);
        let highest = registered.chain(self.rows.iter().map(|row| row.id)).max();
        highest.map_or(0, |id| id + 1)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) fn role(&self, id: u64) -> Role {
        self.rows.iter().find(|row| row.id == id).map_or(Role::ReadOnly, |row| row.resolved.role)
    }

    /// The segments in the directories that are there.
    pub(crate) fn inventory(&self, disk: &dyn Disk, start: Position) -> Result<Inventory> {
        Inventory::take(disk, &self.there(), self.known_len(), start)
    }

    /// As [`Fleet::inventory`], with what is wrong told.
    pub(crate) fn survey(&self, disk: &dyn Disk, start: Position) -> Result<Inventory> {
        Inventory::survey(disk, &self.there(), self.known_len(), start)
    }

    fn there(&self) -> Vec<(u64, PathBuf)> {
        let there = self.rows.iter().filter(|row| row.resolved.offline.is_none());
        there.map(|row| (row.id, row.resolved.path.clone())).collect()
    }

    fn known_len(&self) -> Option<u64> {
        self.is_known.then_some(self.registry.segment_len)
    }

    /// The directories that are not there, and why.
    pub(super) fn offline(&self) -> Vec<(PathBuf, String)> {
        let why = |row: &Row| Some((row.resolved.path.clone(), row.resolved.offline.clone()?));
        self.rows.iter().filter_map(why).collect()
    }

    /// A store that has no registry yet says by its files how long they are.
    pub(super) fn settle_lengths(
        &mut self,
        disk: &dyn Disk,
        inventory: &Inventory,
        root: &Path,
    ) -> Result<()> {
        if self.is_known {
            return Ok(());
        }
        if let Some(first) = inventory.segments.first() {
            self.registry.segment_len = first.len;
        }
        if let Some(len) = first_queue_file(disk, &root.join(QUEUES), 0)? {
            self.registry.queue_file_len = len;
        }
        Ok(())
    }

    /// Whether parts of the log may be on directories that are not there.
    pub(super) fn is_partial(&self, inventory: &Inventory) -> bool {
        !inventory.gaps.is_empty() || self.rows.iter().any(|row| row.resolved.offline.is_some())
    }

    /// Notes the ranges of the log that no directory there holds.
    pub(super) fn set_lost(&mut self, lost: Vec<Range<u64>>) {
        self.lost = lost;
    }

    /// Writes the registry and the directories' labels where they changed.
    pub(crate) fn write_down(&mut self, disk: &Arc<dyn Disk>, root: &Path) -> Result<()> {
        if !self.is_known {
            // The store's number first: a crash before the end leaves labels that it explains.
            self.write_registry(Vec::new(), disk, root)?;
        }
        self.put_labels(disk)?;
        let directories: Vec<_> = self.rows.iter().map(registered).collect();
        match directories == self.registry.directories {
            true => Ok(()),
            false => self.write_registry(directories, disk, root),
        }
    }

    fn write_registry(
        &mut self,
        directories: Vec<Registered>,
        disk: &Arc<dyn Disk>,
        root: &Path,
    ) -> Result<()> {
        let registry = Registry { directories, ..self.registry.clone() };
        write_registry(disk.as_ref(), root, &registry)?;
        self.registry = registry;
        self.is_known = true;
        Ok(())
    }

    /// A directory has its label before it is registered: a registered one without a label and
    /// without segments is taken for an empty mount point.
    fn put_labels(&self, disk: &Arc<dyn Disk>) -> Result<()> {
        for row in self.rows.iter().filter(|row| row.resolved.offline.is_none()) {
            let labelled = put_label(disk, &self.registry, row.id, &row.resolved.path);
            // A mount that cannot be written keeps its segments, and those name it well enough.
            if row.resolved.role != Role::ReadOnly {
                labelled?;
            }
        }
        Ok(())
    }

    /// Goes on with other rows, once they are written down.
    fn change(&mut self, rows: Vec<Row>, disk: &Arc<dyn Disk>, root: &Path) -> Result<()> {
        let before = std::mem::replace(&mut self.rows, rows);
        self.write_down(disk, root).inspect_err(|_| self.rows = before)
    }

    /// Makes the names in every directory durable that can be written.
    pub(super) fn sync(&self, disk: &dyn Disk) -> Result<()> {
        self.changeable().try_for_each(|dir| disk.sync_dir(dir))
    }

    /// Removes segments that were made ready when the store was killed.
    pub(crate) fn sweep(&self, disk: &dyn Disk) -> Result<()> {
        self.changeable().try_for_each(|dir| sweep(disk, dir))
    }

    /// The directories that are there and can be written.
    fn changeable(&self) -> impl Iterator<Item = &Path> {
        let there = self.rows.iter().filter(|row| row.resolved.offline.is_none());
        let writable = there.filter(|row| row.resolved.role != Role::ReadOnly);
        writable.map(|row| row.resolved.path.as_path())
    }

    /// The directories as the disk policy sees them.
    pub(crate) fn directories(&self, options: &Options) -> Vec<Directory> {
        self.rows.iter().map(|row| directory(row, options)).collect()
    }

    /// With a directory missing, the log's end may be on it: then nothing may be appended,
    /// because its positions would be given out twice.
    pub(super) fn may_lack_the_tail(&self, known: &Known, end: Position) -> Option<String> {
        let offline = self.rows.iter().find(|row| row.resolved.offline.is_some());
        let has_gap = !self.lost.is_empty();
        let ends_here = self.lost.last().is_none_or(|lost| lost.end < end.get());
        let is_end = |marks: Marks| known.clean && marks.clean && marks.flushed == end;
        let whole = ends_here && known.marks.is_some_and(is_end);
        if whole || (offline.is_none() && !has_gap) {
            return None;
        }
        let path = offline.map(|row| row.resolved.path.display().to_string());
        Some(format!(
            "nothing can be appended: the end of the log may lie on a directory that is not \
             there ({})",
            path.unwrap_or_else(|| "one that was left off".into())
        ))
    }
}

/// The registry of the store that the labels of the directories name, without its directories.
fn labelled(disk: &dyn Disk, wanted: &[Wanted], options: &Options) -> Result<Option<Registry>> {
    for wanted in wanted {
        if disk.stat(&wanted.path)?.is_some()
            && let Some((store, _)) = disk.label(&wanted.path)?.as_deref().and_then(parse_label)
        {
            return Ok(Some(Registry { store, ..new_registry(options) }));
        }
    }
    Ok(None)
}

/// A queue has a registry too; its segments hold records of another format.
fn check_kind(root: &Path, options: &Options, registry: Option<&Registry>) -> Result<()> {
    let Some(known) = registry else { return Ok(()) };
    let is_queue = |queue_file_len| queue_file_len == NO_QUEUE_FILES;
    let text = match (is_queue(known.queue_file_len), is_queue(options.queue_file_len_bytes)) {
        (true, false) => "a queue lies here, and no store",
        (false, true) => "a store lies here, and no queue",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Invalid, text).at(root))
}

fn wanted(options: &DirectoryOptions) -> Wanted {
    Wanted { path: options.path.clone(), role: options.role }
}

fn registered(row: &Row) -> Registered {
    let Resolved { path, role, .. } = &row.resolved;
    Registered { id: row.id, path: path.clone(), role: *role }
}

fn directory(row: &Row, options: &Options) -> Directory {
    let resolved = &row.resolved;
    let own = resolved.named.and_then(|number| options.directories.get(number));
    Directory {
        id: row.id,
        path: resolved.path.clone(),
        device: resolved.device,
        role: resolved.role,
        thresholds: own.map_or(options.thresholds, |given| options.thresholds_of(given)),
        offline: resolved.offline.clone(),
        usage: None,
        told: None,
        pressure: Pressure::None,
    }
}

/// The length of the first queue file below `dir`, three levels deep at most.
fn first_queue_file(disk: &dyn Disk, dir: &Path, depth: u32) -> Result<Option<u64>> {
    if depth > 2 || disk.stat(dir)?.is_none() {
        return Ok(None);
    }
    let mut entries = disk.list(dir)?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let found = match entry.kind {
            EntryKind::Directory => first_queue_file(disk, &dir.join(&entry.name), depth + 1)?,
            EntryKind::File if depth == 2 && parse_segment_name(&entry.name).is_some() => {
                Some(entry.len).filter(|&len| len > 0 && len % 20 == 0)
            }
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

impl Store {
    /// Adds a directory to the open store; it takes segments from the next roll on.
    ///
    /// # Errors
    /// `Invalid` if it is one of the store's, or nested with one; `Foreign` if it is another
    /// store's; what the disk says.
    pub fn add_directory(&self, options: &DirectoryOptions) -> Result<()> {
        options.validate()?;
        let engine = &self.engine;
        let mut fleet = self.fleet.lock();
        self.check_writable()?;
        let known = fleet.registry.directories.iter();
        let mut all: Vec<_> =
            known.map(|entry| Wanted { path: entry.path.clone(), role: None }).collect();
        all.push(wanted(options));
        let disk = engine.disk.as_ref();
        let found = resolve(disk, &engine.root, &all, Some(&fleet.registry), true)?;
        let resolved = found.into_iter().find(|row| row.id.is_none()).ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "the directory is the store's already").at(&options.path)
        })?;
        if let Some(entry) = disk.list(&resolved.path)?.into_iter().find(is_segment) {
            let text = "the directory holds segments; open the store with it to add them";
            return Err(Error::new(ErrorKind::Invalid, text).at(&resolved.path.join(entry.name)));
        }
        let row = Row::new(disk, fleet.free_id(), resolved, false)?;
        let mut added = directory(&row, &engine.options);
        added.thresholds = engine.options.thresholds_of(options);
        let mut rows = fleet.rows.clone();
        rows.push(row);
        fleet.change(rows, &engine.disk, &engine.root)?;
        engine.disks.add(added);
        crate::tasks::ProbeStep::probe(engine);
        Ok(())
    }

    /// Changes what a directory is for: draining ends new segments there.
    ///
    /// # Errors
    /// `Invalid` if the store has no such directory, or for making the one read-only that holds
    /// the log's end; what the disk says.
    pub fn set_role(&self, path: impl AsRef<Path>, role: Role) -> Result<()> {
        let mut fleet = self.fleet.lock();
        self.check_writable()?;
        let at = self.row_of(&fleet, path.as_ref())?;
        let id = fleet.rows[at].id;
        let snapshot = self.engine.log.chain().snapshot();
        let holds_end = snapshot.last().is_some_and(|last| last.directory() == id);
        if role == Role::ReadOnly && holds_end {
            let text = "the log's end lies in the directory: set it to draining first";
            return Err(Error::new(ErrorKind::Invalid, text).at(path.as_ref()));
        }
        let mut rows = fleet.rows.clone();
        rows[at].resolved.role = role;
        fleet.change(rows, &self.engine.disk, &self.engine.root)?;
        self.treat_as(id, role)
    }

    /// Lets the policy judge anew, with a directory in that role.
    fn treat_as(&self, id: u64, role: Role) -> Result<()> {
        self.engine.disks.set_role(id, role)?;
        crate::tasks::ProbeStep::probe(&self.engine);
        Ok(())
    }

    /// Tells how full a directory is, in place of what its file system says: for a quota that
    /// the system does not report. The directory counts as a disk of its own until `None` ends
    /// it; nothing of it is remembered when the store is closed.
    ///
    /// # Errors
    /// `Invalid` if the store has no such directory; what the disk says.
    pub fn set_usage(&self, path: impl AsRef<Path>, usage: Option<Usage>) -> Result<()> {
        let fleet = self.fleet.lock();
        self.check_writable()?;
        let at = self.row_of(&fleet, path.as_ref())?;
        self.engine.disks.tell_usage(fleet.rows[at].id, usage)?;
        crate::tasks::ProbeStep::probe(&self.engine);
        Ok(())
    }

    /// Takes an empty directory off the store.
    ///
    /// # Errors
    /// `Invalid` if the store has no such directory, if it is the only one, or while it holds
    /// segments: set it to draining and let retention empty it. What the disk says; where only
    /// the label could not be taken off, the directory is off the store all the same.
    pub fn remove_directory(&self, path: impl AsRef<Path>) -> Result<()> {
        let engine = &self.engine;
        let mut fleet = self.fleet.lock();
        self.check_writable()?;
        let at = self.row_of(&fleet, path.as_ref())?;
        if fleet.rows.len() == 1 {
            let text = "the store's only directory cannot be removed";
            return Err(Error::new(ErrorKind::Invalid, text).at(path.as_ref()));
        }
        let Row { id, resolved, .. } = fleet.rows[at].clone();
        // No new segment may come between the look and the removal, nor one of an append that
        // chose its directory before.
        self.treat_as(id, Role::Draining)?;
        engine.supply.discard();
        engine.log.wait_for_appends();
        if let Err(error) = self.take_off(&mut fleet, at) {
            self.treat_as(id, resolved.role)?;
            return Err(error);
        }
        engine.disks.remove(id);
        match resolved.offline {
            None => engine.disk.set_label(&resolved.path, None),
            Some(_) => Ok(()),
        }
    }

    fn take_off(&self, fleet: &mut Fleet, at: usize) -> Result<()> {
        let Row { id, resolved, .. } = &fleet.rows[at];
        let snapshot = self.engine.log.chain().snapshot();
        let is_used = snapshot.segments().iter().any(|segment| segment.directory() == *id);
        if is_used || (resolved.offline.is_some() && !fleet.lost.is_empty()) {
            let text = "the directory still holds segments of the log";
            return Err(Error::new(ErrorKind::Invalid, text).at(&resolved.path));
        }
        let mut rows = fleet.rows.clone();
        rows.remove(at);
        fleet.change(rows, &self.engine.disk, &self.engine.root)
    }

    fn row_of(&self, fleet: &Fleet, path: &Path) -> Result<usize> {
        let canonical = self.engine.disk.stat(path)?.map(|stat| stat.canonical);
        let path: PathBuf = canonical.unwrap_or_else(|| path.to_owned());
        let at = fleet.rows.iter().position(|row| row.resolved.path == path);
        at.ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "the store has no such directory").at(&path)
        })
    }
}

fn is_segment(entry: &crate::disk::Entry) -> bool {
    entry.kind == EntryKind::File && parse_segment_name(&entry.name).is_some()
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
