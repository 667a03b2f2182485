//! AIPO: the ratio to the policy that generated, bounded above alone, as a weight.
//!
//! `L = -sg(min(R, ratio_max)) A logp` (`LlamaRL`: A Distributed Asynchronous Reinforcement Learning
//! Framework for Efficient Large-scale LLM Training, section 6, AIPO).

use crate::losses::prelude::*;

/// The ratio with an upper bound as a weight of the log-likelihood: `-sg(min(R, ratio_max)) A logp`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct AipoObjective {
    /// The greatest weight; the paper has 2 to 10.
    #[default(4.0)]
    pub ratio_max: f64,
    /// The ratio; the policy in its denominator is the one that generated.
    #[default(RatioSettings { policy: LogpSource::Rollout, ..RatioSettings::default() })]
    pub ratio: RatioSettings,
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
