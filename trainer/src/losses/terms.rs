//! The terms of a loss, one a token, and how their derivatives become a gradient.

use crate::losses::tokens::{LossToken, TrainedTokens, at, put};

/// What an objective says of the tokens of a batch. The loss is the sum of `values` with the
/// coefficients of the aggregation; its gradient is that of the same sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The term of each token; 0 where the token is masked.
    pub values: Vec<f64>,
    /// The derivative of each term with respect to the log-probability of its own token.
    pub slopes: Vec<f64>,
    /// What couples the tokens of a row, if anything does.
    pub coupled: Option<Coupling>,
    /// What the objective has to say beside.
    pub metrics: Vec<(&'static str, f64)>,
}

/// Terms that depend on one number of their row, such as the mean log ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// The derivative of each term with respect to the number of its row.
    pub slopes: Vec<f64>,
    /// The derivative of that number with respect to the log-probability of each token.
    pub spread: Vec<f64>,
}

/// One term, and its derivative with respect to the log-probability of its token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    /// The term.
    pub value: f64,
    /// Its derivative.
    pub slope: f64,
}

impl Terms {
    /// Terms that do not depend on each other.
    pub fn apart(tokens: &TrainedTokens<'_>, mut term: impl FnMut(LossToken) -> Term) -> Self {
        let mut terms = Self::none(tokens);
        for token in tokens.iter() {
            terms.set(token.at, term(token));
        }
        terms
    }

    /// No term for any token.
    pub fn none(tokens: &TrainedTokens<'_>) -> Self {
        let zeros = vec![0.0; tokens.len()];
        Self { values: zeros.clone(), slopes: zeros, coupled: None, metrics: Vec::new() }
    }

    /// Makes the term of one token zero.
    pub fn silence(&mut self, at: usize) {
        self.set(at, Term::default());
        if let Some(coupled) = &mut self.coupled {
            put(&mut coupled.slopes, at, 0.0);
        }
    }

    /// The sum of the terms with these coefficients.
    pub fn sum(&self, coefficients: &[f64]) -> f64 {
        let terms = self.values.iter().zip(coefficients);
        // What has no coefficient may have overflowed.
        terms.filter(|(_, c)| **c != 0.0).map(|(value, c)| value * c).sum()
    }

    /// Adds the gradient of that sum to `gradient`.
    pub fn add_gradient(
        &self,
        coefficients: &[f64],
        tokens: &TrainedTokens<'_>,
        gradient: &mut [f64],
    ) {
        let slopes = self.slopes.iter().zip(coefficients);
        for (sum, (slope, c)) in gradient.iter_mut().zip(slopes) {
            if *c != 0.0 {
                *sum += slope * c;
            }
        }
        let Some(coupled) = &self.coupled else { return };
        let rows = tokens.row_sums(|token| match at(coefficients, token.at) {
            0.0 => 0.0,
            c => c * at(&coupled.slopes, token.at),
        });
        for token in tokens.iter() {
            let spread = at(&coupled.spread, token.at);
            if let Some(sum) = gradient.get_mut(token.at).filter(|_| spread != 0.0) {
                *sum += at(&rows, token.row) * spread;
            }
        }
    }

    fn set(&mut self, at: usize, term: Term) {
        put(&mut self.values, at, term.value);
        put(&mut self.slopes, at, term.slope);
    }
}
