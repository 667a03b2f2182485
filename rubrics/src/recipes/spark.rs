//! SPARK: verifications vote on each step, and the steps join the final verdict.
//!
//! "SPARK: Stepwise Process-Aware Rewards for Reference-Free Reinforcement Learning" (2025), sections on
//! step-level consistency and on reward design.

use assay_verifiers::stats::{are_shares, mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether each step is right by the majority of the verifications that judged it; `None` for a step on
/// which none voted or the votes are equal. Verifications may be of different lengths: the longest
/// counts the steps.
pub fn step_votes(verifications: &[Vec<Option<bool>>]) -> Vec<Option<bool>> {
    let steps = verifications.iter().map(Vec::len).max().unwrap_or(0);
    let vote = |step: usize| {
        let votes = || verifications.iter().filter_map(|one| one.get(step).copied().flatten());
        let (right, wrong) =
            (votes().filter(|vote| *vote).count(), votes().filter(|vote| !vote).count());
        (right != wrong).then_some(right > wrong)
    };
    (0..steps).map(vote).collect()
}

/// The rewards of SPARK.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spark {
    /// The weight of the share of right steps in the step-augmented reward; 0.4. The verdict has the
    /// rest.
    pub steps: f64,
    /// The weight of the process advantage in the global mix; 0.8. The step advantage has the rest.
    pub process: f64,
}

impl Default for Spark {
    fn default() -> Self {
        Self { steps: 0.4, process: 0.8 }
    }
}

impl Spark {
    /// The process-aware reward: 1 where the format is valid and the verdict is right, else 0.
    pub fn process_aware(valid: bool, right: bool) -> f64 {
        f64::from(valid && right)
    }

    /// The step-augmented reward, `valid (0.4 k / n + 0.6 right)`, 0 to 1. `None` for a valid response
    /// in which no step has a verdict.
    pub fn step_augmented(&self, valid: bool, right: bool, steps: &[Option<bool>]) -> Option<f64> {
        if !valid {
            return Some(0.0);
        }
        let judged: Vec<f64> = steps.iter().flatten().map(|right| f64::from(*right)).collect();
        let value = self.steps * mean(&judged)? + (1.0 - self.steps) * f64::from(right);
        are_shares(&[value]).then_some(value)
    }

    /// The selective advantage of a step: kept where its sign agrees with the verdict on the step (at
    /// least 0 with right, below 0 with wrong), else 0.
    pub fn selective_advantage(advantage: f64, right: bool) -> f64 {
        if (advantage >= 0.0) == right { advantage } else { 0.0 }
    }

    /// The global mix of the advantages, `0.8 process + 0.2 step`.
    pub fn mixed_advantage(&self, process: f64, step: f64) -> f64 {
        self.process * process + (1.0 - self.process) * step
    }
}
