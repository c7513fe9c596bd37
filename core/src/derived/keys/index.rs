//! All index files of a store, and how far they go.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::base::sync::{Mutex, MutexGuard, RwLock};
use crate::base::units::Position;
use crate::derived::keys::chain::Chain;
use crate::derived::keys::file::{IndexFile, Shape, Summary};
use crate::derived::keys::hash::KeyKind;
use crate::derived::keys::name::parse_index_name;
use crate::derived::keys::writer::KeyWriter;
use crate::disk::{Access, Disk, EntryKind};
use crate::error::{ErrorKind, Result};
use crate::segment::Budget;

/// Bytes of log after which the index is flushed again: a flush writes pages all over the slots and
/// takes the permission to write to them, and reading so much again takes some tenth of a second.
const SYNC_BYTES: u64 = 256 << 20;

/// What the index needs to know of its store.
#[derive(Clone, Debug)]
pub struct KeyShelf {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The store's map budget.
    pub budget: Arc<Budget>,
    /// `<root>/index`.
    pub dir: PathBuf,
    /// How large files are.
    pub shape: Shape,
    /// Whether files may be written.
    pub access: Access,
}

/// Index files that are durable and hold the keys of all records below a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// Records below are in the files.
    pub position: Position,
    /// How large the files are.
    pub shape: Shape,
    /// The store time of the last entry in the last full file, in milliseconds; 0 without one.
    pub full_ms: i64,
    /// The files, oldest first.
    pub files: Vec<Summary>,
}

/// The key index of a store. Any thread may look something up; one at a time adds.
#[derive(Debug)]
pub struct KeyIndex {
    shared: Arc<Shared>,
    writer: Mutex<KeyWriter>,
    /// The position of the catalogue that was written last.
    synced: AtomicU64,
    /// A flush failed: what it was to make durable is not known any more.
    failed: AtomicBool,
}

/// What readers and the writer have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) shelf: KeyShelf,
    files: RwLock<Arc<Vec<Arc<IndexFile>>>>,
    done: AtomicU64,
    full_ms: AtomicI64,
    coverage: Coverage,
    /// There may be files that are not of the list.
    has_strays: AtomicBool,
    /// The files were found to be damaged, and nothing is looked up in them.
    is_void: AtomicBool,
}

/// Which records the files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    /// All below `done`: the files are the store's own.
    Below,
    /// Those from each file's first to its last: somebody else wrote the files.
    Between,
    /// None.
    Nothing,
}

/// Where records with a key are looked for.
#[derive(Debug)]
pub enum Source {
    /// In the records of a range.
    Log(Range<Position>),
    /// In a file.
    File(Arc<IndexFile>),
}

impl Shared {
    pub(super) fn files(&self) -> Arc<Vec<Arc<IndexFile>>> {
        Arc::clone(&self.files.read())
    }

    pub(super) fn push(&self, file: Arc<IndexFile>) {
        let mut files = self.files.write();
        *files = Arc::new(files.iter().cloned().chain([file]).collect());
    }

    pub(super) fn done(&self) -> Position {
        Position::new(self.done.load(Ordering::Acquire))
    }

    pub(super) fn advance(&self, to: Position) {
        self.done.fetch_max(to.get(), Ordering::AcqRel);
    }

    /// Notes the store time of the last entry in a file that is full.
    pub(super) fn note_full(&self, end_ms: i64) {
        self.full_ms.store(end_ms, Ordering::Relaxed);
    }

