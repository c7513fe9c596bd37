//! Which parts of a map were brought into memory before.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;

/// Bytes of one part.
const PART_BYTES: u64 = 64 * 1024;

/// One bit for each part of a map that was made resident. The system may have taken pages away
/// since; touching them brings them back, unless the disk cannot give them any more.
#[derive(Debug, Default)]
pub(super) struct Resident(OnceLock<Box<[AtomicU64]>>);

impl Resident {
    /// Calls `populate` for the parts that `range` touches, of a map of `len` bytes, unless that
    /// was done before.
    #[inline]
    pub(super) fn make(
        &self,
        len: u64,
        range: Range<u64>,
        populate: impl Fn(Range<u64>) -> Result<()>,
    ) -> Result<()> {
        let bits = self.0.get_or_init(|| {
            (0..len.div_ceil(PART_BYTES).div_ceil(64)).map(|_| AtomicU64::new(0)).collect()
        });
        for part in range.start / PART_BYTES..range.end.min(len).div_ceil(PART_BYTES) {
            let (word, bit) = (&bits[(part / 64) as usize], 1 << (part % 64));
            if word.load(Ordering::Relaxed) & bit == 0 {
                populate(part * PART_BYTES..(part + 1) * PART_BYTES)?;
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn each_part_is_asked_for_once() {
        let (resident, asked) = (Resident::default(), RefCell::new(Vec::new()));
        let ask = |range| {
            resident.make(200_000, range, |part| {
                asked.borrow_mut().push(part.start / PART_BYTES);
                Ok(())
            })
        };
        for range in [0..1, 5..65_536, 65_535..65_537, 199_999..200_000, 131_071..900_000, 7..7] {
            ask(range).unwrap();
        }
        assert_eq!(*asked.borrow(), [0, 1, 3, 2]);
    }

    /// What could not be read once is asked for again.
    #[test]
    fn a_failure_is_not_remembered_as_success() {
        let resident = Resident::default();
        let fail = |_| Err(Error::new(ErrorKind::Io, "no"));
        assert!(resident.make(9, 0..9, fail).is_err());
        assert!(resident.make(9, 0..9, fail).is_err());
        assert!(resident.make(9, 0..9, |_| Ok(())).is_ok());
        assert!(resident.make(9, 0..9, fail).is_ok());
    }
}
