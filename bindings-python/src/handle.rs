//! What an open store or queue has in common: it is closed once, and belongs to one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::prelude::*;
use spanlog::{Error, ErrorKind};

use crate::errors::{forked, raised};

/// How often this process was forked off: what was opened before is the parent's.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Notes that this process was forked off.
#[pyfunction]
#[pyo3(name = "_forked")]
pub fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Something of the engine's that is open.
pub struct Handle<T> {
    inner: Arc<T>,
    closed: AtomicBool,
    /// FORKS when it was opened.
    forks: u64,
}

impl<T> Handle<T> {
    /// A handle of this process.
    pub fn new(inner: T) -> Self {
        let forks = FORKS.load(Ordering::Relaxed);
        Self { inner: Arc::new(inner), closed: AtomicBool::new(false), forks }
    }

    /// What is open, unless it was closed or belongs to the parent process.
    pub fn get(&self) -> PyResult<&T> {
        if self.is_inherited() {
            return Err(Python::attach(forked));
        }
        match self.is_closed() {
            false => Ok(&self.inner),
            true => Err(raised(Error::new(ErrorKind::Closed, "it was closed"))),
        }
    }

    /// What was opened, in whatever state it is.
    pub fn peek(&self) -> &T {
        &self.inner
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Closes it the first time, in the process that opened it.
    pub fn close(&self, close: impl FnOnce(&T) -> PyResult<()>) -> PyResult<()> {
        match self.is_inherited() || self.closed.swap(true, Ordering::AcqRel) {
            true => Ok(()),
            false => close(&self.inner),
        }
    }

    /// Whether it was opened before this process was forked off.
    pub fn is_inherited(&self) -> bool {
        self.forks != FORKS.load(Ordering::Relaxed)
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        if self.is_inherited() {
            // Closing would write to the parent's files and wait for its threads.
            std::mem::forget(Arc::clone(&self.inner));
        }
    }
}
