//! `cargo fuzz run regex`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::regex(data));
