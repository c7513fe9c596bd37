//! What callers get back: written on success alone, never over more than they have room for.

use std::ffi::c_char;
use std::{mem, slice};

use engine::Result;

use crate::guard::invalid;
use crate::input::{Sized, size_of_given};

/// Bytes or text that belong to something else, which says how long they live. `data` may be NULL
/// where `len` is 0, and text does not end with NUL.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_bytes {
    /// The first byte.
    pub data: *const c_char,
    /// How many there are.
    pub len: usize,
}

impl spanlog_bytes {
    pub const NONE: Self = Self { data: std::ptr::null(), len: 0 };

    pub fn new(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), len: bytes.len() }
    }
}

/// A place for a result that the caller must give.
///
/// # Errors
/// `Invalid` without one.
pub fn place<T>(place: *mut T, name: &str) -> Result<*mut T> {
    match place.is_null() || !place.is_aligned() {
        false => Ok(place),
        true => Err(invalid(format!("{name} is NULL: there is no place for the result"))),
    }
}

/// Writes a result.
///
/// # Safety
/// `place` is NULL or can be written.
pub unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not NULL, and the caller promises that it can be written.
        unsafe { place.write(value) };
    }
}

/// Checks the caller's place for a structure that may grow, before anything is done.
///
/// # Safety
/// `place` is NULL, or its size can be read.
pub unsafe fn check_sized<T: Sized>(place: *mut T) -> Result<usize> {
    // SAFETY: the caller promises it.
    unsafe { size_of_given(place.cast_const()) }
}

/// Writes as much of a structure as the caller's release knows, and zeros behind ours.
///
/// # Safety
/// `place` is NULL, or as much of it can be written as it says.
pub unsafe fn put_sized<T: Sized>(place: *mut T, value: &T) -> Result<()> {
    // SAFETY: the caller promises it.
    let size = unsafe { check_sized(place) }?;
    // SAFETY: the caller's is as long as it says.
    let to = unsafe { slice::from_raw_parts_mut(place.cast::<u8>(), size) };
    // SAFETY: it has no padding, so all its bytes are initialised.
    let from = unsafe { slice::from_raw_parts((&raw const *value).cast(), mem::size_of::<T>()) };
    let (own, known) = (mem::size_of::<usize>(), size.min(from.len()));
    to[own..known].copy_from_slice(&from[own..known]);
    to[known..].fill(0);
    Ok(())
}

/// 1 for true.
pub fn flag(flag: bool) -> i32 {
    i32::from(flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Report {
        struct_size: usize,
        old: u64,
        new: u64,
    }

    // SAFETY: three numbers of 8 bytes.
    unsafe impl Sized for Report {
        const NAME: &'static str = "report";
        const LEAST_BYTES: usize = 16;
    }

    #[test]
    fn no_more_is_written_than_the_caller_has_room_for() {
        let ours = Report { struct_size: 24, old: 1, new: 2 };
        let written = |mut place: [u64; 5]| {
            // SAFETY: it has as much room as it says.
            unsafe { put_sized(place.as_mut_ptr().cast(), &ours) }.map(|()| place)
        };
        assert_eq!(written([16, 9, 9, 9, 9]).unwrap(), [16, 1, 9, 9, 9]);
        assert_eq!(written([24, 9, 9, 9, 9]).unwrap(), [24, 1, 2, 9, 9]);
        assert_eq!(written([32, 9, 9, 9, 9]).unwrap(), [32, 1, 2, 0, 9]);
        assert!(written([0, 9, 9, 9, 9]).is_err());
    }
}
