//! Importance weights: the terms are multiplied by the detached ratio of two policies, bounded.
//!
//! Truncated (TIS: "Your Efficient RL Framework Secretly Brings You Off-Policy RL Training") or left
//! out beyond the bounds (`IcePop`: "Every Step Evolves: Scaling Reinforcement Learning for
//! Trillion-Scale Thinking Model", section 3.2). Sources of the conventions: TRL 1.16,
//! `GRPOTrainer._generate_and_score_completions`; verl 0.9,
//! `rollout_corr_helper.compute_rollout_correction_weights`; `OpenRLHF` 0.11, `PolicyLoss.forward`;
//! `AReaL` 1.0, `functional.apply_rejection_sampling`.

use crate::losses::prelude::*;
use crate::losses::span::Span;

/// Importance weights.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ImportanceSettings {
    /// What has one weight.
    #[default(ImportanceLevel::Token)]
    pub level: ImportanceLevel,
    /// What becomes of a weight beyond the bounds.
    #[default(ImportanceMode::Truncate)]
    pub mode: ImportanceMode,
    /// The least weight; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest weight; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The logarithm of the weight is clamped to this, up and down, before anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_clamp: Option<f64>,
    /// Whether the weights are divided by their mean.
    pub normalize: bool,
    /// The policy that the rollouts shall seem to be of.
    #[default(LogpSource::Old)]
    pub numerator: LogpSource,
    /// The policy that they are of.
    #[default(LogpSource::Rollout)]
    pub denominator: LogpSource,
}

/// What has one weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceLevel {
    /// Each token.
    Token,
    /// Each sequence: the product over its tokens.
    Sequence,
    /// Each sequence: the geometric mean over its tokens.
    Geometric,
}

/// What becomes of a weight beyond the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceMode {
    /// It is brought to the bound.
    Truncate,
    /// It is 0.
    Mask,
}

impl ImportanceSettings {
    /// Fails where a bound is out of range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        self.bounds().check("correction.importance")?;
        let numbers = [("min", self.min), ("max", self.max), ("log_clamp", self.log_clamp)];
        for (name, number) in numbers {
            if number.is_some_and(|number| number < 0.0) {
                let message = format!("`{name}` is {}, expected 0 or more", number.unwrap_or(0.0));
                return Err(TrainerError::setting(
                    format!("correction.importance.{name}"),
                    message,
                ));
            }
        }
        Ok(())
    }

    /// Sets the weights, and says what they are like.
    ///
    /// # Errors
    /// The batch does not have the log-probabilities of both policies.
    pub fn apply(
        &self,
        tokens: &mut TrainedTokens<'_>,
    ) -> Result<Vec<(&'static str, f64)>, TrainerError> {
        let raw = self.raw(tokens)?;
        let mut weights: Vec<f64> = raw.iter().map(|weight| self.bounded(*weight)).collect();
        let beyond = tokens.mean(|t| f64::from(!self.bounds().contains(at(&raw, t.at))));
        let mut metrics = vec![("importance_clipped_fraction", beyond)];
        metrics.extend(described(tokens, &weights));
        if self.normalize {
            let mean = self.mean(tokens, &weights);
            if mean > 1e-8 {
                for weight in &mut weights {
                    *weight /= mean;
                }
            }
        }
        tokens.importance_of_rows = self.level != ImportanceLevel::Token;
        tokens.importance = tokens.list(1.0, |token| at(&weights, token.at));
        Ok(metrics)
    }

    fn bounds(&self) -> Span {
        Span { min: self.min, max: self.max }
    }

    fn bounded(&self, weight: f64) -> f64 {
        match self.mode {
            ImportanceMode::Truncate => self.bounds().clamp(weight).0,
            ImportanceMode::Mask if self.bounds().contains(weight) => weight,
            ImportanceMode::Mask => 0.0,
        }
    }

    fn raw(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<f64>, TrainerError> {
        let logs = log_ratios(tokens, self.numerator, self.denominator)?;
        let sums = tokens.row_sums(|token| at(&logs, token.at));
        let counts = tokens.row_counts();
        let clamp = self.log_clamp.map_or_else(Span::default, Span::around_zero);
        Ok(tokens.list(1.0, |token| {
            let sum = at(&sums, token.row);
            let log = match self.level {
                ImportanceLevel::Token => at(&logs, token.at),
                ImportanceLevel::Sequence => sum,
                ImportanceLevel::Geometric => sum / at(&counts, token.row).max(1.0),
            };
            clamp.clamp(log).0.exp()
        }))
    }

    /// The mean weight of a token, or of a sequence.
    fn mean(&self, tokens: &TrainedTokens<'_>, weights: &[f64]) -> f64 {
        if self.level == ImportanceLevel::Token {
            return tokens.mean(|token| at(weights, token.at));
        }
        let counts = tokens.row_counts();
        let sums = tokens.row_sums(|token| at(weights, token.at));
        let means = sums.iter().zip(&counts).map(|(sum, count)| sum / count.max(1.0)).sum::<f64>();
        let rows: f64 = counts.iter().map(|count| f64::from(*count > 0.0)).sum();
        means / rows.max(1.0)
    }
}

/// The logarithm of the ratio of two policies for each token: 0 where it is masked, and where the
/// engine did not say.
///
/// # Errors
/// The batch does not have the log-probabilities of both policies.
pub fn log_ratios(
    tokens: &TrainedTokens<'_>,
    numerator: LogpSource,
    denominator: LogpSource,
) -> Result<Vec<f64>, TrainerError> {
    let (above, below) = (tokens.logp(numerator)?, tokens.logp(denominator)?);
    Ok(tokens.list(0.0, |token| {
        let log = at(above, token.at) - at(below, token.at);
        if log.is_finite() { log } else { 0.0 }
    }))
}

/// The mean, the bounds and the effective sample size of weights.
fn described(tokens: &TrainedTokens<'_>, weights: &[f64]) -> Vec<(&'static str, f64)> {
    let all = || tokens.iter().map(|token| at(weights, token.at));
    let (Some(least), Some(most)) = (all().reduce(f64::min), all().reduce(f64::max)) else {
        return Vec::new();
    };
    let mean = tokens.mean(|token| at(weights, token.at));
    let square = tokens.mean(|token| at(weights, token.at).powi(2));
    let effective = if square > 0.0 { mean * mean / square } else { 0.0 };
    vec![
        ("importance_mean", mean),
        ("importance_min", least),
        ("importance_max", most),
        ("importance_effective_share", effective),
    ]
}
