//! OPMD: online policy mirror descent, with the squared log ratio of the sequence as its penalty.
//!
//! `L = -A log p + tau / 2 (log p - log p_old)^2` with `log p` the sum over a response (Kimi k1.5:
//! Scaling Reinforcement Learning with LLMs, section 2.3.2; its gradient is that of equation 3).

use crate::losses::prelude::*;
use crate::losses::terms::Coupling;

/// The log-likelihood with a quadratic penalty of the sequence's log ratio. Its aggregation is a mean
/// over sequences of sums over tokens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpmdObjective {
    /// The weight of the penalty, above 0.
    pub tau: f64,
}

impl Objective for OpmdObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("tau", self.tau, 0.0)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let old = tokens.logp(LogpSource::Old)?;
        let logs = tokens.row_sums(|token| token.live - at(old, token.at));
        let counts = tokens.row_counts();
        // Each token has its share, so that the sum over the tokens is the penalty of the sequence.
        let share = |row: usize| self.tau / at(&counts, row).max(1.0);
        let values = tokens.list(0.0, |token| {
            let penalty = 0.5 * share(token.row) * at(&logs, token.row).powi(2);
            -token.advantage * token.live + penalty
        });
        let slopes = tokens.list(0.0, |token| share(token.row) * at(&logs, token.row));
        let log = |token: crate::losses::tokens::LossToken| token.live - at(old, token.at);
        Ok(Terms {
            values,
            slopes: tokens.list(0.0, |token| -token.advantage),
            coupled: Some(Coupling { slopes, spread: tokens.list(0.0, |_| 1.0) }),
            metrics: vec![("approximate_kl", -tokens.mean(log))],
        })
    }
}
