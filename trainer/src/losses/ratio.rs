//! The ratio of the trained policy to an earlier one, of tokens or of sequences.

use crate::losses::span::Span;
use crate::losses::terms::{Coupling, Term, Terms};
use crate::losses::tokens::{LogpSource, LossToken, TrainedTokens, at, put};
use crate::prelude::*;

/// What the ratio of an objective is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct RatioSettings {
    /// Over what it is taken.
    #[default(RatioLevel::Token)]
    pub level: RatioLevel,
    /// The policy in its denominator.
    #[default(LogpSource::Old)]
    pub policy: LogpSource,
    /// Where the logarithm of the ratio is clamped; no gradient goes through it beyond.
    pub clamp: Span,
}

/// Over what a ratio is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RatioLevel {
    /// Each token has its own: `exp(logp - old)`.
    Token,
    /// One for a sequence: the exponential of the mean of `logp - old` over its tokens (Group
    /// Sequence Policy Optimization, section 4.1).
    Sequence,
    /// One for a sequence: the product of those of its tokens (`RLOOTrainer` of TRL).
    SequenceProduct,
    /// The value of the sequence's ratio with the gradient of the token's (the same paper, section
    /// 4.3, GSPO-token).
    SequenceToken,
}

/// The logarithms of the ratios of a batch.
#[derive(Clone, Debug)]
pub struct LogRatios {
    level: RatioLevel,
    /// For each token, clamped.
    logs: Vec<f64>,
    /// 1 where the clamp lets the gradient through, else 0.
    open: Vec<f64>,
    /// For each token: `logp - old`, never clamped.
    raw: Vec<f64>,
}

/// A term as a function of the log-probability of its token and of the logarithm of its ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RatioTerm {
    /// The term.
    pub value: f64,
    /// Its derivative with respect to the log-probability, the ratio held.
    pub by_logp: f64,
    /// Its derivative with respect to the logarithm of the ratio.
    pub by_log_ratio: f64,
}

impl RatioSettings {
    /// The ratios of a batch.
    ///
    /// # Errors
    /// The batch does not have the log-probabilities of the policy in the denominator.
    pub fn of(&self, tokens: &TrainedTokens<'_>) -> Result<LogRatios, TrainerError> {
        self.taken(tokens, |token| token.live)
    }

    /// The same ratios, detached: no gradient goes through them.
    ///
    /// # Errors
    /// The batch does not have the log-probabilities of the policy in the denominator.
    pub fn detached(&self, tokens: &TrainedTokens<'_>) -> Result<LogRatios, TrainerError> {
        self.taken(tokens, |token| token.fixed)
    }

    fn taken(
        &self,
        tokens: &TrainedTokens<'_>,
        logp: impl Fn(LossToken) -> f64,
    ) -> Result<LogRatios, TrainerError> {
        let base = tokens.logp(self.policy)?;
        if self.policy == LogpSource::Rollout {
            tokens.finite("rollout log-probabilities", base)?;
        }
        let counts = tokens.row_counts();
        let mean = |sums: Vec<f64>| -> Vec<f64> {
            sums.iter().zip(&counts).map(|(sum, count)| sum / count.max(1.0)).collect()
        };
        let rows = match self.level {
            RatioLevel::Token => Vec::new(),
            RatioLevel::Sequence => mean(tokens.row_sums(|t| logp(t) - at(base, t.at))),
            RatioLevel::SequenceProduct => tokens.row_sums(|t| logp(t) - at(base, t.at)),
            RatioLevel::SequenceToken => mean(tokens.row_sums(|t| t.fixed - at(base, t.at))),
        };
        let mut ratios = LogRatios {
            level: self.level,
            logs: vec![0.0; tokens.len()],
            open: vec![0.0; tokens.len()],
            raw: vec![0.0; tokens.len()],
        };
        for token in tokens.iter() {
            let raw = logp(token) - at(base, token.at);
            let log = match self.level {
                RatioLevel::Token => raw,
                RatioLevel::Sequence | RatioLevel::SequenceProduct => at(&rows, token.row),
                RatioLevel::SequenceToken => at(&rows, token.row) + (logp(token) - token.fixed),
            };
            ratios.set(token.at, raw, self.clamp.clamp(log));
        }
        Ok(ratios)
    }
}

