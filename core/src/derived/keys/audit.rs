//! Index files checked against the log: every entry against the record that it names, every link,
//! slot and header, and every key of every record that the index is said to cover.
//!
//! Entries stand in the order of the log, since they were added in it. So each file is read once
//! beside a walk over the log, in pieces; what is kept is the newest entry of each slot.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::units::Position;
use crate::derived::audit::is_in;
use crate::derived::keys::file::{HEADER_BYTES, Shape, Summary};
use crate::derived::keys::hash::hash_record;
use crate::derived::keys::index::Catalogue;
use crate::derived::keys::name::{index_name, parse_index_name};
use crate::derived::keys::sheet::{Row, Sheet};
use crate::disk::{Disk, EntryKind};
use crate::error::{ErrorKind, Result};
use crate::record::MessageView;

/// Misfits that are kept; more of them say nothing new.
const MOST_MISFITS: usize = 10_000;

const STRAY: &str = "an entry names no record of its key";
const ORDER: &str = "an entry is out of the log's order";
const SECONDS: &str = "an entry's time is not that of its record";
const LINK: &str = "an entry does not lead to the one before it in its chain";
const LACKS: &str = "a record's key has no entry";
const UNREAD: &str = "an index file that nobody reads";
const MISSING: &str = "an index file is missing or has another length";
const SENSELESS: &str = "the header does not fit first and last entry, or the file before";

/// What the key index of a store is said to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyClaim {
    /// Nothing that anybody believes.
    Nothing,
    /// What the store's own catalogue says.
    Own(Catalogue),
    /// RocketMQ's files, of this shape: each the records between its first and its last.
    Foreign(Shape),
}

/// What part of an index file is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyWrong {
    /// An entry, a slot, or a field of the header.
    Entry,
    /// The file.
    File,
    /// Nothing that matters: nobody reads the file.
    Leftover,
}

/// Something wrong with an index file.
#[derive(Debug)]
pub struct KeyMisfit {
    /// What.
    pub wrong: KeyWrong,
    /// The file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub range: Range<u64>,
    /// What is wrong with them.
    pub text: &'static str,
}

/// The check of all index files, driven by a walk over the log.
#[derive(Debug)]
pub struct KeyAudit {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    shape: Shape,
    /// Files to come, oldest first.
    files: VecDeque<Summary>,
    sheet: Option<Sheet>,
    start: Position,
    /// Every key of the records in it has an entry.
    covered: Range<u64>,
    is_foreign: bool,
    is_closed: bool,
    holes: Vec<Range<Position>>,
    expected: Vec<(u32, bool)>,
    hashes: Vec<u32>,
    misfits: Vec<KeyMisfit>,
}

impl KeyAudit {
    /// Finds the files in `dir`, of a log that begins at `start`.
    ///
    /// # Errors
    /// What the disk says.
    pub fn begin(
        disk: &Arc<dyn Disk>,
        dir: PathBuf,
        claim: &KeyClaim,
        start: Position,
        is_closed: bool,
    ) -> Result<Self> {
        let (shape, end) = match claim {
            KeyClaim::Own(catalogue) => (catalogue.shape, catalogue.position.get()),
            KeyClaim::Foreign(shape) => (*shape, 0),
            KeyClaim::Nothing => (Shape::USUAL, 0),
        };
        let mut audit = Self {
            disk: Arc::clone(disk),
            dir,
            shape,
            files: VecDeque::new(),
            sheet: None,
            start,
            covered: 0..end,
            is_foreign: matches!(claim, KeyClaim::Foreign(_)),
            is_closed,
            holes: Vec::new(),
            expected: Vec::new(),
            hashes: Vec::new(),
            misfits: Vec::new(),
        };
        match claim {
            KeyClaim::Own(catalogue) => audit.list_own(catalogue)?,
            KeyClaim::Foreign(_) => audit.list_foreign()?,
            KeyClaim::Nothing => {}
        }
        Ok(audit)
    }

