//! Precision, recall and their mean.

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "texts are far shorter than 2^53")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

/// `part / whole`, and 0 of nothing.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

/// How much of what is given is wanted, and how much of what is wanted is given; each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// The share of what is given that is wanted.
    pub precision: f64,
    /// The share of what is wanted that is given.
    pub recall: f64,
}

impl Overlap {
    /// Of two sizes and what they have in common.
    pub fn of(common: usize, given: usize, wanted: usize) -> Self {
        Self { precision: ratio(common, given), recall: ratio(common, wanted) }
    }

    /// The harmonic mean of both.
    pub fn f1(self) -> f64 {
        let Self { precision, recall } = self;
        let sum = precision + recall;
        if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 }
    }

    /// The mean in which recall weighs `beta` times as much as precision (van Rijsbergen 1979).
    pub fn f_beta(self, beta: f64) -> f64 {
        let Self { precision, recall } = self;
        let weight = beta * beta;
        let sum = weight * precision + recall;
        if sum > 0.0 { (1.0 + weight) * precision * recall / sum } else { 0.0 }
    }
}
