//! The meta page: the five facts of the original, by reader, in two slots.
//!
//! Nothing in it is believed where the segments tell: the end is found by reading on from
//! `flushed`, and cursors are brought back between start and end.

use std::path::Path;
use std::sync::Arc;

use crate::base::bytes::array;
use crate::base::units::Position;
use crate::disk::slots::Slots;
use crate::disk::{Access, Allocation, Disk, File};
use crate::error::{Error, ErrorKind, Result};

/// A boundary between two records: where it is, and how many were pushed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The end of the record before.
    pub position: Position,
    /// Records pushed before.
    pub number: u64,
}

/// Where a reader stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorFacts {
    /// Its name.
    pub name: Arc<str>,
    /// Everything before was committed.
    pub committed: Mark,
    /// What it would have read next.
    pub reading: Position,
}

/// What the meta page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether the queue was closed, at `writing`.
    pub clean: bool,
    /// Whether a flush had failed.
    pub poisoned: bool,
    /// The most segment files there may be.
    pub capacity_segments: u64,
    /// The first record kept.
    pub start: Mark,
    /// Everything before was durable: the original's watermark.
    pub flushed: Mark,
    /// What would have been written next.
    pub writing: Position,
    /// Records that were dropped because the queue was full.
    pub dropped: u64,
    /// The readers.
    pub cursors: Vec<CursorFacts>,
}

/// The most readers a queue can have.
pub const MAX_READERS: usize = 8;

/// The longest name of a reader, in bytes.
pub const MAX_READER_NAME_BYTES: usize = 24;

/// Bytes before the readers.
const HEAD_BYTES: usize = 58;

/// Bytes of a reader beside its name.
const CURSOR_BYTES: usize = 25;

/// Bytes of a full page.
const MAX_BYTES: usize = HEAD_BYTES + MAX_READERS * (CURSOR_BYTES + MAX_READER_NAME_BYTES);

const _: () = assert!(MAX_BYTES <= Slots::MAX_PAYLOAD);

impl Facts {
    /// Puts the bytes of a slot (`FORMAT.md`) into `out`.
    fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(u8::from(self.clean) | u8::from(self.poisoned) << 1);
        out.push(u8::try_from(self.cursors.len()).expect("there are few readers"));
        let numbers = [
            self.capacity_segments,
            self.start.position.get(),
            self.start.number,
            self.flushed.position.get(),
            self.flushed.number,
            self.writing.get(),
            self.dropped,
        ];
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
        for cursor in &self.cursors {
            out.push(u8::try_from(cursor.name.len()).expect("names are short"));
            out.extend_from_slice(cursor.name.as_bytes());
            let committed = cursor.committed;
            for number in [committed.position.get(), committed.number, cursor.reading.get()] {
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
    }

    fn decode(from: &[u8]) -> Option<Self> {
        let number = |at: usize| array(from, at).map(u64::from_be_bytes);
        let mark =
            |at| Some(Mark { position: Position::new(number(at)?), number: number(at + 8)? });
        let state = *from.first()?;
        let mut facts = Self {
            clean: state & 1 != 0,
            poisoned: state & 2 != 0,
            capacity_segments: number(2)?,
            start: mark(10)?,
            flushed: mark(26)?,
            writing: Position::new(number(42)?),
            dropped: number(50)?,
            cursors: Vec::new(),
        };
        let mut at = HEAD_BYTES;
        for _ in 0..*from.get(1)? {
            let len = usize::from(*from.get(at)?);
            let name = str::from_utf8(from.get(at + 1..at + 1 + len)?).ok()?.into();
            at += 1 + len;
            let (committed, reading) = (mark(at)?, Position::new(number(at + 16)?));
            facts.cursors.push(CursorFacts { name, committed, reading });
            at += CURSOR_BYTES - 1;
        }
        Some(facts)
    }
}

/// The file of the meta page.
#[derive(Debug)]
pub struct MetaFile {
    slots: Slots,
    buffer: Vec<u8>,
}

impl MetaFile {
    /// Opens the file, making it if need be, and reads the newest facts that are whole.
    ///
    /// # Errors
    /// `Version` if a later release wrote it, `Corrupt` for a wrong length, else what the disk
    /// says.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<(Self, Option<Facts>)> {
        let dir = path.parent().expect("the meta page lies in a directory");
        let file = match disk.stat(path)? {
            Some(stat) if stat.len == Slots::LEN => disk.open(path, Access::Write)?,
            // A crash while it was made, before it had its bytes.
            found => {
                if found.is_some() {
                    disk.remove(path)?;
                }
                let file = disk.create(dir, Slots::LEN, Allocation::Reserved)?;
                // It is written on a full disk too, also where blocks cannot be reserved.
                file.write_at(0, &[0; Slots::LEN as usize])?;
                file.sync()?;
                file.link(path)?;
                file
            }
        };
        disk.sync_dir(dir)?;
        let (slots, payload) = Slots::open(file).map_err(|error| error.at(path))?;
        let buffer = Vec::with_capacity(MAX_BYTES);
        Ok((Self { slots, buffer }, payload.and_then(|payload| Facts::decode(&payload))))
    }

    /// Writes new facts; a kill does not undo them, a loss of power may until the file is synced.
    ///
    /// # Errors
    /// What the disk says; the facts before still stand then.
    pub fn put(&mut self, facts: &Facts) -> Result<()> {
        facts.encode(&mut self.buffer);
        self.slots.put(&self.buffer)
    }

    /// The file, to be synced without holding the page.
    pub fn file(&self) -> Arc<dyn File> {
        Arc::clone(self.slots.file())
    }
}

/// Checks the name of a reader.
///
/// # Errors
/// `Invalid` if it is empty, too long, or has other characters than ASCII letters, digits and
/// `._-`.
pub fn check_name(name: &str) -> Result<()> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !name.is_empty() && name.len() <= MAX_READER_NAME_BYTES && name.bytes().all(is_fine) {
        return Ok(());
    }
    let text = format!("a reader's name has 1 to {MAX_READER_NAME_BYTES} of A-Z a-z 0-9 . _ -");
    Err(Error::new(ErrorKind::Invalid, format!("{text}: {name:?}")))
}
