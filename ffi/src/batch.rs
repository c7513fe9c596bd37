//! Batches: messages that were read, and whatever keeps their bytes.

use engine::{Batch, MessageView, ReadStatus, Result, Slice};

use crate::error::spanlog_error;
use crate::guard::{answer, calm, done, invalid};
use crate::handle::Table;
use crate::input::{Sized, text};
use crate::message::spanlog_message_view;
use crate::output::{check_sized, place, put, put_sized, spanlog_bytes};
use crate::status::spanlog_status;

/// Messages that one call found. It keeps their bytes for as long as it lives, also after the
/// store was closed or retention dropped them. To be freed with spanlog_batch_free(); only one
/// thread at a time may free it, any may read it meanwhile.
pub struct spanlog_batch {
    _opaque: [u8; 0],
}

/// What a read found, and so where to go on.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_read_status {
    /// Messages.
    Found = 1,
    /// The queue never had a message; go on at 0.
    NoQueue = 2,
    /// Nothing was ever readable in the queue; go on at 0.
    Empty = 3,
    /// Retention dropped the offset; go on at the queue's minimum.
    TooSmall = 4,
    /// The offset is the next to come; ask again.
    AtEnd = 5,
    /// The offset is behind the next to come; go on at the maximum, never at the start.
    TooLarge = 6,
    /// The messages at the offset are gone or lost; go on behind them.
    Removed = 7,
    /// There are messages at the offset, and none of them has the tags that were asked for; go on
    /// behind them.
    NoMatch = 8,
}

impl From<ReadStatus> for spanlog_read_status {
    fn from(status: ReadStatus) -> Self {
        match status {
            ReadStatus::Found => Self::Found,
            ReadStatus::NoQueue => Self::NoQueue,
            ReadStatus::Empty => Self::Empty,
            ReadStatus::TooSmall => Self::TooSmall,
            ReadStatus::AtEnd => Self::AtEnd,
            ReadStatus::TooLarge => Self::TooLarge,
            ReadStatus::Removed => Self::Removed,
            ReadStatus::NoMatch => Self::NoMatch,
        }
    }
}

/// What a read found besides messages.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_batch_info {
    /// sizeof(spanlog_batch_info).
    pub struct_size: usize,
    /// Number of messages.
    pub count: u64,
    /// Where to read on.
    pub next: u64,
    /// The queue's first message kept, as of this read.
    pub min: u64,
    /// One past its last.
    pub max: u64,
    /// With SPANLOG_STATUS_TOO_SMALL: the bytes that the first message takes.
    pub needed_bytes: u64,
    /// A spanlog_read_status.
    pub status: i32,
    /// 0.
    pub reserved: i32,
}

// SAFETY: numbers; `reserved` stands where padding would be.
unsafe impl Sized for spanlog_batch_info {
    const NAME: &'static str = "spanlog_batch_info";
    const LEAST_BYTES: usize = size_of::<Self>();
}

impl spanlog_batch_info {
    /// What a batch of the engine says, with `count` of its messages.
    pub fn new(batch: &Batch, count: usize) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            count: count as u64,
            next: batch.next().get(),
            min: batch.bounds().min.get(),
            max: batch.bounds().max.get(),
            needed_bytes: 0,
            status: spanlog_read_status::from(batch.status()) as i32,
            reserved: 0,
        }
    }
}

/// What a batch handle stands for. The views point into what is kept, which never moves.
pub struct Found {
    views: Vec<spanlog_message_view>,
    info: spanlog_batch_info,
    _kept: Kept,
}

