//! A message as it is shown: one JSON object, or one line of text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use anstyle::{AnsiColor, Style};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use spanlog::MessageView;
use spanlog::record::property;

use crate::output::Output;

/// The JSON form of a message. The names and their order are a contract.
#[derive(Debug, Serialize)]
pub struct MessageLine<'a> {
    topic: &'a str,
    queue: u32,
    offset: u64,
    position: u64,
    size_bytes: u32,
    stored_ms: i64,
    born_ms: i64,
    tags: Option<&'a str>,
    keys: Vec<&'a str>,
    properties: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
}

impl<'a> MessageLine<'a> {
    /// Shows a message. The body is text where it is UTF-8, else base64.
    pub fn new(view: &MessageView<'a>) -> Self {
        let (body, body_base64) = text_or_base64(view.body());
        Self {
            topic: view.topic(),
            queue: view.queue(),
            offset: view.queue_offset(),
            position: view.position(),
            size_bytes: view.size(),
            stored_ms: view.store_ms(),
            born_ms: view.born_ms(),
            tags: view.tags(),
            keys: view.keys().collect(),
            properties: properties(view).collect(),
            body,
            body_base64,
        }
    }
}

/// All properties but the two that have fields of their own.
fn properties<'a>(view: &MessageView<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    view.properties().filter(|(name, _)| ![property::TAGS, property::KEYS].contains(name))
}

/// A message on one line, for people. What could move a terminal's cursor is escaped.
pub fn text_line(view: &MessageView<'_>, output: &Output) -> String {
    let time = output.paint(Style::new().dimmed(), time_text(view.store_ms()));
    let place = format!("{}/{} #{}", view.topic(), view.queue(), view.queue_offset());
    let mut line = format!("{time}  {}", output.paint(Style::new().bold(), visible(&place)));
    let mut add = |name: &str, value: &str| {
        let name = output.paint(Style::new().fg_color(Some(AnsiColor::Cyan.into())), visible(name));
        let _ = write!(line, "  {name}={}", visible(value));
    };
    if let Some(tags) = view.tags() {
        add("tags", tags);
    }
    let keys: Vec<_> = view.keys().collect();
    if !keys.is_empty() {
        add("keys", &keys.join(","));
    }
    // Those of the store itself say nothing to people.
    let own = [property::UNIQ_KEY, property::RECORD_CHECKSUM];
    for (name, value) in properties(view).filter(|(name, _)| !own.contains(name)) {
        add(name, value);
    }
    line + "  " + &body_text(view.body())
}

/// Bytes as text where they are UTF-8, else as base64.
pub fn text_or_base64(bytes: &[u8]) -> (Option<&str>, Option<String>) {
    let text = std::str::from_utf8(bytes).ok();
    (text, text.is_none().then(|| STANDARD.encode(bytes)))
}

fn body_text(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) => visible(text),
        Err(_) => format!("({} bytes, base64) {}", body.len(), STANDARD.encode(body)),
    }
}

/// The text with control characters escaped.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// The last millisecond that has a year of four digits.
const LAST_MS: u64 = 253_402_300_799_999;

/// A time in UTC; one that no clock can show is given in milliseconds.
pub fn time_text(time_ms: i64) -> String {
    match u64::try_from(time_ms).ok().filter(|&ms| ms <= LAST_MS) {
        Some(ms) => {
            humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(ms)).to_string()
        }
        None => format!("{time_ms} ms"),
    }
}

/// A time as people write it: RFC 3339, a blank for the T will do, or milliseconds since 1970.
///
/// # Errors
/// What it must be.
pub fn time_ms(text: &str) -> Result<i64, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let time = humantime::parse_rfc3339_weak(text).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).ok_or_else(|| {
        "a time is written as in 2026-11-30T08:00:00Z, or in milliseconds since 1970".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_no_clock_shows_are_numbers() {
        assert_eq!(time_text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(time_text(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(time_text(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        assert_eq!(time_text(253_402_300_800_000), "253402300800000 ms");
        assert_eq!(time_text(i64::MAX), "9223372036854775807 ms");
        assert_eq!(time_text(-1), "-1 ms");
    }

    #[test]
    fn times_are_read_as_they_are_shown() {
        for time in [0, 1_700_000_000_123, 253_402_300_799_999] {
            assert_eq!(time_ms(&time_text(time)), Ok(time));
            assert_eq!(time_ms(&time.to_string()), Ok(time));
        }
        assert_eq!(time_ms("2023-11-14 22:13:20"), Ok(1_700_000_000_000));
        assert_eq!(time_ms("-5"), Ok(-5));
        assert!(time_ms("yesterday").is_err() && time_ms("").is_err());
    }

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(visible("a\u{1b}[2Jb\n\u{e9}"), "a\\u{1b}[2Jb\\n\u{e9}");
        assert_eq!(body_text(b"\xFF\x00"), "(2 bytes, base64) /wA=");
        assert_eq!(body_text(b""), "");
    }
}
