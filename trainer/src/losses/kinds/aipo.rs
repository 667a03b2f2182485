//! AIPO: the ratio to the policy that generated, bounded above alone, as a weight.
//!
//! `L = -sg(min(R, ratio_max)) A logp` (`LlamaRL`: A Distributed Asynchronous Reinforcement Learning
//! Framework for Efficient Large-scale LLM Training, section 6, AIPO).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::losses::objective::Objective;
use crate::losses::ratio::RatioSettings;
use crate::losses::terms::{Term, Terms};
use crate::losses::tokens::{LogpSource, TrainedTokens};
use crate::ranges::above;

/// The ratio with an upper bound as a weight of the log-likelihood: `-sg(min(R, ratio_max)) A logp`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AipoObjective {
    /// The greatest weight; the paper has 2 to 10.
    pub ratio_max: f64,
    /// The ratio; the policy in its denominator is the one that generated.
    pub ratio: RatioSettings,
}

impl Default for AipoObjective {
    fn default() -> Self {
        let policy = LogpSource::Rollout;
        Self { ratio_max: 4.0, ratio: RatioSettings { policy, ..RatioSettings::default() } }
    }
}

impl Objective for AipoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("ratio_max", self.ratio_max, 0.0)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.detached(tokens)?;
        let mut terms = Terms::apart(tokens, |token| {
            let slope = -ratios.log(token).exp().min(self.ratio_max) * token.advantage;
            Term { value: slope * token.live, slope }
        });
        let is_clipped = |token| ratios.log(token).exp() > self.ratio_max;
        terms.metrics = ratios.metrics(tokens);
        terms.metrics.push(("clip_fraction", ratios.share(tokens, is_clipped)));
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
