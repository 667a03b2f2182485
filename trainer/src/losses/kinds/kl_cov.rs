//! KL-Cov: the ratio, not clipped, where the tokens that lower the entropy most have a penalty.
//!
//! `L = -R A`, and `coefficient |logp - old|` beside for the share of the tokens with the greatest
//! covariance of advantage and log-probability (The Entropy Mechanism of Reinforcement Learning for
//! Reasoning Language Models, section 4.2; verl 0.9, `core_algos.compute_policy_loss_kl_cov`).

use crate::losses::kinds::covariance::{covariances, share_of};
use crate::losses::prelude::*;

/// The ratio with a penalty on the tokens that lower the entropy most.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct KlCovObjective {
    /// The share of all tokens that have a penalty.
    #[default(2e-4)]
    pub share: f64,
    /// The weight of the penalty.
    #[default(1.0)]
    pub coefficient: f64,
    /// The ratio.
    pub ratio: RatioSettings,
}

impl KlCovObjective {
    /// Which tokens have a penalty: of equal ones, those that stand first.
    fn penalised(&self, tokens: &TrainedTokens<'_>) -> Vec<bool> {
        let mut falling = covariances(tokens, 0.0);
        falling.sort_by(|a, b| b.covariance.total_cmp(&a.covariance));
        let mut penalised = vec![false; tokens.len()];
        for found in falling.iter().take(share_of(tokens, self.share)) {
            put(&mut penalised, found.token.at, true);
        }
        penalised
    }
}

impl Objective for KlCovObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("share", self.share, 0.0)?;
        within("coefficient", self.coefficient, 0.0..)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.of(tokens)?;
        let penalised = self.penalised(tokens);
        let is_penalised = |at: usize| penalised.get(at) == Some(&true);
        let mut terms = ratios.terms(tokens, |token, log_ratio| {
            let term = -log_ratio.exp() * token.advantage;
            let sign = if log_ratio == 0.0 { 0.0 } else { log_ratio.signum() };
            let penalty = if is_penalised(token.at) { self.coefficient } else { 0.0 };
            RatioTerm {
                value: term + penalty * log_ratio.abs(),
                by_logp: 0.0,
                by_log_ratio: term + penalty * sign,
            }
        });
        let share = tokens.mean(|token| f64::from(is_penalised(token.at)));
        terms.metrics.push(("covariance_fraction", share));
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
