//! A shape does nothing on any row, as none has what it asks for.
//!
//! Looks at what the shapes note in the evidence: that they were skipped, or that there were no calls, searches or turns
//! to count. Fix: `assay show shape.KIND` says what it asks of a row.

use serde_json::Value;

use super::look::{Finding, Tested};

/// Notes of shapes that move nothing, and what they say then.
const IDLE: [(&str, f64, &str); 3] = [
    ("calls", 0.0, "there are no calls of tools"),
    ("searched", 0.0, "there are no searches"),
    ("turns", 1.0, "the completion is one turn"),
];

pub(super) fn find(tested: Tested<'_>) -> impl Iterator<Item = Finding> {
    let shapes = tested.look.rewards().flat_map(|(at, planned, _)| {
        planned.shapes.iter().enumerate().map(move |(place, shape)| (at, place, shape.kind))
    });
    shapes.filter_map(move |(at, place, kind)| {
        let rows = tested.trial.rows.iter();
        let notes =
            rows.filter_map(|own| own.verdicts.get(at)?.evidence.get("shaping")?.get(place));
        let whys: Vec<Option<&str>> = notes.map(why).collect();
        let why = whys.first().copied().flatten().filter(|_| whys.iter().all(Option::is_some))?;
        let key = format!("shape[{place}].kind");
        let found = Finding::new((at, key.as_str()), "idle").with("why", why);
        Some(found.with("kind", kind).with("rows", whys.len()))
    })
}

/// Why a shape moves nothing, by what it notes.
fn why(notes: &Value) -> Option<&str> {
    let is_idle = |(key, idle, _): &&(&str, f64, &str)| match notes.get(key) {
        Some(Value::Bool(flag)) => !flag && *idle == 0.0,
        own => own.and_then(Value::as_f64) == Some(*idle),
    };
    let skipped = notes.get("skipped").and_then(Value::as_str);
    skipped.or_else(|| IDLE.iter().find(is_idle).map(|(.., why)| *why))
}
