//! Feeds `spanlog_fuzz::record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::record(data));
