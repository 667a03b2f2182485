//! VESPO: a smooth weight of the ratio of the sequence.
//!
//! `L = -sg(phi(w)) A logp` with `w` the product of the ratios of a sequence and
//! `phi(w) = exp(lambda) w^k exp(-lambda w)` (VESPO: Variational Sequence-Level Soft Policy
//! Optimization; TRL 1.16, `GRPOTrainer.get_gamma_weights`). Importance weights
//! enter `w`: those of tokens as factors, that of a sequence once.

use crate::losses::prelude::*;

/// A smooth weight of the sequence's ratio: `-sg(phi(w)) A logp`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct VespoObjective {
    /// The power where the advantage is not negative.
    #[default(2.0)]
    pub k_pos: f64,
    /// The decay where the advantage is not negative.
    #[default(3.0)]
    pub lambda_pos: f64,
    /// The power where the advantage is negative.
    #[default(3.0)]
    pub k_neg: f64,
    /// The decay where the advantage is negative.
    #[default(2.0)]
    pub lambda_neg: f64,
    /// Where the logarithm of the ratio of a token is clamped, up and down.
    #[default(20.0)]
    pub token_log_max: f64,
    /// The least ratio of a sequence, and the least importance weight of a token.
    #[default(1e-8)]
    pub ratio_min: f64,
    /// The greatest logarithm of the ratio of a sequence, and of the importance weight of a token.
    #[default(20.0)]
    pub log_max: f64,
}

impl VespoObjective {
    /// The weight of a token of this advantage in a sequence of this ratio, as its logarithm.
    fn weight(&self, log_ratio: f64, advantage: f64) -> f64 {
        let (k, lambda) = if advantage >= 0.0 {
            (self.k_pos, self.lambda_pos)
        } else {
            (self.k_neg, self.lambda_neg)
        };
        let lambda = lambda.max(1e-4);
        (lambda + k * log_ratio - lambda * log_ratio.exp()).exp()
    }
}

impl Objective for VespoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("k_pos", self.k_pos, 0.0)?;
        above("k_neg", self.k_neg, 0.0)?;
        within("lambda_pos", self.lambda_pos, 0.0..)?;
        within("lambda_neg", self.lambda_neg, 0.0..)?;
        above("token_log_max", self.token_log_max, 0.0)?;
        above("ratio_min", self.ratio_min, 0.0)?;
        above("log_max", self.log_max, self.ratio_min.ln())
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let old = tokens.logp(LogpSource::Old)?;
        let least = self.ratio_min.ln();
        let counts = tokens.row_counts();
        let sums = tokens.row_sums(|token| {
            let log = token.fixed - at(old, token.at);
            let importance = at(&tokens.importance, token.at).ln().clamp(least, self.log_max);
            let times = if tokens.importance_of_rows { at(&counts, token.row) } else { 1.0 };
            log.clamp(-self.token_log_max, self.token_log_max) + importance / times
        });
        let weight = |row: usize, advantage: f64| {
            self.weight(at(&sums, row).clamp(least, self.log_max), advantage)
        };
        let mut terms = Terms::apart(tokens, |token| {
            let slope = -weight(token.row, token.advantage) * token.advantage;
            Term { value: slope * token.live, slope }
        });
        terms.metrics = vec![
            ("approximate_kl", -tokens.mean(|token| token.fixed - at(old, token.at))),
            ("weight_mean", tokens.mean(|token| weight(token.row, token.advantage))),
        ];
        Ok(terms)
    }

    fn weighs_importance(&self) -> bool {
        true
    }
}
