//! `cargo fuzz run number`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::number(data));
