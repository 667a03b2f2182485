//! `cargo fuzz run parquet`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::parquet(data));
