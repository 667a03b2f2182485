//! A training as curves: its measurements step by step, and what the monitor warned of.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::files::Lines;
use crate::text::{ValueLimits, cut_value};

const METRICS: &str = "metrics.jsonl";
const WARNINGS: &str = "warnings.jsonl";
/// Curves, points of each, and warnings that a page has.
const CURVES_MAX: usize = 80;
const POINTS_MAX: usize = 240;
const WARNINGS_MAX: usize = 200;

/// The measurements and warnings in a folder; `None` where it has no measurements.
pub(crate) fn training(dir: &Path) -> Option<Value> {
    let mut curves: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
    let (mut steps, mut left_out) = (0_u64, 0_u64);
    let unread = objects(&dir.join(METRICS), |line| {
        let Some(step) = line.get("step").and_then(Value::as_u64) else { return };
        steps = steps.max(step);
        for (name, value) in line.iter().filter(|(name, _)| *name != "step") {
            let Some(value) = value.as_f64() else { continue };
            if curves.len() >= CURVES_MAX && !curves.contains_key(name) {
                left_out += 1;
                continue;
            }
            curves.entry(name.clone()).or_default().push((step, value));
        }
    })?;
    let mut warnings = Vec::new();
    objects(&dir.join(WARNINGS), |line| {
        if warnings.len() < WARNINGS_MAX {
            let limits = ValueLimits { bytes: 400, values: 40 };
            warnings.push(cut_value(&Value::Object(line.clone()), &limits));
        }
    });
    let curves: Map<String, Value> =
        curves.into_iter().map(|(name, points)| (name, json!(thinned(&points)))).collect();
    Some(json!({
        "steps": steps, "curves": curves, "warnings": warnings, "unread": unread, "left_out": left_out,
    }))
}

/// Hands over the lines of a file that are objects, and counts the others; `None` without the file.
fn objects(path: &Path, mut take: impl FnMut(&Map<String, Value>)) -> Option<u64> {
    let mut lines = Lines::open(path).ok()?;
    let mut unread = 0;
    while let Ok(Some((_, line))) = lines.next() {
        match serde_json::from_slice::<Map<String, Value>>(line) {
            Ok(line) => take(&line),
            Err(_) => unread += 1,
        }
    }
    Some(unread)
}

/// The points, or the means of as many stretches of them as a page has room for.
fn thinned(points: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let each = points.len().div_ceil(POINTS_MAX).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a mean of a few thousand at most")]
    let mean = |part: &[(u64, f64)]| {
        let sum: f64 = part.iter().map(|(_, value)| value).sum();
        part.last().map(|(step, _)| (*step, sum / part.len() as f64))
    };
    points.chunks(each).filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test reads what it writes")]
    fn a_training_is_drawn_by_its_lines_and_a_long_one_by_means() {
        let dir = std::env::temp_dir().join(format!("assay-view-training-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        assert_eq!(training(&dir), None);
        let mut lines = String::new();
        for step in 0..1000 {
            writeln!(lines, "{{\"step\":{step},\"reward\":{},\"kl\":null}}", step % 2).unwrap();
        }
        lines.push_str("no json\n{\"step\":1000,\"rew");
        fs::write(dir.join(METRICS), lines).unwrap();
        let warning = json!({ "step": 7, "alarm": "length_pays", "message": "<b>".repeat(1000) });
        fs::write(dir.join(WARNINGS), format!("{warning}\n")).unwrap();
        let read = training(&dir).unwrap();
        assert_eq!((&read["steps"], &read["unread"]), (&json!(999), &json!(1)));
        let points = read["curves"]["reward"].as_array().unwrap();
        assert!(points.len() <= POINTS_MAX && points[0][0] == 4, "{points:?}");
        assert_eq!(read["curves"].as_object().unwrap().len(), 1);
        assert!(read["warnings"][0]["message"].as_str().unwrap().len() < 1000);
        fs::remove_dir_all(&dir).unwrap();
    }
}
