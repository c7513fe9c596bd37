//! Named consumers: opening, polling, acknowledging.

use std::ffi::c_char;
use std::time::Duration;

use engine::{Cursor, CursorOptions, Delivery, Hold, QueueOffset, ReadLimits, Result, Seek};

use crate::delivery::{self, spanlog_delivery};
use crate::error::spanlog_error;
use crate::guard::{answer, done, invalid};
use crate::handle::{Held, Table};
use crate::input::{Sized, array, choice, sized, sized_or_none, text};
use crate::list::rows;
use crate::options::{SWITCHES, ZERO, check_reserved};
use crate::output::{check_sized, flag, place, put, put_sized};
use crate::read::{limits, spanlog_read_options};
use crate::status::spanlog_status;
use crate::store::{spanlog_store, store};
use crate::wait::{spanlog_watch, timeout};

/// A named consumer of a topic, open. Threads that poll at once share its messages. What was
/// acknowledged is durable once spanlog_cursor_commit() returned, and closing the cursor or its
/// store commits; after a crash, what was not committed comes again. To be closed with
/// spanlog_cursor_close().
pub struct spanlog_cursor {
    _opaque: [u8; 0],
}

static CURSORS: Table<Box<Cursor>> = Table::new(7, "cursor");

fn cursor(handle: *const spanlog_cursor) -> Result<Held<'static, Box<Cursor>>> {
    CURSORS.get_own(handle)
}

/// How a cursor is opened. Its hold, and whether it is about all queues, are kept with it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_cursor_options {
    /// sizeof(spanlog_cursor_options).
    pub struct_size: usize,
    /// The queues that it is about; NULL for all of the topic's, also those to come.
    pub queues: *const u32,
    /// How many there are.
    pub queue_count: usize,
    /// After how long a message that was not acknowledged comes again, in ms. Default 30,000.
    pub visibility_ms: u64,
    /// How many messages of one queue may wait to be acknowledged. Default 1024, up to 3600.
    pub max_pending: u64,
    /// Keeps segments from being dropped that it has not acknowledged, until they are so old, in
    /// ms. Default: no such hold.
    pub hold_age_ms: u64,
    /// As above, until they begin so many bytes below the log's end. Default: no such hold. With
    /// both, what comes first ends it.
    pub hold_bytes: u64,
    /// Whether a cursor that is made now begins at the end of its queues: a spanlog_switch, off by
    /// default: at their start.
    pub from_end: i32,
    /// Must be 0.
    pub reserved: i32,
}

/// Where a cursor goes on.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_seek_kind {
    /// At the first message kept of every queue.
    Start = 1,
    /// Behind the last message of every queue.
    End = 2,
    /// At `offset` of `queue`.
    Offset = 3,
    /// At the first message of every queue that was stored at or after `time_ms`.
    Time = 4,
}

/// Where a cursor goes on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_seek {
    /// sizeof(spanlog_seek).
    pub struct_size: usize,
    /// With SPANLOG_SEEK_KIND_OFFSET: within what is kept, or at its end.
    pub offset: u64,
    /// With SPANLOG_SEEK_KIND_TIME: ms since 1970.
    pub time_ms: i64,
    /// With SPANLOG_SEEK_KIND_OFFSET: the queue.
    pub queue: u32,
    /// A spanlog_seek_kind; there is no default.
    pub kind: i32,
}

/// What a cursor has not acknowledged, over all its queues.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_lag {
    /// sizeof(spanlog_lag).
    pub struct_size: usize,
    /// Messages.
    pub messages: u64,
    /// Bytes of their records.
    pub bytes: u64,
    /// Since when the oldest of them has been stored, in ms, if `has_age`.
    pub age_ms: u64,
    /// 1 if the age is known: there is a message.
    pub has_age: i32,
    /// 0.
    pub reserved: i32,
}

rows!(spanlog_cursor_options, spanlog_seek, spanlog_lag);

