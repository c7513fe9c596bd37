//! The one error type. Its kind is the contract: it says what the caller can do.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::units::Position;

/// What went wrong, by what the caller should do about it. The list is fixed; new releases may
/// add a kind, never change the meaning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument or option is unusable: fix it. Nothing was changed.
    Invalid,
    /// The message is larger than a limit: split it or raise the limit. Nothing was written.
    TooLarge,
    /// No writable directory has room: wait for cleaning, or add space. Reads go on.
    Full,
    /// The range was dropped by retention: go on at [`Error::start`].
    Gone,
    /// The range lies on a directory that is not there: see [`Error::range`].
    Offline,
    /// A directory belongs to another store: give the right one.
    Foreign,
    /// Another process, or another handle of this one, has the store open.
    Locked,
    /// The files were written by a later release of spanlog.
    Version,
    /// Bytes on disk are not what was written: stop, and look at [`Error::path`] and
    /// [`Error::offset`].
    Corrupt,
    /// An operation of the system failed and changed nothing.
    Io,
    /// A flush failed earlier, so nothing more can be promised: reopen the store.
    Poisoned,
    /// The handle was closed.
    Closed,
}

impl ErrorKind {
    /// The kind's name, as the command prints it in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::TooLarge => "too_large",
            Self::Full => "full",
            Self::Gone => "gone",
            Self::Offline => "offline",
            Self::Foreign => "foreign",
            Self::Locked => "locked",
            Self::Version => "version",
            Self::Corrupt => "corrupt",
            Self::Io => "io",
            Self::Poisoned => "poisoned",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an operation failed: a kind to act on, a sentence for people, and the place.
///
/// ```
/// use spanlog::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::TooLarge, "the body is too large");
/// let error = error.with_offset(5).with_limit(4);
/// assert_eq!(error.kind(), ErrorKind::TooLarge);
/// assert_eq!(error.to_string(), "too_large: the body is too large (offset 5, limit 4)");
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    path: Option<PathBuf>,
    offset: Option<u64>,
    limit: Option<u64>,
    range: Option<Range<u64>>,
    source: Option<io::Error>,
}

/// The result of every fallible operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind`, with a sentence for people.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            path: None,
            offset: None,
            limit: None,
            range: None,
            source: None,
        }))
    }

    /// A failed operation of the system on `path`: [`ErrorKind::Full`] where the system says
    /// that there is no room, else [`ErrorKind::Io`].
    pub fn io(operation: &str, path: &Path, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
            _ => ErrorKind::Io,
        };
        let mut error = Self::new(kind, format!("cannot {operation}")).at(path);
        error.0.source = Some(source);
        error
    }

    /// Names the file or directory.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.0.path = Some(path.to_owned());
        self
    }

    /// Names the place: a byte in the file, or a position of the log.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Names the limit that was passed.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.0.limit = Some(limit);
        self
    }

    /// Names the range of the log that is concerned.
    #[must_use]
    pub fn with_range(mut self, range: Range<u64>) -> Self {
        self.0.range = Some(range);
        self
    }

    /// What the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence for people, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file or directory concerned.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The byte in the file, or the position of the log.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The limit that was passed.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.0.limit
    }

    /// The range of the log concerned: what is offline, damaged or gone.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        self.0.range.clone()
    }

    /// With [`ErrorKind::Gone`]: where the log starts now.
    #[must_use]
    pub fn start(&self) -> Option<Position> {
        if self.kind() == ErrorKind::Gone { self.0.limit.map(Position::new) } else { None }
    }

    /// The system's error number, where the system refused.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(io::Error::raw_os_error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        write!(f, "{}: {}", inner.kind, inner.message)?;
        if let Some(path) = &inner.path {
            write!(f, ": {}", path.display())?;
        }
        match (inner.offset, inner.limit) {
            (Some(offset), Some(limit)) => write!(f, " (offset {offset}, limit {limit})")?,
            (Some(offset), None) => write!(f, " (offset {offset})")?,
            (None, Some(limit)) => write!(f, " (limit {limit})")?,
            (None, None) => {}
        }
        if let Some(range) = &inner.range {
            write!(f, " (range {}..{})", range.start, range.end)?;
        }
        match &inner.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}
