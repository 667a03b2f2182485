//! Reading what a judge said: a verdict from the structure that was asked for, else from its words.

mod asked;
mod json;
mod logprobs;
pub mod pair;
mod text;
mod verdict;

pub use asked::{Asked, CriterionVerdict};
pub use verdict::{ReplyError, read};
