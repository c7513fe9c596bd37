//! Queue mode: a persistent queue with a fixed budget.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spanlog::{Next, OnFull, Position, QueueDurability, QueueOptions, QueueTask};

use crate::draft::Body;
use crate::errors::raised;
use crate::handle::Handle;
use crate::message::QueueRecord;
use crate::options::{Marks, choice, directories};
use crate::reports;
use crate::watch::in_slices;

/// An open queue: a persistent line of records with a fixed budget of memory and disk. A record is
/// kept until every reader has committed it.
///
/// on_full says what a push does when the queue is full: "refuse" (FullError), "drop-oldest", or a
/// number of seconds to wait for room, in which signals are not answered. durability is "none",
/// "interval" (flush_interval_ms, flush_records), "group" or "each". Options that are None keep
/// their default.
#[pyclass(frozen, module = "spanlog")]
pub struct Queue(Arc<Handle<spanlog::Queue>>);

#[pymethods]
impl Queue {
    #[new]
    #[pyo3(
        signature = (root, *, paths=None, **options),
        text_signature = "(root, *, paths=None, placement=None, segment_len_bytes=None, \
            capacity_segments=None, capacity_bytes=None, max_record_bytes=None, \
            max_in_memory_segments=None, on_full=None, durability=None, flush_interval_ms=None, \
            flush_records=None, thresholds=None, probe_interval_ms=None, create=None, \
            background=None)"
    )]
    fn new(
        py: Python<'_>,
        root: PathBuf,
        paths: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = self::options(paths, options)?;
        let queue = py.detach(|| spanlog::Queue::open(root, options)).map_err(raised)?;
        Ok(Self(Arc::new(Handle::new(queue))))
    }

    /// Pushes one record, and returns where it ends on the queue's line.
    fn push(&self, py: Python<'_>, payload: Body) -> PyResult<u64> {
        let queue = self.0.get()?;
        Ok(py.detach(|| queue.push(&payload)).map_err(raised)?.get())
    }

    /// Pushes several records, all or none, also after a crash; returns where the last one ends.
    fn push_many(&self, py: Python<'_>, payloads: &Bound<'_, PyAny>) -> PyResult<u64> {
        let queue = self.0.get()?;
        let payloads: Vec<Body> =
            payloads.try_iter()?.map(|payload| payload?.extract()).collect::<PyResult<_>>()?;
        let end = py.detach(|| {
            let payloads: Vec<&[u8]> = payloads.iter().map(|payload| &**payload).collect();
            queue.push_many(&payloads)
        });
        Ok(end.map_err(raised)?.get())
    }

    /// The reader of that name, made where there is none: it begins with the oldest record kept.
    #[pyo3(signature = (name="default"))]
    fn reader(&self, py: Python<'_>, name: &str) -> PyResult<QueueReader> {
        let queue = self.0.get()?;
        let reader = py.detach(|| queue.reader(name)).map_err(raised)?;
        Ok(QueueReader { queue: Arc::clone(&self.0), reader })
    }

    /// Takes a reader off: it holds no space any more.
    fn remove_reader(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let queue = self.0.get()?;
        py.detach(|| queue.remove_reader(name)).map_err(raised)
    }

    /// Returns once everything pushed and committed so far is durable.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let queue = self.0.get()?;
        py.detach(|| queue.flush()).map_err(raised)
    }

    /// The queue as it is now.
    fn stat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reports::queue_stat(py, &self.0.get()?.stat())
    }

    /// Reads every record that is kept and checks it. Raises nothing for damage: the ranges tell.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let queue = self.0.get()?;
        reports::queue_verification(py, &py.detach(|| queue.verify()).map_err(raised)?)
    }

    /// Runs one piece of background work now, in a queue opened with background=False: "prepare",
    /// "flush" or "probe". Returns whether there is more to do.
    fn run(&self, py: Python<'_>, task: &str) -> PyResult<bool> {
        let queue = self.0.get()?;
        let task = match task {
            "prepare" => QueueTask::Prepare,
            "flush" => QueueTask::Flush,
            "probe" => QueueTask::Probe,
            other => return Err(PyValueError::new_err(format!("no task is called {other:?}"))),
        };
        let next = py.detach(|| queue.run(task)).map_err(raised)?;
        Ok(matches!(next, Next::Again | Next::Soon))
    }

    /// Closes the queue: everything is flushed and written down. Records stay valid. Closing twice
    /// is fine.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(|queue| py.detach(|| queue.close()).map_err(raised))
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.0.is_closed()
    }

    /// The queue's root directory.
    #[getter]
    fn root(&self) -> &std::ffi::OsStr {
        self.0.peek().root().as_os_str()
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        slf.0.get()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        let state = if self.closed() { "closed" } else { "open" };
        format!("<spanlog.Queue {} {state}>", self.0.peek().root().display())
    }
}

/// A reader of a queue, with a place of its own. Iterating waits for records until the queue is
/// closed.
#[pyclass(frozen, module = "spanlog")]
pub struct QueueReader {
    queue: Arc<Handle<spanlog::Queue>>,
    reader: spanlog::QueueReader,
}

