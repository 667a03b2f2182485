//! Off-policy sequence masking: a sequence of negative advantage is left out where the policy has
//! moved away from it by more than a threshold.
//!
//! "`DeepSeek-V3.2`: Pushing the Frontier of Open Large Language Models", section 3.1; TRL 1.16,
//! `GRPOTrainer.get_off_policy_mask`.

use crate::losses::correction::importance::log_ratios;
use crate::losses::prelude::*;

/// Off-policy sequence masking.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpsmSettings {
    /// The greatest mean of `logp of the sampling policy - logp` over the tokens of a sequence, in
    /// nats, that a token of negative advantage is kept at.
    pub threshold: f64,
    /// The policy that sampled; the engine where the batch has its log-probabilities, else the old
    /// policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<LogpSource>,
}

impl OpsmSettings {
    /// Fails where the threshold is no number.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        within("correction.opsm.threshold", self.threshold, ..)
    }

    /// Which tokens are left out.
    ///
    /// # Errors
    /// The batch does not have the log-probabilities of the policy that sampled.
    pub fn dropped(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<bool>, TrainerError> {
        let found =
            if tokens.batch.rollout.is_some() { LogpSource::Rollout } else { LogpSource::Old };
        let logs = log_ratios(tokens, self.policy.unwrap_or(found), LogpSource::Current)?;
        let sums = tokens.row_sums(|token| at(&logs, token.at));
        let counts = tokens.row_counts();
        Ok(tokens.list(false, |token| {
            let mean = at(&sums, token.row) / at(&counts, token.row).max(1.0);
            token.advantage < 0.0 && mean > self.threshold
        }))
    }
}
