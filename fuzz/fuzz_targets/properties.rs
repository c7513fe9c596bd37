//! Feeds `spanlog_fuzz::properties`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::properties(data));
