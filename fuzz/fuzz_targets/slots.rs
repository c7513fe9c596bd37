//! Feeds `spanlog_fuzz::slots`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::slots(data));
