//! A line cut into files: an ordered, immutable list that is replaced as a whole.

use std::ops::Range;
use std::sync::Arc;

use crate::base::sync::RwLock;
use crate::base::units::Position;
use crate::segment::Segment;

/// The segments of one line, in order. Readers take a snapshot and meet whoever changes the list
/// only while that is replaced; a snapshot stays true for its segments, whatever is added or
/// dropped meanwhile.
#[derive(Debug, Default)]
pub struct Chain {
    list: RwLock<Arc<Vec<Arc<Segment>>>>,
}

/// The segments as they were at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<Vec<Arc<Segment>>>);

impl Chain {
    /// A chain of `segments`, which are in order and do not overlap. There may be gaps: ranges
    /// on a directory that is not there.
    #[must_use]
    pub fn new(segments: Vec<Arc<Segment>>) -> Self {
        assert_ordered(&segments);
        Self { list: RwLock::new(Arc::new(segments)) }
    }

    /// The segments as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Arc::clone(&self.list.read()))
    }

    /// Adds a segment behind the last.
    pub fn push(&self, segment: Arc<Segment>) {
        let mut list = self.list.write();
        let mut segments = list.as_ref().clone();
        segments.push(segment);
        assert_ordered(&segments);
        *list = Arc::new(segments);
    }

    /// Takes off and returns the segments that lie wholly below `start`.
    pub fn drop_before(&self, start: Position) -> Vec<Arc<Segment>> {
        let mut list = self.list.write();
        let count = list.partition_point(|segment| segment.end() <= start);
        let mut segments = list.as_ref().clone();
        let dropped = segments.drain(..count).collect();
        *list = Arc::new(segments);
        dropped
    }

    /// Takes off and returns the segments that begin at or after `end`.
    pub fn cut_after(&self, end: Position) -> Vec<Arc<Segment>> {
        let mut list = self.list.write();
        let count = list.partition_point(|segment| segment.base() < end);
        let mut segments = list.as_ref().clone();
        let cut = segments.split_off(count);
        *list = Arc::new(segments);
        cut
    }
}

impl Snapshot {
    /// All segments, in order.
    #[must_use]
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.0
    }

    /// The segment that covers `position`, if there is one.
    #[must_use]
    pub fn find(&self, position: Position) -> Option<&Arc<Segment>> {
        let after = self.0.partition_point(|segment| segment.base() <= position);
        self.0.get(after.checked_sub(1)?).filter(|segment| segment.covers(position))
    }

    /// The first segment that ends after `position`: the one that covers it, or the next one
    /// behind a gap.
    #[must_use]
    pub fn from(&self, position: Position) -> Option<&Arc<Segment>> {
        self.0.get(self.0.partition_point(|segment| segment.end() <= position))
    }

    /// The last segment.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<Segment>> {
        self.0.last()
    }

    /// The ranges between neighbours that no segment covers.
    #[must_use]
    pub fn gaps(&self) -> Vec<Range<Position>> {
        self.0
            .windows(2)
            .filter(|pair| pair[0].end() < pair[1].base())
            .map(|pair| pair[0].end()..pair[1].base())
            .collect()
    }

    /// The ranges of `line` that no segment covers: as the gaps, and at both ends.
    #[must_use]
    pub fn holes(&self, line: Range<Position>) -> Vec<Range<Position>> {
        let mut holes = Vec::new();
        let mut at = line.start;
        for segment in self.0.iter() {
            if at < segment.base() {
                holes.push(at..segment.base());
            }
            at = at.max(segment.end());
        }
        if at < line.end {
            holes.push(at..line.end);
        }
        holes
    }
}

fn assert_ordered(segments: &[Arc<Segment>]) {
    let ordered = segments.windows(2).all(|pair| pair[0].end() <= pair[1].base());
    assert!(ordered, "the segments of a chain are in order and do not overlap");
}
