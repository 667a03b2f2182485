//! The rollouts that are trained on in a step, as numbers: what advantages and losses are computed from.

use std::collections::BTreeSet;

use assay_verifiers::stats::mean;

use super::error::TrainingError;
use super::sampling::SampledRollout;
use crate::advantages::{
    AdvantageValues, Advantages, Estimator, EstimatorState, RewardBatch, RewardPart, StepReward,
};
use crate::groups::Groups;
use crate::policy::{Sequences, TextTokenizer};
use crate::ragged::Ragged;

/// A rollout that is trained on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrainedRollout {
    pub(super) sampled: SampledRollout,
    /// The advantage that it was stored with, where it is replayed with that.
    pub(super) advantage: Option<f64>,
    /// The first token that is trained on.
    pub(super) from_token: usize,
}

/// The rollouts of a step, in columns.
#[derive(Clone, Debug, Default)]
pub(super) struct TrainBatch {
    pub(super) sequences: Sequences,
    pub(super) mask: Ragged<bool>,
    /// The log-probabilities when they were sampled.
    pub(super) rollout: Ragged<f64>,
    /// Those of the policy at the start of the step, where it matters.
    pub(super) old: Option<Ragged<f64>>,
    /// Those of the reference policy, where there is one.
    pub(super) reference: Option<Ragged<f64>>,
    /// How many steps each rollout is behind the policy.
    pub(super) staleness: Vec<u64>,
}

impl TrainBatch {
    /// The columns of rollouts. What a tool wrote is not trained on; where `masks_truncated`, nor is
    /// anything of a completion that was cut.
    #[expect(clippy::indexing_slicing, reason = "each task has a prompt")]
    pub(super) fn new(
        rollouts: &[TrainedRollout],
        prompts: &[Vec<u32>],
        step: u64,
        masks_truncated: bool,
    ) -> Self {
        let mut batch = Self::default();
        for TrainedRollout { sampled, from_token, .. } in rollouts {
            batch.sequences.push(&prompts[sampled.task], &sampled.tokens);
            let is_out = masks_truncated && sampled.truncated;
            let own = sampled.own().into_iter().enumerate();
            batch.mask.push(own.map(|(at, own)| own && at >= *from_token && !is_out));
            batch.rollout.push(sampled.log_probs.iter().copied());
            batch.staleness.push(step.saturating_sub(sampled.step));
        }
        batch
    }

    /// The columns of some of the rows.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        Self {
            sequences: self.sequences.select(rows),
            mask: rows_of(&self.mask, rows),
            rollout: rows_of(&self.rollout, rows),
            old: self.old.as_ref().map(|old| rows_of(old, rows)),
            reference: self.reference.as_ref().map(|reference| rows_of(reference, rows)),
            staleness: rows.iter().filter_map(|row| self.staleness.get(*row)).copied().collect(),
        }
    }
}

/// What advantages are computed from, beside the rollouts.
pub(super) struct Credit<'a> {
    pub(super) estimator: &'a dyn Estimator,
    /// The names of the parts of the reward, and their weights.
    pub(super) parts: &'a [(String, f64)],
    pub(super) tokenizer: &'a dyn TextTokenizer,
    /// What the estimator kept from the steps before.
    pub(super) state: &'a EstimatorState,
}

impl Credit<'_> {
    /// The advantages of rollouts, in their order. `groups` are those of the rollouts, `token_rewards`
    /// a reward for each token beside that of the rollout.
    pub(super) fn advantages(
        &self,
        rollouts: &[&SampledRollout],
        groups: &Groups,
        token_rewards: Option<&Ragged<f64>>,
    ) -> Result<Advantages, TrainingError> {
        let number = |reward: Option<f64>| reward.unwrap_or(f64::NAN);
        let rewards: Vec<f64> = rollouts.iter().map(|one| number(one.reward.reward)).collect();
        let columns: Vec<Vec<f64>> = (0..self.parts.len())
            .map(|part| {
                let of = |one: &&SampledRollout| one.reward.parts.get(part).copied().flatten();
                rollouts.iter().map(|one| number(of(one))).collect()
            })
            .collect();
        let named = self.parts.iter().zip(&columns);
        let parts: Vec<RewardPart<'_>> = named
            .map(|((name, weight), rewards)| RewardPart { name, weight: *weight, rewards })
            .collect();
        let lengths: Vec<usize> = rollouts.iter().map(|one| one.length()).collect();
        let has_turns = rollouts.iter().any(|one| !one.observations.is_empty());
        let own: Option<Ragged<bool>> =
            has_turns.then(|| rollouts.iter().map(|one| one.own()).collect());
        let steps = self.steps(rollouts);
        let prompts: Vec<String> = rollouts.iter().map(|one| one.task.to_string()).collect();
        let batch = RewardBatch {
            parts: &parts,
            lengths: Some(&lengths),
            mask: own.as_ref(),
            token_rewards,
            steps: steps.as_ref(),
            prompts: Some(&prompts),
            state: Some(self.state),
            ..RewardBatch::new(groups, &rewards)?
        };
        Ok(self.estimator.estimate(&batch)?)
    }

    /// The steps of each rollout in tokens; `None` where no reward has steps.
    fn steps(&self, rollouts: &[&SampledRollout]) -> Option<Ragged<StepReward>> {
        if rollouts.iter().all(|one| one.reward.steps.is_empty()) {
            return None;
        }
        let mut steps = Ragged::new();
        for one in rollouts {
            let ends = self.tokenizer.ends(&one.tokens);
            let token = |byte: usize| ends.partition_point(|end| *end < byte) + 1;
            let in_tokens = one.reward.steps.iter().map(|((start, end), reward)| StepReward {
                start: Some(ends.partition_point(|end| end <= start).min(one.tokens.len())),
                end: token(*end).min(one.tokens.len()),
                reward: *reward,
            });
            steps.push(distinct(in_tokens.collect()));
        }
        Some(steps)
    }
}

