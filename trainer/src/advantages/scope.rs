//! `scope`: repaired trajectories join the group, and are credited for what was written anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, EstimatorState, RewardBatch};
use super::conventions::{EstimatorSettings, in_range};
use super::grpo::Grpo;
use super::tokens;
use crate::error::TrainerError;

/// Step-wise correction: a wrong rollout whose prefix is good enough is continued by a guide from the
/// step before its first wrong one ([`ScopeRetries::repair`] says where). The repaired trajectory
/// joins its
/// group as one more rollout, and the tokens before its start have the advantage 0. It needs
/// `starts`, 0 for rollouts that are not repaired, and `mask` or `lengths`; one rollout of a group may
/// be repaired.
///
/// Source: SCOPE (step-wise correction for on-policy exploration) for the rule; the thresholds, and how
/// the quality of a prefix is measured, are reconstructed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScopeRetries {
    /// A step with a lower score is wrong.
    pub step_min: f64,
    /// The share of steps before the first wrong one that a repair needs, 0 to 1.
    pub prefix_min: f64,
    /// How rewards relate to their group: settings of `grpo`.
    pub group: Grpo,
}

/// Where a wrong rollout is repaired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repair {
    /// The first wrong step, counted from 0; the last one, where none is.
    pub first_wrong: usize,
    /// How many steps are kept: the guide continues behind them.
    pub kept: usize,
    /// The share of steps before the first wrong one.
    pub prefix_quality: f64,
}

impl Default for ScopeRetries {
    fn default() -> Self {
        Self { step_min: 0.5, prefix_min: 0.3, group: Grpo::default() }
    }
}

impl EstimatorSettings for ScopeRetries {
    fn check(&self) -> Result<(), TrainerError> {
        in_range("step_min", self.step_min, f64::MIN, f64::MAX)?;
        in_range("prefix_min", self.prefix_min, 0.0, 1.0)?;
        self.group.check()
    }
}

impl Estimator for ScopeRetries {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let starts = batch.needed("scope", "starts", batch.starts)?;
        for (at, group) in batch.groups.iter().enumerate() {
            let is_repaired = |row: &usize| starts.get(*row).is_some_and(|start| *start > 0);
            let repaired = group.rows().filter(is_repaired).count();
            if repaired > 1 {
                let have = format!("{repaired} repaired rollouts in group {at}");
                return Err(TrainerError::input("starts", have, "one at most"));
            }
        }
        let mut values = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut values)?;
        let values = tokens::credited(batch, "scope", values)?;
        Ok(Advantages { values, report, state: EstimatorState::default() })
    }
}

impl ScopeRetries {
    /// Where to repair a wrong rollout with these scores of its steps, as a process reward model gives
    /// them: with `t` steps up to and with the first wrong one of `T`, the prefix has the quality
    /// `t / T`, and `t - 1` steps are kept. `None` where the quality is below what a repair needs, or
    /// where there are no steps.
    pub fn repair(&self, scores: &[f64]) -> Option<Repair> {
        let last = scores.len().checked_sub(1)?;
        let first_wrong = scores.iter().position(|score| *score < self.step_min).unwrap_or(last);
        let steps = crate::statistics::float(scores.len());
        let prefix_quality = crate::statistics::float(first_wrong + 1) / steps;
        (prefix_quality >= self.prefix_min).then_some(Repair {
            first_wrong,
            kept: first_wrong,
            prefix_quality,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Repair, ScopeRetries};
    use crate::Groups;
    use crate::advantages::batch::{Estimator as _, RewardBatch};
    use crate::advantages::testing::{estimated_with, of_tokens, rows};

    #[test]
    fn a_repaired_trajectory_is_credited_for_its_suffix() {
        let config = "kind = \"scope\"\ngroup = { std = \"biased\", eps = 0 }";
        let values = of_tokens(estimated_with(config, &[0.0, 1.0], 2, |mut batch| {
            batch.lengths = Some(&[2, 4]);
            batch.starts = Some(&[0, 3]);
            batch
        }));
        assert_eq!(values, rows(&[&[-1.0, -1.0], &[0.0, 0.0, 0.0, 1.0]]));
    }

    #[test]
    fn a_rollout_is_repaired_before_its_first_wrong_step() {
        let scope = ScopeRetries::default();
        let repair = Repair { first_wrong: 2, kept: 2, prefix_quality: 0.75 };
        assert_eq!(scope.repair(&[0.9, 0.5, 0.4, 0.9]), Some(repair));
        assert_eq!(scope.repair(&[0.1, 0.9, 0.9, 0.9]), None);
        let none_wrong = Repair { first_wrong: 1, kept: 1, prefix_quality: 1.0 };
        assert_eq!(scope.repair(&[0.9, 0.9]), Some(none_wrong));
        assert_eq!(scope.repair(&[]), None);
    }

    #[test]
    fn one_rollout_of_a_group_is_repaired() {
        let groups = Groups::of_size(2, 2).unwrap();
        let mut batch = RewardBatch::new(&groups, &[0.0, 1.0]).unwrap();
        batch.lengths = Some(&[2, 4]);
        let error = ScopeRetries::default().estimate(&batch).unwrap_err().to_string();
        assert_eq!(error, "starts: not given, expected what the estimator \"scope\" needs");
        batch.starts = Some(&[1, 3]);
        let error = ScopeRetries::default().estimate(&batch).unwrap_err().to_string();
        assert_eq!(error, "starts: 2 repaired rollouts in group 0, expected one at most");
    }
}
