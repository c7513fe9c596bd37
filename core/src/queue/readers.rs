//! The readers of a queue as a whole: the slowest holds the space.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::error::{Error, ErrorKind, Result};
use crate::queue::line::Line;
use crate::queue::meta::{CursorFacts, MAX_READERS, Mark, check_name};
use crate::queue::walk::Walk;

/// Every reader there is, and the first record that is kept for them.
#[derive(Debug, Default)]
pub struct Readers {
    pub list: Vec<ReaderRow>,
    pub start: Mark,
    /// Records that were dropped because the queue was full.
    pub dropped: u64,
}

/// One reader: what it holds the space for, and what its handle works with.
#[derive(Debug)]
pub struct ReaderRow {
    pub cursor: Arc<Cursor>,
    pub committed: Mark,
}

/// The cursor of one reader.
#[derive(Debug)]
pub struct Cursor {
    pub name: Arc<str>,
    reading: AtomicU64,
    is_removed: AtomicBool,
    pub state: Mutex<Reading>,
}

/// What a reader does, under its lock.
#[derive(Debug, Default)]
pub struct Reading {
    pub next: Mark,
    pub walk: Walk,
    /// Where records ended that damaged ones follow, which were passed over: nothing that stands
    /// there can tell how many records came before.
    pub skipped: Vec<Mark>,
}

impl Cursor {
    pub fn new(name: &str, next: Mark) -> Arc<Self> {
        let state = Mutex::new(Reading { next, ..Reading::default() });
        let reading = AtomicU64::new(next.position.get());
        Arc::new(Self { name: name.into(), reading, is_removed: AtomicBool::new(false), state })
    }

    /// Whether the reader was taken off.
    pub fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Acquire)
    }

    /// What it reads next.
    pub fn reading(&self) -> Position {
        Position::new(self.reading.load(Ordering::Relaxed))
    }

    /// Moves it, and lets go of a segment that it left.
    pub fn move_to(&self, state: &mut Reading, next: Mark) {
        state.next = next;
        state.walk.leave_unless(next.position);
        self.reading.store(next.position.get(), Ordering::Relaxed);
    }
}

impl Readers {
    /// What the meta page says of the readers, put into `facts`.
    pub fn describe(&self, facts: &mut Vec<CursorFacts>) {
        let describe = |row: &ReaderRow| CursorFacts {
            name: Arc::clone(&row.cursor.name),
            committed: row.committed,
            reading: row.cursor.reading(),
        };
        facts.clear();
        facts.extend(self.list.iter().map(describe));
    }

    pub fn find(&self, name: &str) -> Option<&ReaderRow> {
        self.list.iter().find(|row| &*row.cursor.name == name)
    }

    fn row(&mut self, cursor: &Arc<Cursor>) -> Option<&mut ReaderRow> {
        self.list.iter_mut().find(|row| Arc::ptr_eq(&row.cursor, cursor))
    }
}

impl Line {
    /// The cursor of that name, made where there is none: it begins at the first record kept.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be, `TooLarge` for one reader too many, or what the disk
    /// says.
    pub fn cursor(&self, name: &str) -> Result<Arc<Cursor>> {
        check_name(name)?;
        let mut readers = self.readers.lock();
        if let Some(row) = readers.find(name) {
            return Ok(Arc::clone(&row.cursor));
        }
        if readers.list.len() == MAX_READERS {
            let error = Error::new(ErrorKind::TooLarge, "the queue has no room for a reader");
            return Err(error.at(&self.root).with_limit(MAX_READERS as u64));
        }
        let committed = readers.start;
        let cursor = Cursor::new(name, committed);
        readers.list.push(ReaderRow { cursor: Arc::clone(&cursor), committed });
        self.put_meta(&readers, false).inspect_err(|_| drop(readers.list.pop()))?;
        Ok(cursor)
    }

