//! What a store looks like, and what an operator does with it.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spanlog::Usage;

use crate::errors::raised;
use crate::options::{directory, named};
use crate::reports;
use crate::store::Store;

#[pymethods]
impl Store {
    /// How far the log has come: start, flushed, indexed, appended.
    fn watermarks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reports::watermarks(py, self.inner()?.watermarks())
    }

    /// The directories, measured now.
    fn disks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let store = self.inner()?;
        let disks = py.detach(|| store.disks()).map_err(raised)?;
        reports::list(py, &disks, reports::directory)
    }

    /// The segments, those that were dropped while somebody read them first.
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        reports::list(py, &self.inner()?.segments(), reports::segment)
    }

    /// The queues, by topic and number.
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        reports::list(py, &self.inner()?.queues(), reports::queue)
    }

    /// Everything at once: positions, directories, segments, queues.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let store = self.inner()?;
        reports::inspection(py, &py.detach(|| store.inspect()).map_err(raised)?)
    }

    /// What opening the store found and did.
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reports::recovery(py, self.inner()?.recovery())
    }

    /// What a round of cleaning would do now with each segment, and why. manual: as if asked for
    /// by clean_now. Changes nothing.
    #[pyo3(signature = (*, manual=false))]
    fn plan_clean<'py>(&self, py: Python<'py>, manual: bool) -> PyResult<Bound<'py, PyAny>> {
        let store = self.inner()?;
        reports::plan(py, &py.detach(|| store.plan_clean(manual)).map_err(raised)?)
    }

    /// Asks for a round of cleaning now: segments past their age go, at any hour.
    fn clean_now(&self) -> PyResult<()> {
        self.inner()?.clean_now().map_err(raised)
    }

    /// What cleaning dropped since the store was opened, newest last, at most a thousand.
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        reports::list(py, &self.inner()?.dropped(), reports::dropped)
    }

    /// Adds a directory, a path or a Directory; it takes segments from the next one on.
    fn add_directory(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let (store, options) = (self.inner()?, directory(path)?);
        py.detach(|| store.add_directory(&options)).map_err(raised)
    }

    /// Changes what a directory is for: "read-write", "draining" or "read-only".
    fn set_role(&self, py: Python<'_>, path: PathBuf, role: &str) -> PyResult<()> {
        let (store, role) = (self.inner()?, named(role)?);
        py.detach(|| store.set_role(path, role)).map_err(raised)
    }

    /// Tells how full a directory is, in place of what its file system says; None for both figures
    /// ends it.
    #[pyo3(signature = (path, *, used_bytes=None, available_bytes=None))]
    fn set_usage(
        &self,
        py: Python<'_>,
        path: PathBuf,
        used_bytes: Option<u64>,
        available_bytes: Option<u64>,
    ) -> PyResult<()> {
        let store = self.inner()?;
        let usage = match (used_bytes, available_bytes) {
            (Some(used), Some(available)) => Usage::new(used, available),
            (None, None) => None,
            _ => return Err(PyValueError::new_err("give both figures, or neither")),
        };
        py.detach(|| store.set_usage(path, usage)).map_err(raised)
    }

    /// Takes an empty directory off the store.
    fn remove_directory(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let store = self.inner()?;
        py.detach(|| store.remove_directory(path)).map_err(raised)
    }
}
