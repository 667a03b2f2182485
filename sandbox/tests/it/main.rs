//! The sandbox from outside, where a test is not one case of a file (`tests/cases`), nor looks at the
//! memory of its process (`tests/hostile.rs`).

mod determinism;
mod isolation;
mod packages;
mod program_output;
mod python_check;
mod repositories;
mod sql;
