//! `opo`: a baseline that weighs rewards by the lengths of the responses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, Singleton};
use super::per_group::{ScoredGroup, collect};
use crate::statistics::{self, sum_by};
use super::tokens;
use crate::error::TrainerError;

/// On-policy RL with optimal baseline: `A = r - sum(n_j r_j) / sum(n_j)` over the rollouts of a
/// prompt, where `n_j` tokens of a response are trained on. It needs `mask` or `lengths`. Where no
/// response of a group has a token, the baseline is the plain mean.
///
/// Source: "On-Policy RL with Optimal Reward Baseline"; verl 0.9.1
/// `compute_opo_outcome_advantage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Opo {
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
}

impl EstimatorSettings for Opo {}

impl Estimator for Opo {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let lengths = tokens::lengths(batch, "opo")?;
        let (values, report) = collect(batch, &lengths, |group, out| {
            let baseline = match self.singleton {
                Singleton::Raw if group.is_one() => 0.0,
                _ => baseline(&group),
            };
            group.write(out, |reward| reward - baseline);
        })?;
        Ok(Advantages::of_rollouts(values, report))
    }
}

fn baseline(group: &ScoredGroup<'_>) -> f64 {
    let tokens = sum_by(group.beside, |length| length);
    if group.is_constant || tokens == 0.0 {
        return group.mean();
    }
    // Shares in place of sums: they stay within the range of the rewards.
    let weighed: Vec<f64> = group
        .rewards
        .iter()
        .zip(group.beside)
        .map(|(reward, length)| reward * (length / tokens))
        .collect();
    statistics::sum_by(&weighed, |reward| reward)
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts, rows};

    #[test]
    fn long_responses_weigh_more() {
        let rewards = [1.0, 0.0, 4.0, f64::NAN, 0.1, 0.1];
        let lengths = [30, 10, 8, 0, 1, 6];
        let values = |config: &str| {
            of_rollouts(estimated_with(config, &rewards, 2, |mut batch| {
                batch.lengths = Some(&[30, 10, 8, 0, 1, 6]);
                batch
            }))
        };
        assert_eq!(lengths.len(), rewards.len());
        assert_close(&values(r#"kind = "opo""#), &[0.25, -0.75, 0.0, 0.0, 0.0, 0.0]);
        assert_close(
            &values("kind = \"opo\"\nsingleton = \"raw\""),
            &[0.25, -0.75, 4.0, 0.0, 0.0, 0.0],
        );
    }

    #[test]
    fn tokens_that_are_not_trained_on_do_not_count() {
        let mask = Box::leak(Box::new(rows(&[&[true, false, true, true], &[true, false]])));
        let values = of_rollouts(estimated_with(r#"kind = "opo""#, &[1.0, 0.0], 2, |mut batch| {
            batch.mask = Some(mask);
            batch
        }));
        assert_close(&values, &[0.25, -0.75]);
    }
}
