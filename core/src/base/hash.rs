//! Java's string hash, which RocketMQ stores for tags.

/// `String.hashCode` of `text`: over UTF-16 units, `h = 31 * h + unit` in wrapping 32 bits.
#[must_use]
pub fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |h, unit| h.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::java_hash;

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
}
