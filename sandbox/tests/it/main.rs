//! The sandbox from outside, where a test is not one case of a file (`tests/cases`), nor looks at the
//! memory of its process (`tests/hostile.rs`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod determinism;
mod isolation;
mod packages;
mod program_output;
mod python_check;
mod repositories;
mod sql;
