//! The engine's errors as JavaScript's: every field as JSON in the text, for `lib/errors.js`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use spanlog::{Error, ErrorKind};

/// What JavaScript sees of an engine's error. Positions are text, since its numbers have 53 bits.
pub fn thrown(error: Error) -> napi::Error {
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    fields(&json!({
        "kind": error.kind().name(),
        "message": error.to_string(),
        "path": error.path().map(|path| path.to_string_lossy()),
        "offset": text(error.offset()),
        "limit": text(error.limit()),
        "start": text(error.range().map(|range| range.start)),
        "end": text(error.range().map(|range| range.end)),
        "errno": error.raw_os_error(),
    }))
}

/// An argument that cannot be.
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

/// Runs `work` for JavaScript: a panic of ours must not end the host's process.
pub fn guarded<T>(work: impl FnOnce() -> spanlog::Result<T>) -> napi::Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome.map_err(thrown),
        Err(panic) => Err(fields(&json!({ "kind": "internal", "message": reason(&*panic) }))),
    }
}

fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("internal: the engine panicked: {}", text.unwrap_or("it did not say why"))
}

fn fields(fields: &Value) -> napi::Error {
    napi::Error::from_reason(fields.to_string())
}
