//! All cursors of a store that is open for writing, each with its file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::sync::{Mutex, MutexGuard};
use crate::cursor::{CursorFile, Progress, Saved, Settings, check_name};
use crate::disk::{Access, Disk, EntryKind};
use crate::error::{Error, ErrorKind, Result};

/// The cursors of a store, by topic and name. Any thread may use it.
#[derive(Debug, Default)]
pub struct Register {
    /// Holds a directory for each topic, with a file for each cursor.
    dir: PathBuf,
    entries: Mutex<BTreeMap<Key, Arc<Entry>>>,
    /// The store was closed; set under the lock of `entries`.
    is_sealed: AtomicBool,
}

/// A topic and a name.
type Key = (Arc<str>, Arc<str>);

/// One cursor.
#[derive(Debug)]
pub struct Entry {
    /// Its topic.
    pub topic: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    path: PathBuf,
    state: Mutex<State>,
    /// Held while it is written; ordered before `state`.
    file: Mutex<Option<CursorFile>>,
    is_open: AtomicBool,
}

/// What is known of a cursor.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Its settings.
    pub settings: Settings,
    /// Its queues.
    pub queues: BTreeMap<u32, Progress>,
    /// The queue that was served last.
    pub served: Option<u32>,
    /// Why its file cannot be used, if it cannot.
    pub damage: Option<String>,
}

/// Ends the ownership of a cursor.
#[derive(Debug)]
pub struct Owned(Arc<Entry>);

impl Register {
    /// The cursors whose files lie under `dir`. One whose file is damaged is there with its
    /// damage: it is no reason to refuse the store.
    ///
    /// # Errors
    /// What the disk says of the directories.
    pub fn load(disk: &dyn Disk, dir: &Path, access: Access) -> Result<Self> {
        let mut entries = BTreeMap::new();
        for (topic, name) in names_in(disk, dir)? {
            let entry = Entry::load(disk, dir, &topic, &name, access);
            entries.insert(entry.key(), Arc::new(entry));
        }
        let dir = dir.to_owned();
        Ok(Self { dir, entries: Mutex::new(entries), is_sealed: AtomicBool::new(false) })
    }

    /// All cursors, by topic and name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Entry>> {
        self.entries.lock().values().cloned().collect()
    }

    /// One cursor, if there is one of that name.
    #[must_use]
    pub fn find(&self, topic: &str, name: &str) -> Option<Arc<Entry>> {
        self.entries.lock().get(&(topic.into(), name.into())).cloned()
    }

    /// Makes a cursor, durably, or puts `saved` in the place of what it was.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be, `Locked` while somebody has it open, or what the
    /// disk says.
    pub fn put(
        &self,
        disk: &dyn Disk,
        topic: &str,
        name: &str,
        saved: Saved,
    ) -> Result<Arc<Entry>> {
        check_name(name)?;
        let mut entries = self.entries.lock();
        self.check_sealed()?;
        let key = (topic.into(), name.into());
        let entry = Arc::clone(
            entries.entry(key).or_insert_with(|| Arc::new(Entry::new(&self.dir, topic, name))),
        );
        let outcome = entry.own().and_then(|_owned| entry.replace(disk, saved));
        if outcome.is_err() && entry.is_blank() {
            entries.remove(&entry.key());
        }
        outcome.map(|()| entry)
    }

    /// Removes a cursor, durably. Says whether there was one.
    ///
    /// # Errors
    /// `Locked` while somebody has it open, or what the disk says.
    pub fn remove(&self, disk: &dyn Disk, topic: &str, name: &str) -> Result<bool> {
        let mut entries = self.entries.lock();
        self.check_sealed()?;
        let key = (topic.into(), name.into());
        let Some(entry) = entries.get(&key) else { return Ok(false) };
        let _owned = entry.own()?;
        disk.remove(&entry.path)?;
        disk.sync_dir(entry.path.parent().expect("it lies in its topic's directory"))?;
        entries.remove(&key);
        Ok(true)
    }

    /// Cuts every cursor to the end of its queues, durably: behind it, other messages will be
    /// given the offsets that a loss of power took.
    ///
    /// # Errors
    /// What the disk says.
    pub fn cut(&self, disk: &dyn Disk, end: &dyn Fn(&str, u32) -> u64) -> Result<()> {
        for entry in self.all() {
            for (&queue, progress) in &mut entry.state().queues {
                if progress.cut(end(&entry.topic, queue)) {
                    log::warn!(
                        "cursor {} of {}: queue {queue} lost its end",
                        entry.name,
                        entry.topic
                    );
                }
            }
            entry.commit(disk)?;
        }
        Ok(())
    }

    fn check_sealed(&self) -> Result<()> {
        match self.is_sealed.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(Error::new(ErrorKind::Closed, "the store was closed")),
        }
    }

    /// Writes down what changed of every cursor, and nothing ever after.
    ///
    /// # Errors
    /// The first failure, after all were tried.
    pub fn seal(&self, disk: &dyn Disk) -> Result<()> {
        let entries = self.entries.lock();
        self.is_sealed.store(true, Ordering::Relaxed);
        let outcomes: Vec<_> = entries
            .values()
            .map(|entry| {
                let outcome = entry.commit(disk);
                *entry.file.lock() = None;
                outcome
            })
            .collect();
        outcomes.into_iter().collect()
    }
}

