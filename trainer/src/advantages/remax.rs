//! `remax`: the reward of the greedy response as the baseline.

use super::per_group::collect;
use crate::advantages::prelude::*;

/// `ReMax`: `A = r - b`, where `b` is the reward of the greedy response to the prompt, given as
/// `values`, one for each rollout. Where `token_rewards` are given, `A_t` is the sum of the rewards
/// from the token on, less `b`.
///
/// Source: "`ReMax`: A Simple, Effective, and Efficient Reinforcement Learning Method for Aligning
/// Large Language Models"; verl 0.9.1 `compute_remax_outcome_advantage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReMax {}

impl EstimatorSettings for ReMax {}

impl Estimator for ReMax {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let baselines = batch.needed("remax", "values", batch.values)?;
        if let Some(row) = baselines.iter().position(|value| !value.is_finite()) {
            let have = format!("a number in row {row} that is not finite");
            return Err(TrainerError::input("values", have, "finite numbers"));
        }
        if batch.token_rewards.is_none() {
            let (values, report) = collect(batch, baselines, |group, out| {
                let each = group.rewards.iter().zip(group.beside);
                for (out, (reward, baseline)) in out.iter_mut().zip(each) {
                    *out = reward - baseline;
                }
            })?;
            return Ok(Advantages::of_rollouts(values, report));
        }
        let report = report(batch)?;
        let mask = tokens::trained(batch, "remax")?;
        let mut values = tokens::rewards(batch, batch.rewards, &mask)?;
        for (row, (baseline, reward)) in baselines.iter().zip(batch.rewards).enumerate() {
            let mut rest = 0.0;
            let baseline = if reward.is_nan() { 0.0 } else { *baseline };
            for (token, trained) in values.row_mut(row).iter_mut().zip(mask.row(row)).rev() {
                rest += if *trained { *token } else { 0.0 };
                *token = if *trained { rest - baseline } else { 0.0 };
            }
        }
        tokens::checked(batch, &values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts, of_tokens, rows};

    #[test]
    fn the_greedy_reward_is_taken_off() {
        let config = r#"kind = "remax""#;
        let values = of_rollouts(estimated_with(config, &[1.0, f64::NAN], 2, |mut batch| {
            batch.values = Some(&[0.25, 0.25]);
            batch
        }));
        assert_close(&values, &[0.75, 0.0]);
    }

    #[test]
    fn the_rewards_from_a_token_on_are_its_return() {
        let mask = Box::leak(Box::new(rows(&[&[true, false, true], &[true, true, true]])));
        let own = Box::leak(Box::new(rows(&[&[0.5, 9.0, -0.5], &[1.0, 1.0, 1.0]])));
        let tokens =
            of_tokens(estimated_with(r#"kind = "remax""#, &[1.0, f64::NAN], 2, |mut batch| {
                batch.values = Some(&[0.25, 0.25]);
                batch.mask = Some(mask);
                batch.token_rewards = Some(own);
                batch
            }));
        assert_eq!(tokens, rows(&[&[0.75, 0.0, 0.25], &[0.0, 0.0, 0.0]]));
    }
}
