//! The error object: everything that is known of a failure, for those who ask.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;

use engine::{Error, Result};

use crate::guard::calm;
use crate::handle::Table;
use crate::status::spanlog_status;

/// Why a call failed. Made only when a place for it was given and the call failed; to be freed
/// with spanlog_error_free().
pub struct spanlog_error {
    _opaque: [u8; 0],
}

/// A failure on its way to the caller.
pub enum Fault {
    /// What the engine said.
    Engine(Error),
    /// A defect, in its words.
    Panic(String),
}

impl Fault {
    pub fn status(&self) -> spanlog_status {
        match self {
            Self::Engine(error) => spanlog_status::of(error.kind()),
            Self::Panic(_) => spanlog_status::Internal,
        }
    }
}

/// What an error object holds. It is boxed, so its texts stay where they are.
struct Object {
    fault: Fault,
    message: CString,
    path: Option<CString>,
}

static ERRORS: Table<Box<Object>> = Table::new(1, "error");

/// A text as C wants it: it ends at its first NUL, should it have one.
pub fn c_text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// # Errors
/// With more error objects than anybody can hold.
pub fn object(fault: Fault) -> Result<*mut spanlog_error> {
    let (text, path) = match &fault {
        Fault::Engine(error) => (error.to_string(), error.path()),
        Fault::Panic(words) => (format!("internal: a defect of spanlog: {words}"), None),
    };
    let message = c_text(text.as_bytes());
    let path = path.map(|path| c_text(path.as_os_str().as_bytes()));
    ERRORS.put(Box::new(Object { fault, message, path }))
}

/// What `ask` finds in an error object; nothing for NULL, a freed one, or a defect.
fn of<T>(error: *const spanlog_error, ask: impl FnOnce(&Error) -> Option<T>) -> Option<T> {
    calm(None, || match &ERRORS.get(error).ok()?.fault {
        Fault::Engine(error) => Some(ask(error)),
        Fault::Panic(_) => None,
    })
}

/// Writes a number to the caller's place.
///
/// # Safety
/// `place` is NULL or can be written.
unsafe fn put(number: Option<u64>, place: *mut u64) -> bool {
    match number {
        Some(number) if !place.is_null() => {
            // SAFETY: it is not NULL, and the caller promises that it can be written.
            unsafe { place.write(number) };
            true
        }
        Some(_) => true,
        None => false,
    }
}

/// The status that the failed call returned; SPANLOG_STATUS_OK for NULL, SPANLOG_STATUS_CLOSED for
/// an object that was freed.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_code(error: *const spanlog_error) -> spanlog_status {
    if error.is_null() {
        return spanlog_status::Ok;
    }
    calm(spanlog_status::Closed, || ERRORS.get(error).ok().map(|object| object.fault.status()))
}

/// What happened, in one sentence with the place, in UTF-8 but for bytes of a path that are not.
/// Never NULL. The text lives until the object is freed.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_message(error: *const spanlog_error) -> *const c_char {
    fn missing(error: *const spanlog_error) -> &'static CStr {
        if error.is_null() { c"no error" } else { c"the error object was freed" }
    }
    calm(missing(error).as_ptr(), || Some(ERRORS.get(error).ok()?.message.as_ptr()))
}

/// The file or directory concerned, as the system's bytes; NULL if there is none. The text lives
/// until the object is freed.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_path(error: *const spanlog_error) -> *const c_char {
    calm(std::ptr::null(), || ERRORS.get(error).ok()?.path.as_ref().map(|path| path.as_ptr()))
}

/// The system's error number; 0 if it was not the system that refused.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_errno(error: *const spanlog_error) -> i32 {
    of(error, Error::raw_os_error).unwrap_or(0)
}

/// The byte in the file, or the position of the log, that the error is about. Returns whether
/// there is one, and writes it to `offset` unless that is NULL.
///
/// # Safety
/// `offset` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_error_offset(
    error: *const spanlog_error,
    offset: *mut u64,
) -> bool {
    // SAFETY: the caller promises it.
    unsafe { put(of(error, Error::offset), offset) }
}

/// The limit that was passed; with SPANLOG_STATUS_GONE, where the log starts now. Returns whether
/// there is one, and writes it to `limit` unless that is NULL.
///
/// # Safety
/// `limit` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_error_limit(error: *const spanlog_error, limit: *mut u64) -> bool {
    // SAFETY: the caller promises it.
    unsafe { put(of(error, Error::limit), limit) }
}

/// The range of the log concerned: what is offline, damaged or gone. Returns whether there is
/// one, and writes its two ends unless their place is NULL.
///
/// # Safety
/// `from` and `to` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_error_range(
    error: *const spanlog_error,
    from: *mut u64,
    to: *mut u64,
) -> bool {
    let range = of(error, Error::range);
    // SAFETY: the caller promises it.
    let has_from = unsafe { put(range.as_ref().map(|range| range.start), from) };
    // SAFETY: the caller promises it.
    has_from && unsafe { put(range.map(|range| range.end), to) }
}

/// Whether the same call may succeed later without anybody fixing anything: the store is full or
/// locked, or a directory is not there.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_is_retriable(error: *const spanlog_error) -> bool {
    spanlog_error_code(error).is_retriable()
}

/// Whether the handle is of no use any more: close it.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_is_fatal(error: *const spanlog_error) -> bool {
    spanlog_error_code(error).is_fatal()
}

/// Frees an error object. NULL, and one that was freed before, are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_error_free(error: *mut spanlog_error) {
    calm((), || ERRORS.take(error).ok().map(drop));
}
