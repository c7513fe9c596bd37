//! Descriptors that become readable when something happens, and deadlines.

use std::fs::File as SystemFile;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use super::calls;
use crate::disk::failed;
use crate::error::Result;

/// An event descriptor of the system (`eventfd`): a host waits for it with `poll` or `epoll`
/// beside its sockets. Readable from [`Event::raise`] until [`Event::lower`].
#[derive(Debug)]
pub struct Event(SystemFile);

impl Event {
    /// A new one, not raised.
    ///
    /// # Errors
    /// `Io` if the system gives no descriptor.
    pub fn new() -> Result<Self> {
        let opened = calls::event().map_err(failed("make a descriptor", Path::new("eventfd")))?;
        Ok(Self(SystemFile::from(opened)))
    }

    /// Makes the descriptor readable.
    pub fn raise(&self) {
        // A number that is not zero in any order of bytes. It can only fail where the counter is
        // full, and then it is raised.
        let outcome = (&self.0).write(&[0, 0, 0, 0, 0, 0, 0, 1]);
        debug_assert!(outcome.is_ok() || is_full(&outcome));
    }

    /// Makes the descriptor wait for the next event.
    pub fn lower(&self) {
        // It can only fail where it was not raised.
        let outcome = (&self.0).read(&mut [0; 8]);
        debug_assert!(outcome.is_ok() || is_full(&outcome));
    }

    /// The descriptor, to be polled for reading and nothing else.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn is_full(outcome: &io::Result<usize>) -> bool {
    outcome.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// A moment until which somebody waits, by a clock that nobody sets.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// So long from now; what no clock reaches is never.
    #[must_use]
    pub fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    /// How long it is until then; zero once it has passed.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.0.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }
}
