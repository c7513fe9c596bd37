//! Deliveries: what one poll of a cursor gave.

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;

use engine::{Delivered, Delivery, Error, Result};

use crate::error::c_text;
use crate::guard::calm;
use crate::handle::Table;
use crate::message::spanlog_message_view;
use crate::output::put;
use crate::status::spanlog_status;

/// What one poll gave. It keeps the bytes of its messages for as long as it lives, also after the
/// store was closed. To be freed with spanlog_delivery_free().
pub struct spanlog_delivery {
    _opaque: [u8; 0],
}

/// A message that was delivered.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_delivered {
    /// The message; acknowledge its `queue` and `queue_offset`.
    pub message: spanlog_message_view,
    /// How often it was delivered, from 1; counted from 2 on for what was delivered before the
    /// store was opened.
    pub attempt: u32,
    /// 0.
    pub reserved: i32,
}

/// Retention dropped messages that a cursor had not acknowledged. It goes on behind them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_overtaken {
    /// The first offset that is gone.
    pub from: u64,
    /// One past the last: where the queue starts now.
    pub to: u64,
    /// The queue.
    pub queue: u32,
    /// 0.
    pub reserved: i32,
}

/// A queue, or a message of it, that could not be read while others could. The next poll tries the
/// queue again, and a message once it is due; seek past what is damaged, or acknowledge it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_failure {
    /// What is wrong, in words.
    pub text: *const c_char,
    /// The file, in the system's bytes; NULL if there is none.
    pub path: *const c_char,
    /// The byte in the file, or the position of the log; 0 if it is not known.
    pub offset: u64,
    /// The queue.
    pub queue: u32,
    /// A spanlog_status, as reading the queue would return it.
    pub status: i32,
}

/// What a delivery handle stands for. The views point into what is kept, which never moves.
struct Given {
    messages: Vec<spanlog_delivered>,
    overtaken: Vec<spanlog_overtaken>,
    failures: Vec<spanlog_failure>,
    _texts: Vec<CString>,
    _kept: Box<Delivery>,
}

// SAFETY: the pointers lead into what it keeps, which nobody changes.
unsafe impl Send for Given {}
// SAFETY: as above.
unsafe impl Sync for Given {}

static DELIVERIES: Table<Box<Given>> = Table::new(8, "delivery");

impl Given {
    fn new(delivery: Delivery, verify: bool) -> Self {
        let kept = Box::new(delivery);
        let (mut messages, mut damaged) = (Vec::with_capacity(kept.len()), Vec::new());
        for delivered in kept.iter() {
            match view(&delivered, verify) {
                Ok(view) => messages.push(view),
                Err(error) => damaged.push((delivered.queue, error)),
            }
        }
        let mut texts = Vec::new();
        let failures = kept.failures().iter().chain(&damaged);
        let failures = failures.map(|(queue, error)| failure(*queue, error, &mut texts)).collect();
        let row = |row: &engine::Overtaken| spanlog_overtaken {
            from: row.gone.start.get(),
            to: row.gone.end.get(),
            queue: row.queue,
            reserved: 0,
        };
        let overtaken = kept.overtaken().iter().map(row).collect();
        Self { messages, overtaken, failures, _texts: texts, _kept: kept }
    }
}

fn view(delivered: &Delivered<'_>, verify: bool) -> Result<spanlog_delivered> {
    let stored = &delivered.message;
    let view = if verify { stored.decode_verified() } else { stored.decode() }?;
    let message = spanlog_message_view::new(&view, stored.queue_offset().get());
    Ok(spanlog_delivered { message, attempt: delivered.attempt, reserved: 0 })
}

fn failure(queue: u32, error: &Error, texts: &mut Vec<CString>) -> spanlog_failure {
    // What a `CString` points to stays in place when the list of them grows.
    let mut keep = |text: CString| {
        texts.push(text);
        texts.last().map_or(std::ptr::null(), |text| text.as_ptr())
    };
    let path = error.path().map(|path| c_text(path.as_os_str().as_bytes()));
    spanlog_failure {
        text: keep(c_text(error.to_string().as_bytes())),
        path: path.map_or(std::ptr::null(), keep),
        offset: error.offset().unwrap_or(0),
        queue,
        status: spanlog_status::of(error.kind()) as i32,
    }
}

/// A handle for a delivery of the engine; what is damaged in it is told beside what is not.
///
/// # Errors
/// With more deliveries than anybody can hold.
pub fn handle(delivery: Delivery, verify: bool) -> Result<*mut spanlog_delivery> {
    DELIVERIES.put(Box::new(Given::new(delivery, verify)))
}

/// Where the elements of a list lie.
///
/// # Safety
/// `count` is NULL or can be written.
unsafe fn rows<T>(
    delivery: *const spanlog_delivery,
    count: *mut usize,
    rows: impl FnOnce(&Given) -> &Vec<T>,
) -> *const T {
    let (data, len) = calm((std::ptr::null(), 0), || {
        let given = DELIVERIES.get(delivery).ok()?;
        let rows = rows(&given);
        Some((rows.as_ptr(), rows.len()))
    });
    // SAFETY: the caller promises it.
    unsafe { put(count, len) };
    data
}

/// The messages of a delivery, those of a queue side by side and in order: `count` of them, until
/// the delivery is freed. NULL, and 0, for NULL or a delivery that was freed.
///
/// # Safety
/// `count` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_delivery_messages(
    delivery: *const spanlog_delivery,
    count: *mut usize,
) -> *const spanlog_delivered {
    // SAFETY: the caller promises it.
    unsafe { rows(delivery, count, |given| &given.messages) }
}

/// What retention took from the cursor before it came to it: told once. As
/// spanlog_delivery_messages().
///
/// # Safety
/// `count` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_delivery_overtaken(
    delivery: *const spanlog_delivery,
    count: *mut usize,
) -> *const spanlog_overtaken {
    // SAFETY: the caller promises it.
    unsafe { rows(delivery, count, |given| &given.overtaken) }
}

/// What could not be read while the rest could. As spanlog_delivery_messages().
///
/// # Safety
/// `count` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_delivery_failures(
    delivery: *const spanlog_delivery,
    count: *mut usize,
) -> *const spanlog_failure {
    // SAFETY: the caller promises it.
    unsafe { rows(delivery, count, |given| &given.failures) }
}

/// Frees a delivery and lets go of its messages. NULL, and one that was freed before, are passed
/// over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_delivery_free(delivery: *mut spanlog_delivery) {
    calm((), || DELIVERIES.take(delivery).ok().map(drop));
}
