//! `cargo fuzz run math_equiv`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::math_equiv(data));
