//! Mapped memory: the one type through which bytes of files are read and appended.
//!
//! # Why the unsafe code here is sound
//!
//! - **No mutable slice is ever handed out.** Writing goes through [`MapWriter`], of which a map
//!   gives out one at a time and which copies through a raw pointer.
//! - **A shared slice can be made only below a [`Published`] token.** A token comes from loading
//!   a watermark with acquire ordering, after the writer released it, and the writer writes at
//!   or above the mark. So nobody writes the bytes of a slice while the slice lives.
//!   [`Published::all`] is for the only thread there is while a store opens, and for files that
//!   nobody writes.
//! - **[`File::zero`](super::File::zero) and [`File::write_at`](super::File::write_at)** are held
//!   to the same rule by their callers: they change bytes above every mark that was published.
//! - **[`Words`](super::Words)** are loaded and stored as atomics at aligned places, in files of
//!   which nobody takes slices.
//! - **A slice keeps its map alive**, and a map its file or its heap memory; a removed file stays
//!   usable until the last map of it is dropped.
//! - **Another program** that writes or shortens a file of an open store is outside the model:
//!   the store is locked, and its files are reserved, so that a store of a byte cannot run out of
//!   room.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

use memmap2::{Advice, MmapRaw};

use super::Access;
use super::changes::Changes;
use super::resident::Resident;
use crate::base::sync::{Mutex, MutexGuard};
use crate::base::watermark::Published;
use crate::error::{Error, Result};

/// Bytes of a batch that are stored after all others, in one store.
const HEAD_BYTES: usize = 8;

/// Where a block of memory begins.
#[derive(Clone, Copy)]
struct Base(*mut u8);

// SAFETY: it is an address; every access through it names its own argument.
unsafe impl Send for Base {}
// SAFETY: as above.
unsafe impl Sync for Base {}

impl Base {
    fn at(self, offset: usize) -> *mut u8 {
        self.0.wrapping_add(offset)
    }
}

/// A block of heap memory that stands for a file's content. Any number of maps share it, as maps
/// of a file share its pages. It remembers what changed, so that a disk in memory can tell
/// durable bytes from others.
pub struct HeapMemory {
    base: Base,
    len: usize,
    changes: Mutex<Changes>,
}

