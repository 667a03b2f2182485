//! `asymre`: a baseline a little below the mean of the group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, Singleton, in_range};
use super::per_group::collect;
use crate::error::TrainerError;

/// Asymmetric REINFORCE for data of another policy: `A = r - (mean + shift)`, without a standard
/// deviation. A baseline below the mean of the behaviour policy improves the policy; at or above it,
/// the support collapses. The baseline of a group of one is 0.
///
/// Source: "Asymmetric REINFORCE for off-Policy Reinforcement Learning: Balancing positive and negative
/// rewards"; Trinity-RFT `asymre_advantage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AsymRe {
    /// What is added to the mean, in units of the reward. Below 0, it favours rewards above the mean.
    pub shift: f64,
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
}

impl Default for AsymRe {
    fn default() -> Self {
        Self { shift: -0.1, singleton: Singleton::Raw }
    }
}

impl EstimatorSettings for AsymRe {
    fn check(&self) -> Result<(), TrainerError> {
        in_range("shift", self.shift, f64::MIN, f64::MAX)
    }
}

impl Estimator for AsymRe {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let (values, report) = collect(batch, &[], |group, out| match self.singleton {
            Singleton::Raw if group.is_one() => group.write(out, |reward| reward),
            Singleton::Zero if group.is_one() => out.fill(0.0),
            _ => {
                let baseline = group.mean() + self.shift;
                group.write(out, |reward| reward - baseline);
            }
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn the_baseline_is_below_the_mean() {
        let values = rollouts(r#"kind = "asymre""#, &[1.0, 0.0, 0.0, 0.0], 4);
        assert_close(&values, &[0.85, -0.15, -0.15, -0.15]);
        assert_close(&rollouts(r#"kind = "asymre""#, &[1.0, 1.0], 2), &[0.1, 0.1]);
        assert_close(&rollouts(r#"kind = "asymre""#, &[0.5, f64::NAN], 2), &[0.5, 0.0]);
        assert_close(&rollouts("kind = \"asymre\"\nshift = 0.25", &[1.0, 0.0], 2), &[0.25, -0.75]);
    }
}
