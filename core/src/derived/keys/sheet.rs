//! One index file as a verification reads it: from its first entry to its last, in pieces and
//! without a map.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::base::bytes::{array, read_i64};
use crate::base::units::Position;
use crate::derived::keys::file::{
    BEGIN, BEGIN_MS, COUNT, END, END_MS, ENTRY_BYTES, HEADER_BYTES, Shape, Summary, USED,
};
use crate::disk::{Access, Disk, File};
use crate::error::Result;

/// Entries, or slots, that are read in one piece.
const PIECE: u32 = 4096;

const SLOT: &str = "a slot does not lead to the newest entry of its chain";
const HEADER: &str = "a field of the header does not fit the entries";

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) number: u32,
    pub(super) hash: u32,
    pub(super) position: u64,
    pub(super) seconds: u32,
    pub(super) previous: u32,
}

impl Row {
    /// Where it stands in a file of that shape.
    pub(super) fn bytes(&self, shape: Shape) -> Range<u64> {
        let at = shape.entry_at(self.number);
        at..at + ENTRY_BYTES
    }
}

/// An index file that is being read.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) known: Summary,
    file: Arc<dyn File>,
    shape: Shape,
    header: Vec<u8>,
    /// The entry to read next.
    next: u32,
    piece: Vec<u8>,
    piece_from: u32,
    /// The newest entry of each slot, of those before `next`.
    newest: Vec<u32>,
    /// The position in the entry before `next`.
    last: u64,
    /// Store times of the records of the first and of the last entry, where they were met.
    first_ms: Option<i64>,
    last_ms: Option<i64>,
}

impl Sheet {
    pub(super) fn open(disk: &dyn Disk, path: &Path, shape: Shape, known: Summary) -> Result<Self> {
        let file = disk.open(path, Access::Read)?;
        let mut header = vec![0; HEADER_BYTES as usize];
        file.read_at(0, &mut header)?;
        Ok(Self {
            known,
            file,
            shape,
            header,
            next: 1,
            piece: Vec::new(),
            piece_from: 0,
            newest: vec![0; shape.slots as usize],
            last: 0,
            first_ms: None,
            last_ms: None,
        })
    }

    /// What the header says, if first and last entry say so too. A file without entries has a
    /// count of 1.
    pub(super) fn told(
        disk: &dyn Disk,
        path: &Path,
        shape: Shape,
        number: u64,
    ) -> Result<Option<Summary>> {
        let none = Summary { number, count: 1, begin: Position::ZERO, end: Position::ZERO };
        let mut sheet = Self::open(disk, path, Shape { slots: 0, ..shape }, none)?;
        sheet.shape = shape;
        let count = sheet.word(COUNT);
        if count <= 1 && sheet.double(BEGIN) == 0 {
            return Ok(Some(none));
        }
        if count <= 1 || count > shape.entries {
            return Ok(None);
        }
        sheet.known.count = count;
        let (first, last) = (sheet.row(1)?.position, sheet.row(count - 1)?.position);
        let is_so = first == sheet.double(BEGIN) && last == sheet.double(END) && first <= last;
        let [begin, end] = [first, last].map(Position::new);
        Ok(is_so.then_some(Summary { number, count, begin, end }))
    }

    fn word(&self, at: u64) -> u32 {
        array(&self.header, at as usize).map_or(0, u32::from_be_bytes)
    }

    fn double(&self, at: u64) -> u64 {
        array(&self.header, at as usize).map_or(0, u64::from_be_bytes)
    }

    /// Whether all entries were taken.
    pub(super) fn is_read(&self) -> bool {
        self.next >= self.known.count
    }

    /// Where the entry to read next stands.
    pub(super) fn next_at(&self) -> u64 {
        self.shape.entry_at(self.next)
    }

    /// The entry of that number, below the count.
    fn row(&mut self, number: u32) -> Result<Row> {
        let has = |from: u32, piece: &[u8]| {
            number >= from && u64::from(number - from + 1) * ENTRY_BYTES <= piece.len() as u64
        };
        if !has(self.piece_from, &self.piece) {
            let end = number.saturating_add(PIECE).min(self.known.count);
            self.piece.resize((end - number) as usize * ENTRY_BYTES as usize, 0);
            self.piece_from = number;
            self.file.read_at(self.shape.entry_at(number), &mut self.piece)?;
        }
        let at = (number - self.piece_from) as usize * ENTRY_BYTES as usize;
        let word = |place: usize| array(&self.piece, at + place).map_or(0, u32::from_be_bytes);
        let position = array(&self.piece, at + 4).map_or(0, u64::from_be_bytes);
        let (hash, seconds, previous) = (word(0), word(12), word(16));
        Ok(Row { number, hash, position, seconds, previous })
    }

