//! The synchronisation primitives that the engine's waiting rules are built on: the real ones,
//! or loom's when the concurrency tests are built with `--cfg loom`.

use std::time::Duration;

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub use loom::sync::{Condvar, MutexGuard};
#[cfg(not(loom))]
pub use parking_lot::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering};

/// Gives the lock away until somebody notifies `condition`, then takes it again.
#[cfg(not(loom))]
pub fn wait<'a, T>(condition: &Condvar, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(&mut guard);
    guard
}

/// Gives the lock away until somebody notifies `condition`, then takes it again.
#[cfg(loom)]
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).expect("no thread panics with the lock held")
}

/// Gives the lock away until somebody notifies `condition` or so much time has passed, then takes
/// it again. Without a notification it never returns early.
#[cfg(not(loom))]
pub fn wait_for<'a, T>(
    condition: &Condvar,
    mut guard: MutexGuard<'a, T>,
    timeout: Duration,
) -> MutexGuard<'a, T> {
    condition.wait_for(&mut guard, timeout);
    guard
}

/// Gives the lock away until somebody notifies `condition`, then takes it again: in loom's world
/// no time passes.
#[cfg(loom)]
pub fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    _timeout: Duration,
) -> MutexGuard<'a, T> {
    wait(condition, guard)
}

/// Loom's lock behind parking_lot's interface.
#[cfg(loom)]
#[derive(Debug, Default)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("no thread panics with the lock held")
    }
}
