//! The reference is empty where an answer is compared, so that no answer is right.
//!
//! Looks at empty texts and empty lists. Fix: a row without a reference has null, or no such column; its rewards
//! abstain.

use serde_json::Value;

use super::look::{Finding, Look, Place};

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let compared = (0..look.plan.rewards.len()).filter(|at| look.aspect(*at).is_answer());
    let numbers: Vec<u64> =
        compared.flat_map(|at| look.rows_of(at)).map(|row| row.number).collect();
    let empty = look.rows_with(|row| {
        let is_empty = match row.sample.reference() {
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Array(values)) => values.is_empty(),
            _ => false,
        };
        is_empty && numbers.contains(&row.number)
    });
    let help = "a row without a reference has null, or no such column: its rewards abstain";
    let what = "the reference is empty, and no answer is right";
    Finding::of_rows(Place::Key("data.reference".to_owned()), &empty, what, help)
        .into_iter()
        .collect()
}
