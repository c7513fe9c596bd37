//! Reading queues: into batches that lend their messages, or into the caller's buffer.

use std::ffi::{c_char, c_void};

use engine::{Batch, Bounds, MessageView, Position, QueueOffset, ReadLimits, Result};

use crate::batch::{self, Whole, spanlog_batch, spanlog_batch_info};
use crate::error::spanlog_error;
use crate::guard::{answer, invalid};
use crate::input::{Sized, choice, sized_or_none, text};
use crate::message::spanlog_message_view;
use crate::options::{ZERO, check_reserved, spanlog_switch};
use crate::output::{check_sized, place, put, put_sized};
use crate::status::spanlog_status;
use crate::store::{Open, spanlog_store, store};

/// How much one read may return. At least one message is returned whatever its size.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_read_options {
    /// sizeof(spanlog_read_options).
    pub struct_size: usize,
    /// Number of messages. Default 256.
    pub max_messages: u64,
    /// Bytes of whole records. Default 1 MiB.
    pub max_bytes: u64,
    /// Whether the checksums of each message are checked: a spanlog_switch, on by default. Without
    /// it only the structure of records is.
    pub verify: i32,
    /// Must be 0.
    pub reserved: i32,
}

// SAFETY: numbers; `reserved` stands where padding would be.
unsafe impl Sized for spanlog_read_options {
    const NAME: &'static str = "spanlog_read_options";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// Which messages of a queue are there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_bounds {
    /// The first message kept.
    pub min: u64,
    /// One past the last that can be read.
    pub max: u64,
}

/// The limits and whether to verify.
///
/// # Safety
/// `given` is NULL or as long as it says.
pub unsafe fn limits(given: *const spanlog_read_options) -> Result<(ReadLimits, bool)> {
    let mut limits = ReadLimits::default();
    // SAFETY: the caller promises it.
    let Some(given) = (unsafe { sized_or_none(given) })? else { return Ok((limits, true)) };
    check_reserved(spanlog_read_options::NAME, given.reserved)?;
    match given.max_messages {
        0 => {}
        ZERO => limits.max_messages = 0,
        count => limits.max_messages = usize::try_from(count).unwrap_or(usize::MAX),
    }
    match given.max_bytes {
        0 => {}
        ZERO => limits.max_bytes = 0,
        count => limits.max_bytes = count,
    }
    let switches = [(spanlog_switch::On as i32, true), (spanlog_switch::Off as i32, false)];
    Ok((limits, choice(given.verify, "verify", &switches)?.unwrap_or(true)))
}

/// What a call that reads found, into the caller's place for a batch.
///
/// # Safety
/// `out` can be written.
pub unsafe fn lend(
    found: Batch,
    verify: bool,
    out: *mut *mut spanlog_batch,
) -> Result<spanlog_status> {
    let (handle, status) = batch::handle(found, verify)?;
    // SAFETY: the caller promises it.
    unsafe { put(out, handle) };
    Ok(status)
}

/// Reads messages of a queue from `from` on, as many as the options allow (NULL for the defaults),
/// and writes a batch of them to `batch`, to be freed with spanlog_batch_free(). With no message
/// the call returns SPANLOG_STATUS_END, and the batch, to be freed all the same, says why and
/// where to go on. A message can be read once it is indexed: see spanlog_store_catch_up().
///
/// A damaged message ends the batch before it; the next read, from there, fails with
/// SPANLOG_STATUS_CORRUPT, and one more behind it goes on. SPANLOG_STATUS_OFFLINE when the first
/// message lies on a directory that is not there; SPANLOG_STATUS_FULL when every map is held, or
/// with the option that refuses reads.
///
/// # Safety
/// `topic` ends with NUL; `options` is NULL or as long as it says; `batch` and `error` are NULL or
/// can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_read(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: u32,
    from: u64,
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
        let (limits, verify) = unsafe { self::limits(options) }?;
        let found = open.store().read(topic, queue, QueueOffset::new(from), limits)?;
        // SAFETY: it is a place, and the caller promises that it can be written.
        unsafe { lend(found, verify, out) }
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// As spanlog_store_read(), but copies the records into `buffer` and lets `messages`, at most
/// `message_count` of them, point there: nothing has to be freed. As many messages are read as
/// fit; what `info` says of them is as with a batch. SPANLOG_STATUS_TOO_SMALL if the first one
/// does not fit: `info->needed_bytes` says what it takes. SPANLOG_STATUS_END with no message.
///
/// # Safety
/// As spanlog_store_read(); `buffer` has `buffer_len` bytes and `messages` has `message_count`
/// elements to be written, `info` is as long as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_read_into(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: u32,
    from: u64,
    options: *const spanlog_read_options,
    buffer: *mut c_void,
    buffer_len: usize,
    messages: *mut spanlog_message_view,
    message_count: usize,
    info: *mut spanlog_batch_info,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(info) }?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: the caller promises it.
        let (mut limits, verify) = unsafe { self::limits(options) }?;
        let room = Room {
            buffer: place(buffer.cast::<u8>(), "buffer")?,
            buffer_len,
            messages: place(messages, "messages")?,
            message_count,
        };
        if message_count == 0 || buffer_len > isize::MAX.unsigned_abs() {
            return Err(invalid("there is no room for a message, or for more than memory holds"));
        }
        limits.max_messages = limits.max_messages.min(message_count);
        limits.max_bytes = limits.max_bytes.min(buffer_len as u64);
        let found = open.store().read(topic, queue, QueueOffset::new(from), limits)?;
        // SAFETY: the caller promises that there is as much room.
        let (status, told) = unsafe { room.fill(&found, verify) }?;
        // SAFETY: the caller promises it.
        unsafe { put_sized(info, &told) }?;
        Ok(status)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// The caller's memory.
