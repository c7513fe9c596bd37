//! What the handle of a queue, its readers and its steps share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::base::waiting::Waiting;
use crate::base::watermark::Watermark;
use crate::disk::{Clock, Disk, Event};
use crate::error::{Error, ErrorKind, Result};
use crate::log::Poison;
use crate::queue::meta::{Facts, Mark, MetaFile};
use crate::queue::options::QueueOptions;
use crate::queue::push::Tail;
use crate::queue::readers::{Cursor, Readers};
use crate::queue::ready::Ready;
use crate::queue::walk::Segments;
use crate::segment::{Scopes, Supply};
use crate::tasks::{Bell, Disks};

/// One open queue. Locks are taken in the order of the fields, from `tail` on.
#[derive(Debug)]
pub struct Line {
    pub root: PathBuf,
    pub options: QueueOptions,
    pub disk: Arc<dyn Disk>,
    pub clock: Arc<dyn Clock>,
    /// The segments there are, and their maps.
    pub segments: Segments,
    /// Where new segments come from.
    pub supply: Supply,
    /// The directories and the policy's verdict on them.
    pub disks: Disks,
    /// Why nothing more can be promised, once that is so.
    pub poison: Poison,
    /// Everything below is written and can be read.
    pub appended: Watermark,
    /// Everything below is durable.
    pub flushed: Watermark,
    /// How many records lie below `appended`, and below `flushed`.
    pub numbers: Numbers,
    /// The position that must not be passed: where the capacity ends.
    pub limit: AtomicU64,
    /// Segments below this number may be used again: that they are free is durable.
    pub free_below: AtomicU64,
    pub closed: AtomicBool,
    /// Who waits for records.
    pub readable: Waiting<Wish>,
    /// Who waits for room: the position that the capacity must reach.
    pub room: Waiting<u64>,
    pub prepare_bell: Bell,
    pub flush_bell: Bell,
    pub probe_bell: Bell,
    pub tail: Mutex<Tail>,
    /// Held by whoever flushes.
    pub flushing: Mutex<()>,
    /// Held by whoever makes a segment ready.
    pub preparing: Mutex<()>,
    pub ready: Mutex<Ready>,
    pub readers: Mutex<Readers>,
    pub meta: Mutex<Meta>,
}

/// Counts beside watermarks; each belongs to a position that is published after it.
#[derive(Debug, Default)]
pub struct Numbers {
    pub appended: AtomicU64,
    pub flushed: AtomicU64,
    /// A push that passes it wakes the flush step.
    pub flush_at: AtomicU64,
}

/// The meta page, and what it says.
#[derive(Debug)]
pub struct Meta {
    pub file: MetaFile,
    pub facts: Facts,
}

/// That records come behind what was seen, or that the reader is taken off.
#[derive(Debug)]
pub struct Wish {
    pub cursor: Arc<Cursor>,
    pub seen: AtomicU64,
    /// Readable while the wish is met; made when somebody asks for it.
    pub event: OnceLock<Event>,
}

impl Wish {
    /// Whether records lie behind what was seen. Makes a descriptor readable then.
    pub fn look(&self, appended: Position) -> bool {
        let is_new = appended.get() > self.seen.load(Ordering::Relaxed);
        let is_met = is_new || self.cursor.is_removed();
        if is_met {
            self.raise();
        }
        is_met
    }

    pub fn raise(&self) {
        self.event.get().inspect(|event| event.raise());
    }
}

impl Line {
    /// The most segment files there may be.
    pub fn capacity(&self) -> u64 {
        self.options.segments()
    }

    /// # Errors
    /// `Closed`.
    pub fn check_open(&self) -> Result<()> {
        match self.closed.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(closed()),
        }
    }

    /// Where the cursors stand, for the order of eviction.
    pub fn scopes(&self) -> Scopes {
        let number_of = |position| self.segments.ring.number_of(position);
        let readers = self.readers.lock();
        let reading = readers.list.iter().map(|row| row.cursor.reading());
        Scopes {
            committed: number_of(readers.start.position),
            reading: reading.map(number_of).collect(),
            writing: number_of(self.appended.load()),
            max: self.options.max_in_memory_segments,
        }
    }

    /// Writes the meta page; a kill does not undo it.
    ///
    /// # Errors
    /// What the disk says; the page before still stands then.
    pub fn put_meta(&self, readers: &Readers, clean: bool) -> Result<()> {
        let mut meta = self.meta.lock();
        let Meta { file, facts } = &mut *meta;
        facts.clean = clean;
        facts.poisoned = self.poison.cause().is_some();
        facts.start = readers.start;
        // The number first: it may be behind its position, and is counted again by position.
        facts.flushed = self.flushed_mark();
        facts.writing = self.appended.load();
        facts.dropped = readers.dropped;
        readers.describe(&mut facts.cursors);
        file.put(facts).map_err(|error| error.at(&self.root))
    }

    /// Writes the meta page durably. What it says is free may be used again.
    ///
    /// # Errors
    /// What the disk says.
    pub fn sync_meta(&self, clean: bool) -> Result<()> {
        let readers = self.readers.lock();
        let start = readers.start;
        self.put_meta(&readers, clean)?;
        drop(readers);
        let file = self.meta.lock().file.file();
        file.sync().inspect_err(|error| {
            self.poison.set(&format!("the meta page cannot be flushed: {error}"));
        })?;
        let free = self.segments.ring.number_of(start.position);
        self.free_below.fetch_max(free, Ordering::AcqRel);
        Ok(())
    }

    /// Up to where everything is durable.
    pub fn flushed_mark(&self) -> Mark {
        let number = self.numbers.flushed.load(Ordering::Acquire);
        Mark { position: self.flushed.load(), number }
    }

    /// The end, with the number of records before it.
    pub fn end_mark(&self) -> Mark {
        self.tail.lock().mark()
    }
}

/// The error of every call after closing.
pub fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the queue was closed")
}
