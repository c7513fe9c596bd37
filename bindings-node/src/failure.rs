//! The engine's errors as JavaScript's: every field as JSON in the text, for `lib/errors.js`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use spanlog::{Error, ErrorKind};

use crate::answers::{digits, path};

/// All of an engine's error.
pub fn fields(error: &Error) -> Value {
    json!({
        "kind": error.kind().name(),
        "message": error.to_string(),
        "path": error.path().map(path),
        "offset": error.offset().map(digits),
        "limit": error.limit().map(digits),
        "range": error.range().map(|range| json!({
            "start": digits(range.start), "end": digits(range.end),
        })),
        "errno": error.raw_os_error(),
    })
}

/// What JavaScript sees of an engine's error.
pub fn thrown(error: Error) -> napi::Error {
    napi::Error::from_reason(fields(&error).to_string())
}

/// An argument that cannot be.
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

/// Runs `work` for JavaScript: a panic of ours must not end the host's process.
pub fn guarded<T>(work: impl FnOnce() -> spanlog::Result<T>) -> napi::Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome.map_err(thrown),
        Err(panic) => {
            let fields = json!({ "kind": "internal", "message": reason(&*panic) });
            Err(napi::Error::from_reason(fields.to_string()))
        }
    }
}

fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("internal: the engine panicked: {}", text.unwrap_or("it did not say why"))
}
