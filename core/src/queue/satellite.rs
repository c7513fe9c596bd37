//! Reading a queue that SkyWalking Satellite's mmap-queue left.
//!
//! `meta.dat` has ten 64-bit words: version 1, then segment and offset of what is written next, of
//! what was flushed (the watermark), of what was committed, of what is read next; the capacity in
//! segments. `N_segment.dat` is a segment; N is its number modulo the capacity.
//!
//! Words are little-endian. A record is a word, its length, and that many bytes, which may go on in
//! the next segment; the word itself never does: where it does not fit, the record begins with the
//! next segment. Nothing carries a checksum, and old bytes are never cleared. So what lies behind
//! the watermark is taken only if it parses exactly up to what was to be written next.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::bytes::array;
use crate::disk::{Access, Disk, File};
use crate::error::{Error, ErrorKind, Result};

/// Bytes of the meta page that say something.
const META_BYTES: usize = 80;

/// Bytes of a length.
const WORD_BYTES: u64 = 8;

/// No record of Satellite's is longer: its own default is 20 KiB.
const MAX_RECORD_BYTES: u64 = 1 << 30;

/// A queue directory of Satellite's, opened for reading alone.
#[derive(Debug)]
pub struct SatelliteQueue {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    capacity: u64,
    segment_len: u64,
    at: u64,
    end: u64,
    /// Bytes behind the watermark that are taken, and that are not because they do not parse.
    beyond: (u64, u64),
    open: Option<(u64, Arc<dyn File>)>,
}

