//! Runs a rule over each group. Groups are independent of one another, so large batches run on all
//! threads, and neither their order nor the number of threads changes a bit.

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;

use super::batch::{GroupReport, RewardBatch};
use super::statistics::{self, Moments};
use crate::error::TrainerError;
use crate::groups::Groups;
use crate::ragged::Ragged;

/// Groups of about this many rows are one piece of work for a thread.
const BLOCK_ROWS: usize = 1 << 15;

/// The rollouts of one group that have a reward.
#[derive(Clone, Copy, Debug)]
pub struct ScoredGroup<'a> {
    /// Their rewards: at least one, all finite.
    pub rewards: &'a [f64],
    /// The number that stands beside each, where the estimator has asked for one.
    pub beside: &'a [f64],
    /// Whether the rewards are all equal.
    pub is_constant: bool,
}

impl ScoredGroup<'_> {
    /// Whether one rollout stands alone.
    #[inline]
    pub fn is_one(&self) -> bool {
        self.rewards.len() == 1
    }

    /// The mean of the rewards: exactly each of them, where they are equal.
    #[inline]
    pub fn mean(&self) -> f64 {
        statistics::mean(self.rewards)
    }

    /// The mean and the deviation of the rewards.
    #[inline]
    pub fn moments(&self) -> Moments {
        Moments::of(self.rewards)
    }

    /// Writes what `advantage` makes of each reward.
    #[inline]
    pub fn write(&self, out: &mut [f64], advantage: impl Fn(f64) -> f64) {
        for (out, reward) in out.iter_mut().zip(self.rewards) {
            *out = advantage(*reward);
        }
    }
}

