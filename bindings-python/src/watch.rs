//! Waiting: in slices, so that signals are answered, or beside an event loop.

use std::os::fd::AsRawFd;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raised;

/// How long a wait runs before it looks for signals.
const SLICE: Duration = Duration::from_millis(100);

/// Waits without the interpreter lock until `wait` says true, or `timeout` seconds are over.
pub fn in_slices(
    py: Python<'_>,
    timeout: Option<f64>,
    mut wait: impl FnMut(Duration) -> spanlog::Result<bool> + Send,
) -> PyResult<bool> {
    let mut left = timeout.map_or(Ok(Duration::MAX), seconds)?;
    loop {
        let slice = left.min(SLICE);
        if py.detach(|| wait(slice)).map_err(raised)? {
            return Ok(true);
        }
        py.check_signals()?;
        left = left.saturating_sub(slice);
        if left.is_zero() {
            return Ok(false);
        }
    }
}

/// A length of time; one too long for the system is for ever.
fn seconds(timeout: f64) -> PyResult<Duration> {
    match timeout >= 0.0 {
        true => Ok(Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX)),
        false => Err(PyValueError::new_err("timeout is a number of seconds from 0")),
    }
}

/// Tells whether there is more than was seen. A new watch has seen nothing: clear it, read on
/// until there is no more, and wait; what comes in between is not missed. It costs no thread, may
/// be used from any thread, and outlives the store.
#[pyclass(frozen, module = "spanlog")]
pub struct Watch(spanlog::Watch);

impl Watch {
    /// A watch of the engine's.
    pub fn new(watch: spanlog::Watch) -> Self {
        Self(watch)
    }
}

#[pymethods]
impl Watch {
    /// True as soon as there is something that was not seen, False after timeout seconds (None:
    /// never). Raises ClosedError once the store was closed.
    #[pyo3(signature = (*, timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        in_slices(py, timeout, |slice| self.0.wait(slice))
    }

    /// Everything that is there now has been seen, or is about to be read.
    fn clear(&self) {
        self.0.clear();
    }

    /// A descriptor that is readable while there is something that was not seen, and once the
    /// store was closed. It is the watch's: poll it and do nothing else with it.
    fn fileno(&self) -> PyResult<i32> {
        Ok(self.0.event_fd().map_err(raised)?.as_raw_fd())
    }
}
