//! `gpg`: the deviation from the mean of the group, scaled up by the share of rewards that are not 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, Singleton, positive};
use super::per_group::collect;
use crate::statistics::float;
use crate::error::TrainerError;

/// Group policy gradient: `A = alpha (r - mean) / f_norm`, where `alpha` is the number of rollouts of
/// the batch by the number of those whose reward is not 0 (by 1, where there are none).
///
/// Source: "GPG: A Simple and Strong Reinforcement Learning Baseline for Model Reasoning";
/// verl 0.9.1 `compute_gpg_outcome_advantage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gpg {
    /// A constant that advantages are divided by.
    pub f_norm: f64,
    /// The advantage of a rollout that is alone in its group: `raw` is `alpha r / f_norm`.
    pub singleton: Singleton,
}

impl Default for Gpg {
    fn default() -> Self {
        Self { f_norm: 1.0, singleton: Singleton::Zero }
    }
}

impl EstimatorSettings for Gpg {
    fn check(&self) -> Result<(), TrainerError> {
        positive("f_norm", self.f_norm)
    }
}

impl Estimator for Gpg {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let scored = batch.rewards.iter().filter(|reward| !reward.is_nan());
        let (mut rollouts, mut paid) = (0, 0);
        for reward in scored {
            rollouts += 1;
            paid += usize::from(*reward != 0.0);
        }
        let alpha = float(rollouts) / float(paid.max(1));
        let (values, report) = collect(batch, &[], |group, out| {
            let mean = match self.singleton {
                Singleton::Raw if group.is_one() => 0.0,
                _ => group.mean(),
            };
            group.write(out, |reward| alpha * (reward - mean) / self.f_norm);
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn rare_rewards_are_scaled_up() {
        // Four rewards, of which one is not 0: alpha is 4.
        let rewards = [1.0, 0.0, 0.0, 0.0, f64::NAN, f64::NAN];
        assert_close(&rollouts(r#"kind = "gpg""#, &rewards, 2), &[2.0, -2.0, 0.0, 0.0, 0.0, 0.0]);
        assert_close(
            &rollouts("kind = \"gpg\"\nf_norm = 2", &rewards, 2),
            &[1.0, -1.0, 0.0, 0.0, 0.0, 0.0],
        );
        assert_close(&rollouts("kind = \"gpg\"\nsingleton = \"raw\"", &[3.0, 0.0], 1), &[6.0, 0.0]);
        assert_close(&rollouts(r#"kind = "gpg""#, &[0.0, 0.0], 2), &[0.0, 0.0]);
    }
}
