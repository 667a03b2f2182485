//! Rows that share a group, or a prompt where no column has groups, differ in the question or in the reference; or many prompts
//! have one and the same reference.
//!
//! Looks at the column that [data] group names; without one, at references with which answers are compared: one prompt in
//! ten at least has several, or at least 12 prompts have one. Fix: the references are of other rows, or the prompt is not all
//! of the question: [data] group, prompt and reference name the columns.

use std::collections::{BTreeMap, BTreeSet};

use assay::verifiers::{Aspect, Sample};

use super::look::{Finding, Look};
use crate::trial::read::Row;

/// One prompt in so many with two answers is no noise of labels.
const SHARE: usize = 10;
/// Fewer prompts may have one answer by chance.
const PROMPTS_MIN: usize = 12;

/// The first row of each key, and what its rows have.
type ByKey = BTreeMap<String, (u64, BTreeSet<String>)>;

pub(super) fn find(look: Look<'_>) -> Option<Finding> {
    let group = |sample: &Sample| sample.group().map(str::to_owned);
    if look.plan.config.data.group.is_some() {
        let prompt = |row: &Row| Some((group(&row.sample)?, row.sample.prompt().to_owned()));
        let reference =
            |row: &Row| Some((group(&row.sample)?, row.sample.reference()?.to_string()));
        let prompts = several(&by(look, prompt), "group", "prompts", usize::MAX);
        let references = || several(&by(look, reference), "group", "references", usize::MAX);
        return prompts.or_else(references).or_else(|| one_for_all(look));
    }
    let question = by(look, |row| Some((row.question().into_owned(), answer(row)?)));
    let found = several(&question, "prompt", "references", SHARE);
    let found = found.filter(|_| look.judges(Aspect::is_answer));
    found.or_else(|| one_for_all(look))
}

fn answer(row: &Row) -> Option<String> {
    row.sample.reference_text().map(|text| text.trim().to_lowercase())
}

fn by(look: Look<'_>, pair: impl Fn(&Row) -> Option<(String, String)>) -> ByKey {
    let mut rows = ByKey::new();
    for row in look.rows {
        if let Some((key, own)) = pair(row).filter(|(key, _)| !key.is_empty()) {
            rows.entry(key).or_insert((row.number, BTreeSet::new())).1.insert(own);
        }
    }
    rows
}

/// Keys whose rows differ, where one in so many is such.
fn several(rows: &ByKey, key: &str, what: &str, share: usize) -> Option<Finding> {
    let several: Vec<_> = rows.values().filter(|(_, own)| own.len() > 1).collect();
    let first = several.iter().map(|(row, _)| *row).min()?;
    let most = several.iter().map(|(_, own)| own.len()).max()?;
    let found = Finding::new(format!("data.{key}").as_str(), "several").with("key", key);
    let found = found.with("what", what).with("of", rows.len()).with("most", most);
    let is_many = several.len().saturating_mul(share) >= rows.len();
    is_many.then(|| found.with("several", several.len()).with("row", first))
}

/// The one reference that many prompts have.
fn one_for_all(look: Look<'_>) -> Option<Finding> {
    let prompts: BTreeSet<_> = look.rows.iter().map(Row::question).collect();
    let all: BTreeSet<_> = look.rows.iter().map(answer).collect();
    let only = all.first()?.as_ref().filter(|_| all.len() == 1)?;
    let is_many = prompts.len() >= PROMPTS_MIN && look.judges(Aspect::is_answer);
    let found = Finding::new("data.reference", "one").with("reference", only.as_str());
    is_many.then(|| found.with("prompts", prompts.len()))
}
