//! `spark`: advantages that agree with the verdicts on steps.

use assay_verifiers::Reward;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use super::batch::{Advantages, Estimator, RewardBatch, StepReward};
use super::conventions::{EstimatorSettings, in_range};
use super::grpo::{Grpo, NormLevel};
use super::{steps, tokens};
use crate::error::TrainerError;

/// Stepwise process-aware rewards: a step has a verdict, and tokens of a step
/// - `selective`: keep the advantage of the rollout where its sign agrees with the verdict (`A >= 0`
///   with a right step, `A < 0` with a wrong one), and have 0 otherwise;
/// - `mix`: have `0.8 A + 0.2 S`, where `S` is the verdict normalised over all steps of the group.
///
/// Tokens of no step, or of one without a verdict, keep `A`, in a mix times its weight. It needs
/// `steps`, and `mask` or `lengths`.
///
/// Source: "SPARK: Stepwise Process-Aware Rewards for Reference-Free Reinforcement Learning".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct SparkAdvantage {
    /// How verdicts enter.
    pub mode: SparkMode,
    /// A step with this reward or more is right.
    #[default(Reward::RIGHT)]
    pub threshold: f64,
    /// The weight of the advantage of the rollout in a mix.
    #[default(0.8)]
    pub rollout_weight: f64,
    /// The weight of that of the step in a mix.
    #[default(0.2)]
    pub step_weight: f64,
    /// How rewards relate to their group: settings of `grpo`.
    pub group: Grpo,
}

/// How verdicts on steps enter advantages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SparkMode {
    /// Advantages that contradict the verdict are left out.
    #[default]
    Selective,
    /// The normalised verdict is added.
    Mix,
}

impl EstimatorSettings for SparkAdvantage {
    fn check(&self) -> Result<(), TrainerError> {
        in_range("threshold", self.threshold, f64::MIN, f64::MAX)?;
        in_range("rollout_weight", self.rollout_weight, f64::MIN, f64::MAX)?;
        in_range("step_weight", self.step_weight, f64::MIN, f64::MAX)?;
        if self.group.scale == NormLevel::Batch {
            let message = "`group.scale` is \"batch\": the steps are normalised in their group";
            return Err(TrainerError::setting("group.scale", message));
        }
        self.group.check()
    }
}

impl Estimator for SparkAdvantage {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let mut outcome = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut outcome)?;
        let given = batch.needed_rows("spark", "steps", batch.steps)?;
        let mask = tokens::trained(batch, "spark")?;
        tokens::ordered_steps(&mask, given)?;
        let mut values = tokens::spread(&outcome, &mask);
        if self.mode == SparkMode::Mix {
            let groups = steps::group_of_rows(batch);
            let class = |row: usize, _| groups.get(row).copied();
            let verdicts =
                steps::normalized(batch, given, class, |moments| Some(self.group.divisor(moments)));
            let verdicts = tokens::spread_steps(&mask, given, &verdicts);
            for (value, verdict) in values.values_mut().iter_mut().zip(verdicts.values()) {
                *value = self.rollout_weight * *value + self.step_weight * verdict;
            }
            tokens::checked(batch, &values)?;
            return Ok(Advantages::of_tokens(values, report));
        }
        for (row, given) in given.iter().enumerate() {
            for (step, span) in given.iter().zip(StepReward::spans(given)) {
                let is_right = step.reward >= self.threshold;
                #[expect(clippy::indexing_slicing, reason = "steps are within their row")]
                let span = &mut values.row_mut(row)[span];
                if !step.reward.is_nan() {
                    span.iter_mut().filter(|a| (**a >= 0.0) != is_right).for_each(|a| *a = 0.0);
                }
            }
        }
        Ok(Advantages::of_tokens(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::StepReward;
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens};

    fn values(settings: &str) -> Vec<f64> {
        let step = |end: usize, reward: f64| StepReward::new(end, reward);
        // Verdicts right, wrong and none on each of a right and a wrong rollout.
        let verdicts = vec![step(1, 1.0), step(2, 0.0), step(3, f64::NAN)];
        let steps = Box::leak(Box::new([verdicts.clone(), verdicts].into_iter().collect()));
        let config =
            format!("kind = \"spark\"\ngroup = {{ std = \"biased\", eps = 0 }}\n{settings}");
        let tokens = of_tokens(estimated_with(&config, &[1.0, 0.0], 2, |mut batch| {
            batch.lengths = Some(&[4, 4]);
            batch.steps = Some(steps);
            batch
        }));
        tokens.values().to_vec()
    }

    #[test]
    fn what_contradicts_the_verdict_is_left_out() {
        assert_close(&values(""), &[1.0, 0.0, 1.0, 1.0, 0.0, -1.0, -1.0, -1.0]);
    }

    #[test]
    fn verdicts_are_mixed_in() {
        assert_close(&values("mode = \"mix\""), &[1.0, 0.6, 0.8, 0.8, -0.6, -1.0, -0.8, -0.8]);
    }
}
