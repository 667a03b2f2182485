//! The accuracy of a reward over pairs of a better and a worse completion, by aspect.

use assay_verifiers::stats::{corrected_mean, float, ratio};
use std::collections::BTreeMap;

use serde::Serialize;

/// How a pair was decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairDecision {
    /// By two scores: the higher wins.
    Scores {
        /// Of the better completion; NaN where it is missing.
        chosen: f64,
        /// Of the worse one.
        rejected: f64,
    },
    /// By a judge that saw both, once in either order.
    BothOrders {
        /// What was preferred with the better completion first.
        chosen_first: Preferred,
        /// What was preferred with the worse completion first.
        rejected_first: Preferred,
    },
}

/// What a judge preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferred {
    /// The better completion.
    Chosen,
    /// The worse one.
    Rejected,
    /// Neither.
    Tie,
    /// There was no verdict.
    Nothing,
}

/// A pair, and what it is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AspectPair<'a> {
    /// Such as `safety`.
    pub aspect: &'a str,
    /// How it was decided.
    pub decision: PairDecision,
}

/// How often the better completion won.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PairAccuracy {
    /// Over all pairs.
    pub overall: Option<f64>,
    /// The mean of the aspects.
    pub macro_mean: Option<f64>,
    /// By aspect: the accuracy, and the pairs that were decided.
    pub aspects: BTreeMap<String, (f64, usize)>,
    /// Pairs without a decision: a score or a verdict is missing.
    pub undecided: usize,
    /// Pairs of a judge whose two orders disagree; they count as wrong.
    pub inconsistent: usize,
}

/// Counts pairs: 1 where the better completion won, 0.5 for a tie, 0 else. A judge has to prefer it in
/// both orders.
///
/// Sources: "`RewardBench`: Evaluating Reward Models for Language Modeling" (Lambert et al. 2024),
/// section 4; "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (Zheng et al. 2023), section
/// 3.4, for both orders.
pub fn pair_accuracy(pairs: &[AspectPair<'_>]) -> PairAccuracy {
    let mut found = PairAccuracy::default();
    let mut by_aspect: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for pair in pairs {
        match worth(pair.decision) {
            Some(worth) => by_aspect.entry(pair.aspect).or_default().push(worth),
            None => found.undecided += 1,
        }
        found.inconsistent += usize::from(disagrees(pair.decision));
    }
    let all: Vec<f64> = by_aspect.values().flatten().copied().collect();
    found.overall = corrected_mean(&all);
    let aspects = by_aspect.into_iter().filter_map(|(aspect, values)| {
        Some((aspect.to_owned(), (corrected_mean(&values)?, values.len())))
    });
    found.aspects = aspects.collect();
    let sum: f64 = found.aspects.values().map(|(accuracy, _)| accuracy).sum();
    found.macro_mean = ratio(sum, float(found.aspects.len()));
    found
}

fn worth(decision: PairDecision) -> Option<f64> {
    match decision {
        PairDecision::Scores { chosen, rejected } if chosen.is_nan() || rejected.is_nan() => None,
        PairDecision::Scores { chosen, rejected } => {
            Some(f64::midpoint(f64::from(chosen > rejected), f64::from(chosen >= rejected)))
        }
        PairDecision::BothOrders { chosen_first, rejected_first } => {
            match (chosen_first, rejected_first) {
                (Preferred::Nothing, _) | (_, Preferred::Nothing) => None,
                (Preferred::Chosen, Preferred::Chosen) => Some(1.0),
                (Preferred::Tie, Preferred::Tie) => Some(0.5),
                _ => Some(0.0),
            }
        }
    }
}

fn disagrees(decision: PairDecision) -> bool {
    match decision {
        PairDecision::Scores { .. } => false,
        PairDecision::BothOrders { chosen_first, rejected_first } => {
            let is_given = |preferred| preferred != Preferred::Nothing;
            is_given(chosen_first) && is_given(rejected_first) && chosen_first != rejected_first
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_by_hand() {
        let scores = |aspect, chosen, rejected| AspectPair {
            aspect,
            decision: PairDecision::Scores { chosen, rejected },
        };
        let judged = |chosen_first, rejected_first| AspectPair {
            aspect: "b",
            decision: PairDecision::BothOrders { chosen_first, rejected_first },
        };
        let found = pair_accuracy(&[
            scores("a", 2.0, 1.0),
            scores("a", 1.0, 1.0),
            scores("a", f64::NAN, 1.0),
            judged(Preferred::Chosen, Preferred::Chosen),
            judged(Preferred::Chosen, Preferred::Rejected),
            judged(Preferred::Tie, Preferred::Tie),
            judged(Preferred::Rejected, Preferred::Rejected),
            judged(Preferred::Chosen, Preferred::Nothing),
        ]);
        assert_eq!(found.aspects["a"], (0.75, 2));
        assert_eq!(found.aspects["b"], (0.375, 4));
        assert_eq!((found.overall, found.macro_mean), (Some(0.5), Some(0.5625)));
        assert_eq!((found.undecided, found.inconsistent), (2, 1));
        assert_eq!(pair_accuracy(&[]), PairAccuracy::default());
    }
}