    /// Removes index files that are not of the list, before the first one of it is written.
    pub(super) fn clear_strays(&self) -> Result<()> {
        if !self.has_strays.load(Ordering::Relaxed) {
            return Ok(());
        }
        let KeyShelf { disk, dir, .. } = &self.shelf;
        let own = self.files();
        for (number, name) in found(&self.shelf)? {
            if own.iter().all(|file| file.number != number) {
                disk.remove(&dir.join(name))?;
            }
        }
        self.has_strays.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl KeyIndex {
    /// No index: whatever is looked up is looked for in the log.
    #[must_use]
    pub fn none(shelf: KeyShelf) -> Self {
        Self::with(shelf, Vec::new(), Position::new(u64::MAX), Coverage::Nothing)
    }

    /// The index as the catalogue knows it. `is_clean`: nothing was added since, or by somebody
    /// who ended in order. What lies above is added by the writer.
    ///
    /// Without a catalogue that fits, a store that is open for writing begins anew at `start`. One
    /// that is not takes the files of RocketMQ as it finds them; its own it does not believe then.
    ///
    /// # Errors
    /// What the disk says.
    pub fn open(
        mut shelf: KeyShelf,
        catalogue: Option<&Catalogue>,
        is_clean: bool,
        start: Position,
        is_own: bool,
    ) -> Result<Self> {
        if let Some(known) = catalogue {
            shelf.shape = known.shape;
            if let Some(files) = own_files(&shelf, known, is_clean, start)? {
                let index = Self::with(shelf, files, known.position, Coverage::Below);
                index.synced.store(known.position.get(), Ordering::Relaxed);
                index.shared.note_full(known.full_ms);
                return Ok(index);
            }
        }
        match shelf.access {
            Access::Write => Ok(Self::with(shelf, Vec::new(), start, Coverage::Below)),
            Access::Read if is_own => Ok(Self::none(shelf)),
            Access::Read => {
                let files = foreign_files(&shelf)?;
                Ok(Self::with(shelf, files, Position::new(u64::MAX), Coverage::Between))
            }
        }
    }

    fn with(
        shelf: KeyShelf,
        files: Vec<Arc<IndexFile>>,
        done: Position,
        coverage: Coverage,
    ) -> Self {
        let shared = Arc::new(Shared {
            shelf,
            files: RwLock::new(Arc::new(files)),
            done: AtomicU64::new(done.get()),
            full_ms: AtomicI64::new(0),
            coverage,
            has_strays: AtomicBool::new(true),
            is_void: AtomicBool::new(false),
        });
        Self {
            writer: Mutex::new(KeyWriter::new(Arc::clone(&shared))),
            shared,
            synced: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// Whether it goes on from that catalogue, and was not begun anew.
    #[must_use]
    pub fn follows(&self, catalogue: &Catalogue) -> bool {
        self.synced.load(Ordering::Relaxed) == catalogue.position.get()
    }

    /// Whether anything is added to it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.shared.coverage == Coverage::Below && self.shared.shelf.access == Access::Write
    }

    /// Whether its entries are the store's own: what they say of a record is so, or is damage.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.shared.coverage == Coverage::Below
    }

    /// Records below are in the index.
    #[must_use]
    pub fn done(&self) -> Position {
        self.shared.done()
    }

    /// What adds entries; others who want it wait.
    pub fn writer(&self) -> MutexGuard<'_, KeyWriter> {
        self.writer.lock()
    }

    /// Where to look for the records of `line` that have a key, newest first. Ranges and files may
    /// have a record in common. Files of RocketMQ before 5.4 have no entries for tags.
    #[must_use]
    pub fn sources(&self, line: Range<Position>, kind: KeyKind) -> Vec<Source> {
        // The mark first: what lies below is in files that were listed by then.
        let done = self.done().max(line.start);
        let files = self.shared.files();
        let start = line.start;
        let live = files.iter().rev().filter(|file| file.end() >= start);
        let is_void = self.shared.is_void.load(Ordering::Acquire);
        match self.shared.coverage {
            Coverage::Nothing => vec![Source::Log(line)],
            Coverage::Between if kind == KeyKind::Tag => vec![Source::Log(line)],
            _ if is_void => vec![Source::Log(line)],
            Coverage::Below if done < line.end => {
                let rest = Source::Log(done..line.end);
                [rest].into_iter().chain(live.cloned().map(Source::File)).collect()
            }
            Coverage::Below => live.cloned().map(Source::File).collect(),
            Coverage::Between => between(live, line),
        }
    }

    /// The records of that hash in a file, newest first. A file that is gone has none: it was
    /// dropped with its part of the log.
    ///
    /// # Errors
    /// `Corrupt` for what cannot be, else what the disk says.
    pub fn chain(file: &Arc<IndexFile>, hash: u32) -> Result<Option<Chain>> {
        match Chain::of(Arc::clone(file), hash) {
            Err(error) if matches!(error.kind(), ErrorKind::Gone | ErrorKind::Offline) => Ok(None),
            chain => chain.map(Some),
        }
    }

    /// Removes the files wholly below the log's `start`, but never the last; says how many.
    ///
    /// # Errors
    /// What the disk says.
    pub fn drop_before(&self, start: Position) -> Result<usize> {
        if !self.is_kept() {
            return Ok(0);
        }
        let gone: Vec<_> = {
            let mut files = self.shared.files.write();
            let count = files.iter().take(files.len().saturating_sub(1));
            let count = count.take_while(|file| file.end() < start).count();
            let (gone, kept) = files.split_at(count);
            let (gone, kept) = (gone.to_vec(), kept.to_vec());
            *files = Arc::new(kept);
            gone
        };
        for file in &gone {
            file.segment.remove()?;
        }
        Ok(gone.len())
    }

    /// What the files hold now, to be made durable; nothing while so little was added that it can
    /// wait.
    #[must_use]
    pub fn begin_sync(&self, at_once: bool) -> Option<Catalogue> {
        let (done, synced) = (self.done(), self.synced.load(Ordering::Relaxed));
        let waits = !at_once && done.get().saturating_sub(synced) < SYNC_BYTES;
        if !self.is_kept() || waits || done.get() == synced || self.failed.load(Ordering::Acquire) {
            return None;
        }
        let writer = self.writer();
        let position = writer.done();
        let files = self.shared.files().iter().map(|file| file.summary()).collect();
        let full_ms = self.shared.full_ms.load(Ordering::Relaxed);
        let shape = self.shared.shelf.shape;
        Some(Catalogue { position, shape, full_ms, files })
    }

    /// Makes everything that was added so far durable; then a catalogue of before may be written.
    ///
    /// # Errors
    /// What the disk says. After a failed flush nothing is written down any more: the next opening
    /// goes on from the catalogue before.
    pub fn sync(&self) -> Result<()> {
        let mut dirty = self.writer().take_dirty();
        while let Some(file) = dirty.pop() {
            let files = self.shared.files();
            if !files.iter().any(|own| Arc::ptr_eq(own, &file)) {
                continue;
            }
            if let Err(error) = file.segment.file() {
                dirty.push(file);
                self.writer().put_back(dirty);
                return Err(error);
            }
            let synced = file.segment.sync();
            file.segment.close_file();
            synced.inspect_err(|_| self.failed.store(true, Ordering::Release))?;
        }
        Ok(())
    }

    /// Forgets all files, which are damaged: they are built anew from `start` on, or not used again
    /// where nothing is written. Nothing on disk may say any more how far they go.
    pub fn begin_anew(&self, start: Position) {
        if !self.is_kept() {
            return self.shared.is_void.store(true, Ordering::Release);
        }
        let mut writer = self.writer();
        *writer = KeyWriter::new(Arc::clone(&self.shared));
        self.shared.done.store(start.get(), Ordering::Release);
        *self.shared.files.write() = Arc::default();
        self.shared.has_strays.store(true, Ordering::Relaxed);
        self.shared.note_full(0);
        self.synced.store(0, Ordering::Relaxed);
    }

    /// Nothing of it is written down any more: the next opening builds it anew.
    pub fn distrust(&self) {
        self.failed.store(true, Ordering::Release);
    }

    /// Notes that the catalogue is on disk.
    pub fn note_synced(&self, catalogue: &Catalogue) {
        self.synced.store(catalogue.position.get(), Ordering::Relaxed);
    }
}

/// Files of somebody else, and the ranges of the log before, between and behind them.
fn between<'a>(
    files: impl Iterator<Item = &'a Arc<IndexFile>>,
    line: Range<Position>,
) -> Vec<Source> {
    let (mut sources, mut end) = (Vec::new(), line.end);
    for file in files {
        let Summary { begin, end: last, .. } = file.summary();
        sources.push(Source::Log(last.max(line.start)..end));
        sources.push(Source::File(Arc::clone(file)));
        end = begin.min(end);
    }
    sources.push(Source::Log(line.start..end));
    sources.retain(|source| !matches!(source, Source::Log(range) if range.start >= range.end));
    sources
}

