//! The handle that a program holds.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use spanlog::{
    Boundary, Durability, KeyKind, KeyQuery, Next, Position, QueueOffset, ReadLimits, TagFilter,
    Task, Watched,
};

use crate::batch::{Batch, Found, Messages};
use crate::draft::{Lists, Piece, pairs};
use crate::errors::raised;
use crate::handle::Handle;
use crate::message::Message;
use crate::options::options;
use crate::receipt::Receipt;
use crate::reports;
use crate::verification::run_verification;
use crate::watch::{Watch, in_slices};

/// Larger bodies are appended without the interpreter lock: copying them takes longer than giving
/// it back.
const LARGE_BODY_BYTES: usize = 64 << 10;

/// An open store. Every method may be called from any thread.
#[pyclass(frozen, module = "spanlog")]
pub struct Store {
    handle: Handle<spanlog::Store>,
    /// Whether every append waits for the disk.
    waits: bool,
}

impl Store {
    /// The engine's store, unless this one was closed or belongs to the parent process.
    pub fn inner(&self) -> PyResult<&spanlog::Store> {
        self.handle.get()
    }

    /// Whether it belongs to the parent process.
    pub fn is_inherited(&self) -> bool {
        self.handle.is_inherited()
    }
}

/// Opens the store at root, or makes one.
///
/// paths are its directories of segments: paths, or Directory objects that also say a role or
/// marks; without, those that the store remembers, and for a new store <root>/commitlog. Options
/// that are None keep their default. Raises LockedError while somebody else has the store open,
/// OfflineError for a directory that is not there, CorruptError for damage, InvalidError for an
/// option out of range.
#[pyfunction]
#[pyo3(
    signature = (root, *, paths=None, **options),
    text_signature = "(root, *, paths=None, placement=None, segment_len_bytes=None, \
        queue_file_len_bytes=None, key_index=None, index_slots=None, index_entries=None, \
        durability=None, flush_interval_ms=None, flush_bytes=None, \
        thresholds=None, clean_on=None, force_on=None, refuse_on=None, retention_ms=None, \
        delete_hours=None, forced_clean=None, max_forced_per_round=None, clean_pause_ms=None, \
        probe_interval_ms=None, clean_interval_ms=None, refuse_reads_when_full=None, \
        record_checksum=None, max_body_bytes=None, store_host=None, max_maps=None, \
        on_damage=None, allow_offline=None, adopt=None, read_only=None, create=None, \
        checkpoint_interval_ms=None, prepare_bytes=None, background=None)"
)]
pub fn open(
    py: Python<'_>,
    root: PathBuf,
    paths: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Store> {
    let options = self::options(paths, options)?;
    let waits = options.durability == Durability::Group;
    let store = py.detach(|| spanlog::Store::open(root, options)).map_err(raised)?;
    Ok(Store { handle: Handle::new(store), waits })
}

/// Removes the store at root: its segments, queues and marks, in the directories given or those
/// that it remembers. Other files stay.
#[pyfunction]
#[pyo3(signature = (root, *, paths=None))]
pub fn destroy(py: Python<'_>, root: PathBuf, paths: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let options = options(paths, None)?;
    py.detach(|| spanlog::Store::destroy(root, &options)).map_err(raised)
}

type Place<'a> = (&'a str, u32, u64, ReadLimits);

fn read(
    store: &spanlog::Store,
    (topic, queue, offset, limits): Place<'_>,
    filter: Option<&TagFilter>,
) -> spanlog::Result<spanlog::Batch> {
    let from = QueueOffset::new(offset);
    match filter {
        None => store.read(topic, queue, from, limits),
        Some(filter) => store.read_filtered(topic, queue, from, filter, limits),
    }
}

fn filter(tags: Option<&str>) -> PyResult<Option<TagFilter>> {
    tags.map(|tags| TagFilter::parse(tags).map_err(raised)).transpose()
}

