//! The tokens that a loss is taken over, with their advantages.

use crate::advantages::AdvantageValues;
use crate::losses::batch::LossBatch;
use crate::prelude::*;

/// A policy whose log-probabilities a batch may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogpSource {
    /// The policy that is trained, detached.
    Current,
    /// The policy at the start of the step.
    Old,
    /// The engine that generated.
    Rollout,
    /// The proximal policy of a decoupled objective.
    Proximal,
}

/// The tokens of a batch as an objective sees them. Flat lists hold the tokens of all rows, one row
/// after another.
#[derive(Clone, Debug)]
pub struct TrainedTokens<'a> {
    /// The numbers.
    pub batch: &'a LossBatch<'a>,
    /// The log-probabilities of the trained policy that no gradient goes through.
    pub fixed: &'a Ragged<f64>,
    /// Which tokens have a term in the loss.
    pub mask: Ragged<bool>,
    /// Which tokens the denominators of the aggregation count.
    pub counted: Ragged<bool>,
    /// The advantage of each token; 0 where it is masked.
    pub advantages: Vec<f64>,
    /// The importance weight of each token.
    pub importance: Vec<f64>,
    /// Whether the tokens of a sequence have one importance weight, that of the sequence.
    pub importance_of_rows: bool,
    /// 0 for a token whose term counts as zero, else 1.
    pub kept: Vec<f64>,
    /// Which tokens are among those of the greatest entropy, where only these are trained on.
    pub top: Option<Vec<bool>>,
}

/// One token that has a term.
#[derive(Clone, Copy, Debug)]
pub struct LossToken {
    /// Its rollout.
    pub row: usize,
    /// Its place among the tokens of all rollouts.
    pub at: usize,
    /// Its log-probability.
    pub live: f64,
    /// The same, detached.
    pub fixed: f64,
    /// Its advantage.
    pub advantage: f64,
}

impl<'a> TrainedTokens<'a> {
    /// The tokens of a batch, of which `fixed` are the detached log-probabilities.
    ///
    /// # Errors
    /// Numbers that do not fit together, or a trained token without a finite log-probability.
    pub fn new(batch: &'a LossBatch<'a>, fixed: &'a Ragged<f64>) -> Result<Self, TrainerError> {
        batch.check()?;
        let mut advantages = match batch.advantages {
            AdvantageValues::Tokens(values) => values.values().to_vec(),
            AdvantageValues::Rollouts(values) => {
                let rows = values.iter().zip(batch.logp.lengths());
                rows.flat_map(|(value, length)| std::iter::repeat_n(*value, length)).collect()
            }
        };
        let mut mask = match batch.mask {
            Some(mask) => mask.clone(),
            None => batch.logp.map(|_| true),
        };
        for (trained, advantage) in mask.values_mut().iter_mut().zip(&mut advantages) {
            *trained &= !advantage.is_nan();
            if !*trained {
                *advantage = 0.0;
            }
        }
        let tokens = Self {
            batch,
            fixed,
            counted: mask.clone(),
            mask,
            importance: vec![1.0; advantages.len()],
            importance_of_rows: false,
            kept: vec![1.0; advantages.len()],
            advantages,
            top: None,
        };
        tokens.finite("log-probabilities", batch.logp.values())?;
        tokens.finite("advantages", &tokens.advantages)?;
        Ok(tokens)
    }

    /// The tokens that have a term, in their order.
    pub fn iter(&self) -> impl Iterator<Item = LossToken> {
        let rows = self.mask.lengths().enumerate();
        let rows = rows.flat_map(|(row, length)| std::iter::repeat_n(row, length));
        let live = self.batch.logp.values().iter().zip(self.fixed.values());
        let rows = rows.zip(self.mask.values()).zip(live).zip(&self.advantages).enumerate();
        rows.filter(|(_, (((_, trained), _), _))| **trained).map(
            |(at, (((row, _), (live, fixed)), advantage))| LossToken {
                row,
                at,
                live: *live,
                fixed: *fixed,
                advantage: *advantage,
            },
        )
    }

