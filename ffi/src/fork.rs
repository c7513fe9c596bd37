//! Telling a child process from the one that opened a store. The child has none of its threads
//! and shares its files, so it must neither use nor close the store: both would reach the parent's.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Error, ErrorKind};

/// How often this process is a child of one that had a handle.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// This process, as a number that a child's differs from.
#[inline]
pub fn here() -> u32 {
    static WATCH: Once = Once::new();
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    if !WATCH.is_completed() {
        WATCH.call_once(|| {
            // SAFETY: what runs in the child does nothing but add to a number.
            let refused = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            assert_eq!(refused, 0, "no memory for the fork handler");
        });
    }
    FORKS.load(Ordering::Relaxed)
}

/// What a child is told of a handle that it inherited.
#[cold]
pub fn elsewhere(name: &str) -> Error {
    let text = format!(
        "the {name} was opened before a fork: the child must open it anew, once the parent has \
         closed it"
    );
    Error::new(ErrorKind::Closed, text)
}
