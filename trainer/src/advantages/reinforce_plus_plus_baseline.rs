//! `reinforce_plus_plus_baseline`: the deviation from the mean of the group, whitened over all tokens.

use super::grpo::{Grpo, NormLevel};
use super::tokens::{MaskedTokens, Whitening};
use crate::advantages::prelude::*;

/// REINFORCE++ with a baseline: `r - mean` of the group stands at the last token of a rollout, and all
/// returns of the batch are whitened together. `token_rewards`, such as a penalty for the divergence,
/// are added after the baseline. It needs `mask`, `lengths` or `token_rewards`.
///
/// Source: "REINFORCE++: An Efficient RLHF Algorithm with Robustness to Both Prompt and Reward
/// Models"; verl 0.9.1 `compute_reinforce_plus_plus_baseline_outcome_advantage`, `OpenRLHF` 0.11.2
/// `reinforce_baseline`, and with other settings of `group` its `group_norm` with a penalty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ReinforcePlusPlusBaseline {
    /// How the reward of a rollout relates to its group: settings of `grpo`, with `scale = "none"`
    /// where the table is not given.
    #[default(Grpo { scale: NormLevel::None, ..Grpo::default() })]
    pub group: Grpo,
    /// The discount of a token, 0 to 1.
    #[default(1.0)]
    pub gamma: f64,
    /// What a token that is not trained on does to the returns before it.
    pub masked: MaskedTokens,
    /// How returns are whitened.
    #[serde(flatten)]
    pub whitening: Whitening,
}

impl EstimatorSettings for ReinforcePlusPlusBaseline {
    fn check(&self) -> Result<(), TrainerError> {
        self.group.check()?;
        within("gamma", self.gamma, 0.0..=1.0)?;
        self.whitening.check()
    }
}

impl Estimator for ReinforcePlusPlusBaseline {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let mut outcome = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut outcome)?;
        let mask = tokens::trained(batch, "reinforce_plus_plus_baseline")?;
        let rewards = tokens::rewards(batch, &outcome, &mask)?;
        let mut returns = tokens::returns(rewards, &mask, self.gamma, self.masked);
        self.whitening.apply(batch, &mask, &mut returns)?;
        Ok(Advantages::of_tokens(returns, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens};

    fn values(settings: &str, rewards: &'static [f64]) -> Vec<f64> {
        let config = format!("kind = \"reinforce_plus_plus_baseline\"\n{settings}");
        let tokens = of_tokens(estimated_with(&config, rewards, 2, |mut batch| {
            batch.lengths = Some(&[3, 1, 2, 2]);
            batch
        }));
        tokens.values().to_vec()
    }

    #[test]
    fn deviations_are_whitened_over_all_tokens() {
        // Deviations 1, -1 and twice 0 over 3, 1, 2 and 2 tokens: mean 0.25, biased variance
        // (4 - 8 / 16) / 8 = 0.4375, unbiased 0.5.
        let expected = [0.75, 0.75, 0.75, -1.25, -0.25, -0.25, -0.25, -0.25];
        let rewards = &[2.0, 0.0, 0.1, 0.1];
        let std = (0.5_f64 + 1e-8).sqrt();
        assert_close(&values("", rewards), &expected.map(|deviation| deviation / std));
        let biased = "whiten_std = \"biased\"\nwhiten_eps_at = \"variance_floor\"";
        assert_close(&values(biased, rewards), &expected.map(|d| d / 0.4375_f64.sqrt()));
    }

    #[test]
    fn the_group_has_settings_of_its_own() {
        let settings =
            "whiten = \"none\"\ngroup = { scale = \"group\", std = \"biased\", eps = 1 }";
        let expected = [0.5, 0.5, 0.5, -0.5, 0.0, 0.0, 0.0, 0.0];
        assert_close(&values(settings, &[2.0, 0.0, 7.0, f64::NAN]), &expected);
        let raw = "whiten = \"none\"\ngroup = { scale = \"none\", singleton = \"raw\" }";
        let expected = [1.0, 1.0, 1.0, -1.0, 7.0, 7.0, 0.0, 0.0];
        assert_close(&values(raw, &[2.0, 0.0, 7.0, f64::NAN]), &expected);
    }
}
