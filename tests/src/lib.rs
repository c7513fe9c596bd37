//! What the tests of this workspace share:
//!
//! * [`source`] reads the project's own source, [`oracle`] runs RocketMQ's own store.
//! * [`fault_disk`] is a disk that fails and lies by plan. [`world`], [`workload`], [`model`] and
//!   [`check`] are the simulation: a machine that follows from a seed, what happens in it, what
//!   must be there, and whether it is.
//!   [`queue_world`] is the same for a queue.
//!   [`consumer`] is a named consumer in it, and [`beside`] what real processes agree on.
//! * [`small_store`] is a store to damage, [`mounts`] are small real file systems, and
//!   [`appender`] and [`pusher`] are the processes that get killed.
//!
//! This crate is never published. Unlike the engine it may use the file system, threads, the
//! clock and standard output; its `Cargo.toml` lifts those lints. A test that cannot run on a
//! machine prints a line beginning with `skipped: ` and returns; `scripts/test.sh` counts it.

pub mod appender;
pub mod beside;
pub mod check;
pub mod consumer;
pub mod draft;
pub mod fault_disk;
pub mod model;
pub mod mounts;
pub mod oracle;
pub mod pusher;
pub mod queue_world;
pub mod small_store;
pub mod source;
pub mod workload;
pub mod world;
