//! The files of one consume queue: units at fixed places, written by system calls, read by map.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::derived::unit::{UNIT_BYTES, Unit};
use crate::disk::{Access, Allocation, Disk, Entry, EntryKind, Map};
use crate::error::{Error, ErrorKind, Result};
use crate::segment::name::{parse_segment_name, segment_name};
use crate::segment::{Budget, Chain, Place, Segment};

/// The files of one consume queue. Their line counts bytes of units: the unit of queue offset
/// `q` stands at `q * 20`.
#[derive(Debug)]
pub(super) struct UnitFiles {
    dir: PathBuf,
    file_len: u64,
    disk: Arc<dyn Disk>,
    budget: Arc<Budget>,
    access: Access,
    chain: Chain,
}

/// What unit files need to know of their store.
#[derive(Clone, Debug)]
pub struct Shelf {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The store's map budget.
    pub budget: Arc<Budget>,
    /// Length of every queue file in bytes, a multiple of 20.
    pub file_len: u64,
    /// Whether files may be written.
    pub access: Access,
}

/// One file of units, mapped, for who looks at single ones.
#[derive(Debug)]
pub struct UnitFile {
    segment: Arc<Segment>,
    map: Arc<Map>,
}

impl UnitFile {
    /// The unit at `offset`, which is below the queue's published maximum; nothing if it is not of
    /// this file or was never written.
    fn get(&self, offset: u64) -> Result<Option<Unit>> {
        let at = Position::new(offset * UNIT_BYTES);
        if !self.segment.covers(at) {
            return Ok(None);
        }
        let range = at - self.segment.base()..at - self.segment.base() + UNIT_BYTES;
        let resident = self.map.make_resident(range.clone());
        resident.map_err(|error| error.at(self.segment.path()))?;
        Ok(self.map.bytes(range, Published::all()).and_then(Unit::decode))
    }
}

impl UnitFiles {
    /// The unit at `offset`, from `file` if that has it, else from the one that does, which is kept
    /// there; nothing where none was written.
    pub(super) fn get_in(&self, file: &mut Option<UnitFile>, offset: u64) -> Result<Option<Unit>> {
        if let Some(unit) = file.as_ref().map_or(Ok(None), |file| file.get(offset))? {
            return Ok(Some(unit));
        }
        *file = self.file_of(offset)?;
        file.as_ref().map_or(Ok(None), |file| file.get(offset))
    }

    fn file_of(&self, offset: u64) -> Result<Option<UnitFile>> {
        let snapshot = self.chain.snapshot();
        let Some(segment) = snapshot.find(Position::new(offset * UNIT_BYTES)) else {
            return Ok(None);
        };
        Ok(Some(UnitFile { map: segment.map()?, segment: Arc::clone(segment) }))
    }

    /// Finds the files of `dir`; a directory that is not there has none.
    ///
    /// # Errors
    /// `Corrupt` for a file of the wrong length or a gap between files; the caller rebuilds.
    pub(super) fn open(shelf: &Shelf, dir: PathBuf) -> Result<Self> {
        let mut found = Vec::new();
        if shelf.disk.stat(&dir)?.is_some() {
            for entry in shelf.disk.list(&dir)? {
                if let Some(base) = unit_file(&entry) {
                    found.push((base, entry.len));
                }
            }
        }
        found.sort_unstable();
        check_line(&dir, &found, shelf.file_len)?;
        let files = Self::empty(shelf, dir);
        for (base, _) in found {
            files.chain.push(files.existing(base));
        }
        Ok(files)
    }

