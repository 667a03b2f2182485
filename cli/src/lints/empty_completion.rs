//! Completions are empty: all of them, or a quarter at least.
//!
//! Looks at text; a call of a tool is an answer too. Fix: where all are empty, [data] completion names another
//! column. What thought and did not answer needs more tokens; leave out rows that were never answered.

use super::look::{Finding, Look, Place};
use crate::trial::read::Row;

/// One row in so many is no chance.
const SHARE: usize = 4;

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let empty = look.rows_with(|row: &Row| row.is_blank() && !row.has_calls());
    let place = Place::Key("data.completion".to_owned());
    if !empty.is_empty() && empty.len() == look.rows.len() {
        let help = "[data] completion names the column of the answers, or a member of it, such as message.content; calls \
                    of tools and `reasoning_content` are no answers by themselves";
        return vec![
            Finding::new(place, "every completion is empty", help).with("rows", empty.len()),
        ];
    }
    if empty.len() < 2 || empty.len() * SHARE < look.rows.len() {
        return Vec::new();
    }
    let help = "what thought and did not answer needs more tokens; what was never answered is no wrong answer: leave \
                such rows out";
    Finding::of_rows(place, &empty, "the completion is empty", help).into_iter().collect()
}
