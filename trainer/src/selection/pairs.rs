//! `pairs`: rollouts to compare, for a loss of preferences.

use crate::selection::outcome::RolloutPair;
use crate::selection::prelude::*;

/// Pairs the best rollout of a group with its worst (Bridging Offline and Online Reinforcement Learning
/// for LLMs, semi-online DPO), or what was clicked with what was skipped above it.
///
/// Of equal rewards, the first rollout is the best and the last is the worst. A group whose rewards are
/// equal has no pair. Rollouts that are in no pair are dropped.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PairSelection {
    /// Which rollouts are paired.
    by: PairBy,
    /// The reward of the preferred one is more than this above that of the other.
    gap_above: f64,
}

/// Which rollouts of a group are paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairBy {
    /// The best with the worst.
    #[default]
    BestWorst,
    /// Each one with every one before it in the group whose reward is lower: what was clicked, with what
    /// was shown above it and skipped.
    SkippedAbove,
}

impl SelectorSettings for PairSelection {
    fn check(&self) -> Result<(), TrainerError> {
        within("gap_above", self.gap_above, 0.0..)
    }
}

impl Selector for PairSelection {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let mut fates = Fates::new(batch);
        let mut pairs = Vec::new();
        for members in batch.groups.iter() {
            let scored = batch.scored(&members);
            let found = self.pairs(&scored);
            let reason = match (scored.len(), found.is_empty()) {
                (1, _) => DropReason::Single,
                (_, true) => DropReason::LowVariance,
                (_, false) => DropReason::RankedOut,
            };
            let is_paired =
                |row: &usize| found.iter().any(|pair| pair.chosen == *row || pair.rejected == *row);
            fates.drop_all(members.rows().filter(|row| !is_paired(row)), reason);
            pairs.extend(found);
        }
        let after = SelectionState { steps: state.steps + 1, ..state.next() };
        Ok(Selection { pairs, ..fates.selection(after) })
    }
}

impl PairSelection {
    fn pairs(&self, scored: &[(usize, f64)]) -> Vec<RolloutPair> {
        let is_far = |better: f64, worse: f64| better - worse > self.gap_above;
        let pair = |chosen, rejected| RolloutPair { chosen, rejected };
        match self.by {
            PairBy::BestWorst => {
                let best = scored.iter().rev().max_by(|left, right| left.1.total_cmp(&right.1));
                let worst = scored.iter().rev().min_by(|left, right| left.1.total_cmp(&right.1));
                let ends = best.zip(worst).filter(|(best, worst)| is_far(best.1, worst.1));
                ends.map(|(best, worst)| pair(best.0, worst.0)).into_iter().collect()
            }
            PairBy::SkippedAbove => {
                let above = |(at, clicked): (usize, &(usize, f64))| {
                    let clicked = *clicked;
                    let before = scored.split_at(at).0.iter();
                    let skipped = before.filter(move |above| is_far(clicked.1, above.1));
                    skipped.map(move |skipped| pair(clicked.0, skipped.0)).collect::<Vec<_>>()
                };
                scored.iter().enumerate().flat_map(above).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused};

    const NAN: f64 = f64::NAN;

    fn pairs(settings: Value, size: usize, rewards: &[f64]) -> (Vec<usize>, Vec<(usize, usize)>) {
        let columns = Columns::new(size, rewards);
        let chosen = columns.select(&*built("pairs", settings), &SelectionState::default());
        let pairs = chosen.pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
        (kept_rows(&chosen), pairs)
    }

    #[test]
    fn the_best_is_paired_with_the_worst() {
        let rewards = [0.2, 0.9, 0.9, 0.2, 0.5, 0.5, NAN, NAN, NAN, 0.1, 0.0, 0.3];
        assert_eq!(pairs(json!({}), 4, &rewards), (vec![1, 3, 10, 11], vec![(1, 3), (11, 10)]));
        assert_eq!(pairs(json!({"gap_above": 0.5}), 4, &rewards), (vec![1, 3], vec![(1, 3)]));
    }

    #[test]
    fn a_click_is_preferred_to_what_was_skipped_above_it() {
        let rewards = [0.0, 1.0, NAN, 0.0, 1.0, 0.0];
        let found = pairs(json!({"by": "skipped_above"}), 6, &rewards);
        assert_eq!(found, (vec![0, 1, 3, 4], vec![(1, 0), (4, 0), (4, 3)]));
        assert!(refused("pairs", json!({"gap_above": -1.0})).contains("0 or more"));
    }
}
