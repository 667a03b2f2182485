//! `stable_reinforce`: whitening over the batch, with outliers left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EPS, EpsAt, EstimatorSettings, Std, divided, not_negative, positive};
use super::per_group::{report, rewrite, scored_rows};
use crate::statistics::Moments;
use crate::error::TrainerError;

/// `StableReinforce`: `z = (r - mean) / (std + eps)` over the batch, and `A = z` where `|z| <= limit`,
/// else 0.
///
/// Source: "R1-Reward: Training Multimodal Reward Model Through Stable Reinforcement Learning" (the
/// advantage filter by three standard deviations).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StableReinforce {
    /// In standard deviations.
    pub limit: f64,
    /// Which standard deviation.
    pub std: Std,
    /// Added to it.
    pub eps: f64,
}

impl Default for StableReinforce {
    fn default() -> Self {
        Self { limit: 3.0, std: Std::default(), eps: EPS }
    }
}

impl EstimatorSettings for StableReinforce {
    fn check(&self) -> Result<(), TrainerError> {
        not_negative("eps", self.eps)?;
        positive("limit", self.limit)
    }
}

impl Estimator for StableReinforce {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let whole = Moments::of_rows(&scored_rows(batch, batch.rewards));
        let divisor = EpsAt::Std.divisor(whole.std(self.std), self.eps);
        let mut values = batch.rewards.to_vec();
        rewrite(batch, &mut values, |reward| {
            let advantage = divided(reward - whole.mean, divisor);
            if advantage.abs() <= self.limit { advantage } else { 0.0 }
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn outliers_have_no_advantage() {
        // Mean 0.25, unbiased standard deviation 0.5: 1.5 and -0.5.
        let config = |limit: f64| format!("kind = \"stable_reinforce\"\neps = 0\nlimit = {limit}");
        let rewards = [1.0, 0.0, 0.0, 0.0, f64::NAN];
        assert_close(&rollouts(&config(1.5), &rewards, 1), &[1.5, -0.5, -0.5, -0.5, 0.0]);
        assert_close(&rollouts(&config(1.0), &rewards, 5), &[0.0, -0.5, -0.5, -0.5, 0.0]);
        assert_close(&rollouts(&config(1.0), &[0.1, 0.1, 0.1], 3), &[0.0; 3]);
    }
}
