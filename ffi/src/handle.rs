//! What stands behind a handle. A handle looks like a pointer in C and is a number: what it stands
//! for is looked up, so a handle that was freed, freed twice, or was never one is answered with
//! `Closed`, and freeing waits for the calls that are still at work.
//!
//! The number holds the kind of the handle, the slot, and how often the slot was used before: a
//! slot is used again, its number never is.

use std::sync::OnceLock;

use engine::{Error, ErrorKind, Result};
use parking_lot::{MappedRwLockReadGuard, Mutex, RwLock, RwLockReadGuard};

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
    free: Mutex<Free>,
}

struct Slot<T>(RwLock<Content<T>>);

struct Content<T> {
    uses: usize,
    value: Option<T>,
}

struct Free {
    slots: Vec<usize>,
    /// All slots from here on were never used.
    next: usize,
}

/// A value that is in use: freeing its handle waits until this is dropped.
pub type Held<'a, T> = MappedRwLockReadGuard<'a, T>;

impl<T> Table<T> {
    pub const fn new(kind: usize, name: &'static str) -> Self {
        assert!(kind > 0 && kind < 1 << (usize::BITS - SLOT_BITS - USE_BITS));
        Self {
            kind,
            name,
            blocks: [const { OnceLock::new() }; BLOCKS],
            free: Mutex::new(Free { slots: Vec::new(), next: 0 }),
        }
    }

    /// A handle for `value`, typed as C sees it.
    ///
    /// # Errors
    /// `Invalid` with more handles than anybody can use.
    pub fn put<H>(&self, value: T) -> Result<*mut H> {
        let slot = self.take_free().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, format!("too many handles: {}", self.name))
        })?;
        let mut content = self.slot(slot).expect("a free slot is there").0.write();
        content.uses += 1;
        content.value = Some(value);
        let number = (self.kind << (SLOT_BITS + USE_BITS)) | (content.uses << SLOT_BITS) | slot;
        Ok(std::ptr::without_provenance_mut(number))
    }

    /// What the handle stands for.
    ///
    /// # Errors
    /// `Invalid` for NULL or a handle of another kind, `Closed` for one that was freed.
    #[inline]
    pub fn get<H>(&self, handle: *const H) -> Result<Held<'_, T>> {
        let number = handle.addr();
        let Some(slot) = self.slot_of(number) else { return Err(self.none(number)) };
        let content = slot.0.read();
        if content.uses != uses(number) {
            return Err(self.none(number));
        }
        RwLockReadGuard::try_map(content, |content| content.value.as_ref())
            .map_err(|_| self.none(number))
    }

    /// Ends the handle and gives what it stood for, once nobody uses it.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn take<H>(&self, handle: *const H) -> Result<T> {
        let number = handle.addr();
        let slot = self.slot_of(number).ok_or_else(|| self.none(number))?;
        let mut content = slot.0.write();
        let is_it = content.uses == uses(number);
        let value = content.value.take_if(|_| is_it).ok_or_else(|| self.none(number))?;
        if content.uses < (1 << USE_BITS) - 1 {
            self.free.lock().slots.push(slot_number(number));
        }
        Ok(value)
    }

    fn slot_of(&self, number: usize) -> Option<&Slot<T>> {
        let is_mine = number >> (SLOT_BITS + USE_BITS) == self.kind;
        if is_mine { self.slot(slot_number(number)) } else { None }
    }

    fn slot(&self, slot: usize) -> Option<&Slot<T>> {
        let (block, at) = place(slot);
        self.blocks.get(block)?.get()?.get(at)
    }

    fn take_free(&self) -> Option<usize> {
        let mut free = self.free.lock();
        if let Some(slot) = free.slots.pop() {
            return Some(slot);
        }
        let slot = free.next;
        let (block, _) = place(slot);
        self.blocks.get(block)?.get_or_init(|| fresh_block(block));
        free.next += 1;
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
    let empty = || Slot(RwLock::new(Content { uses: 0, value: None }));
    std::iter::repeat_with(empty).take(1 << (block + FIRST_BLOCK_BITS as usize)).collect()
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
        assert_eq!(THINGS.take(handle).unwrap(), 7);
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
            assert_eq!(OTHERS.take(handle).unwrap(), value);
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
            assert_eq!(freeing.join().unwrap(), 9);
        });
    }
}
