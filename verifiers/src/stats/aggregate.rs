//! One score of the scores of steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::means::mean;

/// How the scores of steps become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// The least: one wrong step spoils the solution.
    #[default]
    Min,
    /// The mean.
    Mean,
    /// The product: the chance that every step is right, if they were independent.
    Product,
    /// The geometric mean: the product without its bias against long solutions; 0 where one is 0 or less.
    GeometricMean,
    /// The last: what the model thinks with everything before its eyes.
    Last,
    /// The sum. It pays for more steps.
    Sum,
    /// The greatest.
    Max,
}

impl Aggregate {
    /// One score of many; `None` of none.
    pub fn of(self, scores: &[f64]) -> Option<f64> {
        let last = *scores.last()?;
        Some(match self {
            Self::Min => scores.iter().copied().fold(last, f64::min),
            Self::Max => scores.iter().copied().fold(last, f64::max),
            Self::Mean => mean(scores)?,
            Self::Sum => scores.iter().sum(),
            Self::Product => scores.iter().product(),
            Self::GeometricMean => mean(scores.iter().map(|score| score.max(0.0).ln()))?.exp(),
            Self::Last => last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aggregate_of_one_list() {
        let scores = [0.5, 0.25, 1.0];
        let expected = [
            (Aggregate::Min, 0.25),
            (Aggregate::Max, 1.0),
            (Aggregate::Last, 1.0),
            (Aggregate::Sum, 1.75),
            (Aggregate::Product, 0.125),
            (Aggregate::GeometricMean, 0.5),
            (Aggregate::Mean, 1.75 / 3.0),
        ];
        for (aggregate, value) in expected {
            assert!((aggregate.of(&scores).unwrap() - value).abs() < 1e-12, "{aggregate:?}");
        }
        assert_eq!(Aggregate::Min.of(&[]), None);
    }
}
