//! What a trainer knows between two calls: the step, its own measurements, running statistics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::deviation::Std;

/// What a trainer knows between two calls. Handed in with every call and never kept inside, so that
/// a call stays a function of what it is given. Offline it is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingState {
    /// The training step, counted from 0.
    pub step: u64,
    /// Measurements of the trainer by name, such as `validation_accuracy`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
    /// What running normalisation knows of each reward, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub moments: BTreeMap<String, RunningMoments>,
}

/// Count, mean and sum of squared deviations of the numbers seen so far.
///
/// Updated and merged by the formulas of "Formulas for Robust, One-Pass Parallel Computation of
/// Covariances and Arbitrary-Order Statistical Moments", section 2; the order of the numbers and of
/// the merges changes nothing but rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningMoments {
    /// How many numbers were seen.
    pub count: u64,
    /// Their mean; 0 of none.
    pub mean: f64,
    /// The sum of their squared deviations from the mean.
    pub m2: f64,
}

impl TrainingState {
    /// A state that knows the step alone.
    pub fn at(step: u64) -> Self {
        Self { step, ..Self::default() }
    }

    /// The state after a call: the moments of each reward have seen the unshaped rewards of that
    /// call, given by name. Step and values are the trainer's and stay. Numbers that are not finite
    /// are left out.
    #[must_use]
    pub fn observed<'a>(&self, rewards: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let mut seen: BTreeMap<&str, RunningMoments> = BTreeMap::new();
        for (name, reward) in rewards {
            seen.entry(name).or_default().push(reward);
        }
        let mut next = self.clone();
        for (name, moments) in seen {
            let known = next.moments.entry(name.to_owned()).or_default();
            *known = known.merge(moments);
        }
        next
    }
}

impl RunningMoments {
    /// Those of these numbers.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut moments = Self::default();
        numbers.into_iter().for_each(|number| moments.push(number));
        moments
    }

    /// Adds a number; one that is not finite is left out.
    pub fn push(&mut self, number: f64) {
        if number.is_finite() {
            self.count = self.count.saturating_add(1);
            let distance = number - self.mean;
            self.mean += distance / self.weight();
            self.m2 += distance * (number - self.mean);
        }
    }

    /// Those of the numbers of both.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let count = self.count.saturating_add(other.count);
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other } else { self };
        }
        let (mine, theirs) = (self.weight(), other.weight());
        let (all, distance) = (mine + theirs, other.mean - self.mean);
        Self {
            count,
            mean: (mine * self.mean + theirs * other.mean) / all,
            m2: self.m2 + other.m2 + distance * distance * (mine * theirs / all),
        }
    }

    /// Their standard deviation; 0 of none, and of one.
    pub fn std(&self, kind: Std) -> f64 {
        let divisor = match kind {
            Std::Unbiased => self.weight() - 1.0,
            Std::Biased => self.weight(),
        };
        if self.count < 2 { 0.0 } else { (self.m2 / divisor).max(0.0).sqrt() }
    }

    #[expect(clippy::cast_precision_loss, reason = "no training sees 2^53 rewards")]
    fn weight(&self) -> f64 {
        self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_next_state_has_seen_the_rewards_of_the_call() {
        let state = TrainingState::at(3).observed([("a", 1.0), ("b", 5.0), ("a", 3.0)]);
        let next = state.observed([("a", 8.0), ("a", f64::NAN)]);
        assert_eq!(next.step, 3);
        assert_eq!(next.moments["a"].count, 3);
        assert!((next.moments["a"].mean - 4.0).abs() < 1e-12);
        assert!((next.moments["a"].std(Std::Unbiased) - 13.0_f64.sqrt()).abs() < 1e-12);
        assert!((next.moments["a"].std(Std::Biased) - (26.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(next.moments["b"], RunningMoments { count: 1, mean: 5.0, m2: 0.0 });
        assert_eq!(state.moments["a"].count, 2, "the state that was handed in is as it was");
    }

    #[test]
    fn it_is_read_from_what_is_known() {
        let text = r#"{"step": 2, "moments": {"a": {"count": 2, "mean": 1.0, "m2": 0.5}}}"#;
        let state: TrainingState = serde_json::from_str(text).unwrap();
        assert_eq!((state.step, state.moments["a"].std(Std::Biased)), (2, 0.5));
        assert!(serde_json::from_str::<TrainingState>(r#"{"stepp": 2}"#).is_err());
    }

    proptest! {
        #[test]
        fn neither_the_order_nor_the_batches_matter(
            numbers in prop::collection::vec(-100.0..100.0_f64, 1..40), cut in 0..40_usize,
        ) {
            let whole = RunningMoments::of(numbers.iter().copied());
            let back = RunningMoments::of(numbers.iter().rev().copied());
            let (one, other) = numbers.split_at(cut.min(numbers.len()));
            let parts = RunningMoments::of(other.iter().copied()).merge(RunningMoments::of(one.iter().copied()));
            let count = f64::from(u32::try_from(numbers.len()).unwrap());
            let mean = numbers.iter().sum::<f64>() / count;
            let m2: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
            for found in [whole, back, parts] {
                prop_assert!((found.mean - mean).abs() < 1e-12 * 100.0);
                prop_assert!((found.m2 - m2).abs() <= 1e-12 * (1.0 + m2) * 100.0);
                prop_assert_eq!(found.count, numbers.len() as u64);
            }
        }
    }
}
