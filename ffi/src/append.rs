//! Appending.

use engine::{Message, Receipt, Result, Store};

use crate::error::spanlog_error;
use crate::guard::{answer, invalid};
use crate::input::sized;
use crate::message::{Lists, spanlog_message};
use crate::options::element;
use crate::output::put;
use crate::status::spanlog_status;
use crate::store::{spanlog_store, store};

/// Where a message, or the first one of a batch, was put.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_receipt {
    /// Where its record begins in the log.
    pub position: u64,
    /// Its number within its queue; those of a batch follow each other.
    pub queue_offset: u64,
    /// The position after the last record.
    pub end: u64,
    /// When it was stored, in ms since 1970.
    pub store_ms: i64,
}

impl From<Receipt> for spanlog_receipt {
    fn from(receipt: Receipt) -> Self {
        Self {
            position: receipt.position.get(),
            queue_offset: receipt.queue_offset.get(),
            end: receipt.end.get(),
            store_ms: receipt.store_ms,
        }
    }
}

/// One message, as `append` takes it.
///
/// # Safety
/// As spanlog_store_append().
#[inline]
unsafe fn one(
    handle: *mut spanlog_store,
    message: *const spanlog_message,
    receipt: *mut spanlog_receipt,
    append: impl FnOnce(&Store, &Message<'_>) -> Result<Receipt>,
) -> Result<spanlog_status> {
    let open = store(handle)?;
    // SAFETY: the caller promises it.
    let given = unsafe { sized(message) }?;
    let mut lists = Lists::default();
    if given.key_count + given.property_count > 0 {
        // SAFETY: the caller promises it.
        unsafe { given.read_lists(&mut lists) }?;
    }
    // SAFETY: the caller promises it.
    let message = unsafe { given.message(&lists.keys, &lists.properties) }?;
    let found = open.change(|store| append(store, &message))?;
    // SAFETY: the caller promises it.
    unsafe { put(receipt, found.into()) };
    Ok(spanlog_status::Ok)
}

/// Messages of one queue, as `append` takes them.
///
/// # Safety
/// As spanlog_store_append_batch().
unsafe fn many(
    handle: *mut spanlog_store,
    messages: *const spanlog_message,
    count: usize,
    receipt: *mut spanlog_receipt,
    append: impl FnOnce(&Store, &[Message<'_>]) -> Result<Receipt>,
) -> Result<spanlog_status> {
    let open = store(handle)?;
    if count > isize::MAX.unsigned_abs() / size_of::<spanlog_message>() {
        return Err(invalid(format!("count is {count}, more than memory holds")));
    }
    let mut given = Vec::new();
    let mut lists = Lists::default();
    for at in 0..count {
        // SAFETY: the caller promises that there are so many.
        let row = unsafe { element(messages, at) }?;
        // SAFETY: as above.
        let row = unsafe { sized(row) }?;
        // SAFETY: as above.
        unsafe { row.read_lists(&mut lists) }?;
        given.push(row);
    }
    let (mut keys, mut properties) = (&lists.keys[..], &lists.properties[..]);
    let mut drafts = Vec::with_capacity(given.len());
    for row in &given {
        let (own_keys, other_keys) = keys.split_at(row.key_count);
        let (own_properties, other_properties) = properties.split_at(row.property_count);
        // SAFETY: as above.
        drafts.push(unsafe { row.message(own_keys, own_properties) }?);
        (keys, properties) = (other_keys, other_properties);
    }
    let found = open.change(|store| append(store, &drafts))?;
    // SAFETY: the caller promises it.
    unsafe { put(receipt, found.into()) };
    Ok(spanlog_status::Ok)
}

/// Appends one message. When it returns, the message is in the log and survives the end of this
/// process; with SPANLOG_DURABILITY_GROUP it also survives the loss of power. `receipt` may be
/// NULL.
///
/// SPANLOG_STATUS_INVALID or SPANLOG_STATUS_TOO_LARGE for the message; SPANLOG_STATUS_FULL when no
/// directory has room; SPANLOG_STATUS_POISONED after a failed flush; SPANLOG_STATUS_OFFLINE,
/// SPANLOG_STATUS_IO. Nothing was appended then, save that with group durability a failed flush
/// leaves open whether the message survives.
///
/// # Safety
/// `message` is as long as it says, and its pointers lead to what they say; `receipt` and `error`
/// are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_append(
    store: *mut spanlog_store,
    message: *const spanlog_message,
    receipt: *mut spanlog_receipt,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    let body = || unsafe { one(store, message, receipt, Store::append) };
    // SAFETY: as above.
    unsafe { answer(error, body) }
}

/// As spanlog_store_append(), but returns only when the message is durable, whatever the store's
/// durability.
///
/// # Safety
/// As spanlog_store_append().
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_append_durable(
    store: *mut spanlog_store,
    message: *const spanlog_message,
    receipt: *mut spanlog_receipt,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    let body = || unsafe { one(store, message, receipt, Store::append_durable) };
    // SAFETY: as above.
    unsafe { answer(error, body) }
}

/// Appends messages of one topic and queue, all or none of them, side by side. The receipt, which
/// may be NULL, is the first one's. All have the size that the first one says.
///
/// As spanlog_store_append(), and SPANLOG_STATUS_INVALID for none or for several queues.
///
/// # Safety
/// There are `count` messages, each as spanlog_store_append() wants it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_append_batch(
    store: *mut spanlog_store,
    messages: *const spanlog_message,
    count: usize,
    receipt: *mut spanlog_receipt,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    let body = || unsafe { many(store, messages, count, receipt, Store::append_batch) };
    // SAFETY: as above.
    unsafe { answer(error, body) }
}

/// As spanlog_store_append_batch(), but returns only when all of it is durable.
///
/// # Safety
/// As spanlog_store_append_batch().
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_append_batch_durable(
    store: *mut spanlog_store,
    messages: *const spanlog_message,
    count: usize,
    receipt: *mut spanlog_receipt,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    let body = || unsafe { many(store, messages, count, receipt, Store::append_batch_durable) };
    // SAFETY: as above.
    unsafe { answer(error, body) }
}
