//! `cargo fuzz run json`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::json(data));
