//! `cm2`: advantages of turns, among the rollouts of a group that reached the turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, RewardBatch};
use super::conventions::{EPS, EpsAt, EstimatorSettings, Std, in_range, not_negative};
use super::per_group::report;
use crate::statistics::mean;
use super::{steps, tokens};
use crate::error::TrainerError;
use crate::ragged::Ragged;

/// Checklist rewards at the level of turns: for turn `k`, the scores of the rollouts of a group that
/// reached it are compared with their mean. Fewer than `members_min` of them are left out, with
/// advantages of 0; so is a turn whose judge or tool failed (NaN). It needs `steps`, one for each turn,
/// and `mask` or `lengths`. [`item_score`] and [`item_advantages`] are the level of steps.
///
/// Source: CM2 ("CM2: Reinforcement Learning with Checklist Rewards for Multi-Turn and Multi-Step
/// Agentic Tool Use"), as in its repository, `core_algos.py` and `checklist.py`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cm2 {
    /// Fewer scores than this of a turn are not compared.
    pub members_min: usize,
    /// Whether deviations are divided by the standard deviation of the turn.
    pub scale: TurnScale,
    /// Which standard deviation.
    pub std: Std,
    /// Added to it.
    pub eps: f64,
}

/// What the deviation of a turn is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnScale {
    /// The standard deviation of the turn in the group.
    #[default]
    Group,
    /// Nothing.
    None,
}

/// One item of a checklist over the rollouts of a group.
#[derive(Clone, Debug)]
pub struct ItemScores {
    /// The weight of the item.
    pub weight: f64,
    /// The score of each rollout, see [`item_score`]; NaN where it has none.
    pub scores: Vec<f64>,
    /// For each rollout, the steps at which the item is active, counted from 0.
    pub active: Ragged<usize>,
}

/// Whether the sum over items is divided by that of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemSum {
    /// It is not.
    #[default]
    Plain,
    /// It is.
    ByWeight,
}

impl Default for Cm2 {
    fn default() -> Self {
        Self { members_min: 5, scale: TurnScale::Group, std: Std::default(), eps: EPS }
    }
}

impl EstimatorSettings for Cm2 {
    fn check(&self) -> Result<(), TrainerError> {
        not_negative("eps", self.eps)
    }
}

