//! The reference is a table, and an answer is compared with all of it.
//!
//! Looks at objects, and at texts that hold one, where an answer is compared with text or a value. A table of which a
//! completion is a copy is compared well enough, and one whose member is the same in all rows is no answer. Fix: name
//! the member that holds the answer, as in `reference = "reward_model.ground_truth"`; `json` with `equals_reference =
//! true` compares tables, and a function of `python_check` reads what an answer must obey.

use assay::verifiers::Aspect;
use serde_json::{Map, Value};

use super::look::{Finding, Look, Place, listed};
use crate::trial::applies;
use crate::trial::read::Row;

/// Members that hold the answer, in the data of others.
const ANSWERS: &str =
    "ground_truth final_answer answer gold target expected_answer aliases text value";
/// Rows of so few prompts may have one answer by chance.
const PROMPTS_FEW: usize = 2;

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    if !look.judges(Aspect::is_answer) {
        return Vec::new();
    }
    let is_copied = |row: &Row| {
        let text = row.sample.reference_text().unwrap_or_default();
        row.sample.completion().contains(text.trim())
    };
    let is_answered = |row: &Row| {
        let judges = |at: &usize| Aspect::is_answer(look.aspect(*at));
        let mut rewards = (0..look.plan.rewards.len()).filter(judges);
        rewards.any(|at| applies(look.plan, at, &row.sample, look.step))
    };
    let with = look.rows_with(|row| table(row).is_some() && is_answered(row));
    let Some(members) = with.first().and_then(|first| table(first)) else { return Vec::new() };
    if with.iter().any(|row| is_copied(row)) {
        return Vec::new();
    }
    let column = &look.plan.config.data.reference;
    let answer = ANSWERS.split(' ').find(|name| members.contains_key(*name));
    let member = answer.or_else(|| members.keys().next().map(String::as_str)).unwrap_or("MEMBER");
    let place = format!("{column}.{member}");
    if answer.is_some_and(|name| is_constant(&with, name)) {
        return Vec::new();
    }
    let keys = listed(members.keys().map(String::as_str));
    let what = format!("the reference is a table with {keys} in it, and not the answer alone");
    let is_text = with.iter().any(|row| row.sample.reference().is_some_and(Value::is_string));
    let help = match (answer, is_text) {
        (Some(_), true) => format!("write it as an object, and [data] reference = \"{place}\""),
        (Some(_), false) => format!("write [data] reference = \"{place}\""),
        _ => format!(
            "[data] reference = \"{place}\" names a member of it; verifier = \"json\" with equals_reference = true compares \
             tables, and a function of `python_check` reads what an answer must obey"
        ),
    };
    Finding::of_rows(Place::Key("data.reference".to_owned()), &with, &what, &help)
        .into_iter()
        .collect()
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
    let mut values: Vec<Option<Value>> =
        rows.iter().map(|row| table(row).and_then(|own| own.get(name).cloned())).collect();
    values.dedup();
    let mut prompts: Vec<_> = rows.iter().map(|row| row.question()).collect();
    prompts.sort();
    prompts.dedup();
    values.len() == 1 && prompts.len() > PROMPTS_FEW
}
