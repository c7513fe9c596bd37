//! Which release this is.

use std::ffi::{CStr, c_char};

const TEXT: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a version has no NUL"),
    };

const fn number(text: &str) -> u32 {
    let (digits, mut at, mut value) = (text.as_bytes(), 0, 0);
    while at < digits.len() {
        value = value * 10 + (digits[at] - b'0') as u32;
        at += 1;
    }
    value
}

const NUMBER: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
    + number(env!("CARGO_PKG_VERSION_MINOR")) * 1000
    + number(env!("CARGO_PKG_VERSION_PATCH"));

/// The release of the library that runs, such as "0.1.0". The text is static.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_version() -> *const c_char {
    TEXT.as_ptr()
}

/// The release of the library that runs as one number: major * 1000000 + minor * 1000 + patch.
/// Compare it with SPANLOG_VERSION_NUMBER, the one that was compiled against.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_version_number() -> u32 {
    NUMBER
}
