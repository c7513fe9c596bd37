//! The engine's errors as the exceptions of `spanlog.errors`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// `spanlog.errors.exception`, which knows the class of each kind.
static EXCEPTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception for an error.
pub fn raised(error: spanlog::Error) -> PyErr {
    exception(&error)
}

/// The exception for an error that is kept.
pub fn exception(error: &spanlog::Error) -> PyErr {
    Python::attach(|py| match make(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    })
}

/// The exception for a store that was opened before this process was forked off.
pub fn forked(py: Python<'_>) -> PyErr {
    let class = py.import("spanlog.errors").and_then(|module| module.getattr("ForkedError"));
    let text = "the store was opened before a fork: open it again in the child";
    match class.and_then(|class| class.call1((text,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

fn make<'py>(py: Python<'py>, error: &spanlog::Error) -> PyResult<Bound<'py, PyAny>> {
    let function = EXCEPTION.get_or_try_init(py, || {
        PyResult::Ok(py.import("spanlog.errors")?.getattr("exception")?.unbind())
    })?;
    let place = PyDict::new(py);
    place.set_item("message", error.message())?;
    place.set_item("path", error.path().map(|path| path.as_os_str()))?;
    place.set_item("offset", error.offset())?;
    place.set_item("limit", error.limit())?;
    if let Some(range) = error.range() {
        let class = py.import("builtins")?.getattr("range")?;
        place.set_item("range", class.call1((range.start, range.end))?)?;
    }
    place.set_item("errno", error.raw_os_error())?;
    function.bind(py).call1((error.kind().name(), error.to_string(), place))
}
