//! Losses of pairs: one response that is preferred to another of the same prompt.
//!
//! With `d` the sum over a response of `logp - reference`, and `m = d_chosen - d_rejected`:
//!
//! | kind | loss of a pair | source |
//! |---|---|---|
//! | `sigmoid` | `-log sigmoid(beta m)` | Direct Preference Optimization, equation 7 |
//! | `ipo` | `(m - 1 / (2 beta))^2`, `d` being a mean over tokens | A General Theoretical Paradigm to Understand Learning from Human Preferences, equation 17; TRL and `AReaL` take the mean |
//! | `mio` | `softplus(-beta d_chosen) + softplus(beta d_rejected)` | the bound of Jensen and Shannon in place of that of Donsker and Varadhan (Mutual Information Optimization) |
//!
//! Semi-online training takes the pairs from rollouts of a policy that is synchronised every few steps
//! (the answers with the highest and the lowest reward); the loss is the same.

use assay_verifiers::stats::{sigmoid, softplus};

use crate::losses::policy::Loss;
use crate::losses::prelude::*;

/// A loss of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferenceLoss {
    /// The formula.
    pub kind: PreferenceKind,
    /// How strongly the policy is held to the reference, above 0.
    pub beta: f64,
}

/// The formula of a loss of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreferenceKind {
    /// DPO.
    Sigmoid,
    /// IPO.
    Ipo,
    /// MIO.
    Mio,
}

/// Two rows, of which the first is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PreferencePair {
    /// The row that is preferred.
    pub chosen: usize,
    /// The other row.
    pub rejected: usize,
}

/// The log-probabilities of rows, some of which are paired.
#[derive(Clone, Copy, Debug)]
pub struct PairedBatch<'a> {
    /// Under the policy that is trained.
    pub logp: &'a Ragged<f64>,
    /// Under the reference policy.
    pub reference: &'a Ragged<f64>,
    /// Which tokens count; all of them where it is not given.
    pub mask: Option<&'a Ragged<bool>>,
    /// The pairs.
    pub pairs: &'a [PreferencePair],
}

impl PreferenceLoss {
    /// The mean loss of the pairs, with its gradient; 0 where there are none.
    ///
    /// # Errors
    /// A `beta` that is not positive, rows of other lengths, a pair without its rows, or a number that
    /// is not finite.
    pub fn loss(&self, batch: &PairedBatch<'_>) -> Result<Loss, TrainerError> {
        above("beta", self.beta, 0.0)?;
        batch.check()?;
        let (sums, lengths) = batch.log_ratios();
        let lengths: Vec<f64> = match self.kind {
            PreferenceKind::Ipo => lengths.iter().map(|length| length.max(1.0)).collect(),
            PreferenceKind::Sigmoid | PreferenceKind::Mio => vec![1.0; lengths.len()],
        };
        let d: Vec<f64> = sums.iter().zip(&lengths).map(|(sum, length)| sum / length).collect();
        #[expect(clippy::cast_precision_loss, reason = "no batch has 2^53 pairs")]
        let each = (batch.pairs.len().max(1) as f64).recip();
        let mut slopes = vec![0.0; sums.len()];
        let (mut value, mut right, mut margin) = (0.0, 0.0, 0.0);
        for pair in batch.pairs {
            let [chosen, rejected] = [pair.chosen, pair.rejected].map(|row| at(&d, row));
            let (loss, up, down) = self.pair(chosen, rejected);
            value += each * loss;
            right += each * f64::from(chosen > rejected);
            margin += each * self.beta * (chosen - rejected);
            for (row, slope) in [(pair.chosen, up), (pair.rejected, down)] {
                let sum = at(&slopes, row) + each * slope / at(&lengths, row);
                put(&mut slopes, row, sum);
            }
        }
        let metrics = [("loss", value), ("accuracy", right), ("margin", margin)];
        let gradient = batch.spread(&slopes);
        let finite = value.is_finite() && gradient.values().iter().all(|slope| slope.is_finite());
        if !finite {
            let have = format!("a loss of {value}");
            return Err(TrainerError::input("log-probabilities", have, "a finite loss"));
        }
        let metrics = metrics.into_iter().collect();
        Ok(Loss { value, gradient, entropy_gradient: None, metrics, entropy_state: None })
    }

    /// The loss of a pair, and its derivatives with respect to both of its numbers.
    fn pair(&self, chosen: f64, rejected: f64) -> (f64, f64, f64) {
        let beta = self.beta;
        match self.kind {
            PreferenceKind::Sigmoid => {
                let margin = -beta * (chosen - rejected);
                let slope = -beta * sigmoid(margin);
                (softplus(margin), slope, -slope)
            }
            PreferenceKind::Ipo => {
                let error = chosen - rejected - 0.5 / beta;
                (error * error, 2.0 * error, -2.0 * error)
            }
            PreferenceKind::Mio => {
                let value = softplus(-beta * chosen) + softplus(beta * rejected);
                (value, -beta * sigmoid(-beta * chosen), beta * sigmoid(beta * rejected))
            }
        }
    }
}

