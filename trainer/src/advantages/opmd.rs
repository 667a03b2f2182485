//! `opmd`: the mean of the group, or its soft maximum, as the baseline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, Singleton, positive};
use super::per_group::{ScoredGroup, collect};
use crate::statistics::{float, sum_by};
use crate::error::TrainerError;

/// Online policy mirror descent: `A = r - baseline`, where the baseline is the mean of the group or
/// `tau log mean exp(r / tau)`. The baseline of a group of one is 0.
///
/// Source: Trinity-RFT `opmd_advantage` ("Trinity-RFT: A General-Purpose and Unified Framework for
/// Reinforcement Fine-Tuning of Large Language Models").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Opmd {
    /// What rewards are compared with.
    pub baseline: OpmdBaseline,
    /// The temperature of the soft maximum, in units of the reward.
    pub tau: f64,
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
}

/// What rewards are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpmdBaseline {
    /// The mean of the group.
    #[default]
    Mean,
    /// `tau log mean exp(r / tau)`: between the mean and the maximum.
    LogMeanExp,
}

impl Default for Opmd {
    fn default() -> Self {
        Self { baseline: OpmdBaseline::Mean, tau: 1.0, singleton: Singleton::Raw }
    }
}

impl EstimatorSettings for Opmd {
    fn check(&self) -> Result<(), TrainerError> {
        positive("tau", self.tau)
    }
}

impl Estimator for Opmd {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let (values, report) = collect(batch, &[], |group, out| {
            let baseline = match self.baseline {
                _ if group.is_one() && self.singleton == Singleton::Raw => 0.0,
                OpmdBaseline::LogMeanExp if !group.is_constant => self.log_mean_exp(&group),
                _ => group.mean(),
            };
            group.write(out, |reward| reward - baseline);
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

impl Opmd {
    /// With the maximum taken out, so that no exponential is beyond the range of numbers.
    fn log_mean_exp(&self, group: &ScoredGroup<'_>) -> f64 {
        let max = group.rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = sum_by(group.rewards, |reward| ((reward - max) / self.tau).exp());
        max + self.tau * (sum / float(group.rewards.len())).ln()
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn the_baseline_is_a_mean_or_a_soft_maximum() {
        let rewards = [1.0, 0.0, 0.0, 0.0];
        assert_close(&rollouts(r#"kind = "opmd""#, &rewards, 4), &[0.75, -0.25, -0.25, -0.25]);
        let soft = "kind = \"opmd\"\nbaseline = \"log_mean_exp\"\ntau = 0.5";
        let baseline = 0.5 * ((2.0_f64.exp() + 3.0) / 4.0).ln();
        assert_close(&rollouts(soft, &rewards, 4), &rewards.map(|reward| reward - baseline));
        assert_close(&rollouts(soft, &[1000.0, 0.0, 0.1, 0.1], 2)[2..], &[0.0, 0.0]);
        assert_close(
            &rollouts(soft, &[1000.0, 0.0], 2),
            &[0.5 * 2.0_f64.ln(), 0.5 * 2.0_f64.ln() - 1000.0],
        );
        assert_close(&rollouts(r#"kind = "opmd""#, &[3.0], 1), &[3.0]);
    }
}
