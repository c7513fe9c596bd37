//! The consume queue's unit: 20 bytes, RocketMQ's (`FORMAT.md`, section 4).

use crate::base::bytes;
use crate::base::units::Position;
use crate::record::MessageView;

/// Length of a unit in bytes.
pub const UNIT_BYTES: u64 = 20;

/// RocketMQ's size in a unit that only fills a hole.
const FILLER_SIZE: i32 = i32::MAX;

/// Where a queue's message is in the log, and what its tag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Where the record begins.
    pub position: Position,
    /// Length of the whole record in bytes.
    pub size: u32,
    /// Java's hash of the tags, or the delivery time in the delay topic.
    pub tag_code: i64,
}

impl Unit {
    /// The unit that fills a hole: a queue that begins above a file's start, or a lost range.
    pub const FILLER: Self =
        Self { position: Position::ZERO, size: FILLER_SIZE.unsigned_abs(), tag_code: 0 };

    /// The unit of a record.
    #[must_use]
    pub fn of(view: &MessageView<'_>) -> Self {
        Self {
            position: Position::new(view.position()),
            size: view.size(),
            tag_code: view.tag_code(),
        }
    }

    /// Whether it points to nothing.
    #[must_use]
    pub fn is_filler(self) -> bool {
        self.size == Self::FILLER.size
    }

    /// The position after the record.
    #[must_use]
    pub fn end(self) -> Position {
        self.position + u64::from(self.size)
    }

    /// The unit's bytes.
    #[must_use]
    pub fn encode(self) -> [u8; UNIT_BYTES as usize] {
        let mut out = [0; UNIT_BYTES as usize];
        bytes::put(&mut out, 0, &self.position.get().to_be_bytes());
        bytes::put(&mut out, 8, &self.size.to_be_bytes());
        bytes::put(&mut out, 12, &self.tag_code.to_be_bytes());
        out
    }

    /// Reads a unit; nothing where none was ever written (size zero or negative).
    #[must_use]
    pub fn decode(from: &[u8]) -> Option<Self> {
        let position = u64::try_from(bytes::read_i64(from, 0)?).ok()?;
        let size = u32::try_from(bytes::read_i32(from, 8)?).ok().filter(|&size| size > 0)?;
        let tag_code = bytes::read_i64(from, 12)?;
        Some(Self { position: Position::new(position), size, tag_code })
    }
}

/// Gives the units among `bytes` that may be of a message with one of these tag codes to `visit`,
/// each with its number. What is no hash, such as the address of RocketMQ's extended units, and
/// what was never written may be anything.
pub(super) fn visit_tagged(bytes: &[u8], codes: &[i32], visit: &mut dyn FnMut(u64, &[u8])) {
    // With a single tag, as usual, the loop has nothing to look up.
    if let &[code] = codes {
        return visit_where(bytes, &|found| found == code, visit);
    }
    visit_where(bytes, &|found| codes.contains(&found), visit);
}

#[inline]
fn visit_where(bytes: &[u8], is_wanted: &impl Fn(i32) -> bool, visit: &mut dyn FnMut(u64, &[u8])) {
    let (units, _) = bytes.as_chunks::<{ UNIT_BYTES as usize }>();
    for (number, unit) in (0..).zip(units) {
        let word =
            |at: usize| i32::from_be_bytes([unit[at], unit[at + 1], unit[at + 2], unit[at + 3]]);
        let (size, high, code) = (word(8), word(12), word(16));
        if is_wanted(code) || size <= 0 || high != code >> 31 {
            visit(number, unit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_format() {
        let unit = Unit { position: Position::new(0x4000_0000), size: 0xA7, tag_code: 2_598_919 };
        let bytes = [0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0xA7, 0, 0, 0, 0, 0, 0x27, 0xA8, 0x07];
        assert_eq!(unit.encode(), bytes);
        assert_eq!(Unit::decode(&bytes), Some(unit));
        assert_eq!(Unit::FILLER.encode()[8..12], [0x7F, 0xFF, 0xFF, 0xFF]);
        assert!(Unit::decode(&Unit::FILLER.encode()).is_some_and(Unit::is_filler));
    }

    #[test]
    fn what_was_never_written_is_no_unit() {
        assert_eq!(Unit::decode(&[0; 20]), None);
        assert_eq!(Unit::decode(&[0xFF; 20]), None);
        assert_eq!(Unit::decode(&[0; 19]), None);
    }

    #[test]
    fn only_units_that_may_match_are_visited() {
        let unit = |tag_code| Unit { position: Position::new(9), size: 99, tag_code }.encode();
        let never = [0; UNIT_BYTES as usize];
        let rows =
            [unit(7), unit(-7), unit(8), unit(1 << 40), never, unit(7), Unit::FILLER.encode()];
        let found = |codes: &[i32]| {
            let mut found = Vec::new();
            visit_tagged(&rows.concat(), codes, &mut |at, unit| {
                assert_eq!(unit, rows[at as usize]);
                found.push(at);
            });
            found
        };
        assert_eq!(found(&[7]), [0, 3, 4, 5]);
        assert_eq!(found(&[-7, 8]), [1, 2, 3, 4]);
        assert_eq!(found(&[0]), [3, 4, 6], "a filler is told from messages later on");
    }
}
