//! The ways to join votes.

use assay_verifiers::stats::{mean, median, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::critiques::critique_weights;
use super::vote::Vote;

/// How votes become one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VoteBy {
    /// The most frequent value; of several the one next to the median, and of two such the lower.
    #[default]
    Majority,
    /// The middle value; of an even number the mean of the middle two.
    Median,
    /// The mean.
    Mean,
    /// The mean, each vote weighted by the agreement of its critique with the others
    /// ([`critique_weights`]). Reconstructed.
    CritiqueWeighted,
}

/// One answer from votes, between the least and the largest of them. `None` where fewer than `needed`
/// (at least 1) have a finite value.
pub fn combine(how: VoteBy, votes: &[Vote], needed: usize) -> Option<f64> {
    let answered: Vec<(&Vote, f64)> = votes
        .iter()
        .filter_map(|vote| Some((vote, vote.value.filter(|value| value.is_finite())?)))
        .collect();
    if answered.len() < needed.max(1) {
        return None;
    }
    // Adding zero makes a negative zero equal to zero.
    let values: Vec<f64> = answered.iter().map(|(_, value)| *value + 0.0).collect();
    match how {
        VoteBy::Majority => majority(&values),
        VoteBy::Median => median(&values),
        VoteBy::Mean => mean(&values),
        VoteBy::CritiqueWeighted => {
            let critiques: Vec<&str> =
                answered.iter().map(|(vote, _)| vote.critique.as_str()).collect();
            let weights = critique_weights(&critiques);
            let sum: f64 = weights.iter().zip(&values).map(|(weight, value)| weight * value).sum();
            let (low, high) = bounds(&values)?;
            Some(ratio(sum, weights.iter().sum())?.clamp(low, high))
        }
    }
}

fn majority(values: &[f64]) -> Option<f64> {
    let count = |value: &f64| values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
    let most = values.iter().map(count).max()?;
    let middle = median(values)?;
    let near = |value: &f64| (value - middle).abs();
    values
        .iter()
        .filter(|value| count(value) == most)
        .copied()
        .min_by(|a, b| near(a).total_cmp(&near(b)).then(a.total_cmp(b)))
}

fn bounds(values: &[f64]) -> Option<(f64, f64)> {
    Some((values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?))
}
