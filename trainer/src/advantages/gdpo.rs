//! `gdpo`: each part of the reward normalised by itself, then their sum over the batch.

use super::batch::{GroupReport, RewardPart};
use super::conventions::{Singleton, Whiten};
use super::grpo::{Grpo, NormLevel};
use super::per_group::scored_rows;
use super::tokens::Whitening;
use crate::advantages::prelude::*;

/// Group reward-decoupled normalization: `z_k = (r_k - mean) / (std + eps)` over the group for each
/// part, `s = sum of w_k z_k`, and `s` whitened over the batch: over its rollouts, or over its tokens,
/// where long responses weigh more. Without parts, the reward is the one part.
///
/// A part that is missing adds 0; a rollout without any part, or without a reward, has the advantage
/// 0 and takes part in no statistic.
///
/// Source: "GDPO: Group reward-Decoupled Normalization Policy Optimization for Multi-reward RL
/// Optimization"; TRL 1.16.0 `normalize_then_sum`, verl 0.9.1
/// `compute_gdpo_outcome_advantage`, NeMo-RL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Gdpo {
    /// What the deviation of a part is divided by: that of its group, or nothing.
    pub scale: PartScale,
    /// Which standard deviation of a part.
    pub std: Std,
    /// Added to it.
    #[default(EPS)]
    pub eps: f64,
    /// The number of a part of a rollout that is alone in its group.
    pub singleton: Singleton,
    /// What the sums are whitened over.
    pub whiten: WhitenOver,
    /// Which standard deviation they are whitened with.
    pub whiten_std: Std,
    /// Keeps the divisor above 0.
    #[default(EPS)]
    pub whiten_eps: f64,
    /// Where it enters the divisor.
    pub whiten_eps_at: EpsAt,
    /// Added to the count of tokens in their mean and variance, as verl has it: above 0, returns that
    /// are all equal have small advantages in place of none.
    pub whiten_count_eps: f64,
}

/// What the deviation of a part is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartScale {
    /// The standard deviation of the part in the group.
    #[default]
    Group,
    /// Nothing.
    None,
}

/// What sums are whitened over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhitenOver {
    /// The rollouts of the batch.
    #[default]
    Rollouts,
    /// All tokens of the batch that are trained on; it needs `mask` or `lengths`.
    Tokens,
    /// Nothing: they are not whitened.
    None,
}

impl EstimatorSettings for Gdpo {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps", self.eps, 0.0..)?;
        within("whiten_count_eps", self.whiten_count_eps, 0.0..)?;
        within("whiten_eps", self.whiten_eps, 0.0..)
    }
}

impl Estimator for Gdpo {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        batch.groups.along("rewards", batch.rewards.len())?;
        let only = [RewardPart { name: "reward", weight: 1.0, rewards: batch.rewards }];
        let parts = if batch.parts.is_empty() { &only } else { batch.parts };
        let mut scored = batch.rewards.to_vec();
        for (row, reward) in scored.iter_mut().enumerate() {
            let has = |part: &RewardPart<'_>| part.rewards.get(row).is_some_and(|r| !r.is_nan());
            *reward = if parts.iter().any(has) { *reward } else { f64::NAN };
        }
        let scored = RewardBatch { rewards: &scored, ..*batch };
        let mut sums = self.sums(&scored, parts)?;
        let report = reported(&scored, parts)?;
        if self.whiten == WhitenOver::Tokens {
            return self.of_tokens(&scored, &sums, report);
        }
        if self.whiten == WhitenOver::Rollouts {
            let moments = Moments::of_rows(&scored_rows(&scored, &sums));
            let std = moments.std(self.whiten_std);
            let divisor = self.whiten_eps_at.divisor(std, self.whiten_eps);
            rewrite(&scored, &mut sums, |sum| divided(sum - moments.mean, divisor))?;
        }
        Ok(Advantages::of_rollouts(sums, report))
    }
}

