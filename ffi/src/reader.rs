//! Readers of a queue, and the records that they pop.

use std::ffi::c_char;
use std::os::fd::AsRawFd;
use std::time::Duration;

use engine::{Position, QueueBatch, QueueReader, QueueRecord, Result};

use crate::cursor::in_slices;
use crate::error::spanlog_error;
use crate::guard::{answer, calm, done};
use crate::handle::{Held, Table};
use crate::input::text_or_none;
use crate::output::{place, put, spanlog_bytes};
use crate::queue::{queue, spanlog_queue};
use crate::status::spanlog_status;
use crate::wait::{timeout, told};

/// A named reader of a queue. It pops what was pushed, in order; what it has popped and not
/// committed it gets again after spanlog_reader_rewind() and when the queue is opened again.
/// Handles of one name share one place. To be freed with spanlog_reader_free(), which changes
/// nothing of the reader; it may outlive the queue.
pub struct spanlog_reader {
    _opaque: [u8; 0],
}

/// Records that one call popped. It keeps their bytes for as long as it lives, also after they were
/// committed or the queue was closed; until then their files count against the capacity. To be
/// freed with spanlog_records_free().
pub struct spanlog_records {
    _opaque: [u8; 0],
}

static READERS: Table<Box<QueueReader>> = Table::new(10, "reader");
static RECORDS: Table<Box<Popped>> = Table::new(11, "records");

fn reader(handle: *const spanlog_reader) -> Result<Held<'static, Box<QueueReader>>> {
    READERS.get_own(handle)
}

/// A record of a queue.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_record {
    /// Its bytes.
    pub payload: spanlog_bytes,
    /// Where it begins on the queue's line.
    pub position: u64,
    /// Where it ends: committing up to there commits it.
    pub end: u64,
    /// How many records were pushed before it.
    pub number: u64,
}

/// What a records handle stands for. The rows point into what is kept, which never moves.
struct Popped {
    rows: Vec<spanlog_record>,
    _kept: Kept,
}

enum Kept {
    Batch(#[allow(dead_code, reason = "it is kept, not read")] QueueBatch),
    Record(#[allow(dead_code, reason = "it is kept, not read")] QueueRecord),
}

// SAFETY: the pointers lead into what it keeps, which nobody changes.
unsafe impl Send for Popped {}
// SAFETY: as above.
unsafe impl Sync for Popped {}

fn row(record: &QueueRecord, payload: &[u8]) -> spanlog_record {
    spanlog_record {
        payload: spanlog_bytes::new(payload),
        position: record.position.get(),
        end: record.end.get(),
        number: record.number,
    }
}

impl From<QueueBatch> for Popped {
    fn from(batch: QueueBatch) -> Self {
        let rows = batch.iter().enumerate().filter_map(|(at, payload)| {
            // Only the batch itself has the bytes of a record that lay in several segments.
            batch.get(at).map(|record| row(&record, payload))
        });
        Self { rows: rows.collect(), _kept: Kept::Batch(batch) }
    }
}

impl From<QueueRecord> for Popped {
    fn from(record: QueueRecord) -> Self {
        Self { rows: vec![row(&record, &record.payload)], _kept: Kept::Record(record) }
    }
}

/// Writes what was popped to the caller's place: NULL, and `otherwise`, if there is nothing.
///
/// # Safety
/// `out` can be written.
unsafe fn lend(
    found: Option<Popped>,
    otherwise: spanlog_status,
    out: *mut *mut spanlog_records,
) -> Result<spanlog_status> {
    let status = if found.is_some() { spanlog_status::Ok } else { otherwise };
    let handle = found.map(|popped| RECORDS.put(Box::new(popped))).transpose()?;
    // SAFETY: the caller promises it.
    unsafe { put(out, handle.unwrap_or(std::ptr::null_mut())) };
    Ok(status)
}

/// How much one call pops.
struct Limits {
    records: usize,
    bytes: u64,
    timeout: Duration,
}

impl Limits {
    fn new(records: usize, bytes: u64, timeout_ms: i64) -> Self {
        Self {
            records: if records == 0 { 256 } else { records },
            bytes: if bytes == 0 { 1 << 20 } else { bytes },
            timeout: timeout(timeout_ms),
        }
    }

    fn pop(&self, handle: *const spanlog_reader) -> Result<Option<QueueBatch>> {
        in_slices(self.timeout, |slice| {
            let batch = reader(handle)?.pop_many(self.records, self.bytes, slice)?;
            Ok((!batch.is_empty()).then_some(batch))
        })
    }
}

/// The reader `name` of a queue, made where there is none: then it begins with the oldest record
/// kept. NULL stands for "default". A name has 1 to 24 of `A-Z a-z 0-9 . _ -`; there are at most 8
/// readers.
///
/// SPANLOG_STATUS_INVALID for a name that cannot be, SPANLOG_STATUS_TOO_LARGE for one reader too
/// many, SPANLOG_STATUS_IO.
///
/// # Safety
/// `name` is NULL or ends with NUL; `reader` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_reader(
    queue: *mut spanlog_queue,
    name: *const c_char,
    reader: *mut *mut spanlog_reader,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(reader, "reader")?;
        let open = self::queue(queue)?;
        // SAFETY: the caller promises it.
        let name = unsafe { text_or_none(name, "name") }?.unwrap_or("default");
        let handle = READERS.put(Box::new(open.reader(name)?))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Pops records: at least one, at most `max_records` (0 for 256) and `max_bytes` (0 for 1 MiB) of
/// payload, and writes them to `records`, to be freed with spanlog_records_free().
/// SPANLOG_STATUS_TIMEOUT, and NULL for the records, if none came within `timeout_ms`: 0 looks and
/// returns, a negative number waits for ever.
///
/// SPANLOG_STATUS_GONE once, with the range that was dropped, when the queue was full and dropped
/// what this reader had not read: the next pop goes on behind it. SPANLOG_STATUS_CORRUPT where no
/// whole record stands, naming the place: see spanlog_reader_skip_damaged(). SPANLOG_STATUS_FULL
/// when records that somebody holds take every map. SPANLOG_STATUS_CLOSED, also when the queue is
/// closed or the reader freed meanwhile.
///
/// # Safety
/// `records` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_pop(
    reader: *mut spanlog_reader,
    max_records: usize,
    max_bytes: u64,
    timeout_ms: i64,
    records: *mut *mut spanlog_records,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(records, "records")?;
        let limits = Limits::new(max_records, max_bytes, timeout_ms);
        let found = limits.pop(reader)?.map(Popped::from);
        // SAFETY: it is a place, and the caller promises that it can be written.
        unsafe { lend(found, spanlog_status::Timeout, out) }
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// The next record, which stays the next. SPANLOG_STATUS_END, and NULL for the records, if there is
/// none. Errors as spanlog_reader_pop().
///
/// # Safety
/// `records` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_peek(
    reader: *mut spanlog_reader,
    records: *mut *mut spanlog_records,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(records, "records")?;
        let found = self::reader(reader)?.peek()?.map(Popped::from);
        // SAFETY: it is a place, and the caller promises that it can be written.
        unsafe { lend(found, spanlog_status::End, out) }
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Notes that everything before `end` is done: where a popped record ends. A kill does not undo it,
/// a loss of power may until the next flush. Committing what is committed already changes nothing.
/// SPANLOG_STATUS_INVALID if no popped record ends there.
///
/// # Safety
/// `error` is NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_commit(
    reader: *mut spanlog_reader,
    end: u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::reader(reader)?.commit(Position::new(end))) }
}

