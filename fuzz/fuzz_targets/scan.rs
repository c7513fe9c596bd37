//! Feeds `spanlog_fuzz::scan`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::scan(data));
