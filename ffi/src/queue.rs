//! Queue mode: a persistent queue with a fixed budget of memory and disk.

use std::ffi::{c_char, c_void};

use engine::{Queue, QueueTask, Result};
use smallvec::SmallVec;

use crate::error::spanlog_error;
use crate::guard::{done, invalid};
use crate::handle::{Held, Table};
use crate::input::{array, bytes, choice, path, text};
use crate::list::{self, Texts, element, rows, spanlog_list, spanlog_range, spanlog_range_kind};
use crate::output::{check_sized, flag, place, put, put_sized, spanlog_bytes};
use crate::queue_options::{options, spanlog_queue_options};
use crate::status::spanlog_status;

/// An open queue: a persistent line of records with a fixed budget of memory and disk. Any thread
/// may call any function with it at any time; pushes take turns. A record is kept until every
/// reader has committed it; without any reader, until there is one.
pub struct spanlog_queue {
    _opaque: [u8; 0],
}

static QUEUES: Table<Box<Queue>> = Table::new(9, "queue");

/// The queue behind a handle.
pub fn queue(handle: *const spanlog_queue) -> Result<Held<'static, Box<Queue>>> {
    QUEUES.get_own(handle)
}

/// A queue at one moment.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_queue_figures {
    /// sizeof(spanlog_queue_figures).
    pub struct_size: usize,
    /// Where the first record kept begins.
    pub start: u64,
    /// Where the last record ends.
    pub end: u64,
    /// Everything before is durable.
    pub flushed: u64,
    /// Records pushed since the queue was made, but for those that were lost with power.
    pub pushed: u64,
    /// Records kept, until the slowest reader commits them.
    pub records: u64,
    /// Bytes from start to end, heads included.
    pub bytes: u64,
    /// Records that were dropped because the queue was full.
    pub dropped: u64,
    /// Length of every segment in bytes.
    pub segment_len_bytes: u64,
    /// The most segment files there may be.
    pub capacity_segments: u64,
    /// Segment files there are.
    pub segments: u64,
    /// Segments that are mapped.
    pub mapped_segments: u64,
    /// Records that opening found behind what was known to be durable.
    pub found_records: u64,
    /// 1 if the queue had been closed when it was opened.
    pub was_clean: i32,
    /// 1 if its meta page was lost then, so that everything was found by reading.
    pub was_meta_lost: i32,
}

/// A reader at one moment.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_reader_info {
    /// sizeof(spanlog_reader_info).
    pub struct_size: usize,
    /// Its name.
    pub name: *const c_char,
    /// Everything before is committed.
    pub committed: u64,
    /// What it pops next.
    pub reading: u64,
    /// Records that it has not committed.
    pub records: u64,
    /// Bytes that it has not popped, heads included.
    pub unread_bytes: u64,
}

/// What reading all of a queue found.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_queue_verdict {
    /// sizeof(spanlog_queue_verdict).
    pub struct_size: usize,
    /// Whole records.
    pub records: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// Ranges that are no records.
    pub damaged: u64,
}

rows!(spanlog_queue_figures, spanlog_reader_info, spanlog_queue_verdict);

/// The background work of a queue, for those who run it themselves.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_queue_task {
    /// Makes the next segment ready, one per run.
    Prepare = 1,
    /// Flushes at the interval, and writes down how far everything is.
    Flush = 2,
    /// Measures the disks and lets the policy judge.
    Probe = 3,
}

const TASKS: [(i32, QueueTask); 3] = [
    (spanlog_queue_task::Prepare as i32, QueueTask::Prepare),
    (spanlog_queue_task::Flush as i32, QueueTask::Flush),
    (spanlog_queue_task::Probe as i32, QueueTask::Probe),
];

