//! Feeds `spanlog_fuzz::index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::index(data));
