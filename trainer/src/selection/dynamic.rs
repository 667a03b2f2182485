//! `dynamic`: dynamic sampling, which drops groups of which nothing is learned and samples others.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::TrainerError;
use crate::selection::outcome::{DropReason, Fates, RolloutRequest, Selection, replay_held};
use crate::selection::policy::{Selector, SelectorSettings};
use crate::selection::rollouts::RolloutBatch;
use crate::selection::state::{HeldGroup, SelectionState};
use crate::selection::stats::{self, StdKind};

/// Keeps groups whose rewards differ, and asks for new prompts until the training batch is full
/// (DAPO: An Open-Source LLM Reinforcement Learning System at Scale, section "Dynamic Sampling").
///
/// With `batch_groups`, groups are held until so many are there; then the oldest of them are trained
/// on. Without it, every batch is a training batch. Which groups differ, what is asked for and what
/// becomes of the groups too many are conventions of each library; see the presets. The cut at a full
/// batch goes by the order of groups, and nothing else does.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicSampling {
    /// By what a group is kept.
    #[serde(default)]
    by: KeepBy,
    /// A group is kept where the standard deviation of its rewards is above this.
    #[serde(default)]
    std_above: f64,
    /// Which standard deviation.
    #[serde(default)]
    std: StdKind,
    /// A group is kept where the mean of its rewards, or its pass rate, is above the first number and
    /// below the second.
    #[serde(default = "zero_to_one")]
    between: (f64, f64),
    /// A reward from which an answer is right, where pass rates are not given.
    #[serde(default = "half")]
    pass_at: f64,
    /// What becomes of a group in which one rollout alone has a reward.
    #[serde(default)]
    singles: Singles,
    /// How many groups a training batch has.
    #[serde(default)]
    batch_groups: Option<usize>,
    /// How many prompts are asked for while the batch is not full.
    #[serde(default)]
    refill: Refill,
    /// How many prompts a generation batch has; `batch_groups` where it is not given.
    #[serde(default)]
    gen_groups: Option<usize>,
    /// How many generation batches a training batch may take; 0 for any number.
    #[serde(default)]
    gen_batches_max: u32,
    /// What is done where they do not fill the batch.
    #[serde(default)]
    on_limit: OnLimit,
    /// What becomes of the groups too many.
    #[serde(default)]
    surplus: Surplus,
}

/// By what a group is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeepBy {
    /// The standard deviation of its rewards.
    #[default]
    Std,
    /// The mean of its rewards.
    Mean,
    /// Its share of right answers.
    PassRate,
}

/// What becomes of a group in which one rollout alone has a reward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Singles {
    /// It is dropped: there is nothing to compare the rollout with.
    #[default]
    Drop,
    /// It is kept.
    Keep,
    /// It is judged as a group of more is.
    Judge,
}

/// How many prompts are asked for while a batch is not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refill {
    /// A whole generation batch.
    #[default]
    Batch,
    /// As many as the training batch lacks.
    Missing,
    /// Twice as many as were dropped, at most a training batch at once; what is left of them is asked
    /// for later.
    TwiceDropped,
}

/// What is done where too many generation batches did not fill a training batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// The selection fails.
    #[default]
    Fail,
    /// What is there is trained on.
    Train,
}

/// What becomes of groups too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surplus {
    /// They are dropped.
    #[default]
    Drop,
    /// They are held for the next training batch.
    Hold,
}

fn zero_to_one() -> (f64, f64) {
    (0.0, 1.0)
}

fn half() -> f64 {
    0.5
}

/// Prompts that are still to be asked for.
const CREDIT: &str = "refill_credit";
/// Generation batches since the last training batch.
const GEN_BATCHES: &str = "gen_batches";

impl SelectorSettings for DynamicSampling {
    fn check(&self) -> Result<(), TrainerError> {
        if self.between.0.partial_cmp(&self.between.1) != Some(std::cmp::Ordering::Less) {
            let message = format!("`between` is {:?}, expected a lower one first", self.between);
            return Err(TrainerError::setting("between", message));
        }
        if !(self.std_above.is_finite() && self.std_above >= 0.0) {
            let message = format!("`std_above` is {}, expected at least 0", self.std_above);
            return Err(TrainerError::setting("std_above", message));
        }
        let sizes = [("batch_groups", self.batch_groups), ("gen_groups", self.gen_groups)];
        match sizes.into_iter().find(|(_, size)| *size == Some(0)) {
            Some((key, _)) => {
                Err(TrainerError::setting(key, format!("`{key}` is 0, expected at least 1")))
            }
            None => Ok(()),
        }
    }
}

