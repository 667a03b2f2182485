//! The result of one comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strongly one sample of a group is preferred to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// One sample, by its place in the group.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// Above 0 the first is preferred, below 0 the second, 0 is a tie: from -3 to 3, or -1, 0 and 1.
    /// `None` where the comparison failed or the judge abstained.
    pub strength: Option<f64>,
}

impl PairResult {
    /// A result with a strength.
    pub fn new(first: usize, second: usize, strength: f64) -> Self {
        Self { first, second, strength: Some(strength) }
    }

    /// A comparison without a result.
    pub fn missing(first: usize, second: usize) -> Self {
        Self { first, second, strength: None }
    }

    /// The result as seen by the sample at `place`: its opponent, and the strength for it. `None`
    /// where it took no part, met itself, or there is no finite strength.
    pub(crate) fn seen_by(&self, place: usize) -> Option<(usize, f64)> {
        let strength = self.finite()?;
        match place {
            _ if place == self.first => Some((self.second, strength)),
            _ if place == self.second => Some((self.first, -strength)),
            _ => None,
        }
    }

    /// The strength, where it is a number and the samples are two.
    pub(crate) fn finite(&self) -> Option<f64> {
        self.strength.filter(|strength| strength.is_finite() && self.first != self.second)
    }
}

/// A pair that was judged in both orders. The strengths are those of the order shown: above 0 means
/// that what was shown first is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderedResult {
    /// One sample.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// With `first` shown first. `None` where it failed.
    pub shown: Option<f64>,
    /// With `second` shown first, above 0 for `second`. `None` where it failed.
    pub swapped: Option<f64>,
}

impl OrderedResult {
    /// One result from both orders.
    pub fn joined(&self, on_flip: OnFlip) -> PairResult {
        let strength = both_orders(self.shown, self.swapped, on_flip);
        PairResult { first: self.first, second: self.second, strength }
    }
}

/// What two orders come to that prefer different samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFlip {
    /// A tie: "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", section 3.4.
    #[default]
    Tie,
    /// No result.
    Abstain,
    /// The mean of both strengths, whether they agree or not.
    Average,
}

/// The strength for the first sample from both orders: `shown` with it first, `swapped` with it
/// second, each above 0 for what was shown first.
///
/// Where the two agree, it is their mean. `None` where one is missing.
pub fn both_orders(shown: Option<f64>, swapped: Option<f64>, on_flip: OnFlip) -> Option<f64> {
    let (shown, swapped) = (shown?, -swapped?);
    let mean = shown.midpoint(swapped);
    let agree = verdict(shown) == verdict(swapped);
    match on_flip {
        _ if !mean.is_finite() => None,
        OnFlip::Tie if !agree => Some(0.0),
        OnFlip::Abstain if !agree => None,
        _ => Some(mean),
    }
}

/// -1, 0 or 1.
pub(crate) fn verdict(strength: f64) -> i8 {
    i8::from(strength > 0.0) - i8::from(strength < 0.0)
}

/// The points of the first: 1 for a win, 1/2 for a tie, 0 for a loss.
pub(crate) fn points(strength: f64) -> f64 {
    match verdict(strength) {
        0 => 0.5,
        won => f64::from(u8::from(won > 0)),
    }
}
