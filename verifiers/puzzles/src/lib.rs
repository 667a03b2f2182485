//! Puzzles, judged as pure functions: no I/O, no clock, deterministic to the bit. An answer is parsed,
//! never executed.
//!
//! Functions whose time is linear in their input say so. All others take `pay`, which is called with
//! about one unit for each elementary step (1 to 10 ns) before the step is done.

pub mod chess;
pub mod constraints;
pub mod countdown;
pub mod crossword;
pub mod entry;
pub mod expression;
pub mod graph;
pub mod grid;
pub mod number;
pub mod polynomial;
pub mod reasoning;
