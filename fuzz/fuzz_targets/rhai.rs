//! `cargo fuzz run rhai`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::rhai(data));
