//! Lists of what a store consists of: taken at one moment, read element by element.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;

use engine::{Damaged, Result};

use crate::error::{c_text, spanlog_error};
use crate::guard::{answer, calm, invalid};
use crate::handle::Table;
use crate::input::Sized;
use crate::output::{check_sized, put_sized};
use crate::status::spanlog_status;

/// A list that one call made, of one kind of element. To be freed with spanlog_list_free(); what
/// its elements point to lives as long.
pub struct spanlog_list {
    _opaque: [u8; 0],
}

/// A directory of a store.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_disk {
    /// sizeof(spanlog_disk).
    pub struct_size: usize,
    /// Where it is, in the system's bytes.
    pub path: *const c_char,
    /// Why it cannot be used; NULL if it can.
    pub offline: *const c_char,
    /// The file system it is on: directories with the same number share their space.
    pub device: u64,
    /// Bytes in use, if `has_usage`.
    pub used_bytes: u64,
    /// Bytes this process could still write, if `has_usage`.
    pub available_bytes: u64,
    /// Number of segments it holds.
    pub segments: u64,
    /// Bytes of segments it holds.
    pub segment_bytes: u64,
    /// Used / (used + available), from 0 to 1, if `has_usage`; else 0.
    pub used_ratio: f64,
    /// Its marks, as in spanlog_thresholds.
    pub clean: f64,
    /// As above.
    pub force: f64,
    /// As above.
    pub refuse: f64,
    /// As above.
    pub hysteresis: f64,
    /// As above.
    pub floor_bytes: u64,
    /// A spanlog_role.
    pub role: i32,
    /// A spanlog_pressure.
    pub pressure: i32,
    /// 1 if the next segment may go there.
    pub takes_segments: i32,
    /// 1 if its disk's usage is known.
    pub has_usage: i32,
}

/// The highest mark that is in force on a disk. Each includes those below it.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_pressure {
    /// Below all marks, or the usage is not known.
    None = 0,
    /// Expired segments leave at once.
    Clean = 1,
    /// No new segment goes here while another directory can take it.
    Force = 2,
    /// No new segment goes here.
    Refuse = 3,
}

/// A segment of the log.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_segment {
    /// sizeof(spanlog_segment).
    pub struct_size: usize,
    /// Its file, in the system's bytes.
    pub path: *const c_char,
    /// First position it covers.
    pub base: u64,
    /// Length in bytes.
    pub len_bytes: u64,
    /// Store time of its last record, in ms since 1970; 0 where nobody has read it.
    pub last_store_ms: i64,
    /// 1 if a batch holds it.
    pub held: i32,
    /// 1 if retention dropped it; its space comes back when it is released.
    pub dropped: i32,
}

/// A queue of a topic.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_queue_info {
    /// sizeof(spanlog_queue_info).
    pub struct_size: usize,
    /// The topic.
    pub topic: *const c_char,
    /// The first message kept.
    pub min: u64,
    /// One past the last that can be read.
    pub max: u64,
    /// The queue's number.
    pub queue: u32,
    /// 0.
    pub reserved: i32,
}

/// Why a segment leaves or stays.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_reason {
    /// Leaves: it is past its age.
    Expired = 1,
    /// Leaves although it is not past its age, because disks are full.
    Forced = 2,
    /// Stays: it is the last, where appends go.
    KeptLast = 3,
    /// Stays: one before it stays, and the log has no holes.
    KeptBehind = 4,
    /// Stays: its directory is read-only.
    KeptReadOnly = 5,
    /// Stays: it is not past its age.
    KeptYoung = 6,
    /// Stays: its age is not known.
    KeptUndated = 7,
    /// Stays: it is past its age, but nothing calls for cleaning.
    KeptNoPressure = 8,
    /// Stays for this round: enough were dropped before their age.
    KeptRoundLimit = 9,
    /// Stays: a cursor has not acknowledged all of it, and may hold it.
    KeptForCursor = 10,
}

/// What a round of cleaning would do with a segment.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_fate {
    /// sizeof(spanlog_fate).
    pub struct_size: usize,
    /// The reason in words.
    pub text: *const c_char,
    /// The segment's first position.
    pub base: u64,
    /// Its length in bytes.
    pub len_bytes: u64,
    /// A spanlog_reason.
    pub reason: i32,
    /// 1 if it leaves.
    pub drops: i32,
}

/// A segment that cleaning dropped since the store was opened.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_dropped {
    /// sizeof(spanlog_dropped).
    pub struct_size: usize,
    /// Its file, in the system's bytes.
    pub path: *const c_char,
    /// Why, in words.
    pub reason: *const c_char,
    /// Its first position.
    pub base: u64,
    /// When, in ms since 1970.
    pub at_ms: i64,
}

/// What a range is that was reported.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_range_kind {
    /// What a crash left at the end and was no record; it was cut off.
    Torn = 1,
    /// Damage that was passed over, with the option that allows it.
    Skipped = 2,
    /// It lies on a directory that is not there.
    Offline = 3,
    /// What reading all of a queue found to be no record.
    Damaged = 4,
}

/// A range of a log, or of a queue's line, that opening or verifying reported.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_range {
    /// sizeof(spanlog_range).
    pub struct_size: usize,
    /// The file it begins in, in the system's bytes; NULL if it is not there.
    pub path: *const c_char,
    /// What is wrong, in words.
    pub reason: *const c_char,
    /// Its first position.
    pub from: u64,
    /// One past its last.
    pub to: u64,
    /// A spanlog_range_kind.
    pub kind: i32,
    /// 0.
    pub reserved: i32,
}

