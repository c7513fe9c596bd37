//! What stands behind a handle. A handle looks like a pointer in C and is a number: what it stands
//! for is looked up, so a handle that was freed, freed twice, or was never one is answered with
//! `Closed`, and freeing waits for the calls that are still at work.
//!
//! The number holds the kind of the handle, the slot, and how often the slot was used before: a
//! slot is used again, its number never is.
//!
//! A child process inherits every lock as it is, and nobody there to release it. So the list of
//! free slots has none, and a slot from before the fork is never waited for.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use engine::{Error, ErrorKind, Result};

use crate::fork;

/// Bits of a handle that name the slot.
const SLOT_BITS: u32 = 24;
/// Bits above those that count the uses of the slot; the rest is the kind.
const USE_BITS: u32 = 36;
/// Slots lie in blocks that never move; each is twice as long as the one before.
const FIRST_BLOCK_BITS: u32 = 6;
const BLOCKS: usize = (SLOT_BITS - FIRST_BLOCK_BITS + 1) as usize;

const _: () = assert!(usize::BITS == 64, "a handle needs 64 bits");

/// What the handles of one kind stand for.
pub struct Table<T> {
    /// From 1 to 15.
    kind: usize,
    /// For error texts.
    name: &'static str,
    blocks: [OnceLock<Box<[Slot<T>]>>; BLOCKS],
    /// The slot that was freed last, plus one, and above it how often this was changed.
    free: AtomicU64,
    /// All slots from here on were never used.
    fresh: AtomicUsize,
}

struct Slot<T> {
    value: RwLock<Option<T>>,
    /// Changed by whoever holds the value's lock to write, or has given the slot up.
    uses: AtomicUsize,
    /// The process that put the value there, as [`fork::here`] counts.
    born: AtomicU32,
    /// The slot that was freed before, plus one.
    below: AtomicU32,
}

/// A value that is in use: freeing its handle waits until this is dropped.
pub struct Held<'a, T>(RwLockReadGuard<'a, Option<T>>);

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_ref().expect("looked at when it was taken")
    }
}

impl<T> Slot<T> {
    fn is_inherited(&self) -> bool {
        self.born.load(Ordering::Relaxed) != fork::here()
    }

    /// The value to look at; nothing if it was about to be freed when this process began.
    #[inline]
    fn read(&self) -> Option<RwLockReadGuard<'_, Option<T>>> {
        match self.is_inherited() {
            false => Some(self.value.read().unwrap_or_else(PoisonError::into_inner)),
            true => taken(self.value.try_read()),
        }
    }

    /// The value to change; nothing if it was in use when this process began: its users are not
    /// here.
    fn write(&self) -> Option<RwLockWriteGuard<'_, Option<T>>> {
        match self.is_inherited() {
            false => Some(self.value.write().unwrap_or_else(PoisonError::into_inner)),
            true => taken(self.value.try_write()),
        }
    }
}

