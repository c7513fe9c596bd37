//! A file's content in memory: what everybody sees, and what would survive a crash.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::HeapMemory;
use super::super::changes::BLOCK_BYTES;
use crate::base::sync::Mutex;

/// The unit in which a crash keeps old or new bytes.
const SECTOR_BYTES: u64 = 512;

/// The content of one file.
#[derive(Debug)]
pub struct Body {
    /// Its number, of which no other has the same.
    pub inode: u64,
    /// The number of its file system.
    pub device: u64,
    /// Shared with handles and maps, so that the count of its owners tells whether any are left.
    pub memory: Arc<HeapMemory>,
    durable: Mutex<Vec<u8>>,
    reserved: AtomicBool,
    named: AtomicBool,
}

impl Body {
    /// A file of `len` zero bytes.
    pub fn zeroed(inode: u64, device: u64, len: u64) -> Self {
        let durable = vec![0; usize::try_from(len).expect("a file in memory fits it")];
        Self::new(inode, device, HeapMemory::zeroed(len), durable)
    }

    /// A file of these bytes, all durable.
    pub fn with_bytes(inode: u64, device: u64, bytes: Vec<u8>) -> Self {
        let memory = HeapMemory::zeroed(bytes.len() as u64);
        for (index, block) in bytes.chunks(BLOCK_BYTES as usize).enumerate() {
            if block.iter().any(|byte| *byte != 0) {
                memory.write(index as u64 * BLOCK_BYTES, block);
            }
        }
        let mut changes = memory.changes();
        changes.take_dirty(0..u64::MAX);
        memory.set_changes(changes);
        Self::new(inode, device, memory, bytes)
    }

    fn new(inode: u64, device: u64, memory: Arc<HeapMemory>, durable: Vec<u8>) -> Self {
        let (reserved, named) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { inode, device, memory, durable: Mutex::new(durable), reserved, named }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.memory.len_bytes()
    }

    /// Whether all blocks are taken.
    pub fn is_reserved(&self) -> bool {
        self.reserved.load(Ordering::Relaxed)
    }

    /// Takes all blocks.
    pub fn reserve(&self) {
        self.reserved.store(true, Ordering::Relaxed);
    }

    /// Says whether a directory holds the file now.
    pub fn set_named(&self, named: bool) {
        self.named.store(named, Ordering::Relaxed);
    }

    /// The space it takes: none once it has neither a name nor a user.
    pub fn taken_bytes(&self) -> u64 {
        let used = self.named.load(Ordering::Relaxed) || Arc::strong_count(&self.memory) > 1;
        if used { self.size_bytes() } else { 0 }
    }

    /// The space of all its blocks, or of those that were written.
    pub fn size_bytes(&self) -> u64 {
        if self.is_reserved() {
            self.len().next_multiple_of(BLOCK_BYTES)
        } else {
            self.memory.changes().written_in_all() * BLOCK_BYTES
        }
    }

    /// The space that writing a range would take in addition.
    pub fn missing_bytes(&self, from: u64, to: u64) -> u64 {
        if self.is_reserved() || from == to {
            return 0;
        }
        let blocks = to.div_ceil(BLOCK_BYTES) - from / BLOCK_BYTES;
        (blocks - self.memory.changes().written_blocks(from..to)) * BLOCK_BYTES
    }

    /// Makes everything durable that was written in a range so far.
    pub fn sync(&self, range: Range<u64>) {
        self.memory.sync_into(&mut self.durable.lock(), range);
    }

    /// Whether anything is not durable.
    pub fn is_dirty(&self) -> bool {
        !self.memory.changes().dirty().is_empty()
    }

    /// What everybody sees.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.durable.lock().len()];
        self.memory.read(0, &mut bytes);
        bytes
    }

    /// Changes bytes, durably and behind everybody's back. Nothing if they lie outside.
    pub fn damage(&self, at: u64, change: impl Fn(&mut [u8]), len: usize) -> Option<()> {
        let mut durable = self.durable.lock();
        let start = usize::try_from(at).ok()?;
        let target = durable.get_mut(start..start.checked_add(len)?)?;
        let mut current = vec![0; len];
        self.memory.read(at, &mut current);
        change(&mut current);
        self.memory.write(at, &current);
        change(target);
        Some(())
    }

    /// The same file with other bytes, all durable.
    pub fn rewritten(&self, bytes: Vec<u8>) -> Self {
        self.like(Self::with_bytes(self.inode, self.device, bytes))
    }

    /// The same file on another disk, with everything that is not durable yet.
    pub fn duplicate(&self) -> Self {
        let other = self.rewritten(self.bytes());
        other.memory.set_changes(self.memory.changes());
        other.durable.lock().copy_from_slice(&self.durable.lock());
        other
    }

    /// The same file after a crash: each sector that was written since the last sync holds its
    /// new bytes where `choose` says so, else its old ones.
    pub fn crash(&self, choose: &mut dyn FnMut() -> bool) -> Self {
        let mut survived = self.durable.lock().clone();
        let dirty = self.memory.changes().dirty();
        let mut at = dirty.start / SECTOR_BYTES * SECTOR_BYTES;
        while at < dirty.end {
            let end = (at + SECTOR_BYTES).min(self.len());
            let old = &mut survived[at as usize..end as usize];
            let mut new = vec![0; old.len()];
            self.memory.read(at, &mut new);
            if old != new && choose() {
                old.copy_from_slice(&new);
            }
            at = end;
        }
        self.rewritten(survived)
    }

    fn like(&self, other: Self) -> Self {
        if self.is_reserved() {
            other.reserve();
        }
        other
    }
}
