//! The calls of the system that the standard library does not offer, each behind a safe face.
//! Errors are the system's own.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
#[cfg(test)]
use std::os::fd::BorrowedFd;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_int;

/// The extended attribute that holds a directory's label.
const LABEL: &CStr = c"user.spanlog";

/// The longest value that Linux allows an extended attribute (`XATTR_SIZE_MAX`).
const LABEL_BYTES: usize = 65_536;

/// How the blocks of a range are changed.
#[derive(Clone, Copy, Debug)]
pub enum Blocks {
    /// Taken, and what was written stays.
    Take,
    /// Taken, and zero.
    Zero,
    /// Given back, and zero.
    Punch,
}

impl Blocks {
    fn mode(self) -> c_int {
        match self {
            Self::Take => 0,
            Self::Zero => libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE,
            Self::Punch => libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
        }
    }
}

/// Whether the file system cannot do what was asked, and never will.
pub fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

/// The system's error if the call returned a negative number.
fn check(outcome: c_int) -> io::Result<c_int> {
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(outcome) }
}

fn signed(number: u64) -> io::Result<i64> {
    i64::try_from(number).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn terminated(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Changes the blocks of `from..to`, which must not be empty.
pub fn change_blocks(file: &File, how: Blocks, from: u64, to: u64) -> io::Result<()> {
    let (at, len) = (signed(from)?, signed(to - from)?);
    loop {
        // SAFETY: plain numbers, and a descriptor that `file` keeps open.
        let outcome = check(unsafe { libc::fallocate(file.as_raw_fd(), how.mode(), at, len) });
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome.map(|_| ()),
        }
    }
}

/// Gives the nameless `file` a name. Without `/proc` the descriptor itself is linked, which
/// takes a privilege.
pub fn link(file: &File, path: &Path) -> io::Result<()> {
    let by_proc = format!("/proc/self/fd/{}", file.as_raw_fd());
    let proc_path = terminated(Path::new(&by_proc))?;
    match link_at(libc::AT_FDCWD, &proc_path, path, libc::AT_SYMLINK_FOLLOW) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            link_at(file.as_raw_fd(), c"", path, libc::AT_EMPTY_PATH)
        }
        outcome => outcome,
    }
}

fn link_at(dir: c_int, from: &CStr, to: &Path, flags: c_int) -> io::Result<()> {
    let (from, to) = (from.as_ptr(), terminated(to)?);
    // SAFETY: both paths are terminated and live until the call returns.
    check(unsafe { libc::linkat(dir, from, libc::AT_FDCWD, to.as_ptr(), flags) }).map(|_| ())
}

/// Renames, unless something is at `to`.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (terminated(from)?, terminated(to)?);
    let here = libc::AT_FDCWD;
    let flags = libc::RENAME_NOREPLACE;
    // SAFETY: both paths are terminated and live until the call returns.
    check(unsafe { libc::renameat2(here, from.as_ptr(), here, to.as_ptr(), flags) }).map(|_| ())
}

/// An exclusive lock on the first byte of a file.
fn first_byte() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    }
}

/// Locks the first byte exclusively, for this descriptor, without waiting.
pub fn lock(file: &File) -> io::Result<()> {
    change_lock(file, libc::F_WRLCK)
}

/// Gives the lock back at once, also while a process that was forked meanwhile still has a copy
/// of the descriptor.
pub fn unlock(file: &File) -> io::Result<()> {
    change_lock(file, libc::F_UNLCK)
}

/// Locks a directory; fails at once if somebody has.
pub fn lock_directory(dir: &File) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::flock(dir.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }).map(|_| ())
}

/// Gives the lock of [`lock_directory`] back.
pub fn unlock_directory(dir: &File) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::flock(dir.as_raw_fd(), libc::LOCK_UN) }).map(|_| ())
}

fn change_lock(file: &File, kind: c_int) -> io::Result<()> {
    let wanted = libc::flock { l_type: kind as libc::c_short, ..first_byte() };
    // SAFETY: the structure lives until the call returns.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const wanted) })
        .map(|_| ())
}

/// The process that holds a lock against [`lock`], if it is a process that holds it and not a
/// descriptor, and if it still does.
pub fn lock_holder(file: &File) -> Option<u32> {
    let mut found = first_byte();
    // SAFETY: the structure lives until the call returns, which may change it.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut found) }).ok()?;
    let held = found.l_type != libc::F_UNLCK as libc::c_short;
    u32::try_from(found.l_pid).ok().filter(|pid| held && *pid > 0)
}