#[pymethods]
impl Store {
    /// Appends a message: a body, or a Draft. When it returns, the message is in the log and
    /// survives the end of this process; with durable=True, or a store opened with
    /// durability="group", also the loss of power. A small append that need not wait keeps the
    /// interpreter lock.
    #[pyo3(signature = (
        topic, body, *, queue=0, tags=None, keys=None, properties=None, durable=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn append(
        &self,
        py: Python<'_>,
        topic: &str,
        body: &Bound<'_, PyAny>,
        queue: u32,
        tags: Option<PyBackedStr>,
        keys: Option<Vec<PyBackedStr>>,
        properties: Option<&Bound<'_, PyDict>>,
        durable: bool,
    ) -> PyResult<Receipt> {
        let store = self.inner()?;
        let piece = Piece::new(body, tags, keys, pairs(properties)?)?;
        let lists = Lists::new(&piece);
        let message = lists.message(topic, queue);
        let receipt = match durable {
            true => py.detach(|| store.append_durable(&message)),
            false if self.waits || message.body.len() > LARGE_BODY_BYTES => {
                py.detach(|| store.append(&message))
            }
            false => store.append(&message),
        };
        Ok(receipt.map_err(raised)?.into())
    }

    /// Appends bodies or Drafts to one queue, all or none of them, side by side. Returns where the
    /// first one is; tags are those of every body that is no Draft. All of it must fit a segment.
    #[pyo3(signature = (topic, messages, *, queue=0, tags=None, durable=false))]
    fn append_many(
        &self,
        py: Python<'_>,
        topic: &str,
        messages: &Bound<'_, PyAny>,
        queue: u32,
        tags: Option<PyBackedStr>,
        durable: bool,
    ) -> PyResult<Receipt> {
        let store = self.inner()?;
        let piece = |object: PyResult<Bound<'_, PyAny>>| {
            let object = object?;
            let is_draft = object.is_instance_of::<crate::draft::Draft>();
            let tags = tags.as_ref().filter(|_| !is_draft).map(|tags| tags.clone_ref(py));
            Piece::new(&object, tags, None, Vec::new())
        };
        let pieces: Vec<Piece> = messages.try_iter()?.map(piece).collect::<PyResult<_>>()?;
        let receipt = py.detach(|| {
            let lists: Vec<_> = pieces.iter().map(Lists::new).collect();
            let messages: Vec<_> = lists.iter().map(|lists| lists.message(topic, queue)).collect();
            match durable {
                true => store.append_batch_durable(&messages),
                false => store.append_batch(&messages),
            }
        });
        Ok(receipt.map_err(raised)?.into())
    }

    /// Reads messages of a queue from an offset on: as many as the limits allow, at least one. tags
    /// is a filter such as "a || b". verify=False skips the checksums. The messages keep their
    /// segment's file mapped while they live; with copy=True each owns a copy of its bytes instead.
    /// A message can be read once it is indexed: see catch_up.
    #[pyo3(signature = (
        topic, queue=0, offset=0, *, max_messages=256, max_bytes=1048576, tags=None, verify=true,
        copy=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn read(
        &self,
        py: Python<'_>,
        topic: &str,
        queue: u32,
        offset: u64,
        max_messages: usize,
        max_bytes: u64,
        tags: Option<&str>,
        verify: bool,
        copy: bool,
    ) -> PyResult<Batch> {
        let (store, filter) = (self.inner()?, filter(tags)?);
        let place = (topic, queue, offset, ReadLimits { max_messages, max_bytes });
        let batch = py.detach(|| {
            let batch = read(store, place, filter.as_ref())?;
            Ok(Found::check(batch, verify, copy))
        });
        Ok(Batch(Arc::new(batch.map_err(raised)?)))
    }

    /// Iterates over a queue from an offset to its present end, past gaps that retention left.
    /// Iterating again goes on with what was appended since.
    #[pyo3(signature = (topic, queue=0, offset=0, *, tags=None, verify=true))]
    fn messages(
        slf: Py<Self>,
        topic: PyBackedStr,
        queue: u32,
        offset: u64,
        tags: Option<&str>,
        verify: bool,
    ) -> PyResult<Messages> {
        let filter = filter(tags)?;
        let source = move |py: Python<'_>, from: u64| {
            let store = slf.get().inner()?;
            let place = (&*topic, queue, from, ReadLimits::default());
            let found =
                py.detach(|| Ok(Found::check(read(store, place, filter.as_ref())?, verify, false)));
            found.map_err(raised)
        };
        Ok(Messages::of(Box::new(source), offset))
    }

    /// The messages of a topic with a key, newest first, stored between two times in milliseconds
    /// since 1970, both included. kind says what the key is: "key", "unique_id" or "tag".
    #[pyo3(signature = (
        topic, key, *, kind="key", from_ms=None, to_ms=None, max_messages=32, verify=true
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn query(
        &self,
        py: Python<'_>,
        topic: &str,
        key: &str,
        kind: &str,
        from_ms: Option<i64>,
        to_ms: Option<i64>,
        max_messages: usize,
        verify: bool,
    ) -> PyResult<Batch> {
        let store = self.inner()?;
        let kind = match kind {
            "key" => KeyKind::Key,
            "unique_id" => KeyKind::UniqueId,
            "tag" => KeyKind::Tag,
            other => return Err(PyValueError::new_err(format!("no kind is called {other:?}"))),
        };
        let (from_ms, to_ms) = (from_ms.unwrap_or(i64::MIN), to_ms.unwrap_or(i64::MAX));
        let query = KeyQuery { kind, from_ms, to_ms, max_messages };
        let found = py.detach(|| Ok(Found::check(store.query(topic, key, &query)?, verify, false)));
        Ok(Batch(Arc::new(found.map_err(raised)?)))
    }

    /// The messages of a topic with a unique id, newest first; without any, the message whose
    /// RocketMQ message id it is.
    fn find_by_id(&self, py: Python<'_>, topic: &str, id: &str) -> PyResult<Batch> {
        let store = self.inner()?;
        let found = py.detach(|| Ok(Found::check(store.find_by_id(topic, id)?, true, false)));
        Ok(Batch(Arc::new(found.map_err(raised)?)))
    }

    /// The offset of the first message stored at or after a time in milliseconds since 1970; with
    /// boundary="upper", of the last one at or before it.
    #[pyo3(signature = (topic, queue=0, *, time_ms, boundary="lower"))]
    fn offset_at(
        &self,
        py: Python<'_>,
        topic: &str,
        queue: u32,
        time_ms: i64,
        boundary: &str,
    ) -> PyResult<u64> {
        let store = self.inner()?;
        let boundary = match boundary {
            "lower" => Boundary::Lower,
            "upper" => Boundary::Upper,
            other => return Err(PyValueError::new_err(format!("no boundary is called {other:?}"))),
        };
        let offset = py.detach(|| store.offset_at(topic, queue, time_ms, boundary));
        Ok(offset.map_err(raised)?.get())
    }

    /// Reads everything of the store and compares it. progress is called as progress(part, done,
    /// total) after each step; what it raises ends the verification.
    #[pyo3(signature = (*, progress=None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let store = self.inner()?;
        let begun = py.detach(|| spanlog::Verification::of(store)).map_err(raised)?;
        run_verification(py, begun, progress)
    }

    /// The message whose record begins at a position of the log. Its checksums are not checked.
    fn get(&self, py: Python<'_>, position: u64) -> PyResult<Message> {
        let store = self.inner()?;
        let record = py.detach(|| store.get(Position::new(position))).map_err(raised)?;
        let view = spanlog::MessageView::parse(&record).expect("the engine checked it");
        let queue_offset = view.queue_offset();
        Ok(Message::new(record, queue_offset, false))
    }

    /// The queue's first offset kept and one past the last that can be read; None for a queue that
    /// never had a message.
    #[pyo3(signature = (topic, queue=0))]
    fn bounds<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        queue: u32,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let bounds = self.inner()?.bounds(topic, queue);
        bounds.map(|bounds| reports::bounds(py, bounds)).transpose()
    }

    /// Returns once every message appended so far, by anyone, can be read from its queue.
    fn catch_up(&self, py: Python<'_>) -> PyResult<()> {
        let store = self.inner()?;
        py.detach(|| store.catch_up()).map_err(raised)
    }

    /// Makes what a writer has added and dropped since visible, in a store opened for reading
    /// beside it. Returns whether there is anything new.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let store = self.inner()?;
        py.detach(|| store.refresh()).map_err(raised)
    }

    /// Returns once everything appended so far is durable.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let store = self.inner()?;
        py.detach(|| store.flush()).map_err(raised)
    }

    /// Waits until a message at or after the offset can be read from the queue, which need not
    /// exist yet: True when there is one, False after timeout seconds (None: never). Signals are
    /// answered meanwhile.
    #[pyo3(signature = (topic, queue=0, offset=0, *, timeout=None))]
    fn wait(
        &self,
        py: Python<'_>,
        topic: &str,
        queue: u32,
        offset: u64,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        let store = self.inner()?;
        in_slices(py, timeout, |slice| store.wait(topic, queue, QueueOffset::new(offset), slice))
    }

    /// As wait, until the log goes on behind a position.
    #[pyo3(signature = (position, *, timeout=None))]
    fn wait_appended(&self, py: Python<'_>, position: u64, timeout: Option<f64>) -> PyResult<bool> {
        let store = self.inner()?;
        in_slices(py, timeout, |slice| store.wait_appended(Position::new(position), slice))
    }

    /// A Watch over a queue, over all queues of a topic (queue=None), or over the end of the log
    /// (topic=None).
    #[pyo3(signature = (topic=None, queue=None))]
    fn watch(&self, topic: Option<&str>, queue: Option<u32>) -> PyResult<Watch> {
        let watched = match (topic, queue) {
            (Some(topic), Some(queue)) => Watched::Queue { topic, queue },
            (Some(topic), None) => Watched::Topic { topic },
            (None, None) => Watched::Tail,
            (None, Some(_)) => return Err(PyValueError::new_err("a queue needs its topic")),
        };
        Ok(Watch::new(self.inner()?.watch(watched).map_err(raised)?))
    }

    /// Runs one piece of background work now, in a store opened with background=False: "flush",
    /// "index", "checkpoint", "probe", "clean" or "prepare". Returns whether there is more to do.
    fn run(&self, py: Python<'_>, task: &str) -> PyResult<bool> {
        let store = self.inner()?;
        let task = match task {
            "flush" => Task::Flush,
            "index" => Task::Index,
            "checkpoint" => Task::Checkpoint,
            "probe" => Task::Probe,
            "clean" => Task::Clean,
            "prepare" => Task::Prepare,
            other => return Err(PyValueError::new_err(format!("no task is called {other:?}"))),
        };
        let next = py.detach(|| store.run(task)).map_err(raised)?;
        Ok(matches!(next, Next::Again | Next::Soon))
    }

    /// Closes the store: everything is flushed, indexed and written down. Messages and buffers
    /// stay valid. Closing twice is fine; any other call raises ClosedError from now on.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.close(|store| py.detach(|| store.close()).map_err(raised))
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The store's root directory.
    #[getter]
    fn root(&self) -> &std::ffi::OsStr {
        self.handle.peek().root().as_os_str()
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        slf.inner()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        let state = if self.closed() { "closed" } else { "open" };
        format!("<spanlog.Store {} {state}>", self.handle.peek().root().display())
    }
}
