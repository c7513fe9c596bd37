//! Distinct types for the numbers that must not be mixed up: a place in the log and a place in
//! a queue. Times are `i64` milliseconds since 1970 and are named `..._ms`; lengths are named
//! `..._bytes` or `len`.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Declares a 64-bit unit with checked arithmetic against plain distances.
macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The first place there is.
            pub const ZERO: Self = Self(0);

            /// Wraps a plain number.
            #[must_use]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The plain number.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The distance from `earlier`, or zero if it is not earlier.
            #[must_use]
            pub const fn since(self, earlier: Self) -> u64 {
                self.0.saturating_sub(earlier.0)
            }
        }

        impl Add<u64> for $name {
            type Output = Self;

            fn add(self, distance: u64) -> Self {
                Self(self.0.checked_add(distance).expect("64 bits hold every place ever given out"))
            }
        }

        impl AddAssign<u64> for $name {
            fn add_assign(&mut self, distance: u64) {
                *self = *self + distance;
            }
        }

        impl Sub for $name {
            type Output = u64;

            fn sub(self, earlier: Self) -> u64 {
                self.0.checked_sub(earlier.0).expect("a distance is taken from the later place")
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

unit! {
    /// A byte position on the log's number line. RocketMQ calls it the physical offset.
    ///
    /// ```
    /// use spanlog::Position;
    /// assert_eq!(Position::new(4096) + 91, Position::new(4187));
    /// assert_eq!(Position::new(4187) - Position::new(4096), 91);
    /// ```
    Position
}

unit! {
    /// The index of a message within one queue of one topic: 0, 1, 2, ...
    ///
    /// ```
    /// use spanlog::QueueOffset;
    /// assert_eq!(QueueOffset::new(7) + 1, QueueOffset::new(8));
    /// ```
    QueueOffset
}
