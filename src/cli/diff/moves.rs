//! What moved in one row.

use std::collections::BTreeSet;

use assay::engine::{VerdictEntry, VerdictRow};
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
pub(super) fn moves(a: &VerdictRow, b: &VerdictRow) -> Vec<Move> {
    let names: BTreeSet<&String> = a.verdicts.keys().chain(b.verdicts.keys()).collect();
    let found = names.into_iter().filter_map(|name| {
        let (kind, from, to) = match (a.verdicts.get(name), b.verdicts.get(name)) {
            (Some(a), Some(b)) => between(a, b)?,
            (Some(a), None) => ("reward", told(a), "not judged".to_owned()),
            (None, Some(b)) => ("reward", "not judged".to_owned(), told(b)),
            (None, None) => return None,
        };
        Some(Move { kind, reward: Some(name.clone()), from, to })
    });
    let mut moves: Vec<Move> = found.collect();
    if moves.is_empty() && total(a) != total(b) {
        let (from, to) =
            numbers(a.reward, b.reward).unwrap_or_else(|| (a.outcome.clone(), b.outcome.clone()));
        moves.push(Move { kind: "combination", reward: None, from, to });
    }
    moves
}

/// What is compared of a row beside its verdicts.
fn total(row: &VerdictRow) -> impl PartialEq + use<'_> {
    (&row.outcome, row.reward, row.fault, &row.why)
}

fn between(a: &VerdictEntry, b: &VerdictEntry) -> Option<(&'static str, String, String)> {
    if a == b {
        return None;
    }
    if a.fault != b.fault {
        return Some(("fault", told(a), told(b)));
    }
    if a.reward == b.reward && a.outcome == b.outcome && a.why == b.why {
        let (from, to) = (reason(a), reason(b));
        let to = if from == to { format!("{to}, with another {}", other_notes(a, b)) } else { to };
        return Some(("evidence", from, to));
    }
    let (from, to) = numbers(a.reward, b.reward).unwrap_or_default();
    let named = |number: String, entry: &VerdictEntry| match number.as_str() {
        "" => told(entry),
        _ => format!("{number}{}", because(entry)),
    };
    Some(("verdict", named(from, a), named(to, b)))
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

fn told(entry: &VerdictEntry) -> String {
    match (&entry.fault, entry.reward) {
        (Some(fault), _) => format!("failed ({fault})"),
        (None, Some(_)) => format!("{}{}", entry.outcome, because(entry)),
        (None, None) => entry.outcome.clone(),
    }
}

fn because(entry: &VerdictEntry) -> String {
    match entry.evidence.get("reason").and_then(Value::as_str) {
        Some(reason) => format!(" ({reason})"),
        None => String::new(),
    }
}

/// The names of the notes that differ.
fn other_notes(a: &VerdictEntry, b: &VerdictEntry) -> String {
    let notes = a.evidence.iter().chain(b.evidence.iter());
    let names = notes.map(|(key, _)| key).filter(|key| a.evidence.get(key) != b.evidence.get(key));
    names.collect::<BTreeSet<&str>>().into_iter().collect::<Vec<_>>().join(", ")
}

fn reason(entry: &VerdictEntry) -> String {
    match entry.evidence.get("reason").and_then(Value::as_str) {
        Some(reason) => reason.to_owned(),
        None => entry.outcome.clone(),
    }
}
