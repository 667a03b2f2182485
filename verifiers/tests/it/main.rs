//! The rule checks from outside, where a test is not one case of a file (`tests/cases`).

mod extract;
mod hostile;
mod math_hostile;
