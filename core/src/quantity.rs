//! Durations, sizes, ratios and path lists as people write them. A number without a unit is
//! never guessed at where its unit is not plain.

use std::path::PathBuf;

use crate::error::{Error, ErrorKind, Result};

/// The largest duration and size: what a signed 64-bit number holds.
const LARGEST: u128 = i64::MAX as u128;

/// Most digits a number may have: twice what any limit needs, and far below 128 bits.
const MAX_DIGITS: usize = 20;

/// Units of time in milliseconds, largest first.
const DURATIONS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Units of size in bytes: decimal and binary ones are distinct (IEC 80000-13).
const SIZES: [(&str, u64); 11] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1000),
    ("KB", 1000),
    ("B", 1),
    ("", 1),
];

/// Reads a duration into milliseconds: a number, also with a fraction, and one of `ms`, `s`,
/// `m`, `h`, `d`.
///
/// # Errors
/// [`ErrorKind::Invalid`] without a unit (also for 0), for negative numbers, and for what is not
/// a whole number of milliseconds.
///
/// ```
/// use spanlog::quantity::parse_duration_ms;
/// assert_eq!(parse_duration_ms("0.1h")?, 360_000);
/// assert!(parse_duration_ms("720").is_err());
/// # Ok::<(), spanlog::Error>(())
/// ```
pub fn parse_duration_ms(text: &str) -> Result<u64> {
    let expected = "a number and a unit: ms, s, m, h or d, as in 72h";
    scaled(text, &DURATIONS).ok_or_else(|| invalid("duration", text, expected))
}

/// Writes a duration so that [`parse_duration_ms`] reads the same again.
#[must_use]
pub fn duration_text(duration_ms: u64) -> String {
    shortest(duration_ms, &DURATIONS, "ms")
}

/// Reads a size into bytes: a number, also with a fraction, and `B`, `kB`, `MB`, `GB`, `TB`
/// (powers of 1000) or `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024). A whole number alone is
/// bytes.
///
/// # Errors
/// [`ErrorKind::Invalid`] for units that could mean either (`50M`, `1g`), for negative numbers,
/// for what is not a whole number of bytes, and from 2^63 on.
///
/// ```
/// use spanlog::quantity::parse_size_bytes;
/// assert_eq!(parse_size_bytes("50MB")?, 50_000_000);
/// assert_eq!(parse_size_bytes("50MiB")?, 52_428_800);
/// assert!(parse_size_bytes("50M").is_err());
/// # Ok::<(), spanlog::Error>(())
/// ```
pub fn parse_size_bytes(text: &str) -> Result<u64> {
    let expected = "a number and a unit: B, kB, MB, GB, TB or KiB, MiB, GiB, TiB, as in 50MiB";
    scaled(text, &SIZES).ok_or_else(|| invalid("size", text, expected))
}

/// Writes a size so that [`parse_size_bytes`] reads the same again, in the unit that makes it
/// shortest.
#[must_use]
pub fn size_text(size_bytes: u64) -> String {
    shortest(size_bytes, &SIZES, "B")
}

/// Reads a ratio from 0 to 1: a number (`0.75`, `1`) or a percentage (`75%`). The text of an
/// `f64` in Rust reads back as the same.
///
/// # Errors
/// [`ErrorKind::Invalid`] for anything else, `75` without a sign of percentage among it.
///
/// ```
/// use spanlog::quantity::parse_ratio;
/// assert_eq!(parse_ratio("0.75")?, parse_ratio("75%")?);
/// assert!(parse_ratio("75").is_err());
/// # Ok::<(), spanlog::Error>(())
/// ```
pub fn parse_ratio(text: &str) -> Result<f64> {
    ratio(text)
        .filter(|ratio| (0.0..=1.0).contains(ratio))
        .ok_or_else(|| invalid("ratio", text, "a number from 0 to 1, or a percentage, as in 75%"))
}

/// Reads a list of paths separated by commas. Blanks around each are no part of it. A path that
/// holds a comma is given as a list of its own, not as text.
///
/// # Errors
/// [`ErrorKind::Invalid`] if one is empty.
pub fn parse_paths(text: &str) -> Result<Vec<PathBuf>> {
    text.split(',')
        .map(str::trim)
        .map(|path| if path.is_empty() { None } else { Some(PathBuf::from(path)) })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| invalid("path list", text, "paths separated by ',', none of them empty"))
}

/// The error for a text that is not what was `expected`.
fn invalid(what: &str, text: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("{what} is {text:?}: it must be {expected}"))
}

/// A number with a fraction, exactly: `digits` / 10^`scale`.
struct Decimal {
    digits: u128,
    scale: u32,
}

impl Decimal {
    /// Parses digits, or digits with a point between them. No sign, no exponent.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (text, ""),
        };
        let digits = [whole, fraction].concat();
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_plain || digits.len() > MAX_DIGITS {
            return None;
        }
        Some(Self { digits: digits.parse().ok()?, scale: fraction.len().try_into().ok()? })
    }

    /// The whole number of smallest units that this many of `unit` are.
    fn times(&self, unit: u64) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(unit))?;
        let divisor = 10_u128.checked_pow(self.scale)?;
        let whole = product / divisor;
        if product % divisor == 0 && whole <= LARGEST { whole.try_into().ok() } else { None }
    }
}

/// Splits a text into its number and what follows, without the blanks between.
fn split(text: &str) -> Option<(Decimal, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((Decimal::parse(number)?, unit.trim_start()))
}

/// A number times its unit, if it has one of `units`.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, name) = split(text)?;
    let &(_, unit) = units.iter().find(|&&(unit, _)| unit == name)?;
    number.times(unit)
}

/// Correctly rounded, so that `75%` is the same number as `0.75`.
fn ratio(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let scale = match unit {
        "" => number.scale,
        "%" => number.scale + 2,
        _ => return None,
    };
    format!("{}e-{scale}", number.digits).parse().ok()
}

/// The shortest exact text in one of `units`; `smallest` is the unit of 0.
fn shortest(value: u64, units: &[(&str, u64)], smallest: &str) -> String {
    let exact = |&&(name, unit): &&(&str, u64)| {
        !name.is_empty() && value.is_multiple_of(unit) && value >= unit
    };
    let text = |&(name, unit): &(&str, u64)| format!("{}{name}", value / unit);
    let texts = units.iter().filter(exact).map(text);
    texts.min_by_key(String::len).unwrap_or_else(|| format!("0{smallest}"))
}

#[cfg(test)]
#[path = "quantity_tests.rs"]
mod tests;
