//! Waiting for something to read: with a deadline, or beside the host's own descriptors.

use std::ffi::c_char;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use engine::{Position, QueueOffset, Result, Watch, Watched};

use crate::error::spanlog_error;
use crate::guard::{answer, calm, done, invalid};
use crate::handle::Table;
use crate::input::{text, text_or_none};
use crate::output::{place, put};
use crate::status::spanlog_status;
use crate::store::{spanlog_store, store};

/// Tells whether there is more than was seen. Any number of them costs no thread. To be freed with
/// spanlog_watch_free(); it may outlive the store.
pub struct spanlog_watch {
    _opaque: [u8; 0],
}

/// A watch is shared with the calls that wait on it, so that freeing it need not wait for them.
static WATCHES: Table<Arc<Watch>> = Table::new(5, "watch");

fn watch(handle: *const spanlog_watch) -> Result<Arc<Watch>> {
    let found = WATCHES.get_own(handle)?;
    Ok(Arc::clone(&found))
}

/// A handle for a watch of the engine.
///
/// # Errors
/// With more watches than anybody can hold.
pub fn handle(watch: Watch) -> Result<*mut spanlog_watch> {
    WATCHES.put(Arc::new(watch))
}

/// So long that nobody sees its end, and clocks can still add it.
pub const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

pub fn timeout(ms: i64) -> Duration {
    u64::try_from(ms).map_or(FOR_EVER, |ms| Duration::from_millis(ms).min(FOR_EVER))
}

pub fn told(told: bool) -> spanlog_status {
    if told { spanlog_status::Ok } else { spanlog_status::Timeout }
}

/// Waits until a message at or after `from` can be read from the queue, which need not exist yet:
/// SPANLOG_STATUS_OK when there is one, SPANLOG_STATUS_TIMEOUT after `timeout_ms`. 0 looks and
/// returns, a negative number waits for ever. Also SPANLOG_STATUS_OK where `from` was dropped by
/// retention: reading there tells so. SPANLOG_STATUS_CLOSED when the store is closed meanwhile.
///
/// # Safety
/// `topic` ends with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_wait(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: u32,
    from: u64,
    timeout_ms: i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        let from = QueueOffset::new(from);
        open.store().wait(topic, queue, from, timeout(timeout_ms)).map(told)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Waits until the log, as readers see it, goes on behind position `after`, as
/// spanlog_store_wait() does for a queue.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_wait_appended(
    store: *mut spanlog_store,
    after: u64,
    timeout_ms: i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        open.store().wait_appended(Position::new(after), timeout(timeout_ms)).map(told)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// A watch over one queue of a topic; over all of them, also those to come, with `queue` -1; over
/// the whole log with a `topic` of NULL. A new watch has seen nothing: clear it, read on until
/// there is no more, and wait. What comes between the clearing and the waiting is not missed.
///
/// # Safety
/// `topic` is NULL or ends with NUL; `watch` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_watch(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: i64,
    watch: *mut *mut spanlog_watch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(watch, "watch")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let watched = match (unsafe { text_or_none(topic, "topic") }?, u32::try_from(queue)) {
            (None, _) => Watched::Tail,
            (Some(topic), Ok(queue)) => Watched::Queue { topic, queue },
            (Some(topic), Err(_)) if queue == -1 => Watched::Topic { topic },
            (Some(_), Err(_)) => return Err(invalid(format!("queue is {queue}"))),
        };
        let handle = handle(open.store().watch(watched)?)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Returns SPANLOG_STATUS_OK as soon as there is something that was not seen, and
/// SPANLOG_STATUS_TIMEOUT after `timeout_ms`: 0 looks and returns, a negative number waits for
/// ever. Until spanlog_watch_clear() it returns SPANLOG_STATUS_OK at once. SPANLOG_STATUS_CLOSED
/// once the store was closed, also while it waits.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_watch_wait(
    watch: *const spanlog_watch,
    timeout_ms: i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { answer(error, || self::watch(watch)?.wait(timeout(timeout_ms)).map(told)) }
}

/// Writes a descriptor to `fd` that is readable while there is something that was not seen, and
/// once the store was closed: for poll, epoll and event loops. It is the watch's and is closed
/// with it: poll it and do nothing else with it.
///
/// # Safety
/// `fd` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_watch_event_fd(
    watch: *const spanlog_watch,
    fd: *mut i32,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(fd, "fd")?;
        let number = self::watch(watch)?.event_fd()?.as_raw_fd();
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, number) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Everything that is there now has been seen, or is about to be read.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_watch_clear(
    watch: *const spanlog_watch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::watch(watch).map(|watch| watch.clear())) }
}

/// Frees a watch and its descriptor. NULL, and one that was freed before, are passed over. In a
/// child process of the one that made it, only the handle is given up.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_watch_free(watch: *mut spanlog_watch) {
    calm((), || {
        let is_inherited = WATCHES.is_inherited(watch);
        let watch = WATCHES.take(watch).ok()?;
        if is_inherited {
            std::mem::forget(watch);
        }
        Some(())
    });
}
