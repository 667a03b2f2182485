//! `cargo fuzz run math_parse`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::math_parse(data));
