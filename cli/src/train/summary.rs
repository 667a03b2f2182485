//! What a training came to: `summary.json`, and what people see at its end.

use std::fs;
use std::io;
use std::path::Path;

use assay::verifiers::stats;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::output::{self, percent};

/// The heights of a curve.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// How wide a curve is.
const WIDTH: usize = 40;

/// What a training came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrainSummary {
    /// Steps that were made.
    pub(super) steps: u64,
    /// Whether these are all of them.
    pub(super) complete: bool,
    /// Seconds that this session took.
    pub(super) seconds: f64,
    /// The first evaluation; `None` where nothing is held out.
    pub(super) before: Option<EvaluationSummary>,
    /// The last one.
    pub(super) after: Option<EvaluationSummary>,
    /// The mean reward of each step.
    pub(super) reward: Vec<f64>,
    /// The share of right completions of each step.
    pub(super) accuracy: Vec<f64>,
    /// Measurements of the last step.
    pub(super) last: Value,
    /// How often the monitor warned.
    pub(super) warnings: usize,
    /// The folder of the policy, once all steps were made.
    pub(super) model: Option<String>,
}

/// An evaluation without its tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EvaluationSummary {
    pub(super) step: u64,
    pub(super) accuracy: f64,
    pub(super) reward: Option<f64>,
    pub(super) mean_length: f64,
    pub(super) pass_at_k: Vec<(usize, f64)>,
    /// What became of the tasks that could be solved before.
    pub(super) support: Option<Value>,
}

impl TrainSummary {
    /// Puts together what the lines of a run folder say. `seconds`, `complete` and `model` are for
    /// whoever knows them.
    pub(super) fn read(files: &SummaryFiles<'_>) -> io::Result<Self> {
        let metrics: Vec<Value> = lines(files.metrics)?;
        let steps = || metrics.iter().filter(|line| line.get("step_time").is_some());
        let curve = |name: &str| steps().filter_map(|line| line.get(name)?.as_f64()).collect();
        let evaluations: Vec<EvaluationSummary> = lines(files.evaluations)?;
        let last = steps().next_back().cloned().unwrap_or_default();
        Ok(Self {
            steps: last.get("step").and_then(Value::as_u64).unwrap_or_default(),
            complete: false,
            seconds: 0.0,
            before: evaluations.first().cloned(),
            after: evaluations.last().filter(|_| evaluations.len() > 1).cloned(),
            reward: curve("reward"),
            accuracy: curve("accuracy"),
            last,
            warnings: lines::<Value>(files.warnings)?.len(),
            model: None,
        })
    }

    /// What people see.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(before) = &self.before {
            text.push_str(&table(before, self.after.as_ref()));
            text.push('\n');
        }
        let evaluated = self.after.as_ref().or(self.before.as_ref());
        if let Some(support) = evaluated.and_then(|one| one.support.as_ref()) {
            text.push_str(&support_text(support));
        }
        for (name, curve) in [("reward", &self.reward), ("accuracy", &self.accuracy)] {
            if let (Some(first), Some(last)) = (curve.first(), curve.last()) {
                let bars = sparkline(curve, WIDTH);
                text.push_str(&format!("{name:10}{bars}  {first:.3} -> {last:.3}\n"));
            }
        }
        text
    }
}

/// The files of a run folder that a summary is made of.
pub(super) struct SummaryFiles<'a> {
    pub(super) metrics: &'a Path,
    pub(super) evaluations: &'a Path,
    pub(super) warnings: &'a Path,
}

fn table(before: &EvaluationSummary, after: Option<&EvaluationSummary>) -> String {
    let cell = |of: &dyn Fn(&EvaluationSummary) -> Option<String>| {
        let shown =
            |one: Option<&EvaluationSummary>| one.and_then(of).unwrap_or_else(|| "-".into());
        [shown(Some(before)), shown(after)]
    };
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut row = |name: String, [before, after]: [String; 2]| rows.push([name, before, after]);
    row("accuracy".into(), cell(&|one| Some(percent(one.accuracy))));
    row("reward".into(), cell(&|one| Some(format!("{:.4}", one.reward?))));
    row("length".into(), cell(&|one| Some(format!("{:.1}", one.mean_length))));
    let ks = before.pass_at_k.iter().chain(after.into_iter().flat_map(|one| &one.pass_at_k));
    let ks: std::collections::BTreeSet<usize> = ks.map(|(k, _)| *k).collect();
    for k in ks {
        let share = |one: &EvaluationSummary| {
            one.pass_at_k.iter().find(|(known, _)| *known == k).map(|(_, share)| percent(*share))
        };
        row(format!("pass@{k}"), cell(&share));
    }
    let steps = [Some(before), after].map(|one| match one {
        Some(one) => format!("step {}", one.step),
        None => "-".to_owned(),
    });
    let [first, last] = &steps;
    output::table(["held out", first.as_str(), last.as_str()], &rows)
}

