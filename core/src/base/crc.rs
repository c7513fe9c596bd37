//! The one checksum of the format: CRC-32 (the one of zlib and PNG) without its top bit.

use crc32fast::Hasher;

/// The checksum of `bytes` as RocketMQ stores it: CRC-32/ISO-HDLC and 31 bits of it.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finalize() & 0x7FFF_FFFF
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn top_bit_is_dropped_as_in_java() {
        assert_eq!(checksum(b"Hello"), 0x77D1_8982);
        assert_eq!(checksum(b""), 0);
    }
}
