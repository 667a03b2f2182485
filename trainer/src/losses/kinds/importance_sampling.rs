//! The ratio itself, with no bound.
//!
//! `L = -R A` (`SkyRL` 0.3, `ppo_utils.importance_sampling_loss`).

use crate::losses::prelude::*;

/// The ratio, never clipped: `-R A`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImportanceSamplingObjective {
    /// The ratio.
    pub ratio: RatioSettings,
}

impl Objective for ImportanceSamplingObjective {
    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.of(tokens)?;
        Ok(ratios.terms(tokens, |token, log_ratio| {
            let value = -log_ratio.exp() * token.advantage;
            RatioTerm { value, by_logp: 0.0, by_log_ratio: value }
        }))
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