impl SatelliteQueue {
    /// Reads the meta page in `dir` and decides how far its records can be believed.
    ///
    /// # Errors
    /// `Invalid` where no such queue lies, `Version` for a later one, `Corrupt` for a page that
    /// contradicts itself or its segments, else what the disk says.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Self> {
        let path = dir.join("meta.dat");
        let missing =
            || Error::new(ErrorKind::Invalid, "no queue of Satellite's lies here").at(dir);
        let meta = disk.read(&path)?.ok_or_else(missing)?;
        let words = words(&meta, &path)?;
        let [version, capacity] = [words[0], words[9]];
        if version > 1 {
            let error =
                Error::new(ErrorKind::Version, "a later Satellite wrote the queue").at(&path);
            return Err(error.with_offset(version).with_limit(1));
        }
        let beyond = (0, 0);
        let segment_len = segment_len(disk.as_ref(), dir)?;
        let mut queue = Self {
            disk,
            dir: dir.to_owned(),
            capacity,
            segment_len,
            at: 0,
            end: 0,
            beyond,
            open: None,
        };
        queue.judge(&words, &path)?;
        Ok(queue)
    }

    /// Checks the cursors against each other and finds the end.
    fn judge(&mut self, words: &[u64; 10], path: &Path) -> Result<()> {
        let corrupt = |text| Error::new(ErrorKind::Corrupt, text).at(path);
        let line = |at: usize| {
            let (segment, offset) = (words[at], words[at + 1]);
            let base = segment.checked_mul(self.segment_len.max(1))?;
            (offset <= self.segment_len).then(|| base.checked_add(offset)).flatten()
        };
        let [Some(writing), Some(watermark), Some(committed)] = [line(1), line(3), line(5)] else {
            return Err(corrupt("a cursor of the meta page lies outside of its segment"));
        };
        let most = self.capacity.saturating_mul(self.segment_len);
        let oldest = committed.min(watermark);
        if writing < watermark || writing < committed || writing - oldest > most {
            let error = corrupt("the cursors of the meta page are further apart than the capacity");
            return Err(error.with_offset(writing).with_limit(oldest.saturating_add(most)));
        }
        // Acknowledged beyond the watermark: all before it is done, whatever became of it.
        (self.at, self.end) = (committed, watermark.max(committed));
        let behind = writing - self.end;
        if self.parses(self.end, writing)? {
            self.beyond = (behind, 0);
            self.end = writing;
        } else {
            self.beyond = (0, behind);
        }
        Ok(())
    }

    /// Whether records lie end to end from one place to the other.
    fn parses(&mut self, mut at: u64, end: u64) -> Result<bool> {
        while at < end {
            match self.length(at)? {
                Some((first, len)) if len <= end.saturating_sub(first) => at = first + len,
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Where the payload of the record at or behind `at` begins, and its length. Nothing where no
    /// record can stand: an empty one is never written.
    fn length(&mut self, at: u64) -> Result<Option<(u64, u64)>> {
        let left = self.segment_len - at % self.segment_len;
        let at = if left < WORD_BYTES { at + left } else { at };
        let mut word = [0; WORD_BYTES as usize];
        if !self.read(at, &mut word)? {
            return Ok(None);
        }
        let len = u64::from_be_bytes(word).swap_bytes();
        Ok((1..=MAX_RECORD_BYTES).contains(&len).then_some((at + WORD_BYTES, len)))
    }

    /// Fills `bytes` from `at`, over the ends of segments. Says whether their files are there.
    fn read(&mut self, mut at: u64, mut bytes: &mut [u8]) -> Result<bool> {
        while !bytes.is_empty() {
            let (number, offset) = (at / self.segment_len, at % self.segment_len);
            let Some(file) = self.file(number)? else { return Ok(false) };
            let now = bytes.len().min((self.segment_len - offset) as usize);
            let (head, rest) = bytes.split_at_mut(now);
            file.read_at(offset, head)?;
            at += now as u64;
            bytes = rest;
        }
        Ok(true)
    }

    fn file(&mut self, number: u64) -> Result<Option<Arc<dyn File>>> {
        if let Some((_, file)) = self.open.as_ref().filter(|(open, _)| *open == number) {
            return Ok(Some(Arc::clone(file)));
        }
        let path = segment_path(&self.dir, number % self.capacity.max(1));
        if self.disk.stat(&path)?.is_none() {
            return Ok(None);
        }
        let file = self.disk.open(&path, Access::Read)?;
        if file.len_bytes() != self.segment_len {
            return Err(Error::new(ErrorKind::Corrupt, "the segments have different lengths")
                .at(&path)
                .with_offset(file.len_bytes())
                .with_limit(self.segment_len));
        }
        self.open = Some((number, Arc::clone(&file)));
        Ok(Some(file))
    }

    /// The next record that was not committed; nothing at the end.
    ///
    /// # Errors
    /// `Corrupt` where no record can stand although one was flushed, else what the disk says.
    pub fn next_record(&mut self) -> Result<Option<Vec<u8>>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let found = self.length(self.at)?.filter(|(first, len)| first + len <= self.end);
        let (first, len) = found.ok_or_else(|| self.corrupt())?;
        let mut payload = vec![0; len as usize];
        if !self.read(first, &mut payload)? {
            return Err(self.corrupt());
        }
        self.at = first + len;
        Ok(Some(payload))
    }

    fn corrupt(&self) -> Error {
        let number = self.at / self.segment_len % self.capacity.max(1);
        Error::new(ErrorKind::Corrupt, "no record of Satellite's stands here")
            .at(&segment_path(&self.dir, number))
            .with_offset(self.at % self.segment_len)
            .with_limit(self.segment_len)
    }

    /// Bytes behind the watermark that parse up to what was written next, and so are taken.
    #[must_use]
    pub fn taken_beyond_watermark_bytes(&self) -> u64 {
        self.beyond.0
    }

    /// Bytes behind the watermark that do not parse, and so are left.
    #[must_use]
    pub fn left_beyond_watermark_bytes(&self) -> u64 {
        self.beyond.1
    }
}

fn words(meta: &[u8], path: &Path) -> Result<[u64; 10]> {
    let short = || {
        let error = Error::new(ErrorKind::Corrupt, "the meta page of Satellite's is too short");
        error.at(path).with_offset(meta.len() as u64).with_limit(META_BYTES as u64)
    };
    let mut words = [0; 10];
    for (at, word) in words.iter_mut().enumerate() {
        let bytes = array(meta, 8 * at).ok_or_else(short)?;
        *word = u64::from_be_bytes(bytes).swap_bytes();
    }
    Ok(words)
}

fn segment_path(dir: &Path, index: u64) -> PathBuf {
    dir.join(format!("{index}_segment.dat"))
}

/// The length of the segments: that of the first file.
fn segment_len(disk: &dyn Disk, dir: &Path) -> Result<u64> {
    let entries = disk.list(dir)?;
    let segments = entries.iter().filter(|entry| entry.name.ends_with("_segment.dat"));
    let Some(first) = segments.min_by_key(|entry| &entry.name) else { return Ok(1) };
    match first.len {
        0 => Err(Error::new(ErrorKind::Corrupt, "a segment of Satellite's is empty")
            .at(&dir.join(&first.name))
            .with_offset(0)),
        len => Ok(len),
    }
}

#[cfg(test)]
#[path = "satellite_tests.rs"]
mod tests;
