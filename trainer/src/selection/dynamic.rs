//! `dynamic`: dynamic sampling, which drops groups of which nothing is learned and samples others.

use assay_verifiers::Reward;

use crate::selection::fill::{Filled, Surplus, hold, train};
use crate::selection::prelude::*;
use crate::selection::usable::{GroupTest, KeepBy, Singles};

/// Keeps groups whose rewards differ, and asks for new prompts until the training batch is full
/// (DAPO: An Open-Source LLM Reinforcement Learning System at Scale, section "Dynamic Sampling").
///
/// With `batch_groups`, groups are held until so many are there; then the oldest of them are trained
/// on. Without it, every batch is a training batch. Which groups differ, what is asked for and what
/// becomes of the groups too many are conventions of each library; see the presets. The cut at a full
/// batch goes by the order of groups, and nothing else does.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct DynamicSampling {
    /// By what a group is kept.
    by: KeepBy,
    /// A group is kept where the standard deviation of its rewards is above this.
    std_above: f64,
    /// Which standard deviation.
    std: Std,
    /// A group is kept where the mean of its rewards, or its pass rate, is above the first number and
    /// below the second.
    #[default((0.0, 1.0))]
    between: (f64, f64),
    /// A reward from which an answer is right, where pass rates are not given.
    #[default(Reward::RIGHT)]
    pass_at: f64,
    /// What becomes of a group in which one rollout alone has a reward.
    singles: Singles,
    /// How many groups a training batch has.
    batch_groups: Option<usize>,
    /// How many prompts are asked for while the batch is not full.
    refill: Refill,
    /// How many prompts a generation batch has; `batch_groups` where it is not given.
    gen_groups: Option<usize>,
    /// How many generation batches a training batch may take; 0 for any number.
    gen_batches_max: u32,
    /// What is done where they do not fill the batch.
    on_limit: OnLimit,
    /// What becomes of the groups too many.
    surplus: Surplus,
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

/// Prompts that are still to be asked for.
const CREDIT: &str = "refill_credit";
/// Generation batches since the last training batch.
const GEN_BATCHES: &str = "gen_batches";

impl SelectorSettings for DynamicSampling {
    fn check(&self) -> Result<(), TrainerError> {
        self.test().check()?;
        let sizes = [("batch_groups", self.batch_groups), ("gen_groups", self.gen_groups)];
        let mut sizes = sizes.into_iter().map(|(key, size)| (key, stats::float(size.unwrap_or(1))));
        sizes.try_for_each(|(key, size)| within(key, size, 1.0..))
    }
}

impl Selector for DynamicSampling {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let test = self.test();
        let mut fates = Fates::new(batch);
        let groups = (0..batch.groups.len()).filter(|group| test.keep(batch, *group, &mut fates));
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

impl DynamicSampling {
    fn test(&self) -> GroupTest {
        GroupTest {
            by: self.by,
            std_above: self.std_above,
            std: self.std,
            between: self.between,
            pass_at: self.pass_at,
            singles: self.singles,
        }
    }

    /// How many prompts are asked for.
    fn refill(&self, after: &mut SelectionState, dropped: usize, missing: usize) -> usize {
        let batch = self.batch_groups.unwrap_or(missing);
        match self.refill {
            Refill::Batch => self.gen_groups.unwrap_or(batch),
            Refill::Missing => missing,
            Refill::TwiceDropped => {
                let credit = after.number(CREDIT) + 2.0 * stats::float(dropped);
                let asked = stats::floored(credit).min(batch);
                after.set(CREDIT, credit - stats::float(asked));
                // A batch that was too small to begin with drops nothing, and is not full either.
                if asked == 0 { missing } else { asked }
            }
        }
    }
}

#[cfg(test)]
mod tests;
