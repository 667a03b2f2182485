//! Models from outside, where a test is not one case of a file (`tests/cases`).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "../support/mod.rs"]
mod support;

mod adopt;
mod bounds;
mod damage;
mod sharing;
mod starts;
