//! `prof`: rollouts whose steps agree with their outcome.

use assay_verifiers::Reward;

use crate::selection::draws::Draws;
use crate::selection::prelude::*;
use crate::selection::rollouts::at;

/// Keeps the rollouts of a group whose process rewards agree with their outcome, and as many right as
/// wrong ones (Beyond Correctness: Harmonizing Process and Outcome Rewards through RL Training, the
/// process consistency filter).
///
/// The consistency of a rollout is the mean reward of its steps, less a penalty for too few or too many
/// steps, and negative for a wrong rollout. Right and wrong ones are ranked apart. The least consistent
/// of the larger side are dropped until both sides are equal, then those of both sides in turn, the
/// right one first. Of rollouts that are equally consistent, the first is kept.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ProfFilter {
    /// How many rollouts of a group are kept; a share of them where it is not given.
    keep: Option<usize>,
    /// The share of the rollouts of a group that is kept, rounded down.
    #[default(0.5)]
    share: f64,
    /// Which rollouts are ranked.
    rank: RankedSides,
    /// What becomes of a group that has no right or no wrong rollout.
    one_sided: OneSided,
    /// A reward from which a rollout is right.
    #[default(Reward::RIGHT)]
    right_at: f64,
    /// The penalty for a rollout of one step, or of `steps_max` steps and more.
    step_penalty: f64,
    /// The number of steps from which there are too many.
    steps_max: Option<usize>,
}

/// Which rollouts are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankedSides {
    /// The right ones and the wrong ones.
    #[default]
    Both,
    /// The right ones. Of the wrong ones, those that are dropped are drawn: safer with a process reward
    /// model that was trained on other texts.
    CorrectOnly,
}

/// What becomes of a group that has no right or no wrong rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OneSided {
    /// As many rollouts as of another group are drawn.
    #[default]
    Random,
    /// It is dropped.
    Drop,
}

/// A rollout and how much its steps agree with its outcome.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    row: usize,
    consistency: f64,
}

impl SelectorSettings for ProfFilter {
    fn check(&self) -> Result<(), TrainerError> {
        within("share", self.share, 0.0..=1.0)?;
        within("step_penalty", self.step_penalty, 0.0..)
    }
}

impl Selector for ProfFilter {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let means = batch.need("step_means", batch.step_means)?;
        if self.step_penalty > 0.0 {
            batch.need("step_counts", batch.step_counts)?;
        }
        let after = SelectionState { steps: state.steps + 1, ..state.next() };
        let draws = Draws::new(&after, "prof");
        let chance = |row: usize| draws.of(&batch.id(row, after.batches));
        let mut fates = Fates::new(batch);
        for members in batch.groups.iter() {
            let mut sides = [Vec::new(), Vec::new()];
            for (row, reward) in batch.scored(&members) {
                if at(means, row).is_nan() {
                    fates.drop(row, DropReason::MissingMeasure);
                    continue;
                }
                let is_right = reward >= self.right_at;
                let consistency = match (is_right, self.rank) {
                    (true, _) => self.quality(batch, means, row),
                    (false, RankedSides::Both) => -self.quality(batch, means, row),
                    (false, RankedSides::CorrectOnly) => chance(row),
                };
                let [right, wrong] = &mut sides;
                if is_right { right } else { wrong }.push(Ranked { row, consistency });
            }
            self.filter(sides, chance, &mut fates);
        }
        Ok(fates.selection(after))
    }
}

impl ProfFilter {
    /// The mean reward of the steps, less the penalty.
    fn quality(&self, batch: &RolloutBatch<'_>, means: &[f64], row: usize) -> f64 {
        let steps = at(batch.step_counts.unwrap_or_default(), row);
        let is_odd = steps == 1 || self.steps_max.is_some_and(|max| steps >= max);
        at(means, row) - if is_odd { self.step_penalty } else { 0.0 }
    }

    /// Drops what is too many of the right and the wrong rollouts of a group.
    fn filter(&self, sides: [Vec<Ranked>; 2], chance: impl Fn(usize) -> f64, fates: &mut Fates) {
        let [mut right, mut wrong] = sides;
        let all = right.len() + wrong.len();
        let share = stats::floored(self.share * stats::float(all));
        let keep = self.keep.unwrap_or(share);
        if right.is_empty() || wrong.is_empty() {
            let mut only = right;
            only.append(&mut wrong);
            for ranked in &mut only {
                ranked.consistency = chance(ranked.row);
            }
            let (keep, reason) = match self.one_sided {
                OneSided::Random => (keep, DropReason::NotDrawn),
                OneSided::Drop => (0, DropReason::LowVariance),
            };
            sort(&mut only);
            fates.drop_all(only.into_iter().skip(keep).map(|ranked| ranked.row), reason);
            return;
        }
        sort(&mut right);
        sort(&mut wrong);
        while right.len() + wrong.len() > keep {
            let larger = if right.len() >= wrong.len() { &mut right } else { &mut wrong };
            let Some(least) = larger.pop() else { break };
            fates.drop(least.row, DropReason::Inconsistent);
        }
    }
}

