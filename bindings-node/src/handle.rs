//! One store or queue, held by any number of handles, in one thread or several.

use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use spanlog::{Error, ErrorKind, Queue, Result, Store};

/// What is opened, shared and closed.
pub trait Opened: Send + Sync + 'static {
    const NAME: &'static str;

    fn close(&self) -> Result<()>;
}

impl Opened for Store {
    const NAME: &'static str = "store";

    fn close(&self) -> Result<()> {
        self.close()
    }
}

impl Opened for Queue {
    const NAME: &'static str = "queue";

    fn close(&self) -> Result<()> {
        self.close()
    }
}

/// Something open and the number of handles on it. It closes with the last of them.
pub struct Shared<T> {
    pub opened: T,
    pub token: u32,
    handles: AtomicUsize,
}

/// What is open in the process, by token, for handles in other threads.
static OPEN: Mutex<Vec<(u32, Weak<dyn Any + Send + Sync>)>> = Mutex::new(Vec::new());
static LAST_TOKEN: AtomicU32 = AtomicU32::new(0);

impl<T: Opened> Shared<T> {
    /// What was just opened, with the one handle that is about to be made.
    pub fn new(opened: T) -> Arc<Self> {
        let token = LAST_TOKEN.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let shared = Arc::new(Self { opened, token, handles: AtomicUsize::new(1) });
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, other)| other.strong_count() > 0);
        let weak: Weak<Self> = Arc::downgrade(&shared);
        open.push((token, weak));
        shared
    }

    /// What a token names, with one handle more.
    pub fn attach(token: u32) -> Result<Arc<Self>> {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().find(|(other, _)| *other == token);
        let found = found.and_then(|(_, weak)| weak.upgrade()?.downcast::<Self>().ok());
        let joined = found.filter(|shared| {
            let more = |handles| (handles > 0).then_some(handles + 1);
            shared.handles.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
        });
        joined.ok_or_else(|| closed(T::NAME))
    }

    /// Gives one handle back; whether it was the last.
    fn leave(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// A handle of one thread: its share of what is open.
pub struct Handle<T: Opened>(RefCell<Option<Arc<Shared<T>>>>);

impl<T: Opened> Handle<T> {
    pub fn new(shared: Arc<Shared<T>>) -> Self {
        Self(RefCell::new(Some(shared)))
    }

    /// What is open, unless the handle was closed.
    pub fn shared(&self) -> Result<Arc<Shared<T>>> {
        self.0.borrow().clone().ok_or_else(|| closed(T::NAME))
    }

    /// Runs `work` on it without counting it once more.
    pub fn with<R>(&self, work: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let shared = self.0.borrow();
        work(&shared.as_ref().ok_or_else(|| closed(T::NAME))?.opened)
    }

    /// Closes the handle. If it was the last one, what it returns closes what was open.
    pub fn leave(&self) -> impl FnOnce() -> Result<()> + Send + use<T> {
        let last = self.0.borrow_mut().take().filter(|shared| shared.leave());
        move || last.map_or(Ok(()), |shared| shared.opened.close())
    }
}

impl<T: Opened> Drop for Handle<T> {
    /// A handle that nobody closed counts no longer; the last one's store closes as it is dropped.
    fn drop(&mut self) {
        drop(self.leave());
    }
}

pub fn closed(what: &str) -> Error {
    Error::new(ErrorKind::Closed, format!("the {what} was closed"))
}
