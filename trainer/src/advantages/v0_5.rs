//! `v0.5`: a baseline between a predicted value and the mean of few rollouts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, in_range};
use super::per_group::collect;
use crate::statistics::float;
use crate::error::TrainerError;

/// A generalist value model as the prior of sparse rollouts. For `n` rollouts with mean `m` and a
/// predicted value `v`: `s2 = max(m (1 - m) / n, 0.25 / (n (n + 1)))`,
/// `bias2 = max(0, (m - v)^2 - s2)`, `w = s2 / (s2 + bias2)` and `A = r - (w v + (1 - w) m)`.
/// Rewards are in 0 to 1; it needs `values`, one for each rollout, and a value that is NaN leaves the
/// mean alone. [`V05::next_rollouts`] says whether more rollouts are worth their price.
///
/// Source: "`V_0.5`: Generalist Value Model as a Prior for Sparse RL Rollouts" for the structure
/// (shrinkage with the positive part, one step of look-ahead); the formulas are reconstructed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct V05 {
    /// The drop in the squared error of the baseline that one more batch of rollouts must bring.
    pub cost: f64,
    /// Rollouts that are taken at first.
    pub start: usize,
    /// Rollouts that are taken at once after that.
    pub step: usize,
    /// No more rollouts than this.
    pub rollouts_max: usize,
}

impl Default for V05 {
    fn default() -> Self {
        Self { cost: 0.005, start: 4, step: 2, rollouts_max: 16 }
    }
}

impl EstimatorSettings for V05 {
    fn check(&self) -> Result<(), TrainerError> {
        in_range("cost", self.cost, 0.0, f64::MAX)?;
        for (setting, value) in [("start", self.start), ("step", self.step)] {
            if value == 0 {
                let message = format!("`{setting}` is 0, expected 1 or more");
                return Err(TrainerError::setting(setting, message));
            }
        }
        Ok(())
    }
}

impl Estimator for V05 {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let values = batch.needed("v0.5", "values", batch.values)?;
        let (advantages, report) = collect(batch, values, |group, out| {
            let (mean, count) = (group.mean(), group.rewards.len());
            let each = group.rewards.iter().zip(group.beside);
            for (out, (reward, value)) in out.iter_mut().zip(each) {
                *out = reward - baseline(*value, mean, count);
            }
        })?;
        Ok(Advantages::of_rollouts(advantages, report))
    }
}

impl V05 {
    /// How many rollouts to take next of a prompt with a predicted value, after rewards in 0 to 1: 0
    /// where what they would take off the squared error of the baseline is not above the cost.
    pub fn next_rollouts(&self, value: f64, rewards: &[f64]) -> usize {
        let scored: Vec<f64> = rewards.iter().copied().filter(|reward| !reward.is_nan()).collect();
        let room = self.rollouts_max.saturating_sub(scored.len());
        if scored.len() < self.start {
            return room.min(self.start - scored.len());
        }
        let mean = crate::statistics::mean(&scored);
        let (noise, bias) = errors(value, mean, scored.len());
        let next = room.min(self.step);
        let then = variance(mean, scored.len() + next);
        let drop = shrunk(noise, bias) - shrunk(then, bias);
        if drop > self.cost { next } else { 0 }
    }
}

/// `w v + (1 - w) m`.
fn baseline(value: f64, mean: f64, count: usize) -> f64 {
    if value.is_nan() {
        return mean;
    }
    let (noise, bias) = errors(value, mean, count);
    let weight = if noise + bias > 0.0 { noise / (noise + bias) } else { 1.0 };
    mean + weight * (value - mean)
}

/// The variance of the mean, and the squared bias of the value that shows above it.
fn errors(value: f64, mean: f64, count: usize) -> (f64, f64) {
    let noise = variance(mean, count);
    (noise, ((mean - value) * (mean - value) - noise).max(0.0))
}

/// The variance of the mean of `count` rewards in 0 to 1, with a floor for rewards that are all equal.
fn variance(mean: f64, count: usize) -> f64 {
    let count = float(count);
    (mean * (1.0 - mean) / count).max(0.25 / (count * (count + 1.0)))
}

/// The squared error of the baseline.
fn shrunk(noise: f64, bias: f64) -> f64 {
    if noise + bias > 0.0 { noise * bias / (noise + bias) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::V05;
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts};

    #[test]
    fn a_value_within_the_noise_is_the_baseline() {
        // m = 0.5, s2 = 0.0625; (0.5 - 0.7)^2 = 0.04 is below it, so that w is 1. With v = 1, bias2 is
        // 0.1875, w is 0.25 and the baseline 0.625. All rewards 1: s2 = 0.25 / 20 = 0.0125.
        let rewards = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let values = of_rollouts(estimated_with(r#"kind = "v0.5""#, &rewards, 4, |mut batch| {
            batch.values = Some(&[0.7, 0.7, 0.7, 0.7, 1.0, 1.0, 1.0, f64::NAN, 1.0, 0.5, 0.5, 0.5]);
            batch
        }));
        assert_close(&values[..4], &[0.3, -0.7, 0.3, -0.7]);
        assert_close(&values[4..8], &[0.375, -0.625, 0.375, -0.5]);
        // (1 - 0.5)^2 - 0.0125 = 0.2375, w = 0.05, baseline 0.975.
        assert_close(&values[8..], &[0.0, 0.025, 0.025, 0.025]);
    }

    #[test]
    fn rollouts_are_added_while_they_are_worth_it() {
        let settings = V05 { cost: 0.01, ..V05::default() };
        assert_eq!(settings.next_rollouts(0.5, &[1.0]), 3);
        // s2 = 0.0625, bias2 = 0.1875: 0.046875; six rollouts: s2 = 0.041667: 0.034091.
        assert_eq!(settings.next_rollouts(1.0, &[1.0, 0.0, 1.0, 0.0]), 2);
        assert_eq!(
            V05 { cost: 0.013, ..settings.clone() }.next_rollouts(1.0, &[1.0, 0.0, 1.0, 0.0]),
            0
        );
        assert_eq!(settings.next_rollouts(0.5, &[1.0, 0.0, 1.0, 0.0]), 0);
        assert_eq!(settings.next_rollouts(1.0, &[0.0; 16]), 0);
    }
}
