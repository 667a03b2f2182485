//! `reinforce_plus_plus`: the return of each token, whitened over the batch.

use super::conventions::ClipRange;
use super::tokens::{MaskedTokens, Whitening};
use crate::advantages::prelude::*;

/// REINFORCE++: the return of a token is `G_t = r_t + gamma G_(t+1)`, where the reward of the rollout
/// stands at its last token and `token_rewards`, such as a penalty for the divergence, are added. All
/// returns of the batch are whitened together. It needs `mask`, `lengths` or `token_rewards`.
///
/// Source: "REINFORCE++: An Efficient RLHF Algorithm with Robustness to Both Prompt and Reward
/// Models"; verl 0.9.1 `compute_reinforce_plus_plus_outcome_advantage`, `OpenRLHF` 0.11.2
/// `reinforce`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ReinforcePlusPlus {
    /// The discount of a token, 0 to 1.
    #[default(1.0)]
    pub gamma: f64,
    /// What a token that is not trained on does to the returns before it.
    pub masked: MaskedTokens,
    /// How returns are whitened.
    #[serde(flatten)]
    pub whitening: Whitening,
    /// The least and the greatest reward of a rollout.
    pub clip: Option<ClipRange>,
}

impl EstimatorSettings for ReinforcePlusPlus {
    fn check(&self) -> Result<(), TrainerError> {
        within("gamma", self.gamma, 0.0..=1.0)?;
        self.whitening.check()?;
        ClipRange::check(self.clip)
    }
}

impl Estimator for ReinforcePlusPlus {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let mask = tokens::trained(batch, "reinforce_plus_plus")?;
        let clipped = |reward: &f64| self.clip.map_or(*reward, |clip| clip.clipped(*reward));
        let outcome: Vec<f64> = batch.rewards.iter().map(clipped).collect();
        let rewards = tokens::rewards(batch, &outcome, &mask)?;
        let mut returns = tokens::returns(rewards, &mask, self.gamma, self.masked);
        self.whitening.apply(batch, &mask, &mut returns)?;
        Ok(Advantages::of_tokens(returns, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens, rows};

    #[test]
    fn returns_are_whitened_over_all_tokens() {
        // Returns 1, 1, 1 and -1: mean 0.5, squares 3, unbiased variance 1, biased 0.75.
        let values = |settings: &str, rewards: &'static [f64]| {
            let config = format!("kind = \"reinforce_plus_plus\"\n{settings}");
            of_tokens(estimated_with(&config, rewards, 1, |mut batch| {
                batch.lengths = Some(&[3, 1, 2]);
                batch
            }))
        };
        let rewards = &[1.0, -1.0, f64::NAN];
        let half = 0.5 / (1.0_f64 + 1e-8).sqrt();
        assert_close(values("", rewards).values(), &[half, half, half, -3.0 * half, 0.0, 0.0]);
        let biased = "whiten_std = \"biased\"\nwhiten_eps_at = \"variance_floor\"";
        let half = 0.5 / 0.75_f64.sqrt();
        assert_close(values(biased, rewards).values(), &[half, half, half, -3.0 * half, 0.0, 0.0]);
        assert_close(
            values("whiten = \"center\"", rewards).values(),
            &[0.5, 0.5, 0.5, -1.5, 0.0, 0.0],
        );
        let clipped = values("whiten = \"none\"\nclip = [0, 0.5]", rewards);
        assert_close(clipped.values(), &[0.5, 0.5, 0.5, 0.0, 0.0, 0.0]);
        assert_close(values("", &[0.1, 0.1, 0.1]).values(), &[0.0; 6]);
    }

    #[test]
    fn a_token_that_is_not_trained_on_is_skipped_or_discounts() {
        let mask = Box::leak(Box::new(rows(&[&[true, false, true, false]])));
        let own = Box::leak(Box::new(rows(&[&[0.25, 9.0, 0.0, 9.0]])));
        let values = |masked: &str| {
            let config = format!(
                "kind = \"reinforce_plus_plus\"\ngamma = 0.5\nwhiten = \"none\"\nmasked = \"{masked}\""
            );
            of_tokens(estimated_with(&config, &[1.0], 1, |mut batch| {
                batch.mask = Some(mask);
                batch.token_rewards = Some(own);
                batch
            }))
        };
        assert_close(values("skip").values(), &[0.75, 0.0, 1.0, 0.0]);
        assert_close(values("discount").values(), &[0.5, 0.0, 1.0, 0.0]);
    }
}
