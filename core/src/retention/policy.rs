//! The choices a decision follows, as opposed to the facts it looks at.

use std::fmt;
use std::str::FromStr;

use super::hours::DeleteHours;
use crate::error::{Error, ErrorKind, Result};

/// What a directory is for.
///
/// ```
/// use spanlog::Role;
/// assert_eq!("draining".parse::<Role>()?, Role::Draining);
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Takes new segments.
    #[default]
    ReadWrite,
    /// Takes no new segment; those it has are served, and leave by retention. What RocketMQ
    /// calls a read-only path. Once empty, the directory can be taken off the store.
    Draining,
    /// Nothing in it changes: a mount that cannot be written. Its segments do not leave the log,
    /// so neither do those behind them: use [`Role::Draining`] unless the mount forbids it.
    ReadOnly,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::ReadWrite, Self::Draining, Self::ReadOnly];

    /// The name in configurations and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadWrite => "read-write",
            Self::Draining => "draining",
            Self::ReadOnly => "read-only",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = format!("role is {text:?}: it must be read-write, draining or read-only");
        let role = Self::ALL.into_iter().find(|role| role.name() == text);
        role.ok_or_else(|| Error::new(ErrorKind::Invalid, unknown))
    }
}

/// Of how many disks something must be true. Disks whose usage is not known do not count, so
/// they can neither trigger nor prevent anything.
///
/// ```
/// use spanlog::Quantifier;
/// assert_eq!("any".parse::<Quantifier>()?, Quantifier::Any);
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// One is enough.
    Any,
    /// Every one, and there is at least one.
    All,
}

impl Quantifier {
    /// The name in configurations and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::All => "all",
        }
    }

    /// Whether enough of `rows` fulfil `condition`: of no rows neither any nor all do.
    pub(super) fn holds<T>(self, rows: &[T], condition: impl Fn(&T) -> bool) -> bool {
        match self {
            Self::Any => rows.iter().any(condition),
            Self::All => !rows.is_empty() && rows.iter().all(condition),
        }
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Quantifier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "any" => Ok(Self::Any),
            "all" => Ok(Self::All),
            _ => {
                let message = format!("quantifier is {text:?}: it must be any or all");
                Err(Error::new(ErrorKind::Invalid, message))
            }
        }
    }
}

/// What the store wants of retention; a part of its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Of how many disks usage must be above `clean` for expired segments to leave at once.
    pub clean_on: Quantifier,
    /// Of how many writable disks usage must be above `force` for segments to be dropped
    /// regardless of age.
    pub force_on: Quantifier,
    /// Of how many writable disks usage must be above `refuse` for appends to be refused.
    pub refuse_on: Quantifier,
    /// Age of a segment's last record past which it expires, in milliseconds; 0 expires every
    /// segment but the last.
    pub retention_ms: u64,
    /// Hours of the day in which expired segments leave without any pressure.
    pub delete_hours: DeleteHours,
    /// Whether segments that are not expired may be dropped for space.
    pub forced_clean: bool,
    /// How many segments that are not expired may be dropped in one round.
    pub max_forced_per_round: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            clean_on: Quantifier::Any,
            force_on: Quantifier::All,
            refuse_on: Quantifier::All,
            retention_ms: 72 * 60 * 60 * 1000,
            delete_hours: DeleteHours::default(),
            forced_clean: true,
            max_forced_per_round: 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_there_and_back() {
        for role in Role::ALL {
            assert_eq!(role.name().parse::<Role>().unwrap(), role);
        }
        for quantifier in [Quantifier::Any, Quantifier::All] {
            assert_eq!(quantifier.name().parse::<Quantifier>().unwrap(), quantifier);
        }
        for text in ["", "Any", "readwrite", "both"] {
            assert_eq!(text.parse::<Role>().unwrap_err().kind(), ErrorKind::Invalid);
            assert_eq!(text.parse::<Quantifier>().unwrap_err().kind(), ErrorKind::Invalid);
        }
    }

    #[test]
    fn of_nothing_neither_any_nor_all_hold() {
        let rows = [
            (vec![], false, false),
            (vec![false, false], false, false),
            (vec![false, true], true, false),
            (vec![true, true], true, true),
        ];
        for (disks, any, all) in rows {
            assert_eq!(Quantifier::Any.holds(&disks, |&disk| disk), any, "{disks:?}");
            assert_eq!(Quantifier::All.holds(&disks, |&disk| disk), all, "{disks:?}");
        }
    }
}
