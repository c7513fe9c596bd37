//! What callers pass, judged before it is used: NULL, lengths that no memory has, structures of
//! another release, texts that are not UTF-8.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_char};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;

use engine::Result;

use crate::guard::invalid;

/// A structure that begins with its own size and may grow at its end.
///
/// # Safety
/// It is `repr(C)`, begins with a `usize` that says its size, consists of numbers and raw pointers
/// alone, so that any bytes are one, and has no padding.
pub unsafe trait Sized: Copy {
    /// Its name in C.
    const NAME: &'static str;
    /// Its size in the first release: no caller's is smaller.
    const LEAST_BYTES: usize;
}

/// Reads the size at the start of a structure.
///
/// # Safety
/// `given` is NULL, or it can be read.
pub unsafe fn size_of_given<T: Sized>(given: *const T) -> Result<usize> {
    let name = T::NAME;
    if given.is_null() || !given.is_aligned() {
        let what = if given.is_null() { "NULL" } else { "not aligned" };
        return Err(invalid(format!("the {name} is {what}")));
    }
    // SAFETY: it is not NULL, and the caller promises that it can be read.
    let size = unsafe { given.cast::<usize>().read() };
    // A structure that is a page longer than ours is rather one that nobody initialised.
    if size < T::LEAST_BYTES || size > mem::size_of::<T>() + 4096 {
        let text = format!("{name}.struct_size is {size}: initialise it with sizeof({name})");
        return Err(invalid(text).with_limit(mem::size_of::<T>() as u64));
    }
    Ok(size)
}

/// A structure that the caller filled in: as it is, or if it is of another release, with what
/// it lacks as zeros.
///
/// # Safety
/// `given` is NULL, or as much of it can be read, for as long as `'a`, as it says.
#[inline]
pub unsafe fn sized<'a, T: Sized>(given: *const T) -> Result<Cow<'a, T>> {
    // SAFETY: the caller promises it.
    let size = unsafe { size_of_given(given) }?;
    if size == mem::size_of::<T>() {
        // SAFETY: it is not NULL, aligned, and the caller promises that it can be read.
        return Ok(Cow::Borrowed(unsafe { &*given }));
    }
    // SAFETY: the caller promises that so many bytes can be read.
    let bytes = unsafe { slice::from_raw_parts(given.cast::<u8>(), size) };
    converted(bytes).map(Cow::Owned)
}

#[cold]
fn converted<T: Sized>(bytes: &[u8]) -> Result<T> {
    let known = bytes.len().min(mem::size_of::<T>());
    if bytes[known..].iter().any(|byte| *byte != 0) {
        let text = format!("{} has fields that this release does not know", T::NAME);
        return Err(invalid(text).with_limit(mem::size_of::<T>() as u64));
    }
    let mut ours = mem::MaybeUninit::<T>::zeroed();
    // SAFETY: both are as long as that, and do not overlap.
    unsafe { ours.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), known) };
    // SAFETY: it was zeroed, and any bytes are one.
    Ok(unsafe { ours.assume_init() })
}

/// As [`sized`], with NULL for one that is all defaults.
///
/// # Safety
/// As [`sized`].
pub unsafe fn sized_or_none<'a, T: Sized>(given: *const T) -> Result<Option<Cow<'a, T>>> {
    // SAFETY: the caller promises it.
    if given.is_null() { Ok(None) } else { unsafe { sized(given) }.map(Some) }
}

/// An array.
///
/// # Safety
/// `data` is NULL, or `len` elements can be read there for as long as `'a`.
#[inline]
pub unsafe fn array<'a, T>(data: *const T, len: usize, name: &str) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() || !data.is_aligned() {
        return Err(invalid(format!("{name} is no array, although it has {len} elements")));
    }
    if len > isize::MAX.unsigned_abs() / mem::size_of::<T>().max(1) {
        return Err(invalid(format!("{name} has {len} elements, more than memory holds")));
    }
    // SAFETY: checked as far as one can; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(data, len) })
}

