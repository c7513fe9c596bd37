//! Mending a store: a plan from what a verification found, and carrying it out.

use std::ffi::c_char;
use std::os::unix::ffi::OsStrExt;

use engine::{RepairAction, RepairPlan};

use crate::error::spanlog_error;
use crate::guard::{calm, done};
use crate::handle::Table;
use crate::list::{self, Texts, element, rows, spanlog_finding, spanlog_list};
use crate::output::{place, put};
use crate::status::spanlog_status;
use crate::verify::{finding, spanlog_verification, verification};

/// What mending a store takes. Nothing is done before spanlog_repair_apply(). To be freed with
/// spanlog_repair_free(), unless it was applied.
pub struct spanlog_repair {
    _opaque: [u8; 0],
}

static REPAIRS: Table<Box<RepairPlan>> = Table::new(12, "repair");

/// What one action of a repair does.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum spanlog_action_kind {
    /// Replaces a segment file of the wrong length by one of the right length with the same bytes.
    /// What its records then lack is found by another verification.
    Resize = 1,
    /// Sets a file aside that is no segment of the log.
    SetAside = 2,
    /// Saves damaged bytes, and writes a padding over them that readers pass by.
    Pad = 3,
    /// Saves what a crash left behind the log's end, and cuts it off.
    CutTail = 4,
    /// Derives the queues anew from the log.
    RebuildQueues = 5,
    /// Writes the registry anew; the directories are those that the options name.
    RewriteRegistry = 6,
    /// Writes marks, offsets and checkpoint anew.
    RewriteMarks = 7,
    /// Builds the key index anew from the log.
    RebuildKeys = 8,
    /// Saves a cursor's file, and writes anew what is whole of it.
    MendCursor = 9,
    /// Something that this interface has no name for yet.
    Other = 99,
}

/// One thing that mending a store takes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_action {
    /// sizeof(spanlog_action).
    pub struct_size: usize,
    /// What will be done, in words.
    pub text: *const c_char,
    /// The file, in the system's bytes; NULL if it is about none.
    pub path: *const c_char,
    /// The first position of the log that is concerned; both are 0 if none is.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// A spanlog_action_kind.
    pub kind: i32,
    /// 0.
    pub reserved: i32,
}

/// A file with what a repair cut or wrote over, as it stood there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_saved {
    /// sizeof(spanlog_saved).
    pub struct_size: usize,
    /// Where it is, in the system's bytes.
    pub path: *const c_char,
}

rows!(spanlog_action, spanlog_saved);

fn kind(action: &RepairAction) -> spanlog_action_kind {
    match action {
        RepairAction::Resize { .. } => spanlog_action_kind::Resize,
        RepairAction::SetAside { .. } => spanlog_action_kind::SetAside,
        RepairAction::Pad { .. } => spanlog_action_kind::Pad,
        RepairAction::CutTail { .. } => spanlog_action_kind::CutTail,
        RepairAction::RebuildQueues => spanlog_action_kind::RebuildQueues,
        RepairAction::RewriteRegistry => spanlog_action_kind::RewriteRegistry,
        RepairAction::RewriteMarks => spanlog_action_kind::RewriteMarks,
        RepairAction::RebuildKeys => spanlog_action_kind::RebuildKeys,
        RepairAction::MendCursor { .. } => spanlog_action_kind::MendCursor,
        _ => spanlog_action_kind::Other,
    }
}

fn row(action: &RepairAction, texts: &mut Texts) -> spanlog_action {
    let (path, range) = action.place();
    let range = range.unwrap_or_default();
    let path = path.map(|path| path.as_os_str().as_bytes());
    spanlog_action {
        struct_size: size_of::<spanlog_action>(),
        text: texts.keep(action.to_string().as_bytes()),
        path: path.map_or(std::ptr::null(), |path| texts.keep(path)),
        from: range.start,
        to: range.end,
        kind: kind(action) as i32,
        reserved: 0,
    }
}