/// The most consistent first.
fn sort(side: &mut [Ranked]) {
    side.sort_by(|left, right| {
        right.consistency.total_cmp(&left.consistency).then(left.row.cmp(&right.row))
    });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused};

    const NAN: f64 = f64::NAN;

    fn chosen(settings: Value, rewards: &[f64], means: &[f64], counts: &[usize]) -> Vec<usize> {
        let mut columns = Columns::new(rewards.len(), rewards);
        columns.step_means = means.to_vec();
        columns.step_counts = counts.to_vec();
        let selector = built("prof", settings);
        kept_rows(&columns.select(&*selector, &SelectionState::seeded(1)))
    }

    #[test]
    fn sides_are_ranked_apart_and_balanced() {
        let rewards = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        let means = [0.9, 0.2, 0.8, 0.5, 0.1, 0.7, 0.3, 0.6];
        let counts = [4, 4, 1, 4, 4, 4, 4, 4];
        // Of five right ones, two are dropped to be three and three, then one of each.
        assert_eq!(chosen(json!({}), &rewards, &means, &counts), [0, 2, 6, 7]);
        // The penalty of 0.4 puts the rollout of one step behind that of 0.5.
        let penalty = json!({"step_penalty": 0.4});
        assert_eq!(chosen(penalty, &rewards, &means, &counts), [0, 3, 6, 7]);
        // All have too few or too many steps: the ranks are as without a penalty.
        let many = json!({"step_penalty": 1.0, "steps_max": 4, "keep": 2});
        assert_eq!(chosen(many, &rewards, &means, &counts), [0, 6]);
        // Four steps are too many where four are the limit.
        let four = json!({"step_penalty": 1.0, "steps_max": 4, "keep": 2});
        let means_of_four = [0.9, 0.5, 0.4, 0.6];
        assert_eq!(chosen(four, &[1.0, 1.0, 0.0, 0.0], &means_of_four, &[4, 3, 2, 2]), [1, 2]);
        // With three to keep, the right one is dropped first.
        assert_eq!(chosen(json!({"keep": 3}), &rewards, &means, &counts), [0, 6, 7]);
        assert_eq!(chosen(json!({"keep": 7}), &rewards, &means, &counts), [0, 1, 2, 3, 5, 6, 7]);
        assert_eq!(chosen(json!({"keep": 9}), &rewards, &means, &counts).len(), 8);
    }

    #[test]
    fn a_weak_model_ranks_right_ones_alone() {
        let rewards = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let means = [0.2, 0.9, 0.1, 0.2, 0.3, 0.4];
        let columns = Columns { step_means: means.to_vec(), ..Columns::new(6, &rewards) };
        let selector = built("prof", json!({"rank": "correct_only", "keep": 2}));
        let mut wrong = [0; 6];
        for seed in 0..200 {
            let rows = kept_rows(&columns.select(&*selector, &SelectionState::seeded(seed)));
            assert_eq!((rows.len(), rows[0]), (2, 1));
            wrong[rows[1]] += 1;
        }
        assert!(wrong[2..].iter().all(|count| (30..70).contains(count)), "{wrong:?}");
    }

    #[test]
    fn groups_of_one_side_are_thinned_or_dropped() {
        let means = [0.1, 0.2, 0.3, 0.4];
        assert_eq!(chosen(json!({}), &[1.0; 4], &means, &[2; 4]).len(), 2);
        assert_eq!(chosen(json!({"one_sided": "drop"}), &[0.0; 4], &means, &[2; 4]), [0; 0]);
    }

    #[test]
    fn what_is_missing_is_no_zero() {
        let rewards = [1.0, 1.0, NAN, 0.0, 0.0];
        let means = [0.1, NAN, 0.9, NAN, 0.5];
        assert_eq!(chosen(json!({"keep": 4}), &rewards, &means, &[2; 5]), [0, 4]);
        assert!(refused("prof", json!({"share": 1.5})).contains("0 to 1"));
        assert!(refused("prof", json!({"step_penalty": -1.0})).contains("0 or more"));
    }
}
