//! The edge of every exported function: panics end here, and an outcome becomes a status and, for
//! those who want it, an error object.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{Error, Result};

use crate::error::{Fault, spanlog_error};
use crate::status::spanlog_status;

/// Runs the body of a call. An error object is made for errors alone, and only for a caller who
/// gave a place for it.
///
/// # Safety
/// `error` is NULL or can be written.
#[inline]
pub unsafe fn answer(
    error: *mut *mut spanlog_error,
    body: impl FnOnce() -> Result<spanlog_status>,
) -> spanlog_status {
    let fault = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => return status,
        Ok(Err(failed)) => Fault::Engine(failed),
        Err(panic) => Fault::Panic(words(panic.as_ref())),
    };
    // SAFETY: the caller of this function promises it.
    unsafe { report(fault, error) }
}

/// # Safety
/// As [`answer`].
#[cold]
unsafe fn report(fault: Fault, error: *mut *mut spanlog_error) -> spanlog_status {
    let status = fault.status();
    if !error.is_null() {
        let object = crate::error::object(fault).unwrap_or(std::ptr::null_mut());
        // SAFETY: it is not NULL, and the caller promises that it can be written.
        unsafe { error.write(object) };
    }
    status
}

/// Runs a call that cannot fail, but for a defect: then it gives `otherwise`.
pub fn calm<T>(otherwise: T, body: impl FnOnce() -> Option<T>) -> T {
    catch_unwind(AssertUnwindSafe(body)).ok().flatten().unwrap_or(otherwise)
}

/// As [`answer`], for what always succeeds where it does not fail.
///
/// # Safety
/// As [`answer`].
#[inline]
pub unsafe fn done(
    error: *mut *mut spanlog_error,
    body: impl FnOnce() -> Result<()>,
) -> spanlog_status {
    // SAFETY: the caller of this function promises it.
    unsafe { answer(error, || body().map(|()| spanlog_status::Ok)) }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it gave no reason").to_owned()
}

/// An error that names an argument.
#[cold]
pub fn invalid(text: impl Into<String>) -> Error {
    Error::new(engine::ErrorKind::Invalid, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{spanlog_error_free, spanlog_error_message};
    use std::ffi::CStr;

    #[test]
    fn a_panic_is_a_status_with_its_words() {
        let mut error = std::ptr::null_mut();
        // SAFETY: the place for the error is ours.
        let status = unsafe { done(&raw mut error, || panic!("planted {}", 7)) };
        assert_eq!(status, spanlog_status::Internal);
        // SAFETY: the object is alive until it is freed below.
        let text = unsafe { CStr::from_ptr(spanlog_error_message(error)) };
        assert!(text.to_str().unwrap().contains("planted 7"), "{text:?}");
        spanlog_error_free(error);
        // SAFETY: nobody wants the error.
        let status = unsafe { done(std::ptr::null_mut(), || panic!("planted")) };
        assert_eq!(status, spanlog_status::Internal);
    }

    #[test]
    fn what_is_no_error_makes_no_object() {
        let mut error = std::ptr::null_mut();
        // SAFETY: the place for the error is ours.
        let status = unsafe { answer(&raw mut error, || Ok(spanlog_status::End)) };
        assert_eq!((status, error.is_null()), (spanlog_status::End, true));
    }
}
