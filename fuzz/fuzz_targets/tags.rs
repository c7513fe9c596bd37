//! Feeds `spanlog_fuzz::tags`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::tags(data));
