//! Telling a child process from the one that opened a store. The child has none of its threads
//! and shares its files, so it must neither use nor close the store: both would reach the parent's.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Error, ErrorKind, Result};

/// How often this process is a child of one that had a store open.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process that something was made in.
#[derive(Clone, Copy, Debug)]
pub struct Birthplace(u32);

impl Birthplace {
    /// This process.
    pub fn here() -> Self {
        static WATCH: Once = Once::new();
        extern "C" fn in_child() {
            FORKS.fetch_add(1, Ordering::Relaxed);
        }
        WATCH.call_once(|| {
            // SAFETY: what runs in the child does nothing but add to a number.
            let refused = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            assert_eq!(refused, 0, "no memory for the fork handler");
        });
        Self(FORKS.load(Ordering::Relaxed))
    }

    pub fn is_here(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.0
    }

    /// # Errors
    /// `Closed` in a child.
    #[inline]
    pub fn check(self) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(elsewhere()) }
    }
}

#[cold]
fn elsewhere() -> Error {
    let text = "the store was opened before a fork: the child must open it anew, once the \
                parent has closed it";
    Error::new(ErrorKind::Closed, text)
}