impl HeapMemory {
    /// `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: u64) -> Arc<Self> {
        let len = usize::try_from(len).expect("a file in memory fits the address space");
        let words = vec![0_u64; len.div_ceil(8)].into_boxed_slice();
        let base = Base(Box::into_raw(words).cast::<u8>());
        Arc::new(Self { base, len, changes: Mutex::new(Changes::default()) })
    }

    /// Length in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len as u64
    }

    /// Copies `bytes` in, at `at`. The place must lie within and above every published mark.
    pub(in crate::disk) fn write(&self, at: u64, bytes: &[u8]) {
        let start = within(self.len, at, bytes.len());
        let mut changes = self.changes.lock();
        // SAFETY: the range lies within the block, and no slice of it exists (head of the file).
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.at(start), bytes.len()) };
        changes.touch(at..at + bytes.len() as u64);
    }

    /// Sets a range to zeros, and forgets that its whole blocks were ever written.
    pub(in crate::disk) fn clear(&self, range: Range<u64>) {
        let len = usize::try_from(range.end - range.start).expect("a range of this block");
        let start = within(self.len, range.start, len);
        let mut changes = self.changes.lock();
        // SAFETY: the range lies within the block, and no slice of it exists (head of the file).
        unsafe { ptr::write_bytes(self.base.at(start), 0, len) };
        changes.clear(range);
    }

    /// Fills `bytes` from `at`.
    pub(in crate::disk) fn read(&self, at: u64, bytes: &mut [u8]) {
        let start = within(self.len, at, bytes.len());
        let _changes = self.changes.lock();
        // SAFETY: the range lies within the block, and whoever writes it holds the same lock.
        unsafe { ptr::copy_nonoverlapping(self.base.at(start), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Brings a range of `durable`, the content at the last call, up to date.
    pub(in crate::disk) fn sync_into(&self, durable: &mut [u8], range: Range<u64>) {
        let mut changes = self.changes.lock();
        let dirty = changes.take_dirty(range);
        let len = (dirty.end - dirty.start) as usize;
        let start = within(self.len, dirty.start, len);
        let target = &mut durable[start..start + len];
        // SAFETY: the range lies within the block, and whoever writes it holds the same lock.
        unsafe { ptr::copy_nonoverlapping(self.base.at(start), target.as_mut_ptr(), len) };
    }

    /// What changed since when; the lock keeps writers out.
    pub(in crate::disk) fn changes(&self) -> Changes {
        self.changes.lock().clone()
    }

    /// Replaces what is remembered of changes, for a block that continues another one.
    pub(in crate::disk) fn set_changes(&self, changes: Changes) {
        *self.changes.lock() = changes;
    }
}

impl Drop for HeapMemory {
    fn drop(&mut self) {
        let words = ptr::slice_from_raw_parts_mut(self.base.0.cast::<u64>(), self.len.div_ceil(8));
        // SAFETY: `zeroed` made the box of this pointer and length, and nobody else frees it.
        drop(unsafe { Box::from_raw(words) });
    }
}

impl fmt::Debug for HeapMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeapMemory").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Checks a place within `len` bytes.
///
/// # Panics
/// If it does not lie within: every caller has clamped or claimed the range before.
fn within(len: usize, at: u64, bytes: usize) -> usize {
    let end = at.checked_add(bytes as u64).filter(|end| *end <= len as u64);
    assert!(end.is_some(), "{bytes} bytes at {at} do not lie within {len}");
    at as usize
}

/// What keeps the bytes of a map in place.
enum Owner {
    File { mapping: MmapRaw, path: PathBuf },
    Heap(Arc<HeapMemory>),
    Bytes(#[expect(dead_code, reason = "it keeps the bytes")] Arc<[u8]>),
}

/// The bytes of one file in memory. Any number of threads read; [`Map::writer`] gives out the
/// one that appends. Nothing here makes bytes durable: that is
/// [`File::sync`](super::File::sync).
///
/// ```
/// use spanlog::base::watermark::Published;
/// use spanlog::disk::{Access, HeapMemory, Map};
///
/// let map = Map::heap(HeapMemory::zeroed(4096), Access::Write);
/// map.writer().expect("nobody else writes").put(0, b"first record");
/// let bytes = map.bytes(0..5, Published::all()).expect("published");
/// assert_eq!(bytes, b"first");
/// ```
pub struct Map {
    base: Base,
    len: usize,
    access: Access,
    writing: AtomicBool,
    resident: Resident,
    owner: Owner,
}

impl Map {
    /// A map of heap memory, as a disk in memory gives out.
    #[must_use]
    pub fn heap(memory: Arc<HeapMemory>, access: Access) -> Arc<Self> {
        let (base, len) = (memory.base, memory.len);
        Arc::new(Self::new(base, len, access, Owner::Heap(memory)))
    }

    /// A map of bytes that nobody writes any more: those of a record that lay in several files.
    #[must_use]
    pub fn of_bytes(bytes: Arc<[u8]>) -> Arc<Self> {
        let (base, len) = (Base(bytes.as_ptr().cast_mut()), bytes.len());
        Arc::new(Self::new(base, len, Access::Read, Owner::Bytes(bytes)))
    }

    /// A map of a file; `path` is where errors point to.
    pub(in crate::disk) fn file(mapping: MmapRaw, access: Access, path: &Path) -> Arc<Self> {
        let (base, len) = (Base(mapping.as_mut_ptr()), mapping.len());
        Arc::new(Self::new(base, len, access, Owner::File { mapping, path: path.to_owned() }))
    }

    fn new(base: Base, len: usize, access: Access, owner: Owner) -> Self {
        let resident = Resident::default();
        Self { base, len, access, writing: AtomicBool::new(false), resident, owner }
    }

    /// Length in bytes; that of the file when it was mapped.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len as u64
    }

    /// The bytes of `range`. Both it and `published` count from the beginning of the file, for
    /// which [`Published::below`] is made. Nothing if the range is not all published, or does not
    /// lie within the map.
    #[must_use]
    #[inline]
    pub fn bytes(&self, range: Range<u64>, published: Published) -> Option<&[u8]> {
        let readable = published.end().get().min(self.len as u64);
        if range.start > range.end || range.end > readable {
            return None;
        }
        let (start, len) = (range.start as usize, (range.end - range.start) as usize);
        // SAFETY: the range lies within the memory that `self` keeps, and it is published, so
        // nobody writes it while the slice lives (head of the file).
        Some(unsafe { slice::from_raw_parts(self.base.at(start), len) })
    }

    /// As [`Map::bytes`], owned: the slice keeps the map alive.
    #[must_use]
    pub fn slice(self: &Arc<Self>, range: Range<u64>, published: Published) -> Option<Slice> {
        let start = range.start;
        let len = self.bytes(range, published)?.len();
        Some(Slice { base: Base(self.base.at(start as usize)), len, map: Arc::clone(self) })
    }

    /// The permission to write, or nothing while somebody else has it, or if the map is only for
    /// reading. It returns when the writer is dropped.
    #[must_use]
    pub fn writer(self: &Arc<Self>) -> Option<MapWriter> {
        if self.access == Access::Read || self.writing.swap(true, Ordering::Acquire) {
            return None;
        }
        self.prefer_huge_pages();
        Some(MapWriter { map: Arc::clone(self) })
    }

    /// Flushing takes the permission to write from every page, one by one, and tells all processors
    /// of each: with pages of 2 MiB a quarter of the time. Populating is a little faster, too.
    fn prefer_huge_pages(&self) {
        if let Owner::File { mapping, .. } = &self.owner {
            // Without such pages everything works as well.
            let _ = mapping.advise(Advice::HugePage);
        }
    }

    /// Brings the cache lines of the `len` bytes at `at` closer and waits for nothing. What does
    /// not lie within the map, and more than 2 KiB, is left out.
    #[inline]
    pub fn fetch_ahead(&self, at: u64, len: u32) {
        let end = at.saturating_add(u64::from(len.min(AHEAD_BYTES))).min(self.len as u64);
        // A map begins where a line does.
        for line in (at - at % LINE_BYTES as u64..end).step_by(LINE_BYTES) {
            fetch(self.base.at(line as usize));
        }
    }

    /// What heap memory remembers of changes, locked while it changes.
    fn changes(&self) -> Option<MutexGuard<'_, Changes>> {
        match &self.owner {
            Owner::Heap(memory) => Some(memory.changes.lock()),
            Owner::File { .. } | Owner::Bytes(_) => None,
        }
    }

    /// Words that follow each other from `at` on.
    ///
    /// # Panics
    /// If they are not aligned or do not lie within the map.
    #[inline]
    fn words(&self, at: u64, count: usize) -> &[AtomicU32] {
        let len = count * size_of::<AtomicU32>();
        let place = self.base.at(within(self.len, at, len)).cast::<AtomicU32>();
        assert!(place.is_aligned(), "a word is aligned: {at}");
        // SAFETY: they lie within the memory that `self` keeps and are aligned, and of a file of
        // words there are no other slices (head of the file).
        unsafe { slice::from_raw_parts(place, count) }
    }

    /// Loads the word at `at`: what was stored before it is seen.
    #[inline]
    pub(in crate::disk) fn load_word(&self, at: u64) -> u32 {
        u32::from_be(self.words(at, 1)[0].load(Ordering::Acquire))
    }

    /// Stores words from `at` on, in their order; who loads one sees what was stored before.
    ///
    /// # Panics
    /// As [`Map::words`], and if the map is only for reading.
    #[inline]
    pub(in crate::disk) fn store_words<const N: usize>(&self, at: u64, values: [u32; N]) {
        assert!(self.access == Access::Write, "a map for reading is not written");
        let mut changes = self.changes();
        for (word, value) in self.words(at, N).iter().zip(values) {
            word.store(value.to_be(), Ordering::Release);
        }
        if let Some(changes) = &mut changes {
            changes.touch(at..at + size_of_val(&values) as u64);
        }
    }

    /// As [`Map::populate`] for reading, but the system is asked once for each part of a map, not
    /// every time: for who looks at single places, where asking would take longer than looking.
    ///
    /// # Errors
    /// As [`Map::populate`].
    pub fn make_resident(&self, range: Range<u64>) -> Result<()> {
        self.resident.make(self.len as u64, range, |part| self.populate(part, Access::Read))
    }

    /// Makes a range of a file durable. Heap memory has nothing to be durable in.
    pub(in crate::disk) fn sync(&self, range: Range<u64>) -> io::Result<()> {
        let Owner::File { mapping, .. } = &self.owner else { return Ok(()) };
        let len = (range.end - range.start) as usize;
        mapping.flush_range(within(self.len, range.start, len), len)
    }

    /// Brings the pages of a range into memory, for reading or for writing, so that touching them
    /// later neither waits nor fails. Ranges beyond the end are cut off. Does nothing where the
    /// system cannot (before Linux 5.14) and for heap memory.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the disk cannot give the bytes, or has no room
    /// for those of a sparse file. Touching them would have killed the process.
    pub fn populate(&self, range: Range<u64>, access: Access) -> Result<()> {
        let Owner::File { mapping, path } = &self.owner else { return Ok(()) };
        let end = range.end.min(self.len as u64);
        if range.start >= end {
            return Ok(());
        }
        let (start, len) = (range.start as usize, (end - range.start) as usize);
        match populate(mapping, advice(access), start, len) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            Err(error) => Err(Error::io("bring a range into memory", path, error)
                .with_offset(range.start)
                .with_limit(end)),
            Ok(()) => Ok(()),
        }
    }
}

