//! Instructions that can be verified, as pure functions over a text: no I/O, no clock, deterministic.
//!
//! [`Demand`] is one instruction of `IFEval`, `IFBench` or Tulu 3, with its arguments; [`follow`] says
//! which of several a text follows, as it is and loosely. [`languages`] tells what a text is written in,
//! equal to `langdetect` with seed 0; [`language_share`] and [`Alphabet`] say how much of it is in a
//! language or script. [`sentences`] and [`words`] split it as NLTK does. The tables are described in
//! `data/README.md`.
//!
//! All work is linear in the text, up to patterns that a data set gives: [`Demand::cost`] says how much.

mod bench;
mod csv;
mod demand;
mod detect;
mod ifeval;
mod json;
mod kwargs;
mod needle;
mod passage;
mod portion;
mod profiles;
mod punkt;
mod py;
mod rule;
mod syllables;
mod tokens;
mod tulu;
mod twister;

pub use demand::{Demand, Met, follow};
pub use detect::{codes, languages};
pub use portion::{Alphabet, language_share};
pub use punkt::sentences;
pub use rule::Edition;
pub use tokens::words;
