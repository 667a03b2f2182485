//! The divergence from the reference policy, estimated at the tokens that were sampled.
//!
//! With `d = logp - reference`: `k1 = d`, `k2 = d^2 / 2`, `k3 = exp(-d) - 1 + d` (J. Schulman,
//! "Approximating KL Divergence"). Clamps and gradients are those of the libraries: verl 0.9,
//! `core_algos.kl_penalty`; `OpenRLHF` 0.11, `models.utils.compute_approx_kl`; TRL 1.16,
//! `GRPOTrainer._compute_loss`.

use crate::losses::aggregation::LossAggregation;
use crate::losses::prelude::*;
use crate::losses::ratio::LogRatios;
use crate::losses::span::Span;

/// The divergence penalty.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct KlSettings {
    /// Its weight; 0, the default, leaves it out.
    pub coefficient: f64,
    /// The estimator of its value.
    #[default(KlEstimator::K3)]
    pub estimator: KlEstimator,
    /// What its gradient is.
    #[default(KlGradient::Own)]
    pub gradient: KlGradient,
    /// Where `reference - logp` is clamped before the estimator.
    pub input: Span,
    /// Where the value is clamped.
    pub output: Span,
    /// Whether it is multiplied by the ratio of the objective, through which the gradient goes
    /// (`use_bias_correction_kl` of TRL).
    pub ratio_correction: bool,
    /// The greatest ratio that `unbiased` weighs its gradient by.
    #[default(10.0)]
    pub weight_max: f64,
    /// Whether it is a term of the loss, or of the rewards of the tokens.
    #[default(KlPlace::Loss)]
    pub place: KlPlace,
    /// Its aggregation; that of the loss by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<LossAggregation>,
}

/// An estimator of the divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KlEstimator {
    /// `d`.
    K1,
    /// `d^2 / 2`.
    K2,
    /// `exp(-d) - 1 + d`.
    K3,
    /// `|d|`.
    Abs,
}

/// What the gradient of the divergence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KlGradient {
    /// That of the estimator.
    Own,
    /// That of `k2`, which is unbiased on policy (`k3+` and the like of verl).
    StraightThrough,
    /// That of `k2` times the detached ratio of the token, which is unbiased off policy too
    /// (`OpenRLHF`).
    Unbiased,
}

/// Where the divergence is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KlPlace {
    /// In the loss.
    Loss,
    /// In the rewards of the tokens: the loss leaves it out.
    Reward,
}

impl KlSettings {
    /// Fails where a number is out of range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        self.input.check("kl.input")?;
        self.output.check("kl.output")?;
        if let Some(aggregation) = &self.aggregation {
            aggregation.check()?;
        }
        if self.coefficient.is_finite() && self.weight_max > 0.0 {
            return Ok(());
        }
        let message = "`coefficient` is a finite number and `weight_max` is above 0";
        Err(TrainerError::setting("kl", message))
    }

    /// Whether the loss has a term for it.
    pub fn is_in_loss(&self) -> bool {
        self.coefficient != 0.0 && self.place == KlPlace::Loss
    }

    /// The divergence of each token, without the coefficient. `ratios` are those of the objective.
    ///
    /// # Errors
    /// There are no log-probabilities of the reference.
    pub fn terms(
        &self,
        tokens: &TrainedTokens<'_>,
        ratios: &LogRatios,
    ) -> Result<Terms, TrainerError> {
        let what = "reference log-probabilities";
        let reference = tokens.given(what, tokens.batch.reference)?;
        tokens.finite(what, reference)?;
        let old = tokens.logp(LogpSource::Old)?;
        let mut terms = ratios.terms(tokens, |token, log_ratio| {
            let weight = (token.fixed - at(old, token.at)).exp().min(self.weight_max);
            let (value, slope) = self.term(token, at(reference, token.at), weight);
            let scale = tokens.batch.kl_weights.map_or(1.0, |weights| at(weights, token.row));
            let ratio = if self.ratio_correction { log_ratio.exp() } else { 1.0 };
            RatioTerm {
                value: scale * value * ratio,
                by_logp: scale * slope * ratio,
                by_log_ratio: if self.ratio_correction { scale * value * ratio } else { 0.0 },
            }
        });
        terms.metrics = vec![("kl", tokens.mean(|token| at(&terms.values, token.at)))];
        Ok(terms)
    }

    /// The value and the slope of one token.
    fn term(&self, token: LossToken, reference: f64, weight: f64) -> (f64, f64) {
        let d = token.live - reference;
        let unbiased = |weight: f64| {
            let fixed = token.fixed - reference;
            let value = self.estimate(fixed).0;
            (value + weight * 0.5 * (d * d - fixed * fixed), weight * d)
        };
        match self.gradient {
            KlGradient::Own => self.estimate(d),
            KlGradient::StraightThrough => unbiased(1.0),
            KlGradient::Unbiased => unbiased(weight),
        }
    }

    /// The estimate, and its derivative with respect to `logp`.
    pub(crate) fn estimate(&self, d: f64) -> (f64, f64) {
        let (negated, open) = self.input.clamp(-d);
        let (value, slope) = match self.estimator {
            KlEstimator::K1 => (-negated, 1.0),
            KlEstimator::K2 => (0.5 * negated * negated, -negated),
            // Not by `exp_m1`: the libraries subtract, and so do we, to the same digits.
            KlEstimator::K3 => (negated.exp() - negated - 1.0, 1.0 - negated.exp()),
            KlEstimator::Abs if negated == 0.0 => (0.0, 0.0),
            KlEstimator::Abs => (negated.abs(), -negated.signum()),
        };
        let (value, inside) = self.output.clamp(value);
        (value, if open * inside == 0.0 { 0.0 } else { slope })
    }
}
