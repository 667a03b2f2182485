//! `pf_ppo`: rollouts drawn anew by their rewards.

use crate::selection::draws::Draws;
use crate::selection::prelude::*;

/// Draws a batch of the same size from the batch, with replacement and a probability by reward
/// (Policy Filtration for RLHF to Mitigate Noise in Reward Models; `core_algos.py`,
/// `compute_pf_ppo_reweight_data` of verl 0.9).
///
/// A rollout that is drawn more than once counts as often.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct RewardResampling {
    /// How a reward becomes a weight.
    method: ResamplingWeight,
    /// The power of the size of a reward, for `method = "pow"`.
    #[default(2.0)]
    power: f64,
}

/// How a reward becomes a weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResamplingWeight {
    /// The size of the reward to a power.
    #[default]
    Pow,
    /// 1 for the greatest and the least reward of the batch, 0 for the others.
    MaxMin,
    /// 0.4 for the greatest reward of the batch, 0.1 for the others.
    MaxRandom,
}

/// Added to every weight, so that a batch of zeros can be drawn from.
const FLOOR: f64 = 1e-8;

impl SelectorSettings for RewardResampling {
    fn check(&self) -> Result<(), TrainerError> {
        within("power", self.power, 0.0..)
    }
}

impl Selector for RewardResampling {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let after = SelectionState { steps: state.steps + 1, ..state.next() };
        let scored: Vec<(usize, f64)> =
            (0..batch.rows()).filter_map(|row| Some((row, batch.reward(row)?))).collect();
        let greatest = scored.iter().map(|(_, reward)| *reward).fold(f64::NEG_INFINITY, f64::max);
        let least = scored.iter().map(|(_, reward)| *reward).fold(f64::INFINITY, f64::min);
        let names: Vec<String> =
            scored.iter().map(|(row, _)| batch.id(*row, after.batches).into_owned()).collect();
        let weights = scored.iter().map(|(_, reward)| self.weight(*reward, least, greatest));
        let items: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(weights).collect();
        let counts = Draws::new(&after, "pf_ppo").with_replacement(&items, scored.len());
        let mut fates = Fates::new(batch);
        for ((row, _), count) in scored.iter().zip(counts) {
            match count {
                0 => fates.drop(*row, DropReason::NotDrawn),
                count => fates.weigh(*row, stats::float(count)),
            }
        }
        Ok(fates.selection(after))
    }
}

impl RewardResampling {
    fn weight(&self, reward: f64, least: f64, greatest: f64) -> f64 {
        let is_greatest = reward >= greatest;
        let weight = match self.method {
            ResamplingWeight::Pow => reward.abs().powf(self.power),
            ResamplingWeight::MaxMin if is_greatest || reward <= least => 1.0,
            ResamplingWeight::MaxMin => 0.0,
            ResamplingWeight::MaxRandom if is_greatest => 0.4,
            ResamplingWeight::MaxRandom => 0.1,
        };
        weight + FLOOR
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::selection::testing::{Columns, built, refused};

    /// How often each of four rollouts is drawn, as a share of all draws of many batches.
    fn shares(settings: Value, rewards: &[f64]) -> Vec<f64> {
        let selector = built("pf_ppo", settings);
        let columns = Columns::new(rewards.len(), rewards);
        let mut counts = vec![0.0; rewards.len()];
        for seed in 0..2000 {
            let chosen = columns.select(&*selector, &SelectionState::seeded(seed));
            let scored = rewards.iter().filter(|reward| !reward.is_nan()).count();
            assert!((chosen.size() - stats::float(scored)).abs() < 1e-9);
            for kept in &chosen.kept {
                counts[kept.row] += kept.weight / stats::float(scored) / 2000.0;
            }
        }
        counts
    }

    #[test]
    fn rollouts_are_drawn_by_their_rewards() {
        let rewards = [1.0, -2.0, 0.0, f64::NAN];
        for (settings, expected) in [
            (json!({}), [0.2, 0.8, 0.0, 0.0]),
            (json!({"power": 1.0}), [1.0 / 3.0, 2.0 / 3.0, 0.0, 0.0]),
            (json!({"method": "max_min"}), [0.5, 0.5, 0.0, 0.0]),
            (json!({"method": "max_random"}), [4.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.0]),
        ] {
            let shares = shares(settings.clone(), &rewards);
            for (share, expected) in shares.iter().zip(expected) {
                assert!((share - expected).abs() < 0.03, "{settings}: {shares:?}");
            }
        }
        let zeros = shares(json!({}), &[0.0, 0.0]);
        assert!((zeros[0] - 0.5).abs() < 0.03, "{zeros:?}");
        assert!(refused("pf_ppo", json!({"power": -1.0})).contains("0 or more"));
    }
}
