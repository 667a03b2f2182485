//! How the terms of the tokens become one number.
//!
//! | name | TRL | verl | divides the sum of a row by | and the sum of the rows by |
//! |---|---|---|---|---|
//! | `token_mean` | `dapo`, `bnpo` | `token-mean` | 1 | tokens |
//! | `token_sum` | | `token-sum` | 1 | 1 |
//! | `seq_mean_token_mean` | `grpo` | `seq-mean-token-mean` | tokens of the row | rows |
//! | `seq_mean_token_sum` | `luspo` | `seq-mean-token-sum` | 1 | rows |
//! | `seq_mean_token_sum_norm` | `dr_grpo` | `seq-mean-token-sum-norm` | a fixed length | rows |
//!
//! Sources: TRL 1.16, `GRPOTrainer._compute_loss`; verl 0.9, `core_algos.agg_loss`.

use crate::advantages::AdvantageValues;
use crate::losses::prelude::*;
use crate::losses::tokens::count;

/// How the terms of the tokens become one number.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossAggregation {
    /// What is summed and divided by what.
    pub kind: AggregationKind,
    /// Whether the denominators are those of the whole batch, where the batch says what it is a part
    /// of, or counted in the batch alone.
    #[serde(default)]
    pub scope: DenominatorScope,
    /// Whether sequences without a trained token count in the denominator.
    #[serde(default)]
    pub masked_sequences: MaskedSequences,
    /// The length that `seq_mean_token_sum_norm` divides by; the greatest length of a completion
    /// where it is not given, and the longest row where the batch does not say that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// The number of sequences to divide by, in place of a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequences: Option<f64>,
    /// Added to the tokens of a row where they divide.
    #[serde(default)]
    pub eps: f64,
}

/// What is summed and divided by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AggregationKind {
    /// The mean over all tokens.
    TokenMean,
    /// The sum over all tokens.
    TokenSum,
    /// The mean over the sequences of the mean over their tokens.
    SeqMeanTokenMean,
    /// The mean over the sequences of the sum over their tokens.
    SeqMeanTokenSum,
    /// The same, divided by a fixed length.
    SeqMeanTokenSumNorm,
}

/// What the denominators are counted over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DenominatorScope {
    /// The whole batch, where its counts are given.
    #[default]
    Batch,
    /// What is at hand.
    Local,
}

/// Whether sequences without a trained token count in the denominator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaskedSequences {
    /// They count as zeros (TRL).
    Keep,
    /// They count with the term of a ratio of 1, minus their advantage, which has no gradient
    /// (`GMPOTrainer` and `RLOOTrainer` of TRL). Where all sequences are masked they count as zeros.
    OnPolicy,
    /// They do not count (verl, `OpenRLHF`).
    #[default]
    Drop,
}

impl LossAggregation {
    /// An aggregation with nothing but its kind.
    pub fn of(kind: AggregationKind) -> Self {
        Self {
            kind,
            scope: DenominatorScope::default(),
            masked_sequences: MaskedSequences::default(),
            length: None,
            sequences: None,
            eps: 0.0,
        }
    }

    /// Fails where a denominator is not positive.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        let settings = [("length", self.length), ("sequences", self.sequences)];
        for (name, number) in settings {
            above(&format!("aggregation.{name}"), number.unwrap_or(1.0), 0.0)?;
        }
        within("aggregation.eps", self.eps, 0.0..)
    }

    /// What the sequences without a trained token add to the loss.
    pub fn constant(&self, tokens: &TrainedTokens<'_>) -> f64 {
        let AdvantageValues::Rollouts(advantages) = tokens.batch.advantages else { return 0.0 };
        if self.masked_sequences != MaskedSequences::OnPolicy || tokens.trained() == 0.0 {
            return 0.0;
        }
        let counts: Vec<f64> = tokens.counted.iter().map(count).collect();
        let masked = advantages.iter().zip(&counts);
        let masked = masked.filter(|(advantage, count)| **count == 0.0 && advantage.is_finite());
        -masked.map(|(advantage, _)| advantage).sum::<f64>() / self.rows(tokens, &counts)
    }

    /// The coefficient of each token's term in the loss: 0 where it is masked.
    pub fn coefficients(&self, tokens: &TrainedTokens<'_>) -> Vec<f64> {
        let counts: Vec<f64> = tokens.counted.iter().map(count).collect();
        let rows: Vec<f64> = match self.kind {
            AggregationKind::TokenMean => vec![self.tokens(tokens).recip(); counts.len()],
            AggregationKind::TokenSum => vec![tokens.batch.scale.processes; counts.len()],
            AggregationKind::SeqMeanTokenMean => {
                let each = self.rows(tokens, &counts).recip();
                counts.iter().map(|count| each / (count.max(1.0) + self.eps)).collect()
            }
            AggregationKind::SeqMeanTokenSum => {
                vec![self.rows(tokens, &counts).recip(); counts.len()]
            }
            AggregationKind::SeqMeanTokenSumNorm => {
                let each = self.rows(tokens, &counts) * self.length(tokens);
                vec![each.recip(); counts.len()]
            }
        };
        tokens.list(0.0, |token| at(&rows, token.row))
    }

    fn tokens(&self, tokens: &TrainedTokens<'_>) -> f64 {
        let scale = &tokens.batch.scale;
        match scale.tokens.filter(|_| self.scope == DenominatorScope::Batch) {
            Some(tokens) => {
                let window =
                    scale.steps_per_generation.map_or(1.0, |s| scale.accumulation_steps / s);
                tokens.max(1.0) / scale.processes * window
            }
            None => count(tokens.counted.values()).max(1.0) * scale.accumulation_steps,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no batch has 2^53 rows")]
    fn rows(&self, tokens: &TrainedTokens<'_>, counts: &[f64]) -> f64 {
        let scale = &tokens.batch.scale;
        let given = scale.sequences.filter(|_| self.scope == DenominatorScope::Batch);
        if let (None, Some(sequences)) = (self.sequences, given) {
            return sequences.max(1.0) / scale.processes;
        }
        let counted = || match self.masked_sequences {
            MaskedSequences::Keep | MaskedSequences::OnPolicy => counts.len() as f64,
            MaskedSequences::Drop => counts.iter().filter(|count| **count > 0.0).count() as f64,
        };
        self.sequences.unwrap_or_else(|| counted().max(1.0)) * scale.accumulation_steps
    }

    #[expect(clippy::cast_precision_loss, reason = "no row has 2^53 tokens")]
    fn length(&self, tokens: &TrainedTokens<'_>) -> f64 {
        let longest = || tokens.mask.lengths().max().unwrap_or(0).max(1) as f64;
        self.length.or(tokens.batch.completion_max).unwrap_or_else(longest)
    }
}
