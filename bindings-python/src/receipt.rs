//! Where messages were put.

use pyo3::prelude::*;

/// Where a message, or the first one of several, was put.
#[pyclass(frozen, get_all, eq, hash, module = "spanlog")]
#[derive(PartialEq, Eq, Hash)]
pub struct Receipt {
    /// Where its record begins in the log, in bytes.
    position: u64,
    /// Its number within its queue; those of several follow each other.
    queue_offset: u64,
    /// The position after the last record.
    end: u64,
    /// When it was stored, in milliseconds since 1970.
    store_ms: i64,
}

#[pymethods]
impl Receipt {
    fn __repr__(&self) -> String {
        let Self { position, queue_offset, end, store_ms } = self;
        format!(
            "Receipt(position={position}, queue_offset={queue_offset}, end={end}, \
             store_ms={store_ms})"
        )
    }
}

impl From<spanlog::Receipt> for Receipt {
    fn from(receipt: spanlog::Receipt) -> Self {
        Self {
            position: receipt.position.get(),
            queue_offset: receipt.queue_offset.get(),
            end: receipt.end.get(),
            store_ms: receipt.store_ms,
        }
    }
}