/// What the system says of a file system: block size, blocks, free blocks, blocks available.
pub fn blocks(path: &Path) -> io::Result<[u64; 4]> {
    let path = terminated(path)?;
    let mut found = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path is terminated, and `found` is the place for the answer.
    check(unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) })?;
    // SAFETY: any bytes make a structure of numbers, and the call filled it.
    let found = unsafe { found.assume_init() };
    Ok([found.f_frsize, found.f_blocks, found.f_bfree, found.f_bavail])
}

/// The label of a directory, or nothing if it has none.
pub fn label(dir: &File) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0_u8; LABEL_BYTES];
    let (fd, target) = (dir.as_raw_fd(), value.as_mut_ptr().cast());
    // SAFETY: the name is terminated, and `target` has room for as many bytes as it says.
    let len = unsafe { libc::fgetxattr(fd, LABEL.as_ptr(), target, LABEL_BYTES) };
    let Ok(len) = usize::try_from(len) else { return absent(io::Error::last_os_error(), None) };
    value.truncate(len);
    Ok(Some(value))
}

/// Sets the label of a directory.
pub fn set_label(dir: &File, label: &[u8]) -> io::Result<()> {
    let (fd, bytes) = (dir.as_raw_fd(), label.as_ptr().cast());
    // SAFETY: the name is terminated, and `bytes` has as many bytes as it says.
    check(unsafe { libc::fsetxattr(fd, LABEL.as_ptr(), bytes, label.len(), 0) }).map(|_| ())
}

/// Takes the label off a directory; having none is fine.
pub fn remove_label(dir: &File) -> io::Result<()> {
    // SAFETY: the name is terminated.
    match check(unsafe { libc::fremovexattr(dir.as_raw_fd(), LABEL.as_ptr()) }) {
        Err(error) => absent(error, ()),
        Ok(_) => Ok(()),
    }
}

/// Turns "there is no such attribute" into `none`.
fn absent<T>(error: io::Error, none: T) -> io::Result<T> {
    if error.raw_os_error() == Some(libc::ENODATA) { Ok(none) } else { Err(error) }
}

/// A new counter of events, which can be waited for with `poll` and never blocks.
pub fn event() -> io::Result<OwnedFd> {
    // SAFETY: plain numbers.
    let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the call has just opened it, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether a descriptor is readable, or becomes so within that many milliseconds.
#[cfg(test)]
pub fn polls_readable(fd: BorrowedFd<'_>, timeout_ms: c_int) -> bool {
    let mut asked = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, which lives until the call returns and may be changed.
    let ready = check(unsafe { libc::poll(&raw mut asked, 1, timeout_ms) });
    ready.is_ok_and(|count| count == 1) && asked.revents == libc::POLLIN
}

/// The first byte with data at or after `from`; `from` itself where the file system cannot tell.
pub fn seek_data(file: &File, from: u64) -> io::Result<Option<u64>> {
    let at = signed(from)?;
    // SAFETY: plain numbers, and a descriptor that `file` keeps open.
    let found = unsafe { libc::lseek(file.as_raw_fd(), at, libc::SEEK_DATA) };
    let Ok(found) = u64::try_from(found) else {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENXIO) => Ok(None),
            Some(libc::EINVAL | libc::EOPNOTSUPP) => Ok(Some(from)),
            _ => Err(error),
        };
    };
    Ok(Some(found))
}

/// The longest file that this process may make. The system answers more with a signal that ends
/// the process (`SIGXFSZ`), unless the host ignores it.
pub fn longest_file() -> u64 {
    let mut found = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives until the call returns, which fills it.
    let outcome = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut found) };
    assert_eq!(outcome, 0, "every process has this limit");
    found.rlim_cur
}

/// Milliseconds since 1970, as of the last tick of the system.
pub fn coarse_ms() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives until the call returns, which fills it.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) };
    assert_eq!(outcome, 0, "every Linux has this clock");
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// The hour of day in the local time zone, or nothing beyond the calendar.
pub fn local_hour(seconds: i64) -> Option<u32> {
    let mut found = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both structures live until the call returns, which fills the second.
    let filled = unsafe { libc::localtime_r(&raw const seconds, found.as_mut_ptr()) };
    if filled.is_null() {
        return None;
    }
    // SAFETY: the call filled it.
    u32::try_from(unsafe { found.assume_init() }.tm_hour).ok()
}
