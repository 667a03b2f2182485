//! What an alarm finds, and which rollouts show it.

use super::memory::MonitorMemory;
use super::phrases::beginning;
use crate::config::MonitorConfig;
use crate::reports::ShownRollout;
use crate::reports::{RolloutReport, StepReport};

/// What an alarm is given: everything up to this step.
pub(super) struct Look<'a> {
    pub(super) config: &'a MonitorConfig,
    pub(super) memory: &'a MonitorMemory,
    pub(super) report: &'a StepReport,
}

/// What an alarm found.
#[derive(Clone, Debug, Default)]
pub(super) struct Finding {
    /// Whether it is beyond doubt; else the numbers are on the wrong side of the limit, and no more.
    pub(super) is_sure: bool,
    /// The step at which the signal began, where the alarm knows better than by its own findings.
    pub(super) since: Option<u64>,
    /// What is seen.
    pub(super) message: String,
    /// What shows it.
    pub(super) rollouts: Vec<ShownRollout>,
}

/// Characters of a completion that are shown.
const SHOWN_MAX: usize = 4000;

impl Look<'_> {
    /// The rollouts that are told by `wanted`, those with the greatest `key` first; of equal ones the
    /// first of the step.
    pub(super) fn worst(
        &self,
        wanted: impl Fn(&RolloutReport) -> bool,
        key: impl Fn(&RolloutReport) -> f64,
    ) -> Vec<ShownRollout> {
        let mut found: Vec<&RolloutReport> =
            self.report.rollouts.iter().filter(|rollout| wanted(rollout)).collect();
        found.sort_by(|a, b| key(b).total_cmp(&key(a)));
        found.iter().take(self.config.samples).map(|own| self.shown(own)).collect()
    }

    fn shown(&self, rollout: &RolloutReport) -> ShownRollout {
        let parts = self.report.parts.iter().cloned().zip(rollout.parts.iter().copied());
        ShownRollout {
            task: rollout.task.clone(),
            completion: beginning(&rollout.completion, SHOWN_MAX).to_owned(),
            reward: rollout.reward,
            parts: parts.collect(),
            correct: rollout.correct,
            advantage: Some(rollout.advantage),
            tokens: Some(rollout.tokens),
            fault: rollout.fault.clone(),
        }
    }
}
