//! What is known of a training while it runs: what the view shows and the lines tell.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay::trainer::training::{EvaluationReport, StepReport};
use assay::verifiers::stats::float;

/// The metrics whose curves are kept, by the names of [`StepReport::metrics`], and what people call
/// them.
pub(super) const CURVES: [(&str, &str); 6] = [
    ("reward", "reward"),
    ("accuracy", "accuracy"),
    ("completions/mean_length", "length"),
    ("entropy", "entropy"),
    ("kl", "KL"),
    ("clip_ratio/region_mean", "clip share"),
];

/// What the training is at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Phase {
    /// Reads its model and its tasks.
    #[default]
    Starting,
    /// Learns from demonstrations.
    Warmup {
        /// Updates that were made.
        update: u64,
        /// Updates there are to make.
        updates: u64,
        /// The loss before the last of them.
        loss: f64,
    },
    /// Answers the tasks that are held out.
    Evaluation,
    /// Makes steps.
    Steps,
    /// Was asked to stop, and finishes its step.
    Stopping,
}

/// What is known of a training.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// What is trained, and where it goes.
    pub(super) title: String,
    /// Steps that were made.
    pub(super) step: u64,
    /// Steps there are to make.
    pub(super) steps: u64,
    pub(super) phase: Phase,
    /// Seconds since the start.
    pub(super) seconds: f64,
    /// The values of each metric of [`CURVES`], with the steps that they are of.
    pub(super) curves: BTreeMap<&'static str, Vec<(f64, f64)>>,
    /// The accuracy on the tasks that are held out, with the steps after which it was measured.
    pub(super) held_out: Vec<(f64, f64)>,
    /// The last step.
    pub(super) last: Option<StepReport>,
}

impl Watched {
    /// Takes note of a step.
    pub(super) fn step(&mut self, report: &StepReport) {
        let at = float(report.step);
        for (name, _) in CURVES {
            let value = report.metrics.get(name).copied().filter(|value| value.is_finite());
            if let Some(value) = value {
                self.curves.entry(name).or_default().push((at, value));
            }
        }
        self.step = report.step;
        self.last = Some(report.clone());
        if self.phase != Phase::Stopping {
            self.phase = Phase::Steps;
        }
    }

    /// Takes note of an evaluation.
    pub(super) fn evaluation(&mut self, report: &EvaluationReport) {
        self.held_out.push((float(report.step), report.accuracy));
    }

    /// The training went back to a step.
    pub(super) fn go_back(&mut self, step: u64) {
        self.curves.values_mut().for_each(|curve| curve.retain(|(at, _)| *at <= float(step)));
        self.held_out.retain(|(at, _)| *at <= float(step));
        self.step = step;
    }

    /// A metric of the last step.
    pub(super) fn metric(&self, name: &str) -> Option<f64> {
        self.last.as_ref()?.metrics.get(name).copied()
    }
}

/// What is known, also after a thread that held it has panicked.
pub(super) fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) mod testing {
    //! A training of two steps, for tests of what is shown.

    use assay::trainer::training::RolloutReport;

    use super::*;

    fn rollout(group: u64, completion: &str, reward: Option<f64>) -> RolloutReport {
        RolloutReport {
            task: format!("sort-{group}"),
            prompt: "3 1 2 =".to_owned(),
            group,
            completion: completion.to_owned(),
            tokens: completion.len(),
            reward,
            parts: vec![reward],
            correct: reward,
            fault: reward.is_none().then(|| "correct: Timeout: too late".to_owned()),
            ..RolloutReport::default()
        }
    }

    /// A step whose metrics grow with its number.
    pub(in crate::train) fn step(at: u64) -> StepReport {
        let value = float(at) / 10.0;
        let metrics = CURVES.iter().map(|(name, _)| ((*name).to_owned(), value));
        let times = [
            ("grad_norm", 0.5),
            ("step_time", 2.0),
            ("time/sampling", 1.0),
            ("time/rewards", 0.25),
            ("time/training", 0.75),
        ];
        let times = times.map(|(name, value)| (name.to_owned(), value));
        StepReport {
            step: at,
            metrics: metrics.chain(times).collect(),
            parts: vec!["correct".to_owned()],
            rollouts: vec![
                rollout(0, "1 2 3", Some(1.0)),
                rollout(0, "\u{1b}[2Jx", Some(0.0)),
                rollout(1, "3 2 1", Some(0.5)),
                rollout(1, "", None),
            ],
            warnings: Vec::new(),
        }
    }

    /// What is known after them.
    pub(in crate::train) fn watched() -> Watched {
        let mut watched = Watched {
            title: "demo.toml -> run".to_owned(),
            steps: 4,
            seconds: 65.0,
            ..Watched::default()
        };
        watched.evaluation(&EvaluationReport { accuracy: 0.25, ..EvaluationReport::default() });
        watched.step(&step(1));
        watched.step(&step(2));
        watched
    }
}

#[cfg(test)]
mod tests {
    use super::testing::watched;
    use super::*;

    #[test]
    fn steps_become_curves() {
        let mut watched = watched();
        assert_eq!(watched.curves["reward"], [(1.0, 0.1), (2.0, 0.2)]);
        assert_eq!((watched.step, &watched.phase), (2, &Phase::Steps));
        assert_eq!(watched.held_out, [(0.0, 0.25)]);
        assert_eq!((watched.metric("grad_norm"), watched.metric("none")), (Some(0.5), None));
        watched.phase = Phase::Stopping;
        watched.step(&testing::step(3));
        assert_eq!(watched.phase, Phase::Stopping);
        watched.go_back(1);
        assert_eq!(
            (watched.step, watched.curves["reward"].len(), watched.held_out.len()),
            (1, 1, 1)
        );
    }
}
