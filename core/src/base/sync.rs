//! The locks of the engine: the system's, or loom's where the concurrency tests are built with
//! `--cfg loom`.
//!
//! They are futexes, behind which nothing global stands. parking_lot, which was here before, keeps
//! all who sleep in one table of the process: a child that was forked off inherits the parent's
//! sleepers, and a store that it opens itself waits for them for ever. A panic poisons no lock:
//! what it leaves is judged by `log::Poison` and by the rules of whoever holds the data.

use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

#[cfg(loom)]
use loom::sync as system;
#[cfg(not(loom))]
use std::sync as system;

pub use system::atomic::{AtomicU32, AtomicU64, Ordering};
pub use system::{Condvar, MutexGuard};

/// A lock.
#[derive(Debug, Default)]
pub struct Mutex<T>(system::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(system::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if nobody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// What is in it, which nobody else can hold.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock that readers share.
#[derive(Debug, Default)]
pub struct RwLock<T>(system::RwLock<T>);

impl<T> RwLock<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(system::RwLock::new(value))
    }

    /// Waits until nobody writes.
    pub fn read(&self) -> system::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else has it.
    pub fn write(&self) -> system::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the lock away until somebody notifies `condition`, then takes it again. It may also
/// return without that: the caller looks again.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Gives the lock away while `still` holds, at most so long, and takes it again.
#[cfg(not(loom))]
pub fn wait_while<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: Duration,
    still: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    let waited = condition.wait_timeout_while(guard, timeout, still);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Gives the lock away while `still` holds, and takes it again: in loom's world no time passes.
#[cfg(loom)]
pub fn wait_while<'a, T>(
    condition: &Condvar,
    mut guard: MutexGuard<'a, T>,
    _timeout: Duration,
    mut still: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    while still(&mut *guard) {
        guard = wait(condition, guard);
    }
    guard
}
