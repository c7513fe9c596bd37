//! The directories of an open store.

use std::ffi::c_char;

use engine::{Store, Usage};

use crate::error::spanlog_error;
use crate::guard::{done, invalid};
use crate::input::{choice, path};
use crate::options::{ROLES, directory, spanlog_directory_options};
use crate::status::spanlog_status;
use crate::store::{spanlog_store, store};

/// Adds a directory to the open store; it takes segments from the next one on.
///
/// SPANLOG_STATUS_INVALID if it is one of the store's, or nested with one; SPANLOG_STATUS_FOREIGN
/// if it is another store's; SPANLOG_STATUS_IO.
///
/// # Safety
/// `directory` is as long as it says, and its pointers lead to what they say; `error` is NULL or
/// can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_add_directory(
    store: *mut spanlog_store,
    directory: *const spanlog_directory_options,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let directory = unsafe { self::directory(directory) }?;
        open.change(|store| store.add_directory(&directory))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Changes what a directory is for, a spanlog_role: draining ends new segments there.
///
/// SPANLOG_STATUS_INVALID if the store has no such directory, or for making the one read-only that
/// holds the log's end; SPANLOG_STATUS_IO.
///
/// # Safety
/// `path` ends with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_set_role(
    store: *mut spanlog_store,
    path: *const c_char,
    role: i32,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let path = unsafe { self::path(path, "path") }?;
        let role = choice(role, "role", &ROLES)?.ok_or_else(|| invalid("role is 0"))?;
        open.change(|store| store.set_role(path, role))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Takes an empty directory off the store. SPANLOG_STATUS_INVALID if the store has no such
/// directory, if it is the only one, or while it holds segments; SPANLOG_STATUS_IO.
///
/// # Safety
/// `path` ends with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_remove_directory(
    store: *mut spanlog_store,
    path: *const c_char,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let path = unsafe { self::path(path, "path") }?;
        open.change(|store: &Store| store.remove_directory(path))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Tells how full a directory is, in place of what its file system says: for a quota that the
/// system does not report. The directory counts as a disk of its own until both numbers are 0,
/// which ends it; nothing of it is remembered when the store is closed.
///
/// # Safety
/// `path` ends with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_set_usage(
    store: *mut spanlog_store,
    path: *const c_char,
    used_bytes: u64,
    available_bytes: u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::store(store)?;
        // SAFETY: the caller promises it.
        let path = unsafe { self::path(path, "path") }?;
        let usage = Usage::new(used_bytes, available_bytes);
        open.change(|store| store.set_usage(path, usage))
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}
