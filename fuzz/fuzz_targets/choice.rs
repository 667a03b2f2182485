//! `cargo fuzz run choice`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::choice(data));
