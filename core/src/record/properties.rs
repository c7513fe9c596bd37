//! The property string: `name 0x01 value 0x02`, repeated. No escaping, no count.
//!
//! RocketMQ 4.9.1 to 5.1.4 leave out the last 0x02, the releases before and after write it; both
//! are read. A pair without a name or without a value is not there. Of two pairs with one name
//! the last counts. (RocketMQ's `MessageDecoder`.)
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

use crate::base::crc::checksum;

/// The names that the store gives a meaning to.
pub mod property {
    /// What a message is found by: words separated by spaces.
    pub const KEYS: &str = "KEYS";
    /// What consumers filter by.
    pub const TAGS: &str = "TAGS";
    /// The identifier that the producer gave.
    pub const UNIQ_KEY: &str = "UNIQ_KEY";
    /// The delay level of a parked message, a decimal number.
    pub const DELAY: &str = "DELAY";
    /// The checksum of the whole record; only as the last 20 bytes of it.
    pub const RECORD_CHECKSUM: &str = "__CRC32#";
}

/// Ends a name.
pub(super) const NAME_END: u8 = 1;
/// Ends a value.
pub(super) const VALUE_END: u8 = 2;

/// The properties of a record, in the order of the bytes. A pair that is not UTF-8 is skipped.
#[derive(Clone, Debug)]
pub struct Properties<'a> {
    rest: &'a [u8],
}

impl<'a> Properties<'a> {
    /// The properties in a property string; any bytes will do.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The value of the last property called `name`, from here on.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        if name.is_empty() || name.as_bytes().contains(&NAME_END) {
            return None;
        }
        // From the end, since the last one counts.
        let mut rest = self.rest;
        while !rest.is_empty() {
            let start = rfind(rest, VALUE_END).map_or(0, |end| end + 1);
            let (before, pair) = rest.split_at_checked(start)?;
            rest = before.strip_suffix(&[VALUE_END]).unwrap_or_default();
            let value =
                pair.strip_prefix(name.as_bytes()).and_then(|v| v.strip_prefix(&[NAME_END]));
            match value.map(str::from_utf8) {
                Some(Ok(value)) if !value.is_empty() => return Some(value),
                _ => {}
            }
        }
        None
    }

    fn next_pair(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let mut parts = self.rest.splitn(2, |byte| *byte == VALUE_END);
        let pair = parts.next();
        self.rest = parts.next().unwrap_or_default();
        pair
    }
}

/// The place of the last `byte`, looking at eight at a time: every record that is indexed has
/// its properties searched three times.
fn rfind(bytes: &[u8], byte: u8) -> Option<usize> {
    const LOW_BITS: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let (head, words) = bytes.as_rchunks::<8>();
    let wanted = u64::from_be_bytes([byte; 8]);
    for (i, word) in words.iter().enumerate().rev() {
        let differs = u64::from_be_bytes(*word) ^ wanted;
        // The top bit of every byte that is zero, and no other.
        let zeros = !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS);
        if zeros != 0 {
            return Some(head.len() + 8 * i + 7 - zeros.trailing_zeros() as usize / 8);
        }
    }
    head.iter().rposition(|other| *other == byte)
}

impl<'a> Iterator for Properties<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(pair) = self.next_pair() {
            let mut parts = pair.splitn(2, |byte| *byte == NAME_END);
            let name = parts.next().map(str::from_utf8);
            let value = parts.next().map(str::from_utf8);
            match (name, value) {
                (Some(Ok(name)), Some(Ok(value))) if !name.is_empty() && !value.is_empty() => {
                    return Some((name, value));
                }
                _ => {}
            }
        }
        None
    }
}

/// What the record's checksum takes at the end of the record: name, separator, ten digits,
/// separator.
pub(super) const RECORD_CHECKSUM_BYTES: usize = 20;
/// Where the digits begin in it.
pub(super) const FIRST_DIGIT: usize = 9;
const DIGITS: usize = 10;

/// The place of the checksum, still without its digits.
pub(super) const EMPTY_RECORD_CHECKSUM: &[u8; RECORD_CHECKSUM_BYTES] =
    b"__CRC32#\x010000000000\x02";

/// A record that ends with a checksum of itself, cut into what is covered and the ten digits.
pub(super) fn split_record_checksum(record: &[u8]) -> Option<(&[u8], &[u8; DIGITS])> {
    let (covered, place) = record.split_last_chunk::<RECORD_CHECKSUM_BYTES>()?;
    let digits = place.strip_prefix(property::RECORD_CHECKSUM.as_bytes())?;
    let digits = digits.strip_prefix(&[NAME_END])?.strip_suffix(&[VALUE_END])?;
    Some((covered, digits.try_into().ok()?))
}

/// Whether a property string ends with a checksum of the record, or with what is left of one.
///
/// The form decides, never the value: a checksum that happens to be zero counts. Half of the
/// form is enough, so that damage to the name does not turn the checksum off.
pub(super) fn has_record_checksum(properties: &[u8]) -> bool {
    let Some(place) = properties.last_chunk::<RECORD_CHECKSUM_BYTES>() else { return false };
    let is_form = |at: usize| !(FIRST_DIGIT..FIRST_DIGIT + DIGITS).contains(&at);
    let pairs = place.iter().zip(EMPTY_RECORD_CHECKSUM).enumerate();
    let same = pairs.filter(|(at, (byte, form))| is_form(*at) && byte == form).count();
    same >= (RECORD_CHECKSUM_BYTES - DIGITS) / 2
}

