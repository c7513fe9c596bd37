//! Layer 4: named consumers. What a consumer has read, acknowledged and written down of each
//! queue, as values; the store reads messages and tells the time.

mod faults;
mod file;
mod json;
mod page;
mod progress;
mod register;
#[cfg(test)]
mod tests;

pub use faults::{cursor_faults, salvage};
pub use file::{CursorFile, Saved, check_name};
pub use json::{GroupOffsets, parse_offsets, write_offsets};
pub use page::Settings;
pub use progress::{MAX_PENDING, Progress};
pub use register::{Entry, Owned, Register, names_in};

/// How long a cursor keeps segments that it has not acknowledged from being dropped. At least
/// one bound is given; once a segment is past it, it goes, and the cursor is told.
///
/// ```
/// use spanlog::Hold;
/// let a_week = Hold { max_age_ms: Some(7 * 24 * 3_600_000), max_bytes: None };
/// assert!(a_week.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Segments whose last record is older are not kept, in milliseconds.
    pub max_age_ms: Option<u64>,
    /// Segments that begin farther below the log's end are not kept, in bytes.
    pub max_bytes: Option<u64>,
}

impl Hold {
    /// # Errors
    /// `Invalid` without a bound: the cursor of a consumer that is gone would fill the disks.
    pub fn validate(&self) -> crate::error::Result<()> {
        match (self.max_age_ms, self.max_bytes) {
            (None, None) => Err(crate::error::Error::new(
                crate::error::ErrorKind::Invalid,
                "a hold is bounded by age or by bytes",
            )),
            _ => Ok(()),
        }
    }
}