    /// How many tokens there are, trained or not.
    pub fn len(&self) -> usize {
        self.advantages.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many tokens have a term.
    pub fn trained(&self) -> f64 {
        count(self.mask.values())
    }

    /// The log-probabilities under a policy.
    ///
    /// # Errors
    /// They are not given, or not finite where a token is trained.
    pub fn logp(&self, source: LogpSource) -> Result<&'a [f64], TrainerError> {
        let (what, values) = match source {
            LogpSource::Current => ("log-probabilities", Some(self.fixed)),
            LogpSource::Old => {
                ("old log-probabilities", Some(self.batch.old.unwrap_or(self.fixed)))
            }
            LogpSource::Rollout => ("rollout log-probabilities", self.batch.rollout),
            LogpSource::Proximal => ("proximal log-probabilities", self.batch.proximal),
        };
        // An engine may not know them all.
        let values = self.given(what, values)?;
        if source != LogpSource::Rollout {
            self.finite(what, values)?;
        }
        Ok(values)
    }

    /// Numbers of the batch that a part of the loss needs.
    ///
    /// # Errors
    /// They are not given.
    pub fn given(
        &self,
        what: &str,
        values: Option<&'a Ragged<f64>>,
    ) -> Result<&'a [f64], TrainerError> {
        let values = values.ok_or_else(|| TrainerError::input(what, "none", "one a token"))?;
        Ok(values.values())
    }

    /// Fails where a number of a trained token is not finite.
    ///
    /// # Errors
    /// Where it stands, and what it is.
    pub fn finite(&self, what: &str, values: &[f64]) -> Result<(), TrainerError> {
        let mut start = 0;
        for (row, mask) in self.mask.iter().enumerate() {
            let values = values.iter().skip(start).zip(mask).enumerate();
            let mut wrong = values.filter(|(_, (value, trained))| **trained && !value.is_finite());
            if let Some((token, (value, _))) = wrong.next() {
                let have = format!("{value} at token {token} of rollout {row}");
                return Err(TrainerError::input(
                    what,
                    have,
                    "finite numbers where the mask is set",
                ));
            }
            start += mask.len();
        }
        Ok(())
    }

    /// The mean over the tokens that have a term; 0 where there are none.
    pub fn mean(&self, value: impl FnMut(LossToken) -> f64) -> f64 {
        self.iter().map(value).sum::<f64>() / self.trained().max(1.0)
    }

    /// A list of `others`, but for the tokens that have a term: `value` of each.
    pub fn list<T: Clone>(&self, others: T, mut value: impl FnMut(LossToken) -> T) -> Vec<T> {
        let mut list = vec![others; self.len()];
        for token in self.iter() {
            put(&mut list, token.at, value(token));
        }
        list
    }

    /// The sum of `value` over the tokens of each row that have a term.
    pub fn row_sums(&self, value: impl Fn(LossToken) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.mask.rows()];
        for token in self.iter() {
            if let Some(sum) = sums.get_mut(token.row) {
                *sum += value(token);
            }
        }
        sums
    }

    /// How many tokens of each row have a term.
    pub fn row_counts(&self) -> Vec<f64> {
        self.mask.iter().map(count).collect()
    }
}

/// How many are true.
#[expect(clippy::cast_precision_loss, reason = "no batch has 2^53 tokens")]
pub fn count(mask: &[bool]) -> f64 {
    mask.iter().filter(|set| **set).count() as f64
}

/// One number of a list.
#[expect(clippy::indexing_slicing, reason = "lists have a number for each token, or each row")]
pub fn at(values: &[f64], at: usize) -> f64 {
    values[at]
}

/// Sets one number of a list, where there is one.
pub fn put<T>(values: &mut [T], at: usize, value: T) {
    if let Some(place) = values.get_mut(at) {
        *place = value;
    }
}
