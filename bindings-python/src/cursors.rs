//! Named consumers of a topic.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spanlog::{CursorOptions, Error, ErrorKind, Hold, QueueOffset, ReadLimits, Seek};

use crate::errors::{exception, raised};
use crate::message::Message;
use crate::reports;
use crate::store::Store;
use crate::watch::{Watch, in_slices};

/// A named consumer of a topic, open. Threads that poll at once share its messages. What was
/// acknowledged is durable once commit returned; closing commits, and so does leaving its block.
///
/// Iterating waits for messages until the cursor or its store is closed; where retention was
/// faster, it raises GoneError once and goes on behind that.
#[pyclass(frozen, module = "spanlog")]
pub struct Cursor {
    store: Py<Store>,
    cursor: Mutex<Option<Arc<spanlog::Cursor>>>,
    /// What an iteration has in hand.
    ready: Mutex<VecDeque<PyResult<Message>>>,
}

/// What one poll gave.
#[derive(Default)]
struct Polled {
    messages: Vec<Message>,
    overtaken: Vec<spanlog::Overtaken>,
    failures: Vec<(u32, Error)>,
}

impl Cursor {
    fn inner(&self) -> PyResult<Arc<spanlog::Cursor>> {
        self.store.get().inner()?;
        self.opened().map_err(raised)
    }

    fn opened(&self) -> spanlog::Result<Arc<spanlog::Cursor>> {
        let cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner).clone();
        cursor.ok_or_else(|| Error::new(ErrorKind::Closed, "the cursor was closed"))
    }

    /// Polls once the wait is over; what is damaged is told beside what is not.
    fn poll_now(
        &self,
        py: Python<'_>,
        limits: ReadLimits,
        timeout: Option<f64>,
    ) -> PyResult<Polled> {
        self.inner()?;
        let mut polled = None;
        in_slices(py, timeout, |slice| {
            // Another thread may close it meanwhile.
            let delivery = self.opened()?.poll(limits, slice)?;
            let is_something = !delivery.is_empty() || !delivery.overtaken().is_empty();
            polled = Some(delivery);
            Ok(is_something)
        })?;
        let Some(delivery) = polled else { return Ok(Polled::default()) };
        Ok(py.detach(|| Polled::of(&delivery)))
    }
}

impl Polled {
    fn of(delivery: &spanlog::Delivery) -> Self {
        let mut polled = Self { overtaken: delivery.overtaken().to_vec(), ..Self::default() };
        for delivered in delivery.iter() {
            let stored = delivered.message;
            match stored.decode_verified() {
                Ok(_) => polled.messages.push(
                    Message::new(stored.slice(), stored.queue_offset().get(), false)
                        .delivered(delivered.attempt),
                ),
                Err(error) => polled.failures.push((delivered.queue, error)),
            }
        }
        polled
    }
}

/// The exception that tells of an overtaken queue.
fn gone(overtaken: &spanlog::Overtaken) -> PyErr {
    let gone = overtaken.gone.start.get()..overtaken.gone.end.get();
    let text = format!("retention dropped messages of queue {} first", overtaken.queue);
    raised(Error::new(ErrorKind::Gone, text).with_limit(gone.end).with_range(gone))
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if self.store.get().is_inherited() {
            // Committing would write the parent's file.
            std::mem::forget(cursor);
        }
    }
}

