//! `cargo fuzz run extract_boxed`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::extract_boxed(data));