/// # Safety
/// `given` is NULL or as long as it says, and its pointer leads to what it says.
unsafe fn options(given: *const spanlog_cursor_options) -> Result<CursorOptions> {
    let mut options = CursorOptions::default();
    // SAFETY: the caller promises it.
    let Some(given) = (unsafe { sized_or_none(given) })? else { return Ok(options) };
    check_reserved(spanlog_cursor_options::NAME, given.reserved)?;
    // SAFETY: the caller promises it.
    let queues = unsafe { array(given.queues, given.queue_count, "queues") }?;
    options.queues = (!queues.is_empty()).then(|| queues.to_vec());
    options.from_end = choice(given.from_end, "from_end", &SWITCHES)?.unwrap_or(false);
    // The engine refuses what SPANLOG_ZERO stands for.
    let number = |given, default| match given {
        0 => default,
        ZERO => 0,
        given => given,
    };
    options.visibility_ms = number(given.visibility_ms, options.visibility_ms);
    let max_pending = number(given.max_pending, options.max_pending as u64);
    options.max_pending = usize::try_from(max_pending).unwrap_or(usize::MAX);
    let bound = |given| (given != 0).then(|| number(given, 0));
    let hold = Hold { max_age_ms: bound(given.hold_age_ms), max_bytes: bound(given.hold_bytes) };
    options.hold = hold.validate().is_ok().then_some(hold);
    Ok(options)
}

/// Where to go on.
///
/// # Safety
/// `given` is as long as it says.
pub unsafe fn seek(given: *const spanlog_seek) -> Result<Seek> {
    // SAFETY: the caller promises it.
    let given = unsafe { sized(given) }?;
    let (queue, offset) = (given.queue, QueueOffset::new(given.offset));
    let choices = [
        (spanlog_seek_kind::Start as i32, Seek::Start),
        (spanlog_seek_kind::End as i32, Seek::End),
        (spanlog_seek_kind::Offset as i32, Seek::Offset { queue, offset }),
        (spanlog_seek_kind::Time as i32, Seek::Time { time_ms: given.time_ms }),
    ];
    choice(given.kind, "kind", &choices)?.ok_or_else(|| invalid("kind is 0: say where to go on"))
}

/// Opens the cursor `name` of a topic, or makes it, durably: it begins at the start of its queues.
/// `options` may be NULL for the defaults.
///
/// SPANLOG_STATUS_INVALID for a name, a topic or an option that cannot be, or in a store opened
/// for reading; SPANLOG_STATUS_LOCKED while it is open; SPANLOG_STATUS_CORRUPT if its file is
/// damaged: see spanlog_store_reset_cursor(); SPANLOG_STATUS_FULL, SPANLOG_STATUS_IO.
///
/// # Safety
/// `name` and `topic` end with NUL; `options` is NULL or as long as it says, and its pointer leads
/// to what it says; `cursor` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_cursor(
    store: *mut spanlog_store,
    name: *const c_char,
    topic: *const c_char,
    options: *const spanlog_cursor_options,
    cursor: *mut *mut spanlog_cursor,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(cursor, "cursor")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: as above.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: as above.
        let options = unsafe { self::options(options) }?;
        let handle = CURSORS.put(Box::new(open.store().cursor(name, topic, options)?))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Commits, lets others open the cursor, and frees the handle, also when committing fails. Calls
/// of other threads with the handle end first, those that wait within 100 ms. After the store was
/// closed there is nothing to commit. NULL is passed over. In a child process of the one that
/// opened it, the handle is given up without touching the cursor.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_close(
    cursor: *mut spanlog_cursor,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        if cursor.is_null() {
            return Ok(());
        }
        if CURSORS.is_inherited(cursor) {
            std::mem::forget(CURSORS.take(cursor)?);
            return Ok(());
        }
        match CURSORS.take(cursor)?.map_or(Ok(()), |cursor| cursor.close()) {
            // Closing the store has committed it, or has said why not.
            Err(error) if error.kind() == engine::ErrorKind::Closed => Ok(()),
            outcome => outcome,
        }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// How long a call waits with a handle before it lets those go first who free it.
const SLICE: Duration = Duration::from_millis(100);

/// Asks until there is something or the time is over; asking waits as long as it is told.
///
/// # Errors
/// What asking says.
pub fn in_slices<T>(
    timeout: Duration,
    mut ask: impl FnMut(Duration) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let mut left = timeout;
    loop {
        let found = ask(left.min(SLICE))?;
        if found.is_some() || left <= SLICE {
            return Ok(found);
        }
        left -= SLICE;
    }
}

fn poll(
    handle: *const spanlog_cursor,
    limits: ReadLimits,
    timeout: Duration,
) -> Result<Option<Delivery>> {
    in_slices(timeout, |slice| {
        let delivery = cursor(handle)?.poll(limits, slice)?;
        let is_something = !delivery.is_empty() || !delivery.overtaken().is_empty();
        Ok(is_something.then_some(delivery))
    })
}

