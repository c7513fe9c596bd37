//! Which index files are whole, and up to where: what the key index need not read again.

use crate::base::bytes;
use crate::base::crc::checksum;
use crate::base::units::Position;
use crate::derived::{Catalogue, Shape, Summary};

/// First bytes of the file; the last one is the version.
const MAGIC: &[u8; 8] = b"SPANKEY\x01";

const HEAD_BYTES: usize = 36;
const FILE_BYTES: usize = 28;

/// The file's bytes (`FORMAT.md`, section 10).
#[must_use]
pub fn encode_catalogue(catalogue: &Catalogue) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&catalogue.position.get().to_be_bytes());
    out.extend_from_slice(&catalogue.shape.slots.to_be_bytes());
    out.extend_from_slice(&catalogue.shape.entries.to_be_bytes());
    out.extend_from_slice(&catalogue.full_ms.to_be_bytes());
    let count = u32::try_from(catalogue.files.len()).expect("fewer than 2^32 index files");
    out.extend_from_slice(&count.to_be_bytes());
    for file in &catalogue.files {
        out.extend_from_slice(&file.number.to_be_bytes());
        out.extend_from_slice(&file.count.to_be_bytes());
        out.extend_from_slice(&file.begin.get().to_be_bytes());
        out.extend_from_slice(&file.end.get().to_be_bytes());
    }
    let checksum = checksum(&out);
    out.extend_from_slice(&checksum.to_be_bytes());
    out
}

/// Reads the file's bytes; nothing if they are not whole, and the index is built anew then.
#[must_use]
pub fn decode_catalogue(from: &[u8]) -> Option<Catalogue> {
    let (content, stored) = from.split_at_checked(from.len().checked_sub(4)?)?;
    if word(stored, 0)? != checksum(content) || !content.starts_with(MAGIC) {
        return None;
    }
    let shape = Shape { slots: word(content, 16)?, entries: word(content, 20)? };
    let count = usize::try_from(word(content, 32)?).ok()?;
    let rows = content.get(HEAD_BYTES..)?;
    let is_whole = rows.len() == count.checked_mul(FILE_BYTES)?;
    let sensible = shape.slots >= 1 && shape.entries >= 2;
    let files = rows.chunks_exact(FILE_BYTES).map(summary).collect::<Option<_>>()?;
    (is_whole && sensible).then_some(Catalogue {
        position: position(content, 8)?,
        shape,
        full_ms: bytes::read_i64(content, 24)?,
        files,
    })
}

fn summary(row: &[u8]) -> Option<Summary> {
    let number = bytes::array(row, 0).map(u64::from_be_bytes)?;
    let count = word(row, 8)?;
    Some(Summary { number, count, begin: position(row, 12)?, end: position(row, 20)? })
}

fn word(from: &[u8], at: usize) -> Option<u32> {
    bytes::array(from, at).map(u32::from_be_bytes)
}

fn position(from: &[u8], at: usize) -> Option<Position> {
    bytes::array(from, at).map(u64::from_be_bytes).map(Position::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        let file = |number, count, begin, end| Summary {
            number,
            count,
            begin: Position::new(begin),
            end: Position::new(end),
        };
        Catalogue {
            position: Position::new(9000),
            shape: Shape { slots: 50, entries: 200 },
            full_ms: 1_700_000_000_000,
            files: vec![file(20_231_114_221_320_123, 200, 0, 4000), file(7, 31, 4000, 8900)],
        }
    }

    #[test]
    fn round_trip() {
        assert_eq!(decode_catalogue(&encode_catalogue(&catalogue())), Some(catalogue()));
        let none = Catalogue { files: Vec::new(), ..catalogue() };
        assert_eq!(decode_catalogue(&encode_catalogue(&none)), Some(none));
    }

    #[test]
    fn damage_is_no_catalogue() {
        let whole = encode_catalogue(&catalogue());
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert_eq!(decode_catalogue(&damaged), None, "byte {at}");
            assert_eq!(decode_catalogue(&whole[..at]), None, "first {at} bytes");
        }
    }
}
