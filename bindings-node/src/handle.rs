//! One store, held by any number of handles, in one thread or several.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use spanlog::{Error, ErrorKind, Result, Store};

use crate::found::Found;
use crate::notifier::Notifier;

/// An open store and the number of handles on it. It closes with the last of them.
pub struct Shared {
    pub store: Store,
    pub token: u32,
    handles: AtomicUsize,
}

/// The open stores of the process, for handles in other threads.
static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());
static LAST_TOKEN: AtomicU32 = AtomicU32::new(0);

impl Shared {
    /// A store that was just opened, with the one handle that is about to be made.
    pub fn new(store: Store) -> Arc<Self> {
        let token = LAST_TOKEN.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let shared = Arc::new(Self { store, token, handles: AtomicUsize::new(1) });
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| other.strong_count() > 0);
        open.push(Arc::downgrade(&shared));
        shared
    }

    /// The open store that a token names, with one handle more.
    pub fn attach(token: u32) -> Result<Arc<Self>> {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().filter_map(Weak::upgrade).find(|one| one.token == token);
        let joined = found.filter(|shared| {
            let more = |handles| (handles > 0).then_some(handles + 1);
            shared.handles.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
        });
        joined.ok_or_else(closed)
    }

    /// Gives one handle back; whether it was the last.
    fn leave(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// A handle of one thread: its share of a store, and what it read last.
pub struct Handle {
    shared: RefCell<Option<Arc<Shared>>>,
    /// A read's messages, until JavaScript has made room for them, and whether they are checked
    /// against their checksums then.
    found: RefCell<Option<(Found, bool)>>,
    /// Started when something is waited for.
    pub notifier: RefCell<Option<Notifier>>,
}

impl Handle {
    pub fn new(shared: Arc<Shared>) -> Self {
        let shared = RefCell::new(Some(shared));
        Self { shared, found: RefCell::default(), notifier: RefCell::default() }
    }

    /// The store, unless the handle was closed.
    pub fn shared(&self) -> Result<Arc<Shared>> {
        self.shared.borrow().clone().ok_or_else(closed)
    }

    /// Runs `work` on the store without counting it once more.
    pub fn with<T>(&self, work: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        let shared = self.shared.borrow();
        work(&shared.as_ref().ok_or_else(closed)?.store)
    }

    /// Keeps what was read.
    pub fn keep(&self, found: Found, verify: bool) {
        *self.found.borrow_mut() = Some((found, verify));
    }

    /// What was read last, once.
    pub fn take(&self) -> Option<(Found, bool)> {
        self.found.take()
    }

    /// Closes the handle. Returns the store if this was its last one, to be closed.
    pub fn leave(&self) -> Option<Arc<Shared>> {
        self.take();
        self.notifier.take();
        self.shared.borrow_mut().take().filter(|shared| shared.leave())
    }
}

impl Drop for Handle {
    /// A handle that nobody closed counts no longer; the last one's store closes as it is dropped.
    fn drop(&mut self) {
        self.leave();
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store was closed")
}
