//! `pass_at_k`: the best rollout of a group alone, by how much it beats the second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EPS, EpsAt, EstimatorSettings, Std, divided, not_negative};
use super::per_group::collect;
use crate::error::TrainerError;

/// Pass@k as the objective: the best rollout of a group has `A = (best - second) / (std + eps)`, all
/// others have 0. Where the best two are equal, all have 0. A group of one has 0 (verl refuses it).
///
/// Source: "Optimizing Language Models for Inference Time Objectives using Reinforcement Learning";
/// verl 0.9.1 `compute_grpo_passk_outcome_advantage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PassAtK {
    /// Whether the difference is divided by the standard deviation of the group.
    pub scale: PassScale,
    /// Which standard deviation.
    pub std: Std,
    /// Added to it.
    pub eps: f64,
}

/// What the difference of the best two is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PassScale {
    /// The standard deviation of the group.
    #[default]
    Group,
    /// Nothing.
    None,
}

impl Default for PassAtK {
    fn default() -> Self {
        Self { scale: PassScale::Group, std: Std::default(), eps: EPS }
    }
}

impl EstimatorSettings for PassAtK {
    fn check(&self) -> Result<(), TrainerError> {
        not_negative("eps", self.eps)
    }
}

impl Estimator for PassAtK {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let (values, report) = collect(batch, &[], |group, out| {
            out.fill(0.0);
            if group.is_constant {
                return;
            }
            let (mut best, mut second) = ((0, f64::NEG_INFINITY), f64::NEG_INFINITY);
            for (at, reward) in group.rewards.iter().enumerate() {
                if *reward > best.1 {
                    second = best.1;
                    best = (at, *reward);
                } else {
                    second = second.max(*reward);
                }
            }
            let divisor = match self.scale {
                PassScale::Group => EpsAt::Std.divisor(group.moments().std(self.std), self.eps),
                PassScale::None => 1.0,
            };
            if let Some(out) = out.get_mut(best.0) {
                *out = divided(best.1 - second, divisor);
            }
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn the_best_is_paid_for_its_lead() {
        let plain = "kind = \"pass_at_k\"\nscale = \"none\"";
        assert_close(&rollouts(plain, &[0.25, 1.0, 0.5, 0.0], 4), &[0.0, 0.5, 0.0, 0.0]);
        assert_close(&rollouts(plain, &[1.0, 1.0, 0.5, 0.0], 4), &[0.0; 4]);
        assert_close(&rollouts(plain, &[1.0, f64::NAN, 0.5, 0.5], 2), &[0.0; 4]);
        // Mean 0.25, unbiased variance 0.25.
        let scaled = "kind = \"pass_at_k\"\neps = 0.5";
        assert_close(&rollouts(scaled, &[0.0, 0.0, 0.0, 1.0], 4), &[0.0, 0.0, 0.0, 1.0]);
    }
}