/// Writes to `out` what `rule` makes of each group, and 0 for each rollout without a reward. `beside`
/// is empty, or has a number for each rollout that the rule needs.
///
/// # Errors
/// Not one number for each rollout; an infinite reward; an advantage beyond the range of numbers.
pub fn per_group<R>(
    batch: &RewardBatch<'_>,
    beside: &[f64],
    out: &mut [f64],
    rule: R,
) -> Result<GroupReport, TrainerError>
where
    R: Fn(ScoredGroup<'_>, &mut [f64]) + Sync,
{
    batch.groups.along("rewards", batch.rewards.len())?;
    batch.groups.along("room for advantages", out.len())?;
    let numbers = Numbers { rewards: batch.rewards, beside };
    let report = match batch.groups.even_size() {
        Some(size) if out.len() > BLOCK_ROWS => {
            let block = (BLOCK_ROWS / size).max(1) * size;
            out.par_chunks_mut(block)
                .enumerate()
                .map(|(at, out)| numbers.part(at * block, out.len()).even(size, out, &rule))
                .reduce(|| Some(GroupReport::default()), |one, other| Some(one?.and(other?)))
        }
        Some(size) => numbers.even(size, out, &rule),
        None => numbers.listed(batch.groups, out, &rule),
    };
    report.ok_or_else(|| out_of_range(batch.rewards))
}

/// The same into a new vector.
///
/// # Errors
/// Those of [`per_group`].
pub fn collect<R>(
    batch: &RewardBatch<'_>,
    beside: &[f64],
    rule: R,
) -> Result<(Vec<f64>, GroupReport), TrainerError>
where
    R: Fn(ScoredGroup<'_>, &mut [f64]) + Sync,
{
    let mut out = vec![0.0; batch.rewards.len()];
    let report = per_group(batch, beside, &mut out, rule)?;
    Ok((out, report))
}

/// What is to be said of the groups, and nothing else.
///
/// # Errors
/// Those of [`per_group`].
pub fn report(batch: &RewardBatch<'_>) -> Result<GroupReport, TrainerError> {
    Ok(collect(batch, &[], |_, out| out.fill(0.0))?.1)
}

/// The `values` of the rollouts that have a reward, a row for each group.
pub fn scored_rows(batch: &RewardBatch<'_>, values: &[f64]) -> Ragged<f64> {
    let scored = |row: &usize| batch.rewards.get(*row).is_some_and(|reward| !reward.is_nan());
    let value = |row: usize| values.get(row).copied();
    batch
        .groups
        .iter()
        .map(|group| group.rows().filter(scored).filter_map(value).collect::<Vec<_>>())
        .collect()
}

/// Rewrites the numbers of the rollouts that have a reward.
///
/// # Errors
/// A number beyond the range.
pub fn rewrite(
    batch: &RewardBatch<'_>,
    out: &mut [f64],
    advantage: impl Fn(f64) -> f64,
) -> Result<(), TrainerError> {
    for (out, reward) in out.iter_mut().zip(batch.rewards) {
        *out = if reward.is_nan() { 0.0 } else { advantage(*out) };
    }
    if all_finite(out) { Ok(()) } else { Err(out_of_range(batch.rewards)) }
}

/// What is wrong where an advantage, or a reward, is infinite.
pub fn out_of_range(rewards: &[f64]) -> TrainerError {
    match rewards.iter().position(|reward| reward.is_infinite()) {
        Some(row) => TrainerError::input(
            "rewards",
            format!("an infinite number in row {row}"),
            "finite numbers, or NaN where one is missing",
        ),
        None => TrainerError::input(
            "rewards",
            "numbers so large that an advantage is infinite",
            "numbers whose differences and sums are finite",
        ),
    }
}

/// The rewards of some groups, and the numbers beside them.
#[derive(Clone, Copy)]
struct Numbers<'a> {
    rewards: &'a [f64],
    beside: &'a [f64],
}

/// Room for groups that are not used where they lie.
#[derive(Default)]
struct Scratch {
    rewards: Vec<f64>,
    beside: Vec<f64>,
    out: Vec<f64>,
}

impl<'a> Numbers<'a> {
    fn part(self, start: usize, len: usize) -> Self {
        let part = |values: &'a [f64]| values.get(start..start + len).unwrap_or_default();
        Self { rewards: part(self.rewards), beside: part(self.beside) }
    }

    /// Groups of one size, one after another; `None` where a number is out of range.
    fn even<R>(self, size: usize, out: &mut [f64], rule: &R) -> Option<GroupReport>
    where
        R: Fn(ScoredGroup<'_>, &mut [f64]),
    {
        let mut report = GroupReport::default();
        let mut scratch = Scratch::default();
        let mut is_finite = true;
        for (at, out) in out.chunks_exact_mut(size).enumerate() {
            let group = self.part(at * size, size);
            is_finite &= group.one(out, &mut scratch, &mut report, rule);
        }
        is_finite.then_some(report)
    }

    /// Groups of rows that stand anywhere.
    fn listed<R>(self, groups: &Groups, out: &mut [f64], rule: &R) -> Option<GroupReport>
    where
        R: Fn(ScoredGroup<'_>, &mut [f64]),
    {
        let mut report = GroupReport::default();
        let mut scratch = Scratch::default();
        let (mut rewards, mut beside, mut room) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_finite = true;
        for members in groups.iter() {
            let group = Numbers {
                rewards: members.values(self.rewards, &mut rewards),
                beside: if self.beside.is_empty() {
                    &[]
                } else {
                    members.values(self.beside, &mut beside)
                },
            };
            room.clear();
            room.resize(members.len(), 0.0);
            is_finite &= group.one(&mut room, &mut scratch, &mut report, rule);
            for (row, value) in members.rows().zip(&room) {
                if let Some(out) = out.get_mut(row) {
                    *out = *value;
                }
            }
        }
        is_finite.then_some(report)
    }

    /// One group; false where a number is out of range.
    #[inline]
    fn one<R>(
        self,
        out: &mut [f64],
        scratch: &mut Scratch,
        report: &mut GroupReport,
        rule: &R,
    ) -> bool
    where
        R: Fn(ScoredGroup<'_>, &mut [f64]),
    {
        if all_finite(self.rewards) {
            let is_constant = statistics::is_constant(self.rewards);
            report.group(self.rewards.len(), 0, is_constant);
            rule(ScoredGroup { rewards: self.rewards, beside: self.beside, is_constant }, out);
            return all_finite(out);
        }
        self.some(out, scratch, report, rule)
    }

    /// One group, some of whose rollouts have no reward.
    #[cold]
    fn some<R>(
        self,
        out: &mut [f64],
        scratch: &mut Scratch,
        report: &mut GroupReport,
        rule: &R,
    ) -> bool
    where
        R: Fn(ScoredGroup<'_>, &mut [f64]),
    {
        let Scratch { rewards, beside, out: scored_out } = scratch;
        let is_scored = |row: &usize| self.rewards.get(*row).is_some_and(|reward| !reward.is_nan());
        let scored = || (0..self.rewards.len()).filter(is_scored);
        rewards.clear();
        rewards.extend(scored().filter_map(|row| self.rewards.get(row)));
        beside.clear();
        beside.extend(scored().filter_map(|row| self.beside.get(row)));
        scored_out.clear();
        scored_out.resize(rewards.len(), 0.0);
        let is_constant = statistics::is_constant(rewards);
        report.group(rewards.len(), self.rewards.len() - rewards.len(), is_constant);
        if !rewards.is_empty() {
            rule(ScoredGroup { rewards, beside, is_constant }, scored_out);
        }
        out.fill(0.0);
        for (row, value) in scored().zip(scored_out.iter()) {
            if let Some(out) = out.get_mut(row) {
                *out = *value;
            }
        }
        all_finite(rewards) && all_finite(out)
    }
}

/// All are looked at, so that the compiler looks at several at once.
#[inline]
fn all_finite(values: &[f64]) -> bool {
    values.iter().filter(|value| !value.is_finite()).count() == 0
}
