//! `joyagents`: the groups whose rewards fluctuate most.

use crate::selection::prelude::*;
use crate::selection::state::BufferedRollout;

/// Trains on the K groups whose rewards fluctuate most. In a system of agents, a group is the rollouts
/// of one of them (JoyAgents-R1: Joint Evolution Dynamics for Versatile Multi-LLM Agents with
/// Reinforcement Learning, section on the marginal benefit of updates).
///
/// Of groups that fluctuate equally, the first is taken. With a memory, rollouts with a reward above
/// the mean of their group are stored, whether their group is trained on or not.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct TopGroups {
    /// How many groups are trained on; a share of them where it is not given.
    k: Option<usize>,
    /// The share of the groups with a reward that are trained on, rounded down, at least one.
    #[default(0.5)]
    share: f64,
    /// How fluctuation is measured.
    by: Fluctuation,
    /// How many rollouts the memory holds.
    memory: usize,
}

/// How fluctuation is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fluctuation {
    /// The greatest reward less the least.
    #[default]
    Range,
    /// The variance of the rewards.
    Variance,
}

impl SelectorSettings for TopGroups {
    fn check(&self) -> Result<(), TrainerError> {
        within("k", stats::float(self.k.unwrap_or(1)), 1.0..)?;
        within("share", self.share, 0.0..=1.0)
    }
}

impl Selector for TopGroups {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let mut fates = Fates::new(batch);
        let mut after = state.next();
        after.steps += 1;
        let mut ranked: Vec<(usize, f64)> = Vec::new();
        let mut stored = Vec::new();
        for (group, members) in batch.groups.iter().enumerate() {
            let rewarded = batch.scored(&members);
            let rewards: Vec<f64> = rewarded.iter().map(|(_, reward)| *reward).collect();
            if !rewards.is_empty() {
                ranked.push((group, self.fluctuation(&rewards)));
                self.remember(batch, &rewarded, &mut after, &mut stored);
            }
        }
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        let share = stats::floored(self.share * stats::float(ranked.len())).max(1);
        for (group, _) in ranked.iter().skip(self.k.unwrap_or(share)) {
            fates.drop_all(batch.groups.members(*group).rows(), DropReason::RankedOut);
        }
        let released = after.buffer.shrink(self.memory);
        Ok(Selection { stored, released, ..fates.selection(after) })
    }
}

impl TopGroups {
    fn fluctuation(&self, rewards: &[f64]) -> f64 {
        match self.by {
            Fluctuation::Range => stats::range(rewards),
            Fluctuation::Variance => stats::std(rewards, Std::Biased).powi(2),
        }
    }

    /// Stores the rollouts that are better than the mean of their group.
    fn remember(
        &self,
        batch: &RolloutBatch<'_>,
        rewarded: &[(usize, f64)],
        after: &mut SelectionState,
        stored: &mut Vec<StoredRollout>,
    ) {
        let rewards: Vec<f64> = rewarded.iter().map(|(_, reward)| *reward).collect();
        let mean = stats::mean(&rewards);
        let better = rewarded.iter().filter(|(_, reward)| self.memory > 0 && *reward > mean);
        let mut buffered = Vec::new();
        for (row, reward) in better {
            let id = batch.id(*row, after.batches).into_owned();
            let (advantage, step) = (reward - mean, after.steps);
            buffered.push(BufferedRollout { id, advantage, reward: *reward, step });
            stored.push(StoredRollout { row: *row, part: StoredPart::Rollout, reward: *reward });
        }
        after.buffer.extend(buffered);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused};

    const NAN: f64 = f64::NAN;

    /// Ranges 0.4, 1, 0, 1, 0.6; variances 0.04, 0.1875, 0, 0.25 and 0.09 (population).
    const REWARDS: [f64; 20] = [
        0.5, 0.9, 0.5, 0.9, 1.0, 0.0, 0.0, 0.0, 0.3, 0.3, 0.3, 0.3, 1.0, 0.0, 1.0, 0.0, 0.2, 0.8,
        0.2, 0.8,
    ];

    #[test]
    fn the_groups_that_fluctuate_most_are_kept() {
        for (settings, kept) in [
            (json!({}), vec![1, 3]),
            (json!({"k": 1}), vec![1]),
            (json!({"k": 1, "by": "variance"}), vec![3]),
            (json!({"k": 3}), vec![1, 3, 4]),
            (json!({"share": 0.1}), vec![1]),
            (json!({"k": 9}), vec![0, 1, 2, 3, 4]),
        ] {
            let columns = Columns::new(4, &REWARDS);
            let selector = built("joyagents", settings.clone());
            let chosen = columns.select(&*selector, &SelectionState::default());
            let rows: Vec<usize> = kept.iter().flat_map(|group| group * 4..group * 4 + 4).collect();
            assert_eq!(kept_rows(&chosen), rows, "{settings}");
        }
    }

    #[test]
    fn what_is_better_than_its_group_is_remembered() {
        let columns = Columns::new(4, &[1.0, 0.0, 0.0, 0.0, NAN, 0.4, 0.6, NAN]);
        let selector = built("joyagents", json!({"memory": 2}));
        let chosen = columns.select(&*selector, &SelectionState::default());
        assert_eq!(kept_rows(&chosen), [0, 1, 2, 3], "half of two groups");
        let rows: Vec<usize> = chosen.stored.iter().map(|stored| stored.row).collect();
        assert_eq!((rows, chosen.released.len()), (vec![0, 6], 0));
        let again = Columns::new(4, &[0.0, 0.0, 0.0, 1.0]).select(&*selector, &chosen.state);
        assert_eq!(again.released, ["0-0"]);
        assert!(refused("joyagents", json!({"k": 0})).contains("1 or more"));
        assert!(refused("joyagents", json!({"share": 2.0})).contains("0 to 1"));
    }
}
