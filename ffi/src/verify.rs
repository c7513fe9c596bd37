//! Verifying a store step by step.

use std::ffi::c_char;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::{Finding, FindingKind, Part, Verification};

use crate::error::spanlog_error;
use crate::guard::{answer, calm, done};
use crate::handle::Table;
use crate::input::{Sized, path};
use crate::list::{self, Texts, spanlog_finding, spanlog_list};
use crate::options::spanlog_options;
use crate::output::{check_sized, flag, place, put, put_sized};
use crate::status::spanlog_status;
use crate::store::{spanlog_store, store};

/// A look at everything of a store, in bounded steps. To be freed with
/// spanlog_verification_free(). Calls with one of them take turns.
pub struct spanlog_verification {
    _opaque: [u8; 0],
}

static VERIFICATIONS: Table<Box<Mutex<Verification>>> = Table::new(6, "verification");

/// Asks a verification, once it is its turn.
pub fn verification<T>(
    handle: *const spanlog_verification,
    ask: impl FnOnce(&Verification) -> engine::Result<T>,
) -> engine::Result<T> {
    let held = VERIFICATIONS.get_own(handle)?;
    ask(&at_work(&held))
}

/// Waits for its turn.
fn at_work(verification: &Mutex<Verification>) -> MutexGuard<'_, Verification> {
    verification.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is verified at the moment.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_part {
    /// Every record, with its checksums.
    Log = 1,
    /// Every unit of every queue.
    Queues = 2,
    /// The small files that say how far the store has come.
    Marks = 3,
    /// Something that this interface has no name for yet.
    Other = 99,
}

/// How far a part is verified.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_progress {
    /// What is done of it.
    pub done: u64,
    /// What there is of it.
    pub total: u64,
    /// A spanlog_part.
    pub part: i32,
    /// 0.
    pub reserved: i32,
}

/// What was verified, so far.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_verdict {
    /// sizeof(spanlog_verdict).
    pub struct_size: usize,
    /// Records that were looked at.
    pub records: u64,
    /// The first position that is verified.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// How many findings spanlog_verification_findings() lists.
    pub findings: u64,
    /// How many there are besides.
    pub more_findings: u64,
    /// 1 if nothing that was found is damage.
    pub is_sound: i32,
    /// 1 if the store had been closed cleanly.
    pub was_closed: i32,
}

// SAFETY: numbers.
unsafe impl Sized for spanlog_verdict {
    const NAME: &'static str = "spanlog_verdict";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// What is not as it should be.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_finding_kind {
    /// Bytes that should be a record and are none.
    Record = 1,
    /// What a crash left at the end of the log.
    TornTail = 2,
    /// Bytes behind the end of the log.
    Leftover = 3,
    /// A segment file that is not what its name and length say.
    Segment = 4,
    /// A range of the log that no directory holds.
    Missing = 5,
    /// Bytes that the disk does not give.
    Unreadable = 6,
    /// A unit of a queue that does not fit its record.
    Unit = 7,
    /// A file of a queue that is not what its name and length say.
    QueueFile = 8,
    /// The registry of directories.
    Registry = 9,
    /// The marks of how far the log is durable.
    Marks = 10,
    /// The ledger of how far the queues are.
    Ledger = 11,
    /// RocketMQ's checkpoint.
    Checkpoint = 12,
    /// An entry, slot or header of the key index that does not fit the log.
    Key = 13,
    /// A file of the key index that cannot be used.
    KeyFile = 14,
    /// The file of a named consumer.
    Cursor = 15,
    /// Something that this interface has no name for yet.
    Other = 99,
}

impl From<FindingKind> for spanlog_finding_kind {
    fn from(kind: FindingKind) -> Self {
        match kind {
            FindingKind::Record => Self::Record,
            FindingKind::TornTail => Self::TornTail,
            FindingKind::Leftover => Self::Leftover,
            FindingKind::Segment => Self::Segment,
            FindingKind::Missing => Self::Missing,
            FindingKind::Unreadable => Self::Unreadable,
            FindingKind::Unit => Self::Unit,
            FindingKind::QueueFile => Self::QueueFile,
            FindingKind::Registry => Self::Registry,
            FindingKind::Marks => Self::Marks,
            FindingKind::Ledger => Self::Ledger,
            FindingKind::Checkpoint => Self::Checkpoint,
            FindingKind::Key => Self::Key,
            FindingKind::KeyFile => Self::KeyFile,
            FindingKind::Cursor => Self::Cursor,
            _ => Self::Other,
        }
    }
}

