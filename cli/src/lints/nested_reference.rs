//! The reference is a table, and an answer is compared with all of it.
//!
//! Looks at objects, and at texts that hold one, where an answer is compared with text or a value. A table of which a
//! completion is a copy is compared well enough, and one whose member is the same in all rows is no answer. Fix: name
//! the member that holds the answer, as in `reference = "reward_model.ground_truth"`; `json` with `equals_reference =
//! true` compares tables, and a function of `python_check` reads what an answer must obey.

use std::collections::BTreeSet;

use assay::verifiers::Aspect;
use serde_json::{Map, Value};

use super::look::{Finding, Look};
use crate::trial::read::Row;

/// Members that hold the answer, in the data of others.
const ANSWERS: &str =
    "ground_truth final_answer answer gold target expected_answer aliases text value";
/// Rows of so few prompts may have one answer by chance.
const PROMPTS_FEW: usize = 2;

pub(super) fn find(look: Look<'_>) -> Option<Finding> {
    let is_copied = |row: &&Row| {
        let text = row.sample.reference_text().unwrap_or_default();
        row.sample.completion().contains(text.trim())
    };
    let is_table = |row: &Row| table(row).is_some() && look.judges_row(row, Aspect::is_answer);
    let with = look.rows_with(is_table);
    let members = table(with.first()?)?;
    let answer = ANSWERS.split(' ').find(|name| members.contains_key(*name));
    if with.iter().any(is_copied) || answer.is_some_and(|name| is_constant(&with, name)) {
        return None;
    }
    let member = answer.or_else(|| members.keys().next().map(String::as_str))?;
    let path = format!("{}.{member}", look.plan.config.data.reference);
    let says = if answer.is_some() { "answer" } else { "table" };
    let found = Finding::new("data.reference", says).with("rows", with.len()).with("path", path);
    let keys: Vec<&str> = members.keys().map(String::as_str).collect();
    Some(found.with("row", with.first()?.number).with("keys", keys))
}

/// The table that a reference is, or that its text holds as JSON or as Python writes it.
fn table(row: &Row) -> Option<Map<String, Value>> {
    match row.sample.reference()? {
        Value::Object(members) => Some(members.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            let json = || text.replace('\'', "\"").replace("None", "null");
            serde_json::from_str(text).or_else(|_| serde_json::from_str(&json())).ok()
        }
        _ => None,
    }
    .filter(|members| !members.is_empty())
}

/// Whether a member is the same for several questions, and so the answer to none.
fn is_constant(rows: &[&Row], name: &str) -> bool {
    let value = |row: &&Row| table(row).and_then(|own| own.get(name).map(Value::to_string));
    let values: BTreeSet<_> = rows.iter().map(value).collect();
    let prompts: BTreeSet<_> = rows.iter().map(|row| row.question()).collect();
    values.len() == 1 && prompts.len() > PROMPTS_FEW
}
