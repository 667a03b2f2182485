//! `gae`: generalised advantage estimation with the values of a critic.

use super::tokens::{MaskedTokens, Whitening};
use crate::advantages::prelude::*;

/// Generalised advantage estimation: `A_t = d_t + gamma lambda A_(t+1)` with
/// `d_t = r_t + gamma V_(t+1) - V_t`, where the reward of the rollout stands at its last token and
/// `token_rewards` are added; then whitened over all tokens of the batch. It needs `token_values`, and
/// `mask` or `lengths`. The returns that a critic is trained on are `A_t + V_t` before the whitening,
/// see [`Gae::returns`].
///
/// Source: "High-Dimensional Continuous Control Using Generalized Advantage Estimation", section 3;
/// verl 0.9.1 `compute_gae_advantage_return`, `OpenRLHF` 0.11.2 `get_advantages_and_returns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Gae {
    /// The discount of a token, 0 to 1.
    #[default(1.0)]
    pub gamma: f64,
    /// How far an advantage looks ahead, 0 to 1.
    #[default(1.0)]
    pub lambda: f64,
    /// What a token that is not trained on does to the advantages before it; one that discounts has
    /// the value 0.
    pub masked: MaskedTokens,
    /// How advantages are whitened.
    #[serde(flatten)]
    pub whitening: Whitening,
}

impl EstimatorSettings for Gae {
    fn check(&self) -> Result<(), TrainerError> {
        within("gamma", self.gamma, 0.0..=1.0)?;
        within("lambda", self.lambda, 0.0..=1.0)?;
        self.whitening.check()
    }
}

impl Estimator for Gae {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let mask = tokens::trained(batch, "gae")?;
        let mut values = self.unwhitened(batch, &mask)?;
        self.whitening.apply(batch, &mask, &mut values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

impl Gae {
    /// What the critic is trained on: `A_t + V_t` at each token that is trained on, 0 at others.
    ///
    /// # Errors
    /// Those of the estimate.
    pub fn returns(&self, batch: &RewardBatch<'_>) -> Result<Ragged<f64>, TrainerError> {
        let mask = tokens::trained(batch, "gae")?;
        let mut returns = self.unwhitened(batch, &mask)?;
        let values = batch.needed_rows("gae", "token values", batch.token_values)?;
        for row in 0..mask.rows() {
            let both = returns.row_mut(row).iter_mut().zip(values.row(row));
            for ((token, value), trained) in both.zip(mask.row(row)) {
                *token += if *trained { *value } else { 0.0 };
            }
        }
        Ok(returns)
    }

    fn unwhitened(
        &self,
        batch: &RewardBatch<'_>,
        mask: &Ragged<bool>,
    ) -> Result<Ragged<f64>, TrainerError> {
        let values = batch.needed_rows("gae", "token values", batch.token_values)?;
        tokens::along(mask, "token values", values)?;
        tokens::finite("token values", mask, values)?;
        let mut tokens = tokens::rewards(batch, batch.rewards, mask)?;
        for row in 0..mask.rows() {
            let (mut next_value, mut next) = (0.0, 0.0);
            let token = tokens.row_mut(row).iter_mut().zip(mask.row(row)).zip(values.row(row));
            for ((token, trained), value) in token.rev() {
                let (reward, value) = if *trained { (*token, *value) } else { (0.0, 0.0) };
                if *trained || self.masked == MaskedTokens::Discount {
                    let delta = reward + self.gamma * next_value - value;
                    next = delta + self.gamma * self.lambda * next;
                    next_value = value;
                }
                *token = if *trained { next } else { 0.0 };
            }
        }
        Ok(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::Gae;
    use crate::Groups;
    use crate::advantages::batch::RewardBatch;
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens, rows};

    #[test]
    fn errors_of_the_critic_are_passed_back() {
        // d = 0.5 * 2 - 1 = 0 and 1 - 2 = -1; A = 0 + 0.25 * -1 and -1. Skipped tokens change nothing.
        let mask = Box::leak(Box::new(rows(&[&[true, false, true, false]])));
        let critic = Box::leak(Box::new(rows(&[&[1.0, 9.0, 2.0, 9.0]])));
        let values = |masked: &str| {
            let config = format!(
                "kind = \"gae\"\ngamma = 0.5\nlambda = 0.5\nwhiten = \"none\"\nmasked = \"{masked}\""
            );
            of_tokens(estimated_with(&config, &[1.0], 1, |mut batch| {
                batch.mask = Some(mask);
                batch.token_values = Some(critic);
                batch
            }))
        };
        assert_close(values("skip").values(), &[-0.25, 0.0, -1.0, 0.0]);
        // The value of a masked token is 0: d = -1, 1, -1, 0.
        assert_close(values("discount").values(), &[-1.0 + 0.25 * 0.75, 0.0, -1.0, 0.0]);
    }

    #[test]
    fn a_critic_is_trained_on_returns() {
        let groups = Groups::of_size(1, 1).unwrap();
        let (mask, critic) = (rows(&[&[true, true, false]]), rows(&[&[0.5, 0.25, 7.0]]));
        let mut batch = RewardBatch::new(&groups, &[1.0]).unwrap();
        batch.mask = Some(&mask);
        batch.token_values = Some(&critic);
        assert_close(Gae::default().returns(&batch).unwrap().values(), &[1.0, 1.0, 0.0]);
    }
}
