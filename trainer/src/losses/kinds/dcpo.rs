//! DCPO: bounds of the clip that are wider for tokens that were improbable.
//!
//! The ratio of a token whose old probability is `q` is clipped to
//! `0.5 + 0.5 sqrt(max(1 - 4 eps_low / q, 0))` and `0.5 + 0.5 sqrt(1 + 4 eps_high / q)` (DCPO: Dynamic
//! Clipping Policy Optimization, section 3.1). Its aggregation adds up the mean of each response and
//! does not divide by their number (section 3.3): `seq_mean_token_mean` with `sequences = 1`.

use crate::losses::kinds::clip::{ClipBounds, metrics};
use crate::losses::prelude::*;

/// The clipped objective with bounds by the old probability of the token.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct DcpoObjective {
    /// How low a ratio may be: `|(R - 1) R| q <= eps_low`.
    #[default(0.16)]
    pub eps_low: f64,
    /// How high a ratio may be: `(R - 1) R q <= eps_high`.
    #[default(0.2)]
    pub eps_high: f64,
    /// The greatest ratio before the minimum is taken; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_max: Option<f64>,
    /// What a token of negative advantage may cost, as a multiple of its advantage; no bound by
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dual_clip: Option<f64>,
    /// The ratio.
    pub ratio: RatioSettings,
}

impl DcpoObjective {
    fn bounds(&self, old: f64) -> ClipBounds {
        let inverse = (-old).exp();
        ClipBounds {
            low: 0.5 + 0.5 * (1.0 - 4.0 * self.eps_low * inverse).max(0.0).sqrt(),
            high: 0.5 + 0.5 * (1.0 + 4.0 * self.eps_high * inverse).sqrt(),
            ratio_max: self.ratio_max,
            dual: self.dual_clip,
        }
    }
}

impl Objective for DcpoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps_low", self.eps_low, 0.0..)?;
        within("eps_high", self.eps_high, 0.0..)?;
        self.ratio_max.map_or(Ok(()), |most| above("ratio_max", most, 0.0))?;
        self.dual_clip.map_or(Ok(()), |bound| above("dual_clip", bound, 1.0))
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.of(tokens)?;
        let old = tokens.logp(self.ratio.policy)?;
        let mut terms = ratios.terms(tokens, |token, log_ratio| {
            self.bounds(at(old, token.at)).term(token.advantage, log_ratio)
        });
        let bounds = |token: crate::losses::tokens::LossToken| {
            (token.advantage, self.bounds(at(old, token.at)))
        };
        terms.metrics.extend(metrics(tokens, &ratios, bounds));
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improbable_tokens_have_wider_bounds() {
        let objective = DcpoObjective::default();
        // A certain token: 0.5 + 0.5 sqrt(1 - 0.64) and 0.5 + 0.5 sqrt(1.8).
        let certain = objective.bounds(0.0);
        assert!((certain.low - 0.8).abs() < 1e-12);
        assert!((certain.high - 1.170_820_393_249_937).abs() < 1e-12);
        let rare = objective.bounds(0.01_f64.ln());
        assert!((rare.low - 0.5).abs() < 1e-12);
        assert!((rare.high - 5.0).abs() < 1e-12);
    }
}