/// What mending takes, from what a verification of a closed store found: all its steps must have
/// run, or it is SPANLOG_STATUS_INVALID. While a directory or a part of the log is not there,
/// nothing is mended, unless the options of the verification say that this is all right.
///
/// # Safety
/// `repair` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_verification_plan_repair(
    verification: *const spanlog_verification,
    repair: *mut *mut spanlog_repair,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        let out = place(repair, "repair")?;
        let plan = self::verification(verification, RepairPlan::of)?;
        let handle = REPAIRS.put(Box::new(plan))?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// A list of what a plan says.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
unsafe fn listed<T: crate::input::Sized + 'static>(
    repair: *const spanlog_repair,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
    look: impl FnOnce(&RepairPlan, &mut Texts) -> Vec<T>,
) -> spanlog_status {
    let body = || {
        let out = place(list, "list")?;
        let plan = REPAIRS.get_own(repair)?;
        let mut texts = Texts::default();
        let handle = list::handle(look(&plan, &mut texts), texts)?;
        // SAFETY: the caller promises that it can be written.
        unsafe { put(out, handle) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// What will be done, in order: a list of spanlog_action; an empty one if there is nothing to do.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_repair_actions(
    repair: *const spanlog_repair,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |plan: &RepairPlan, texts: &mut Texts| -> Vec<spanlog_action> {
        plan.actions().iter().map(|action| row(action, texts)).collect()
    };
    // SAFETY: the caller promises it.
    unsafe { listed(repair, list, error, look) }
}

/// What was found and cannot be mended here: a list of spanlog_finding. A directory that is not
/// there has to come back, a device that does not give its bytes has to be replaced.
///
/// # Safety
/// `list` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_repair_beyond(
    repair: *const spanlog_repair,
    list: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let look = |plan: &RepairPlan, texts: &mut Texts| -> Vec<spanlog_finding> {
        plan.beyond().iter().map(|found| finding(found, texts)).collect()
    };
    // SAFETY: the caller promises it.
    unsafe { listed(repair, list, error, look) }
}

/// Does it, opens and closes the store, which recovers it, and frees the handle, also when it
/// fails. `saved`, unless it is NULL, gets a list of spanlog_saved. After a
/// SPANLOG_ACTION_KIND_RESIZE another verification is needed.
///
/// SPANLOG_STATUS_LOCKED while somebody has the store open; what opening and closing it say;
/// SPANLOG_STATUS_FULL, SPANLOG_STATUS_IO. It may be done again then, after another verification;
/// what was saved stays.
///
/// # Safety
/// `saved` and `error` are NULL or can be written.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_repair_apply(
    repair: *mut spanlog_repair,
    saved: *mut *mut spanlog_list,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    let body = || {
        drop(REPAIRS.get_own(repair)?);
        // Another thread may be faster; then it is closed, as for whoever comes later.
        let Some(plan) = REPAIRS.take(repair)? else { return Ok(()) };
        let repaired = plan.apply()?;
        if !saved.is_null() {
            let mut texts = Texts::default();
            let rows = repaired.saved.iter().map(|path| spanlog_saved {
                struct_size: size_of::<spanlog_saved>(),
                path: texts.keep(path.as_os_str().as_bytes()),
            });
            let rows: Vec<_> = rows.collect();
            let handle = list::handle(rows, texts)?;
            // SAFETY: the caller promises that it can be written.
            unsafe { put(saved, handle) };
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { done(error, body) }
}

/// Frees a plan and does nothing of it. NULL, and one that was freed or applied before, are passed
/// over.
#[unsafe(no_mangle)]
pub extern "C" fn spanlog_repair_free(repair: *mut spanlog_repair) {
    calm((), || REPAIRS.take(repair).ok().map(drop));
}

/// Element `at` of a list of spanlog_repair_actions(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `action` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_action(
    list: *const spanlog_list,
    at: usize,
    action: *mut spanlog_action,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, action, error) }
}

/// Element `at` of a list of spanlog_repair_apply(), from 0. SPANLOG_STATUS_END behind the last.
///
/// # Safety
/// `saved` is as long as it says; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spanlog_list_saved(
    list: *const spanlog_list,
    at: usize,
    saved: *mut spanlog_saved,
    error: *mut *mut spanlog_error,
) -> spanlog_status {
    // SAFETY: the caller promises it.
    unsafe { element(list, at, saved, error) }
}