    /// The entry to read next, and whether its position cannot be, as it lies behind those that
    /// follow.
    pub(super) fn head(&mut self) -> Result<(Row, bool)> {
        let row = self.row(self.next)?;
        if row.position > self.known.end.get() || row.position < self.last {
            return Ok((row, true));
        }
        if self.next + 1 >= self.known.count || row.position == self.last {
            return Ok((row, false));
        }
        let after = self.row(self.next + 1)?.position;
        Ok((row, (self.last..row.position).contains(&after)))
    }

    /// Goes on behind the entry; says whether its link is right.
    pub(super) fn take(&mut self, row: &Row) -> bool {
        let slot = self.shape.slot_of(row.hash) as usize;
        let before = std::mem::replace(&mut self.newest[slot], row.number);
        self.next = row.number + 1;
        if (self.last..=self.known.end.get()).contains(&row.position) {
            self.last = row.position;
        }
        row.previous == before
    }

    /// Notes the store time of the record of an entry.
    pub(super) fn note_ms(&mut self, number: u32, store_ms: i64) {
        if number == 1 {
            self.first_ms = Some(store_ms);
        }
        if number + 1 == self.known.count {
            self.last_ms = Some(store_ms);
        }
    }

    /// What an entry says of a record stored at that time.
    pub(super) fn seconds_to(&self, store_ms: i64) -> u32 {
        let begin_ms = read_i64(&self.header, BEGIN_MS as usize).unwrap_or(0);
        let seconds = store_ms.saturating_sub(begin_ms) / 1000;
        seconds.clamp(0, i32::MAX.into()) as u32
    }

    /// Checks header and slots. Unless `is_closed`, entries may have been added since.
    ///
    /// # Errors
    /// What the disk says.
    pub(super) fn check(
        &self,
        is_closed: bool,
        tell: &mut dyn FnMut(Range<u64>, &'static str),
    ) -> Result<()> {
        let is_whole = is_closed && !self.is_added_to()?;
        let known = &self.known;
        let used = self.newest.iter().filter(|&&number| number != 0).count();
        let ms = |ms: Option<i64>| ms.map(i64::cast_unsigned);
        // The beginning stays as it is; the rest moves with what is added.
        let doubles = [
            (BEGIN_MS, ms(self.first_ms), true),
            (END_MS, ms(self.last_ms), is_whole),
            (BEGIN, (known.count > 1).then_some(known.begin.get()), true),
            (END, Some(known.end.get()), is_whole),
        ];
        for (at, value, is_so) in doubles {
            if is_so && value.is_some_and(|value| value != self.double(at)) {
                tell(at..at + 8, HEADER);
            }
        }
        for (at, value) in [(USED, used as u32), (COUNT, known.count)] {
            if is_whole && value != self.word(at) && (known.count > 1 || self.word(at) != 0) {
                tell(at..at + 4, HEADER);
            }
        }
        self.check_slots(is_whole, tell)
    }

    /// Whether RocketMQ has added entries since the store was closed.
    fn is_added_to(&self) -> Result<bool> {
        let count = self.known.count;
        if count >= self.shape.entries || self.word(COUNT) <= count {
            return Ok(false);
        }
        let mut entry = [0; ENTRY_BYTES as usize];
        self.file.read_at(self.shape.entry_at(count), &mut entry)?;
        Ok(entry != [0; ENTRY_BYTES as usize])
    }

    fn check_slots(
        &self,
        is_whole: bool,
        tell: &mut dyn FnMut(Range<u64>, &'static str),
    ) -> Result<()> {
        let mut bytes = Vec::new();
        for (piece, newest) in self.newest.chunks(PIECE as usize).enumerate() {
            bytes.resize(newest.len() * 4, 0);
            let from = self.shape.slot_at(piece as u32 * PIECE);
            self.file.read_at(from, &mut bytes)?;
            for (at, (slot, &number)) in bytes.chunks_exact(4).zip(newest).enumerate() {
                let value = array(slot, 0).map_or(0, u32::from_be_bytes);
                let is_later = !is_whole && value >= self.known.count;
                if value != number && !is_later {
                    let at = from + at as u64 * 4;
                    tell(at..at + 4, SLOT);
                }
            }
        }
        Ok(())
    }
}
