//! A verdict as people and scripts read it.

use std::ops::Range;

use assay::engine::VerdictEntry;
use assay::verifiers::{Evidence, Outcome, Reward, Verdict};
use serde_json::Value;

use super::text::inline;

/// The longest note on one line, in characters.
const NOTE_CHARS_MAX: usize = 400;

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

/// The evidence, a name and a value a line.
pub(super) fn notes(evidence: &Evidence) -> Vec<(String, String)> {
    evidence.iter().map(|(key, value)| (inline(key), note(value))).collect()
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
    let Value::Array(ends) = evidence.get("span")? else { return None };
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