/// Begins to verify the store at `root`, changing nothing. `options` may be NULL: they
/// name directories that it does not remember, and `allow_offline` says that those that are not
/// there are no damage.
///
/// SPANLOG_STATUS_INVALID if there is no store; SPANLOG_STATUS_FOREIGN for a directory of another
/// one; SPANLOG_STATUS_VERSION; SPANLOG_STATUS_CORRUPT if the registry is damaged and the options
/// do not name the directories; SPANLOG_STATUS_IO.
///
/// # Safety
/// As spanlog_store_open().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_verification_open(
    root: *const c_char,
    options: *const spanlog_options,
    verification: *mut *mut spanlog_verification,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(verification, "verification")?;
        // SAFETY: the caller promises it.
        let root = unsafe { path(root, "root") }?;
        // SAFETY: the caller promises it.
        let options = unsafe { crate::options::options(options) }?;
        let handle = VERIFICATIONS.put(Box::new(Mutex::new(Verification::new(root, &options)?)))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Begins to verify an open store, up to where it is now; it may be used meanwhile.
///
/// # Safety
/// `verification` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_store_verify(
    store: *mut spanlog_store,
    verification: *mut *mut spanlog_verification,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(verification, "verification")?;
        let begun = Verification::of(self::store(store)?.store())?;
        let handle = VERIFICATIONS.put(Box::new(Mutex::new(begun)))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Verifies a little more and writes how far it is to `progress`, unless that is NULL.
/// SPANLOG_STATUS_END when all is verified. What is wrong with the store is a finding, not an
/// error.
///
/// # Safety
/// `progress` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_verification_step(
    verification: *const spanlog_verification,
    progress: *mut spanlog_progress,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let found = VERIFICATIONS.get_own(verification)?;
        let Some(now) = at_work(&found).step()? else { return Ok(spanlog_status::End) };
        let part = match now.part {
            Part::Log => spanlog_part::Log,
            Part::Queues => spanlog_part::Queues,
            Part::Marks => spanlog_part::Marks,
            _ => spanlog_part::Other,
        };
        let (done, total) = (now.done, now.total);
        let told = spanlog_progress { done, total, part: part as i32, reserved: 0 };
        // SAFETY: the caller promises that it can be written.
        unsafe { put(progress, told) };
        Ok(spanlog_status::Ok)
    };
    // SAFETY: the caller promises it.
    unsafe { answer(error, body) }
}

/// What was verified, so far.
///
/// # Safety
/// `verdict` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_verification_verdict(
    verification: *const spanlog_verification,
    verdict: *mut spanlog_verdict,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        // SAFETY: the caller promises it.
        unsafe { check_sized(verdict) }?;
        let held = VERIFICATIONS.get_own(verification)?;
        let found = at_work(&held);
        let told = spanlog_verdict {
            struct_size: size_of::<spanlog_verdict>(),
            records: found.records(),
            from: found.range().start.get(),
            to: found.range().end.get(),
            findings: found.findings().len() as u64,
            more_findings: found.more_findings(),
            is_sound: flag(found.is_sound()),
            was_closed: flag(found.was_closed()),
        };
        // SAFETY: the caller promises it.
        unsafe { put_sized(verdict, &told) }
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// What is not as it should be, so far: a list of spanlog_finding.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_verification_findings(
    verification: *const spanlog_verification,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(list, "list")?;
        let held = VERIFICATIONS.get_own(verification)?;
        let mut texts = Texts::default();
        let rows =
            at_work(&held).findings().iter().map(|found| finding(found, &mut texts)).collect();
        let handle = list::handle::<spanlog_finding>(rows, texts)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

pub fn finding(found: &Finding, texts: &mut Texts) -> spanlog_finding {
    let range = found.range.clone().unwrap_or(0..0);
    spanlog_finding {
        struct_size: size_of::<spanlog_finding>(),
        path: texts.keep(found.path.as_os_str().as_bytes()),
        text: texts.keep(found.text.as_bytes()),
        offset: found.offset,
        len_bytes: found.len_bytes,
        from: range.start,
        to: range.end,
        kind: spanlog_finding_kind::from(found.kind) as i32,
        is_damage: flag(found.is_damage),
    }
}

/// Frees a verification. NULL, and one that was freed before, are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_verification_free(verification: *mut spanlog_verification) {
    calm((), || VERIFICATIONS.take(verification).ok().map(drop));
}
