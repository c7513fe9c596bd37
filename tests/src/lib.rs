//! What the tests of this workspace share: reading the project's own source ([`source`]) and
//! running RocketMQ's own store ([`oracle`]).
//!
//! This crate is never published. Unlike the engine it may use the file system, threads, the
//! clock and standard output; its `Cargo.toml` lifts those lints. A test that cannot run on a
//! machine prints a line beginning with `skipped: ` and returns; `scripts/test.sh` counts it.

pub mod oracle;
pub mod source;
