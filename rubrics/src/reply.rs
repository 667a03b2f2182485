//! Reading what a judge said: a verdict from the structure that was asked for, else from its words.

mod asked;
mod error;
mod json;
mod label;
mod logprobs;
mod marks;
pub mod pair;
mod prose;
mod revision;
mod seen;
mod several;
mod structure;
mod text;
mod value;
mod verdict;

pub use asked::{AskedCriteria, CriterionVerdict};
pub use error::ReplyError;
pub use several::{AskedSeveral, ListVerdict, PairVerdict, read_list, read_pair};
pub use verdict::read;
