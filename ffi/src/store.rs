//! The store handle: opening, closing, and what waits for the disk.

use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Error, ErrorKind, Result, Store, Task};

use crate::error::spanlog_error;
use crate::guard::{answer, done, invalid};
use crate::handle::{Held, Table};
use crate::input::{choice, path};
use crate::options::spanlog_options;
use crate::output::{place, put};
use crate::status::spanlog_status;

/// An open store. Any thread may call any function with it at any time; appends take turns.
pub struct spanlog_store {
    _opaque: [u8; 0],
}

/// What a store handle stands for.
pub struct Open {
    store: Store,
    /// Set when a call that changes the store broke off in the middle.
    broken: AtomicBool,
}

static STORES: Table<Box<Open>> = Table::new(2, "store");

/// The store, for calls that change nothing.
#[inline]
pub fn store(handle: *const spanlog_store) -> Result<Held<'static, Box<Open>>> {
    STORES.get_own(handle)
}

impl Open {
    #[inline]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Runs a call that changes the store; if it panics, no other does from then on.
    #[inline]
    pub fn change<T>(&self, call: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        if self.broken.load(Ordering::Relaxed) {
            let text = "an earlier call broke off in the middle: close and reopen the store";
            return Err(Error::new(ErrorKind::Poisoned, text));
        }
        let breaks = Breaks(&self.broken);
        let outcome = call(&self.store);
        std::mem::forget(breaks);
        outcome
    }
}

/// Dropped by a panic alone.
struct Breaks<'a>(&'a AtomicBool);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Opens the store at `root`, or makes one, and writes its handle to `store`. `options` may be
/// NULL for the defaults. To be closed with spanlog_store_close().
///
/// SPANLOG_STATUS_INVALID for options that cannot be; SPANLOG_STATUS_LOCKED if somebody has it
/// open; SPANLOG_STATUS_OFFLINE for a directory or range that is not there;
/// SPANLOG_STATUS_FOREIGN for a directory of another store; SPANLOG_STATUS_CORRUPT for damage below
/// what was flushed; SPANLOG_STATUS_VERSION; SPANLOG_STATUS_FULL and SPANLOG_STATUS_IO. A failed
/// open holds nothing and has changed no record. It may take long after a crash.
///
/// # Safety
/// `root` ends with NUL; `options` is NULL or as long as it says, and its pointers lead to what
/// they say; `store` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_open(
    root: *const c_char,
    options: *const spanlog_options,
    store: *mut *mut spanlog_store,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(store, "store")?;
        // SAFETY: the caller promises it.
        let root = unsafe { path(root, "root") }?;
        // SAFETY: the caller promises it.
        let options = unsafe { crate::options::options(options) }?;
        let open = Open { store: Store::open(root, options)?, broken: false.into() };
        let handle = STORES.put(Box::new(open))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Closes the store and frees the handle, also when it fails: then the status says what kept the
/// store from closing cleanly, and the next opening recovers. Calls of other threads with the
/// handle end first, those that wait at once; later ones are answered with
/// SPANLOG_STATUS_CLOSED. Batches stay valid. NULL is passed over. In a child process of the one
/// that opened it, the handle is given up without touching the store.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_close(
    store: *mut spanlog_store,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        if store.is_null() {
            return Ok(());
        }
        if STORES.is_inherited(store) {
            // Its locks and its threads are the parent's.
            std::mem::forget(STORES.take(store)?);
            return Ok(());
        }
        // Those who wait are told first, or nobody could take the handle away from them.
        let outcome = STORES.get(store)?.store.close();
        STORES.take(store).map(drop)?;
        outcome
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Removes the store at `root`: what it made, in all the directories that the options name or it
/// remembers, and nothing else.
///
/// SPANLOG_STATUS_INVALID if there is no store; SPANLOG_STATUS_LOCKED while somebody has it open;
/// SPANLOG_STATUS_OFFLINE if a directory is not there; SPANLOG_STATUS_IO.
///
/// # Safety
/// As spanlog_store_open().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_destroy(
    root: *const c_char,
    options: *const spanlog_options,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        let root = unsafe { path(root, "root") }?;
        // SAFETY: the caller promises it.
        let options = unsafe { crate::options::options(options) }?;
        Store::destroy(root, &options)
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Returns once everything appended so far, by anyone, is durable. SPANLOG_STATUS_POISONED or
/// SPANLOG_STATUS_IO: then nothing more can be promised.
///
/// # Safety
/// `error` is NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_flush(
    store: *mut spanlog_store,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::store(store)?.change(Store::flush)) }
}