/// Goes back to the first record that is not committed.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_rewind(
    reader: *mut spanlog_reader,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::reader(reader)?.rewind()) }
}

/// How many records, and how many bytes of the line, heads included, wait to be popped.
///
/// # Safety
/// `records`, `bytes` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_backlog(
    reader: *const spanlog_reader,
    records: *mut u64,
    bytes: *mut u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let found = self::reader(reader)?.backlog()?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(records, found.0) };
        // SAFETY: as above.
        unsafe { put(bytes, found.1) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Passes over bytes that are no record, to the next whole one, and writes their range on the line.
/// SPANLOG_STATUS_END if the next record is whole, or there is none.
///
/// # Safety
/// `from`, `to` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_skip_damaged(
    reader: *mut spanlog_reader,
    from: *mut u64,
    to: *mut u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let Some(range) = self::reader(reader)?.skip_damaged()? else {
            return Ok(spanlog_status::End);
        };
        // SAFETY: the caller promises that it can be written.
        unsafe { put(from, range.start) };
        // SAFETY: as above.
        unsafe { put(to, range.end) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Waits until there is a record to pop: SPANLOG_STATUS_OK when there is one,
/// SPANLOG_STATUS_TIMEOUT after `timeout_ms`. 0 looks and returns, a negative number waits for
/// ever.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_wait(
    reader: *mut spanlog_reader,
    timeout_ms: i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let found = in_slices(timeout(timeout_ms), |slice| {
            Ok(self::reader(reader)?.wait(slice)?.then_some(()))
        })?;
        Ok(told(found.is_some()))
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Writes a descriptor to `fd` that is readable while there are records to pop, and once the queue
/// was closed. After a pop that came back empty, spanlog_reader_clear_event() lets it wait for the
/// next record. It is the reader's: poll it and do nothing else with it.
///
/// # Safety
/// `fd` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_event_fd(
    reader: *mut spanlog_reader,
    fd: *mut i32,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(fd, "fd")?;
        let number = self::reader(reader)?.event_fd()?.as_raw_fd();
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, number) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Lets the descriptor wait for records behind what was popped.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_reader_clear_event(
    reader: *mut spanlog_reader,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::reader(reader)?.clear_event()) }
}

/// Frees the handle of a reader; the reader goes on holding the space of what it has not committed,
/// until spanlog_queue_remove_reader(). NULL, and one that was freed before, are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_reader_free(reader: *mut spanlog_reader) {
    calm((), || {
        let is_inherited = READERS.is_inherited(reader);
        let reader = READERS.take(reader).ok()?;
        if is_inherited {
            // Its queue's locks are the parent's.
            std::mem::forget(reader);
        }
        Some(())
    });
}

/// The records that were popped, in order: `count` of them, one after the other, until they are
/// freed. NULL, and 0, for NULL or what was freed.
///
/// # Safety
/// `count` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_records_all(
    records: *const spanlog_records,
    count: *mut usize,
) -> *const spanlog_record {
    let (data, len) = calm((std::ptr::null(), 0), || {
        let popped = RECORDS.get(records).ok()?;
        Some((popped.rows.as_ptr(), popped.rows.len()))
    });
    // SAFETY: the caller promises it.
    unsafe { put(count, len) };
    data
}

/// Frees records and lets go of their files. NULL, and what was freed before, are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_records_free(records: *mut spanlog_records) {
    calm((), || RECORDS.take(records).ok().map(drop));
}
