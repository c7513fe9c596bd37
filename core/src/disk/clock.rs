//! A clock that stands still.

use std::sync::atomic::{AtomicI64, Ordering};

use super::Clock;

const HOUR_MS: i64 = 3_600_000;

/// A clock that moves when it is told to, for tests and simulations. Local time is UTC.
///
/// ```
/// use spanlog::disk::{Clock, ManualClock};
/// let clock = ManualClock::new(7_200_000);
/// clock.advance(60_000);
/// assert_eq!(clock.now_ms(), 7_260_000);
/// assert_eq!(clock.local_hour(clock.now_ms()), 2);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now_ms`.
    #[must_use]
    pub fn new(now_ms: i64) -> Self {
        Self(AtomicI64::new(now_ms))
    }

    /// Sets the time, also backwards.
    pub fn set(&self, now_ms: i64) {
        self.0.store(now_ms, Ordering::Relaxed);
    }

    /// Moves the time by `by_ms`, which may be negative.
    pub fn advance(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn local_hour(&self, now_ms: i64) -> u32 {
        now_ms.div_euclid(HOUR_MS).rem_euclid(24) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_before_1970_are_hours_too() {
        let clock = ManualClock::default();
        for (now_ms, hour) in [(0, 0), (-1, 23), (25 * HOUR_MS, 1), (24 * HOUR_MS - 1, 23)] {
            clock.set(now_ms);
            assert_eq!(clock.local_hour(clock.now_ms()), hour, "{now_ms}");
        }
    }
}
