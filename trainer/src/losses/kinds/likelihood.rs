//! The log-likelihood weighted by the advantage: REINFORCE, and what differs from it in the advantage
//! alone.
//!
//! `L = -A logp`. GPG (GPG: A Simple and Strong Reinforcement Learning Baseline for Model Reasoning)
//! and `AsymRE` (Asymmetric REINFORCE for off-Policy Reinforcement Learning) are this with advantages of
//! their own. verl 0.9, `core_algos.compute_policy_loss_gpg` and `compute_policy_loss_reinforce`.

use crate::losses::prelude::*;

/// The log-likelihood weighted by the advantage: `-A logp`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LikelihoodObjective {}

impl Objective for LikelihoodObjective {
    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let mut terms = Terms::apart(tokens, |token| Term {
            value: -token.advantage * token.live,
            slope: -token.advantage,
        });
        let old = tokens.logp(LogpSource::Old)?;
        let approximate = -tokens.mean(|token| token.fixed - at(old, token.at));
        terms.metrics = vec![("approximate_kl", approximate)];
        Ok(terms)
    }
}