/// Opens the queue at `root`, or makes one. `options` may be NULL for the defaults. To be closed
/// with spanlog_queue_close().
///
/// SPANLOG_STATUS_INVALID for options that cannot be, a capacity below what is in use, and a
/// directory with a store in it; SPANLOG_STATUS_LOCKED if somebody has it open;
/// SPANLOG_STATUS_OFFLINE for a directory or a segment that is not there; SPANLOG_STATUS_CORRUPT
/// for files that cannot be the queue's; SPANLOG_STATUS_FULL, SPANLOG_STATUS_IO.
///
/// # Safety
/// `root` ends with NUL; `options` is NULL or as long as it says, and its pointers lead to what
/// they say; `queue` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_open(
    root: *const c_char,
    options: *const spanlog_queue_options,
    queue: *mut *mut spanlog_queue,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(queue, "queue")?;
        // SAFETY: the caller promises it.
        let root = unsafe { path(root, "root") }?;
        // SAFETY: the caller promises it.
        let options = unsafe { self::options(options) }?;
        let handle = QUEUES.put(Box::new(Queue::open(root, options)?))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Flushes and closes the queue and frees the handle, also when it fails: then the next opening
/// recovers. Those who wait are told by SPANLOG_STATUS_CLOSED. Records that were popped stay valid.
/// NULL is passed over. In a child process of the one that opened it, the handle is given up
/// without touching the queue.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_close(
    queue: *mut spanlog_queue,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        if queue.is_null() {
            return Ok(());
        }
        if QUEUES.is_inherited(queue) {
            std::mem::forget(QUEUES.take(queue)?);
            return Ok(());
        }
        // Those who wait are told first, or nobody could take the handle away from them.
        let outcome = QUEUES.get(queue)?.close();
        QUEUES.take(queue).map(drop)?;
        outcome
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Pushes one record. Where it ends on the queue's line is written to `end`, unless that is NULL.
/// When it returns, the record survives the end of this process.
///
/// SPANLOG_STATUS_TOO_LARGE above the limit of the options or the capacity; SPANLOG_STATUS_FULL as
/// the options say, and when a disk has no room; SPANLOG_STATUS_POISONED after a flush that failed.
/// Nothing was pushed then.
///
/// # Safety
/// `payload` has `payload_len` bytes; `end` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_push(
    queue: *mut spanlog_queue,
    payload: *const c_void,
    payload_len: usize,
    end: *mut u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::queue(queue)?;
        // SAFETY: the caller promises it.
        let payload = unsafe { bytes(payload, payload_len, "payload") }?;
        let pushed = open.push(payload)?;
        // SAFETY: the caller promises it.
        unsafe { put(end, pushed.get()) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Pushes several records, all or none, also after a crash. Where the last one ends is written to
/// `end`, unless that is NULL. As spanlog_queue_push().
///
/// # Safety
/// There are `count` payloads, each with as many bytes as it says; `end` and `error` are NULL or
/// can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_push_many(
    queue: *mut spanlog_queue,
    payloads: *const spanlog_bytes,
    count: usize,
    end: *mut u64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::queue(queue)?;
        // SAFETY: the caller promises it.
        let given = unsafe { array(payloads, count, "payloads") }?;
        let mut payloads: SmallVec<[&[u8]; 32]> = SmallVec::with_capacity(given.len());
        for payload in given {
            // SAFETY: the caller promises it.
            payloads.push(unsafe { bytes(payload.data.cast(), payload.len, "a payload") }?);
        }
        let pushed = open.push_many(&payloads)?;
        // SAFETY: the caller promises it.
        unsafe { put(end, pushed.get()) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Takes a reader off: it holds no space any more. Its handles answer SPANLOG_STATUS_CLOSED from
/// now on. SPANLOG_STATUS_INVALID if there is none of that name.
///
/// # Safety
/// `name` ends with NUL; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_remove_reader(
    queue: *mut spanlog_queue,
    name: *const c_char,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::queue(queue)?;
        // SAFETY: the caller promises it.
        open.remove_reader(unsafe { text(name, "name") }?)
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Returns once everything pushed so far is durable, and what was committed.
/// SPANLOG_STATUS_POISONED or SPANLOG_STATUS_IO: then nothing more can be promised.
///
/// # Safety
/// `error` is NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_flush(
    queue: *mut spanlog_queue,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { done(error, || self::queue(queue)?.flush()) }
}

/// Runs one piece of background work now, a spanlog_queue_task, as spanlog_store_run() does.
///
/// # Safety
/// `next_ms` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_run(
    queue: *mut spanlog_queue,
    task: i32,
    next_ms: *mut i64,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let open = self::queue(queue)?;
        let task = choice(task, "task", &TASKS)?.ok_or_else(|| invalid("task is 0"))?;
        let next = crate::store::next_ms(open.run(task)?);
        // SAFETY: the caller promises it.
        unsafe { put(next_ms, next) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// The queue as it is now.
///
/// # Safety
/// `figures` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_stat(
    queue: *const spanlog_queue,
    figures: *mut spanlog_queue_figures,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(figures) }?;
        let found = self::figures(&*self::queue(queue)?);
        // SAFETY: the caller promises it.
        unsafe { put_sized(figures, &found) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

fn figures(queue: &Queue) -> spanlog_queue_figures {
    let (stat, recovery) = (queue.stat(), queue.recovery());
    spanlog_queue_figures {
        struct_size: size_of::<spanlog_queue_figures>(),
        start: stat.start.get(),
        end: stat.end.get(),
        flushed: stat.flushed.get(),
        pushed: stat.pushed,
        records: stat.records,
        bytes: stat.bytes,
        dropped: stat.dropped,
        segment_len_bytes: stat.segment_len_bytes,
        capacity_segments: stat.capacity_segments,
        segments: stat.segments,
        mapped_segments: stat.mapped_segments,
        found_records: recovery.found_records,
        was_clean: flag(recovery.clean),
        was_meta_lost: flag(recovery.meta_lost),
    }
}

/// The readers, in the order in which they were made: a list of spanlog_reader_info.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_readers(
    queue: *const spanlog_queue,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(list, "list")?;
        let stat = self::queue(queue)?.stat();
        let mut texts = Texts::default();
        let rows = stat.readers.iter().map(|reader| spanlog_reader_info {
            struct_size: size_of::<spanlog_reader_info>(),
            name: texts.keep(reader.name.as_bytes()),
            committed: reader.committed.get(),
            reading: reader.reading.get(),
            records: reader.records,
            unread_bytes: reader.unread_bytes,
        });
        let rows: Vec<_> = rows.collect();
        let handle = list::handle(rows, texts)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Element `at` of a list of spanlog_queue_readers(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `reader` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_reader(
    list: *const spanlog_list,
    at: usize,
    reader: *mut spanlog_reader_info,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, reader, error) }
}

/// Reads every record that is kept and checks it; changes nothing, and may take long. `damaged`,
/// unless it is NULL, gets a list of spanlog_range: what is no record.
///
/// # Safety
/// `verdict` is as long as it says; `damaged` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_queue_verify(
    queue: *mut spanlog_queue,
    verdict: *mut spanlog_queue_verdict,
    damaged: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(verdict) }?;
        let found = self::queue(queue)?.verify()?;
        let told = spanlog_queue_verdict {
            struct_size: size_of::<spanlog_queue_verdict>(),
            records: found.records,
            payload_bytes: found.payload_bytes,
            damaged: found.damaged.len() as u64,
        };
        if !damaged.is_null() {
            let mut texts = Texts::default();
            let row = |damage| list::range(damage, spanlog_range_kind::Damaged, &mut texts);
            let rows: Vec<spanlog_range> = found.damaged.iter().map(row).collect();
            let handle = list::handle(rows, texts)?;
            // SAFETY: the caller promises that it can be written.
            unsafe { put(damaged, handle) };
        }
        // SAFETY: the caller promises it.
        unsafe { put_sized(verdict, &told) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}