enum Kept {
    Batch(#[allow(dead_code, reason = "it is kept, not read")] Box<Batch>),
    Slice(#[allow(dead_code, reason = "it is kept, not read")] Slice),
}

static BATCHES: Table<Box<Found>> = Table::new(3, "batch");

/// The messages of a batch before the first damaged one, each with its offset in its queue.
pub struct Whole<'a> {
    pub messages: Vec<(u64, MessageView<'a>)>,
    /// The offset of the damaged one.
    pub stopped: Option<u64>,
}

/// The messages of a batch up to the first that is damaged; they are verified if `verify` says so.
///
/// # Errors
/// `Corrupt` if the first one is.
pub fn whole(batch: &Batch, verify: bool) -> Result<Whole<'_>> {
    let mut messages = Vec::with_capacity(batch.len());
    for stored in batch.iter() {
        let decoded = if verify { stored.decode_verified() } else { stored.decode() };
        let offset = stored.queue_offset().get();
        match decoded {
            Ok(view) => messages.push((offset, view)),
            Err(error) if messages.is_empty() => return Err(error),
            Err(_) => return Ok(Whole { messages, stopped: Some(offset) }),
        }
    }
    Ok(Whole { messages, stopped: None })
}

/// A handle for a batch of the engine.
///
/// # Errors
/// As [`whole`].
pub fn handle(batch: Batch, verify: bool) -> Result<(*mut spanlog_batch, spanlog_status)> {
    let batch = Box::new(batch);
    let Whole { messages, stopped } = whole(&batch, verify)?;
    let views: Vec<_> =
        messages.iter().map(|(offset, view)| spanlog_message_view::new(view, *offset)).collect();
    let mut info = spanlog_batch_info::new(&batch, views.len());
    info.next = stopped.unwrap_or(info.next);
    let status = if views.is_empty() { spanlog_status::End } else { spanlog_status::Ok };
    let found = Found { views, info, _kept: Kept::Batch(batch) };
    Ok((BATCHES.put(Box::new(found))?, status))
}

/// A handle for one record.
///
/// # Errors
/// `Corrupt` if it is damaged.
pub fn handle_of_record(record: Slice, position: u64) -> Result<*mut spanlog_batch> {
    let corrupt = |damage: engine::record::Damage| {
        let text = format!("the record is damaged: {damage}");
        engine::Error::new(engine::ErrorKind::Corrupt, text).with_offset(position)
    };
    let view = MessageView::parse(&record).map_err(corrupt)?;
    view.verify().map_err(corrupt)?;
    let offset = view.queue_offset();
    let view = spanlog_message_view::new(&view, offset);
    let info = spanlog_batch_info {
        struct_size: size_of::<spanlog_batch_info>(),
        count: 1,
        next: offset.saturating_add(1),
        min: offset,
        max: offset.saturating_add(1),
        needed_bytes: 0,
        status: spanlog_read_status::Found as i32,
        reserved: 0,
    };
    BATCHES.put(Box::new(Found { views: vec![view], info, _kept: Kept::Slice(record) }))
}

/// The messages of a batch, in the order in which they were found: `count` of them, one after the
/// other, until the batch is freed. NULL, and 0, for NULL or a batch that was freed.
///
/// # Safety
/// `count` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_batch_messages(
    batch: *const spanlog_batch,
    count: *mut usize,
) -> *const spanlog_message_view {
    let body = || {
        let found = BATCHES.get(batch).ok()?;
        Some((found.views.as_ptr(), found.views.len()))
    };
    let (views, len) = calm((std::ptr::null(), 0), body);
    // SAFETY: the caller promises it.
    unsafe { put(count, len) };
    views
}

/// What was found besides messages.
///
/// # Safety
/// `info` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_batch_get_info(
    batch: *const spanlog_batch,
    info: *mut spanlog_batch_info,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(info) }?;
        let found = BATCHES.get(batch)?;
        // SAFETY: the caller promises it.
        unsafe { put_sized(info, &found.info) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Frees a batch and lets go of its messages. NULL, and one that was freed before, are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_batch_free(batch: *mut spanlog_batch) {
    calm((), || BATCHES.take(batch).ok().map(drop));
}

/// The record behind a view.
///
/// # Safety
/// `view` is NULL or one of a call that read, and what it points to is still there.
unsafe fn parsed<'a>(view: *const spanlog_message_view) -> Result<MessageView<'a>> {
    if view.is_null() || !view.is_aligned() {
        return Err(invalid("the message is NULL"));
    }
    // SAFETY: the caller promises it.
    let record = unsafe { (*view).record };
    // SAFETY: the caller promises it.
    let bytes = unsafe { crate::input::bytes(record.data.cast(), record.len, "record") }?;
    MessageView::parse(bytes).map_err(|damage| invalid(format!("no record: {damage}")))
}

/// The value of a property of a message, for as long as the message's bytes live; of several with
/// that name, the last one's. SPANLOG_STATUS_END if there is none.
///
/// # Safety
/// `message` is one that was read, and its bytes are still there; `name` ends with NUL; `value` and
/// `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_message_property(
    message: *const spanlog_message_view,
    name: *const std::ffi::c_char,
    value: *mut spanlog_bytes,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(value, "value")?;
        // SAFETY: the caller promises it.
        let view = unsafe { parsed(message) }?;
        // SAFETY: the caller promises it.
        let name = unsafe { text(name, "name") }?;
        let Some(found) = view.property(name) else { return Ok(spanlog_status::End) };
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, spanlog_bytes::new(found.as_bytes())) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// The property number `at` of a message, from 0, in the order of the record; tags, keys and unique
/// id are among them. SPANLOG_STATUS_END behind the last one.
///
/// # Safety
/// As spanlog_message_property(); `name` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_message_property_at(
    message: *const spanlog_message_view,
    at: usize,
    name: *mut spanlog_bytes,
    value: *mut spanlog_bytes,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let (name, value) = (place(name, "name")?, place(value, "value")?);
        // SAFETY: the caller promises it.
        let view = unsafe { parsed(message) }?;
        let Some((own_name, own_value)) = view.properties().nth(at) else {
            return Ok(spanlog_status::End);
        };
        // SAFETY: the caller promises that it can be written.
        unsafe { put(name, spanlog_bytes::new(own_name.as_bytes())) };
        // SAFETY: as above.
        unsafe { put(value, spanlog_bytes::new(own_value.as_bytes())) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}
