//! spanlog for Node.js: the native half of the package. It converts between JavaScript's values
//! and the engine's and decides nothing; `index.js` and `lib/` are the other half, and the only
//! caller.
//!
//! What is called once per message or batch goes through a block of memory that JavaScript packs
//! (`scratch`), as plain functions: reading arguments one by one, and asking of which class an
//! object is, takes longer than an append. Everything else is a method of `store::NativeStore`.
//!
//! Errors carry all their fields as JSON in their text (`failure`); `lib/errors.js` makes them
//! what users see.
#![deny(unsafe_code)]
// What calls it all is registered by macros, but not in a build for tests.
#![cfg_attr(test, allow(dead_code, unused_imports))]

mod answers;
mod block;
mod calls;
mod cursors;
mod failure;
mod found;
mod given;
mod handle;
mod notifier;
mod queue;
mod requests;
mod scratch;
mod store;
mod verifying;
mod work;
