//! `band`: prompts that are neither too easy nor too hard, or whose rewards vary enough.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::TrainerError;
use crate::selection::outcome::{DropReason, Fates, Selection};
use crate::selection::policy::{Selector, SelectorSettings};
use crate::selection::rollouts::RolloutBatch;
use crate::selection::state::SelectionState;
use crate::advantages::conventions::Std;
use crate::selection::stats;
use crate::selection::usable::right;

/// Keeps the groups of which a statistic lies in a band: the pass rate, the mean or the standard
/// deviation of their rewards.
///
/// `min` and `max` belong to the band, `above` and `below` do not. A pass rate from 0.2 to 0.8 is
/// common in the curation of data; a standard deviation above 0 drops groups of which nothing is
/// learned. Rewards that are missing take no part in the statistic.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandFilter {
    /// The statistic.
    of: GroupStatistic,
    /// The least value that is kept.
    #[serde(default)]
    min: Option<f64>,
    /// The greatest value that is kept.
    #[serde(default)]
    max: Option<f64>,
    /// Only values above this one are kept.
    #[serde(default)]
    above: Option<f64>,
    /// Only values below this one are kept.
    #[serde(default)]
    below: Option<f64>,
    /// A reward from which an answer is right, where pass rates are not given.
    #[serde(default = "right")]
    pass_at: f64,
    /// Which standard deviation.
    #[serde(default)]
    std: Std,
}

/// A statistic of the rewards of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupStatistic {
    /// The share of right answers: as given for the prompt, else counted in the group.
    PassRate,
    /// The mean of the rewards.
    Mean,
    /// The standard deviation of the rewards.
    Std,
}

impl SelectorSettings for BandFilter {
    fn check(&self) -> Result<(), TrainerError> {
        let bounds = [("min", self.min), ("max", self.max), ("above", self.above)];
        let bounds = bounds.into_iter().chain([("below", self.below)]);
        let given: Vec<(&str, f64)> =
            bounds.filter_map(|(key, bound)| Some((key, bound?))).collect();
        if given.is_empty() {
            let message = "no bound is given, expected min, max, above or below";
            return Err(TrainerError::setting("min", message));
        }
        if let Some((key, bound)) = given.iter().find(|(_, bound)| bound.is_nan()) {
            return Err(TrainerError::setting(*key, format!("`{key}` is {bound}")));
        }
        let lowest = self.min.into_iter().chain(self.above).fold(f64::NEG_INFINITY, f64::max);
        let highest = self.max.into_iter().chain(self.below).fold(f64::INFINITY, f64::min);
        if lowest > highest {
            let message = format!("the band from {lowest} to {highest} is empty");
            return Err(TrainerError::setting("min", message));
        }
        Ok(())
    }
}

impl Selector for BandFilter {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let mut fates = Fates::new(batch);
        for (group, members) in batch.groups.iter().enumerate() {
            let rewards: Vec<f64> =
                batch.scored(&members).into_iter().map(|(_, reward)| reward).collect();
            if let Err(reason) = self.judge(self.statistic(batch, group, &rewards)) {
                fates.drop_all(members.rows(), reason);
            }
        }
        Ok(fates.selection(state.next()))
    }
}

impl BandFilter {
    fn statistic(&self, batch: &RolloutBatch<'_>, group: usize, rewards: &[f64]) -> f64 {
        match self.of {
            GroupStatistic::Mean => stats::mean(rewards),
            GroupStatistic::Std => stats::std(rewards, self.std),
            GroupStatistic::PassRate => match batch.pass_rates {
                Some(rates) => rates.get(group).copied().unwrap_or(f64::NAN),
                None => stats::pass_rate(rewards, self.pass_at),
            },
        }
    }

    fn judge(&self, value: f64) -> Result<(), DropReason> {
        if value.is_nan() {
            return Err(DropReason::MissingMeasure);
        }
        let is_low = self.min.is_some_and(|min| value < min)
            || self.above.is_some_and(|above| value <= above);
        let is_high = self.max.is_some_and(|max| value > max)
            || self.below.is_some_and(|below| value >= below);
        match (is_low, is_high) {
            (true, _) if self.of == GroupStatistic::Std => Err(DropReason::LowVariance),
            (true, _) => Err(DropReason::BelowBand),
            (_, true) => Err(DropReason::AboveBand),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::groups::Groups;
    use crate::selection::testing::{built, kept_rows, refused};

    const NAN: f64 = f64::NAN;

    #[test]
    fn bounds_belong_to_the_band_or_do_not() {
        // Pass rates 0, 1/4, 1/2, 3/4, 1.
        let rewards: Vec<f64> = (0..5)
            .flat_map(|right| (0..4).map(move |at| f64::from(u8::from(at < right))))
            .collect();
        let groups = Groups::of_size(20, 4).unwrap();
        let batch = RolloutBatch::new(&groups, &rewards).unwrap();
        for (settings, kept_groups) in [
            (json!({"of": "pass_rate", "min": 0.25, "max": 0.75}), vec![1, 2, 3]),
            (json!({"of": "pass_rate", "above": 0.25, "below": 0.75}), vec![2]),
            (json!({"of": "mean", "above": 0.0, "below": 1.0}), vec![1, 2, 3]),
            (json!({"of": "std", "above": 0.0}), vec![1, 2, 3]),
            // Sample deviations: 0, 1/2, 1/sqrt(3), 1/2, 0.
            (json!({"of": "std", "above": 0.5}), vec![2]),
            (json!({"of": "std", "min": 0.5}), vec![1, 2, 3]),
            // Population deviations: 0, sqrt(3)/4, 1/2, sqrt(3)/4, 0.
            (json!({"of": "std", "min": 0.5, "std": "biased"}), vec![2]),
        ] {
            let chosen =
                built("band", settings.clone()).select(&batch, &SelectionState::default()).unwrap();
            let expected: Vec<usize> =
                kept_groups.iter().flat_map(|group| group * 4..group * 4 + 4).collect();
            assert_eq!(kept_rows(&chosen), expected, "{settings}");
        }
    }

    #[test]
    fn missing_rewards_and_rates_are_no_zeros() {
        let groups = Groups::of_size(6, 2).unwrap();
        let rewards = [1.0, NAN, NAN, NAN, 1.0, 0.0];
        let mut batch = RolloutBatch::new(&groups, &rewards).unwrap();
        let hard = built("band", json!({"of": "mean", "max": 0.6}));
        let chosen = hard.select(&batch, &SelectionState::default()).unwrap();
        assert_eq!(kept_rows(&chosen), [4, 5], "one right answer of one is a mean of 1");
        let reasons: Vec<_> = chosen.reasons().into_iter().collect();
        assert_eq!(reasons, [(DropReason::MissingReward, 3), (DropReason::AboveBand, 1)]);

        batch.pass_rates = Some(&[0.1, 0.5, NAN]);
        let band = built("band", json!({"of": "pass_rate", "min": 0.1, "max": 0.8}));
        let chosen = band.select(&batch, &SelectionState::default()).unwrap();
        assert_eq!(kept_rows(&chosen), [0]);
        assert_eq!(chosen.reasons()[&DropReason::MissingMeasure], 2);
    }

    #[test]
    fn an_empty_band_is_refused() {
        assert!(refused("band", json!({"of": "mean"})).contains("no bound"));
        let empty = refused("band", json!({"of": "mean", "min": 0.8, "below": 0.2}));
        assert!(empty.contains("from 0.8 to 0.2"), "{empty}");
        assert!(refused("band", json!({"of": "median", "min": 0.0})).contains("median"));
    }
}
