//! M2PO: the tokens with the greatest squared log ratio are left out, until the mean of the others is
//! below a threshold.
//!
//! "Prosperity before Collapse: How Far Can Off-Policy RL Reach with Stale Data on LLMs?", section 4;
//! `AReaL` 1.0, `ppo.actor._apply_m2po_masking`.

use crate::losses::correction::importance::log_ratios;
use crate::losses::correction::masking::Rejected;
use crate::losses::prelude::*;

/// The filter by second moment.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct M2poSettings {
    /// What the mean of the squared log ratio has to be below.
    pub threshold: f64,
    /// The policy that sampled.
    #[serde(default = "rollout")]
    pub behaviour: LogpSource,
    /// The policy that is clipped against.
    #[serde(default = "proximal")]
    pub proximal: LogpSource,
    /// What becomes of the tokens that are left out.
    #[serde(default = "drop")]
    pub rejected: Rejected,
}

fn rollout() -> LogpSource {
    LogpSource::Rollout
}

fn proximal() -> LogpSource {
    LogpSource::Proximal
}

fn drop() -> Rejected {
    Rejected::Drop
}

impl M2poSettings {
    /// Fails where the threshold is not positive.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        if self.threshold > 0.0 {
            return Ok(());
        }
        let message = format!("`threshold` is {}, expected a positive number", self.threshold);
        Err(TrainerError::setting("correction.m2po.threshold", message))
    }

    /// Which tokens are left out. One always stays.
    ///
    /// # Errors
    /// The batch does not have the log-probabilities of both policies.
    pub fn dropped(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<bool>, TrainerError> {
        let logs = log_ratios(tokens, self.behaviour, self.proximal)?;
        let squared = |token: usize| at(&logs, token).powi(2);
        let mut rising: Vec<usize> = tokens.iter().map(|token| token.at).collect();
        rising.sort_by(|a, b| squared(*a).total_cmp(&squared(*b)));
        // From the least: the longest beginning whose mean is below the threshold.
        let (mut sum, mut count, mut kept) = (0.0, 0.0, 1);
        for (place, token) in rising.iter().enumerate() {
            sum += squared(*token);
            count += 1.0;
            if sum / count < self.threshold {
                kept = place + 1;
            }
        }
        let mut dropped = vec![false; tokens.len()];
        for token in rising.into_iter().skip(kept) {
            put(&mut dropped, token, true);
        }
        Ok(dropped)
    }
}
