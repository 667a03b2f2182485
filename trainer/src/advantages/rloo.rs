//! `rloo`: the reward of a rollout less the mean of the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, GroupReport, RewardBatch};
use super::conventions::{EPS, 
    ClipRange, EpsAt, EstimatorSettings, Singleton, Std, divided, not_negative,
};
use super::per_group::{GroupRule, ScoredGroup, per_group, rewrite, scored_rows};
use crate::statistics::{Deviations, Moments, float};
use crate::error::TrainerError;

/// REINFORCE leave-one-out: `A = r - mean of the other rollouts of the prompt`, which is
/// `(r - mean) n / (n - 1)`.
///
/// Source: "Back to Basics: Revisiting REINFORCE Style Optimization for Learning from Human Feedback
/// in LLMs"; TRL 1.16.0 `RLOOTrainer`, verl 0.9.1 `compute_rloo_outcome_advantage` and
/// its vectorised form, `OpenRLHF` 0.11.2 `rloo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rloo {
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
    /// Whether the advantages are whitened over the batch.
    pub normalize: NormalizeOver,
    /// Which standard deviation they are whitened with.
    pub std: Std,
    /// Added to it.
    pub eps: f64,
    /// The least and the greatest advantage.
    pub clip: Option<ClipRange>,
}

/// What advantages are whitened over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NormalizeOver {
    /// They are not.
    #[default]
    None,
    /// All rollouts of the batch.
    Batch,
}

impl Default for Rloo {
    fn default() -> Self {
        Self {
            singleton: Singleton::Zero,
            normalize: NormalizeOver::None,
            std: Std::default(),
            eps: EPS,
            clip: None,
        }
    }
}

impl EstimatorSettings for Rloo {
    fn check(&self) -> Result<(), TrainerError> {
        not_negative("eps", self.eps)?;
        ClipRange::check(self.clip)
    }
}

impl Estimator for Rloo {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let mut out = vec![0.0; batch.rewards.len()];
        let report = self.estimate_into(batch, &mut out)?;
        Ok(Advantages::of_rollouts(out, report))
    }

    fn estimate_into(
        &self,
        batch: &RewardBatch<'_>,
        out: &mut [f64],
    ) -> Result<GroupReport, TrainerError> {
        let report = per_group(batch, &[], out, self)?;
        if self.normalize == NormalizeOver::Batch {
            // A rollout that is alone has no advantage: it takes no part in TRL's statistics.
            let alone = Alone::of(batch);
            let whole = Moments::of_rows(&scored_rows(&alone.batch(batch), out));
            let divisor = EpsAt::Std.divisor(whole.std(self.std), self.eps);
            rewrite(&alone.batch(batch), out, |value| divided(value - whole.mean, divisor))?;
        }
        Ok(report)
    }
}

impl GroupRule for Rloo {
    #[inline]
    fn quick(&self, rewards: &[f64], out: &mut [f64]) -> bool {
        let deviations = Deviations::of(rewards).filter(|_| self.clip.is_none());
        let Some(deviations) = deviations else { return false };
        deviations.write(rewards, out, others(rewards.len()));
        true
    }

    fn advantages(&self, group: ScoredGroup<'_>, out: &mut [f64]) {
        let (mean, factor) = match self.singleton {
            Singleton::Raw if group.is_one() => (0.0, 1.0),
            Singleton::Zero if group.is_one() => (group.mean(), 1.0),
            _ => (group.mean(), others(group.rewards.len())),
        };
        let clipped = |advantage| self.clip.map_or(advantage, |clip| clip.clipped(advantage));
        group.write(out, |reward| clipped((reward - mean) * factor));
    }
}

/// What turns a deviation from the mean of all into one from the mean of the others.
#[inline]
fn others(count: usize) -> f64 {
    float(count) / float(count - 1)
}

/// The rewards without those of rollouts that are alone in their group.
struct Alone(Vec<f64>);

impl Alone {
    fn of(batch: &RewardBatch<'_>) -> Self {
        let mut rewards = batch.rewards.to_vec();
        for group in batch.groups.iter() {
            let scored = |row: &usize| batch.rewards.get(*row).is_some_and(|r| !r.is_nan());
            if group.rows().filter(scored).count() == 1 {
                for row in group.rows() {
                    if let Some(reward) = rewards.get_mut(row) {
                        *reward = f64::NAN;
                    }
                }
            }
        }
        Self(rewards)
    }

    fn batch<'a>(&'a self, batch: &RewardBatch<'a>) -> RewardBatch<'a> {
        RewardBatch { rewards: &self.0, ..*batch }
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, rollouts};

    #[test]
    fn the_mean_of_the_others_is_taken_off() {
        let rewards = [1.0, 0.0, 0.0, 0.0, 2.0, 4.0, f64::NAN, f64::NAN];
        let third = 1.0 / 3.0;
        let expected = [1.0, -third, -third, -third, -2.0, 2.0, 0.0, 0.0];
        assert_close(&rollouts(r#"kind = "rloo""#, &rewards, 4), &expected);
        assert_eq!(rollouts(r#"kind = "rloo""#, &[5.0], 1), [0.0]);
        assert_eq!(rollouts("kind = \"rloo\"\nsingleton = \"raw\"", &[5.0], 1), [5.0]);
    }

    #[test]
    fn advantages_are_whitened_over_the_batch() {
        // Advantages 1, -1, 3, -3: mean 0, unbiased variance 20 / 3. The last group has one rollout.
        let config = "kind = \"rloo\"\nnormalize = \"batch\"\neps = 0";
        let std = (20.0_f64 / 3.0).sqrt();
        let values = rollouts(config, &[1.0, 0.0, 3.0, 0.0, 7.0, f64::NAN], 2);
        assert_close(&values, &[1.0 / std, -1.0 / std, 3.0 / std, -3.0 / std, 0.0, 0.0]);
    }
}