/// The files that the catalogue names; nothing if one that is needed is missing.
fn own_files(
    shelf: &KeyShelf,
    known: &Catalogue,
    is_clean: bool,
    start: Position,
) -> Result<Option<Vec<Arc<IndexFile>>>> {
    let mut files = Vec::new();
    let last = known.files.last().map(|file| file.number);
    for &summary in &known.files {
        let stat = shelf.disk.stat(&shelf.place(summary.number).path)?;
        let is_whole = stat.is_some_and(|stat| stat.len == shelf.shape.file_len());
        if !is_whole && summary.end < start && Some(summary.number) != last {
            // Dropped with its part of the log, after the catalogue was written.
            continue;
        }
        if !is_whole {
            log::warn!("the key index is built anew: file {} is missing", summary.number);
            return Ok(None);
        }
        // Only the last file is added to.
        let is_full = Some(summary.number) != last;
        let file = IndexFile::existing(shelf, summary, is_full);
        if !is_full && is_clean {
            let told = file.told()?.filter(|told| *told == summary);
            file.linked.store(told.is_some() || summary.count == 1, Ordering::Relaxed);
        }
        files.push(Arc::new(file));
    }
    Ok(Some(files))
}

/// The files there are, as far as each makes sense.
fn foreign_files(shelf: &KeyShelf) -> Result<Vec<Arc<IndexFile>>> {
    let mut files: Vec<Arc<IndexFile>> = Vec::new();
    for (number, _) in found(shelf)? {
        let unknown = Summary { number, count: 1, begin: Position::ZERO, end: Position::ZERO };
        let file = IndexFile::existing(shelf, unknown, true);
        let Some(told) = file.told()? else { continue };
        // Out of order, they would be searched in the wrong order.
        if files.last().is_none_or(|before| before.end() <= told.begin) {
            files.push(Arc::new(IndexFile::existing(shelf, told, true)));
        }
    }
    Ok(files)
}

/// The index files there are, by number and name, oldest first; those of another length are left
/// out for reading.
fn found(shelf: &KeyShelf) -> Result<Vec<(u64, String)>> {
    if shelf.disk.stat(&shelf.dir)?.is_none() {
        return Ok(Vec::new());
    }
    let entries = shelf.disk.list(&shelf.dir)?.into_iter();
    let right_len = |len| shelf.access == Access::Write || len == shelf.shape.file_len();
    let files = entries.filter(|entry| entry.kind == EntryKind::File && right_len(entry.len));
    let mut found: Vec<_> = files
        .filter_map(|entry| parse_index_name(&entry.name).map(|number| (number, entry.name)))
        .collect();
    found.sort_unstable();
    Ok(found)
}