/// Messages of the cursor's queues in fair shares: those that are due again, then new ones, as many
/// as the options allow (NULL for the defaults). Returns SPANLOG_STATUS_OK as soon as there is one,
/// or retention has overtaken the cursor, and writes a delivery, to be freed with
/// spanlog_delivery_free(). SPANLOG_STATUS_TIMEOUT, and NULL for the delivery, after `timeout_ms`:
/// 0 looks and returns, a negative number waits for ever. What is not acknowledged in time comes
/// again.
///
/// SPANLOG_STATUS_CLOSED, also when the store or the cursor is closed meanwhile; what
/// spanlog_store_read() says where no queue can be read.
///
/// # Safety
/// `options` is NULL or as long as it says; `delivery` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_poll(
    cursor: *mut spanlog_cursor,
    options: *const spanlog_read_options,
    timeout_ms: i64,
    delivery: *mut *mut spanlog_delivery,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(delivery, "delivery")?;
        // SAFETY: the caller promises it.
        let (limits, verify) = unsafe { limits(options) }?;
        let found = poll(cursor, limits, timeout(timeout_ms))?;
        let status = if found.is_some() { spanlog_status::Ok } else { spanlog_status::Timeout };
        let handle = found.map(|found| delivery::handle(found, verify)).transpose()?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle.unwrap_or(std::ptr::null_mut())) };
        Ok(status)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Acknowledges one message that was delivered; doing so twice is fine. Any order will do.
/// SPANLOG_STATUS_INVALID for one that was not delivered.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_ack(
    cursor: *mut spanlog_cursor,
    queue: u32,
    offset: u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::cursor(cursor)?.ack(queue, QueueOffset::new(offset))) }
}

/// Acknowledges every message of a queue below `end`. SPANLOG_STATUS_INVALID if some of them were
/// not delivered.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_ack_up_to(
    cursor: *mut spanlog_cursor,
    queue: u32,
    end: u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::cursor(cursor)?.ack_up_to(queue, QueueOffset::new(end))) }
}

/// Makes what was acknowledged so far durable. If it fails it is not, and may be tried again.
///
/// # Safety
/// `error` is NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_commit(
    cursor: *mut spanlog_cursor,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::cursor(cursor)?.commit()) }
}

/// Goes on elsewhere; what was delivered and not acknowledged is forgotten. Durable with the next
/// commit. SPANLOG_STATUS_GONE below what is kept, SPANLOG_STATUS_INVALID behind the end: the
/// cursor stays where it was.
///
/// # Safety
/// `to` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_seek(
    cursor: *mut spanlog_cursor,
    to: *const spanlog_seek,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::cursor(cursor)?;
        // SAFETY: the caller promises it.
        open.seek(unsafe { seek(to) }?)
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// What is not acknowledged, over all its queues.
///
/// # Safety
/// `lag` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_lag(
    cursor: *const spanlog_cursor,
    lag: *mut spanlog_lag,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(lag) }?;
        let found = self::cursor(cursor)?.lag()?;
        // SAFETY: the caller promises it.
        unsafe { put_sized(lag, &found.into()) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

impl From<engine::Lag> for spanlog_lag {
    fn from(lag: engine::Lag) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            messages: lag.messages,
            bytes: lag.bytes,
            age_ms: lag.age_ms.unwrap_or(0),
            has_age: flag(lag.age_ms.is_some()),
            reserved: 0,
        }
    }
}

/// A watch over the cursor's topic, with a descriptor to poll; see spanlog_store_watch(). It is not
/// told when a message is due again: see spanlog_cursor_next_due().
///
/// # Safety
/// `watch` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_watch(
    cursor: *const spanlog_cursor,
    watch: *mut *mut spanlog_watch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(watch, "watch")?;
        let handle = crate::wait::handle(self::cursor(cursor)?.watch()?)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// When the next message that was not acknowledged is due again, in ms since 1970.
/// SPANLOG_STATUS_END if none is.
///
/// # Safety
/// `due_ms` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_next_due(
    cursor: *const spanlog_cursor,
    due_ms: *mut i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(due_ms, "due_ms")?;
        let Some(due) = self::cursor(cursor)?.next_due_ms() else {
            return Ok(spanlog_status::End);
        };
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, due) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Where it stands in each queue: a list of spanlog_cursor_queue.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_cursor_queues(
    cursor: *const spanlog_cursor,
    list: *mut *mut crate::list::spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(list, "list")?;
        let report = self::cursor(cursor)?.report()?;
        let handle = crate::cursors::queues(&report)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}
