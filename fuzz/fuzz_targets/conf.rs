//! Feeds `spanlog_fuzz::conf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::conf(data));