impl Gdpo {
    /// The weighted sum of the normalised parts of each rollout.
    fn sums(
        &self,
        batch: &RewardBatch<'_>,
        parts: &[RewardPart<'_>],
    ) -> Result<Vec<f64>, TrainerError> {
        let grpo = Grpo {
            scale: match self.scale {
                PartScale::Group => NormLevel::Group,
                PartScale::None => NormLevel::None,
            },
            std: self.std.into(),
            eps: self.eps,
            singleton: self.singleton,
            ..Grpo::default()
        };
        let mut sums = vec![0.0; batch.rewards.len()];
        let mut normalized = vec![0.0; batch.rewards.len()];
        for part in parts {
            batch.groups.along(part.name, part.rewards.len())?;
            if !part.weight.is_finite() {
                let have = format!("a weight of {}", part.weight);
                return Err(TrainerError::input(part.name, have, "a finite weight"));
            }
            let rewards = part.rewards.iter().zip(batch.rewards);
            let rewards =
                rewards.map(|(part, reward)| if reward.is_nan() { f64::NAN } else { *part });
            let rewards: Vec<f64> = rewards.collect();
            grpo.estimate_into(&RewardBatch { rewards: &rewards, ..*batch }, &mut normalized)?;
            for (sum, normalized) in sums.iter_mut().zip(&normalized) {
                *sum += part.weight * normalized;
            }
        }
        rewrite(batch, &mut sums, |sum| sum)?;
        Ok(sums)
    }

    fn of_tokens(
        &self,
        batch: &RewardBatch<'_>,
        sums: &[f64],
        report: GroupReport,
    ) -> Result<Advantages, TrainerError> {
        let mask = tokens::trained(batch, "gdpo")?;
        let mut values = tokens::spread(sums, &mask);
        let whitening = Whitening {
            whiten: Whiten::Tokens,
            whiten_std: self.whiten_std,
            whiten_eps: self.whiten_eps,
            whiten_eps_at: self.whiten_eps_at,
            whiten_count_eps: self.whiten_count_eps,
        };
        whitening.apply(batch, &mask, &mut values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

/// A group is without variance where all of its parts are.
fn reported(
    batch: &RewardBatch<'_>,
    parts: &[RewardPart<'_>],
) -> Result<GroupReport, TrainerError> {
    let mut all = report(batch)?;
    let mut varied = 0;
    for group in batch.groups.iter() {
        let scored: Vec<usize> = group
            .rows()
            .filter(|row| batch.rewards.get(*row).is_some_and(|reward| !reward.is_nan()))
            .collect();
        let is_varied = |part: &RewardPart<'_>| {
            let mut rewards = scored.iter().filter_map(|row| part.rewards.get(*row));
            let first = rewards.find(|reward| !reward.is_nan());
            rewards.any(|reward| !reward.is_nan() && Some(reward) != first)
        };
        varied += usize::from(scored.len() > 1 && parts.iter().any(is_varied));
    }
    all.without_variance = all.groups - all.of_one - all.without_reward - varied;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::RewardPart;
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts, of_tokens};

    const NAN: f64 = f64::NAN;
    const PARTS: &[RewardPart<'static>] = &[
        RewardPart { name: "right", weight: 1.0, rewards: &[1.0, 0.0, 1.0, 0.0, NAN, NAN] },
        RewardPart { name: "short", weight: 0.5, rewards: &[0.0, 100.0, 100.0, NAN, 3.0, NAN] },
    ];

    #[test]
    fn parts_of_any_scale_weigh_as_their_weights_say() {
        // Biased deviations: 1, -1, 1, -1, none; -1, 1, none (one alone), none, none. With weights:
        // 0.5, -0.5, 1, -1, 0 and nothing; mean 0, squares 2.5.
        let config = |whiten: &str| format!("kind = \"gdpo\"\nstd = \"biased\"\neps = 0\n{whiten}");
        let rewards = &[0.5, 50.0, 51.0, 0.0, 1.5, NAN];
        let advantages = estimated_with(&config("whiten = \"none\""), rewards, 2, |mut batch| {
            batch.parts = PARTS;
            batch
        });
        let report = advantages.report;
        assert_eq!((report.groups, report.of_one, report.without_variance), (3, 1, 0));
        assert_close(&of_rollouts(advantages), &[0.5, -0.5, 1.0, -1.0, 0.0, 0.0]);
        let whitened = config("whiten_std = \"biased\"\nwhiten_eps = 0");
        let values = of_rollouts(estimated_with(&whitened, rewards, 2, |mut batch| {
            batch.parts = PARTS;
            batch
        }));
        let std = 0.5_f64.sqrt();
        assert_close(&values, &[0.5 / std, -0.5 / std, 1.0 / std, -1.0 / std, 0.0, 0.0]);
    }

    #[test]
    fn long_responses_weigh_more_over_tokens() {
        // Sums 1 and -1 over 3 tokens and 1: mean 0.5, unbiased variance 1.
        let config =
            "kind = \"gdpo\"\nstd = \"biased\"\neps = 0\nwhiten = \"tokens\"\nwhiten_eps = 0";
        let values = of_tokens(estimated_with(config, &[7.0, 5.0], 2, |mut batch| {
            batch.lengths = Some(&[3, 1]);
            batch
        }));
        assert_close(values.values(), &[0.5, 0.5, 0.5, -1.5]);
    }
}
