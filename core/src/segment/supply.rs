//! Where new segments come from: the next one is made ready before it is needed.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::sync::{Mutex, RwLock};
use crate::base::units::Position;
use crate::disk::{Allocation, Disk, File};
use crate::error::{Error, ErrorKind, Result};
use crate::segment::name::segment_name;
use crate::segment::placement::{Candidate, Placement, order};
use crate::segment::{Budget, Place, Segment};

/// The directories that may take a new segment now, as the disk policy last judged.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// One row per directory.
    pub shelves: Vec<Shelf>,
}

/// A directory that may take a new segment.
#[derive(Clone, Debug)]
pub struct Shelf {
    /// The directory's number within its store.
    pub directory: u64,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes it may still take.
    pub usable_bytes: u64,
}

/// Makes segments. Any thread may use it.
#[derive(Debug)]
pub struct Supply {
    disk: Arc<dyn Disk>,
    budget: Arc<Budget>,
    placement: Placement,
    segment_len: u64,
    room: RwLock<Arc<Room>>,
    ready: Mutex<Option<Ready>>,
}

/// A segment without a name: if it is never needed, nothing is left of it.
#[derive(Debug)]
struct Ready {
    base: Position,
    shelf: Shelf,
    file: Arc<dyn File>,
}

impl Supply {
    /// A supply of segments of `segment_len` bytes.
    #[must_use]
    pub fn new(
        disk: Arc<dyn Disk>,
        budget: Arc<Budget>,
        placement: Placement,
        segment_len: u64,
    ) -> Self {
        let room = RwLock::default();
        Self { disk, budget, placement, segment_len, room, ready: Mutex::default() }
    }

    /// Length of every segment in bytes.
    #[must_use]
    pub fn segment_len(&self) -> u64 {
        self.segment_len
    }

    /// Replaces the directories that may take a new segment.
    pub fn set_room(&self, room: Room) {
        *self.room.write() = Arc::new(room);
    }

    /// The directories that may take a new segment.
    #[must_use]
    pub fn room(&self) -> Arc<Room> {
        Arc::clone(&self.room.read())
    }

    /// Makes the segment at `base` ready, unless one is. Says whether it did something.
    ///
    /// # Errors
    /// As [`Supply::next`].
    pub fn prepare(&self, base: Position) -> Result<bool> {
        // Held meanwhile: who needs the segment waits for this one and does not reserve another.
        let mut ready = self.ready.lock();
        if ready.as_ref().is_some_and(|ready| ready.base == base) {
            return Ok(false);
        }
        *ready = Some(self.make(base)?);
        Ok(true)
    }

    /// The directory that holds a segment made ready and not used yet, by its number.
    #[must_use]
    pub fn ready_in(&self) -> Option<u64> {
        self.ready.lock().as_ref().map(|ready| ready.shelf.directory)
    }

    /// Gives up a segment that was made ready and is not needed.
    pub fn discard(&self) {
        *self.ready.lock() = None;
    }

    /// A new, empty segment at `base`, linked under its name.
    ///
    /// # Errors
    /// `Full` naming every directory that was tried, or what the disk says.
    pub fn next(&self, base: Position) -> Result<Arc<Segment>> {
        let ready = match self.take_ready(base) {
            Some(ready) => ready,
            None => self.make(base)?,
        };
        let place = Place {
            base,
            len: self.segment_len,
            path: ready.shelf.path.join(segment_name(base)),
            directory: ready.shelf.directory,
        };
        ready.file.link(&place.path)?;
        Ok(Arc::new(Segment::created(&self.disk, &self.budget, place, ready.file)))
    }

    /// The segment that was made ready, if its directory still is the choice.
    fn take_ready(&self, base: Position) -> Option<Ready> {
        let ready = self.ready.lock().take().filter(|ready| ready.base == base)?;
        let room = self.room();
        let chosen = self.preference(base, &room).first().map(|&at| room.shelves[at].directory);
        let stays = match self.placement {
            // Its own reservation shifts the weights; being allowed is enough.
            Placement::FreeSpace => {
                room.shelves.iter().any(|s| s.directory == ready.shelf.directory)
            }
            _ => chosen == Some(ready.shelf.directory),
        };
        stays.then_some(ready)
    }

    fn preference(&self, base: Position, room: &Room) -> Vec<usize> {
        let paths: Vec<_> = room.shelves.iter().map(|shelf| shelf.path.to_string_lossy()).collect();
        let candidates: Vec<_> = room
            .shelves
            .iter()
            .zip(&paths)
            .map(|(shelf, path)| Candidate {
                path,
                id: shelf.directory,
                usable_bytes: shelf.usable_bytes,
            })
            .collect();
        order(self.placement, base.get() / self.segment_len, &candidates)
    }

    /// Reserves a segment in the first directory, by preference, that can take it.
    fn make(&self, base: Position) -> Result<Ready> {
        let room = self.room();
        let mut refusals = Vec::new();
        for at in self.preference(base, &room) {
            let shelf = room.shelves[at].clone();
            match self.disk.create(&shelf.path, self.segment_len, Allocation::Reserved) {
                Ok(file) => return Ok(Ready { base, shelf, file }),
                Err(error) => refusals.push(error),
            }
        }
        Err(self.no_room(refusals))
    }

    fn no_room(&self, refusals: Vec<Error>) -> Error {
        let texts: Vec<_> = refusals.iter().map(ToString::to_string).collect();
        let text = match texts.is_empty() {
            true => "no directory may take a new segment".to_owned(),
            false => format!("no directory can take a new segment: {}", texts.join("; ")),
        };
        let any_full = refusals.iter().any(|error| error.kind() == ErrorKind::Full);
        let kind = if any_full || refusals.is_empty() { ErrorKind::Full } else { ErrorKind::Io };
        Error::new(kind, text).with_limit(self.segment_len)
    }
}