/// Steps that end at one token are one: its reward is their sum.
fn distinct(steps: Vec<StepReward>) -> Vec<StepReward> {
    let mut merged: Vec<StepReward> = Vec::with_capacity(steps.len());
    for step in steps {
        match merged.last_mut() {
            Some(last) if last.end >= step.end => last.reward += step.reward,
            _ => merged.push(step),
        }
    }
    merged
}

/// The groups of rollouts: those of one step and one group of it.
pub(super) fn groups_of(rollouts: &[&SampledRollout]) -> Groups {
    Groups::by_key(rollouts.iter().map(|one| (one.step, one.group)))
}

/// The advantages of trained rollouts: those of the estimator, but those that rollouts were stored
/// with, where they were.
pub(super) fn with_stored(
    computed: AdvantageValues,
    rollouts: &[TrainedRollout],
) -> AdvantageValues {
    let stored: Vec<Option<f64>> = rollouts.iter().map(|rollout| rollout.advantage).collect();
    match computed {
        AdvantageValues::Rollouts(values) => AdvantageValues::Rollouts(
            values.into_iter().zip(stored).map(|(value, stored)| stored.unwrap_or(value)).collect(),
        ),
        AdvantageValues::Tokens(mut rows) => {
            for (row, stored) in stored.into_iter().enumerate() {
                if let Some(advantage) = stored {
                    rows.row_mut(row).fill(advantage);
                }
            }
            AdvantageValues::Tokens(rows)
        }
    }
}

/// One number for each rollout: the mean over the tokens of the policy where each token has its own.
pub(super) fn per_rollout<'a>(
    advantages: &AdvantageValues,
    rollouts: impl Iterator<Item = &'a SampledRollout>,
) -> Vec<f64> {
    match advantages {
        AdvantageValues::Rollouts(values) => values.clone(),
        AdvantageValues::Tokens(rows) => {
            let rows = rows.iter().zip(rollouts);
            rows.map(|(row, one)| mean(one.of_own(row)).unwrap_or(0.0)).collect()
        }
    }
}

/// The advantages of some of the rows.
pub(super) fn advantages_of(advantages: &AdvantageValues, rows: &[usize]) -> AdvantageValues {
    match advantages {
        AdvantageValues::Rollouts(values) => AdvantageValues::Rollouts(
            rows.iter().filter_map(|row| values.get(*row)).copied().collect(),
        ),
        AdvantageValues::Tokens(values) => AdvantageValues::Tokens(rows_of(values, rows)),
    }
}

/// Some of the rows, in this order.
pub(super) fn rows_of<T: Copy>(ragged: &Ragged<T>, rows: &[usize]) -> Ragged<T> {
    let mut selected = Ragged::new();
    for row in rows {
        selected.push(ragged.row(*row).iter().copied());
    }
    selected
}

/// Rows in the order of `rollouts`, in runs of at most `tokens_max` tokens; a row that is longer is a
/// run of its own.
pub(super) fn passes(sequences: &Sequences, tokens_max: usize) -> Vec<Vec<usize>> {
    let mut passes: Vec<Vec<usize>> = Vec::new();
    let mut tokens = 0;
    for row in 0..sequences.rows() {
        let more = sequences.prompts.row(row).len() + sequences.completions.row(row).len();
        match passes.last_mut() {
            Some(pass) if tokens + more <= tokens_max => {
                pass.push(row);
                tokens += more;
            }
            _ => {
                passes.push(vec![row]);
                tokens = more;
            }
        }
    }
    passes
}

/// How many groups there are among rollouts.
pub(super) fn group_count(rollouts: &[SampledRollout]) -> usize {
    rollouts.iter().map(|one| (one.step, one.group)).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_hold_as_many_rows_as_fit() {
        let mut sequences = Sequences::default();
        for length in [3_u32, 4, 20, 1, 1] {
            sequences.push(&[0], &vec![1; length as usize]);
        }
        assert_eq!(passes(&sequences, 9), [vec![0, 1], vec![2], vec![3, 4]]);
        assert_eq!(passes(&sequences, 1).len(), 5);
        assert!(passes(&Sequences::default(), 9).is_empty());
    }

    #[test]
    fn steps_that_end_at_one_token_are_one() {
        let step = |end, reward| StepReward::new(end, reward);
        let merged = distinct(vec![step(2, 1.0), step(2, 0.5), step(4, 1.0), step(3, 1.0)]);
        assert_eq!(merged, [step(2, 1.5), step(4, 2.0)]);
    }
}
