//! CISPO: the ratio is bounded as a weight, not in the objective, so that no token loses its gradient.
//!
//! `L = -sg(bounded(R)) A logp` (`MiniMax-M1`: Scaling Test-Time Compute Efficiently with Lightning
//! Attention, section 3.1). The libraries differ in the bounds: verl 0.9
//! (`core_algos.compute_policy_loss_cispo`) has `1 - eps_low` and `1 + eps_high`; TRL 1.16
//! (`GRPOTrainer._compute_loss`) has `eps_high` itself and no lower one. `SkyRL` 0.3
//! (`ppo_utils.rollout_is_policy_loss`) makes a weight out of bounds 0.

use crate::losses::prelude::*;
use crate::losses::span::Span;

/// The clipped ratio as a weight of the log-likelihood: `-sg(clip(R)) A logp`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct CispoObjective {
    /// The lower bound, as `bounds` reads it; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps_low: Option<f64>,
    /// The upper bound, as `bounds` reads it.
    #[default(0.2)]
    pub eps_high: f64,
    /// What the bounds are.
    #[default(CispoBounds::Relative)]
    pub bounds: CispoBounds,
    /// What becomes of a ratio out of bounds.
    #[default(CispoOutside::Clamp)]
    pub outside: CispoOutside,
    /// The ratio.
    pub ratio: RatioSettings,
}

/// What the bounds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CispoBounds {
    /// Distances from 1 (verl, slime).
    Relative,
    /// Ratios (TRL).
    Absolute,
}

/// What becomes of a ratio out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CispoOutside {
    /// It is brought to the bound.
    Clamp,
    /// It counts as 0.
    Zero,
}

impl CispoObjective {
    fn span(&self) -> Span {
        match self.bounds {
            CispoBounds::Relative => {
                Span { min: self.eps_low.map(|eps| 1.0 - eps), max: Some(1.0 + self.eps_high) }
            }
            CispoBounds::Absolute => Span { min: self.eps_low, max: Some(self.eps_high) },
        }
    }
}

impl Objective for CispoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        self.span().check("eps_high")
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.detached(tokens)?;
        let span = self.span();
        let mut terms = Terms::apart(tokens, |token| {
            let ratio = ratios.log(token).exp();
            let weight = match self.outside {
                CispoOutside::Zero if !span.contains(ratio) => 0.0,
                _ => span.clamp(ratio).0,
            };
            let slope = -weight * token.advantage;
            Term { value: slope * token.live, slope }
        });
        let is_clipped = |token| !span.contains(ratios.log(token).exp());
        let is_high = |token| ratios.log(token).exp() > span.max.unwrap_or(f64::INFINITY);
        terms.metrics = ratios.metrics(tokens);
        terms.metrics.extend([
            ("clip_fraction", ratios.share(tokens, is_clipped)),
            (
                "clip_fraction_high",
                ratios.share(tokens, |token| token.advantage > 0.0 && is_high(token)),
            ),
        ]);
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