/// The topics and names of the cursors whose files lie under `dir`.
///
/// # Errors
/// What the disk says of the directories.
pub fn names_in(disk: &dyn Disk, dir: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for topic in names(disk, dir, EntryKind::Directory)? {
        for name in names(disk, &dir.join(&topic), EntryKind::File)? {
            // What a replacement that was interrupted left begins with a full stop.
            if check_name(&name).is_ok() {
                found.push((topic.clone(), name));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn names(disk: &dyn Disk, dir: &Path, kind: EntryKind) -> Result<Vec<String>> {
    if disk.stat(dir)?.is_none() {
        return Ok(Vec::new());
    }
    let entries = disk.list(dir)?.into_iter().filter(|entry| entry.kind == kind);
    Ok(entries.map(|entry| entry.name).collect())
}

impl Entry {
    fn new(dir: &Path, topic: &str, name: &str) -> Self {
        Self {
            topic: topic.into(),
            name: name.into(),
            path: dir.join(topic).join(name),
            state: Mutex::default(),
            file: Mutex::default(),
            is_open: AtomicBool::new(false),
        }
    }

    fn load(disk: &dyn Disk, dir: &Path, topic: &str, name: &str, access: Access) -> Self {
        let mut entry = Self::new(dir, topic, name);
        let state = entry.state.get_mut();
        match CursorFile::open(disk, &entry.path, access) {
            Ok((file, saved)) => {
                (state.settings, state.queues) = (saved.settings, saved.queues);
                *entry.file.get_mut() = Some(file);
            }
            Err(error) => {
                log::warn!("cursor {name} of {topic} cannot be used: {error}");
                state.damage = Some(error.to_string());
            }
        }
        entry
    }

    fn key(&self) -> Key {
        (Arc::clone(&self.topic), Arc::clone(&self.name))
    }

    /// Whether it was never written.
    fn is_blank(&self) -> bool {
        self.file.lock().is_none() && self.state.lock().damage.is_none()
    }

    /// What is known of it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Whether somebody has it open.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Takes it for oneself: what two consumers of one cursor acknowledge would mix.
    ///
    /// # Errors
    /// `Locked` if somebody has it.
    pub fn own(self: &Arc<Self>) -> Result<Owned> {
        match self.is_open.swap(true, Ordering::AcqRel) {
            false => Ok(Owned(Arc::clone(self))),
            true => {
                let text =
                    format!("cursor {:?} of topic {:?} is open already", self.name, self.topic);
                Err(Error::new(ErrorKind::Locked, text).at(&self.path))
            }
        }
    }

    /// # Errors
    /// `Corrupt` if its file cannot be used.
    pub fn check(&self) -> Result<()> {
        match &self.state.lock().damage {
            None => Ok(()),
            Some(damage) => {
                let text = format!("{damage}; reset the cursor to use it again");
                Err(Error::new(ErrorKind::Corrupt, text).at(&self.path))
            }
        }
    }

    /// Puts `saved` in the place of all that was known, durably.
    ///
    /// # Errors
    /// What the disk says.
    fn replace(&self, disk: &dyn Disk, saved: Saved) -> Result<()> {
        let mut file = self.file.lock();
        *file = Some(CursorFile::create(disk, &self.path, &saved)?);
        let Saved { settings, mut queues } = saved;
        queues.values_mut().for_each(Progress::settle_commit);
        *self.state.lock() = State { settings, queues, ..State::default() };
        Ok(())
    }

    /// Other settings for the same progress, durably.
    ///
    /// # Errors
    /// What the disk says.
    pub fn set(&self, disk: &dyn Disk, settings: Settings) -> Result<()> {
        let mut file = self.file.lock();
        let mut state = self.state.lock();
        if state.settings != settings && file.is_some() {
            let saved = Saved { settings, queues: state.queues.clone() };
            *file = Some(CursorFile::create(disk, &self.path, &saved)?);
            state.settings = settings;
            state.note_commit(&saved, true);
        }
        Ok(())
    }

    /// Writes down what changed, durably.
    ///
    /// # Errors
    /// What the disk says; it may be tried again.
    pub fn commit(&self, disk: &dyn Disk) -> Result<()> {
        let mut file = self.file.lock();
        let Some(file) = file.as_mut() else { return Ok(()) };
        let (saved, changed) = self.state.lock().begin_commit();
        if changed.is_empty() && file.is_durable() {
            return Ok(());
        }
        // Acknowledging goes on meanwhile.
        let outcome = file.commit(disk, &saved, &changed);
        self.state.lock().note_commit(&saved, outcome.is_ok());
        outcome
    }
}

impl State {
    /// What is to be written, and which queues changed.
    fn begin_commit(&mut self) -> (Saved, Vec<u32>) {
        let queues = self.queues.iter_mut().filter(|(_, progress)| progress.is_changed());
        let changed = queues
            .map(|(&queue, progress)| {
                progress.begin_commit();
                queue
            })
            .collect();
        (Saved { settings: self.settings, queues: self.queues.clone() }, changed)
    }

    fn note_commit(&mut self, saved: &Saved, is_durable: bool) {
        for (queue, written) in &saved.queues {
            if let Some(progress) = self.queues.get_mut(queue) {
                progress.end_commit(written.floor(), is_durable);
            }
        }
    }
}

impl Owned {
    /// The cursor.
    #[must_use]
    pub fn entry(&self) -> &Arc<Entry> {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.is_open.store(false, Ordering::Release);
    }
}
