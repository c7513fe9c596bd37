//! The hours of the day in which expired segments leave the log.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// A set of hours of the day, 0 to 23, in local time; RocketMQ's `deleteWhen`. Default: 4.
///
/// An hour is a time of day, not an interval: from 04:00:00 to 04:59:59 every round of cleaning
/// drops what is expired by then. Rounds are idempotent: the first drops all that is expired, the
/// next find only what expired in between. Where clocks change for summer time, an hour that is
/// left out is left out for that day, and one that comes twice counts twice; neither does harm.
///
/// The text is RocketMQ's: hours separated by `;`. An empty set is written `never`.
///
/// ```
/// use spanlog::retention::DeleteHours;
/// let hours: DeleteHours = "4;16".parse()?;
/// assert!(hours.contains(16) && !hours.contains(5));
/// assert_eq!(hours.to_string(), "04;16");
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeleteHours {
    /// Bit h stands for hour h.
    bits: u32,
}

impl DeleteHours {
    /// No hour: expired segments leave under pressure or on request alone.
    pub const NEVER: Self = Self { bits: 0 };

    /// Whether `hour` is one of them; no hour above 23 is.
    #[must_use]
    pub fn contains(self, hour: u32) -> bool {
        hour < 24 && self.bits & (1 << hour) != 0
    }

    /// The hours, ascending.
    pub fn hours(self) -> impl Iterator<Item = u32> {
        (0..24).filter(move |&hour| self.contains(hour))
    }
}

impl Default for DeleteHours {
    fn default() -> Self {
        Self { bits: 1 << 4 }
    }
}

impl fmt::Display for DeleteHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER {
            return f.write_str("never");
        }
        for (i, hour) in self.hours().enumerate() {
            let separator = if i == 0 { "" } else { ";" };
            write!(f, "{separator}{hour:02}")?;
        }
        Ok(())
    }
}

impl FromStr for DeleteHours {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "never" {
            return Ok(Self::NEVER);
        }
        let invalid = || {
            let message = format!(
                "option delete_hours is {text:?}: it must be hours from 0 to 23 separated by ';'"
            );
            Error::new(ErrorKind::Invalid, message)
        };
        text.split(';').try_fold(Self::NEVER, |set, part| {
            let hour = parse_hour(part.trim()).ok_or_else(invalid)?;
            Ok(Self { bits: set.bits | 1 << hour })
        })
    }
}

/// One or two digits below 24: `+4` and `004` are no hours.
fn parse_hour(text: &str) -> Option<u32> {
    let digits = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok().filter(|&hour| hour < 24) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(text: &str) -> Vec<u32> {
        text.parse::<DeleteHours>().unwrap().hours().collect()
    }

    /// What the time of day means.
    #[test]
    fn delete_when_table() {
        let rows: [(&str, &[u32], &str); 7] = [
            ("04", &[4], "04"),
            ("4", &[4], "04"),
            ("04;16", &[4, 16], "04;16"),
            (" 16 ; 4 ", &[4, 16], "04;16"),
            ("0;23", &[0, 23], "00;23"),
            ("4;04", &[4], "04"),
            ("never", &[], "never"),
        ];
        for (text, expected, shown) in rows {
            assert_eq!(hours(text), expected, "{text}");
            let set = text.parse::<DeleteHours>().unwrap();
            assert_eq!(set.to_string(), shown);
            assert_eq!(shown.parse::<DeleteHours>().unwrap(), set);
        }
    }

    /// These throw inside RocketMQ's timer; here they never get that far.
    #[test]
    fn bad_delete_when_rejected_at_open() {
        let rows = [
            "", " ", "24", "-1", "+4", "04:30", "04,16", "four", "4;", ";4", "4;;16", "004", "4.0",
        ];
        for text in rows {
            let error = text.parse::<DeleteHours>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{text:?}");
            assert!(error.message().contains("delete_hours"), "{error}");
        }
    }

    #[test]
    fn an_hour_begins_and_ends_on_the_hour() {
        let set = DeleteHours::default();
        let rows = [("03:59:59", false), ("04:00:00", true), ("04:59:59", true), ("05:00", false)];
        for (time, inside) in rows {
            let hour = time[..2].parse().unwrap();
            assert_eq!(set.contains(hour), inside, "{time}");
        }
        assert!((24..70).all(|hour| !set.contains(hour)));
    }
}
