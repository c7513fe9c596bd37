//! What consumers filter by: tags, decided on their hash in the queue and then on themselves.

use crate::base::hash::java_hash;
use crate::error::{Error, ErrorKind, Result};

/// Which messages a reader wants, by their tags.
///
/// ```
/// use spanlog::TagFilter;
/// let filter = TagFilter::parse("tea || coffee")?;
/// assert!(filter.matches(Some("tea")) && !filter.matches(Some("tea || coffee")));
/// assert!(!filter.matches(None) && TagFilter::parse("*")?.matches(None));
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagFilter {
    /// Empty: all messages.
    tags: Vec<String>,
    /// Their hashes, in the same order.
    codes: Vec<i32>,
}

impl TagFilter {
    /// Every message.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Reads RocketMQ's expression: tags with `||` between them, blanks around them do not count;
    /// `*` or nothing stands for all messages.
    ///
    /// # Errors
    /// `Invalid` if there is no tag between the bars.
    pub fn parse(expression: &str) -> Result<Self> {
        let expression = expression.trim();
        if matches!(expression, "" | "*") {
            return Ok(Self::all());
        }
        let mut tags: Vec<String> = Vec::new();
        for tag in expression.split("||").map(str::trim).filter(|tag| !tag.is_empty()) {
            if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        if tags.is_empty() {
            let text = format!("the tag expression {expression:?} names no tag");
            return Err(Error::new(ErrorKind::Invalid, text));
        }
        let codes = tags.iter().map(|tag| java_hash(tag)).collect();
        Ok(Self { tags, codes })
    }

    /// Whether every message is wanted.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.tags.is_empty()
    }

    /// Whether a message with these tags, the whole text, is wanted.
    #[must_use]
    pub fn matches(&self, tags: Option<&str>) -> bool {
        self.is_all() || tags.is_some_and(|tags| self.tags.iter().any(|wanted| wanted == tags))
    }

    /// The hashes that wanted messages have in their queue.
    #[must_use]
    pub(crate) fn codes(&self) -> &[i32] {
        &self.codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let tags = |text: &str| TagFilter::parse(text).unwrap().tags;
        assert_eq!(tags("TagA||TagB || TagA|| "), ["TagA", "TagB"]);
        assert_eq!(tags(" A | B "), ["A | B"]);
        for all in ["", "  ", "*", " * "] {
            assert!(TagFilter::parse(all).unwrap().is_all(), "{all:?}");
        }
        for none in ["||", " || || "] {
            assert_eq!(TagFilter::parse(none).unwrap_err().kind(), ErrorKind::Invalid, "{none:?}");
        }
    }

    /// `Aa` and `BB` have one hash: only the text tells them apart.
    #[test]
    fn tag_hash_collision() {
        let filter = TagFilter::parse("Aa").unwrap();
        assert_eq!(filter.codes(), [java_hash("BB")]);
        assert!(filter.matches(Some("Aa")) && !filter.matches(Some("BB")));
    }
}
