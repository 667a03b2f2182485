//! What the tests of the alarms share.

use crate::reports::{RolloutReport, StepReport};

/// A rollout under construction.
#[derive(Clone)]
pub(super) struct Given(RolloutReport);

/// A rollout of a group, with its advantage, which is its reward too, and whether it is right.
pub(super) fn rollout(group: u64, advantage: f64, correct: f64) -> Given {
    Given(RolloutReport {
        task: format!("task-{group}"),
        group,
        completion: "text".to_owned(),
        tokens: 4,
        reward: Some(advantage),
        correct: Some(correct),
        advantage,
        entropy: 1.0,
        ..RolloutReport::default()
    })
}

impl Given {
    pub(super) fn tokens(mut self, tokens: usize) -> Self {
        self.0.tokens = tokens;
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.0.completion);
        self
    }

    pub(super) fn parts(mut self, parts: &[f64]) -> Self {
        self.0.parts = parts.iter().map(|part| Some(*part)).collect();
        self
    }

    pub(super) fn reward(mut self, reward: Option<f64>) -> Self {
        self.0.reward = reward;
        self
    }

    pub(super) fn correct(mut self, correct: Option<f64>) -> Self {
        self.0.correct = correct;
        self
    }

    pub(super) fn advantage(mut self, advantage: f64) -> Self {
        self.0.advantage = advantage;
        self
    }

    pub(super) fn entropy(mut self, entropy: f64) -> Self {
        self.0.entropy = entropy;
        self
    }

    pub(super) fn fault(mut self) -> Self {
        self.0.fault = Some("timeout".to_owned());
        self.reward(None).correct(None)
    }
}

/// Step 1 of these rollouts.
pub(super) fn step(rollouts: &[Given]) -> StepReport {
    let rollouts: Vec<RolloutReport> = rollouts.iter().map(|given| given.0.clone()).collect();
    let parts = rollouts.first().map_or(0, |rollout| rollout.parts.len());
    let parts = (0..parts).map(|at| format!("part-{at}")).collect();
    StepReport { step: 1, parts, rollouts, ..StepReport::default() }
}

/// A step of `groups` groups, each with these rollouts.
pub(super) fn repeated(step_number: u64, groups: u64, rollouts: &[Given]) -> StepReport {
    let all: Vec<Given> = (0..groups)
        .flat_map(|group| {
            rollouts.iter().map(move |given| {
                let mut own = given.clone();
                own.0.group = group;
                own.0.task = format!("task-{group}");
                own
            })
        })
        .collect();
    StepReport { step: step_number, ..step(&all) }
}