impl Selector for DynamicSampling {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let mut fates = Fates::new(batch);
        let groups = (0..batch.groups.len()).filter(|group| self.keep(batch, *group, &mut fates));
        let usable: Vec<usize> = groups.collect();
        let dropped = batch.groups.len() - usable.len();
        let mut after = state.next();
        let Some(wanted) = self.batch_groups else {
            after.steps += 1;
            return Ok(fates.selection(after));
        };
        let gen_batches = state.number(GEN_BATCHES) + 1.0;
        let there = state.held.len() + usable.len();
        let limit = f64::from(self.gen_batches_max);
        let is_last = limit > 0.0 && gen_batches >= limit;
        if there < wanted && is_last && self.on_limit == OnLimit::Fail {
            let have = format!("{there} groups after {gen_batches} generation batches");
            return Err(TrainerError::input("dynamic sampling", have, format!("{wanted} groups")));
        }
        if there < wanted && !is_last {
            hold(batch, &usable, &mut fates, &mut after);
            after.set(GEN_BATCHES, gen_batches);
            let prompts = self.refill(&mut after, dropped, wanted - there);
            let requests = vec![RolloutRequest::NewPrompts { prompts }];
            return Ok(Selection { ready: false, requests, ..fates.selection(after) });
        }
        after.set(GEN_BATCHES, 0.0);
        after.set(CREDIT, 0.0);
        after.steps += 1;
        Ok(train(batch, &Filled { usable, wanted, surplus: self.surplus }, fates, after))
    }
}

/// A training batch that is full.
pub(crate) struct Filled {
    /// The groups of this batch that could be trained on.
    pub(crate) usable: Vec<usize>,
    /// How many groups are trained on, at most.
    pub(crate) wanted: usize,
    /// What becomes of the others.
    pub(crate) surplus: Surplus,
}

/// Trains on the groups that were held, then on those of this batch, as many as are wanted.
pub(crate) fn train(
    batch: &RolloutBatch<'_>,
    filled: &Filled,
    mut fates: Fates,
    mut after: SelectionState,
) -> Selection {
    let old = after.held.len().min(filled.wanted);
    let replayed: Vec<_> = after.held.drain(..old).flat_map(replay_held).collect();
    let new = (filled.wanted - old).min(filled.usable.len());
    let rest = filled.usable.get(new..).unwrap_or_default();
    let mut released = Vec::new();
    match filled.surplus {
        Surplus::Hold => hold(batch, rest, &mut fates, &mut after),
        Surplus::Drop => {
            released.extend(after.held.drain(..).flat_map(|group| group.ids));
            for group in rest {
                fates.drop_all(batch.groups.members(*group).rows(), DropReason::Surplus);
            }
        }
    }
    Selection { replayed, released, ..fates.selection(after) }
}

/// Holds groups of this batch.
pub(crate) fn hold(
    batch: &RolloutBatch<'_>,
    groups: &[usize],
    fates: &mut Fates,
    after: &mut SelectionState,
) {
    let number = after.batches;
    for group in groups {
        let members = batch.groups.members(*group);
        let rows = members.rows().filter(|row| fates.is_kept(*row));
        let ids = rows.map(|row| batch.id(row, number).into_owned()).collect();
        let prompt = batch.prompt(*group, number).into_owned();
        after.held.push_back(HeldGroup { prompt, ids, batch: number });
        members.rows().for_each(|row| fates.hold(row));
    }
}

impl DynamicSampling {
    /// Whether a group is kept; where it is not, its rollouts are dropped.
    fn keep(&self, batch: &RolloutBatch<'_>, group: usize, fates: &mut Fates) -> bool {
        let members = batch.groups.members(group);
        let rewards: Vec<f64> = batch.scored(&members).into_iter().map(|(_, r)| r).collect();
        match self.judge(batch, group, &rewards) {
            Ok(()) => true,
            Err(reason) => {
                fates.drop_all(members.rows(), reason);
                false
            }
        }
    }

    fn judge(
        &self,
        batch: &RolloutBatch<'_>,
        group: usize,
        rewards: &[f64],
    ) -> Result<(), DropReason> {
        match (rewards.len(), self.singles) {
            (0, _) => return Err(DropReason::MissingReward),
            (1, Singles::Drop) => return Err(DropReason::Single),
            (1, Singles::Keep) => return Ok(()),
            _ => {}
        }
        let value = match (self.by, batch.pass_rates) {
            (KeepBy::Std, _) if stats::std(rewards, self.std) > self.std_above => return Ok(()),
            (KeepBy::Std, _) => return Err(DropReason::LowVariance),
            (KeepBy::Mean, _) => stats::mean(rewards),
            (KeepBy::PassRate, None) => stats::pass_rate(rewards, self.pass_at),
            (KeepBy::PassRate, Some(rates)) => rates.get(group).copied().unwrap_or(f64::NAN),
        };
        match value {
            value if value.is_nan() => Err(DropReason::MissingMeasure),
            value if value <= self.between.0 => Err(DropReason::BelowBand),
            value if value >= self.between.1 => Err(DropReason::AboveBand),
            _ => Ok(()),
        }
    }

    /// How many prompts are asked for.
    fn refill(&self, after: &mut SelectionState, dropped: usize, missing: usize) -> usize {
        let batch = self.batch_groups.unwrap_or(missing);
        match self.refill {
            Refill::Batch => self.gen_groups.unwrap_or(batch),
            Refill::Missing => missing,
            Refill::TwiceDropped => {
                let credit = after.number(CREDIT) + 2.0 * stats::real(dropped);
                let asked = stats::floored(credit).min(batch);
                after.set(CREDIT, credit - stats::real(asked));
                // A batch that was too small to begin with drops nothing, and is not full either.
                if asked == 0 { missing } else { asked }
            }
        }
    }
}

#[cfg(test)]
mod tests;
