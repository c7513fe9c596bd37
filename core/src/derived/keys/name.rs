//! Names of index files: the time at which they were made, in 17 digits `yyyyMMddHHmmssSSS`.
//!
//! RocketMQ takes local time; here it is UTC, and a file's name is always above those before it,
//! since their order is the files' order.

/// How many digits a name has.
const NAME_DIGITS: usize = 17;

const DAY_MS: u64 = 86_400_000;

/// Some 7,900 years from 1970 on: the last time whose year has four digits.
const LAST_MS: i64 = 253_402_300_799_999;

/// The number of a file made at `now_ms` since 1970, above the numbers before it.
pub(super) fn index_number(now_ms: i64, before: Option<u64>) -> u64 {
    let now = digits_of(now_ms.clamp(0, LAST_MS) as u64);
    before.map_or(now, |before| now.max(before + 1))
}

/// The name of the file of that number.
pub(super) fn index_name(number: u64) -> String {
    format!("{number:0NAME_DIGITS$}")
}

/// The number in a name; nothing for a file that is no index file.
pub(super) fn parse_index_name(name: &str) -> Option<u64> {
    let is_one = name.len() == NAME_DIGITS && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|_| is_one)
}

/// The calendar's digits, read as one number. Years are counted from March, so that the leap day
/// comes last (Hinnant's `civil_from_days`).
fn digits_of(ms: u64) -> u64 {
    let days = ms / DAY_MS + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month < 10 {
        true => (era * 400 + year, month + 3),
        false => (era * 400 + year + 1, month - 9),
    };
    let (seconds, millis) = (ms % DAY_MS / 1000, ms % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let date = (year * 100 + month) * 100 + day_of_month;
    (((date * 100 + hour) * 100 + minute) * 100 + second) * 1000 + millis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_calendar_times() {
        let rows = [
            (0, "19700101000000000"),
            (951_782_400_000, "20000229000000000"),
            (1_700_000_000_123, "20231114221320123"),
            (1_709_251_199_999, "20240229235959999"),
            (i64::MIN, "19700101000000000"),
            (i64::MAX, "99991231235959999"),
        ];
        for (ms, name) in rows {
            assert_eq!(index_name(index_number(ms, None)), name);
            assert_eq!(parse_index_name(name), Some(index_number(ms, None)));
        }
    }

    /// A clock that steps back, or another time zone, must not turn the files' order round.
    #[test]
    fn a_name_is_above_those_before_it() {
        let before = 20_231_114_221_320_123;
        assert_eq!(index_number(0, Some(before)), before + 1);
        assert_eq!(index_number(1_700_000_000_123, Some(before)), before + 1);
        assert_eq!(index_number(1_700_000_000_124, Some(before)), before + 1);
    }

    #[test]
    fn other_names_are_none() {
        for name in ["", "2023111422132012", "202311142213201234", "2023111422132012x"] {
            assert_eq!(parse_index_name(name), None, "{name}");
        }
    }
}
