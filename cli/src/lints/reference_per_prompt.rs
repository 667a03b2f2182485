//! A prompt has rows of several references, or many prompts have one.
//!
//! Looks at references with which answers are compared: one prompt in ten at least has several, or at least 12 prompts
//! have one and the same. With a column of groups, `mixed_group` looks. Fix: the references are of other rows, or the
//! prompt is not all of the question: [data] prompt and reference name the columns.

use std::collections::{BTreeMap, BTreeSet};

use assay::verifiers::Aspect;

use super::look::{Finding, Look, shown};
use crate::output::count;

/// One prompt in so many with two answers is no noise of labels.
const SHARE: usize = 10;
/// Fewer prompts may have one answer by chance.
const PROMPTS_MIN: usize = 12;

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    if !look.judges(Aspect::is_answer) {
        return Vec::new();
    }
    let mut prompts: BTreeMap<_, (u64, BTreeSet<String>)> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for row in look.rows {
        let text = row.sample.reference_text().map(|text| text.trim().to_lowercase());
        all.insert(text.clone());
        if let Some(text) = text.filter(|_| !row.question().is_empty()) {
            prompts.entry(row.question()).or_insert((row.number, BTreeSet::new())).1.insert(text);
        }
    }
    if let (Some(Some(only)), 1) = (all.first(), all.len())
        && prompts.len() >= PROMPTS_MIN
    {
        let amount = count(prompts.len() as u64);
        let message = format!("{amount} different prompts have one reference, {}", shown(only));
        let help = "is it the answer of one row, given to all of them? [data] reference names the column of the right \
                    answers";
        return vec![Finding::at("data.reference", message, help).with("prompts", prompts.len())];
    }
    let several: Vec<_> = prompts.values().filter(|(_, own)| own.len() > 1).collect();
    let first = several.iter().map(|(row, _)| *row).min();
    let Some(first) = first.filter(|_| {
        look.plan.config.data.group.is_none() && several.len() * SHARE >= prompts.len()
    }) else {
        return Vec::new();
    };
    let most = several.iter().map(|(_, own)| own.len()).max().unwrap_or_default();
    let of = match prompts.len() {
        1 => "the prompt has".to_owned(),
        all => format!("{} of {} prompts have", count(several.len() as u64), count(all as u64)),
    };
    let message = format!(
        "{of} rows of several references, as many as {most}, first row {first}: what is right for one is wrong for \
         the other"
    );
    let help = "the references are of other rows, or the prompt is not all of the question: [data] prompt names the \
                column that tells questions apart";
    vec![
        Finding::at("data.prompt", message, help).with("prompts", several.len()).with("row", first),
    ]
}
