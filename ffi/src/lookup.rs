//! Finding messages by tag, key, identifier and time.

use std::ffi::c_char;

use engine::{Boundary, KeyKind, KeyQuery, QueueOffset, TagFilter};

use crate::batch::spanlog_batch;
use crate::error::spanlog_error;
use crate::guard::{answer, done, invalid};
use crate::input::{Sized, choice, sized_or_none, text};
use crate::options::{ZERO, check_reserved};
use crate::output::{place, put};
use crate::read::{lend, limits, spanlog_read_options};
use crate::status::spanlog_status;
use crate::store::{spanlog_store, store};

/// What a key is.
#[allow(dead_code, reason = "callers pass its numbers")]
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_key_kind {
    /// SPANLOG_KEY_KIND_KEY.
    Default = 0,
    /// One of the message's keys.
    Key = 1,
    /// The message's identifier.
    UniqueId = 2,
    /// The message's tags.
    Tag = 3,
}

/// Which message stands for a time that several have, or none.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_boundary {
    /// The first at or after the time; one past the last if all are earlier.
    Lower = 1,
    /// The last at or before the time; the first if all are later.
    Upper = 2,
}

/// Which messages with a key are wanted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_query_options {
    /// sizeof(spanlog_query_options).
    pub struct_size: usize,
    /// The oldest store time, in ms since 1970; 0 for the oldest there is.
    pub from_ms: i64,
    /// The youngest store time, itself included; 0 for the youngest there is.
    pub to_ms: i64,
    /// Number of messages. Default 32.
    pub max_messages: u64,
    /// A spanlog_key_kind.
    pub kind: i32,
    /// Must be 0.
    pub reserved: i32,
}

// SAFETY: numbers; `reserved` stands where padding would be.
unsafe impl Sized for spanlog_query_options {
    const NAME: &'static str = "spanlog_query_options";
    const LEAST_BYTES: usize = size_of::<Self>();
}

const KINDS: [(i32, KeyKind); 3] = [
    (spanlog_key_kind::Key as i32, KeyKind::Key),
    (spanlog_key_kind::UniqueId as i32, KeyKind::UniqueId),
    (spanlog_key_kind::Tag as i32, KeyKind::Tag),
];

const BOUNDARIES: [(i32, Boundary); 2] = [
    (spanlog_boundary::Lower as i32, Boundary::Lower),
    (spanlog_boundary::Upper as i32, Boundary::Upper),
];

/// As spanlog_store_read(), but only messages that have one of the tags in `tags`, "A || B"; all of
/// them with "*" or "". A batch without a message, and SPANLOG_STATUS_END, may still say where to
/// go on: with SPANLOG_READ_STATUS_NO_MATCH behind the messages that were looked at.
///
/// # Safety
/// As spanlog_store_read(); `tags` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_read_filtered(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: u32,
    from: u64,
    tags: *const c_char,
    options: *const spanlog_read_options,
    batch: *mut *mut spanlog_batch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(batch, "batch")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: the caller promises it.
        let filter = TagFilter::parse(unsafe { text(tags, "tags") }?)?;
        // SAFETY: the caller promises it.
        let (limits, verify) = unsafe { self::limits(options) }?;
        let from = QueueOffset::new(from);
        let found = open.store().read_filtered(topic, queue, from, &filter, limits)?;
        // SAFETY: it is a place, and the caller promises that it can be written.
        unsafe { lend(found, verify, out) }
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// The messages of a topic that have a key, newest first, of all its queues: a batch to be freed,
/// also with SPANLOG_STATUS_END, when there is none. `options` may be NULL for the defaults.
///
/// # Safety
/// `topic` and `key` end with NUL; `options` is NULL or as long as it says; `batch` and `error` are
/// NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_query(
    store: *mut spanlog_store,
    topic: *const c_char,
    key: *const c_char,
    options: *const spanlog_query_options,
    batch: *mut *mut spanlog_batch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(batch, "batch")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: the caller promises it.
        let key = unsafe { text(key, "key") }?;
        // SAFETY: the caller promises it.
        let query = unsafe { query(options) }?;
        let found = open.store().query(topic, key, &query)?;
        // SAFETY: it is a place, and the caller promises that it can be written.
        unsafe { lend(found, true, out) }
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// # Safety
/// `given` is NULL or as long as it says.
unsafe fn query(given: *const spanlog_query_options) -> engine::Result<KeyQuery> {
    let mut query = KeyQuery::default();
    // SAFETY: the caller promises it.
    let Some(given) = (unsafe { sized_or_none(given) })? else { return Ok(query) };
    check_reserved(spanlog_query_options::NAME, given.reserved)?;
    if given.from_ms != 0 {
        query.from_ms = given.from_ms;
    }
    if given.to_ms != 0 {
        query.to_ms = given.to_ms;
    }
    match given.max_messages {
        0 => {}
        ZERO => query.max_messages = 0,
        count => query.max_messages = usize::try_from(count).unwrap_or(usize::MAX),
    }
    query.kind = choice(given.kind, "kind", &KINDS)?.unwrap_or(query.kind);
    Ok(query)
}

/// The message of a topic with an identifier, as its producer or the store gave it: a batch of it,
/// to be freed also with SPANLOG_STATUS_END, when there is none.
///
/// # Safety
/// `topic` and `id` end with NUL; `batch` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_find_by_id(
    store: *mut spanlog_store,
    topic: *const c_char,
    id: *const c_char,
    batch: *mut *mut spanlog_batch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(batch, "batch")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: the caller promises it.
        let id = unsafe { text(id, "id") }?;
        let found = open.store().find_by_id(topic, id)?;
        // SAFETY: it is a place, and the caller promises that it can be written.
        unsafe { lend(found, true, out) }
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// The offset in a queue of the message that was stored at a time, in ms since 1970; `boundary` is
/// a spanlog_boundary.
///
/// # Safety
/// `topic` ends with NUL; `offset` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_offset_at(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: u32,
    time_ms: i64,
    boundary: i32,
    offset: *mut u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(offset, "offset")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        let boundary = choice(boundary, "boundary", &BOUNDARIES)?
            .ok_or_else(|| invalid("boundary is 0: it must be lower or upper"))?;
        let found = open.store().offset_at(topic, queue, time_ms, boundary)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, found.get()) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}
