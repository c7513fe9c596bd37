//! One stored message, with its body lent to Python through the buffer protocol.
//!
//! The one file with unsafe code: the protocol hands out a pointer.
#![allow(unsafe_code)]

use std::ffi::c_int;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use spanlog::{MessageView, Slice};

/// A message as it stands in the log. It is a read-only buffer of its body: `memoryview(message)`
/// copies nothing, and stays valid after the store was closed or retention dropped the message.
#[pyclass(frozen, module = "spanlog")]
pub struct Message {
    record: Record,
    /// Its number within its queue.
    #[pyo3(get)]
    queue_offset: u64,
    /// How often a cursor delivered it, from 1; 0 if it came by another way.
    #[pyo3(get)]
    attempt: u32,
}

/// The bytes of a record, and what keeps them.
enum Record {
    Mapped(Slice),
    Copied(Box<[u8]>),
}

impl Message {
    /// The message in a record whose structure was checked. A copy keeps no file mapped.
    pub fn new(record: Slice, queue_offset: u64, copy: bool) -> Self {
        let record =
            if copy { Record::Copied(record.to_vec().into()) } else { Record::Mapped(record) };
        Self { record, queue_offset, attempt: 0 }
    }

    /// The same, delivered by a cursor so many times.
    pub fn delivered(self, attempt: u32) -> Self {
        Self { attempt, ..self }
    }

    /// Its queue and its number in there.
    pub fn place(&self) -> (u32, u64) {
        (self.queue(), self.queue_offset)
    }

    fn bytes(&self) -> &[u8] {
        match &self.record {
            Record::Mapped(slice) => slice,
            Record::Copied(bytes) => bytes,
        }
    }

    fn view(&self) -> MessageView<'_> {
        MessageView::parse(self.bytes()).expect("checked before the message was made")
    }
}

#[pymethods]
impl Message {
    /// The payload, copied; `memoryview(message)` is it without a copy.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.view().body())
    }

    /// The whole record as it stands in the log, copied.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.bytes())
    }

    /// The topic.
    #[getter]
    fn topic(&self) -> &str {
        self.view().topic()
    }

    /// The queue within the topic.
    #[getter]
    fn queue(&self) -> u32 {
        self.view().queue()
    }

    /// Where its record begins in the log, in bytes.
    #[getter]
    fn position(&self) -> u64 {
        self.view().position()
    }

    /// The length of its record, in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.view().size()
    }

    /// What consumers filter by, or None.
    #[getter]
    fn tags(&self) -> Option<&str> {
        self.view().tags()
    }

    /// What the message is found by.
    #[getter]
    fn keys(&self) -> Vec<&str> {
        self.view().keys().collect()
    }

    /// All properties, tags and keys among them; of two with one name the last.
    #[getter]
    fn properties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let properties = PyDict::new(py);
        for (name, value) in self.view().properties() {
            properties.set_item(name, value)?;
        }
        Ok(properties)
    }

    /// The identifier that the producer, or else the store, gave; or None.
    #[getter]
    fn unique_id(&self) -> Option<&str> {
        self.view().unique_id()
    }

    /// When it was made, in milliseconds since 1970, by the producer's clock.
    #[getter]
    fn born_ms(&self) -> i64 {
        self.view().born_ms()
    }

    /// Who made it: address and port.
    #[getter]
    fn born_host(&self) -> String {
        self.view().born_host().to_string()
    }

    /// When it was stored, in milliseconds since 1970, by the store's clock.
    #[getter]
    fn store_ms(&self) -> i64 {
        self.view().store_ms()
    }

    /// Who stored it: address and port.
    #[getter]
    fn store_host(&self) -> String {
        self.view().store_host().to_string()
    }

    /// The caller's own number.
    #[getter]
    fn flag(&self) -> i32 {
        self.view().flag()
    }

    /// RocketMQ's system flags.
    #[getter]
    fn sys_flag(&self) -> i32 {
        self.view().sys_flag()
    }

    /// How often consumers gave it back.
    #[getter]
    fn reconsume_times(&self) -> i32 {
        self.view().reconsume_times()
    }

    /// With a committed transaction: the position of its prepared message, else 0.
    #[getter]
    fn prepared_position(&self) -> u64 {
        self.view().prepared_position()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.body(py)
    }

    fn __len__(&self) -> usize {
        self.view().body().len()
    }

    fn __repr__(&self) -> String {
        let view = self.view();
        format!(
            "<spanlog.Message {}/{} queue_offset={} position={} body={} bytes>",
            view.topic(),
            view.queue(),
            self.queue_offset,
            view.position(),
            view.body().len()
        )
    }

    /// # Safety
    /// `view` is what the interpreter passed: it points to a `Py_buffer` to fill, or is null.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: the view is the interpreter's; a frozen message owns its body and never
        // changes it.
        unsafe { lend(slf.as_any(), slf.get().view().body(), view, flags) }
    }
}

/// A record of a queue. It is a read-only buffer of its bytes, as a message is.
#[pyclass(frozen, module = "spanlog")]
pub struct QueueRecord(pub spanlog::QueueRecord);

#[pymethods]
impl QueueRecord {
    /// Its bytes, copied; `memoryview(record)` is it without a copy.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.payload)
    }

    /// Where it begins on the queue's line.
    #[getter]
    fn position(&self) -> u64 {
        self.0.position.get()
    }

    /// Where it ends: committing up to there commits it.
    #[getter]
    fn end(&self) -> u64 {
        self.0.end.get()
    }

    /// How many records were pushed before it.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.body(py)
    }

    fn __len__(&self) -> usize {
        self.0.payload.len()
    }

    fn __repr__(&self) -> String {
        format!("<spanlog.QueueRecord {} body={} bytes>", self.0.number, self.__len__())
    }

    /// # Safety
    /// As for a message.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: the view is the interpreter's; a frozen record owns its bytes and never changes
        // them.
        unsafe { lend(slf.as_any(), &slf.get().0.payload, view, flags) }
    }
}

/// Fills a read-only view of bytes that `owner` keeps.
///
/// # Safety
/// `view` is null or points to a `Py_buffer` that may be written. `owner` keeps the bytes where
/// they are, unchanged, for as long as it lives.
unsafe fn lend(
    owner: &Bound<'_, PyAny>,
    bytes: &[u8],
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no view to fill"));
    }
    let len = ffi::Py_ssize_t::try_from(bytes.len())?;
    let start = bytes.as_ptr().cast_mut().cast();
    // SAFETY: the caller vouches for view and bytes. `PyBuffer_FillInfo` takes a reference to the
    // owner for as long as the view lives, and refuses a writable one.
    let filled = unsafe { ffi::PyBuffer_FillInfo(view, owner.as_ptr(), start, len, 1, flags) };
    if filled == 0 { Ok(()) } else { Err(PyErr::fetch(owner.py())) }
}