/// Bytes of any kind.
///
/// # Safety
/// As [`array`].
#[inline]
pub unsafe fn bytes<'a>(data: *const std::ffi::c_void, len: usize, name: &str) -> Result<&'a [u8]> {
    // SAFETY: the caller promises it.
    unsafe { array(data.cast::<u8>(), len, name) }
}

/// A text that ends with NUL, if there is one.
///
/// # Safety
/// `text` is NULL, or it ends with NUL and can be read for as long as `'a`.
#[inline]
pub unsafe fn text_or_none<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises it.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    match str::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(not_utf8(name, error.valid_up_to())),
    }
}

#[cold]
fn not_utf8(name: &str, at: usize) -> engine::Error {
    invalid(format!("{name} is not UTF-8")).with_offset(at as u64)
}

/// A text that ends with NUL.
///
/// # Safety
/// As [`text_or_none`].
#[inline]
pub unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str> {
    // SAFETY: the caller promises it.
    unsafe { text_or_none(text, name) }?.ok_or_else(|| invalid(format!("{name} is NULL")))
}

/// A path, in the system's bytes.
///
/// # Safety
/// As [`text_or_none`].
pub unsafe fn path<'a>(text: *const c_char, name: &str) -> Result<&'a Path> {
    if text.is_null() {
        return Err(invalid(format!("{name} is NULL")));
    }
    // SAFETY: it is not NULL, and the caller promises the rest.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    if bytes.is_empty() {
        return Err(invalid(format!("{name} is empty")));
    }
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// The value that a number stands for, 0 for none given.
pub fn choice<T: Copy>(number: i32, name: &str, choices: &[(i32, T)]) -> Result<Option<T>> {
    if number == 0 {
        return Ok(None);
    }
    let found = choices.iter().find(|choice| choice.0 == number);
    found.map(|choice| Some(choice.1)).ok_or_else(|| {
        let last = choices.last().map_or(0, |choice| choice.0);
        invalid(format!("{name} is {number}: it must be from 0 to {last}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ErrorKind;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Grown {
        struct_size: usize,
        old: u64,
        new: u64,
    }

    // SAFETY: three numbers of 8 bytes.
    unsafe impl Sized for Grown {
        const NAME: &'static str = "grown";
        const LEAST_BYTES: usize = 16;
    }

    fn read(given: &[u64]) -> Result<Grown> {
        // SAFETY: as many bytes can be read as it says, or reading stops before.
        unsafe { sized(given.as_ptr().cast::<Grown>()) }.map(Cow::into_owned)
    }

    #[test]
    fn structures_of_other_releases_are_read() {
        let same = Grown { struct_size: 24, old: 1, new: 2 };
        assert_eq!(read(&[24, 1, 2]).unwrap(), same);
        assert_eq!(read(&[16, 1, 77]).unwrap(), Grown { struct_size: 16, new: 0, ..same });
        assert_eq!(read(&[32, 1, 2, 0]).unwrap(), Grown { struct_size: 32, ..same });
        for wrong in [&[32, 1, 2, 3][..], &[0, 1, 2], &[15, 1, 2], &[u64::MAX, 1, 2]] {
            assert_eq!(read(wrong).unwrap_err().kind(), ErrorKind::Invalid, "{wrong:?}");
        }
    }

    #[test]
    fn lengths_that_no_memory_has_are_refused() {
        let some = [1u64];
        for (data, len) in [(some.as_ptr(), usize::MAX), (std::ptr::null(), 1)] {
            // SAFETY: it is refused before anything is read.
            let refused = unsafe { array(data, len, "it") }.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Invalid);
        }
        // SAFETY: nothing is read.
        assert_eq!(unsafe { array::<u64>(std::ptr::null(), 0, "it") }.unwrap(), [0; 0]);
    }

    #[test]
    fn texts_that_are_not_utf8_are_refused_with_the_place() {
        // SAFETY: the text is static and ends with NUL.
        let refused = unsafe { text(c"ab\xff".as_ptr(), "topic") }.unwrap_err();
        assert_eq!((refused.kind(), refused.offset()), (ErrorKind::Invalid, Some(2)));
        // SAFETY: NULL is answered.
        assert!(unsafe { text(std::ptr::null(), "topic") }.is_err());
    }
}
