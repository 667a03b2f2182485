//! The agreement of critiques, as a weight of their votes.

use std::collections::BTreeSet;

use assay_verifiers::stats::{float, mean, ratio};

/// How alike two critiques are: the F1 of their sets of words, 0 to 1. Words are runs of letters and
/// digits, compared without regard to case. 0 where one has none.
pub fn critique_similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (words(one), words(other));
    let both = float(one.intersection(&other).count());
    ratio(2.0 * both, float(one.len() + other.len())).unwrap_or(0.0)
}

/// A weight for each critique: its mean similarity to the others, plus 1 over their number, so that
/// a lone or an empty critique still has a weight. The weights sum to 1.
///
/// Reconstructed: after the similarity of critiques in "Reward Modeling from Natural Language Human
/// Feedback", with sets of words in place of extracted arguments.
pub fn critique_weights(critiques: &[&str]) -> Vec<f64> {
    let count = float(critiques.len());
    let weight = |(at, critique): (usize, &&str)| {
        let others = critiques.iter().enumerate().filter(|(other, _)| *other != at);
        let alike: Vec<f64> =
            others.map(|(_, other)| critique_similarity(critique, other)).collect();
        mean(&alike).unwrap_or(0.0) + 1.0 / count
    };
    let weights: Vec<f64> = critiques.iter().enumerate().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
