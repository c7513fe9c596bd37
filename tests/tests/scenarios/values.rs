//! Values of scenarios: integers, bytes, and whether a result is what was expected.

use serde_json::Value;

/// An integer, written as a number or, where others would lose digits, as a string.
pub fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// An unsigned argument of a step; `default` where it is left out.
pub fn number(step: &Value, name: &str, default: u64) -> u64 {
    match &step[name] {
        Value::Null => default,
        value => u64::try_from(integer(value).expect("an integer")).expect("64 bits"),
    }
}

/// A text argument of a step.
pub fn text<'a>(step: &'a Value, name: &str) -> &'a str {
    step[name].as_str().unwrap_or_else(|| panic!("{step} lacks {name}"))
}

/// Bytes in hexadecimal.
pub fn bytes_of_hex(value: &Value) -> Vec<u8> {
    let digits = value.as_str().expect("digits");
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// A body: a text, `{"hex": ".."}`, or `{"fill": "x", "bytes": n}`.
pub fn bytes_of_body(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.as_bytes().to_vec(),
        value if value["hex"].is_string() => bytes_of_hex(&value["hex"]),
        value => text(value, "fill").repeat(number(value, "bytes", 0) as usize).into_bytes(),
    }
}

/// Bytes as `{"hex": ".."}`.
pub fn hex(bytes: &[u8]) -> Value {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serde_json::json!({ "hex": digits })
}

/// Where `found` is not what `expected` says: objects may have more fields than expected, lists
/// may not have more elements.
pub fn difference(expected: &Value, found: &Value, at: &str) -> Option<String> {
    match (expected, found) {
        (Value::Object(fields), Value::Object(found)) if !at.ends_with(".body") => {
            fields.iter().find_map(|(name, value)| {
                let none = Value::Null;
                difference(value, found.get(name).unwrap_or(&none), &format!("{at}.{name}"))
            })
        }
        (Value::Array(rows), Value::Array(found)) if rows.len() == found.len() => {
            let mut rows = rows.iter().zip(found).enumerate();
            rows.find_map(|(row, (a, b))| difference(a, b, &format!("{at}[{row}]")))
        }
        _ if is_same(expected, found, at) => None,
        _ => Some(format!("{at}: expected {expected}, found {found}")),
    }
}

fn is_same(expected: &Value, found: &Value, at: &str) -> bool {
    if at.ends_with(".body") && !found.is_null() {
        return bytes_of_body(expected) == bytes_of_body(found);
    }
    expected == found || (found.is_number() && integer(expected) == integer(found))
}