fn advice(access: Access) -> Advice {
    match access {
        Access::Read => Advice::PopulateRead,
        Access::Write => Advice::PopulateWrite,
    }
}

/// Signals interrupt the call without having failed it.
fn populate(mapping: &MmapRaw, advice: Advice, start: usize, len: usize) -> io::Result<()> {
    loop {
        match mapping.advise_range(advice, start, len) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match &self.owner {
            Owner::File { path, .. } => path.as_path(),
            Owner::Heap(_) | Owner::Bytes(_) => Path::new("(heap)"),
        };
        f.debug_struct("Map")
            .field("of", &owner)
            .field("len", &self.len)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// The only one that writes a map. The log keeps it behind its lock.
#[derive(Debug)]
pub struct MapWriter {
    map: Arc<Map>,
}

impl MapWriter {
    /// Length of the map, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.map.len_bytes()
    }

    /// Copies `bytes` in, at `at`, which must lie at or above every published mark. The first 8
    /// bytes are stored last: if the process is killed meanwhile, zeros stand where the first
    /// record of the batch would begin, and recovery stops there.
    ///
    /// # Panics
    /// If the range does not lie within the map: the caller claimed it before.
    #[inline]
    pub fn put(&mut self, at: u64, bytes: &[u8]) {
        let target = self.map.base.at(within(self.map.len, at, bytes.len()));
        let mut changes = self.map.changes();
        // SAFETY: the range lies within the map and above every mark (head of the file).
        unsafe { store(target, bytes) };
        // The next record goes there. Otherwise giving back the append lock, which waits for all
        // stores, waits until each of these lines has come from memory.
        self.map.fetch_ahead(at + bytes.len() as u64, bytes.len() as u32);
        if let Some(changes) = &mut changes {
            changes.touch(at..at + bytes.len() as u64);
        }
    }
}

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Brings the cache lines of a part of `bytes` closer and waits for nothing; what does not lie
/// within is left out. For who walks over records whose ends lie far apart: other bytes are
/// looked at while these travel.
#[inline]
pub fn fetch_ahead(bytes: &[u8], part: Range<usize>) {
    let end = part.end.min(bytes.len());
    let into_line = bytes.as_ptr().addr().wrapping_add(part.start) % LINE_BYTES;
    for line in (part.start.saturating_sub(into_line)..end).step_by(LINE_BYTES) {
        fetch(bytes.as_ptr().wrapping_add(line));
    }
}

/// The most that is fetched ahead: what the first cache easily holds.
const AHEAD_BYTES: u32 = 2048;

/// Asks the processor for the cache line at `address`, and waits for nothing.
fn fetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; any address will do.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Stores `bytes` at `target`, the first ones last.
///
/// # Safety
/// `target` is valid for writing that many bytes, and no slice of them exists.
#[inline]
unsafe fn store(target: *mut u8, bytes: &[u8]) {
    let (head, tail) = bytes.split_at(HEAD_BYTES.min(bytes.len()));
    let rest = target.wrapping_add(head.len());
    // SAFETY: `rest` is the end of what the caller promised.
    unsafe { ptr::copy_nonoverlapping(tail.as_ptr(), rest, tail.len()) };
    compiler_fence(Ordering::SeqCst);
    // SAFETY: `head` is its beginning.
    unsafe { ptr::copy_nonoverlapping(head.as_ptr(), target, head.len()) };
}

impl Drop for MapWriter {
    fn drop(&mut self) {
        self.map.writing.store(false, Ordering::Release);
    }
}

/// Published bytes of a map, which it keeps alive. Cloning copies no bytes.
#[derive(Clone)]
pub struct Slice {
    base: Base,
    len: usize,
    map: Arc<Map>,
}

impl Deref for Slice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `Map::slice` checked the range, and `map` keeps the memory.
        unsafe { slice::from_raw_parts(self.base.0, self.len) }
    }
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slice").field("len", &self.len).field("map", &self.map).finish()
    }
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
