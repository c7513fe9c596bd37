//! Verification, with progress told along the way.

use std::path::PathBuf;

use pyo3::prelude::*;
use spanlog::Verification;

use crate::errors::raised;
use crate::options::options;
use crate::reports;

/// Reads everything of the store at root and compares it, without opening it: a closed one, one
/// that a killed process left, or one that somebody writes. Raises nothing for damage: the findings
/// tell. progress is called as progress(part, done, total) after each step; what it raises ends
/// the verification.
#[pyfunction]
#[pyo3(signature = (root, *, paths=None, allow_offline=false, progress=None))]
pub fn verify<'py>(
    py: Python<'py>,
    root: PathBuf,
    paths: Option<&Bound<'py, PyAny>>,
    allow_offline: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options(paths, None)?.allow_offline(allow_offline);
    let begun = py.detach(|| Verification::new(root, &options)).map_err(raised)?;
    run_verification(py, begun, progress)
}

/// Runs a verification to its end, and answers signals between two steps.
pub fn run_verification<'py>(
    py: Python<'py>,
    mut verification: Verification,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    while let Some(step) = py.detach(|| verification.step()).map_err(raised)? {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1((step.part.name(), step.done, step.total))?;
        }
    }
    reports::verification(py, &verification)
}
