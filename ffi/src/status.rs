//! The outcome of a call, as a number that never changes its meaning.

use std::ffi::{CStr, c_char};

use engine::ErrorKind;

/// The outcome of a call. 0 is success, a positive number is no error but not the usual outcome
/// either, a negative number is an error. Numbers are never reused; later releases may add some,
/// so treat an unknown negative number as an error like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum spanlog_status {
    /// Done.
    Ok = 0,
    /// Nothing there: no message to read now, or no more of what was asked for.
    End = 1,
    /// The time to wait is over, and what was waited for did not happen.
    Timeout = 2,
    /// The caller's buffer is too small for the first message; how much it needs is told.
    TooSmall = 3,
    /// An argument or option is unusable: fix it. Nothing was changed.
    Invalid = -1,
    /// The message is larger than a limit: split it or raise the limit. Nothing was written.
    TooLarge = -2,
    /// No writable directory has room: wait for cleaning, or add space. Reads go on.
    Full = -3,
    /// The range was dropped by retention: go on where spanlog_error_limit() says.
    Gone = -4,
    /// The range lies on a directory that is not there.
    Offline = -5,
    /// A directory belongs to another store: give the right one.
    Foreign = -6,
    /// Another process, or another handle of this one, has the store open.
    Locked = -7,
    /// The files were written by a later release of spanlog.
    Version = -8,
    /// Bytes on disk are not what was written; spanlog_error_path() and spanlog_error_offset()
    /// say where.
    Corrupt = -9,
    /// An operation of the system failed and changed nothing; spanlog_error_errno() says why.
    Io = -10,
    /// A flush failed earlier, or a call broke off in the middle, so nothing more can be promised:
    /// close and reopen the store.
    Poisoned = -11,
    /// The handle was closed or freed, or was never one of this process.
    Closed = -12,
    /// A defect of spanlog: a call broke off. A store that was being changed is poisoned.
    Internal = -99,
}

use spanlog_status as Status;

impl Status {
    pub(crate) const ALL: [Self; 17] = [
        Self::Ok,
        Self::End,
        Self::Timeout,
        Self::TooSmall,
        Self::Invalid,
        Self::TooLarge,
        Self::Full,
        Self::Gone,
        Self::Offline,
        Self::Foreign,
        Self::Locked,
        Self::Version,
        Self::Corrupt,
        Self::Io,
        Self::Poisoned,
        Self::Closed,
        Self::Internal,
    ];

    pub(crate) fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Invalid => Self::Invalid,
            ErrorKind::TooLarge => Self::TooLarge,
            ErrorKind::Full => Self::Full,
            ErrorKind::Gone => Self::Gone,
            ErrorKind::Offline => Self::Offline,
            ErrorKind::Foreign => Self::Foreign,
            ErrorKind::Locked => Self::Locked,
            ErrorKind::Version => Self::Version,
            ErrorKind::Corrupt => Self::Corrupt,
            ErrorKind::Io => Self::Io,
            ErrorKind::Poisoned => Self::Poisoned,
            ErrorKind::Closed => Self::Closed,
            // A kind that this file does not know yet: the test below finds it.
            _ => Self::Internal,
        }
    }

    /// Whether the same call may succeed later without anybody fixing anything.
    pub(crate) fn is_retriable(self) -> bool {
        matches!(self, Self::Full | Self::Locked | Self::Offline)
    }

    /// Whether the handle is of no use any more.
    pub(crate) fn is_fatal(self) -> bool {
        matches!(self, Self::Poisoned | Self::Closed | Self::Version | Self::Internal)
    }

    fn name(self) -> &'static CStr {
        match self {
            Self::Ok => c"ok",
            Self::End => c"end",
            Self::Timeout => c"timeout",
            Self::TooSmall => c"too_small",
            Self::Invalid => c"invalid",
            Self::TooLarge => c"too_large",
            Self::Full => c"full",
            Self::Gone => c"gone",
            Self::Offline => c"offline",
            Self::Foreign => c"foreign",
            Self::Locked => c"locked",
            Self::Version => c"version",
            Self::Corrupt => c"corrupt",
            Self::Io => c"io",
            Self::Poisoned => c"poisoned",
            Self::Closed => c"closed",
            Self::Internal => c"internal",
        }
    }
}

/// The name of a status, such as "full"; "unknown" for a number that is none. The text is static.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_status_name(status: i32) -> *const c_char {
    let known = Status::ALL.into_iter().find(|known| *known as i32 == status);
    known.map_or(c"unknown", Status::name).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [ErrorKind; 12] = [
        ErrorKind::Invalid,
        ErrorKind::TooLarge,
        ErrorKind::Full,
        ErrorKind::Gone,
        ErrorKind::Offline,
        ErrorKind::Foreign,
        ErrorKind::Locked,
        ErrorKind::Version,
        ErrorKind::Corrupt,
        ErrorKind::Io,
        ErrorKind::Poisoned,
        ErrorKind::Closed,
    ];

    #[test]
    fn every_kind_of_error_has_a_number_and_its_own_name() {
        for (at, kind) in KINDS.into_iter().enumerate() {
            let status = Status::of(kind);
            assert_eq!(status as i32, -1 - i32::try_from(at).unwrap(), "{kind}");
            assert_eq!(status.name().to_str().unwrap(), kind.name());
        }
    }

    #[test]
    fn a_number_that_is_no_status_is_unknown() {
        // SAFETY: the text is static and ends with NUL.
        let name = |status| unsafe { CStr::from_ptr(spanlog_status_name(status)) };
        assert_eq!(name(-3), c"full");
        for unknown in [4, -13, i32::MIN, i32::MAX] {
            assert_eq!(name(unknown), c"unknown");
        }
    }
}