/// What became of the support, in words.
fn support_text(support: &Value) -> String {
    let count = |name: &str| support.get(name).and_then(Value::as_u64).unwrap_or_default();
    let retention = support.get("retention").and_then(Value::as_f64);
    let retention = retention.map(|share| format!(", {} retained", percent(share)));
    format!(
        "support: {} tasks still solved, {} newly, {} no longer, {} never{}\n",
        count("preserved"),
        count("expanded"),
        count("shrunk"),
        count("neither"),
        retention.unwrap_or_default()
    )
}

/// A curve as bars between its least and its greatest value, each the mean of its share of the values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share times seven is one of eight bars"
)]
pub(super) fn sparkline(values: &[f64], width: usize) -> String {
    let size = values.len().div_ceil(width).max(1);
    let means: Vec<f64> = values.chunks(size).filter_map(stats::mean).collect();
    let (low, high) = stats::bounds(&means).unwrap_or_default();
    let share = |value: f64| if high > low { (value - low) / (high - low) } else { 0.0 };
    means.iter().filter_map(|value| BARS.get((share(*value) * 7.0).round() as usize)).collect()
}

/// The lines of a file; one that is not there has none.
fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<Vec<T>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let damaged =
        |error: serde_json::Error| io::Error::other(format!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).map_err(damaged)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> TrainSummary {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            assay::engine::runs::write_atomic(&path, text.as_bytes()).unwrap();
            path
        };
        let metrics = write(
            "metrics.jsonl",
            "{\"step\":0,\"eval_accuracy\":0.25}\n\
             {\"step\":1,\"reward\":0.1,\"accuracy\":0.2,\"step_time\":1.0}\n\
             {\"step\":2,\"reward\":0.4,\"accuracy\":null,\"step_time\":1.0}\n",
        );
        let evaluations = write(
            "evaluations.jsonl",
            "{\"step\":0,\"accuracy\":0.25,\"reward\":null,\"mean_length\":9.0,\"pass_at_k\":[[1,0.25]],\
             \"support\":null,\"tasks\":[]}\n\
             {\"step\":2,\"accuracy\":0.5,\"reward\":0.75,\"mean_length\":8.0,\
             \"pass_at_k\":[[1,0.5],[8,1.0]],\"support\":{\"preserved\":3,\"expanded\":2,\"shrunk\":1,\
             \"neither\":0,\"retention\":0.75},\"tasks\":[]}\n",
        );
        let warnings = folder.path().join("warnings.jsonl");
        let files =
            SummaryFiles { metrics: &metrics, evaluations: &evaluations, warnings: &warnings };
        TrainSummary::read(&files).unwrap()
    }

    #[test]
    fn a_summary_is_read_from_the_lines() {
        let summary = summary();
        assert_eq!((summary.steps, summary.warnings), (2, 0));
        assert_eq!((&summary.reward, &summary.accuracy), (&vec![0.1, 0.4], &vec![0.2]));
        assert_eq!(summary.after.as_ref().map(|one| one.step), Some(2));
    }

    #[test]
    fn people_see_before_and_after() {
        insta::assert_snapshot!("summary", summary().text());
    }

    #[test]
    fn a_curve_is_as_wide_as_it_may_be() {
        assert_eq!(sparkline(&[0.0, 0.5, 1.0], 40), "▁▅█");
        let long: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(sparkline(&long, 40).chars().count(), 40);
        assert_eq!((sparkline(&[2.0], 40), sparkline(&[], 40)), ("▁".to_owned(), String::new()));
    }
}
