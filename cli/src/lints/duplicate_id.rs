//! Two rows have one id and differ, or every row is there more than once.
//!
//! Looks at ids, prompts, completions and references. Equal answers to one prompt are one id where no column has ids, and no
//! mistake; all of them are not equal by chance. Fix: [data] id names a column that tells rows apart; name each file once.

use std::collections::BTreeMap;

use super::look::{Finding, Look};
use crate::output::count;
use crate::trial::read::Row;

pub(super) fn find(look: Look<'_>) -> Option<Finding> {
    let mut ids: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in look.rows {
        ids.entry(row.sample.id()).or_default().push(row);
    }
    let differ = |one: &Row, other: &Row| {
        let (one, other) = (&one.sample, &other.sample);
        one.prompt() != other.prompt() || one.completion() != other.completion()
    };
    let again = ids.values().filter_map(|rows| {
        let (first, others) = rows.split_first()?;
        Some((first, others.iter().find(|own| differ(first, own))?))
    });
    if let Some((first, second)) = again.min_by_key(|(_, second)| second.number) {
        let (id, rows) = (second.sample.id(), [first.number, second.number]);
        let message = format!("the rows {} and {} have one id, {id:?}", rows[0], rows[1]);
        let help = "name a column that tells rows apart: [data] id = \"COLUMN\"; `explain --id` shows the first of them \
                    alone";
        let found = Finding::at("data.id", message, help).with("row", rows[0]);
        return Some(found.with("again", rows[1]));
    }
    let references = |rows: &Vec<&Row>| {
        rows.windows(2).all(
            |two| matches!(two, [one, other] if one.sample.reference() == other.sample.reference()),
        )
    };
    let (rows, different) = (look.rows.len() as u64, ids.len() as u64);
    if different < 3 || !ids.values().all(|own| own.len() > 1 && references(own)) {
        return None;
    }
    let message = format!(
        "every row is there more than once, with its id, prompt and completion: {} rows are {} different ones",
        count(rows),
        count(different)
    );
    let help = "a file was read under two names, or written twice: name each one once";
    Some(Finding::at("data.id", message, help).with("rows", rows).with("different", different))
}
