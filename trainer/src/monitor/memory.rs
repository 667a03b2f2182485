//! What the monitor keeps from step to step.

use std::collections::{BTreeMap, VecDeque};

use assay_verifiers::Reward;
use serde::{Deserialize, Serialize};

use super::figures::StepFigures;
use super::known_attacks::KnownAttacks;
use super::paid_features::PaidFeatures;
use crate::config::{Alarm, MonitorConfig};
use crate::reports::{EvaluationReport, StepReport};

/// What the monitor keeps: a checkpoint holds it, so that a training that goes on is watched as one
/// that never stopped. It holds sums and means, and no rollout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MonitorMemory {
    /// What was paid within groups.
    pub(super) paid: PaidFeatures,
    /// The steps of the window, the oldest first.
    pub(super) recent: VecDeque<StepFigures>,
    /// The windows of the whole run, one after another.
    pub(super) blocks: Vec<StepFigures>,
    /// The evaluations, the oldest first.
    pub(super) evaluations: Vec<EvaluationMarks>,
    /// Each alarm.
    pub(super) tracks: BTreeMap<Alarm, AlarmTrack>,
    /// How often the training went back.
    pub(super) roll_backs: u32,
}

/// What is kept of an alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AlarmTrack {
    /// The step since which the numbers are on the wrong side of the limit.
    pub(super) since: Option<u64>,
    /// How many looks in a row were sure.
    pub(super) held: u32,
    /// The step of the last warning.
    pub(super) warned: Option<u64>,
}

/// What is kept of an evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct EvaluationMarks {
    /// The step after which it was done.
    pub(super) step: u64,
    /// The tasks that say what is right: whether they were answered right.
    pub(super) right: BTreeMap<String, bool>,
    /// The mean reward of the rollouts of the last steps, else of the evaluation.
    pub(super) reward: Option<f64>,
}

/// Evaluations that are kept; the first one always is.
const EVALUATIONS_MAX: usize = 32;

impl MonitorMemory {
    /// The window up to now.
    pub(super) fn now(&self) -> StepFigures {
        StepFigures::over(&self.recent)
    }

    /// The first window that is over before the present one begins.
    pub(super) fn first(&self) -> Option<&StepFigures> {
        self.earlier().next()
    }

    /// The windows that were over before the present one began.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &StepFigures> {
        let begins = self.recent.front().map_or(0, |step| step.from);
        self.blocks.iter().take_while(move |block| block.to < begins)
    }

    pub(super) fn add_step(&mut self, report: &StepReport, config: &MonitorConfig) {
        self.paid.add(report, config);
        self.recent.push_back(StepFigures::of(report, &KnownAttacks::new(&config.attacks)));
        while self.recent.len() > config.window {
            self.recent.pop_front();
        }
        let begins = self.recent.front().map_or(0, |step| step.from);
        let is_next = self.blocks.last().is_none_or(|block| block.to < begins);
        if is_next && self.recent.len() == config.window {
            self.blocks.push(self.now());
        }
    }

    pub(super) fn add_evaluation(&mut self, report: &EvaluationReport) {
        let known = report.tasks.iter().filter_map(|task| {
            let correct = task.correct.filter(|correct| correct.is_finite())?;
            Some((task.id.clone(), correct >= Reward::RIGHT))
        });
        let reward = self.now().get("reward").map(|reward| reward.value);
        let marks = EvaluationMarks {
            step: report.step,
            right: known.collect(),
            reward: reward.or(report.reward).filter(|reward| reward.is_finite()),
        };
        self.evaluations.push(marks);
        if self.evaluations.len() > EVALUATIONS_MAX {
            self.evaluations.remove(1);
        }
    }

    /// The training went back: what came after a step is forgotten.
    pub(super) fn go_back(&mut self, to_step: u64) {
        self.roll_backs += 1;
        self.paid = PaidFeatures::default();
        self.recent.retain(|step| step.to <= to_step);
        self.blocks.retain(|block| block.to <= to_step);
        self.evaluations.retain(|marks| marks.step <= to_step);
        self.tracks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{repeated, rollout};
    use super::*;
    use crate::reports::TaskEvaluation;

    fn after(steps: u64) -> MonitorMemory {
        let config = MonitorConfig { window: 2, ..MonitorConfig::default() };
        let mut memory = MonitorMemory::default();
        for step in 1..=steps {
            let group = [rollout(0, 1.0, 1.0), rollout(0, -1.0, 0.0)];
            memory.add_step(&repeated(step, 2, &group), &config);
        }
        memory
    }

    #[test]
    fn windows_follow_each_other() {
        let memory = after(5);
        let spans: Vec<(u64, u64)> =
            memory.blocks.iter().map(|block| (block.from, block.to)).collect();
        assert_eq!(spans, [(1, 2), (3, 4)]);
        assert_eq!((memory.now().from, memory.now().to), (4, 5));
        // The second window overlaps with the present one.
        assert_eq!(memory.earlier().count(), 1);
        assert_eq!((after(2).first(), after(3).first()), (None, None));
    }

    #[test]
    fn what_came_later_is_forgotten() {
        let mut memory = after(5);
        memory.add_evaluation(&EvaluationReport { step: 5, ..EvaluationReport::default() });
        memory.go_back(2);
        assert_eq!((memory.blocks.len(), memory.recent.len(), memory.evaluations.len()), (1, 0, 0));
        assert_eq!((memory.roll_backs, memory.paid), (1, PaidFeatures::default()));
    }

    #[test]
    fn the_first_evaluation_is_kept() {
        let mut memory = MonitorMemory::default();
        let task = |correct| TaskEvaluation { correct, ..TaskEvaluation::default() };
        for step in 0..40 {
            let tasks = vec![task(Some(f64::NAN)), task(None)];
            memory.add_evaluation(&EvaluationReport { step, tasks, ..Default::default() });
        }
        assert_eq!(memory.evaluations.len(), EVALUATIONS_MAX);
        assert_eq!((memory.evaluations[0].step, memory.evaluations[1].step), (0, 9));
        assert!(memory.evaluations.iter().all(|marks| marks.right.is_empty()));
    }
}
