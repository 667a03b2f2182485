//! `maxrl`: the deviation from the mean of the group, by that mean.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, Singleton, not_negative};
use super::per_group::collect;
use crate::error::TrainerError;

/// Maximum likelihood RL: `A = (r - mean) / (mean + eps)` over the rollouts of a prompt. It is made
/// for rewards that are not negative; where `mean + eps` is not above 0, the advantage is 0.
///
/// Source: `SkyRL` 0.3.0 `compute_maxrl_advantage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaxRl {
    /// Added to the mean.
    pub eps: f64,
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
}

impl Default for MaxRl {
    fn default() -> Self {
        Self { eps: 1e-6, singleton: Singleton::Zero }
    }
}

impl EstimatorSettings for MaxRl {
    fn check(&self) -> Result<(), TrainerError> {
        not_negative("eps", self.eps)
    }
}

impl Estimator for MaxRl {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let (values, report) = collect(batch, &[], |group, out| {
            let mean = group.mean();
            let divisor = mean + self.eps;
            match self.singleton {
                Singleton::Raw if group.is_one() => group.write(out, |reward| reward),
                _ if divisor > 0.0 => group.write(out, |reward| (reward - mean) / divisor),
                _ => out.fill(0.0),
            }
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn the_mean_is_the_divisor() {
        let config = "kind = \"maxrl\"\neps = 0";
        assert_close(&rollouts(config, &[1.0, 0.0, 0.0, 0.0], 4), &[3.0, -1.0, -1.0, -1.0]);
        assert_close(&rollouts(config, &[0.0, 0.0, -1.0, 0.0], 2), &[0.0; 4]);
        assert_close(&rollouts("kind = \"maxrl\"\nsingleton = \"raw\"", &[2.0], 1), &[2.0]);
    }
}