struct Room {
    buffer: *mut u8,
    buffer_len: usize,
    messages: *mut spanlog_message_view,
    message_count: usize,
}

impl Room {
    /// Copies as many messages as fit.
    ///
    /// # Safety
    /// There is as much room as it says.
    unsafe fn fill(
        &self,
        found: &Batch,
        verify: bool,
    ) -> Result<(spanlog_status, spanlog_batch_info)> {
        let Whole { messages, stopped } = batch::whole(found, verify)?;
        let mut info = spanlog_batch_info::new(found, 0);
        info.next = stopped.unwrap_or(info.next);
        let mut used = 0;
        for (at, &(offset, view)) in messages.iter().enumerate() {
            let record = view.bytes();
            if at == self.message_count || record.len() > self.buffer_len - used {
                info.next = offset;
                break;
            }
            // SAFETY: there is room for it, and the caller's memory is not the store's.
            let copy = unsafe { self.copy(record, used) };
            let view = MessageView::parse(copy).expect("a copy of what was parsed is parsed");
            // SAFETY: the caller promises so many.
            let place = unsafe { self.messages.add(at) };
            // SAFETY: as above.
            unsafe { place.write(spanlog_message_view::new(&view, offset)) };
            used += record.len();
            info.count += 1;
        }
        match messages.first() {
            None => Ok((spanlog_status::End, info)),
            Some((_, first)) if info.count == 0 => {
                info.needed_bytes = first.bytes().len() as u64;
                Ok((spanlog_status::TooSmall, info))
            }
            Some(_) => Ok((spanlog_status::Ok, info)),
        }
    }

    /// # Safety
    /// The buffer has room for it at `at`.
    unsafe fn copy(&self, record: &[u8], at: usize) -> &[u8] {
        // SAFETY: the caller promises it.
        let to = unsafe { self.buffer.add(at) };
        // SAFETY: as above; the store's maps are not the caller's to give as a buffer.
        unsafe { to.copy_from_nonoverlapping(record.as_ptr(), record.len()) };
        // SAFETY: it was just written.
        unsafe { std::slice::from_raw_parts(to, record.len()) }
    }
}

/// Reads the record at `position` and writes a batch of one message to `batch`.
///
/// SPANLOG_STATUS_GONE below the log's start; SPANLOG_STATUS_INVALID where no record begins;
/// SPANLOG_STATUS_OFFLINE in a hole; SPANLOG_STATUS_CORRUPT.
///
/// # Safety
/// `batch` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_get(
    store: *mut spanlog_store,
    position: u64,
    batch: *mut *mut spanlog_batch,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(batch, "batch")?;
        let record = self::store(store)?.store().get(Position::new(position))?;
        let handle = batch::handle_of_record(record, position)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Which messages of a queue are there. SPANLOG_STATUS_END for a queue that never had one.
///
/// # Safety
/// `topic` ends with NUL; `bounds` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_bounds(
    store: *mut spanlog_store,
    topic: *const c_char,
    queue: u32,
    bounds: *mut spanlog_bounds,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(bounds, "bounds")?;
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(topic, "topic") }?;
        let Some(Bounds { min, max }) = Open::store(&open).bounds(topic, queue) else {
            return Ok(spanlog_status::End);
        };
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, spanlog_bounds { min: min.get(), max: max.get() }) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}
