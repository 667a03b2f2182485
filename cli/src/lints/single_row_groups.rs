//! Every group has one row, or all rows are one group, where something compares the rows of a group.
//!
//! Looks at [data] group and prompt. Fix: [data] group names a column that the completions of one prompt share;
//! without it, rows of one prompt that stand together are a group.

use std::collections::BTreeSet;

use assay::engine::group_key;

use super::look::{Finding, Look};
use crate::output::count;

/// Columns that hold the prompt, in the data of others.
const PROMPTS: [&str; 8] =
    ["question", "problem", "query", "instruction", "input", "messages", "prompt_text", "task"];

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let Some(what) = look.plan.compares(|_| true).filter(|_| look.rows.len() > 1) else {
        return Vec::new();
    };
    let keys: BTreeSet<&str> = look.rows.iter().map(|row| group_key(&row.sample)).collect();
    let help = "[data] group names a column that the completions of one prompt share; without it, those of one prompt \
                stand together";
    let rows = look.rows.len();
    if keys.len() == rows {
        let message = format!("every group has one row, and {what} compares the rows of a group");
        return vec![Finding::at("data.group", message, help).with("rows", rows)];
    }
    if keys.iter().any(|key| !key.is_empty()) {
        return Vec::new();
    }
    let message = format!(
        "no row has a prompt or a group, so that all {} rows are one group, and {what} compares the rows of a group",
        count(rows as u64)
    );
    let meta = look.rows.first().map(|row| row.sample.meta());
    let name = PROMPTS.iter().find(|name| meta.is_some_and(|meta| meta.contains_key(**name)));
    let help =
        name.map_or_else(|| help.to_owned(), |name| format!("write [data] prompt = \"{name}\""));
    vec![Finding::at("data.prompt", message, help).with("rows", rows)]
}
