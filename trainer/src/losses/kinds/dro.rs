//! DRO: the log-likelihood with a quadratic penalty of the log ratio.
//!
//! `L = -(A logp - beta / 2 (logp - old)^2)` (Offline Regularised Reinforcement Learning for Large
//! Language Models Alignment; verl 0.9, `core_algos.compute_policy_loss_dro`).

use crate::losses::prelude::*;

/// The log-likelihood with a quadratic penalty: `-(A logp - beta / 2 (logp - old)^2)`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DroObjective {
    /// The weight of the penalty, above 0.
    pub beta: f64,
    /// The ratio.
    #[serde(default)]
    pub ratio: RatioSettings,
}

impl Objective for DroObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("beta", self.beta, 0.0)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.of(tokens)?;
        Ok(ratios.terms(tokens, |token, log_ratio| RatioTerm {
            value: -(token.live * token.advantage - 0.5 * self.beta * log_ratio * log_ratio),
            by_logp: -token.advantage,
            by_log_ratio: self.beta * log_ratio,
        }))
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
