//! Something compares the rows of a group, and every group has one row, all rows are one group, or the rows of a group do not
//! stand together, which is an error.
//!
//! Looks at [data] group and prompt, and at the order of the rows. Fix: [data] group names a column that the completions of
//! one prompt share; without it, rows of one prompt that stand together are a group. Sort the rows by their group.

use std::collections::BTreeSet;

use assay::engine::group_key;

use super::look::{Finding, Look};

/// Columns that hold the prompt, in the data of others.
const PROMPTS: [&str; 8] =
    ["question", "problem", "query", "instruction", "input", "messages", "prompt_text", "task"];

pub(super) fn find(look: Look<'_>) -> impl Iterator<Item = Finding> {
    scattered(look).into_iter().chain(alone(look))
}

fn scattered(look: Look<'_>) -> Option<Finding> {
    let (mut seen, mut key) = (BTreeSet::new(), None);
    let row = look.rows.iter().filter(|_| look.plan.needs_groups()).find(|row| {
        let own = group_key(&row.sample);
        key.replace(own) != Some(own) && !seen.insert(own)
    })?;
    let found = Finding::new("data.group", "scattered").with("row", row.number);
    Some(found.with("group", group_key(&row.sample)).error_if(true))
}

/// Every group has one row, or all rows are one group.
fn alone(look: Look<'_>) -> Option<Finding> {
    let rows = look.rows.len();
    let compares = look.plan.compares(|_| true).filter(|_| rows > 1)?;
    let keys: BTreeSet<&str> = look.rows.iter().map(|row| group_key(&row.sample)).collect();
    let found = if keys.len() == rows {
        Finding::new("data.group", "alone")
    } else if keys.iter().all(|key| key.is_empty()) {
        let meta = look.rows.first()?.sample.meta();
        let column = PROMPTS.into_iter().find(|name| meta.contains_key(*name));
        Finding::new("data.prompt", "one").with("column", column)
    } else {
        return None;
    };
    Some(found.with("rows", rows).with("compares", compares.to_string()))
}
