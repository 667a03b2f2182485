//! Single checks, where a test is not a case: properties, and settings that are refused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

mod choice;
mod contains;
mod json;
mod number;
mod regex;
mod rhai;
mod tags;
#[cfg(feature = "tasks")]
mod toml;
