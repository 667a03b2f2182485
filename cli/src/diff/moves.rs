//! What moved in one row.

use std::collections::BTreeSet;

use assay::verifiers::{FaultKind, Outcome, Reward, Scored, Verdict};
use serde::Serialize;
use serde_json::Value;

/// One kind of move. Rows of one kind are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Move {
    /// `verdict`, `fault`, `evidence`, `combination`, `reward` or `row`.
    kind: &'static str,
    /// The reward that moved; null where it is the total or the whole row.
    pub(super) reward: Option<String>,
    /// What it was.
    from: String,
    /// What it is.
    to: String,
}

impl Move {
    /// A row that one run has and the other has not.
    pub(super) fn only(run: &'static str) -> Self {
        let (from, to) = if run == "a" { ("there", "missing") } else { ("missing", "there") };
        Self { kind: "row", reward: None, from: from.to_owned(), to: to.to_owned() }
    }

    /// The move on one line.
    pub(super) fn text(&self) -> String {
        let what = match (&self.reward, self.kind) {
            (Some(reward), "evidence") => format!("{reward}, same reward on other evidence"),
            (Some(reward), _) => reward.clone(),
            (None, "row") => "row".to_owned(),
            (None, _) => "total, from the same verdicts".to_owned(),
        };
        format!("{what}: {} -> {}", self.from, self.to)
    }
}

/// What moved between two forms of a row.
pub(super) fn moves(a: &Scored, b: &Scored) -> Vec<Move> {
    let both = a.verdicts.iter().chain(b.verdicts.iter());
    let names: BTreeSet<&str> = both.map(|(name, _)| name).collect();
    let found = names.into_iter().filter_map(|name| {
        let (kind, from, to) = match (a.verdict(name), b.verdict(name)) {
            (Some(a), Some(b)) => between(a, b)?,
            (Some(a), None) => ("reward", told(a), "not judged".to_owned()),
            (None, Some(b)) => ("reward", "not judged".to_owned(), told(b)),
            (None, None) => return None,
        };
        Some(Move { kind, reward: Some(name.to_owned()), from, to })
    });
    let mut moves: Vec<Move> = found.collect();
    if moves.is_empty() && a.outcome != b.outcome {
        let names = || (a.outcome.name().to_owned(), b.outcome.name().to_owned());
        let (from, to) = numbers(a.reward(), b.reward()).unwrap_or_else(names);
        moves.push(Move { kind: "combination", reward: None, from, to });
    }
    moves
}

fn between(a: &Verdict, b: &Verdict) -> Option<(&'static str, String, String)> {
    if a == b {
        return None;
    }
    if fault(a) != fault(b) {
        return Some(("fault", told(a), told(b)));
    }
    if a.outcome == b.outcome {
        let (from, to) = (reason(a), reason(b));
        let to = if from == to { format!("{to}, with another {}", other_notes(a, b)) } else { to };
        return Some(("evidence", from, to));
    }
    let (from, to) = numbers(reward(a), reward(b)).unwrap_or_default();
    let named = |number: String, verdict: &Verdict| match number.as_str() {
        "" => told(verdict),
        _ => format!("{number}{}", because(verdict)),
    };
    Some(("verdict", named(from, a), named(to, b)))
}

fn reward(verdict: &Verdict) -> Option<f64> {
    verdict.outcome.reward().map(Reward::get)
}

fn fault(verdict: &Verdict) -> Option<FaultKind> {
    match &verdict.outcome {
        Outcome::Failed(fault) => Some(fault.kind),
        Outcome::Scored(_) | Outcome::Abstained(_) => None,
    }
}

/// Two rewards in words that many rows share: whole numbers as they are, else which is higher.
fn numbers(a: Option<f64>, b: Option<f64>) -> Option<(String, String)> {
    let (a, b) = (a?, b?);
    if a.fract() == 0.0 && b.fract() == 0.0 {
        return Some((a.to_string(), b.to_string()));
    }
    let (from, to) = if a < b { ("lower", "higher") } else { ("higher", "lower") };
    Some((from.to_owned(), to.to_owned()))
}

fn told(verdict: &Verdict) -> String {
    match &verdict.outcome {
        Outcome::Failed(fault) => format!("failed ({})", fault.kind),
        Outcome::Scored(_) => format!("scored{}", because(verdict)),
        Outcome::Abstained(_) => "abstained".to_owned(),
    }
}

fn because(verdict: &Verdict) -> String {
    match verdict.evidence.get("reason").and_then(Value::as_str) {
        Some(reason) => format!(" ({reason})"),
        None => String::new(),
    }
}

/// The names of the notes that differ, and of the other parts of a verdict.
fn other_notes(a: &Verdict, b: &Verdict) -> String {
    let notes = a.evidence.iter().chain(b.evidence.iter());
    let names = notes.map(|(key, _)| key).filter(|key| a.evidence.get(key) != b.evidence.get(key));
    let mut names: BTreeSet<&str> = names.collect();
    let parts = [
        ("components", a.components != b.components),
        ("steps", a.steps != b.steps),
        ("usage", a.usage != b.usage),
    ];
    names.extend(parts.into_iter().filter(|(_, differ)| *differ).map(|(name, _)| name));
    names.into_iter().collect::<Vec<_>>().join(", ")
}

fn reason(verdict: &Verdict) -> String {
    match verdict.evidence.get("reason").and_then(Value::as_str) {
        Some(reason) => reason.to_owned(),
        None => verdict.outcome.name().to_owned(),
    }
}
