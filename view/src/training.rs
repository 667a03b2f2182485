//! A training as curves: its measurements step by step, and what the monitor warned of.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use assay_verifiers::stats::mean;
use serde_json::{Map, Value, json};

use crate::text::cut_value;

const METRICS: &str = "metrics.jsonl";
const WARNINGS: &str = "warnings.jsonl";
/// Curves, points of each, and warnings that a page has.
const CURVES_MAX: usize = 80;
const POINTS_MAX: usize = 240;
const WARNINGS_MAX: usize = 200;

/// The measurements and warnings in a folder; `None` where it has no measurements.
pub(crate) fn training(dir: &Path) -> Option<Value> {
    let mut curves: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
    let (mut steps, mut left_out, mut unread) = (0_u64, 0_u64, 0_u64);
    for line in objects(&dir.join(METRICS))? {
        let Some(line) = line else {
            unread += 1;
            continue;
        };
        let Some(step) = line.get("step").and_then(Value::as_u64) else { continue };
        steps = steps.max(step);
        for (name, value) in line.iter().filter(|(name, _)| *name != "step") {
            let Some(value) = value.as_f64() else { continue };
            if curves.len() >= CURVES_MAX && !curves.contains_key(name) {
                left_out += 1;
                continue;
            }
            curves.entry(name.clone()).or_default().push((step, value));
        }
    }
    let warnings = objects(&dir.join(WARNINGS)).into_iter().flatten().flatten();
    let warnings = warnings.take(WARNINGS_MAX).map(|line| cut_value(&line.into(), (400, 40)));
    let warnings = warnings.collect::<Vec<_>>();
    let curves: Map<String, Value> =
        curves.into_iter().map(|(name, points)| (name, json!(thinned(&points)))).collect();
    Some(json!({
        "steps": steps, "curves": curves, "warnings": warnings, "unread": unread, "left_out": left_out,
    }))
}

/// The lines of a file as objects, `None` for one that is none; `None` without the file.
fn objects(path: &Path) -> Option<impl Iterator<Item = Option<Map<String, Value>>> + use<>> {
    let lines = BufReader::new(File::open(path).ok()?).split(b'\n');
    Some(lines.map_while(Result::ok).map(|line| serde_json::from_slice(&line).ok()))
}

/// The points, or the means of as many stretches of them as a page has room for.
fn thinned(points: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let each = points.len().div_ceil(POINTS_MAX).max(1);
    let stretch = |part: &[(u64, f64)]| Some((part.last()?.0, mean(part.iter().map(|own| own.1))?));
    points.chunks(each).filter_map(stretch).collect()
}

#[cfg(test)]
mod tests;