    /// The files there are, by number, with their lengths.
    fn found(&self) -> Result<Vec<(u64, u64)>> {
        if self.disk.stat(&self.dir)?.is_none() {
            return Ok(Vec::new());
        }
        let entries = self.disk.list(&self.dir)?.into_iter();
        let files = entries.filter(|entry| entry.kind == EntryKind::File);
        let numbered = files.filter_map(|file| Some((parse_index_name(&file.name)?, file.len)));
        let mut found: Vec<_> = numbered.collect();
        found.sort_unstable();
        Ok(found)
    }

    fn list_own(&mut self, catalogue: &Catalogue) -> Result<()> {
        let found = self.found()?;
        let last = catalogue.files.last().map(|file| file.number);
        for &known in &catalogue.files {
            let is_whole = found.contains(&(known.number, self.shape.file_len()));
            let is_dropped = known.end < self.start && Some(known.number) != last;
            match is_whole {
                true => self.files.push_back(known),
                false if is_dropped => {}
                false => self.fail(known, MISSING),
            }
        }
        for (number, len) in found {
            if self.is_closed && catalogue.files.iter().all(|known| known.number != number) {
                self.tell(KeyWrong::Leftover, number, 0..len, UNREAD);
            }
        }
        Ok(())
    }

    fn list_foreign(&mut self) -> Result<()> {
        let mut end = Position::ZERO;
        for (number, len) in self.found()? {
            if len != self.shape.file_len() {
                self.tell(KeyWrong::Leftover, number, 0..len, UNREAD);
                continue;
            }
            match Sheet::told(self.disk.as_ref(), &self.path(number), self.shape, number)? {
                Some(known) if known.count == 1 => {}
                Some(known) if known.begin >= end => {
                    end = known.end;
                    self.files.push_back(known);
                }
                _ => self.tell(KeyWrong::File, number, 0..HEADER_BYTES, SENSELESS),
            }
        }
        Ok(())
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(index_name(number))
    }

    /// A file that cannot be used is told once, and nothing is asked of it. Retention drops files
    /// of an open store.
    fn fail(&mut self, known: Summary, text: &'static str) {
        self.covered.start = self.covered.start.max(known.end.get() + 1);
        if self.is_closed || text != MISSING {
            self.tell(KeyWrong::File, known.number, 0..0, text);
        }
    }

    fn tell(&mut self, wrong: KeyWrong, number: u64, range: Range<u64>, text: &'static str) {
        let path = self.path(number);
        let goes_on = |last: &&mut KeyMisfit| {
            last.path == path && last.text == text && last.range.end == range.start
        };
        if let Some(last) = self.misfits.last_mut().filter(goes_on) {
            last.range.end = range.end;
        } else if self.misfits.len() < MOST_MISFITS {
            self.misfits.push(KeyMisfit { wrong, path, range, text });
        }
    }

    /// Notes a range without readable records: entries that name it are right.
    pub fn hole(&mut self, range: Range<Position>) {
        let at = self.holes.partition_point(|hole| hole.start < range.start);
        self.holes.insert(at, range);
    }

    /// Checks the entries of the next record of the log.
    pub fn record(&mut self, view: &MessageView<'_>) {
        if self.sheet.is_none() && self.files.is_empty() && self.covered.is_empty() {
            return;
        }
        let position = view.position();
        self.hashes.clear();
        hash_record(view, &mut self.hashes);
        self.expected.clear();
        self.expected.extend(self.hashes.iter().map(|&hash| (hash, false)));
        while let Some(row) = self.next_to(position) {
            match row.position < position {
                true => self.judge_alone(row, u64::MAX),
                false => self.compare(row, view.store_ms()),
            }
        }
        let has_tag = self.is_foreign && view.tags().is_some();
        // RocketMQ before 5.4 has no entries for tags, which come last.
        let wanted = self.expected.len() - usize::from(has_tag && !self.expected.is_empty());
        let lacks = self.expected[..wanted].iter().any(|(_, is_found)| !is_found);
        if lacks && self.covered.contains(&position) {
            self.tell_lack();
        }
    }

    /// The place where an entry ought to have been.
    fn tell_lack(&mut self) {
        let place = self.sheet.as_ref().map(|sheet| (sheet.known.number, sheet.next_at()));
        let (number, at) = match (place, self.files.front()) {
            (Some(place), _) => place,
            (None, Some(known)) => (known.number, self.shape.entry_at(1)),
            (None, None) => {
                return self.misfits.push(KeyMisfit {
                    wrong: KeyWrong::File,
                    path: self.dir.clone(),
                    range: 0..0,
                    text: LACKS,
                });
            }
        };
        self.tell(KeyWrong::Entry, number, at..at, LACKS);
    }

