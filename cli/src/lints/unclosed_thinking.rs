//! At least a quarter of the completions begin to think and never end.
//!
//! Looks for marks of thinking. An answer within a thought is none. Fix: give the policy more tokens, or stop no
//! generation at the mark that ends its thinking.

use assay::verifiers::extract::{Thinking, thinking};

use super::look::{Finding, Look, Place};

/// Fewer than one row in so many are truncated now and then.
const SHARE: usize = 4;

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let open =
        look.rows_with(|row| thinking::answer(row.sample.completion(), Thinking::Skip).is_none());
    if open.len() * SHARE < look.rows.len() {
        return Vec::new();
    }
    let help = "an answer within it is none; give the policy more tokens, or stop no generation at the mark that ends it";
    let place = Place::Key("data.completion".to_owned());
    Finding::of_rows(place, &open, "the completion never ends its thinking", help)
        .into_iter()
        .collect()
}
