//! Two slots for one small value, written in turns: a crash leaves at least one of them whole.
//!
//! The file has two sectors of 4096 bytes with a slot at the beginning of each:
//!
//! | bytes | content |
//! |---|---|
//! | 0-3 | magic, `SPLS` |
//! | 4-7 | version of the layout, 1 |
//! | 8-15 | sequence number of the write, from 1 |
//! | 16-19 | length of the payload, 0 to 480 |
//! | 20-23 | checksum of bytes 0 to 511, taken with zeros here |
//! | 24-503 | payload, then zeros |
//! | 504-511 | zeros |
//!
//! Integers are big-endian and signed. A slot fits a sector of 512 bytes, so that most disks write
//! it whole. Every later version keeps magic, version and checksum where they are, so that a
//! release that does not know it can tell it from damage.

use std::sync::Arc;

use super::File;
use crate::base::bytes::{array, put, read_i32, read_i64};
use crate::base::crc::checksum;
use crate::error::{Error, ErrorKind, Result};

const MAGIC: [u8; 4] = *b"SPLS";
const VERSION: i32 = 1;

/// Bytes of a slot that are read, written and checked.
const SLOT_BYTES: usize = 512;
/// From slot to slot.
const SECTOR_BYTES: u64 = 4096;

const VERSION_AT: usize = 4;
const SEQUENCE_AT: usize = 8;
const LEN_AT: usize = 16;
const CHECKSUM_AT: usize = 20;
const PAYLOAD_AT: usize = 24;

const _: () = assert!(PAYLOAD_AT + Slots::MAX_PAYLOAD <= SLOT_BYTES);
const _: () = assert!(Slots::LEN == 2 * SECTOR_BYTES);

type Slot = [u8; SLOT_BYTES];

/// What stands in one of the two slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Nothing was ever written there.
    Empty,
    /// A whole slot.
    Whole {
        /// The number of its writing; the higher of two counts.
        sequence: i64,
        /// The value.
        payload: Vec<u8>,
    },
    /// Something else.
    Damaged,
}

/// What stands in the two slots of a file with these bytes; bytes that are not there count as
/// zeros. Slots of a later release are damaged in this one's eyes.
#[must_use]
pub fn slot_states(page: &[u8]) -> [SlotState; 2] {
    [0, SECTOR_BYTES as usize].map(|at| {
        let mut slot = [0; SLOT_BYTES];
        let found = page.get(at..).unwrap_or_default();
        let len = found.len().min(SLOT_BYTES);
        slot[..len].copy_from_slice(&found[..len]);
        if slot == [0; SLOT_BYTES] {
            return SlotState::Empty;
        }
        let whole = version(&mut slot).filter(|&version| version == VERSION);
        match whole.and_then(|_| decode(&slot)) {
            Some((sequence, payload)) => SlotState::Whole { sequence, payload },
            None => SlotState::Damaged,
        }
    })
}

/// A small value that is replaced as a whole, in a file of [`Slots::LEN`] bytes. One of them at a
/// time writes a file.
///
/// ```
/// use std::path::Path;
/// use spanlog::disk::slots::Slots;
/// use spanlog::disk::{Allocation, Disk, MemDisk};
/// # fn main() -> spanlog::Result<()> {
/// let disk = MemDisk::new();
/// let file = disk.create(Path::new("/"), Slots::LEN, Allocation::Reserved)?;
/// let (mut slots, before) = Slots::open(file.clone())?;
/// assert_eq!(before, None);
/// slots.write(b"state")?;
/// assert_eq!(Slots::open(file)?.1.as_deref(), Some(b"state".as_slice()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Slots {
    file: Arc<dyn File>,
    page: Page,
    failed: bool,
}

impl Slots {
    /// Length of the file, in bytes.
    pub const LEN: u64 = 8192;

    /// The longest value, in bytes.
    pub const MAX_PAYLOAD: usize = 480;

    /// Reads the newest value that is whole: nothing if there never was one, or if both slots are
    /// damaged.
    ///
    /// # Errors
    /// [`ErrorKind::Version`] if a later release wrote the file, [`ErrorKind::Corrupt`] if the
    /// file is too short, and whatever reading fails with.
    pub fn open(file: Arc<dyn File>) -> Result<(Self, Option<Vec<u8>>)> {
        let (page, value) = Page::read(&*file, 0)?;
        Ok((Self { file, page, failed: false }, value))
    }

    /// Replaces the value, durably. After a failure the old one still counts.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] above [`Slots::MAX_PAYLOAD`]; what writing fails with, after which
    /// it may be tried again; what syncing fails with, and [`ErrorKind::Poisoned`] ever after.
    pub fn write(&mut self, payload: &[u8]) -> Result<()> {
        self.check()?;
        self.page.put(&*self.file, payload)?;
        self.failed = true;
        self.file.sync()?;
        self.failed = false;
        self.page.settle();
        Ok(())
    }

    /// Replaces the value for everybody but a loss of power, after which an older one may count.
    /// [`File::sync`] of the file makes it durable: a slot fits one sector, which is written whole
    /// or not at all.
    ///
    /// # Errors
    /// As [`Slots::write`]; it may be tried again.
    pub fn put(&mut self, payload: &[u8]) -> Result<()> {
        self.check()?;
        self.page.put(&*self.file, payload)?;
        self.page.settle();
        Ok(())
    }