impl Estimator for Cm2 {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let turns = batch.needed_rows("cm2", "steps", batch.steps)?;
        let mask = tokens::trained(batch, "cm2")?;
        tokens::ordered_steps(&mask, turns)?;
        let groups = steps::group_of_rows(batch);
        let values = steps::normalized(
            batch,
            turns,
            |row, turn| groups.get(row).map(|group| (*group, turn)),
            |moments| match self.scale {
                _ if moments.count < self.members_min => None,
                TurnScale::Group => Some(EpsAt::Std.divisor(moments.std(self.std), self.eps)),
                TurnScale::None => Some(1.0),
            },
        );
        let values = tokens::spread_steps(&mask, turns, &values);
        tokens::checked(batch, &values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

/// The score of an item whose prerequisites were met at one step and that was first satisfied at a
/// later one: `eta ^ (steps between - 1)`. 0 where it was never satisfied, `None` where its
/// prerequisites were never met.
///
/// # Errors
/// An `eta` out of 0 to 1.
pub fn item_score(
    met_at: Option<usize>,
    satisfied_at: Option<usize>,
    eta: f64,
) -> Result<Option<f64>, TrainerError> {
    in_range("eta", eta, 0.0, 1.0)?;
    Ok(met_at.map(|met| match satisfied_at {
        Some(satisfied) => {
            let waited = satisfied.saturating_sub(met).saturating_sub(1);
            eta.powi(i32::try_from(waited).unwrap_or(i32::MAX))
        }
        None => 0.0,
    }))
}

/// The advantage of each step of each rollout of a group: the sum over the items that are active at it
/// of `weight (score - mean of the item)`. An item with fewer scores than `members_min` adds nothing.
/// `steps` says how many steps each rollout has.
///
/// # Errors
/// An item without a score or a list of steps for each rollout.
pub fn item_advantages(
    items: &[ItemScores],
    steps: &[usize],
    members_min: usize,
    sum: ItemSum,
) -> Result<Ragged<f64>, TrainerError> {
    let zeros = || -> Ragged<f64> { steps.iter().map(|steps| vec![0.0; *steps]).collect() };
    let (mut values, mut weights) = (zeros(), zeros());
    for (at, item) in items.iter().enumerate() {
        if item.scores.len() != steps.len() || item.active.rows() != steps.len() {
            let have = format!("{} scores and {} lists", item.scores.len(), item.active.rows());
            let expected = format!("{} of both", steps.len());
            return Err(TrainerError::input(format!("item {at}"), have, expected));
        }
        let scored: Vec<f64> = item.scores.iter().copied().filter(|s| !s.is_nan()).collect();
        if scored.len() < members_min {
            continue;
        }
        let mean = mean(&scored);
        for (row, score) in item.scores.iter().enumerate().filter(|(_, score)| !score.is_nan()) {
            for step in item.active.row(row) {
                if let Some(value) = values.row_mut(row).get_mut(*step) {
                    *value += item.weight * (score - mean);
                }
                if let Some(weight) = weights.row_mut(row).get_mut(*step) {
                    *weight += item.weight;
                }
            }
        }
    }
    if sum == ItemSum::ByWeight {
        for (value, weight) in values.values_mut().iter_mut().zip(weights.values()) {
            *value = super::conventions::divided(*value, *weight);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::{ItemScores, ItemSum, item_advantages, item_score};
    use crate::advantages::batch::StepReward;
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens, rows};

    #[test]
    fn a_turn_is_compared_with_the_same_turn_of_others() {
        // Turn 0: 1, 0, 1, 0 and none. Turn 1: two rollouts reached it, which is too few.
        let step = |end: usize, reward: f64| StepReward::new(end, reward);
        let steps = rows(&[
            &[step(1, 1.0), step(2, 9.0)],
            &[step(1, 0.0), step(2, 3.0)],
            &[step(1, 1.0)],
            &[step(1, 0.0)],
            &[step(1, f64::NAN)],
        ]);
        let steps = Box::leak(Box::new(steps));
        let config = "kind = \"cm2\"\nmembers_min = 4\nscale = \"none\"";
        let values = of_tokens(estimated_with(config, &[0.0; 5], 5, |mut batch| {
            batch.lengths = Some(&[2, 2, 1, 1, 1]);
            batch.steps = Some(steps);
            batch
        }));
        assert_eq!(values, rows(&[&[0.5, 0.0], &[-0.5, 0.0], &[0.5], &[-0.5], &[0.0]]));
    }

    #[test]
    fn an_item_is_scored_by_how_soon_it_is_satisfied() {
        assert_eq!(item_score(None, Some(3), 0.5), Ok(None));
        assert_eq!(item_score(Some(1), None, 0.5), Ok(Some(0.0)));
        assert_eq!(item_score(Some(1), Some(2), 0.5), Ok(Some(1.0)));
        assert_eq!(item_score(Some(1), Some(4), 0.5), Ok(Some(0.25)));
        assert!(item_score(Some(1), Some(4), 2.0).is_err());
    }

    #[test]
    fn active_items_are_added_up() {
        let item = |weight: f64, scores: &[f64]| ItemScores {
            weight,
            scores: scores.to_vec(),
            active: rows(&[&[0, 1], &[1]]),
        };
        let items = [item(2.0, &[1.0, 0.0]), item(1.0, &[0.0, 1.0]), item(9.0, &[1.0, f64::NAN])];
        let sums = item_advantages(&items, &[2, 2], 2, ItemSum::Plain).unwrap();
        assert_eq!(sums, rows(&[&[0.5, 0.5], &[0.0, -0.5]]));
        let means = item_advantages(&items, &[2, 2], 2, ItemSum::ByWeight).unwrap();
        assert_close(means.values(), &[0.5 / 3.0, 0.5 / 3.0, 0.0, -0.5 / 3.0]);
        let error = item_advantages(&items, &[2], 2, ItemSum::Plain).unwrap_err().to_string();
        assert_eq!(error, "item 0: 2 scores and 2 lists, expected 1 of both");
    }
}