#[pymethods]
impl QueueReader {
    /// Pops the next record, waiting for one for timeout seconds (None: for ever). None when none
    /// came. Raises GoneError once when a full queue dropped what was not read.
    #[pyo3(signature = (*, timeout=0.0))]
    fn pop(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<QueueRecord>> {
        self.queue.get()?;
        let mut record = None;
        in_slices(py, timeout, |slice| {
            record = self.reader.pop(slice)?;
            Ok(record.is_some())
        })?;
        Ok(record.map(QueueRecord))
    }

    /// Pops as many records as there are and the limits allow, waiting for one as pop does.
    #[pyo3(signature = (*, max_records=256, max_bytes=1048576, timeout=0.0))]
    fn pop_many(
        &self,
        py: Python<'_>,
        max_records: usize,
        max_bytes: u64,
        timeout: Option<f64>,
    ) -> PyResult<Vec<QueueRecord>> {
        self.queue.get()?;
        let mut batch = spanlog::QueueBatch::new();
        in_slices(py, timeout, |slice| {
            batch = self.reader.pop_many(max_records, max_bytes, slice)?;
            Ok(!batch.is_empty())
        })?;
        Ok((0..batch.len()).filter_map(|at| batch.get(at)).map(QueueRecord).collect())
    }

    /// The next record, which stays the next; or None.
    fn peek(&self) -> PyResult<Option<QueueRecord>> {
        self.queue.get()?;
        Ok(self.reader.peek().map_err(raised)?.map(QueueRecord))
    }

    /// Notes that everything up to the end of a popped record is done. A kill does not undo it.
    fn commit(&self, record: &QueueRecord) -> PyResult<()> {
        self.commit_to(record.0.end.get())
    }

    /// Notes that everything before a position is done: where a popped record ends.
    fn commit_to(&self, end: u64) -> PyResult<()> {
        self.queue.get()?;
        self.reader.commit(Position::new(end)).map_err(raised)
    }

    /// Goes back to the first record that is not committed.
    fn rewind(&self) -> PyResult<()> {
        self.queue.get()?;
        self.reader.rewind().map_err(raised)
    }

    /// How many records, and bytes of the line, wait to be popped.
    fn backlog(&self) -> PyResult<(u64, u64)> {
        self.queue.get()?;
        self.reader.backlog().map_err(raised)
    }

    /// Passes over bytes that are no record, to the next whole one, and returns their range on the
    /// line; None if the next record is whole, or there is none.
    fn skip_damaged<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.queue.get()?;
        let skipped = py.detach(|| self.reader.skip_damaged()).map_err(raised)?;
        skipped.map(|range| reports::range(py, &range)).transpose()
    }

    /// A descriptor that is readable while there are records to pop, and once the queue was
    /// closed. It is the reader's: poll it and do nothing else with it.
    fn fileno(&self) -> PyResult<i32> {
        self.queue.get()?;
        Ok(self.reader.event_fd().map_err(raised)?.as_raw_fd())
    }

    /// Lets the descriptor wait for the next record, after a pop that gave None.
    fn clear(&self) -> PyResult<()> {
        self.queue.get()?;
        self.reader.clear_event().map_err(raised)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.reader.name()
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<QueueRecord> {
        let closed = |error: PyErr| match self.queue.is_closed() {
            true => PyStopIteration::new_err(()),
            false => error,
        };
        let record = self.pop(py, None).map_err(closed)?;
        Ok(record.expect("a wait without end ends with a record"))
    }
}

/// Options from keywords.
fn options(
    paths: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<QueueOptions> {
    let mut options = QueueOptions::new();
    options.directories = directories(paths)?;
    let (mut interval_ms, mut records, mut named) = (1000, 10_000, String::from("interval"));
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        match &*name {
            "segment_len_bytes" => options.segment_len_bytes = value.extract()?,
            "capacity_segments" => options.capacity_segments = value.extract()?,
            "capacity_bytes" => options.capacity_bytes = value.extract()?,
            "max_record_bytes" => options.max_record_bytes = value.extract()?,
            "max_in_memory_segments" => options.max_in_memory_segments = value.extract()?,
            "probe_interval_ms" => options.probe_interval_ms = value.extract()?,
            "create" => options.create = value.extract()?,
            "background" => options.background = value.extract()?,
            "placement" => options.placement = choice(&value)?,
            "thresholds" => options.thresholds = value.extract::<Marks>()?.into(),
            "on_full" => options.on_full = on_full(&value)?,
            "durability" => named = value.extract()?,
            "flush_interval_ms" => interval_ms = value.extract()?,
            "flush_records" => records = value.extract()?,
            other => {
                let text = format!("Queue() got an unexpected keyword argument {other:?}");
                return Err(PyTypeError::new_err(text));
            }
        }
    }
    options.durability = match &*named {
        "none" => QueueDurability::None,
        "interval" => QueueDurability::Interval { interval_ms, records },
        "group" => QueueDurability::Group,
        "each" => QueueDurability::Each,
        other => return Err(PyValueError::new_err(format!("no durability is called {other:?}"))),
    };
    Ok(options)
}

fn on_full(value: &Bound<'_, PyAny>) -> PyResult<OnFull> {
    let wrong = || PyValueError::new_err("on_full is refuse, drop-oldest or seconds to wait");
    if let Ok(seconds) = value.extract::<f64>() {
        return Duration::try_from_secs_f64(seconds).map(OnFull::Block).map_err(|_| wrong());
    }
    match value.extract()? {
        "refuse" => Ok(OnFull::Refuse),
        "drop-oldest" => Ok(OnFull::DropOldest),
        _ => Err(wrong()),
    }
}
