//! A training in plain lines: where there is no terminal, or none is wanted.

use assay::setup::Monotonic;
use assay::trainer::training::EvaluationReport;

use super::super::output::percent;
use super::watched::{Phase, Watched};

/// Seconds between two lines of steps.
const LINE_EVERY_S: f64 = 5.0;

/// What is reported of a step: its metrics, and what people call them.
const TOLD: [(&str, &str); 6] = [
    ("reward", "reward"),
    ("accuracy", "accuracy"),
    ("completions/mean_length", "length"),
    ("entropy", "entropy"),
    ("kl", "KL"),
    ("grad_norm", "grad_norm"),
];

/// When the next line is due.
pub(super) struct PlainLines {
    clock: Monotonic,
    next_s: f64,
}

impl PlainLines {
    pub(super) fn start() -> Self {
        Self { clock: Monotonic::start(), next_s: 0.0 }
    }

    /// The line of the last step or of the warm-up, where one is due: every few seconds, and at the
    /// end.
    pub(super) fn line(&mut self, watched: &Watched) -> Option<String> {
        let is_last = match watched.phase {
            Phase::Warmup { update, updates, .. } => update == updates,
            _ => watched.step == watched.steps,
        };
        if self.clock.seconds() < self.next_s && !is_last {
            return None;
        }
        self.next_s = self.clock.seconds() + LINE_EVERY_S;
        Some(match &watched.phase {
            Phase::Warmup { update, updates, loss } => {
                format!("warm-up {update}/{updates}  loss {loss:.4}")
            }
            _ => step(watched),
        })
    }
}

/// The line of the last step.
fn step(watched: &Watched) -> String {
    let mut line = format!("step {}/{}", watched.step, watched.steps);
    for (name, title) in TOLD {
        if let Some(value) = watched.metric(name) {
            line.push_str(&match name {
                "accuracy" => format!("  {title} {}", percent(value)),
                "completions/mean_length" => format!("  {title} {value:.1}"),
                _ => format!("  {title} {value:.4}"),
            });
        }
    }
    if let Some(seconds) = watched.metric("step_time") {
        line.push_str(&format!("  {seconds:.2} s/step"));
    }
    line
}

/// The line of an evaluation.
pub(super) fn evaluation(report: &EvaluationReport) -> String {
    let mut line = format!(
        "held out after step {}: accuracy {}  length {:.1}",
        report.step,
        percent(report.accuracy),
        report.mean_length
    );
    if let Some(reward) = report.reward {
        line.push_str(&format!("  reward {reward:.4}"));
    }
    for (k, share) in &report.pass_at_k {
        line.push_str(&format!("  pass@{k} {}", percent(*share)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::watched::testing;
    use super::*;

    #[test]
    fn a_step_is_a_line() {
        let mut lines = PlainLines::start();
        let mut watched = testing::watched();
        assert_eq!(
            lines.line(&watched).as_deref(),
            Some(
                "step 2/4  reward 0.2000  accuracy 20.00 %  length 0.2  entropy 0.2000  KL 0.2000  \
                 grad_norm 0.5000  2.00 s/step"
            )
        );
        assert_eq!(lines.line(&watched), None, "the next is due in seconds");
        watched.step(&testing::step(4));
        assert!(lines.line(&watched).is_some(), "the last one is told");
        watched.phase = Phase::Warmup { update: 9, updates: 9, loss: 0.5 };
        assert_eq!(lines.line(&watched).as_deref(), Some("warm-up 9/9  loss 0.5000"));
    }

    #[test]
    fn an_evaluation_is_a_line() {
        let report = EvaluationReport {
            step: 3,
            accuracy: 0.5,
            reward: Some(0.25),
            mean_length: 8.0,
            pass_at_k: vec![(1, 0.5), (8, 0.75)],
            ..EvaluationReport::default()
        };
        assert_eq!(
            evaluation(&report),
            "held out after step 3: accuracy 50.00 %  length 8.0  reward 0.2500  pass@1 50.00 %  \
             pass@8 75.00 %"
        );
    }
}
