//! All cursors of a store: listed, copied, reset, deleted, and exchanged with RocketMQ.

use std::ffi::{c_char, c_void};

use engine::{CursorQueue, CursorReport, Hold, Lag, Result};

use crate::cursor::{seek, spanlog_seek};
use crate::error::spanlog_error;
use crate::guard::{answer, done, invalid};
use crate::input::{bytes, text};
use crate::list::{self, Texts, element, rows, spanlog_list};
use crate::output::{flag, place, put};
use crate::report::listed;
use crate::status::spanlog_status;
use crate::store::{Open, spanlog_store, store};

/// A cursor of a store.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_cursor_info {
    /// sizeof(spanlog_cursor_info).
    pub struct_size: usize,
    /// Its topic.
    pub topic: *const c_char,
    /// Its name.
    pub name: *const c_char,
    /// Why its file cannot be used; NULL if it can.
    pub damage: *const c_char,
    /// How old segments may be that it keeps from being dropped, in ms; 0 without such a hold.
    pub hold_age_ms: u64,
    /// How far below the log's end they may begin, in bytes; 0 without such a hold.
    pub hold_bytes: u64,
    /// How many queues spanlog_store_cursor_queues() lists.
    pub queues: u64,
    /// Messages that are not acknowledged, over all queues.
    pub lag_messages: u64,
    /// Bytes of their records.
    pub lag_bytes: u64,
    /// Since when the oldest of them has been stored, in ms; 0 without any.
    pub lag_age_ms: u64,
    /// 1 if it is open in this process.
    pub is_open: i32,
    /// 0.
    pub reserved: i32,
}

/// Where a cursor stands in one queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_cursor_queue {
    /// sizeof(spanlog_cursor_queue).
    pub struct_size: usize,
    /// Everything below is acknowledged.
    pub acknowledged: u64,
    /// Everything below is acknowledged, durably.
    pub committed: u64,
    /// The first message that was not delivered yet.
    pub next: u64,
    /// The queue's first message kept.
    pub min: u64,
    /// One past its last.
    pub max: u64,
    /// Messages that are not acknowledged.
    pub lag_messages: u64,
    /// Bytes of their records.
    pub lag_bytes: u64,
    /// Since when the oldest of them has been stored, in ms; 0 without any.
    pub lag_age_ms: u64,
    /// The queue.
    pub queue: u32,
    /// 0.
    pub reserved: i32,
}

rows!(spanlog_cursor_info, spanlog_cursor_queue);

/// Not inlined: the compiler would read both bounds before it knows that there are some, which
/// harms nobody but whoever runs valgrind.
#[inline(never)]
fn bounds(hold: Hold) -> (u64, u64) {
    (hold.max_age_ms.unwrap_or(0), hold.max_bytes.unwrap_or(0))
}

fn info(report: &CursorReport, texts: &mut Texts) -> spanlog_cursor_info {
    let Lag { messages, bytes, age_ms } = report.lag();
    let damage = report.damage.as_ref();
    let (hold_age_ms, hold_bytes) = report.hold.map_or((0, 0), bounds);
    spanlog_cursor_info {
        struct_size: size_of::<spanlog_cursor_info>(),
        topic: texts.keep(report.topic.as_bytes()),
        name: texts.keep(report.name.as_bytes()),
        damage: damage.map_or(std::ptr::null(), |text| texts.keep(text.as_bytes())),
        hold_age_ms,
        hold_bytes,
        queues: report.queues.len() as u64,
        lag_messages: messages,
        lag_bytes: bytes,
        lag_age_ms: age_ms.unwrap_or(0),
        is_open: flag(report.is_open),
        reserved: 0,
    }
}

fn queue_row(row: &CursorQueue) -> spanlog_cursor_queue {
    spanlog_cursor_queue {
        struct_size: size_of::<spanlog_cursor_queue>(),
        acknowledged: row.acknowledged.get(),
        committed: row.committed.get(),
        next: row.next.get(),
        min: row.bounds.min.get(),
        max: row.bounds.max.get(),
        lag_messages: row.lag.messages,
        lag_bytes: row.lag.bytes,
        lag_age_ms: row.lag.age_ms.unwrap_or(0),
        queue: row.queue,
        reserved: 0,
    }
}

/// A list of a cursor's queues.
///
/// # Errors
/// With more lists than anybody can hold.
pub fn queues(report: &CursorReport) -> Result<*mut spanlog_list> {
    list::handle(report.queues.iter().map(queue_row).collect(), Texts::default())
}

/// All cursors, by topic and name: a list of spanlog_cursor_info. In a store opened for reading, as
/// they were committed last.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_cursors(
    store: *mut spanlog_store,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, texts: &mut Texts| {
        Ok(open.store().cursors()?.iter().map(|report| info(report, texts)).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed::<spanlog_cursor_info>(store, list, error, look) }
}

