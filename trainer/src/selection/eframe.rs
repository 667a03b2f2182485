//! `eframe`: exploration, filter and replay.

use crate::selection::outcome::ReplayedRollout;
use crate::selection::prelude::*;
use crate::selection::rollouts::at;
use crate::selection::state::BufferedRollout;

/// Explores hard prompts further, filters by advantage, and replays what is rare (`EFRame`: Deeper
/// Reasoning via Exploration-Filter-Replay Reinforcement Learning Framework).
///
/// Where no rollout of a prompt was right, more of them are asked for, at a higher temperature. They
/// come back marked as `extra`, in a batch of their own or with the next one, and only those with a
/// great advantage are kept. Rollouts that were cut and have a positive advantage are dropped. What
/// has a great advantage is stored, and the whole buffer is replayed every few steps.
///
/// A batch of extra rollouts alone belongs to the step before it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct EframeReplay {
    /// A prompt is hard where the size of every advantage is below this, and every reward too.
    #[default(0.01)]
    hard_below: f64,
    /// How many more rollouts a hard prompt gets.
    #[default(20)]
    extra_rollouts: usize,
    /// Their temperature.
    #[default(1.2)]
    extra_temperature: f64,
    /// A rollout of the first pass is kept where the size of its advantage is above this.
    #[default(0.05)]
    keep_above: f64,
    /// An extra rollout is kept where the size of its advantage is above this.
    #[default(1.0)]
    keep_extra_above: f64,
    /// A rollout is stored where the size of its advantage is above this.
    #[default(1.0)]
    store_above: f64,
    /// How many rollouts the buffer holds; twice those of the first pass of the batch where it is not
    /// given.
    capacity: Option<usize>,
    /// How many steps a rollout stays in the buffer, at most.
    age_max: Option<u64>,
    /// The buffer is replayed in every step whose number this divides.
    #[default(5)]
    replay_every: u64,
    /// Whether a replay empties the buffer.
    after_replay: AfterReplay,
    /// What becomes of rollouts that were cut and have a positive advantage.
    cut_positives: CutPositives,
}

/// Whether a replay empties the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AfterReplay {
    /// The buffer stays as it is.
    #[default]
    Keep,
    /// It is emptied.
    Clear,
}

/// What becomes of rollouts that were cut and have a positive advantage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutPositives {
    /// They are dropped, where it is given which rollouts were cut.
    #[default]
    Drop,
    /// They are kept like others.
    Keep,
}

impl SelectorSettings for EframeReplay {
    fn check(&self) -> Result<(), TrainerError> {
        let numbers = [
            ("hard_below", self.hard_below),
            ("keep_above", self.keep_above),
            ("keep_extra_above", self.keep_extra_above),
            ("store_above", self.store_above),
            ("extra_temperature", self.extra_temperature),
        ];
        for (key, number) in numbers {
            within(key, number, 0.0..)?;
        }
        within("replay_every", f64::from(u8::from(self.replay_every > 0)), 1.0..)
    }
}

impl Selector for EframeReplay {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let advantages = batch.need("advantages", batch.advantages)?;
        let mut fates = Fates::new(batch);
        for row in 0..batch.rows() {
            if let Err(reason) = self.judge(batch, row, at(advantages, row)) {
                fates.drop(row, reason);
            }
        }
        let mut after = state.next();
        let mut released = Vec::new();
        let mut replayed = Vec::new();
        let regular = (0..batch.rows()).filter(|row| !batch.is_extra(*row)).count();
        if regular > 0 {
            after.steps += 1;
            let (step, age_max) = (after.steps, self.age_max.unwrap_or(u64::MAX));
            released.extend(after.buffer.expire(step, age_max));
            replayed = self.replay(&mut after, &mut released);
        }
        let stored = self.store(batch, advantages, &fates, &mut after);
        let capacity = self.capacity.unwrap_or_else(|| capacity(&mut after, regular));
        released.extend(after.buffer.shrink(capacity));
        let requests = self.explore(batch, advantages, &after);
        Ok(Selection { replayed, requests, stored, released, ..fates.selection(after) })
    }
}

/// Twice the rollouts of the last first pass.
fn capacity(after: &mut SelectionState, regular: usize) -> usize {
    const REGULAR: &str = "regular_rollouts";
    if regular > 0 {
        after.set(REGULAR, crate::selection::stats::float(regular));
    }
    crate::selection::stats::floored(2.0 * after.number(REGULAR))
}

impl EframeReplay {
    fn judge(
        &self,
        batch: &RolloutBatch<'_>,
        row: usize,
        advantage: f64,
    ) -> Result<(), DropReason> {
        let is_cut = at(batch.truncated.unwrap_or_default(), row);
        if is_cut && advantage > 0.0 && self.cut_positives == CutPositives::Drop {
            return Err(DropReason::TruncatedPositive);
        }
        let bound = if batch.is_extra(row) { self.keep_extra_above } else { self.keep_above };
        if advantage.abs() > bound { Ok(()) } else { Err(DropReason::SmallAdvantage) }
    }

    /// The buffer, where it is its turn.
    fn replay(
        &self,
        after: &mut SelectionState,
        released: &mut Vec<String>,
    ) -> Vec<ReplayedRollout> {
        if !after.steps.is_multiple_of(self.replay_every) {
            return Vec::new();
        }
        let again = |rollout: &BufferedRollout| ReplayedRollout {
            id: rollout.id.clone(),
            weight: 1.0,
            advantage: Some(rollout.advantage),
        };
        let replayed = after.buffer.iter().map(again).collect();
        if self.after_replay == AfterReplay::Clear {
            released.extend(after.buffer.clear());
        }
        replayed
    }

    /// Stores what is kept and has a great advantage.
    fn store(
        &self,
        batch: &RolloutBatch<'_>,
        advantages: &[f64],
        fates: &Fates,
        after: &mut SelectionState,
    ) -> Vec<StoredRollout> {
        let (mut stored, mut buffered) = (Vec::new(), Vec::new());
        for row in (0..batch.rows()).filter(|row| fates.is_kept(*row)) {
            let (advantage, reward) = (at(advantages, row), at(batch.rewards, row));
            if advantage.abs() > self.store_above {
                let id = batch.id(row, after.batches).into_owned();
                let step = after.steps;
                buffered.push(BufferedRollout { id, advantage, reward, step });
                stored.push(StoredRollout { row, part: StoredPart::Rollout, reward });
            }
        }
        after.buffer.extend(buffered);
        stored
    }

    /// More rollouts of the prompts of the first pass that were too hard.
    fn explore(
        &self,
        batch: &RolloutBatch<'_>,
        advantages: &[f64],
        after: &SelectionState,
    ) -> Vec<RolloutRequest> {
        let is_hard = |row: usize, reward: f64| {
            !batch.is_extra(row)
                && at(advantages, row).abs() < self.hard_below
                && reward < self.hard_below
        };
        let hard = batch.groups.iter().enumerate().filter(|(_, members)| {
            let scored = batch.scored(members);
            !scored.is_empty() && scored.into_iter().all(|(row, reward)| is_hard(row, reward))
        });
        let request = |(group, _)| RolloutRequest::MoreRollouts {
            group,
            prompt: batch.prompt(group, after.batches).into_owned(),
            rollouts: self.extra_rollouts,
            temperature: self.extra_temperature,
        };
        hard.filter(|_| self.extra_rollouts > 0).map(request).collect()
    }
}

#[cfg(test)]
mod tests;
