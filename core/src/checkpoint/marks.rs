//! The store's own marks: a two-slot page under `.spanlog/`.

use std::path::Path;

use crate::base::bytes;
use crate::base::units::Position;
use crate::disk::slots::Slots;
use crate::disk::{Access, Allocation, Disk};
use crate::error::Result;

/// How far a store had come when they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// Whether the store was closed cleanly at `flushed`, which then is the log's end.
    pub clean: bool,
    /// Whether a flush had failed: pages behind `flushed` may look written and not be.
    pub poisoned: bool,
    /// Everything below was durable.
    pub flushed: Position,
    /// The log's first kept position.
    pub start: Position,
}

const PAYLOAD_BYTES: usize = 17;

impl Marks {
    fn encode(self) -> [u8; PAYLOAD_BYTES] {
        let mut out = [0; PAYLOAD_BYTES];
        out[0] = u8::from(self.clean) | u8::from(self.poisoned) << 1;
        bytes::put(&mut out, 1, &self.flushed.get().to_be_bytes());
        bytes::put(&mut out, 9, &self.start.get().to_be_bytes());
        out
    }

    /// Reads a slot's payload; nothing if it is too short.
    #[must_use]
    pub fn decode(from: &[u8]) -> Option<Self> {
        let position = |at| bytes::array(from, at).map(u64::from_be_bytes).map(Position::new);
        let state = *from.first()?;
        let (clean, poisoned) = (state & 1 != 0, state & 2 != 0);
        Some(Self { clean, poisoned, flushed: position(1)?, start: position(9)? })
    }
}

/// The file that holds the marks.
#[derive(Debug)]
pub struct MarksFile(Slots);

impl MarksFile {
    /// Opens the file, making it if need be, and reads the newest valid marks.
    ///
    /// # Errors
    /// `Version` if a later release wrote it, else what the disk says.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<(Self, Option<Marks>)> {
        let file = match disk.stat(path)? {
            Some(stat) if stat.len == Slots::LEN => disk.open(path, Access::Write)?,
            found => {
                if found.is_some() {
                    disk.remove(path)?;
                }
                let dir = path.parent().expect("the marks lie in a directory");
                let file = disk.create(dir, Slots::LEN, Allocation::Reserved)?;
                // Cleaning a full disk writes marks, also where blocks cannot be reserved.
                file.write_at(0, &[0; Slots::LEN as usize])?;
                file.link(path)?;
                disk.sync_dir(dir)?;
                file
            }
        };
        // Also of a file that was found: who made it may not have come to this.
        disk.sync_dir(path.parent().expect("the marks lie in a directory"))?;
        let (slots, payload) = Slots::open(file)?;
        Ok((Self(slots), payload.and_then(|payload| Marks::decode(&payload))))
    }

    /// Reads the newest valid marks and changes nothing.
    ///
    /// # Errors
    /// As [`MarksFile::open`].
    pub fn peek(disk: &dyn Disk, path: &Path) -> Result<Option<Marks>> {
        match disk.stat(path)? {
            Some(stat) if stat.len == Slots::LEN => {
                let (_, payload) = Slots::open(disk.open(path, Access::Read)?)?;
                Ok(payload.and_then(|payload| Marks::decode(&payload)))
            }
            _ => Ok(None),
        }
    }

    /// Writes new marks, durably, over the older of the two slots.
    ///
    /// # Errors
    /// What the disk says; the marks before still stand then.
    pub fn write(&mut self, marks: Marks) -> Result<()> {
        self.0.write(&marks.encode())
    }
}
