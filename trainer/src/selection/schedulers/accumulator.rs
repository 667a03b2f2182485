//! The statistics of a group whose rewards come in one by one, without keeping them.

use serde::{Deserialize, Serialize};

use crate::advantages::conventions::Std;
use crate::selection::stats::float;

/// The count, the mean and the standard deviation of rewards that come in one by one (Note on a Method
/// for Calculating Corrected Sums of Squares and Products, Welford; two of them are merged as in
/// Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, Chan, Golub and `LeVeque`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupAccumulator {
    count: usize,
    missing: usize,
    mean: f64,
    squares: f64,
}

impl GroupAccumulator {
    /// Takes a reward in; one that is missing (NaN) is only counted.
    pub fn push(&mut self, reward: f64) {
        if reward.is_nan() {
            self.missing += 1;
            return;
        }
        self.count += 1;
        let before = reward - self.mean;
        self.mean += before / float(self.count);
        self.squares += before * (reward - self.mean);
    }

    /// Takes in what another has taken in.
    pub fn merge(&mut self, other: &Self) {
        self.missing += other.missing;
        let (left, right) = (float(self.count), float(other.count));
        if right > 0.0 {
            let apart = other.mean - self.mean;
            self.count += other.count;
            self.mean += apart * right / (left + right);
            self.squares += other.squares + apart * apart * left * right / (left + right);
        }
    }

    /// How many rewards there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many rewards were missing.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Their mean; NaN of none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// Their standard deviation; 0 of one, NaN of none.
    pub fn std(&self, kind: Std) -> f64 {
        let divisor = match (self.count, kind) {
            (0, _) => return f64::NAN,
            (1, _) => return 0.0,
            (count, Std::Unbiased) => float(count - 1),
            (count, Std::Biased) => float(count),
        };
        (self.squares.max(0.0) / divisor).sqrt()
    }

    /// The advantage of a reward of the group as GRPO has it, `(reward - mean) / (std + eps)`; 0 where
    /// it is missing, or the standard deviation is 0.
    pub fn advantage(&self, reward: f64, eps: f64) -> f64 {
        let std = self.std(Std::default());
        if reward.is_nan() || std.is_nan() || std <= 0.0 {
            return 0.0;
        }
        (reward - self.mean) / (std + eps)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::selection::stats;

    fn of(rewards: &[f64]) -> GroupAccumulator {
        let mut group = GroupAccumulator::default();
        for reward in rewards {
            group.push(*reward);
        }
        group
    }

    #[test]
    fn statistics_are_those_of_the_textbook() {
        let group = of(&[1.0, 0.0, f64::NAN, 0.0, 0.0]);
        assert_eq!((group.count(), group.missing()), (4, 1));
        assert!((group.mean() - 0.25).abs() < 1e-15);
        assert!((group.std(Std::Unbiased) - 0.5).abs() < 1e-15);
        assert!((group.advantage(1.0, 0.0) - 1.5).abs() < 1e-12);
        assert!(group.advantage(f64::NAN, 0.0).abs() < 1e-15);
        assert!(of(&[]).mean().is_nan() && of(&[]).std(Std::Unbiased).is_nan());
        assert!(of(&[0.1; 9]).advantage(0.1, 0.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn one_by_one_and_in_parts_is_as_at_once(
            left in prop::collection::vec(-1e3..1e3, 0..20),
            right in prop::collection::vec(-1e3..1e3, 1..20),
        ) {
            let all: Vec<f64> = left.iter().chain(&right).copied().collect();
            let mut merged = of(&left);
            merged.merge(&of(&right));
            for group in [of(&all), merged] {
                prop_assert_eq!(group.count(), all.len());
                prop_assert!((group.mean() - stats::mean(&all)).abs() < 1e-9);
                for kind in [Std::Unbiased, Std::Biased] {
                    prop_assert!((group.std(kind) - stats::std(&all, kind)).abs() < 1e-9);
                }
            }
        }
    }
}
