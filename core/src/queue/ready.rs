//! Segments are made ready before they are needed: renamed or created, mapped, resident.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::disk::{Access, File};
use crate::error::{Error, ErrorKind, Result};
use crate::queue::line::Line;
use crate::queue::push::OpenSegment;
use crate::segment::Segment;

/// The most segments that are kept ready.
const MOST_AHEAD: u64 = 16;

/// How many bytes of a file are written over themselves at once.
const PIECE_BYTES: u64 = 64 * 1024;

/// The segments that are ready, in order.
#[derive(Debug)]
pub struct Ready {
    /// The number of the next one to be made ready.
    next: u64,
    list: VecDeque<OpenSegment>,
}

impl Ready {
    /// None are ready; `next` is the first that will be needed.
    pub fn new(next: u64) -> Self {
        Self { next, list: VecDeque::new() }
    }

    pub fn clear(&mut self) {
        self.list.clear();
    }
}

impl Line {
    /// How many segments are kept ready.
    fn ahead(&self) -> usize {
        let fourth = self.capacity().min(self.options.max_in_memory_segments) / 4;
        fourth.clamp(1, MOST_AHEAD) as usize
    }

    /// The segment of that number, which comes next, ready or made ready now.
    ///
    /// # Errors
    /// `Full` when there is no file for it, or what the disk says.
    pub fn take_ready(&self, number: u64) -> Result<OpenSegment> {
        if let Some(open) = self.pop_ready(number) {
            return Ok(open);
        }
        let _alone = self.preparing.lock();
        // Who held the lock may have made it.
        if let Some(open) = self.pop_ready(number) {
            return Ok(open);
        }
        self.make_next()?;
        Ok(self.pop_ready(number).expect("it was made ready"))
    }

    fn pop_ready(&self, number: u64) -> Option<OpenSegment> {
        let mut ready = self.ready.lock();
        let open = ready.list.pop_front()?;
        if ready.list.len() <= self.ahead() / 2 {
            self.prepare_bell.ring();
        }
        let base = self.segments.ring.base_of(number);
        assert_eq!(open.segment.base(), base, "segments are made ready in order");
        Some(open)
    }

    /// Makes one more segment ready, if there should be more and may be. Says whether it did.
    ///
    /// # Errors
    /// What the disk says.
    pub fn prepare(&self) -> Result<bool> {
        let _alone = self.preparing.lock();
        let (count, next) = {
            let ready = self.ready.lock();
            (ready.list.len(), ready.next)
        };
        let end = self.segments.ring.base_of(next + 1);
        if count >= self.ahead() || end.get() > self.limit.load(Ordering::Acquire) {
            return Ok(false);
        }
        self.make_next()?;
        Ok(true)
    }

    /// Makes the next segment ready. The caller holds `preparing`.
    fn make_next(&self) -> Result<()> {
        let number = self.ready.lock().next;
        let segment = match self.segments.ring.get(number) {
            Some(segment) => segment,
            None => self.new_segment(number)?,
        };
        self.fill_holes(&segment, number)?;
        self.segments.make_room_for(&segment, &|| self.scopes());
        let map = segment.map_for_writing()?;
        let writer = map.writer().expect("a segment is written by who made it ready");
        map.populate(0..segment.len_bytes(), Access::Write)?;
        segment.close_file();
        let mut ready = self.ready.lock();
        ready.next += 1;
        ready.list.push_back(OpenSegment { segment, writer });
        Ok(())
    }

    /// Fills the holes of a segment. One that holds nothing yet and finds no room is given up: the
    /// next attempt may use a file again.
    fn fill_holes(&self, segment: &Segment, number: u64) -> Result<()> {
        let is_empty = segment.base() >= self.appended.load();
        fill_holes(segment.file()?.as_ref()).inspect_err(|_| {
            if is_empty && let Err(error) = self.segments.ring.remove_from(number) {
                log::debug!("a segment without room stays: {error}");
            }
        })
    }

    /// A segment behind all others, by renaming if a file is free, else a new one.
    fn new_segment(&self, number: u64) -> Result<Arc<Segment>> {
        if let Some(segment) = self.recycle(number)? {
            return Ok(segment);
        }
        let ring = &self.segments.ring;
        if ring.files() as u64 >= self.capacity() {
            let text = "the queue is full: batches hold the files that could be used again";
            return Err(Error::new(ErrorKind::Full, text)
                .at(&self.root)
                .with_limit(self.capacity() * self.segments.segment_len));
        }
        let segment = self.supply.next(ring.base_of(number))?;
        ring.add(&segment);
        Ok(segment)
    }

    /// Renames a free file. That a file is free must be durable first: otherwise its records
    /// would be missing after a loss of power that undoes the commit.
    fn recycle(&self, number: u64) -> Result<Option<Arc<Segment>>> {
        let ring = &self.segments.ring;
        let below = self.free_below.load(Ordering::Acquire);
        if let Some(segment) = ring.recycle(below, number)? {
            return Ok(Some(segment));
        }
        let start = ring.number_of(self.readers.lock().start.position);
        if start <= below {
            return Ok(None);
        }
        self.sync_meta(false)?;
        ring.recycle(self.free_below.load(Ordering::Acquire), number)
    }
}

/// Takes every block that is not taken: a store to a map must not run out of room. Where the file
/// system cannot reserve blocks, bytes written over themselves have them.
pub fn fill_holes(file: &dyn File) -> Result<()> {
    if file.is_reserved() {
        return Ok(());
    }
    file.reserve()?;
    if file.is_reserved() {
        return Ok(());
    }
    let mut piece = vec![0; PIECE_BYTES.min(file.len_bytes()) as usize];
    for at in (0..file.len_bytes()).step_by(piece.len()) {
        let len = piece.len().min((file.len_bytes() - at) as usize);
        file.read_at(at, &mut piece[..len])?;
        file.write_at(at, &piece[..len])?;
    }
    Ok(())
}