impl PairedBatch<'_> {
    fn check(&self) -> Result<(), TrainerError> {
        let is_along = self.reference.is_along(self.logp)
            && self.mask.is_none_or(|mask| mask.is_along(self.logp));
        if !is_along {
            let expected = "rows as long as those of the log-probabilities";
            return Err(TrainerError::input("reference and mask", "other rows", expected));
        }
        let rows = self.logp.rows();
        match self.pairs.iter().find(|pair| pair.chosen.max(pair.rejected) >= rows) {
            None => Ok(()),
            Some(pair) => {
                let have = format!("rows {} and {}", pair.chosen, pair.rejected);
                Err(TrainerError::input("a pair", have, format!("two of {rows} rows")))
            }
        }
    }

    fn counts(&self, row: usize, token: usize) -> bool {
        self.mask.is_none_or(|mask| mask.row(row).get(token) == Some(&true))
    }

    /// The sum of `logp - reference` over the tokens of each row, and how many these are.
    fn log_ratios(&self) -> (Vec<f64>, Vec<f64>) {
        let rows = self.logp.iter().zip(self.reference.iter()).enumerate();
        let sums = rows.map(|(row, (logp, reference))| {
            let tokens = logp.iter().zip(reference).enumerate();
            let tokens = tokens.filter(|(token, _)| self.counts(row, *token));
            tokens.fold((0.0, 0.0), |(sum, count), (_, (l, f))| (sum + (l - f), count + 1.0))
        });
        sums.unzip()
    }

    /// One number of each row for each of its tokens that count.
    fn spread(&self, rows: &[f64]) -> Ragged<f64> {
        let lengths = self.logp.lengths().enumerate();
        lengths
            .map(|(row, length)| {
                let slope = |token| if self.counts(row, token) { at(rows, row) } else { 0.0 };
                (0..length).map(slope).collect::<Vec<_>>()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: [&[f64]; 3]) -> Ragged<f64> {
        rows.into_iter().map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn gradients_are_those_of_the_values() {
        let reference = rows([&[-1.0, -2.0], &[-0.5, -1.5, -0.25], &[-3.0]]);
        let logp = rows([&[-1.2, -1.5], &[-0.7, -1.1, -0.5], &[-2.5]]);
        let mask: Ragged<bool> =
            [vec![true, true], vec![true, false, true], vec![true]].into_iter().collect();
        let pair = |chosen, rejected| PreferencePair { chosen, rejected };
        let pairs = [pair(0, 1), pair(2, 1)];
        for kind in [PreferenceKind::Sigmoid, PreferenceKind::Ipo, PreferenceKind::Mio] {
            let loss = PreferenceLoss { kind, beta: 0.7 };
            let at = |logp: &Ragged<f64>| {
                let mask = Some(&mask);
                loss.loss(&PairedBatch { logp, reference: &reference, mask, pairs: &pairs })
                    .unwrap()
            };
            let found = at(&logp);
            assert!(found.gradient.row(1)[1].abs() <= 0.0);
            for token in 0..logp.values().len() {
                let value = |step: f64| {
                    let mut moved = logp.clone();
                    moved.values_mut()[token] += step;
                    at(&moved).value
                };
                let expected = (value(1e-5) - value(-1e-5)) / 2e-5;
                let slope = found.gradient.values()[token];
                assert!((slope - expected).abs() < 1e-8, "{kind:?}: {slope} and {expected}");
            }
        }
    }

    #[test]
    fn a_pair_of_equal_ratios_costs_log_two() {
        let logp = rows([&[-1.0], &[-1.0], &[-5000.0]]);
        let loss = PreferenceLoss { kind: PreferenceKind::Sigmoid, beta: 0.1 };
        let of = |chosen, rejected| {
            let pairs = [PreferencePair { chosen, rejected }];
            let reference = rows([&[-1.0], &[-1.0], &[-1.0]]);
            let batch =
                PairedBatch { logp: &logp, reference: &reference, mask: None, pairs: &pairs };
            loss.loss(&batch)
        };
        assert!((of(0, 1).unwrap().value - std::f64::consts::LN_2).abs() < 1e-15);
        assert!((of(2, 0).unwrap().value - 499.9).abs() < 1e-9);
        assert!(of(0, 3).unwrap_err().to_string().contains("rows 0 and 3"));
    }
}
