//! Java's string hash, which RocketMQ stores for tags and keys.

/// `31^7` down to `31^0`: what the units of a group of eight are weighted with.
const WEIGHTS: [i32; 8] =
    [27_512_614_111_u64 as i32, 887_503_681, 28_629_151, 923_521, 29_791, 961, 31, 1];

/// `31^8`, in wrapping 32 bits.
const EIGHT_ON: i32 = 852_891_037_441_u64 as i32;

/// `String.hashCode` of `text`: over UTF-16 units, `h = 31 * h + unit` in wrapping 32 bits.
#[must_use]
pub fn java_hash(text: &str) -> i32 {
    java_hash_on(0, text)
}

/// The hash of a text that begins with one of that `hash` and goes on with `text`.
#[must_use]
pub fn java_hash_on(hash: i32, text: &str) -> i32 {
    if !text.is_ascii() {
        return text.encode_utf16().fold(hash, |hash, unit| step(hash, i32::from(unit)));
    }
    // One unit after the other, each would wait for a multiplication; eight have one in common.
    let (groups, rest) = text.as_bytes().as_chunks::<8>();
    let hash = groups.iter().fold(hash, |hash, group| {
        let terms = group.iter().zip(WEIGHTS).map(|(&byte, by)| i32::from(byte).wrapping_mul(by));
        hash.wrapping_mul(EIGHT_ON).wrapping_add(terms.fold(0, i32::wrapping_add))
    });
    rest.iter().fold(hash, |hash, &byte| step(hash, i32::from(byte)))
}

fn step(hash: i32, unit: i32) -> i32 {
    hash.wrapping_mul(31).wrapping_add(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let rows = [
            ("", 0),
            ("TagA", 2_598_919),
            ("\u{4f60}\u{597d}", 652_829),
            ("\u{1F600}", 1_772_899),
            ("polygenelubricants", i32::MIN),
        ];
        for (text, hash) in rows {
            assert_eq!(java_hash(text), hash, "{text}");
        }
    }

    #[test]
    fn groups_of_eight_change_nothing() {
        let text = "polygenelubricants, TopicTest#T#\u{e9}t\u{e9}";
        for (end, _) in text.char_indices() {
            let plain = text[..end].encode_utf16().fold(0, |hash, unit| step(hash, unit.into()));
            assert_eq!(java_hash(&text[..end]), plain, "{end}");
            for (middle, _) in text[..end].char_indices() {
                assert_eq!(java_hash_on(java_hash(&text[..middle]), &text[middle..end]), plain);
            }
        }
    }
}
