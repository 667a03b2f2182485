//! The rule checks from outside, where a test is not one case of a file (`tests/cases`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod arbitrary;
mod canonical;
mod cases;
mod checks;
mod codes;
mod extract;
mod formulas;
mod group_checks;
mod hidden;
mod hostile;
mod math_hostile;
mod qualify;
mod sample;
mod script;
mod shaping;
mod verdict;
