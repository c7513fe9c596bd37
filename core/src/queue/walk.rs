//! From a position to the record that stands there, over segments that come and go.

use std::sync::Arc;

use crate::base::crc::checksum;
use crate::base::units::Position;
use crate::base::watermark::Published;
use crate::disk::{Access, Map};
use crate::error::Result;
use crate::queue::meta::Mark;
use crate::record::{FRAME_ALIGN_BYTES, FRAME_HEAD_BYTES, FrameHead, frame_start};
use crate::segment::{Budget, Ring, Scopes, Segment};

/// The segments of a queue and the maps it may hold. Any thread may use it.
#[derive(Debug)]
pub struct Segments {
    /// The files.
    pub ring: Ring,
    /// The maps.
    pub budget: Arc<Budget>,
    /// Length of each file in bytes.
    pub segment_len: u64,
}

/// The segment that somebody reads: while it is held its file stays what it is.
#[derive(Debug)]
struct Held {
    number: u64,
    segment: Arc<Segment>,
    map: Arc<Map>,
}

/// One who reads records, one after the other.
#[derive(Debug, Default)]
pub struct Walk {
    held: Option<Held>,
    /// The payload of the last frame, if it lay in several segments.
    gathered: Vec<u8>,
}

/// A whole record.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What stands before the payload.
    pub head: FrameHead,
    /// Where the record ends and what comes next, not where the next one begins.
    pub next: Mark,
    /// Where the payload begins in the map of the segment that is held; nothing if it was
    /// gathered from several.
    pub payload_at: Option<u64>,
}

impl Walk {
    /// The frame at or behind `at`, where a record ended; nothing if no whole one stands there.
    /// It ends at most where `visible` does.
    ///
    /// # Errors
    /// What the disk says, and `Full` when every map is held.
    #[inline]
    pub fn frame(
        &mut self,
        segments: &Segments,
        scopes: &dyn Fn() -> Scopes,
        at: Position,
        visible: Published,
    ) -> Result<Option<Frame>> {
        let start = Position::new(frame_start(at.get(), segments.segment_len));
        if visible.end().since(start) < FRAME_HEAD_BYTES
            || !self.enter(segments, scopes, segments.ring.number_of(start))?
        {
            return Ok(None);
        }
        let held = self.held.as_ref().expect("entered above");
        let base = held.segment.base();
        let readable = visible.below(base);
        let from = start - base;
        let head_bytes = held.map.bytes(from..from + FRAME_HEAD_BYTES, readable);
        let Some(head) = head_bytes.and_then(|bytes| FrameHead::decode(bytes, start.get())) else {
            return Ok(None);
        };
        if visible.end().since(start) < head.frame_bytes() {
            return Ok(None);
        }
        let next = Mark { position: start + head.frame_bytes(), number: head.number + 1 };
        let payload = from + FRAME_HEAD_BYTES..from + FRAME_HEAD_BYTES + u64::from(head.len);
        if payload.end > segments.segment_len {
            let head_bytes: [u8; FRAME_HEAD_BYTES as usize] =
                head_bytes.and_then(|bytes| bytes.try_into().ok()).expect("a whole head");
            let is_whole = self.gather(segments, scopes, start, head.len, visible)?
                && head.is_of(&head_bytes, checksum(&self.gathered));
            return Ok(is_whole.then_some(Frame { head, next, payload_at: None }));
        }
        let bytes = held.map.bytes(payload.clone(), readable).expect("visible, as checked above");
        held.map.fetch_ahead(payload.end, head.len + FRAME_HEAD_BYTES as u32);
        let is_whole = head_bytes.is_some_and(|found| head.is_of(found, checksum(bytes)));
        Ok(is_whole.then_some(Frame { head, next, payload_at: Some(payload.start) }))
    }

    /// Collects a payload that goes on in the next segments. Says whether all of it is there.
    fn gather(
        &mut self,
        segments: &Segments,
        scopes: &dyn Fn() -> Scopes,
        start: Position,
        len: u32,
        visible: Published,
    ) -> Result<bool> {
        self.gathered.clear();
        let mut at = start + FRAME_HEAD_BYTES;
        let end = at + u64::from(len);
        // Not at once: a length is believed only as far as there are bytes.
        while at < end {
            if !self.enter(segments, scopes, segments.ring.number_of(at))? {
                return Ok(false);
            }
            let held = self.held.as_ref().expect("entered above");
            let to = end.min(held.segment.end());
            let base = held.segment.base();
            let bytes = held.map.bytes(at - base..to - base, visible.below(base));
            self.gathered.extend_from_slice(bytes.expect("visible, as the caller checked"));
            at = to;
        }
        Ok(true)
    }

    /// Holds the segment of that number, mapped and resident. Says whether it has a file.
    fn enter(
        &mut self,
        segments: &Segments,
        scopes: &dyn Fn() -> Scopes,
        number: u64,
    ) -> Result<bool> {
        if self.held.as_ref().is_some_and(|held| held.number == number) {
            return Ok(true);
        }
        self.held = None;
        let Some(segment) = segments.ring.get(number) else { return Ok(false) };
        segments.make_room_for(&segment, scopes);
        let map = segment.map()?;
        // Touching a page that cannot be read would kill the host, so the system is asked first.
        let resident = map.populate(0..segments.segment_len, Access::Read);
        resident.map_err(|error| error.at(segment.path()))?;
        self.held = Some(Held { number, segment, map });
        Ok(true)
    }

    /// The next whole record at or behind `from`, and nothing if there is none before `visible`
    /// ends.
    ///
    /// # Errors
    /// As [`Walk::frame`].
    pub fn find(
        &mut self,
        segments: &Segments,
        scopes: &dyn Fn() -> Scopes,
        from: Position,
        visible: Published,
    ) -> Result<Option<Mark>> {
        let mut at = Position::new(from.get().next_multiple_of(FRAME_ALIGN_BYTES));
        let end = visible.end().min(segments.ring.base_of(segments.ring.end()));
        while at < end {
            if let Some(frame) = self.frame(segments, scopes, at, visible)? {
                let position = Position::new(frame.head.position);
                return Ok(Some(Mark { position, number: frame.head.number }));
            }
            at += FRAME_ALIGN_BYTES;
        }
        Ok(None)
    }

    /// The map of the segment that is held.
    #[must_use]
    pub fn map(&self) -> Option<&Arc<Map>> {
        self.held.as_ref().map(|held| &held.map)
    }

    /// The payload that was gathered last.
    #[must_use]
    pub fn gathered(&self) -> &[u8] {
        &self.gathered
    }

    /// Lets go of the segment that is held unless `position` lies in it.
    pub fn leave_unless(&mut self, position: Position) {
        self.held = self.held.take().filter(|held| held.segment.covers(position));
    }

    /// Lets go of whatever is held.
    pub fn leave(&mut self) {
        self.held = None;
    }
}

impl Segments {
    /// Makes room for the map of `segment`, unless it has one.
    pub fn make_room_for(&self, segment: &Segment, scopes: &dyn Fn() -> Scopes) {
        if !segment.is_mapped() {
            self.budget.make_room(scopes, |own| self.ring.number_of(own.base()));
        }
    }
}
