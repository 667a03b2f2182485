//! `cargo fuzz run canonical`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::canonical(data));
