//! Segment file names: the position of the first byte, in 20 decimal digits (`FORMAT.md`, 2).

use crate::base::units::Position;

/// How many digits a name has: as many as the largest 64-bit number.
const NAME_DIGITS: usize = 20;

/// The largest position there is: RocketMQ reads names into a signed 64-bit number.
const LARGEST: u64 = i64::MAX.unsigned_abs();

/// The name of the segment file whose first byte lies at `base`.
///
/// # Panics
/// If `base` does not fit a signed 64-bit number: no log grows that long.
#[must_use]
pub fn segment_name(base: Position) -> String {
    assert!(base.get() <= LARGEST, "a position fits a signed 64-bit number: {base}");
    format!("{:0NAME_DIGITS$}", base.get())
}

/// The position that `name` stands for, or nothing if it is not exactly 20 ASCII digits that fit
/// a signed 64-bit number. Such a file is not ours: it is neither opened nor removed.
#[must_use]
pub fn parse_segment_name(name: &str) -> Option<Position> {
    if name.len() != NAME_DIGITS || !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    name.parse().ok().filter(|&base| base <= LARGEST).map(Position::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        let rows = [
            (0, "00000000000000000000"),
            (4096, "00000000000000004096"),
            (1 << 30, "00000000001073741824"),
            (i64::MAX.unsigned_abs(), "09223372036854775807"),
        ];
        for (base, name) in rows {
            assert_eq!(segment_name(Position::new(base)), name);
            assert_eq!(parse_segment_name(name), Some(Position::new(base)), "{name}");
        }
    }

    /// What is not ours is told from what is by its name alone.
    #[test]
    fn foreign_names_are_not_ours() {
        let rows = [
            "",
            "0",
            "0000000000000000000",
            "000000000000000000000",
            "00000000000000000000.tmp",
            "+0000000000000000001",
            "-0000000000000000001",
            " 0000000000000000001",
            "0000000000000000000a",
            "09223372036854775808",
            "18446744073709551615",
            "99999999999999999999",
            "lost+found",
            ".nfs0001230000000000",
            "\u{0661}\u{0661}\u{0661}\u{0661}\u{0661}\u{0661}\u{0661}\u{0661}\u{0661}\u{0661}",
        ];
        for name in rows {
            assert_eq!(parse_segment_name(name), None, "{name:?}");
        }
    }

    #[test]
    #[should_panic(expected = "fits a signed 64-bit number")]
    fn no_name_for_a_position_that_rocketmq_cannot_read() {
        let _ = segment_name(Position::new(u64::MAX));
    }
}
