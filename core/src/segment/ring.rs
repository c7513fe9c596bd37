//! A line that goes round: segments of one length, known by their numbers, whose files are used
//! again under a new name.
//!
//! A queue has thousands of segments and uses a few at a time, so a segment that nobody uses is
//! two bytes here, the number of its directory, and no [`Segment`].

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::base::sync::Mutex;
use crate::base::units::Position;
use crate::disk::{Access, Disk};
use crate::error::Result;
use crate::segment::name::segment_name;
use crate::segment::{Budget, Place, Segment};

/// The segments of a ring. Any thread may use it.
#[derive(Debug)]
pub struct Ring {
    disk: Arc<dyn Disk>,
    budget: Arc<Budget>,
    segment_len: u64,
    /// The directories by number within the store, and where they are.
    directories: Vec<(u64, PathBuf)>,
    rows: Mutex<Rows>,
}

/// A row per segment, from the oldest file to the newest.
#[derive(Debug, Default)]
struct Rows {
    first: u64,
    homes: VecDeque<u16>,
    files: usize,
    live: FxHashMap<u64, Arc<Segment>>,
    /// When so many are live, those that nobody uses are forgotten.
    sweep_at: usize,
}

/// The home of a segment without a file.
const NOWHERE: u16 = u16::MAX;

/// How many live segments are too few to be worth a sweep.
const SWEEP_LEAST: usize = 64;

impl Rows {
    fn end(&self) -> u64 {
        self.first + self.homes.len() as u64
    }

    fn home(&self, number: u64) -> Option<u16> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.homes.get(at).copied().filter(|&home| home != NOWHERE)
    }

    /// Takes a file off its row.
    fn take(&mut self, number: u64) {
        self.homes[(number - self.first) as usize] = NOWHERE;
        self.live.remove(&number);
        self.files -= 1;
        while self.homes.front() == Some(&NOWHERE) {
            self.homes.pop_front();
            self.first += 1;
        }
    }

    /// Puts a file behind the last row; rows between have none.
    fn put(&mut self, number: u64, home: u16) {
        if self.homes.is_empty() {
            self.first = number;
        }
        assert!(number >= self.end(), "segment {number} is in the ring");
        while self.end() < number {
            self.homes.push_back(NOWHERE);
        }
        self.homes.push_back(home);
        self.files += 1;
    }

    /// Notes a segment that is being used, and forgets others once there are many.
    fn enliven(&mut self, number: u64, segment: &Arc<Segment>) {
        if self.live.len() >= self.sweep_at.max(SWEEP_LEAST) {
            self.live.retain(|_, own| Arc::strong_count(own) > 1 || own.is_mapped());
            self.sweep_at = 2 * self.live.len();
        }
        self.live.insert(number, Arc::clone(segment));
    }
}

impl Ring {
    /// A ring without segments.
    #[must_use]
    pub fn new(
        disk: Arc<dyn Disk>,
        budget: Arc<Budget>,
        segment_len: u64,
        directories: Vec<(u64, PathBuf)>,
    ) -> Self {
        assert!(directories.len() < usize::from(NOWHERE), "a directory's place fits two bytes");
        Self { disk, budget, segment_len, directories, rows: Mutex::default() }
    }

    /// The number of the segment that holds `position`.
    #[must_use]
    pub fn number_of(&self, position: Position) -> u64 {
        position.get() / self.segment_len
    }

    /// The first position of a segment.
    #[must_use]
    pub fn base_of(&self, number: u64) -> Position {
        Position::new(number * self.segment_len)
    }

    /// How many segments more than a row is kept of.
    #[cfg(test)]
    pub fn live_segments(&self) -> usize {
        self.rows.lock().live.len()
    }

    /// How many files there are.
    #[must_use]
    pub fn files(&self) -> usize {
        self.rows.lock().files
    }

