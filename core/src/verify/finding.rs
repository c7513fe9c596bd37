//! What a verification tells.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// Bytes in the middle of the log that are no record, or not the one that was written.
    Record,
    /// What a crash left at the log's end: the next opening cuts it off. No damage.
    TornTail,
    /// Bytes behind the last record or unit that nobody reads. No damage.
    Leftover,
    /// A file that cannot be the segment that its name says.
    Segment,
    /// A directory, or a range of the log, that is not there.
    Missing,
    /// The device does not give the bytes.
    Unreadable,
    /// A queue's unit that does not fit the log, or is not there.
    Unit,
    /// Files of a queue that cannot be used.
    QueueFile,
    /// The store's registry.
    Registry,
    /// The store's marks.
    Marks,
    /// The queues' offsets at the last checkpoint.
    Ledger,
    /// RocketMQ's checkpoint.
    Checkpoint,
    /// An entry, slot or header of the key index that does not fit the log, or is not there.
    Key,
    /// Files of the key index that cannot be used.
    KeyFile,
    /// The file of a named consumer.
    Cursor,
}

impl FindingKind {
    /// The kind's name, as the command prints it in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::TornTail => "torn_tail",
            Self::Leftover => "leftover",
            Self::Segment => "segment",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Unit => "unit",
            Self::QueueFile => "queue_file",
            Self::Registry => "registry",
            Self::Marks => "marks",
            Self::Ledger => "ledger",
            Self::Checkpoint => "checkpoint",
            Self::Key => "key",
            Self::KeyFile => "key_file",
            Self::Cursor => "cursor",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One thing that is not as it should be, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Whether the store is damaged by it. What a crash may leave, and bytes that nobody reads,
    /// are told and are no damage.
    pub is_damage: bool,
    /// The file or directory.
    pub path: PathBuf,
    /// The first byte of the file that is concerned.
    pub offset: u64,
    /// How many bytes from there on; 0 if it is about the file as a whole.
    pub len_bytes: u64,
    /// The range of the log, where it is about the log.
    pub range: Option<Range<u64>>,
    /// A sentence for people.
    pub text: String,
}

impl Finding {
    /// Damage of the file as a whole.
    pub(super) fn new(
        kind: FindingKind,
        path: impl Into<PathBuf>,
        text: impl Into<String>,
    ) -> Self {
        let (path, text) = (path.into(), text.into());
        Self { kind, is_damage: true, path, offset: 0, len_bytes: 0, range: None, text }
    }

    /// The same about bytes of the file.
    pub(super) fn with_bytes(self, bytes: Range<u64>) -> Self {
        Self { offset: bytes.start, len_bytes: bytes.end.saturating_sub(bytes.start), ..self }
    }

    /// The same about a range of the log.
    pub(super) fn with_range(self, range: Range<u64>) -> Self {
        Self { range: Some(range), ..self }
    }

    /// The same, damage only if `is_damage`.
    pub(super) fn only_if(self, is_damage: bool) -> Self {
        Self { is_damage, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.kind, self.text, self.path.display())?;
        if self.len_bytes > 0 {
            write!(f, " (bytes {}..{})", self.offset, self.offset.saturating_add(self.len_bytes))?;
        }
        match &self.range {
            Some(range) => write!(f, " (positions {}..{})", range.start, range.end),
            None => Ok(()),
        }
    }
}

/// What a verification is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Records, and their units with them; counted in bytes of the log.
    Log,
    /// What stands in the queues behind that; counted in queues.
    Queues,
    /// Marks, ledger and checkpoint; counted in files.
    Marks,
}

impl Part {
    /// The part's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Queues => "queues",
            Self::Marks => "marks",
        }
    }
}

/// How far a verification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is at.
    pub part: Part,
    /// How much of that is done, in the part's own unit.
    pub done: u64,
    /// How much that will be.
    pub total: u64,
}
