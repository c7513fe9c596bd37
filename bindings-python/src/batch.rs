//! Batches of messages, and iterators over them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use spanlog::{Error, ReadStatus};

use crate::errors::exception;
use crate::message::Message;
use crate::reports;

/// The messages that one read found, in queue order, and where to read on. Holds what it needs:
/// it may outlive the store. A message that is damaged raises CorruptError when it is taken out.
#[pyclass(frozen, module = "spanlog")]
pub struct Batch(pub Arc<Found>);

/// A batch whose messages were checked.
pub struct Found {
    batch: spanlog::Batch,
    /// What is wrong with which message; nearly always nothing.
    damage: Vec<(usize, Error)>,
    copy: bool,
}

impl Found {
    /// Checks every message: its structure, and with `verify` its checksums.
    pub fn check(batch: spanlog::Batch, verify: bool, copy: bool) -> Self {
        let check = |stored: spanlog::Stored<'_>| match verify {
            true => stored.decode_verified().err(),
            false => stored.decode().err(),
        };
        let checked = batch.iter().enumerate();
        let damage = checked.filter_map(|(at, stored)| Some((at, check(stored)?))).collect();
        Self { batch, damage, copy }
    }

    fn message(&self, at: usize) -> PyResult<Option<Message>> {
        if let Some((_, error)) = self.damage.iter().find(|(damaged, _)| *damaged == at) {
            return Err(exception(error));
        }
        let message = |stored: spanlog::Stored<'_>| {
            Message::new(stored.slice(), stored.queue_offset().get(), self.copy)
        };
        Ok(self.batch.get(at).map(message))
    }
}

#[pymethods]
impl Batch {
    /// What was found: "found", "no_queue" or "empty" (nothing there yet, go on at next),
    /// "too_small" (retention dropped the offset), "at_end", "too_large" (behind the end),
    /// "removed" (the messages at the offset are gone or lost), "no_match" (none is wanted).
    #[getter]
    fn status(&self) -> &'static str {
        status(self.0.batch.status())
    }

    /// The queue offset to read on at.
    #[getter]
    fn next(&self) -> u64 {
        self.0.batch.next().get()
    }

    /// The queue's first offset kept and one past its last, as of this read.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reports::bounds(py, self.0.batch.bounds())
    }

    /// The bodies as a list of bytes: for small messages the fastest way.
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if let Some((_, error)) = self.0.damage.first() {
            return Err(exception(error));
        }
        let bodies = self.0.batch.iter().map(|stored| {
            PyBytes::new(py, stored.decode().expect("checked when it was read").body())
        });
        PyList::new(py, bodies)
    }

    fn __len__(&self) -> usize {
        self.0.batch.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Message> {
        let len = self.__len__();
        let at =
            if index < 0 { len.checked_add_signed(index) } else { usize::try_from(index).ok() };
        let message = at.map_or(Ok(None), |at| self.0.message(at))?;
        message.ok_or_else(|| PyIndexError::new_err("the batch has fewer messages"))
    }

    fn __iter__(&self) -> Messages {
        Messages::over(Arc::clone(&self.0))
    }

    fn __repr__(&self) -> String {
        format!(
            "<spanlog.Batch {} messages={} next={}>",
            self.status(),
            self.__len__(),
            self.next()
        )
    }
}

/// The name of a status.
fn status(status: ReadStatus) -> &'static str {
    match status {
        ReadStatus::Found => "found",
        ReadStatus::NoQueue => "no_queue",
        ReadStatus::Empty => "empty",
        ReadStatus::TooSmall => "too_small",
        ReadStatus::AtEnd => "at_end",
        ReadStatus::TooLarge => "too_large",
        ReadStatus::Removed => "removed",
        ReadStatus::NoMatch => "no_match",
    }
}

/// Reads the batch from an offset on.
pub type Source = Box<dyn Fn(Python<'_>, u64) -> PyResult<Found> + Send + Sync>;

/// An iterator over messages: those of a batch, or those of a queue up to its present end. At the
/// end of a queue it stops, and goes on where it stopped once more were appended.
#[pyclass(frozen, module = "spanlog")]
pub struct Messages {
    place: Mutex<Place>,
    source: Option<Source>,
}

struct Place {
    found: Option<Arc<Found>>,
    at: usize,
    next: u64,
}

impl Messages {
    fn over(found: Arc<Found>) -> Self {
        Self { place: Mutex::new(Place { found: Some(found), at: 0, next: 0 }), source: None }
    }

    /// The messages that a source gives from an offset on.
    pub fn of(source: Source, next: u64) -> Self {
        Self { place: Mutex::new(Place { found: None, at: 0, next }), source: Some(source) }
    }

    /// The next message of the batch in hand.
    fn step(&self) -> PyResult<Option<Message>> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = &place.found else { return Ok(None) };
        let message = found.message(place.at);
        place.at += 1;
        message
    }

    /// Takes the next batch in hand. Gaps that retention or damage left are passed over.
    fn read_on(&self, py: Python<'_>) -> PyResult<bool> {
        let Some(source) = &self.source else { return Ok(false) };
        let from = self.place.lock().unwrap_or_else(PoisonError::into_inner).next;
        let found = source(py, from)?;
        let (status, next) = (found.batch.status(), found.batch.next().get());
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Place { found: Some(Arc::new(found)), at: 0, next: next.max(from) };
        Ok(match status {
            ReadStatus::Found => true,
            ReadStatus::TooSmall | ReadStatus::Removed | ReadStatus::NoMatch => next > from,
            _ => false,
        })
    }
}

#[pymethods]
impl Messages {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Message>> {
        loop {
            if let Some(message) = self.step()? {
                return Ok(Some(message));
            }
            py.check_signals()?;
            if !self.read_on(py)? {
                return Ok(None);
            }
        }
    }
}