#[pymethods]
impl Cursor {
    /// Messages of its queues in fair shares: those that are due again, then new ones. Returns as
    /// soon as there is one or retention has overtaken the cursor, and with nothing after timeout
    /// seconds (None: never). What is not acknowledged in time comes again.
    #[pyo3(signature = (*, max_messages=256, max_bytes=1048576, timeout=0.0))]
    fn poll<'py>(
        &self,
        py: Python<'py>,
        max_messages: usize,
        max_bytes: u64,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let polled = self.poll_now(py, ReadLimits { max_messages, max_bytes }, timeout)?;
        if polled.messages.is_empty()
            && polled.overtaken.is_empty()
            && let Some((_, error)) = polled.failures.first()
        {
            return Err(exception(error));
        }
        let row = |row: &spanlog::Overtaken| (row.queue, row.gone.start.get(), row.gone.end.get());
        let overtaken: Vec<_> = polled.overtaken.iter().map(row).collect();
        let failures: Vec<_> = polled
            .failures
            .iter()
            .map(|(queue, error)| (*queue, exception(error).into_value(py)))
            .collect();
        reports::object(py, "delivery", (polled.messages, overtaken, failures))
    }

    /// Acknowledges a message that was delivered; doing so twice is fine, in any order.
    fn ack(&self, message: &Message) -> PyResult<()> {
        let (queue, offset) = message.place();
        self.ack_at(queue, offset)
    }

    /// Acknowledges the message of a queue at an offset.
    fn ack_at(&self, queue: u32, offset: u64) -> PyResult<()> {
        self.inner()?.ack(queue, QueueOffset::new(offset)).map_err(raised)
    }

    /// Acknowledges every message of a queue below an offset.
    fn ack_up_to(&self, queue: u32, end: u64) -> PyResult<()> {
        self.inner()?.ack_up_to(queue, QueueOffset::new(end)).map_err(raised)
    }

    /// Makes what was acknowledged so far durable.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let cursor = self.inner()?;
        py.detach(|| cursor.commit()).map_err(raised)
    }

    /// Goes on elsewhere: at "start" or "end" of every queue, at an offset of one queue, or at the
    /// first message stored at or after a time in milliseconds since 1970.
    #[pyo3(signature = (to=None, *, queue=None, offset=None, time_ms=None))]
    fn seek(
        &self,
        py: Python<'_>,
        to: Option<&str>,
        queue: Option<u32>,
        offset: Option<u64>,
        time_ms: Option<i64>,
    ) -> PyResult<()> {
        let (cursor, seek) = (self.inner()?, seek(to, queue, offset, time_ms)?);
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).clear();
        py.detach(|| cursor.seek(seek)).map_err(raised)
    }

    /// What is not acknowledged, over all its queues.
    fn lag<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let cursor = self.inner()?;
        reports::lag(py, py.detach(|| cursor.lag()).map_err(raised)?)
    }

    /// Where it stands in each queue.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let cursor = self.inner()?;
        reports::cursor(py, &py.detach(|| cursor.report()).map_err(raised)?)
    }

    /// A Watch over its topic. It is not told when a message is due again: see next_due_ms.
    fn watch(&self) -> PyResult<Watch> {
        Ok(Watch::new(self.inner()?.watch().map_err(raised)?))
    }

    /// When the next message that was not acknowledged is due again, in milliseconds since 1970.
    #[getter]
    fn next_due_ms(&self) -> PyResult<Option<i64>> {
        Ok(self.inner()?.next_due_ms())
    }

    /// The cursor's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.inner()?.name().to_owned())
    }

    /// The cursor's topic.
    #[getter]
    fn topic(&self) -> PyResult<String> {
        Ok(self.inner()?.topic().to_owned())
    }

    /// Commits and lets others open the cursor. Closing twice is fine.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.store.get().inner().is_err() {
            // A store that was closed has committed it; a parent's is the parent's.
            return Ok(());
        }
        let cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner).take();
        let close = |cursor: Arc<spanlog::Cursor>| match Arc::try_unwrap(cursor) {
            Ok(cursor) => cursor.close(),
            // A thread that polls closes it when it is back.
            Err(cursor) => cursor.commit(),
        };
        cursor.map_or(Ok(()), |cursor| py.detach(|| close(cursor)).map_err(raised))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        slf.inner()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Message> {
        loop {
            let next = self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            if let Some(next) = next {
                return next;
            }
            let closed = |error: PyErr| match error.value(py).getattr("kind") {
                Ok(kind) if kind.eq("closed").unwrap_or(false) => PyStopIteration::new_err(()),
                _ => error,
            };
            let polled = self.poll_now(py, ReadLimits::default(), None).map_err(closed)?;
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            ready.extend(polled.overtaken.iter().map(|overtaken| Err(gone(overtaken))));
            ready.extend(polled.messages.into_iter().map(Ok));
            ready.extend(polled.failures.iter().map(|(_, error)| Err(exception(error))));
        }
    }

    fn __repr__(&self) -> String {
        match self.inner() {
            Ok(cursor) => format!("<spanlog.Cursor {} of {}>", cursor.name(), cursor.topic()),
            Err(_) => "<spanlog.Cursor closed>".into(),
        }
    }
}

