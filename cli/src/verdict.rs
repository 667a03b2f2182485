//! A verdict as people and scripts read it.

use std::ops::Range;

use assay::verifiers::{Evidence, Outcome, Usage, Verdict};
use serde_json::Value;

use super::text::inline;

/// The longest note on one line, in characters.
const NOTE_CHARS_MAX: usize = 400;
/// The most steps of a completion that are shown.
const STEPS_MAX: usize = 64;

/// An outcome on one line.
pub(super) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored(reward) => format!("scored {}", reward.get()),
        Outcome::Abstained(why) => format!("abstained: {}", inline(why)),
        Outcome::Failed(fault) => format!("failed: {}: {}", fault.kind, inline(&fault.why)),
    }
}

/// What is known of a verdict beside its outcome, a name and a value a line: evidence, components,
/// steps with their text, and usage.
pub(super) fn notes(verdict: &Verdict, completion: &str) -> Vec<(String, String)> {
    let evidence = verdict.evidence.iter().map(|(key, value)| (inline(key), note(value)));
    let mut found: Vec<(String, String)> = evidence.collect();
    for (name, component) in verdict.components.iter() {
        let outcome = outcome(&component.outcome);
        let known = component.evidence.iter();
        let known: Vec<String> =
            known.map(|(key, value)| format!("{key} {}", note(value))).collect();
        found
            .push((inline(name), format!("{outcome}  {}", known.join(", ")).trim_end().to_owned()));
    }
    for (at, step) in verdict.steps.iter().take(STEPS_MAX).enumerate() {
        let (start, end) = step.span;
        let turn = step.turn.map_or_else(String::new, |turn| format!(", message {turn}"));
        let text = completion.get(start..end).filter(|_| step.turn.is_none()).unwrap_or_default();
        let reward = step.reward.get();
        let shown = format!("reward {reward:.3}{turn}  {}", note(&Value::from(text)));
        found.push((format!("steps[{at}]"), shown.trim_end().to_owned()));
    }
    if verdict.steps.len() > STEPS_MAX {
        found.push(("steps".to_owned(), format!("and {} more", verdict.steps.len() - STEPS_MAX)));
    }
    if !verdict.usage.is_none() {
        let Usage { tokens, calls } = verdict.usage;
        let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
        found.push(("usage".to_owned(), format!("{tokens} tokens, {calls}")));
    }
    found
}

/// Names and values in two columns.
pub(super) fn columns(notes: &[(String, String)], indent: &str) -> String {
    let width = notes.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    notes
        .iter()
        .map(|(name, value)| format!("{indent}{name:width$}  {value}").trim_end().to_owned() + "\n")
        .collect()
}

/// Where the judged text is in the completion.
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
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