/// Where a cursor stands in each queue, open or not: a list of spanlog_cursor_queue.
/// SPANLOG_STATUS_INVALID if there is none of that name.
///
/// # Safety
/// `topic` and `name` end with NUL; `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_cursor_queues(
    store: *mut spanlog_store,
    topic: *const c_char,
    name: *const c_char,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |open: &Open, _: &mut Texts| {
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: as above.
        let name = unsafe { text(name, "name") }?;
        let reports = open.store().cursors()?;
        let found = reports.iter().find(|report| report.topic == topic && report.name == name);
        let none = || invalid(format!("topic {topic} has no cursor {name}"));
        Ok(found.ok_or_else(none)?.queues.iter().map(queue_row).collect())
    };
    // SAFETY: the caller promises it.
    unsafe { listed::<spanlog_cursor_queue>(store, list, error, look) }
}

/// Element `at` of a list of spanlog_store_cursors(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `cursor` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_cursor(
    list: *const spanlog_list,
    at: usize,
    cursor: *mut spanlog_cursor_info,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, cursor, error) }
}

/// Element `at` of a list of spanlog_cursor_queues() or spanlog_store_cursor_queues(), from 0.
/// SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `queue` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_cursor_queue(
    list: *const spanlog_list,
    at: usize,
    queue: *mut spanlog_cursor_queue,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, queue, error) }
}

/// Makes the cursor `to` of the same topic, with what `from` has acknowledged, durably.
/// SPANLOG_STATUS_INVALID if there is no `from`, or a `to` already.
///
/// # Safety
/// `topic`, `from` and `to` end with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_copy_cursor(
    store: *mut spanlog_store,
    topic: *const c_char,
    from: *const c_char,
    to: *const c_char,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: as above.
        let from = unsafe { text(from, "from") }?;
        // SAFETY: as above.
        let to = unsafe { text(to, "to") }?;
        open.change(|store| store.copy_cursor(topic, from, to))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Puts a cursor that is not open elsewhere, durably; also one whose file is damaged.
/// SPANLOG_STATUS_INVALID if there is none, SPANLOG_STATUS_LOCKED while it is open; as
/// spanlog_cursor_seek() for where.
///
/// # Safety
/// `topic` and `name` end with NUL; `to` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_reset_cursor(
    store: *mut spanlog_store,
    topic: *const c_char,
    name: *const c_char,
    to: *const spanlog_seek,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: as above.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: as above.
        let to = unsafe { seek(to) }?;
        open.change(|store| store.reset_cursor(topic, name, to))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Deletes a cursor that is not open, durably. SPANLOG_STATUS_INVALID if there is none,
/// SPANLOG_STATUS_LOCKED while it is open.
///
/// # Safety
/// `topic` and `name` end with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_delete_cursor(
    store: *mut spanlog_store,
    topic: *const c_char,
    name: *const c_char,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: as above.
        let name = unsafe { text(name, "name") }?;
        open.change(|store| store.delete_cursor(topic, name))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Makes a cursor for each consumer group and topic in the text of a RocketMQ broker's
/// config/consumerOffset.json, durably, or puts the one of that name there. How many there were is
/// written to `count`, unless that is NULL. SPANLOG_STATUS_INVALID, with the byte, for what
/// RocketMQ does not write: nothing was changed then. SPANLOG_STATUS_LOCKED for a cursor that is
/// open.
///
/// # Safety
/// `text` has `text_len` bytes; `count` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_import_consumer_offsets(
    store: *mut spanlog_store,
    text: *const c_void,
    text_len: usize,
    count: *mut u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let text = unsafe { bytes(text, text_len, "text") }?;
        let found = open.change(|store| store.import_consumer_offsets(text))?;
        // SAFETY: the caller promises it.
        unsafe { put(count, found as u64) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// What every cursor has acknowledged, as a RocketMQ broker's config/consumerOffset.json, copied to
/// `buffer` with a NUL behind it. `needed` is what it takes, that included: with
/// SPANLOG_STATUS_TOO_SMALL nothing is copied. `buffer` may be NULL where `buffer_len` is 0.
///
/// # Safety
/// `buffer` has `buffer_len` bytes to be written; `needed` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_export_consumer_offsets(
    store: *mut spanlog_store,
    buffer: *mut c_char,
    buffer_len: usize,
    needed: *mut usize,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let needed = place(needed, "needed")?;
        let text = self::store(store)?.store().export_consumer_offsets()?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(needed, text.len() + 1) };
        if buffer_len <= text.len() {
            return Ok(spanlog_status::TooSmall);
        }
        let to = place(buffer.cast::<u8>(), "buffer")?;
        // SAFETY: there is room for it, and the caller's memory is not the text's.
        unsafe { to.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: there is room for one byte more.
        let end = unsafe { to.add(text.len()) };
        // SAFETY: as above.
        unsafe { end.write(0) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}