/// Something of a store that is not as it should be.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_finding {
    /// sizeof(spanlog_finding).
    pub struct_size: usize,
    /// The file, in the system's bytes.
    pub path: *const c_char,
    /// What is wrong, in words.
    pub text: *const c_char,
    /// The byte in the file where it begins.
    pub offset: u64,
    /// How many bytes it concerns.
    pub len_bytes: u64,
    /// The first position of the log that is concerned; both are 0 if none is.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// A spanlog_finding_kind.
    pub kind: i32,
    /// 1 if it is damage; 0 for what a crash leaves and opening puts right.
    pub is_damage: i32,
}

/// Elements of one kind.
trait Rows: Any {
    fn len(&self) -> usize;
}

impl<T: Sized + 'static> Rows for Vec<T> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

/// Elements, and the texts they point to.
struct List {
    rows: Box<dyn Rows>,
    #[expect(dead_code, reason = "the elements point into them")]
    texts: Texts,
}

/// Texts that do not move.
#[derive(Default)]
pub struct Texts(Vec<CString>);

impl Texts {
    /// Keeps a text; where it lies.
    pub fn keep(&mut self, bytes: &[u8]) -> *const c_char {
        // What a `CString` points to stays in place when the list of them grows.
        self.0.push(c_text(bytes));
        self.0.last().map_or(std::ptr::null(), |text| text.as_ptr())
    }
}

// SAFETY: the pointers of its elements lead into its own texts, which nobody changes.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Sync for List {}

static LISTS: Table<Box<List>> = Table::new(4, "list");

/// A handle for a list.
///
/// # Errors
/// With more lists than anybody can hold.
pub fn handle<T: Sized + 'static>(rows: Vec<T>, texts: Texts) -> Result<*mut spanlog_list> {
    LISTS.put(Box::new(List { rows: Box::new(rows), texts }))
}

/// Declares kinds of elements; each is numbers and pointers, without padding.
macro_rules! rows {
    ($($type:ty),* $(,)?) => {
        $(
            // SAFETY: numbers and pointers; a `reserved` stands where padding would be.
            unsafe impl $crate::input::Sized for $type {
                const NAME: &'static str = stringify!($type);
                const LEAST_BYTES: usize = size_of::<Self>();
            }
        )*
    };
}
pub(crate) use rows;

rows! {
    spanlog_disk, spanlog_segment, spanlog_queue_info, spanlog_fate, spanlog_dropped, spanlog_range,
    spanlog_finding,
}

/// A range that is reported with its reason.
pub fn range(damage: &Damaged, kind: spanlog_range_kind, texts: &mut Texts) -> spanlog_range {
    spanlog_range {
        struct_size: size_of::<spanlog_range>(),
        path: texts.keep(damage.path.as_os_str().as_bytes()),
        reason: texts.keep(damage.reason.as_bytes()),
        from: damage.range.start,
        to: damage.range.end,
        kind: kind as i32,
        reserved: 0,
    }
}

/// Number of elements; 0 for NULL or a list that was freed.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_list_count(list: *const spanlog_list) -> usize {
    calm(0, || Some(LISTS.get(list).ok()?.rows.len()))
}

/// Frees a list. NULL, and one that was freed before, are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_list_free(list: *mut spanlog_list) {
    calm((), || LISTS.take(list).ok().map(drop));
}

/// Writes an element of a list.
///
/// # Safety
/// `row` is NULL or as long as it says; `error` is NULL or can be written.
pub unsafe fn element<T: Sized + 'static>(
    list: *const spanlog_list,
    at: usize,
    row: *mut T,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(row) }?;
        let list = LISTS.get(list)?;
        let other = || invalid(format!("the list has no elements of type {}", T::NAME));
        let rows: &dyn Any = list.rows.as_ref();
        let Some(found) = rows.downcast_ref::<Vec<T>>().ok_or_else(other)?.get(at) else {
            return Ok(spanlog_status::End);
        };
        // SAFETY: the caller promises it.
        unsafe { put_sized(row, found) }?;
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// Element `at` of a list of spanlog_store_disks(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `disk` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_disk(
    list: *const spanlog_list,
    at: usize,
    disk: *mut spanlog_disk,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, disk, error) }
}

/// Element `at` of a list of spanlog_store_segments(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `segment` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_segment(
    list: *const spanlog_list,
    at: usize,
    segment: *mut spanlog_segment,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, segment, error) }
}

/// Element `at` of a list of spanlog_store_queues(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `queue` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_queue(
    list: *const spanlog_list,
    at: usize,
    queue: *mut spanlog_queue_info,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, queue, error) }
}

/// Element `at` of a list of spanlog_store_plan_clean(), from 0. SPANLOG_STATUS_END behind the
/// last.
///
/// # Safety
/// `fate` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_fate(
    list: *const spanlog_list,
    at: usize,
    fate: *mut spanlog_fate,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, fate, error) }
}

/// Element `at` of a list of spanlog_store_dropped(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `dropped` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_dropped(
    list: *const spanlog_list,
    at: usize,
    dropped: *mut spanlog_dropped,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, dropped, error) }
}

/// Element `at` of a list of spanlog_store_ranges() or spanlog_queue_verify(), from 0.
/// SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `range` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_range(
    list: *const spanlog_list,
    at: usize,
    range: *mut spanlog_range,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, range, error) }
}

/// Element `at` of a list of spanlog_verification_findings() or spanlog_repair_beyond(), from 0.
/// SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `finding` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_finding(
    list: *const spanlog_list,
    at: usize,
    finding: *mut spanlog_finding,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, finding, error) }
}
