//! At least half of the completions begin with their prompt.
//!
//! Looks at prompts of 8 characters and more. A program may begin as its prompt does, and an answer may restate its
//! question; a file of them is made of whole texts. Fix: pass only the new text.

use super::look::{Finding, Look, Place};
use crate::trial::read::Row;

/// A shorter prompt may begin an answer by chance.
const PROMPT_CHARS_MIN: usize = 8;

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let is_program = |row: &Row| {
        let mut rewards =
            (0..look.plan.rewards.len()).filter_map(|at| look.verifier(at)).peekable();
        rewards.peek().is_some() && rewards.all(|verifier| verifier.trivial(&row.sample).is_some())
    };
    let with = look.rows_with(|row| {
        let (prompt, completion) = (row.sample.prompt().trim(), row.sample.completion().trim());
        prompt.chars().count() >= PROMPT_CHARS_MIN
            && completion.len() > prompt.len()
            && completion.starts_with(prompt)
            && !is_program(row)
    });
    if 2 * with.len() < look.rows.len() {
        return Vec::new();
    }
    let place = Place::Key("data.completion".to_owned());
    let what = "the completion begins with its prompt";
    Finding::of_rows(place, &with, what, "pass only the new text").into_iter().collect()
}
