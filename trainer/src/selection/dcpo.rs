//! `dcpo`: the best and the worst rollouts of a group, by reward and length.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::TrainerError;
use crate::selection::outcome::{DropReason, Fates, RolloutPair, Selection};
use crate::selection::policy::{Selector, SelectorSettings};
use crate::selection::rollouts::{RolloutBatch, at};
use crate::selection::state::SelectionState;
use crate::selection::stats;

/// Keeps the rollouts of a group that contrast most: high rewards for short responses, and low rewards
/// (`ChatShopBuddy`, dynamic contrastive policy optimisation).
///
/// Rollouts are ranked by `reward - kappa * length / mean length of the group`. The first `share` of
/// them and the last are kept, at least one of each; the first is paired with the last, and so on. A
/// group whose rewards spread too little is dropped. Of equal ones, the first ranks higher.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContrastFilter {
    /// What a response of the mean length costs.
    #[serde(default = "tenth")]
    kappa: f64,
    /// The share of a group that is kept at either end, rounded down.
    #[serde(default = "quarter")]
    share: f64,
    /// A group is dropped where its greatest reward is not more than this above its least.
    #[serde(default = "tiny")]
    spread_above: f64,
}

fn tenth() -> f64 {
    0.1
}

fn quarter() -> f64 {
    0.25
}

fn tiny() -> f64 {
    1e-6
}

impl SelectorSettings for ContrastFilter {
    fn check(&self) -> Result<(), TrainerError> {
        if !(0.0..=0.5).contains(&self.share) {
            let message = format!("`share` is {}, expected 0 to 0.5", self.share);
            return Err(TrainerError::setting("share", message));
        }
        if !(self.kappa.is_finite() && self.spread_above >= 0.0) {
            let message = "`kappa` is a number, and `spread_above` at least 0";
            return Err(TrainerError::setting("kappa", message));
        }
        Ok(())
    }
}

impl Selector for ContrastFilter {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let lengths = batch.need("lengths", batch.lengths)?;
        let mut fates = Fates::new(batch);
        let mut pairs = Vec::new();
        for members in batch.groups.iter() {
            let ranked = self.ranked(&batch.scored(&members), lengths);
            let rewards: Vec<f64> = ranked.iter().map(|row| at(batch.rewards, *row)).collect();
            if ranked.len() < 2 {
                fates.drop_all(members.rows(), DropReason::Single);
            } else if stats::range(&rewards) <= self.spread_above {
                fates.drop_all(members.rows(), DropReason::LowVariance);
            } else {
                let ends = stats::floored(self.share * stats::float(ranked.len())).max(1);
                let last = ranked.len() - ends;
                let middle = ranked.get(ends..last).unwrap_or_default();
                fates.drop_all(middle.iter().copied(), DropReason::RankedOut);
                let opposite = ranked.iter().zip(ranked.iter().rev()).take(ends);
                pairs.extend(
                    opposite
                        .map(|(best, worst)| RolloutPair { chosen: *best, rejected: *worst }),
                );
            }
        }
        let after = SelectionState { steps: state.steps + 1, ..state.next() };
        Ok(Selection { pairs, ..fates.selection(after) })
    }
}

impl ContrastFilter {
    /// The rows with a reward, the best first.
    fn ranked(&self, scored: &[(usize, f64)], lengths: &[usize]) -> Vec<usize> {
        let length = |row: &usize| stats::float(at(lengths, *row));
        let mean = stats::mean(&scored.iter().map(|(row, _)| length(row)).collect::<Vec<_>>());
        let cost = |row: &usize| if mean > 0.0 { self.kappa * length(row) / mean } else { 0.0 };
        let mut ranked: Vec<(usize, f64)> =
            scored.iter().map(|(row, reward)| (*row, reward - cost(row))).collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranked.into_iter().map(|(row, _)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused};

    const NAN: f64 = f64::NAN;

    #[test]
    fn short_right_ones_and_long_wrong_ones_are_kept() {
        // The mean length is 10: 0.9, 0.95, 0.85, 0.4, -0.1, -0.2, -0.05, -0.05.
        let mut columns = Columns::new(8, &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
        columns.lengths = vec![10, 5, 15, 10, 10, 20, 5, 5];
        let chosen = columns.select(&*built("dcpo", json!({})), &SelectionState::default());
        assert_eq!(kept_rows(&chosen), [0, 1, 4, 5]);
        let pairs: Vec<_> = chosen.pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
        assert_eq!(pairs, [(1, 5), (0, 4)]);
        assert_eq!(chosen.reasons()[&DropReason::RankedOut], 4);
        // Without a price of length, the first of equals rank higher.
        let free = built("dcpo", json!({"kappa": 0.0}));
        assert_eq!(kept_rows(&columns.select(&*free, &SelectionState::default())), [0, 1, 6, 7]);
    }

    #[test]
    fn groups_without_contrast_are_dropped() {
        let columns = Columns::new(3, &[0.5, 0.5, NAN, NAN, 1.0, NAN, 1.0, NAN, 0.0]);
        let chosen = columns.select(&*built("dcpo", json!({})), &SelectionState::default());
        assert_eq!(kept_rows(&chosen), [6, 8]);
        let reasons: Vec<_> = chosen.reasons().into_iter().collect();
        let expected =
            [(DropReason::MissingReward, 4), (DropReason::Single, 1), (DropReason::LowVariance, 2)];
        assert_eq!(reasons, expected);
        assert!(refused("dcpo", json!({"share": 0.6})).contains("0 to 0.5"));
    }
}