    /// Whether the segment of that number has a file.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.rows.lock().home(number).is_some()
    }

    /// The number behind the newest segment.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.rows.lock().end()
    }

    /// Adds a file that was found, behind all others.
    pub fn add_found(&self, base: Position, directory: u64) {
        let home = self.home_of(directory);
        self.rows.lock().put(self.number_of(base), home);
    }

    /// Adds a segment that was made, behind all others.
    pub fn add(&self, segment: &Arc<Segment>) {
        let home = self.home_of(segment.directory());
        let number = self.number_of(segment.base());
        let mut rows = self.rows.lock();
        rows.put(number, home);
        rows.enliven(number, segment);
    }

    fn home_of(&self, directory: u64) -> u16 {
        let at = self.directories.iter().position(|(id, _)| *id == directory);
        u16::try_from(at.expect("a file lies in a directory of the ring")).expect("checked at new")
    }

    fn place(&self, number: u64, home: u16) -> Place {
        let (directory, path) = &self.directories[usize::from(home)];
        let base = self.base_of(number);
        Place {
            base,
            len: self.segment_len,
            path: path.join(segment_name(base)),
            directory: *directory,
        }
    }

    /// The segment of that number, if it has a file. Who holds it keeps the file what it is.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<Arc<Segment>> {
        let mut rows = self.rows.lock();
        let home = rows.home(number)?;
        Some(self.live(&mut rows, number, home))
    }

    fn live(&self, rows: &mut Rows, number: u64, home: u16) -> Arc<Segment> {
        if let Some(own) = rows.live.get(&number) {
            return Arc::clone(own);
        }
        let place = self.place(number, home);
        let own = Arc::new(Segment::existing(&self.disk, &self.budget, place, Access::Write));
        rows.enliven(number, &own);
        own
    }

    /// The oldest segment below `below` that nobody holds.
    fn free(&self, rows: &mut Rows, below: u64) -> Option<u64> {
        let is_held = |own: &Arc<Segment>| Arc::strong_count(own) > 1 || own.is_held();
        (rows.first..below.min(rows.end()))
            .filter(|&number| rows.home(number).is_some())
            .find(|number| !rows.live.get(number).is_some_and(is_held))
    }

    /// Renames the oldest file below `below` that nobody holds to the segment `to`, behind all
    /// others. Nothing if there is none.
    ///
    /// # Errors
    /// What the disk says; the file is what it was then.
    pub fn recycle(&self, below: u64, to: u64) -> Result<Option<Arc<Segment>>> {
        let mut rows = self.rows.lock();
        let Some(number) = self.free(&mut rows, below) else { return Ok(None) };
        let home = rows.home(number).expect("found above");
        let old = self.live(&mut rows, number, home);
        let place = self.place(to, home);
        old.close_file();
        self.disk.rename(old.path(), &place.path)?;
        let segment = old.recycled(place);
        rows.take(number);
        rows.put(to, home);
        rows.enliven(to, &segment);
        Ok(Some(segment))
    }

    /// Removes the oldest file below `below` that nobody holds. Says whether there was one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn remove_oldest(&self, below: u64) -> Result<bool> {
        let mut rows = self.rows.lock();
        let Some(number) = self.free(&mut rows, below) else { return Ok(false) };
        self.remove(&mut rows, number)?;
        Ok(true)
    }

    /// Removes the files of all segments from `from` on, newest first.
    ///
    /// # Errors
    /// What the disk says.
    pub fn remove_from(&self, from: u64) -> Result<()> {
        let mut rows = self.rows.lock();
        while let Some(last) = rows.end().checked_sub(1).filter(|&last| last >= from) {
            if rows.home(last).is_some() {
                self.remove(&mut rows, last)?;
            }
            if rows.homes.is_empty() {
                return Ok(());
            }
            rows.homes.pop_back();
        }
        Ok(())
    }

    fn remove(&self, rows: &mut Rows, number: u64) -> Result<()> {
        let home = rows.home(number).expect("it has a file");
        self.live(rows, number, home).remove()?;
        rows.take(number);
        Ok(())
    }

    /// Gives every file that a batch holds to the batch alone: a copy takes its name. Whoever
    /// opens the queue next does not know of the batch, and may use the file again.
    ///
    /// # Errors
    /// What the disk says; then the files must stay what they are.
    pub fn part_with_held(&self) -> Result<()> {
        let rows = self.rows.lock();
        let held = rows.live.values().filter(|own| own.is_held());
        held.cloned().try_for_each(|own| {
            let mut bytes = vec![0; usize::try_from(self.segment_len).expect("it is mapped")];
            own.file()?.read_at(0, &mut bytes)?;
            own.close_file();
            self.disk.replace(own.path(), &bytes)
        })
    }

    /// Makes the names in every directory durable.
    ///
    /// # Errors
    /// What the disk says.
    pub fn sync_names(&self) -> Result<()> {
        self.directories.iter().try_for_each(|(_, path)| self.disk.sync_dir(path))
    }
}
