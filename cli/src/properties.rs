//! The syntax of Java's property files (`java.util.Properties.load`), which brokers are
//! configured with: bytes in, keys and values with their lines out.

/// One key and its value, neither of them judged yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key.
    pub key: String,
    /// The value, blanks at its end included: Java keeps them.
    pub value: String,
    /// The line it begins in, from 1.
    pub line: usize,
    /// Whether it holds bytes that Java takes for Latin-1 and people seldom mean as that.
    pub is_foreign: bool,
}

/// What is wrong in which line.
pub type Fault = (usize, &'static str);

/// Reads a whole file, in order; of two properties with one key Java takes the last.
///
/// # Errors
/// An escape `\u` without four hexadecimal digits, or half of a surrogate pair.
pub fn parse(bytes: &[u8]) -> Result<Vec<Property>, Fault> {
    logical_lines(bytes).into_iter().map(|(line, text)| property(line, &text)).collect()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0C)
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|&byte| !is_blank(byte)).unwrap_or(bytes.len());
    bytes.get(start..).unwrap_or_default()
}

/// Lines with their continuations joined, without comments and blank lines.
fn logical_lines(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut lines = Vec::new();
    let mut open: Option<(usize, Vec<u8>)> = None;
    for (at, natural) in natural_lines(bytes).into_iter().enumerate() {
        let text = trim_start(natural);
        if open.is_none() && matches!(text.first(), None | Some(b'#' | b'!')) {
            continue;
        }
        let (number, mut line) = open.take().unwrap_or((at + 1, Vec::new()));
        let slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if slashes % 2 == 1 {
            line.extend_from_slice(&text[..text.len() - 1]);
            open = Some((number, line));
        } else {
            line.extend_from_slice(text);
            lines.push((number, line));
        }
    }
    lines.extend(open);
    lines
}

/// Lines as the file has them: `\n`, `\r` and `\r\n` end one.
fn natural_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        let ending = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        lines.push(&rest[..end]);
        rest = &rest[end + ending..];
    }
    lines.push(rest);
    lines
}

fn property(line: usize, text: &[u8]) -> Result<Property, Fault> {
    let (key, value) = split(text);
    let is_foreign = !text.is_ascii();
    let unescaped = |part| unescape(part).map_err(|fault| (line, fault));
    Ok(Property { key: unescaped(key)?, value: unescaped(value)?, line, is_foreign })
}

/// The key ends at the first `=`, `:` or blank that is not escaped; one `=` or `:` and all
/// blanks around it are dropped.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let mut is_escaped = false;
    let ends = |&byte: &u8| {
        let ends = !is_escaped && (matches!(byte, b'=' | b':') || is_blank(byte));
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    };
    let end = text.iter().position(ends).unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    let rest = trim_start(rest);
    match rest.split_first() {
        Some((b'=' | b':', value)) => (key, trim_start(value)),
        _ => (key, rest),
    }
}

fn unescape(text: &[u8]) -> Result<String, &'static str> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            units.push(u16::from(byte));
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else { break };
        rest = tail;
        units.push(match escape {
            b't' => 9,
            b'n' => 10,
            b'f' => 12,
            b'r' => 13,
            b'u' => hex(&mut rest)?,
            other => u16::from(other),
        });
    }
    String::from_utf16(&units).map_err(|_| "an escape is half of a surrogate pair")
}

/// Takes the four digits of an escape.
fn hex(rest: &mut &[u8]) -> Result<u16, &'static str> {
    let fault = "after \\u there must be four hexadecimal digits";
    let (digits, tail) = rest.split_at_checked(4).ok_or(fault)?;
    *rest = tail;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_hex).ok_or(fault)?;
    u16::from_str_radix(text, 16).map_err(|_| fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static str, &'static str, usize);

    fn pairs(text: &str) -> Vec<(String, String, usize)> {
        let properties = parse(text.as_bytes()).unwrap();
        properties.into_iter().map(|p| (p.key, p.value, p.line)).collect()
    }

    /// The rows of the documentation of `Properties.load`, and others.
    #[test]
    fn syntax_table() {
        let rows: [(&str, &[Row]); 18] = [
            ("", &[]),
            ("\n\r\n # c\n\t! c\n", &[]),
            ("a=1", &[("a", "1", 1)]),
            ("a = 1", &[("a", "1", 1)]),
            ("  a:1", &[("a", "1", 1)]),
            ("a 1", &[("a", "1", 1)]),
            ("a\t=\x0C1 \n", &[("a", "1 ", 1)]),
            ("a", &[("a", "", 1)]),
            ("a==1", &[("a", "=1", 1)]),
            ("a\\=b=1", &[("a=b", "1", 1)]),
            ("a=1\r\nb=2\rc=3", &[("a", "1", 1), ("b", "2", 2), ("c", "3", 3)]),
            ("a=1,\\\n   2,\\\n\t3\nb=4", &[("a", "1,2,3", 1), ("b", "4", 4)]),
            ("a=1\\\\\nb=2", &[("a", "1\\", 1), ("b", "2", 2)]),
            ("a=1 # no comment", &[("a", "1 # no comment", 1)]),
            ("a=\\u00e9\\t\\q", &[("a", "\u{e9}\tq", 1)]),
            ("a=\\ud83d\\ude00", &[("a", "\u{1F600}", 1)]),
            ("a=1\\\n# more\n", &[("a", "1# more", 1)]),
            ("a=1\\", &[("a", "1", 1)]),
        ];
        for (text, expected) in rows {
            let expected: Vec<_> =
                expected.iter().map(|&(k, v, line)| (k.to_owned(), v.to_owned(), line)).collect();
            assert_eq!(pairs(text), expected, "{text:?}");
        }
    }

    #[test]
    fn bad_escapes_name_their_line() {
        for text in ["\n\na=\\u12", "\n\na=\\u12g4", "\n\na=\\ud83d", "\n\na\\u+123=1"] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().0, 3, "{text:?}");
        }
    }

    #[test]
    fn bytes_above_ascii_are_marked() {
        let properties = parse("a=caf\u{e9}\nb=1".as_bytes()).unwrap();
        assert!(properties[0].is_foreign && !properties[1].is_foreign);
    }
}