fn taken<G>(tried: std::result::Result<G, TryLockError<G>>) -> Option<G> {
    match tried {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T> Table<T> {
    pub const fn new(kind: usize, name: &'static str) -> Self {
        assert!(kind > 0 && kind < 1 << (usize::BITS - SLOT_BITS - USE_BITS));
        Self {
            kind,
            name,
            blocks: [const { OnceLock::new() }; BLOCKS],
            free: AtomicU64::new(0),
            fresh: AtomicUsize::new(0),
        }
    }

    /// A handle for `value`, typed as C sees it.
    ///
    /// # Errors
    /// `Invalid` with more handles than anybody can use.
    pub fn put<H>(&self, value: T) -> Result<*mut H> {
        loop {
            let number = self.take_free().ok_or_else(|| {
                Error::new(ErrorKind::Invalid, format!("too many handles: {}", self.name))
            })?;
            let slot = self.slot(number).expect("a free slot is there");
            // One that a call of the parent's was looking at is of no use here.
            let Some(mut content) = slot.write() else { continue };
            let uses = slot.uses.fetch_add(1, Ordering::Relaxed) + 1;
            slot.born.store(fork::here(), Ordering::Relaxed);
            *content = Some(value);
            let number = (self.kind << (SLOT_BITS + USE_BITS)) | (uses << SLOT_BITS) | number;
            return Ok(std::ptr::without_provenance_mut(number));
        }
    }

    /// What the handle stands for.
    ///
    /// # Errors
    /// `Invalid` for NULL or a handle of another kind, `Closed` for one that was freed.
    #[inline]
    pub fn get<H>(&self, handle: *const H) -> Result<Held<'_, T>> {
        let number = handle.addr();
        let Some(slot) = self.slot_of(number) else { return Err(self.none(number)) };
        self.held(slot, number)
    }

    /// As [`Table::get`], for what only the process that made it may use.
    ///
    /// # Errors
    /// As [`Table::get`], and `Closed` in a child process.
    #[inline]
    pub fn get_own<H>(&self, handle: *const H) -> Result<Held<'_, T>> {
        let number = handle.addr();
        let Some(slot) = self.slot_of(number) else { return Err(self.none(number)) };
        if slot.is_inherited() {
            return Err(fork::elsewhere(self.name));
        }
        self.held(slot, number)
    }

    #[inline]
    fn held<'a>(&self, slot: &'a Slot<T>, number: usize) -> Result<Held<'a, T>> {
        match slot.read() {
            Some(content)
                if slot.uses.load(Ordering::Relaxed) == uses(number) && content.is_some() =>
            {
                Ok(Held(content))
            }
            _ => Err(self.none(number)),
        }
    }

    /// Whether the handle was made by the process that this one was forked off.
    pub fn is_inherited<H>(&self, handle: *const H) -> bool {
        self.slot_of(handle.addr()).is_some_and(Slot::is_inherited)
    }

    /// Ends the handle and gives what it stood for, once nobody uses it; nothing in a child process
    /// if somebody did when it was forked off.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn take<H>(&self, handle: *const H) -> Result<Option<T>> {
        let number = handle.addr();
        let slot = self.slot_of(number).ok_or_else(|| self.none(number))?;
        let Some(mut content) = slot.write() else { return self.give_up(slot, number) };
        let is_it = slot.uses.load(Ordering::Relaxed) == uses(number);
        let value = content.take_if(|_| is_it).ok_or_else(|| self.none(number))?;
        drop(content);
        if uses(number) < (1 << USE_BITS) - 1 {
            self.add_free(slot, slot_number(number));
        }
        Ok(Some(value))
    }

    /// Ends a handle and leaves its slot as the fork has left it.
    fn give_up(&self, slot: &Slot<T>, number: usize) -> Result<Option<T>> {
        let (now, next) = (uses(number), uses(number) + 1);
        match slot.uses.compare_exchange(now, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Ok(None),
            Err(_) => Err(self.none(number)),
        }
    }

    #[inline]
    fn slot_of(&self, number: usize) -> Option<&Slot<T>> {
        let is_mine = number >> (SLOT_BITS + USE_BITS) == self.kind;
        if is_mine { self.slot(slot_number(number)) } else { None }
    }

    #[inline]
    fn slot(&self, slot: usize) -> Option<&Slot<T>> {
        let (block, at) = place(slot);
        self.blocks.get(block)?.get()?.get(at)
    }

    fn take_free(&self) -> Option<usize> {
        let mut free = self.free.load(Ordering::Acquire);
        while let Some(top) = slot_below(free) {
            let below = self.slot(top).expect("it was used").below.load(Ordering::Relaxed);
            match self.change_free(free, below) {
                Ok(_) => return Some(top),
                Err(now) => free = now,
            }
        }
        self.take_fresh()
    }

    fn add_free(&self, slot: &Slot<T>, number: usize) {
        let named = u32::try_from(number).expect("a slot has few bits") + 1;
        let mut free = self.free.load(Ordering::Acquire);
        loop {
            slot.below.store(free as u32, Ordering::Relaxed);
            match self.change_free(free, named) {
                Ok(_) => return,
                Err(now) => free = now,
            }
        }
    }

    /// Puts another slot on top, unless somebody was faster.
    fn change_free(&self, seen: u64, top: u32) -> std::result::Result<u64, u64> {
        // The count tells a list that changed from one that was changed back.
        let next = ((seen >> 32) + 1) << 32 | u64::from(top);
        self.free.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire)
    }

    fn take_fresh(&self) -> Option<usize> {
        let slot = self.fresh.fetch_add(1, Ordering::Relaxed);
        let (block, _) = place(slot);
        let place = self.blocks.get(block)?;
        if place.get().is_none() {
            // Made before it is set: what a fork could meet in the middle is short.
            let _ = place.set(fresh_block(block));
        }
        Some(slot)
    }

    #[cold]
    fn none(&self, number: usize) -> Error {
        let name = self.name;
        let kind = number >> (SLOT_BITS + USE_BITS);
        match number {
            0 => Error::new(ErrorKind::Invalid, format!("the {name} is NULL")),
            _ if kind == self.kind => {
                Error::new(ErrorKind::Closed, format!("the {name} was closed or freed"))
            }
            _ => Error::new(ErrorKind::Invalid, format!("the handle is no {name}")),
        }
    }
}

