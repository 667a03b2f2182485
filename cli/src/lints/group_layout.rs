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
    let (group, row) = (group_key(&row.sample), row.number);
    let message = format!("the group {group:?} goes on at row {row}, after rows of another group");
    let help = "rewards are compared within groups: sort the rows by their group";
    let found = Finding::at("data.group", message, help).with("row", row).with("group", group);
    Some(found.error_if(true))
}

/// Every group has one row, or all rows are one group.
fn alone(look: Look<'_>) -> Option<Finding> {
    let rows = look.rows.len();
    let compares = look.plan.compares(|_| true).filter(|_| rows > 1)?;
    let keys: BTreeSet<&str> = look.rows.iter().map(|row| group_key(&row.sample)).collect();
    let (key, what) = if keys.len() == rows {
        ("data.group", "every group has one row")
    } else if keys.iter().all(|key| key.is_empty()) {
        ("data.prompt", "no row has a prompt or a group, so that all are one group")
    } else {
        return None;
    };
    let meta = look.rows.first()?.sample.meta();
    let prompt = PROMPTS.iter().find(|name| key == "data.prompt" && meta.contains_key(**name));
    let help = prompt.map_or_else(
        || "[data] group names a column that the completions of one prompt share".to_owned(),
        |name| format!("write [data] prompt = \"{name}\""),
    );
    let message = format!("{what}, and {compares} compares the rows of a group");
    Some(Finding::at(key, message, help).with("rows", rows))
}
