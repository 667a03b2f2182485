//! A shape does nothing on any row, as none has what it asks for.
//!
//! Looks at what the shapes note in the evidence: that they were skipped, or that there were no calls, searches or turns
//! to count. Fix: `assay show shape.KIND` says what it asks of a row.

use serde_json::Value;

use super::look::{Finding, Tested, tried_on};

/// Notes of shapes that move nothing, and what they say then.
const IDLE: [(&str, f64, &str); 3] = [
    ("calls", 0.0, "there are no calls of tools"),
    ("searched", 0.0, "there are no searches"),
    ("turns", 1.0, "the completion is one turn"),
];

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let shapes = tested.look.rewards().flat_map(|(at, planned, _)| {
        planned.shapes.iter().enumerate().map(move |(place, shape)| (at, place, shape.kind))
    });
    let idle = shapes.filter_map(|(at, place, kind)| {
        let notes = tested.trial.rows.iter().filter_map(|tried| {
            let notes = tried.verdicts.get(at)?.evidence.get("shaping")?.get(place)?;
            Some(
                notes
                    .get("skipped")
                    .and_then(Value::as_str)
                    .or_else(|| idle(notes))
                    .map(str::to_owned),
            )
        });
        let notes: Vec<Option<String>> = notes.collect();
        let first = notes.first()?.as_ref().filter(|_| notes.iter().all(Option::is_some))?;
        let message =
            format!("the shape `{kind}` does nothing on {}: {first}", tried_on(notes.len() as u64));
        let help = format!("`assay show shape.{kind}` says what it asks of a row");
        let key = format!("shape[{place}].kind");
        Some(
            Finding::of_reward((at, &key), message, help)
                .with("kind", kind)
                .with("rows", notes.len()),
        )
    });
    idle.collect()
}

/// Why a shape moves nothing, by what it notes.
fn idle(notes: &Value) -> Option<&'static str> {
    let found = IDLE.iter().find(|(key, idle, _)| match notes.get(key) {
        Some(Value::Bool(flag)) => !flag && *idle == 0.0,
        Some(value) => value.as_f64() == Some(*idle),
        None => false,
    });
    found.map(|(.., why)| *why)
}
