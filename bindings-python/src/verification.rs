//! Verification, with progress told along the way, and repair of what it found.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use spanlog::{Error, ErrorKind, Verification};

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
    let verification = begin(py, root, paths, allow_offline)?;
    run_verification(py, verification, progress)
}

/// What mending the store at root takes, by a verification of it; its arguments are those of
/// verify. Nothing is changed before RepairPlan.apply.
#[pyfunction]
#[pyo3(signature = (root, *, paths=None, allow_offline=false, progress=None))]
pub fn plan_repair(
    py: Python<'_>,
    root: PathBuf,
    paths: Option<&Bound<'_, PyAny>>,
    allow_offline: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<RepairPlan> {
    let mut verification = begin(py, root, paths, allow_offline)?;
    let found = finish(py, &mut verification, progress)?.unbind();
    let plan = spanlog::RepairPlan::of(&verification).map_err(raised)?;
    let actions = reports::actions(py, &plan)?.into_iter().map(Bound::unbind).collect();
    let beyond = reports::list(py, plan.beyond(), reports::finding)?;
    let beyond = beyond.into_iter().map(Bound::unbind).collect();
    Ok(RepairPlan { plan: Mutex::new(Some(plan)), verification: found, actions, beyond })
}

/// What mending a store takes. Nothing is done before apply.
#[pyclass(frozen, module = "spanlog")]
pub struct RepairPlan {
    plan: Mutex<Option<spanlog::RepairPlan>>,
    /// What was found.
    #[pyo3(get)]
    verification: Py<PyAny>,
    /// What will be done, in order.
    #[pyo3(get)]
    actions: Vec<Py<PyAny>>,
    /// What was found and cannot be mended here.
    #[pyo3(get)]
    beyond: Vec<Py<PyAny>>,
}

#[pymethods]
impl RepairPlan {
    /// Does it, once, and opens and closes the store, which recovers it. After a "resize" another
    /// plan is needed: what the file lacked is told by that. Raises LockedError while somebody has
    /// the store open.
    fn apply<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = py.detach(|| {
            let text = "the plan was applied: verify again for another";
            plan.ok_or_else(|| Error::new(ErrorKind::Invalid, text))?.apply()
        });
        reports::repaired(py, &done.map_err(raised)?)
    }

    fn __repr__(&self) -> String {
        format!("<spanlog.RepairPlan of {} actions>", self.actions.len())
    }
}

fn begin(
    py: Python<'_>,
    root: PathBuf,
    paths: Option<&Bound<'_, PyAny>>,
    allow_offline: bool,
) -> PyResult<Verification> {
    let options = options(paths, None)?.allow_offline(allow_offline);
    py.detach(|| Verification::new(root, &options)).map_err(raised)
}

/// Runs a verification to its end, and answers signals between two steps.
pub fn run_verification<'py>(
    py: Python<'py>,
    mut verification: Verification,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    finish(py, &mut verification, progress)
}

fn finish<'py>(
    py: Python<'py>,
    verification: &mut Verification,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    while let Some(step) = py.detach(|| verification.step()).map_err(raised)? {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1((step.part.name(), step.done, step.total))?;
        }
    }
    reports::verification(py, verification)
}
