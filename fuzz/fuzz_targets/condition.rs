//! Feeds `spanlog_fuzz::condition`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanlog_fuzz::condition(data));