    /// The file, to be synced.
    #[must_use]
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    fn check(&self) -> Result<()> {
        match self.failed {
            false => Ok(()),
            true => Err(Error::new(ErrorKind::Poisoned, "an earlier sync of the slots failed")),
        }
    }
}

/// The two slots of one value, in a file that has several such pages of [`Slots::LEN`] bytes.
#[derive(Debug)]
pub struct Page {
    /// Where it begins in the file.
    at: u64,
    sequence: i64,
    /// Where the next write goes: not where the newest value is.
    next: u64,
    /// One of its slots was not whole when it was read.
    is_torn: bool,
}

impl Page {
    /// Reads the newest whole value of page `number`, as [`Slots::open`] does.
    ///
    /// # Errors
    /// As [`Slots::open`].
    pub fn read(file: &dyn File, number: u64) -> Result<(Self, Option<Vec<u8>>)> {
        let at = number * Slots::LEN;
        if file.len_bytes() < at + Slots::LEN {
            let error = Error::new(ErrorKind::Corrupt, "a file of two slots is too short");
            return Err(error.with_offset(file.len_bytes()).with_limit(at + Slots::LEN));
        }
        let (mut newest, mut is_torn) = (None, false);
        for slot in [0, SECTOR_BYTES] {
            match read_slot(file, at + slot)? {
                SlotState::Whole { sequence, payload } => {
                    newest = newest.max(Some((sequence, slot, payload)));
                }
                other => is_torn |= other == SlotState::Damaged,
            }
        }
        let (sequence, slot, value) = match newest {
            Some((sequence, slot, value)) => (sequence, slot, Some(value)),
            None => (0, SECTOR_BYTES, None),
        };
        Ok((Self { at, sequence, next: SECTOR_BYTES - slot, is_torn }, value))
    }

    /// Whether one of its slots was not whole when it was read, as a crash or damage leaves it.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Writes a value over the older one. It is durable once the file was synced, and then the
    /// page is to be settled.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] above [`Slots::MAX_PAYLOAD`], or what writing fails with; then
    /// the value before still counts, and it may be tried again.
    pub fn put(&self, file: &dyn File, payload: &[u8]) -> Result<()> {
        if payload.len() > Slots::MAX_PAYLOAD {
            let error = Error::new(ErrorKind::TooLarge, "the value does not fit its slot");
            return Err(error.with_limit(Slots::MAX_PAYLOAD as u64));
        }
        file.write_at(self.at + self.next, &encode(self.sequence + 1, payload))
    }

    /// Notes that what was put last is durable: the next value goes over the other one.
    pub fn settle(&mut self) {
        self.sequence += 1;
        self.next = SECTOR_BYTES - self.next;
    }

    /// The bytes of a page that holds one value, for a file that is written as a whole.
    #[must_use]
    pub fn image(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; Slots::LEN as usize];
        put(&mut bytes, 0, &encode(1, payload));
        bytes
    }
}

fn encode(sequence: i64, payload: &[u8]) -> Slot {
    let mut slot = [0; SLOT_BYTES];
    put(&mut slot, 0, &MAGIC);
    put(&mut slot, VERSION_AT, &VERSION.to_be_bytes());
    put(&mut slot, SEQUENCE_AT, &sequence.to_be_bytes());
    put(&mut slot, LEN_AT, &(payload.len() as i32).to_be_bytes());
    put(&mut slot, PAYLOAD_AT, payload);
    let sum = checksum(&slot);
    put(&mut slot, CHECKSUM_AT, &sum.to_be_bytes());
    slot
}

/// What stands in a slot.
fn read_slot(file: &dyn File, at: u64) -> Result<SlotState> {
    let mut slot = [0; SLOT_BYTES];
    file.read_at(at, &mut slot)?;
    let is_blank = slot == [0; SLOT_BYTES];
    match version(&mut slot) {
        Some(VERSION) => {
            let whole = |(sequence, payload)| SlotState::Whole { sequence, payload };
            Ok(decode(&slot).map_or(SlotState::Damaged, whole))
        }
        Some(later) if later > VERSION => {
            let message = format!("a later release wrote this: version {later} of a slot");
            let error = Error::new(ErrorKind::Version, message);
            Err(error.with_offset(at).with_limit(VERSION as u64))
        }
        Some(_) | None if is_blank => Ok(SlotState::Empty),
        Some(_) | None => Ok(SlotState::Damaged),
    }
}

/// The version of a slot whose checksum fits; sets the checksum to zero.
fn version(slot: &mut Slot) -> Option<i32> {
    let sum = array::<4>(slot, CHECKSUM_AT).map(u32::from_be_bytes);
    put(slot, CHECKSUM_AT, &[0; 4]);
    let is_whole = array(slot, 0) == Some(MAGIC) && sum == Some(checksum(slot));
    if is_whole { read_i32(slot, VERSION_AT) } else { None }
}

fn decode(slot: &Slot) -> Option<(i64, Vec<u8>)> {
    let sequence = read_i64(slot, SEQUENCE_AT).filter(|sequence| *sequence > 0)?;
    let len = usize::try_from(read_i32(slot, LEN_AT)?).ok()?;
    if len > Slots::MAX_PAYLOAD {
        return None;
    }
    Some((sequence, slot.get(PAYLOAD_AT..PAYLOAD_AT + len)?.to_vec()))
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
