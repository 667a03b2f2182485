//! Single checks, where a test is not a case: properties, and settings that are refused.

mod choice;
mod contains;
mod json;
mod number;
mod regex;
mod rhai;
mod tags;
#[cfg(feature = "tasks")]
mod toml;