/// Whether the last pair holds a NUL. Nobody writes one there, but it is what the last sectors of
/// a record read as if a crash kept them from being written; and with them a checksum is gone.
pub(super) fn breaks_off(properties: &[u8]) -> bool {
    let open = properties.strip_suffix(&[VALUE_END]).unwrap_or(properties);
    open.rsplit(|byte| *byte == VALUE_END).next().is_some_and(|last| last.contains(&0))
}

/// The digits that stand for the checksum of `covered`: decimal, **the lowest digit first**,
/// filled up with zeros.
pub(super) fn record_checksum_digits(covered: &[u8]) -> [u8; DIGITS] {
    let mut rest = checksum(covered);
    std::array::from_fn(|_| {
        let digit = (rest % 10) as u8;
        rest /= 10;
        b'0' + digit
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &[u8]) -> Vec<(&str, &str)> {
        Properties::new(text).collect()
    }

    #[test]
    fn both_separator_styles() {
        let both = vec![("A", "1"), ("B", "22")];
        assert_eq!(pairs(b"A\x011\x02B\x0122\x02"), both);
        assert_eq!(pairs(b"A\x011\x02B\x0122"), both);
        assert_eq!(pairs(b"A\x011"), [("A", "1")]);
        assert_eq!(pairs(b""), []);
        assert_eq!(pairs(b"\x02"), []);
    }

    #[test]
    fn oddities_follow_the_java_decoder() {
        assert_eq!(pairs(b"A\x01\x02B\x012\x02"), [("B", "2")], "an empty value is not there");
        assert_eq!(pairs(b"\x011\x02B\x012\x02"), [("B", "2")], "an empty name is not there");
        assert_eq!(pairs(b"A\x02B\x012\x02"), [("B", "2")], "a chunk without separator");
        assert_eq!(pairs(b"ABC\x02\x02\x02B\x012"), [("B", "2")], "empty chunks");
        assert_eq!(pairs(b"A\x011\x013\x02"), [("A", "1\x013")], "later 0x01 are the value's");
        assert_eq!(pairs(b"A\x01\xFF\x02B\x012\x02"), [("B", "2")], "not UTF-8");
        assert_eq!(pairs(b"A\x01\0\n\x02"), [("A", "\0\n")], "any other byte");
    }

    #[test]
    fn rfind_is_exact_for_every_byte_and_place() {
        for byte in 0..=255_u8 {
            for near in [byte.wrapping_sub(1), byte.wrapping_add(1), byte ^ 0x80, 0xFF - byte] {
                let mut bytes = [near; 21];
                assert_eq!(rfind(&bytes, byte), None);
                for at in 0..21 {
                    bytes[at] = byte;
                    assert_eq!(rfind(&bytes, byte), Some(at), "{byte} among {near}");
                }
            }
        }
    }

    #[test]
    fn last_pair_of_a_name_wins() {
        let text = Properties::new(b"A\x011\x02AB\x013\x02A\x012\x02A\x01\x02A\x01\xFF\x02");
        assert_eq!(text.get("A"), Some("2"));
        assert_eq!(text.get("AB"), Some("3"));
        for missing in ["B", "", "A\x012", "ABC"] {
            assert_eq!(text.get(missing), None, "{missing:?}");
        }
    }

    #[test]
    fn get_agrees_with_the_iterator() {
        let alphabet = [b'A', b'B', NAME_END, VALUE_END, 0xFF];
        for code in 0..5_usize.pow(6) {
            let text: Vec<u8> = (0..6).map(|i| alphabet[code / 5_usize.pow(i) % 5]).collect();
            for name in ["A", "B", "AB", "\x01"] {
                let last = pairs(&text).into_iter().rfind(|(n, _)| *n == name).map(|(_, v)| v);
                assert_eq!(Properties::new(&text).get(name), last, "{name:?} in {text:?}");
            }
        }
    }

    #[test]
    fn checksum_is_found_by_form_alone() {
        let mut record = b"xy".to_vec();
        record.extend_from_slice(EMPTY_RECORD_CHECKSUM);
        assert_eq!(split_record_checksum(&record), Some((&b"xy"[..], b"0000000000")));
        assert_eq!(split_record_checksum(&record[3..]), None);
        assert!(has_record_checksum(&record[2..]) && !has_record_checksum(&record[3..]));
        for at in [2, 9, 10, 21] {
            let mut other = record.clone();
            other[at] ^= 1;
            assert_eq!(split_record_checksum(&other), None, "{at}");
            assert!(has_record_checksum(&other), "{at}");
        }
        record[12..21].fill(b'-');
        assert!(has_record_checksum(&record), "the digits do not matter");
        record[2..8].fill(b'-');
        assert!(!has_record_checksum(&record), "less than half of it");
        assert!(!has_record_checksum(b"UNIQ_KEY\x010000000000\x02"));
    }

    #[test]
    fn what_breaks_off_ends_in_a_pair_with_nul() {
        for whole in [&b""[..], b"A\x011", b"A\x011\x02", b"A\x01\0\x02B\x012\x02"] {
            assert!(!breaks_off(whole), "{whole:?}");
        }
        for broken in [&b"\0"[..], b"A\x01\0", b"A\x011\x02\0\0", b"A\x011\x02\0\x01123\x02"] {
            assert!(breaks_off(broken), "{broken:?}");
        }
    }

    #[test]
    fn digits_are_lowest_first() {
        assert_eq!(&record_checksum_digits(b"Hello"), b"0390220102", "2010220930 backwards");
        assert_eq!(&record_checksum_digits(b""), b"0000000000");
    }
}
