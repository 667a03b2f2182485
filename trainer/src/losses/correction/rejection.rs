//! Leaves out tokens or sequences whose ratio or divergence between two policies is out of bounds.
//!
//! Sources: verl 0.9, `rollout_corr_helper.compute_rollout_rejection_mask`; `OpenRLHF` 0.11,
//! `PolicyLoss.forward`; `AReaL` 1.0, `functional.apply_rejection_sampling`; `SkyRL` 0.3,
//! `off_policy_correction_utils`.

use crate::losses::correction::importance::log_ratios;
use crate::losses::correction::masking::{Rejected, reject};
use crate::losses::prelude::*;
use crate::losses::span::Span;

/// Bounds of a statistic of two policies.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct RejectionSettings {
    /// What is left out as one.
    #[default(RejectionLevel::Token)]
    pub level: RejectionLevel,
    /// What has to be within the bounds.
    #[default(RejectionStatistic::Ratio)]
    pub statistic: RejectionStatistic,
    /// How the tokens of a sequence become one number. A ratio is reduced as its logarithm.
    #[default(RejectionReduce::Mean)]
    pub reduce: RejectionReduce,
    /// The least value; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest value; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The logarithm of the ratio of a token is clamped to this, up and down, before anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_clamp: Option<f64>,
    /// The policy whose ratio to the other is taken.
    #[default(LogpSource::Old)]
    pub numerator: LogpSource,
    /// The other policy.
    #[default(LogpSource::Rollout)]
    pub denominator: LogpSource,
    /// What becomes of the tokens that are left out.
    pub rejected: Rejected,
}

/// What is left out as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectionLevel {
    /// A token.
    Token,
    /// All tokens of a sequence.
    Sequence,
}

/// A number of two policies, where `d` is the logarithm of their ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectionStatistic {
    /// `exp(d)`.
    Ratio,
    /// `d`.
    K1,
    /// `d^2 / 2`.
    K2,
    /// `exp(-d) - 1 + d`.
    K3,
    /// The divergence from the denominator to the numerator of whether the token is sampled.
    BinaryKl,
    /// The difference of the probabilities.
    Tv,
}

/// How the tokens of a sequence become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectionReduce {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// The greatest of them.
    Max,
    /// Any token that is out of bounds: the sequence is as good as its worst token.
    Any,
}

/// What each of the bounds excludes.
///
/// # Errors
/// The batch does not have the log-probabilities of both policies.
pub fn dropped(
    all: &[RejectionSettings],
    tokens: &TrainedTokens<'_>,
) -> Result<Vec<(Rejected, Vec<bool>)>, TrainerError> {
    all.iter().map(|one| Ok((one.rejected, one.dropped(tokens)?))).collect()
}

/// Leaves out what any of the bounds excludes. The share of the tokens that these are.
pub fn apply(tokens: &mut TrainedTokens<'_>, dropped: &[(Rejected, Vec<bool>)]) -> f64 {
    let is_out = |place: usize| dropped.iter().any(|(_, out)| out.get(place) == Some(&true));
    let share = tokens.mean(|token| f64::from(is_out(token.at)));
    for (how, out) in dropped {
        reject(tokens, *how, out);
    }
    share
}

impl RejectionSettings {
    /// Fails where the bounds are out of range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        self.bounds().check("correction.reject")?;
        if self.log_clamp.is_some_and(|clamp| clamp.is_nan() || clamp < 0.0) {
            let message = "`log_clamp` is negative, expected 0 or more";
            return Err(TrainerError::setting("correction.reject.log_clamp", message));
        }
        Ok(())
    }

    fn bounds(&self) -> Span {
        Span { min: self.min, max: self.max }
    }

    fn dropped(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<bool>, TrainerError> {
        let values = self.values(tokens)?;
        let out = |value: f64| !self.bounds().contains(value);
        let mut rows = vec![false; tokens.mask.rows()];
        if self.level == RejectionLevel::Sequence && self.reduce == RejectionReduce::Any {
            for token in tokens.iter().filter(|token| out(self.finish(at(&values, token.at)))) {
                put(&mut rows, token.row, true);
            }
        } else if self.level == RejectionLevel::Sequence {
            let reduced = self.reduced(tokens, &values);
            rows = reduced
                .into_iter()
                .map(|value| value.is_some_and(|v| out(self.finish(v))))
                .collect();
        }
        Ok(tokens.list(false, |token| match self.level {
            RejectionLevel::Token => out(self.finish(at(&values, token.at))),
            RejectionLevel::Sequence => rows.get(token.row) == Some(&true),
        }))
    }

    /// One number a sequence; none for a sequence without tokens.
    fn reduced(&self, tokens: &TrainedTokens<'_>, values: &[f64]) -> Vec<Option<f64>> {
        let counts = tokens.row_counts();
        let mut reduced = tokens.row_sums(|token| at(values, token.at));
        if self.reduce == RejectionReduce::Max {
            reduced.fill(f64::NEG_INFINITY);
            for token in tokens.iter() {
                let most = at(&reduced, token.row).max(at(values, token.at));
                put(&mut reduced, token.row, most);
            }
        }
        let rows = reduced.into_iter().zip(&counts).map(|(value, count)| match self.reduce {
            RejectionReduce::Mean => (value / count.max(1.0), count),
            _ => (value, count),
        });
        rows.map(|(value, count)| (*count > 0.0).then_some(value)).collect()
    }

    /// The statistic of each token; a ratio is still a logarithm.
    fn values(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<f64>, TrainerError> {
        let logs = log_ratios(tokens, self.numerator, self.denominator)?;
        let clamp = self.log_clamp.map_or_else(Span::default, Span::around_zero);
        let (above, below) = (tokens.logp(self.numerator)?, tokens.logp(self.denominator)?);
        let probability = |logp: f64| logp.exp().clamp(1e-6, 1.0 - 1e-6);
        let statistic = |place: usize| {
            let d = clamp.clamp(at(&logs, place)).0;
            let (q, p) = (probability(at(above, place)), probability(at(below, place)));
            match self.statistic {
                RejectionStatistic::Ratio | RejectionStatistic::K1 => d,
                RejectionStatistic::K2 => 0.5 * d * d,
                RejectionStatistic::K3 => (-d).exp() - 1.0 + d,
                RejectionStatistic::BinaryKl => {
                    p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
                }
                RejectionStatistic::Tv => (p - q).abs(),
            }
        };
        Ok(tokens.list(0.0, |token| statistic(token.at)))
    }

    fn finish(&self, value: f64) -> f64 {
        match self.statistic {
            RejectionStatistic::Ratio => value.exp(),
            _ => value,
        }
    }
}