impl LogRatios {
    /// The logarithm of the ratio of a token.
    pub fn log(&self, token: LossToken) -> f64 {
        at(&self.logs, token.at)
    }

    /// `logp - old` of a token.
    pub fn raw(&self, token: LossToken) -> f64 {
        at(&self.raw, token.at)
    }

    /// Whether there is one ratio for a sequence.
    pub fn is_per_sequence(&self) -> bool {
        matches!(self.level, RatioLevel::Sequence | RatioLevel::SequenceProduct)
    }

    /// The share of the tokens, or of the sequences where these have one ratio, of which `is_so`.
    #[expect(clippy::cast_precision_loss, reason = "no batch has 2^53 rows")]
    pub fn share(&self, tokens: &TrainedTokens<'_>, is_so: impl Fn(LossToken) -> bool) -> f64 {
        if !self.is_per_sequence() {
            return tokens.mean(|token| f64::from(is_so(token)));
        }
        let counts = tokens.row_counts();
        let sums = tokens.row_sums(|token| f64::from(is_so(token)));
        let rows: f64 = sums.iter().zip(&counts).map(|(sum, count)| sum / count.max(1.0)).sum();
        rows / counts.len().max(1) as f64
    }

    /// Terms that are functions of the logarithm of the ratio.
    pub fn terms(
        &self,
        tokens: &TrainedTokens<'_>,
        mut term: impl FnMut(LossToken, f64) -> RatioTerm,
    ) -> Terms {
        let mut by_ratio = vec![0.0; tokens.len()];
        let mut terms = Terms::apart(tokens, |token| {
            let found = term(token, self.log(token));
            // Beyond the clamp the derivative may have overflowed.
            let by_log_ratio = match at(&self.open, token.at) {
                0.0 => 0.0,
                _ => found.by_log_ratio,
            };
            if self.is_per_sequence() {
                put(&mut by_ratio, token.at, by_log_ratio);
                return Term { value: found.value, slope: found.by_logp };
            }
            Term { value: found.value, slope: found.by_logp + by_log_ratio }
        });
        if self.is_per_sequence() {
            let spread = match self.level {
                RatioLevel::SequenceProduct => tokens.list(0.0, |_| 1.0),
                _ => mean_spread(tokens),
            };
            terms.coupled = Some(Coupling { slopes: by_ratio, spread });
        }
        terms.metrics = self.metrics(tokens);
        terms
    }

    /// What is to be said of the ratios.
    pub fn metrics(&self, tokens: &TrainedTokens<'_>) -> Vec<(&'static str, f64)> {
        let mut metrics = vec![("approximate_kl", -tokens.mean(|token| self.raw(token)))];
        let ratios = || tokens.iter().map(|token| self.log(token).exp());
        if let (Some(least), Some(most)) = (ratios().reduce(f64::min), ratios().reduce(f64::max)) {
            let mean = tokens.mean(|token| self.log(token).exp());
            metrics.extend([("ratio_mean", mean), ("ratio_min", least), ("ratio_max", most)]);
        }
        metrics
    }

    fn set(&mut self, at: usize, raw: f64, (log, open): (f64, f64)) {
        put(&mut self.raw, at, raw);
        put(&mut self.logs, at, log);
        put(&mut self.open, at, open);
    }
}

/// The derivative of the mean over a row with respect to each of its tokens.
fn mean_spread(tokens: &TrainedTokens<'_>) -> Vec<f64> {
    let counts = tokens.row_counts();
    tokens.list(0.0, |token| at(&counts, token.row).max(1.0).recip())
}