    /// Compares an entry with the record that it names.
    fn compare(&mut self, row: Row, store_ms: i64) {
        let Some(sheet) = &mut self.sheet else { return };
        sheet.note_ms(row.number, store_ms);
        let (number, is_due) = (sheet.known.number, sheet.seconds_to(store_ms) == row.seconds);
        let own = self.expected.iter_mut().filter(|(hash, _)| *hash == row.hash);
        let is_own = own.map(|(_, is_found)| *is_found = true).count() > 0;
        if !is_own {
            self.tell(KeyWrong::Entry, number, row.bytes(self.shape), STRAY);
        } else if !is_due {
            self.tell(KeyWrong::Entry, number, row.bytes(self.shape), SECONDS);
        }
    }

    /// An entry whose record the walk did not meet, below `end`.
    fn judge_alone(&mut self, row: Row, end: u64) {
        let position = Position::new(row.position);
        let is_gone = position < self.start || is_in(&self.holes, position);
        let is_to_come = !self.is_closed && row.position >= end;
        if let Some(sheet) = self.sheet.as_ref().filter(|_| !is_gone && !is_to_come) {
            self.tell(KeyWrong::Entry, sheet.known.number, row.bytes(self.shape), STRAY);
        }
    }

    /// Takes the next entry, if it names a record at `position` or before.
    fn next_to(&mut self, position: u64) -> Option<Row> {
        loop {
            self.turn_over();
            let sheet = self.sheet.as_mut()?;
            let known = sheet.known;
            let (row, is_odd) = match sheet.head() {
                Ok(head) => head,
                Err(_) => {
                    self.sheet = None;
                    self.fail(known, "an index file cannot be read");
                    continue;
                }
            };
            if row.position > position && !is_odd {
                return None;
            }
            if !sheet.take(&row) {
                self.tell(KeyWrong::Entry, known.number, row.bytes(self.shape), LINK);
            }
            if !is_odd {
                return Some(row);
            }
            self.tell(KeyWrong::Entry, known.number, row.bytes(self.shape), ORDER);
        }
    }

    /// Closes a file that is read to its end, and opens the next.
    fn turn_over(&mut self) {
        if self.sheet.as_ref().is_some_and(Sheet::is_read) {
            let sheet = self.sheet.take().expect("it was looked at");
            self.close(&sheet);
        }
        while self.sheet.is_none() {
            let Some(known) = self.files.pop_front() else { return };
            let path = self.path(known.number);
            match Sheet::open(self.disk.as_ref(), &path, self.shape, known) {
                Ok(sheet) => {
                    if self.is_foreign {
                        self.covered = known.begin.get() + 1..known.end.get();
                    }
                    self.sheet = Some(sheet);
                }
                Err(error) if error.kind() == ErrorKind::Offline => self.fail(known, MISSING),
                Err(_) => self.fail(known, "an index file cannot be read"),
            }
        }
    }

    /// Checks slots and header of a file whose entries were all read.
    fn close(&mut self, sheet: &Sheet) {
        let is_last = self.files.is_empty();
        let mut wrong = Vec::new();
        let checked = sheet.check(self.is_closed || !is_last, &mut |range, text| {
            if wrong.len() < MOST_MISFITS {
                wrong.push((range, text));
            }
        });
        for (range, text) in wrong {
            self.tell(KeyWrong::Entry, sheet.known.number, range, text);
        }
        if checked.is_err() {
            self.fail(sheet.known, "an index file cannot be read");
        }
    }

    /// Checks what no record claimed, the log ending at `end`, and says what is wrong.
    pub fn finish(&mut self, end: Position) -> Vec<KeyMisfit> {
        while let Some(row) = self.next_to(u64::MAX) {
            self.judge_alone(row, end.get());
        }
        std::mem::take(&mut self.misfits)
    }

    /// Whether what is wrong is damage: what a crash left of RocketMQ's files is not.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.is_closed || !self.is_foreign
    }
}
