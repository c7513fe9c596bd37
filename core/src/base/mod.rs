//! Layer 0: units, bytes, checksums, watermarks, waiting. Nothing here knows of files or records.

pub mod bytes;
pub mod crc;
pub mod hash;
pub(crate) mod sync;
pub mod units;
pub(crate) mod waiting;
pub mod watermark;
