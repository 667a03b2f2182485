//! `grpo_mr`: advantages of trajectories, and of steps among those with the same tag.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EstimatorSettings, in_range};
use super::grpo::{Grpo, NormLevel};
use super::{steps, tokens};
use crate::error::TrainerError;

/// GRPO with meta-reasoning rewards: `A = alpha T + (1 - alpha) S`, where `T` is the reward of the
/// trajectory normalised in its group, and `S` that of the step normalised over all steps of the batch
/// with the same tag (planning, reflection, and so on). A tag with one step, or with equal rewards, has
/// `S = 0`. It needs `steps`, `step_tags`, and `mask` or `lengths`; tokens of no step have `S = 0`.
///
/// Source: "RLVMR: Reinforcement Learning with Verifiable Meta-Reasoning Rewards for Robust
/// Long-Horizon Agents".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct GrpoMr {
    /// The weight of the trajectory, 0 to 1.
    #[default(0.5)]
    pub alpha: f64,
    /// How rewards are normalised, those of steps too: settings of `grpo`.
    pub group: Grpo,
}

impl EstimatorSettings for GrpoMr {
    fn check(&self) -> Result<(), TrainerError> {
        in_range("alpha", self.alpha, 0.0, 1.0)?;
        if self.group.scale != NormLevel::Group {
            let message =
                "`group.scale` is not \"group\": a step is divided by the deviation of its tag";
            return Err(TrainerError::setting("group.scale", message));
        }
        self.group.check()
    }
}

impl Estimator for GrpoMr {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let mut outcome = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut outcome)?;
        let given = batch.needed_rows("grpo_mr", "steps", batch.steps)?;
        let tags = batch.needed_rows("grpo_mr", "step tags", batch.step_tags)?;
        if !given.is_along(tags) {
            let have = format!("{} tags", tags.values().len());
            let expected = format!("one for each of {} steps", given.values().len());
            return Err(TrainerError::input("step tags", have, expected));
        }
        let mask = tokens::trained(batch, "grpo_mr")?;
        tokens::ordered_steps(&mask, given)?;
        let class = |row: usize, at: usize| tags.row(row).get(at);
        let divisor = |moments: &_| Some(self.group.divisor(moments));
        let of_steps = steps::normalized(batch, given, class, divisor);
        let of_steps = tokens::spread_steps(&mask, given, &of_steps);
        let mut values = tokens::spread(&outcome, &mask);
        for (value, step) in values.values_mut().iter_mut().zip(of_steps.values()) {
            *value = self.alpha * *value + (1.0 - self.alpha) * step;
        }
        tokens::checked(batch, &values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::StepReward;
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens};

    #[test]
    fn a_step_is_compared_with_those_of_its_tag() {
        let step = |end: usize, reward: f64| StepReward::new(end, reward);
        // Tag "plan": 1, 0 and 1 (mean 2/3, biased variance 2/9); tag "act": one step alone.
        let steps = [vec![step(1, 1.0), step(2, 5.0)], vec![step(1, 0.0), step(2, 1.0)]];
        let tags = [vec!["plan".to_owned(), "act".to_owned()], vec!["plan".to_owned(); 2]];
        let steps = Box::leak(Box::new(steps.into_iter().collect()));
        let tags = Box::leak(Box::new(tags.into_iter().collect()));
        let config = "kind = \"grpo_mr\"\ngroup = { std = \"biased\", eps = 0 }";
        let values = of_tokens(estimated_with(config, &[1.0, 0.0], 2, |mut batch| {
            batch.lengths = Some(&[3, 2]);
            batch.steps = Some(steps);
            batch.step_tags = Some(tags);
            batch
        }));
        let std = (2.0_f64 / 9.0).sqrt();
        let (high, low) = (1.0 / 3.0 / std, -2.0 / 3.0 / std);
        let expected = [0.5 + 0.5 * high, 0.5, 0.5, -0.5 + 0.5 * low, -0.5 + 0.5 * high];
        assert_close(values.values(), &expected);
    }
}
