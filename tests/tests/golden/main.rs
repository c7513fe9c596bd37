//! Stores that RocketMQ wrote, opened by spanlog: whatever RocketMQ answered is compared. What
//! the stores hold and what their answers mean is told in `tests/golden/README.md`. Every test
//! works on an unpacked copy; where RocketMQ's answer is a loss, the test says what spanlog's is.

mod answers;
mod away;
mod damaged;
mod lookups;
mod store;
mod verified;
mod whole;
