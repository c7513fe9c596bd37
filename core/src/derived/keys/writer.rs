//! Adding entries: one thread at a time, while others read.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::units::Position;
use crate::derived::keys::file::{
    BEGIN, BEGIN_MS, COUNT, END, END_MS, ENTRY_BYTES, HASH, HEADER_BYTES, IndexFile, SLOT_BYTES,
    Summary, USED,
};
use crate::derived::keys::index::Shared;
use crate::derived::keys::name::index_number;
use crate::disk::{Allocation, Words};
use crate::error::Result;
use crate::segment::Segment;

/// Bytes of a page: slots are made ready one page at a time.
const PAGE_BYTES: u64 = 4096;

/// Bytes of entries that are made ready at once.
const AHEAD_BYTES: u64 = 256 * 1024;

/// What adds entries. Who holds it is the only one that writes.
#[derive(Debug)]
pub struct KeyWriter {
    shared: Arc<Shared>,
    active: Option<Active>,
    /// The record that is being added, and how many of its entries are in.
    partial: (Position, usize),
    /// Files that are not durable.
    dirty: Vec<Arc<IndexFile>>,
}

impl KeyWriter {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, active: None, partial: (Position::ZERO, 0), dirty: Vec::new() }
    }

    /// Records below are in the index.
    #[must_use]
    pub fn done(&self) -> Position {
        self.shared.done()
    }

    /// Adds the entries of the record at `position`. Those of a record below [`KeyWriter::done`]
    /// are in already, and so may be some of this one, from a try before.
    ///
    /// # Errors
    /// What the disk says; nothing is lost, call again.
    pub fn add(&mut self, position: Position, store_ms: i64, hashes: &[u32]) -> Result<()> {
        if position < self.done() {
            return Ok(());
        }
        if self.partial.0 != position {
            self.partial = (position, 0);
        }
        while self.partial.1 < hashes.len() {
            self.make_active(store_ms)?;
            let active = self.active.as_mut().expect("made above");
            active.insert(hashes, &mut self.partial.1, position, store_ms)?;
        }
        Ok(())
    }

    /// Brings closer what adding these hashes will touch, and waits for nothing.
    #[inline]
    pub fn fetch_ahead(&self, hashes: &[u32]) {
        let Some(active) = &self.active else { return };
        for &hash in hashes {
            active.words.fetch_ahead(active.file.shape.slot_at(active.file.shape.slot_of(hash)));
        }
    }

    /// Notes that every record below is in.
    pub fn advance(&mut self, to: Position) {
        self.shared.advance(to);
    }

    /// Takes the files that are not durable.
    pub(super) fn take_dirty(&mut self) -> Vec<Arc<IndexFile>> {
        std::mem::take(&mut self.dirty)
    }

    /// Puts back what could not be flushed for a reason that may pass.
    pub(super) fn put_back(&mut self, files: Vec<Arc<IndexFile>>) {
        self.dirty.extend(files);
    }

    /// Sees to it that there is a file with room for an entry.
    #[inline]
    fn make_active(&mut self, store_ms: i64) -> Result<()> {
        let has_room = self.active.as_ref().is_some_and(Active::has_room);
        if !has_room {
            if let Some(full) = self.active.take() {
                self.shared.note_full(full.words.load_double(END_MS) as i64);
            }
            self.active = Some(self.next_active(store_ms)?);
        }
        let file = &self.active.as_ref().expect("made above").file;
        if self.dirty.last().is_none_or(|last| !Arc::ptr_eq(last, file)) {
            self.dirty.push(Arc::clone(file));
        }
        Ok(())
    }

    fn next_active(&mut self, store_ms: i64) -> Result<Active> {
        self.shared.clear_strays()?;
        let last = self.shared.files().last().cloned();
        if let Some(last) = &last
            && last.count.load(Ordering::Relaxed) < last.shape.entries
        {
            return Active::resume(last);
        }
        let number = index_number(store_ms, last.map(|last| last.number));
        let file = self.make(number)?;
        let active = Active::resume(&file)?;
        self.shared.push(file);
        Ok(active)
    }

    /// A file that could not be made ready leaves nothing behind.
    fn make(&self, number: u64) -> Result<Arc<IndexFile>> {
        let shelf = &self.shared.shelf;
        shelf.disk.make_dir(&shelf.dir)?;
        let file = shelf.disk.create(&shelf.dir, shelf.shape.file_len(), Allocation::Sparse)?;
        let place = shelf.place(number);
        file.link(&place.path)?;
        let segment = Segment::created(&shelf.disk, &shelf.budget, place, file);
        let known = Summary { number, count: 1, begin: Position::ZERO, end: Position::ZERO };
        let file = IndexFile::of(Arc::new(segment), shelf.shape, known, true);
        // Its map keeps it; there is one descriptor less.
        let mapped = file.segment.map_for_writing();
        file.segment.close_file();
        match mapped {
            Ok(_) => Ok(Arc::new(file)),
            Err(error) => {
                drop(file.segment.remove());
                Err(error)
            }
        }
    }
}

/// The file that takes entries.
#[derive(Debug)]
struct Active {
    file: Arc<IndexFile>,
    words: Words,
    begin_ms: i64,
    /// Slots that lead to an entry.
    used: u32,
    /// One bit for each page of the slots that can be stored to.
    ready_slots: Vec<u64>,
    /// Entries can be stored to up to this byte.
    ready_end: u64,
}

