//! Aggregation of step scores (last, minimum, product, mean) to one score of the whole.
//!
//! Which one a model was read with is part of the model: Skywork's process models are read at the
//! last step, Qwen2.5-Math-PRM by the least.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The geometric mean: the product without its bias against long solutions.
    GeometricMean,
    /// The last: what the model thinks with everything before its eyes.
    Last,
    /// The sum. Pays for more steps; [`clip_delta`] is what a trainer adds up instead.
    Sum,
    /// The greatest.
    Max,
}

impl Aggregate {
    /// One score of many; `None` of none.
    pub fn of(self, scores: &[f64]) -> Option<f64> {
        let (last, count) = (*scores.last()?, scores.iter().map(|_| 1.0).sum::<f64>());
        Some(match self {
            Self::Min => scores.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Mean => scores.iter().sum::<f64>() / count,
            Self::Sum => scores.iter().sum(),
            Self::Product => scores.iter().product(),
            Self::GeometricMean => {
                (scores.iter().map(|score| score.max(0.0).ln()).sum::<f64>() / count).exp()
            }
            Self::Last => last,
        })
    }
}

/// The reward of each step by Clip and Delta: scores above `ceiling` count as it, so that repeating
/// good steps gains nothing; then each step earns what it has over the next, so that what follows a
/// step adds up to its own clipped score, however many steps there are.
///
/// With `c_k = min(p_k - ceiling, 0)`: `r_k = c_k - c_(k+1)` up to the last but two, the last but
/// one keeps `c`, and the last earns nothing: the outcome speaks for it.
///
/// Source: "On Designing Effective RL Reward at Training Time for LLM Reasoning", Clip and
/// Delta.
pub fn clip_delta(scores: &[f64], ceiling: f64) -> Vec<f64> {
    let clipped: Vec<f64> = scores.iter().map(|score| (score - ceiling).min(0.0)).collect();
    let count = clipped.len();
    let reward = |(at, own): (usize, &f64)| match clipped.get(at + 1) {
        None => 0.0,
        Some(_) if at + 2 == count => *own,
        Some(next) => own - next,
    };
    clipped.iter().enumerate().map(reward).collect()
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

    #[test]
    fn more_good_steps_gain_nothing_by_clip_and_delta() {
        let all = |rewards: &[f64]| rewards.iter().sum::<f64>();
        let short = clip_delta(&[0.9, 0.2, 0.8], 0.7);
        let long = clip_delta(&[0.9, 0.9, 0.9, 0.9, 0.2, 0.8], 0.7);
        assert!((all(&short) - all(&long)).abs() < 1e-12);
        assert_eq!(clip_delta(&[0.3], 0.7), [0.0]);
    }
}