fn fresh_block<T>(block: usize) -> Box<[Slot<T>]> {
    let empty = || Slot {
        value: RwLock::new(None),
        uses: AtomicUsize::new(0),
        born: AtomicU32::new(fork::here()),
        below: AtomicU32::new(0),
    };
    std::iter::repeat_with(empty).take(1 << (block + FIRST_BLOCK_BITS as usize)).collect()
}

/// The slot on top of a list of free ones.
fn slot_below(free: u64) -> Option<usize> {
    (free as u32).checked_sub(1).map(|slot| slot as usize)
}

/// The block of a slot, and its place there.
fn place(slot: usize) -> (usize, usize) {
    let shifted = slot + (1 << FIRST_BLOCK_BITS);
    let bits = shifted.ilog2();
    ((bits - FIRST_BLOCK_BITS) as usize, shifted - (1 << bits))
}

fn slot_number(number: usize) -> usize {
    number & ((1 << SLOT_BITS) - 1)
}

fn uses(number: usize) -> usize {
    (number >> SLOT_BITS) & ((1 << USE_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Thing {}

    static THINGS: Table<u32> = Table::new(3, "thing");
    static OTHERS: Table<u32> = Table::new(4, "other");

    fn kind<T>(outcome: Result<T>) -> ErrorKind {
        outcome.map(drop).unwrap_err().kind()
    }

    #[test]
    fn a_handle_that_was_freed_is_answered() {
        let handle = THINGS.put::<Thing>(7).unwrap();
        assert_eq!(*THINGS.get(handle).unwrap(), 7);
        assert_eq!(THINGS.take(handle).unwrap(), Some(7));
        assert_eq!(kind(THINGS.take(handle)), ErrorKind::Closed);
        let next = THINGS.put::<Thing>(8).unwrap();
        assert_ne!(handle, next, "a number is never given twice");
        assert_eq!(kind(THINGS.get(handle)), ErrorKind::Closed);
        assert_eq!(*THINGS.get(next).unwrap(), 8);
    }

    #[test]
    fn what_is_no_handle_is_answered() {
        let other = OTHERS.put::<Thing>(1).unwrap();
        assert_eq!(kind(THINGS.get(other)), ErrorKind::Invalid);
        assert_eq!(kind(THINGS.get::<Thing>(std::ptr::null())), ErrorKind::Invalid);
        for number in [1, 0xFFFF_FFFF, usize::MAX, 3 << 60, (3 << 60) | ((1 << SLOT_BITS) - 1)] {
            let handle = std::ptr::without_provenance::<Thing>(number);
            assert!(THINGS.get(handle).is_err(), "{number:x}");
            assert!(THINGS.take(handle).is_err(), "{number:x}");
        }
    }

    #[test]
    fn every_slot_has_a_place_of_its_own() {
        let expected = [(0, (0, 0)), (63, (0, 63)), (64, (1, 0)), (191, (1, 127)), (192, (2, 0))];
        for (slot, place_of_it) in expected {
            assert_eq!(place(slot), place_of_it);
        }
        assert!(place((1 << SLOT_BITS) - 1).0 < BLOCKS);
        let many: Vec<_> = (0..500).map(|value| OTHERS.put::<Thing>(value).unwrap()).collect();
        for (value, handle) in (0..500).zip(many) {
            assert_eq!(OTHERS.take(handle).unwrap(), Some(value));
        }
    }

    #[test]
    fn freeing_waits_for_the_calls_at_work() {
        let handle = THINGS.put::<Thing>(9).unwrap().addr();
        let pointer = || std::ptr::without_provenance::<Thing>(handle);
        let held = THINGS.get(pointer()).unwrap();
        std::thread::scope(|scope| {
            let freeing = scope.spawn(|| THINGS.take(pointer()).unwrap());
            std::thread::yield_now();
            assert!(!freeing.is_finished());
            assert_eq!(*held, 9);
            drop(held);
            assert_eq!(freeing.join().unwrap(), Some(9));
        });
    }
}
