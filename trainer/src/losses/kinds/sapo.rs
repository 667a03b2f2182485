//! SAPO: a sigmoid gate in place of the clip.
//!
//! `L = -(4 / tau) sigmoid(tau (R - 1)) A`, with `tau_pos` where the advantage is positive and
//! `tau_neg` elsewhere (Soft Adaptive Policy Optimization, section 3). TRL 1.16 and verl 0.9 agree.

use assay_verifiers::stats::sigmoid;

use crate::losses::prelude::*;

/// A soft gate on the ratio: `-(4 / tau) sigmoid(tau (R - 1)) A`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct SapoObjective {
    /// The temperature where the advantage is positive.
    #[default(1.0)]
    pub tau_pos: f64,
    /// The temperature elsewhere.
    #[default(1.05)]
    pub tau_neg: f64,
    /// The ratio.
    pub ratio: RatioSettings,
}

impl Objective for SapoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("tau_pos", self.tau_pos, 0.0)?;
        above("tau_neg", self.tau_neg, 0.0)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.of(tokens)?;
        Ok(ratios.terms(tokens, |token, log_ratio| {
            let tau = if token.advantage > 0.0 { self.tau_pos } else { self.tau_neg };
            let ratio = log_ratio.exp();
            let gate = sigmoid(tau * (ratio - 1.0));
            let bend = gate * (1.0 - gate);
            RatioTerm {
                value: -gate * (4.0 / tau) * token.advantage,
                by_logp: 0.0,
                // Where the gate is flat, the ratio may have overflowed.
                by_log_ratio: if bend == 0.0 { 0.0 } else { -4.0 * bend * ratio * token.advantage },
            }
        }))
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
