//! Where a model's thinking ends and its answer begins.

use std::ops::Range;

use assay_verifiers::extract::thinking::{self, Thinking};

use super::blocks::blocks;
use super::language::Language;

/// The part of `text` that is the answer, by the one reading of thinking; marks inside a block of
/// the answer belong to its program. `None`: the model never stopped thinking.
pub(super) fn answer(text: &str, language: &Language, how: Thinking) -> Option<Range<usize>> {
    thinking::answer_outside(text, how, |part| {
        let found = blocks(text, part, language, false);
        found.into_iter().filter(|block| block.closed).map(|block| block.body).collect()
    })
}
