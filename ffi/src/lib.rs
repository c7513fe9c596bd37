//! The C interface of spanlog. `include/spanlog.h` is made from this crate, comments and all, and
//! compared with it by a test; what the interface promises is told there.
//!
//! How a call goes: [`guard`] catches panics and turns the outcome into a status and an error
//! object; [`handle`] finds what a handle stands for, or says that it stands for nothing any
//! more; [`input`] judges what the caller passed. Only then the engine is asked.
#![allow(non_camel_case_types, reason = "types have the names that they have in C")]

mod append;
mod batch;
mod cursor;
mod cursors;
mod delivery;
mod directory;
mod error;
mod fork;
mod guard;
mod handle;
mod input;
#[cfg(test)]
mod layout_tests;
mod list;
mod lookup;
mod message;
mod options;
mod output;
mod queue;
mod queue_options;
mod read;
mod reader;
mod repair;
mod report;
mod status;
mod store;
mod verify;
mod version;
mod wait;
