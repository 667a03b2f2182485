//! `cargo fuzz run jsonl`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::jsonl(data));
