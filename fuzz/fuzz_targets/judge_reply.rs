//! `cargo fuzz run judge_reply`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::judge_reply(data));
