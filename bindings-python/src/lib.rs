//! The Python module `spanlog._spanlog`: conversions between Python's objects and the engine's,
//! and nothing of its own. The package around it, with the exceptions and the plain classes of
//! reports, is under `python/spanlog`; its stubs say the types.
//!
//! Whatever waits or works on many messages gives the interpreter lock back meanwhile. Messages
//! own what their buffers point to.
#![deny(unsafe_code)]

mod batch;
mod cursors;
mod draft;
mod errors;
mod handle;
mod message;
mod operating;
mod options;
mod queue;
mod receipt;
mod reports;
mod store;
mod verification;
mod watch;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The engine, as the package `spanlog` re-exports it.
// The objects are safe to share between threads. But no test has run without the interpreter
// lock, so a free-threaded interpreter is asked to turn it on.
#[pymodule(gil_used = true)]
mod _spanlog {
    use super::{Bound, PyModule, PyResult};

    #[pymodule_export]
    use super::batch::{Batch, Messages};
    #[pymodule_export]
    use super::cursors::Cursor;
    #[pymodule_export]
    use super::draft::Draft;
    #[pymodule_export]
    use super::handle::note_fork;
    #[pymodule_export]
    use super::message::{Message, QueueRecord};
    #[pymodule_export]
    use super::queue::{Queue, QueueReader};
    #[pymodule_export]
    use super::receipt::Receipt;
    #[pymodule_export]
    use super::store::{Store, destroy, open};
    #[pymodule_export]
    use super::verification::{RepairPlan, plan_repair, verify};
    #[pymodule_export]
    use super::watch::Watch;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::init(module)
    }
}

fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let hooks = PyDict::new(module.py());
    hooks.set_item("after_in_child", module.getattr("_forked")?)?;
    module.py().import("os")?.call_method("register_at_fork", (), Some(&hooks))?;
    Ok(())
}
