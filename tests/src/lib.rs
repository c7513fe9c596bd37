//! What the tests of this workspace share: reading the project's own source ([`source`]), running
//! RocketMQ's own store ([`oracle`]), and a simulated world for the engine: a disk that fails by
//! plan ([`fault_disk`]), what must be in a store ([`model`]), its comparison with what is there
//! ([`check`]), the world itself ([`world`]) and what happens in it ([`workload`]).
//!
//! This crate is never published. Unlike the engine it may use the file system, threads, the
//! clock and standard output; its `Cargo.toml` lifts those lints. A test that cannot run on a
//! machine prints a line beginning with `skipped: ` and returns; `scripts/test.sh` counts it.

pub mod appender;
pub mod check;
pub mod fault_disk;
pub mod model;
pub mod mounts;
pub mod oracle;
pub mod small_store;
pub mod source;
pub mod workload;
pub mod world;
