//! `r3l`: retries after reflection, whose positive deviations are amplified.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use super::batch::{Advantages, Estimator, EstimatorState, RewardBatch};
use super::conventions::{EstimatorSettings, in_range, positive};
use super::per_group::collect;
use super::tokens;
use crate::error::TrainerError;

/// Reflect-then-retry: `A = 1` for a reward of 1 or more, else `s = r - mean` of the group, which is
/// multiplied by `alpha` where it is not negative. The mean of a group of one is 0.
///
/// Where `starts` are given, an advantage is one of tokens: those before the start, which a retry
/// shares with the first try, have 0 (pivotal credit).
///
/// Source: "R3L: Reflect-then-Retry Reinforcement Learning with Language-Guided Exploration, Pivotal
/// Credit, and Positive Amplification", as in its repository, `multi_step_grpo_advantage.py`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct R3l {
    /// What a deviation that is not negative is multiplied by.
    #[default(3.0)]
    pub alpha: f64,
    /// A reward of this or more is perfect.
    #[default(1.0)]
    pub perfect: f64,
}

impl EstimatorSettings for R3l {
    fn check(&self) -> Result<(), TrainerError> {
        positive("alpha", self.alpha)?;
        in_range("perfect", self.perfect, f64::MIN, f64::MAX)
    }
}

impl Estimator for R3l {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let (values, report) = collect(batch, &[], |group, out| {
            let mean = if group.is_one() { 0.0 } else { group.mean() };
            group.write(out, |reward| match reward - mean {
                _ if reward >= self.perfect => 1.0,
                deviation if deviation >= 0.0 => self.alpha * deviation,
                deviation => deviation,
            });
        })?;
        let values = tokens::credited(batch, "r3l", values)?;
        Ok(Advantages { values, report, state: EstimatorState::default() })
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens, rollouts, rows};

    #[test]
    fn positive_deviations_are_amplified() {
        let config = r#"kind = "r3l""#;
        assert_close(&rollouts(config, &[1.0, 0.0, 0.0, 0.0], 4), &[1.0, -0.25, -0.25, -0.25]);
        assert_close(&rollouts(config, &[0.8, 0.0, 0.0, 0.0], 4), &[1.8, -0.2, -0.2, -0.2]);
        assert_close(&rollouts(config, &[0.5, f64::NAN], 2), &[1.5, 0.0]);
    }

    #[test]
    fn the_shared_prefix_has_no_credit() {
        let tokens = of_tokens(estimated_with(r#"kind = "r3l""#, &[0.5, 0.0], 2, |mut batch| {
            batch.lengths = Some(&[3, 2]);
            batch.starts = Some(&[1, 5]);
            batch
        }));
        assert_eq!(tokens, rows(&[&[0.0, 0.75, 0.75], &[0.0, 0.0]]));
    }
}