    /// Takes up files that another process made behind the last one, and forgets those that it
    /// removed in front.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn look_again(&self) -> Result<()> {
        if self.disk.stat(&self.dir)?.is_none() {
            return Ok(());
        }
        // A file that is just being made has no length yet.
        let entries = self.disk.list(&self.dir)?.into_iter();
        let whole = entries.filter(|entry| entry.len == self.file_len);
        let mut found: Vec<_> = whole.filter_map(|entry| unit_file(&entry)).collect();
        found.sort_unstable();
        let Some(&first) = found.first() else { return Ok(()) };
        self.chain.drop_before(first);
        for base in found {
            let end = self.chain.snapshot().last().map(|last| last.end());
            if end.is_none_or(|end| end == base) {
                self.chain.push(self.existing(base));
            }
        }
        Ok(())
    }

    /// No files at all.
    pub(super) fn empty(shelf: &Shelf, dir: PathBuf) -> Self {
        Self {
            dir,
            file_len: shelf.file_len,
            disk: Arc::clone(&shelf.disk),
            budget: Arc::clone(&shelf.budget),
            access: shelf.access,
            chain: Chain::default(),
        }
    }

    fn place(&self, base: Position) -> Place {
        let path = self.dir.join(segment_name(base));
        Place { base, len: self.file_len, path, directory: 0 }
    }

    fn existing(&self, base: Position) -> Arc<Segment> {
        let access = self.access;
        Arc::new(Segment::existing(&self.disk, &self.budget, self.place(base), access))
    }

    /// The first offset that a file covers, and the one behind the last file.
    pub(super) fn covered(&self) -> (u64, u64) {
        let snapshot = self.chain.snapshot();
        let segments = snapshot.segments();
        match (segments.first(), segments.last()) {
            (Some(first), Some(last)) => {
                (first.base().get() / UNIT_BYTES, last.end().get() / UNIT_BYTES)
            }
            _ => (0, 0),
        }
    }

    /// The unit at `offset`, or nothing where none was written.
    pub(super) fn get(&self, offset: u64) -> Result<Option<Unit>> {
        let mut unit = None;
        self.visit(offset, offset + 1, &mut |_, found| unit = found)?;
        Ok(unit)
    }

    /// Gives the units of `from..to` to `visit`, in order, as far as files cover them.
    pub(super) fn visit(
        &self,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(u64, Option<Unit>),
    ) -> Result<()> {
        self.visit_bytes(from, to, &mut |first, bytes| {
            for (offset, unit) in (first..).zip(bytes.chunks_exact(UNIT_BYTES as usize)) {
                visit(offset, Unit::decode(unit));
            }
        })
    }

    /// Gives the bytes of the units of `from..to` to `visit`, with the offset of the first one, one
    /// file after the other, as far as files cover them.
    pub(super) fn visit_bytes(
        &self,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<()> {
        let snapshot = self.chain.snapshot();
        let mut offset = from;
        while offset < to {
            let Some(segment) = snapshot.find(Position::new(offset * UNIT_BYTES)) else {
                return Ok(());
            };
            let stop = to.min(segment.end().get() / UNIT_BYTES);
            let base = segment.base().get();
            let range = offset * UNIT_BYTES - base..stop * UNIT_BYTES - base;
            let map = segment.map()?;
            map.make_resident(range.clone()).map_err(|error| error.at(segment.path()))?;
            // The caller asks for offsets below the queue's published maximum alone.
            visit(offset, map.bytes(range, Published::all()).expect("the file is mapped whole"));
            offset = stop;
        }
        Ok(())
    }

    /// Adds the bytes of at most `count` units from `offset` on, of one file and as they stand
    /// there, to `into`; none where no file is.
    pub(super) fn read(&self, offset: u64, count: u64, into: &mut Vec<u8>) -> Result<()> {
        let at = Position::new(offset * UNIT_BYTES);
        let snapshot = self.chain.snapshot();
        let Some(segment) = snapshot.find(at) else { return Ok(()) };
        let len = (count * UNIT_BYTES).min(segment.end() - at);
        let start = into.len();
        into.resize(start + usize::try_from(len).expect("a piece is short"), 0);
        let read = segment.file()?.read_at(at - segment.base(), &mut into[start..]);
        segment.close_file();
        read.map_err(|error| error.at(segment.path()).with_offset(at - segment.base()))
    }

    /// The file of a unit, and its byte there.
    pub(super) fn place_of(&self, offset: u64) -> Option<(PathBuf, u64)> {
        let at = Position::new(offset.checked_mul(UNIT_BYTES)?);
        let snapshot = self.chain.snapshot();
        let segment = snapshot.find(at)?;
        Some((segment.path().to_owned(), at - segment.base()))
    }

    /// The first unit at or behind `offset` that the file system has data for.
    pub(super) fn next_written(&self, offset: u64) -> Result<Option<u64>> {
        let mut at = Position::new(offset * UNIT_BYTES);
        while let Some(segment) = self.chain.snapshot().from(at) {
            let from = at.max(segment.base());
            let found = segment.file()?.next_data(from - segment.base());
            segment.close_file();
            if let Some(data) = found? {
                let byte = (segment.base() + data).max(from).get();
                return Ok(Some((byte / UNIT_BYTES).max(offset)));
            }
            at = segment.end();
        }
        Ok(None)
    }

    /// Writes whole units from `offset` on, making files as needed.
    pub(super) fn write(&self, mut offset: u64, mut units: &[u8]) -> Result<Vec<Arc<Segment>>> {
        let mut touched = Vec::new();
        while !units.is_empty() {
            let at = offset * UNIT_BYTES;
            let segment = self.file_for(Position::new(at))?;
            let room = segment.end().get() - at;
            let now = units.len().min(usize::try_from(room).expect("a file fits memory"));
            // Descriptors are not kept: there may be thousands of queues.
            let written = segment.file()?.write_at(at - segment.base().get(), &units[..now]);
            segment.close_file();
            written?;
            touched.push(segment);
            units = &units[now..];
            offset += now as u64 / UNIT_BYTES;
        }
        Ok(touched)
    }

    fn file_for(&self, at: Position) -> Result<Arc<Segment>> {
        if let Some(segment) = self.chain.snapshot().find(at) {
            return Ok(Arc::clone(segment));
        }
        let base = Position::new(at.get() / self.file_len * self.file_len);
        if self.chain.snapshot().segments().first().is_some_and(|first| at < first.base()) {
            // A crash lost the files before these, and the queue is derived anew.
            self.cut_after(0)?;
        }
        self.disk.make_dir(&self.dir)?;
        let file = self.disk.create(&self.dir, self.file_len, Allocation::Sparse)?;
        let place = self.place(base);
        if base < at && self.chain.snapshot().last().is_none() {
            // RocketMQ reads a file from its start, so a queue that begins within one is filled.
            let filler = Unit::FILLER.encode().repeat(((at - base) / UNIT_BYTES) as usize);
            file.write_at(0, &filler)?;
        }
        file.link(&place.path)?;
        let segment = Arc::new(Segment::created(&self.disk, &self.budget, place, file));
        self.chain.push(Arc::clone(&segment));
        Ok(segment)
    }

    /// Removes the files behind the one that holds `end`, and zeros what is left behind it.
    pub(super) fn cut_after(&self, end: u64) -> Result<()> {
        let end = Position::new(end * UNIT_BYTES);
        let cut = self.chain.cut_after(end);
        for segment in cut.iter().rev() {
            segment.remove()?;
        }
        if !cut.is_empty() {
            // Dead units must not come back with a name that is undone.
            self.disk.sync_dir(&self.dir)?;
        }
        let snapshot = self.chain.snapshot();
        let Some(last) = snapshot.find(end) else { return Ok(()) };
        self.zero_written(last, end - last.base())?;
        last.close_file();
        Ok(())
    }

    /// Zeros whatever is written from `at` on; a crash may have left holes between dead units.
    fn zero_written(&self, segment: &Arc<Segment>, at: u64) -> Result<()> {
        let file = segment.file()?;
        // All of them first: the system reads ahead, and what it read counts as data.
        let (mut pieces, mut from) = (Vec::new(), at);
        while let Some(data) = file.next_data(from)? {
            pieces.push(data);
            from = data + 4096;
        }
        let mut chunk = [0; 4096];
        let mut is_dirty = false;
        for data in pieces {
            let left = usize::try_from(segment.len_bytes() - data).unwrap_or(usize::MAX);
            let now = &mut chunk[..left.min(4096)];
            file.read_at(data, now)?;
            if now.iter().any(|&byte| byte != 0) {
                file.zero(data, data + now.len() as u64)?;
                is_dirty = true;
            }
        }
        if is_dirty { file.sync() } else { Ok(()) }
    }

    /// Removes the files wholly below `start`, but never the last one; says how many went.
    pub(super) fn drop_before(&self, start: u64) -> Result<usize> {
        let snapshot = self.chain.snapshot();
        let Some(last) = snapshot.last() else { return Ok(0) };
        let limit = Position::new(start * UNIT_BYTES).min(last.base());
        let dropped = self.chain.drop_before(limit);
        for segment in &dropped {
            segment.remove()?;
        }
        Ok(dropped.len())
    }
}

fn unit_file(entry: &Entry) -> Option<Position> {
    (entry.kind == EntryKind::File).then(|| parse_segment_name(&entry.name))?
}

/// The files of a queue follow each other without gaps and are of one length.
fn check_line(dir: &Path, found: &[(Position, u64)], file_len: u64) -> Result<()> {
    let wrong = |base: Position, what: &str| {
        Error::new(ErrorKind::Corrupt, what).at(&dir.join(segment_name(base)))
    };
    for &(base, len) in found {
        if len != file_len {
            let error = wrong(base, "the queue file has not the length of the others");
            return Err(error.with_offset(len).with_limit(file_len));
        }
        if base.get() % file_len != 0 {
            return Err(wrong(base, "the queue file's name is not a multiple of its length"));
        }
    }
    match found.windows(2).find(|pair| pair[0].0 + file_len != pair[1].0) {
        Some(pair) => Err(wrong(pair[1].0, "a queue file before this one is missing")),
        None => Ok(()),
    }
}