    /// Takes a reader off: it holds no space any more.
    ///
    /// # Errors
    /// `Invalid` if there is none of that name, or what the disk says; then it is back when the
    /// queue is opened again.
    pub fn remove_cursor(&self, name: &str) -> Result<()> {
        let mut readers = self.readers.lock();
        let Some(at) = readers.list.iter().position(|row| &*row.cursor.name == name) else {
            let text = format!("the queue has no reader {name:?}");
            return Err(Error::new(ErrorKind::Invalid, text).at(&self.root));
        };
        let row = readers.list.remove(at);
        let followed = self.follow(&mut readers);
        drop(readers);
        let mut state = row.cursor.state.lock();
        row.cursor.is_removed.store(true, Ordering::Release);
        state.walk.leave();
        drop(state);
        // Who waits for its records waits for nothing, and who waits for room may have it.
        let appended = self.appended.load();
        self.readable.tell(|wish| wish.look(appended));
        self.tell_room();
        followed
    }

    /// Notes that a reader has done everything before `mark`.
    ///
    /// # Errors
    /// What the disk says; then it counts until the queue is opened again.
    pub fn commit(&self, cursor: &Arc<Cursor>, mark: Mark) -> Result<()> {
        let mut readers = self.readers.lock();
        if let Some(row) = readers.row(cursor) {
            row.committed = mark;
        }
        let followed = self.follow(&mut readers);
        drop(readers);
        self.tell_room();
        followed
    }

    /// Up to where a reader has committed, but not before what is kept.
    pub fn committed(&self, cursor: &Arc<Cursor>) -> Mark {
        let mut readers = self.readers.lock();
        let start = readers.start;
        let committed = readers.row(cursor).map_or(start, |row| row.committed);
        if committed.position < start.position { start } else { committed }
    }

    /// Moves the start after the slowest reader and writes everything down.
    fn follow(&self, readers: &mut Readers) -> Result<()> {
        let slowest = readers.list.iter().map(|row| row.committed);
        let slowest = slowest.min_by_key(|mark| mark.position);
        self.start_at(readers, slowest.unwrap_or(readers.start));
        self.put_meta(readers, false)
    }

    /// Moves the start to `mark`, if that is later.
    fn start_at(&self, readers: &mut Readers, mark: Mark) {
        if mark.position <= readers.start.position {
            return;
        }
        readers.start = mark;
        let ring = &self.segments.ring;
        let end = ring.number_of(mark.position) + self.capacity();
        self.limit.store(ring.base_of(end).get(), Ordering::Release);
    }

    /// Tells those who wait for room, and the step that makes segments ready.
    fn tell_room(&self) {
        if self.room.is_any() {
            let limit = self.limit.load(Ordering::Acquire);
            self.room.tell(|&end| end <= limit);
        }
        self.prepare_bell.ring();
    }

    /// Drops the records of the oldest segment. Says whether there was one to drop.
    ///
    /// # Errors
    /// What the disk says.
    pub fn drop_oldest(&self) -> Result<bool> {
        let visible = self.appended.published();
        let start = self.readers.lock().start;
        let ring = &self.segments.ring;
        let next = ring.base_of(ring.number_of(start.position) + 1);
        if next >= visible.end() {
            return Ok(false);
        }
        // Not under the lock: it reads, and has maps evicted by where readers are.
        let mark = self.first_behind(next, visible)?;
        let mut readers = self.readers.lock();
        if readers.start != start {
            return Ok(true);
        }
        readers.dropped += mark.number - start.number;
        self.start_at(&mut readers, mark);
        self.put_meta(&readers, false)?;
        // An idle reader must not hold a file that is gone for it.
        for row in &readers.list {
            if let Some(mut state) = row.cursor.state.try_lock() {
                let next = mark.position.max(state.next.position);
                state.walk.leave_unless(next);
            }
        }
        drop(readers);
        self.tell_room();
        Ok(true)
    }

    /// Makes every reader let go of its segment.
    pub fn leave_segments(&self) {
        let readers = self.readers.lock();
        let cursors: Vec<_> = readers.list.iter().map(|row| Arc::clone(&row.cursor)).collect();
        drop(readers);
        cursors.iter().for_each(|cursor| cursor.state.lock().walk.leave());
    }

    /// The first record at or behind `from`, or the end.
    fn first_behind(&self, from: Position, visible: Published) -> Result<Mark> {
        let found = Walk::default().find(&self.segments, &|| self.scopes(), from, visible)?;
        let end = || {
            let mark = self.end_mark();
            assert!(mark.position >= visible.end(), "the end only grows");
            mark
        };
        Ok(found.unwrap_or_else(end))
    }
}