/// Where keywords say to go.
fn seek(
    to: Option<&str>,
    queue: Option<u32>,
    offset: Option<u64>,
    time_ms: Option<i64>,
) -> PyResult<Seek> {
    match (to, queue, offset, time_ms) {
        (Some("start"), None, None, None) => Ok(Seek::Start),
        (Some("end"), None, None, None) => Ok(Seek::End),
        (None, Some(queue), Some(offset), None) => {
            Ok(Seek::Offset { queue, offset: QueueOffset::new(offset) })
        }
        (None, None, None, Some(time_ms)) => Ok(Seek::Time { time_ms }),
        _ => {
            let text = "say \"start\", \"end\", queue and offset, or time_ms";
            Err(PyTypeError::new_err(text))
        }
    }
}

#[pymethods]
impl Store {
    /// Opens the cursor of that name, or makes it, durably. queues are those it is about (None:
    /// all of the topic's, also those to come); a new one begins at the start of its queues, or
    /// with from_end at their end. A message that is not acknowledged within visibility_ms comes
    /// again. hold_age_ms and hold_bytes let it keep segments from being dropped, so long and so
    /// many.
    #[pyo3(signature = (
        name, topic, *, queues=None, from_end=false, visibility_ms=None, max_pending=None,
        hold_age_ms=None, hold_bytes=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn cursor(
        slf: Py<Self>,
        py: Python<'_>,
        name: &str,
        topic: &str,
        queues: Option<Vec<u32>>,
        from_end: bool,
        visibility_ms: Option<u64>,
        max_pending: Option<usize>,
        hold_age_ms: Option<u64>,
        hold_bytes: Option<u64>,
    ) -> PyResult<Cursor> {
        let default = CursorOptions::default();
        let is_holding = hold_age_ms.is_some() || hold_bytes.is_some();
        let options = CursorOptions {
            queues,
            from_end,
            visibility_ms: visibility_ms.unwrap_or(default.visibility_ms),
            max_pending: max_pending.unwrap_or(default.max_pending),
            hold: is_holding.then_some(Hold { max_age_ms: hold_age_ms, max_bytes: hold_bytes }),
        };
        let store = slf.get().inner()?;
        let cursor = py.detach(|| store.cursor(name, topic, options)).map_err(raised)?;
        let cursor = Mutex::new(Some(Arc::new(cursor)));
        Ok(Cursor { store: slf, cursor, ready: Mutex::default() })
    }

    /// All cursors, by topic and name.
    fn cursors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let store = self.inner()?;
        let reports = py.detach(|| store.cursors()).map_err(raised)?;
        reports::list(py, &reports, reports::cursor)
    }

    /// Makes a cursor of the same topic with what another one has acknowledged, durably.
    fn copy_cursor(&self, py: Python<'_>, topic: &str, name: &str, to: &str) -> PyResult<()> {
        let store = self.inner()?;
        py.detach(|| store.copy_cursor(topic, name, to)).map_err(raised)
    }

    /// Puts a cursor that is not open elsewhere, durably; where, as for Cursor.seek.
    #[pyo3(signature = (topic, name, to=None, *, queue=None, offset=None, time_ms=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn reset_cursor(
        &self,
        py: Python<'_>,
        topic: &str,
        name: &str,
        to: Option<&str>,
        queue: Option<u32>,
        offset: Option<u64>,
        time_ms: Option<i64>,
    ) -> PyResult<()> {
        let (store, seek) = (self.inner()?, seek(to, queue, offset, time_ms)?);
        py.detach(|| store.reset_cursor(topic, name, seek)).map_err(raised)
    }

    /// Deletes a cursor that is not open, durably.
    fn delete_cursor(&self, py: Python<'_>, topic: &str, name: &str) -> PyResult<()> {
        let store = self.inner()?;
        py.detach(|| store.delete_cursor(topic, name)).map_err(raised)
    }

    /// Makes a cursor for each group and topic of a RocketMQ broker's consumerOffset.json; returns
    /// how many.
    fn import_consumer_offsets(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyBytes>,
    ) -> PyResult<usize> {
        let (store, text) = (self.inner()?, text.as_bytes());
        py.detach(|| store.import_consumer_offsets(text)).map_err(raised)
    }

    /// What every cursor has acknowledged, as a RocketMQ broker's consumerOffset.json.
    fn export_consumer_offsets(&self, py: Python<'_>) -> PyResult<String> {
        let store = self.inner()?;
        py.detach(|| store.export_consumer_offsets()).map_err(raised)
    }
}
