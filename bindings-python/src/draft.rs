//! What callers hand in: bodies and whole messages.

use std::net::SocketAddr;
use std::ops::Deref;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict};
use spanlog::Message;

/// A payload that stays as it is while the interpreter runs on: `bytes` are lent, what may
/// change is copied.
pub enum Body {
    /// The caller's own bytes.
    Lent(PyBackedBytes),
    /// A copy of another buffer.
    Copied(Vec<u8>),
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Body {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self::Lent(bytes.to_owned().into())),
            Err(_) => Ok(Self::Copied(PyBuffer::<u8>::get(&object)?.to_vec(object.py())?)),
        }
    }
}

/// Name and value of each property.
pub type Properties = Vec<(PyBackedStr, PyBackedStr)>;

/// A message to append, where a body alone does not say enough.
///
/// born_ms is the time in milliseconds since 1970 at which the message was made (None: when it is
/// stored), born_host who made it ("address:port"), flag a number of the caller's own, sys_flag
/// RocketMQ's system flags, reconsume_times how often consumers gave the message back,
/// prepared_position with a committed transaction the position of its prepared message.
#[pyclass(frozen, module = "spanlog")]
pub struct Draft {
    body: Body,
    tags: Option<PyBackedStr>,
    keys: Vec<PyBackedStr>,
    properties: Properties,
    flag: i32,
    sys_flag: i32,
    born_ms: Option<i64>,
    born_host: Option<SocketAddr>,
    reconsume_times: i32,
    prepared_position: u64,
}

impl Draft {
    /// A message that is a body with what it is found by.
    pub fn plain(
        body: Body,
        tags: Option<PyBackedStr>,
        keys: Option<Vec<PyBackedStr>>,
        properties: Properties,
    ) -> Self {
        Self {
            body,
            tags,
            keys: keys.unwrap_or_default(),
            properties,
            flag: 0,
            sys_flag: 0,
            born_ms: None,
            born_host: None,
            reconsume_times: 0,
            prepared_position: 0,
        }
    }
}

#[pymethods]
impl Draft {
    #[new]
    #[pyo3(signature = (
        body, *, tags=None, keys=None, properties=None, flag=0, sys_flag=0, born_ms=None,
        born_host=None, reconsume_times=0, prepared_position=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn new(
        body: Body,
        tags: Option<PyBackedStr>,
        keys: Option<Vec<PyBackedStr>>,
        properties: Option<&Bound<'_, PyDict>>,
        flag: i32,
        sys_flag: i32,
        born_ms: Option<i64>,
        born_host: Option<&str>,
        reconsume_times: i32,
        prepared_position: u64,
    ) -> PyResult<Self> {
        let born_host = born_host.map(|host| parse_host("born_host", host)).transpose()?;
        Ok(Self {
            flag,
            sys_flag,
            born_ms,
            born_host,
            reconsume_times,
            prepared_position,
            ..Self::plain(body, tags, keys, pairs(properties)?)
        })
    }

    fn __repr__(&self) -> String {
        format!("<spanlog.Draft body={} bytes>", self.body.len())
    }
}

/// An address with a port.
pub fn parse_host(name: &str, text: &str) -> PyResult<SocketAddr> {
    let wrong = || PyValueError::new_err(format!("{name} is {text:?}: it must be address:port"));
    text.parse().map_err(|_| wrong())
}

/// The pairs of a dictionary of strings.
pub fn pairs(properties: Option<&Bound<'_, PyDict>>) -> PyResult<Properties> {
    let Some(properties) = properties else { return Ok(Vec::new()) };
    properties.iter().map(|(name, value)| Ok((name.extract()?, value.extract()?))).collect()
}

/// A message as callers hand it in: bytes, or a draft.
pub enum Piece {
    /// A draft of the caller's.
    Shared(Py<Draft>),
    /// One made for this call.
    Own(Draft),
}

impl Piece {
    /// What the caller handed in, with tags, keys and properties given beside it. Those of a
    /// draft stand in the draft.
    pub fn new(
        object: &Bound<'_, PyAny>,
        tags: Option<PyBackedStr>,
        keys: Option<Vec<PyBackedStr>>,
        properties: Properties,
    ) -> PyResult<Self> {
        // Nearly always it is bytes, and that is known at once.
        let draft = if object.is_instance_of::<PyBytes>() { None } else { object.cast().ok() };
        let Some(draft) = draft else {
            return Ok(Self::Own(Draft::plain(object.extract()?, tags, keys, properties)));
        };
        if tags.is_some() || keys.is_some() || !properties.is_empty() {
            let text = "tags, keys and properties of a Draft are given to the Draft";
            return Err(PyTypeError::new_err(text));
        }
        Ok(Self::Shared(Bound::<Draft>::clone(draft).unbind()))
    }

    fn draft(&self) -> &Draft {
        match self {
            Self::Shared(draft) => draft.get(),
            Self::Own(draft) => draft,
        }
    }
}

/// Keys and properties of a piece, as the engine takes them.
pub struct Lists<'a> {
    draft: &'a Draft,
    keys: Vec<&'a str>,
    properties: Vec<(&'a str, &'a str)>,
}

impl<'a> Lists<'a> {
    /// Those of a piece.
    pub fn new(piece: &'a Piece) -> Self {
        let draft = piece.draft();
        let keys = draft.keys.iter().map(|key| &**key).collect();
        let properties = draft.properties.iter().map(|(name, value)| (&**name, &**value)).collect();
        Self { draft, keys, properties }
    }

    /// The message for a topic and queue.
    pub fn message(&'a self, topic: &'a str, queue: u32) -> Message<'a> {
        let draft = self.draft;
        let plain = Message::new(topic, queue, &draft.body);
        Message {
            tags: draft.tags.as_deref(),
            keys: &self.keys,
            properties: &self.properties,
            flag: draft.flag,
            sys_flag: draft.sys_flag,
            born_ms: draft.born_ms,
            born_host: draft.born_host.unwrap_or(plain.born_host),
            reconsume_times: draft.reconsume_times,
            prepared_position: draft.prepared_position,
            ..plain
        }
    }
}
