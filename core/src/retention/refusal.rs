//! Why appends are refused, in full: a message that tells what to do.

use std::fmt;
use std::path::Path;

use super::marks::{Pressure, Thresholds, Usage};
use super::policy::Role;
use crate::error::{Error, ErrorKind};

/// Which limit fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Too many of the writable disks are above their refuse mark.
    DisksFull,
    /// The disk of the root directory, which holds the queues, is above its refuse mark.
    RootFull,
    /// No directory that is online may take new segments, full or not.
    NoWritableDirectory,
}

impl Cause {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DisksFull => "disks_full",
            Self::RootFull => "root_full",
            Self::NoWritableDirectory => "no_writable_directory",
        }
    }

    /// The sentence in front of the figures.
    fn sentence(self) -> &'static str {
        match self {
            Self::DisksFull => "appends are refused, the limit \"refuse\" fired",
            Self::RootFull => {
                "appends are refused, the limit \"refuse\" fired on the disk of the root directory"
            }
            Self::NoWritableDirectory => "appends are refused, no directory may take a new segment",
        }
    }
}

/// The state of one directory when appends were refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedDirectory {
    /// Its path.
    pub path: String,
    /// What it is for.
    pub role: Role,
    /// Whether it is there.
    pub online: bool,
    /// Whether it is the root directory.
    pub is_root: bool,
    /// What its disk reports, if known.
    pub usage: Option<Usage>,
    /// The limits of its disk.
    pub thresholds: Thresholds,
    /// The highest mark in force.
    pub pressure: Pressure,
}

impl fmt::Display for RefusedDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_root { "root " } else { "" }, self.path)?;
        match (self.online, self.role, self.usage) {
            (false, ..) => f.write_str(" is offline"),
            (_, Role::Draining | Role::ReadOnly, _) if !self.is_root => {
                write!(f, " is {}", self.role)
            }
            (.., None) => f.write_str(": usage not known"),
            (.., Some(usage)) => self.figures(usage, f),
        }
    }
}

impl RefusedDirectory {
    /// Used ratio, free bytes, mark; and where the mark is no longer passed but still in force,
    /// where that ends.
    fn figures(&self, usage: Usage, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, free) = (usage.used_ratio() * 100.0, usage.available_bytes());
        let refuse = self.thresholds.refuse * 100.0;
        write!(f, ": {used:.2}% used, {free} bytes free, refuse above {refuse:.2}%")?;
        if self.pressure == Pressure::Refuse {
            write!(f, " until {:.2}%", self.thresholds.release(Pressure::Refuse) * 100.0)?;
        }
        Ok(())
    }
}

/// Why appends are refused. Reads go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Which limit fired.
    pub cause: Cause,
    /// The directories with their figures: all, and the root where its disk is above refuse.
    pub directories: Vec<RefusedDirectory>,
}

impl Refusal {
    /// The directories above their refuse mark.
    pub fn full(&self) -> impl Iterator<Item = &RefusedDirectory> {
        self.directories.iter().filter(|directory| directory.pressure == Pressure::Refuse)
    }

    /// The error an append gets: [`ErrorKind::Full`], with the path where one directory alone is
    /// to blame.
    #[must_use]
    pub fn to_error(&self) -> Error {
        let error = Error::new(ErrorKind::Full, self.to_string());
        let mut full = self.full();
        match (full.next(), full.next()) {
            (Some(only), None) => error.at(Path::new(&only.path)),
            _ => error,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cause.sentence())?;
        for (i, directory) in self.directories.iter().enumerate() {
            write!(f, "{}{directory}", if i == 0 { ": " } else { "; " })?;
        }
        Ok(())
    }
}
