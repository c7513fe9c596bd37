//! Big-endian reads and writes at checked places. Every integer on disk is big-endian and
//! signed (`FORMAT.md`, section 1); these are the only functions that convert.

/// Reads the `N` bytes at `at`, or nothing if they do not lie within `bytes`.
#[must_use]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// Reads a signed 16-bit integer.
#[must_use]
pub fn read_i16(bytes: &[u8], at: usize) -> Option<i16> {
    array(bytes, at).map(i16::from_be_bytes)
}

/// Reads a signed 32-bit integer.
#[must_use]
pub fn read_i32(bytes: &[u8], at: usize) -> Option<i32> {
    array(bytes, at).map(i32::from_be_bytes)
}

/// Reads a signed 64-bit integer.
#[must_use]
pub fn read_i64(bytes: &[u8], at: usize) -> Option<i64> {
    array(bytes, at).map(i64::from_be_bytes)
}

/// Overwrites the bytes at `at` with `value`.
///
/// # Panics
/// If the place does not lie within `bytes`: the caller owns the buffer and its layout.
pub fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_big_endian_and_checked() {
        let bytes = [0xDA, 0xA3, 0x20, 0xA7, 0, 0, 0, 1];
        assert_eq!(read_i32(&bytes, 0), Some(-626_843_481));
        assert_eq!(read_i64(&bytes, 0), Some(i64::from(-626_843_481_i32) << 32 | 1));
        assert_eq!(read_i16(&bytes, 6), Some(1));
        assert_eq!(read_i32(&bytes, 5), None);
        assert_eq!(read_i32(&bytes, usize::MAX), None);
    }
}
