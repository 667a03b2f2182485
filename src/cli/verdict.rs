//! A verdict as people and scripts read it.

use std::ops::Range;

use assay::engine::VerdictEntry;
use assay::verifiers::{Evidence, Outcome, Reward, Verdict};
use serde_json::Value;

use super::text::inline;

/// The longest note on one line, in characters.
const NOTE_CHARS_MAX: usize = 400;
/// The most parts of a completion that are told of.
const PARTS_MAX: usize = 64;

/// The verdict as a run folder holds it.
pub(super) fn entry(verdict: &Verdict) -> VerdictEntry {
    let (fault, why) = match &verdict.outcome {
        Outcome::Scored(_) => (None, None),
        Outcome::Abstained(why) => (None, Some(why.to_string())),
        Outcome::Failed(fault) => (Some(fault.kind), Some(fault.why.to_string())),
    };
    VerdictEntry {
        outcome: verdict.outcome.name().to_owned(),
        reward: verdict.outcome.reward().map(Reward::get),
        fault,
        why,
        evidence: verdict.evidence.clone(),
    }
}

/// An outcome on one line.
pub(super) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored(reward) => format!("scored {}", reward.get()),
        Outcome::Abstained(why) => format!("abstained: {}", inline(why)),
        Outcome::Failed(fault) => format!("failed: {}: {}", fault.kind, inline(&fault.why)),
    }
}

/// The evidence, a name and a value a line; parts of the completion, such as its steps, a line each.
pub(super) fn notes(evidence: &Evidence, completion: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in evidence.iter() {
        match parts(value, completion) {
            Some(parts) => {
                let named = parts.into_iter().enumerate();
                found.extend(named.map(|(at, part)| (format!("{}[{at}]", inline(key)), part)));
            }
            None => found.push((inline(key), note(value))),
        }
    }
    found
}

/// Parts of the completion: what is told of each, and its text. `None` where the value tells of
/// something else.
fn parts(value: &Value, completion: &str) -> Option<Vec<String>> {
    let Value::Array(parts) = value else { return None };
    let part = |part: &Value| {
        let Value::Object(told) = part else { return None };
        let text = completion.get(ends(told.get("span")?)?)?;
        let told = told.iter().filter(|(name, _)| *name != "span");
        let told = told.map(|(name, value)| match value.as_f64() {
            Some(number) => format!("{} {number:.3}", inline(name)),
            None => format!("{} {}", inline(name), note(value)),
        });
        Some(format!("{}  {}", told.collect::<Vec<_>>().join(", "), note(&Value::from(text))))
    };
    let shown: Option<Vec<String>> = parts.iter().take(PARTS_MAX).map(part).collect();
    let mut shown = shown.filter(|shown| !shown.is_empty())?;
    if parts.len() > PARTS_MAX {
        shown.push(format!("and {} more", parts.len() - PARTS_MAX));
    }
    Some(shown)
}

/// Names and values in two columns.
pub(super) fn columns(notes: &[(String, String)], indent: &str) -> String {
    let width = notes.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    notes
        .iter()
        .map(|(name, value)| format!("{indent}{name:width$}  {value}").trim_end().to_owned() + "\n")
        .collect()
}

/// Where the judged text stands in the completion.
pub(super) fn span(evidence: &Evidence) -> Option<Range<usize>> {
    ends(evidence.get("span")?)
}

fn ends(span: &Value) -> Option<Range<usize>> {
    let Value::Array(ends) = span else { return None };
    let end = |at: usize| usize::try_from(ends.get(at)?.as_u64()?).ok();
    Some(end(0)?..end(1)?)
}

fn note(value: &Value) -> String {
    let shown = match value {
        Value::String(text) => inline(text),
        other => inline(&other.to_string()),
    };
    match shown.char_indices().nth(NOTE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown,
    }
}