/// Returns once every message appended so far, by anyone, can be read from its queue.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_catch_up(
    store: *mut spanlog_store,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::store(store)?.change(Store::catch_up)) }
}

/// Takes up what the process that writes the store did since it was opened for reading, or since
/// the last call: SPANLOG_STATUS_OK if there is anything new, else SPANLOG_STATUS_END. Waiting in
/// such a store does it by itself.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_refresh(
    store: *mut spanlog_store,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || match self::store(store)?.store().refresh()? {
        true => Ok(spanlog_status::Ok),
        false => Ok(spanlog_status::End),
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Asks for a round of cleaning now: segments past their age go, at any hour. The store's own
/// threads do it; without them, spanlog_store_run() with SPANLOG_TASK_CLEAN.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_clean_now(
    store: *mut spanlog_store,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::store(store)?.change(Store::clean_now)) }
}

/// The background work of a store, for those who run it themselves.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_task {
    /// Makes appended bytes durable, at the store's interval.
    Flush = 1,
    /// Adds visible records to their queues.
    Index = 2,
    /// Writes down how far log and queues are durable.
    Checkpoint = 3,
    /// Measures the disks and lets the policy judge.
    Probe = 4,
    /// Drops segments that the policy lets go, one per run.
    Clean = 5,
    /// Makes the next pages and the next segment ready.
    Prepare = 6,
}

const TASKS: [(i32, Task); 6] = [
    (spanlog_task::Flush as i32, Task::Flush),
    (spanlog_task::Index as i32, Task::Index),
    (spanlog_task::Checkpoint as i32, Task::Checkpoint),
    (spanlog_task::Probe as i32, Task::Probe),
    (spanlog_task::Clean as i32, Task::Clean),
    (spanlog_task::Prepare as i32, Task::Prepare),
];

/// When background work wants to run again, as C is told.
pub fn next_ms(next: engine::Next) -> i64 {
    match next {
        engine::Next::Again | engine::Next::Soon => 0,
        engine::Next::At(time_ms) => time_ms,
        engine::Next::Idle => i64::MAX,
    }
}

/// Runs one piece of background work now, a spanlog_task. When it wants to run again is written to
/// `next_ms` unless that is NULL: 0 for at once, a time in ms since 1970, or INT64_MAX for when
/// there is something to do again. SPANLOG_STATUS_INVALID in a store with threads of its own.
///
/// # Safety
/// `next_ms` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_run(
    store: *mut spanlog_store,
    task: i32,
    next_ms: *mut i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        let task = choice(task, "task", &TASKS)?.ok_or_else(|| invalid("task is 0"))?;
        let next = self::next_ms(open.change(|store| store.run(task))?);
        // SAFETY: the caller promises it.
        unsafe { put(next_ms, next) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_store_whose_append_broke_off_takes_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), engine::Options::new()).unwrap();
        let open = Open { store, broken: false.into() };
        assert!(open.change(Store::flush).is_ok());
        let panics = || open.change::<()>(|_| panic!("planted"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(open.change(Store::flush).unwrap_err().kind(), ErrorKind::Poisoned);
        assert!(open.store().queues().is_empty(), "what reads goes on");
    }
}
