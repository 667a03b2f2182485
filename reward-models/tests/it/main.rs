//! Models from outside, where a test is not one case of a file (`tests/cases`).

#[path = "../support/mod.rs"]
mod support;

mod adopt;
mod bounds;
mod damage;
mod sharing;
mod starts;
