//! What a command ends with when it does not succeed: an exit code, a sentence, a place.

use std::error::Error as _;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::json;
use spanlog::{Error, ErrorKind};

/// The result of everything a command does.
pub type Outcome<T> = Result<T, Failure>;

/// Why a command ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The store says so.
    Store(ErrorKind),
    /// The command line is not one.
    Usage,
    /// Something outside of the store failed.
    Other,
    /// The store is damaged, which has been told.
    Damaged,
    /// A signal asked to stop.
    Interrupted,
    /// Whoever read the output had enough. Nothing is said about it.
    OutputClosed,
    /// As before, but there was work left to do.
    OutputClosedEarly,
}

/// Exit codes by kind of error, as the help lists them. Never renumber: scripts rely on them.
pub const STORE_CODES: [(ErrorKind, u8); 12] = [
    (ErrorKind::Invalid, 3),
    (ErrorKind::TooLarge, 4),
    (ErrorKind::Full, 5),
    (ErrorKind::Gone, 6),
    (ErrorKind::Offline, 7),
    (ErrorKind::Foreign, 8),
    (ErrorKind::Locked, 9),
    (ErrorKind::Version, 10),
    (ErrorKind::Corrupt, 11),
    (ErrorKind::Io, 12),
    (ErrorKind::Poisoned, 13),
    (ErrorKind::Closed, 14),
];

impl Cause {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Store(kind) => {
                STORE_CODES.iter().find(|row| row.0 == kind).map_or(1, |&(_, code)| code)
            }
            Self::Usage => 2,
            Self::Other | Self::Damaged | Self::OutputClosedEarly => 1,
            Self::Interrupted => 130,
            Self::OutputClosed => 0,
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Store(kind) => kind.name(),
            Self::Usage => "usage",
            Self::Other => "other",
            Self::Damaged => "damaged",
            Self::Interrupted => "interrupted",
            Self::OutputClosed | Self::OutputClosedEarly => "output_closed",
        }
    }

    fn is_quiet(self) -> bool {
        matches!(self, Self::Damaged | Self::OutputClosed | Self::OutputClosedEarly)
    }

    /// What a person can do about it.
    fn hint(self) -> Option<&'static str> {
        let Self::Store(kind) = self else { return None };
        match kind {
            ErrorKind::Full => Some("`spanlog disks` shows the disks, `spanlog clean` makes room"),
            _ => None,
        }
    }
}

/// Why and where a command failed.
#[derive(Debug)]
pub struct Failure {
    /// What decides the exit code.
    pub cause: Cause,
    message: String,
    path: Option<PathBuf>,
    offset: Option<u64>,
    limit: Option<u64>,
    range: Option<Range<u64>>,
}

impl Failure {
    fn new(cause: Cause, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { cause, message, path: None, offset: None, limit: None, range: None }
    }

    /// The command line is not one.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Cause::Usage, message)
    }

    /// A file outside of the store cannot be used.
    pub fn file(operation: &str, path: &Path, error: &io::Error) -> Self {
        let failure = Self::new(Cause::Other, format!("cannot {operation}: {error}"));
        Self { path: Some(path.to_owned()), ..failure }
    }

    /// Something outside of the store failed.
    pub fn other(operation: &str, error: &io::Error) -> Self {
        Self::new(Cause::Other, format!("cannot {operation}: {error}"))
    }

    /// The store is damaged; what it is was told.
    pub fn damaged() -> Self {
        Self::new(Cause::Damaged, "the store is damaged")
    }

    /// A signal came; `done` says how far the command got.
    pub fn interrupted(done: impl Into<String>) -> Self {
        Self::new(Cause::Interrupted, done)
    }

    /// A failed write to standard output.
    pub fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Cause::OutputClosed, "the output was closed"),
            _ => Self::other("write the output", error),
        }
    }

    /// A closed output is not the end of the work: then it is a failure after all.
    pub fn while_working(mut self) -> Self {
        if self.cause == Cause::OutputClosed {
            self.cause = Cause::OutputClosedEarly;
        }
        self
    }

    /// Says what the command was at.
    pub fn during(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Tells what is wrong on standard error and gives the exit code.
    pub fn report(&self, json: bool) -> ExitCode {
        if !self.cause.is_quiet() {
            let text = if json { self.to_json().to_string() } else { self.to_text() };
            // Where standard error is closed, the exit code still tells.
            let _ = writeln!(anstream::stderr(), "{text}");
        }
        ExitCode::from(self.cause.code())
    }

    /// The error as one object.
    pub fn to_json(&self) -> serde_json::Value {
        let range =
            self.range.as_ref().map(|range| json!({"start": range.start, "end": range.end}));
        json!({"error": {
            "kind": self.cause.name(),
            "message": self.message,
            "path": self.path.as_ref().map(|path| path.to_string_lossy()),
            "offset": self.offset,
            "limit": self.limit,
            "range": range,
        }})
    }

    /// What a person can do about it.
    fn hint(&self) -> Option<&'static str> {
        if self.message.contains("damaged below what was flushed") {
            return Some("--on-damage skip serves both sides of damage");
        }
        if self.message.contains("the record is damaged") {
            return Some("`spanlog read --verify` goes on behind damage");
        }
        if self.message.contains("is not there: ") || self.message.contains("are missing") {
            return Some("--allow-offline serves what is there");
        }
        self.cause.hint()
    }

    fn to_text(&self) -> String {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let mut text = format!("{red}error:{red:#} {self}");
        if let Some(hint) = self.hint() {
            text += &format!("\n  hint: {hint}");
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Cause::Store(kind) = self.cause {
            write!(f, "{kind}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(path) = &self.path {
            write!(f, ": {}", path.display())?;
        }
        let numbers = [("offset", self.offset), ("limit", self.limit)];
        for (name, number) in numbers {
            if let Some(number) = number {
                write!(f, " ({name} {number})")?;
            }
        }
        match &self.range {
            Some(range) => write!(f, " (range {}..{})", range.start, range.end),
            None => Ok(()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = match error.source() {
            Some(source) => format!("{}: {source}", error.message()),
            None => error.message().to_owned(),
        };
        Self {
            cause: Cause::Store(error.kind()),
            message,
            path: error.path().map(Path::to_owned),
            offset: error.offset(),
            limit: error.limit(),
            range: error.range(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        let mut codes: Vec<u8> = STORE_CODES.iter().map(|row| row.1).collect();
        codes.extend([Cause::Usage.code(), Cause::Other.code(), Cause::Interrupted.code(), 0]);
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn an_error_keeps_its_place() {
        let error = Error::new(ErrorKind::Corrupt, "the record is damaged")
            .at(Path::new("/d/0"))
            .with_offset(7)
            .with_limit(9)
            .with_range(7..8);
        let failure = Failure::from(error).during("line 3");
        let json = failure.to_json();
        assert_eq!(json["error"]["kind"], "corrupt");
        assert_eq!(json["error"]["message"], "line 3: the record is damaged");
        assert_eq!(json["error"]["path"], "/d/0");
        assert_eq!(json["error"]["offset"], 7);
        assert_eq!(json["error"]["range"]["end"], 8);
        let text = "corrupt: line 3: the record is damaged: /d/0 (offset 7) (limit 9) (range 7..8)";
        assert_eq!(failure.to_string(), text);
    }

    #[test]
    fn a_closed_pipe_is_quiet() {
        let pipe = Failure::output(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(pipe.cause.is_quiet() && pipe.cause.code() == 0);
        assert_eq!(pipe.while_working().cause.code(), 1);
        let full = Failure::output(&io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.cause, Cause::Other);
    }
}
