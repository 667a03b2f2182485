//! Two rows have one id and differ, or every row is there more than once.
//!
//! Looks at ids, prompts, completions and references. Equal answers to one prompt are one id where no column has ids, and no
//! mistake; all of them are not equal by chance. Fix: [data] id names a column that tells rows apart; name each file once, which
//! may be read under two names.

use std::collections::BTreeMap;

use super::look::{Finding, Look};
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
        let found = Finding::new("data.id", "differ").with("id", second.sample.id());
        return Some(found.with("row", first.number).with("again", second.number));
    }
    let references = |rows: &Vec<&Row>| {
        rows.windows(2).all(
            |two| matches!(two, [one, other] if one.sample.reference() == other.sample.reference()),
        )
    };
    let (rows, different) = (look.rows.len(), ids.len());
    if different < 3 || !ids.values().all(|own| own.len() > 1 && references(own)) {
        return None;
    }
    Some(Finding::new("data.id", "twice").with("rows", rows).with("different", different))
}