impl Active {
    /// Takes up a file behind its whole entries.
    fn resume(file: &Arc<IndexFile>) -> Result<Self> {
        let words = Words::of(file.segment.map_for_writing()?);
        words.prepare(0..HEADER_BYTES)?;
        let count = file.count.load(Ordering::Relaxed);
        if !file.linked.load(Ordering::Relaxed) {
            relink(file, &words, count)?;
        }
        let slot_bytes = file.shape.slot_at(file.shape.slots);
        let next = file.shape.entry_at(count);
        Ok(Self {
            begin_ms: words.load_double(BEGIN_MS) as i64,
            used: words.load(USED),
            ready_slots: vec![0; slot_bytes.div_ceil(64 * PAGE_BYTES) as usize],
            ready_end: next - next % PAGE_BYTES,
            file: Arc::clone(file),
            words,
        })
    }

    fn has_room(&self) -> bool {
        self.file.count.load(Ordering::Relaxed) < self.file.shape.entries
    }

    /// Adds the entries of one record from number `next` on, as far as there is room.
    #[inline]
    fn insert(
        &mut self,
        hashes: &[u32],
        next: &mut usize,
        position: Position,
        store_ms: i64,
    ) -> Result<()> {
        let mut number = self.file.count.load(Ordering::Relaxed);
        if number == 1 {
            self.begin_ms = store_ms;
            self.file.begin.store(position.get(), Ordering::Relaxed);
            self.words.store_double(BEGIN_MS, store_ms as u64);
            self.words.store_double(BEGIN, position.get());
        }
        let seconds = (store_ms.saturating_sub(self.begin_ms) / 1000).clamp(0, i32::MAX.into());
        let (high, low) = ((position.get() >> 32) as u32, position.get() as u32);
        while let Some(&hash) = hashes.get(*next).filter(|_| number < self.file.shape.entries) {
            self.insert_one(number, hash, [high, low, seconds as u32], store_ms)?;
            number += 1;
            *next += 1;
        }
        Ok(())
    }

    /// Adds one entry: first it is whole, then it is counted, then its slot leads to it. The header
    /// is one run of words, its count the last.
    #[inline]
    fn insert_one(&mut self, number: u32, hash: u32, rest: [u32; 3], store_ms: i64) -> Result<()> {
        let shape = self.file.shape;
        let (slot_at, entry_at) = (shape.slot_at(shape.slot_of(hash)), shape.entry_at(number));
        if !self.is_slot_ready(slot_at) || entry_at + ENTRY_BYTES > self.ready_end {
            self.prepare(slot_at, entry_at)?;
        }
        let words = &self.words;
        let previous = words.load(slot_at);
        let [high, low, seconds] = rest;
        words.store_all(entry_at, [hash, high, low, seconds, previous]);
        self.used += u32::from(previous == 0);
        let store_ms = store_ms as u64;
        words.store_all(END_MS, [(store_ms >> 32) as u32, store_ms as u32]);
        words.store_all(END, [high, low, self.used, number + 1]);
        self.file.end.store(u64::from(high) << 32 | u64::from(low), Ordering::Release);
        self.file.count.store(number + 1, Ordering::Release);
        words.store(slot_at, number);
        Ok(())
    }

    fn is_slot_ready(&self, slot_at: u64) -> bool {
        let page = slot_at / PAGE_BYTES;
        self.ready_slots[(page / 64) as usize] >> (page % 64) & 1 == 1
    }

    /// Storing to a hole for which the disk has no room would kill the process, so the system is
    /// asked first.
    #[cold]
    fn prepare(&mut self, slot_at: u64, entry_at: u64) -> Result<()> {
        if !self.is_slot_ready(slot_at) {
            let page = slot_at / PAGE_BYTES;
            self.prepare_range(page * PAGE_BYTES..(page + 1) * PAGE_BYTES)?;
            self.ready_slots[(page / 64) as usize] |= 1 << (page % 64);
        }
        if entry_at + ENTRY_BYTES > self.ready_end {
            let end = self.ready_end + AHEAD_BYTES;
            self.prepare_range(self.ready_end..end)?;
            self.ready_end = end;
        }
        Ok(())
    }

    fn prepare_range(&self, range: Range<u64>) -> Result<()> {
        self.words.prepare(range).map_err(|error| error.at(self.file.path()))
    }
}

/// Lets every slot lead to the newest whole entry of its own, as a crash may have left slots that
/// lead behind those, and sets the header right.
fn relink(file: &IndexFile, words: &Words, count: u32) -> Result<()> {
    let shape = file.shape;
    words.make_resident(0..shape.entry_at(count))?;
    let mut newest = vec![0; shape.slots as usize];
    for number in 1..count {
        let hash = words.load(shape.entry_at(number) + HASH);
        newest[shape.slot_of(hash) as usize] = number;
    }
    for (slot, &number) in newest.iter().enumerate() {
        let at = shape.slot_at(slot as u32);
        if words.load(at) >= count {
            words.prepare(at..at + SLOT_BYTES)?;
            words.store(at, number);
        }
    }
    let known = file.summary();
    let used = newest.iter().filter(|&&number| number != 0).count();
    words.store_double(END, known.end.get());
    words.store(USED, used as u32);
    words.store(COUNT, count);
    file.linked.store(true, Ordering::Release);
    Ok(())
}
