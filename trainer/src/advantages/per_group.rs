//! Runs a rule over each group. Groups are independent of one another, so large batches run on all
//! threads, and neither their order nor the number of threads changes a bit.

use std::ops::Range;

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;

use super::batch::{GroupReport, RewardBatch};
use crate::error::TrainerError;
use crate::groups::{Groups, Members};
use crate::ragged::Ragged;
use crate::statistics::{self, Moments, TOGETHER};

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

/// How the rewards of a group become advantages. A function of a [`ScoredGroup`] is a rule.
pub trait GroupRule: Sync {
    /// Writes the advantages of rewards that are finite and not all equal, and nothing else special;
    /// false where there is no such short way, and the rewards are looked at closely. What it writes
    /// must be finite.
    #[inline]
    fn quick(&self, rewards: &[f64], out: &mut [f64]) -> bool {
        let _ = (rewards, out);
        false
    }

    /// The same of up to [`TOGETHER`] groups; the bits of those that were written are set.
    #[inline]
    fn quick_groups<const SIZE: usize>(
        &self,
        rewards: &[[f64; SIZE]],
        out: &mut [[f64; SIZE]],
    ) -> u32 {
        let groups = rewards.iter().zip(out).enumerate();
        groups.fold(0, |written, (at, (rewards, out))| {
            written | (u32::from(self.quick(rewards, out)) << at)
        })
    }

    /// Writes the advantages of a group.
    fn advantages(&self, group: ScoredGroup<'_>, out: &mut [f64]);
}

impl<F: Fn(ScoredGroup<'_>, &mut [f64]) + Sync> GroupRule for F {
    #[inline]
    fn advantages(&self, group: ScoredGroup<'_>, out: &mut [f64]) {
        self(group, out);
    }
}

/// Writes to `out` what `rule` makes of each group, and 0 for each rollout without a reward. `beside`
/// is empty, or has a number for each rollout that the rule needs.
///
/// # Errors
/// Not one number for each rollout; an infinite reward; an advantage beyond the range of numbers.
pub fn per_group(
    batch: &RewardBatch<'_>,
    beside: &[f64],
    out: &mut [f64],
    rule: &impl GroupRule,
) -> Result<GroupReport, TrainerError> {
    batch.groups.along("rewards", batch.rewards.len())?;
    batch.groups.along("room for advantages", out.len())?;
    let numbers = Numbers { rewards: batch.rewards, beside };
    let report = match batch.groups.even_size() {
        Some(size) if out.len() > BLOCK_ROWS => {
            let block = (BLOCK_ROWS / size).max(1) * size;
            out.par_chunks_mut(block)
                .enumerate()
                .map(|(at, out)| numbers.part(at * block, out.len()).even(size, out, rule))
                .reduce(|| Some(GroupReport::default()), |one, other| Some(one?.and(other?)))
        }
        Some(size) => numbers.even(size, out, rule),
        None => numbers.listed(batch.groups, out, rule),
    };
    report.ok_or_else(|| out_of_range(batch.rewards))
}

/// The same into a new vector.
///
/// # Errors
/// Those of [`per_group`].
pub fn collect(
    batch: &RewardBatch<'_>,
    beside: &[f64],
    rule: impl Fn(ScoredGroup<'_>, &mut [f64]) + Sync,
) -> Result<(Vec<f64>, GroupReport), TrainerError> {
    let mut out = vec![0.0; batch.rewards.len()];
    let report = per_group(batch, beside, &mut out, &rule)?;
    Ok((out, report))
}

/// What is to be said of the groups, and nothing else.
///
/// # Errors
/// Those of [`per_group`].
pub fn report(batch: &RewardBatch<'_>) -> Result<GroupReport, TrainerError> {
    Ok(collect(batch, &[], |_: ScoredGroup<'_>, out: &mut [f64]| out.fill(0.0))?.1)
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

impl<'a> Numbers<'a> {
    fn part(self, start: usize, len: usize) -> Self {
        let part = |values: &'a [f64]| values.get(start..start + len).unwrap_or_default();
        Self { rewards: part(self.rewards), beside: part(self.beside) }
    }

    /// Groups of one size, one after another; `None` where a number is out of range. Usual sizes are
    /// compiled apart, which takes a third of the time.
    fn even(self, size: usize, out: &mut [f64], rule: &impl GroupRule) -> Option<GroupReport> {
        match size {
            4 => self.of_size::<4>(out, rule),
            8 => self.of_size::<8>(out, rule),
            16 => self.of_size::<16>(out, rule),
            32 => self.of_size::<32>(out, rule),
            _ => {
                let mut groups = Walk::default();
                for (at, out) in out.chunks_exact_mut(size).enumerate() {
                    let group = self.part(at * size, size);
                    groups.take(group, out, rule);
                }
                groups.report()
            }
        }
    }

    fn of_size<const SIZE: usize>(
        self,
        out: &mut [f64],
        rule: &impl GroupRule,
    ) -> Option<GroupReport> {
        let mut groups = Walk::default();
        let (rewards, out) = (self.rewards.as_chunks().0, out.as_chunks_mut().0);
        for (block, (rewards, out)) in
            rewards.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)).enumerate()
        {
            let written = rule.quick_groups::<SIZE>(rewards, out);
            groups.report.groups += written.count_ones() as usize;
            for (at, out) in out.iter_mut().enumerate().filter(|(at, _)| written >> at & 1 == 0) {
                let start = (block * TOGETHER + at) * SIZE;
                groups.take_slowly(self.part(start, SIZE), out, rule);
            }
        }
        groups.report()
    }

    /// Groups of rows that stand anywhere.
    fn listed(
        self,
        groups: &Groups,
        out: &mut [f64],
        rule: &impl GroupRule,
    ) -> Option<GroupReport> {
        let mut walk = Walk::default();
        let (mut rewards, mut beside, mut room) = (Vec::new(), Vec::new(), Vec::new());
        for members in groups.iter() {
            if let Some(rows) = adjacent(&members) {
                let group = self.part(rows.start, rows.len());
                walk.take(group, out.get_mut(rows).unwrap_or_default(), rule);
                continue;
            }
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
            walk.take(group, &mut room, rule);
            for (row, value) in members.rows().zip(&room) {
                if let Some(out) = out.get_mut(row) {
                    *out = *value;
                }
            }
        }
        walk.report()
    }
}

/// What is kept from group to group.
#[derive(Default)]
struct Walk {
    report: GroupReport,
    is_out_of_range: bool,
    rewards: Vec<f64>,
    beside: Vec<f64>,
    out: Vec<f64>,
}

impl Walk {
    #[inline]
    fn take(&mut self, group: Numbers<'_>, out: &mut [f64], rule: &impl GroupRule) {
        if rule.quick(group.rewards, out) {
            self.report.groups += 1;
        } else {
            self.take_slowly(group, out, rule);
        }
    }

    #[inline(never)]
    fn take_slowly(&mut self, group: Numbers<'_>, out: &mut [f64], rule: &impl GroupRule) {
        let Numbers { rewards, beside } = group;
        if all_finite(rewards) {
            let is_constant = statistics::is_constant(rewards);
            self.report.group(rewards.len(), 0, is_constant);
            rule.advantages(ScoredGroup { rewards, beside, is_constant }, out);
            self.is_out_of_range |= !all_finite(out);
        } else {
            self.take_scored(group, out, rule);
        }
    }

    /// A group some of whose rollouts have no reward.
    fn take_scored(&mut self, group: Numbers<'_>, out: &mut [f64], rule: &impl GroupRule) {
        let is_scored = |row: &usize| group.rewards.get(*row).is_some_and(|r| !r.is_nan());
        let scored = || (0..group.rewards.len()).filter(is_scored);
        self.rewards.clear();
        self.rewards.extend(scored().filter_map(|row| group.rewards.get(row)));
        self.beside.clear();
        self.beside.extend(scored().filter_map(|row| group.beside.get(row)));
        self.out.clear();
        self.out.resize(self.rewards.len(), 0.0);
        let (rewards, beside) = (self.rewards.as_slice(), self.beside.as_slice());
        let is_constant = statistics::is_constant(rewards);
        self.report.group(rewards.len(), group.rewards.len() - rewards.len(), is_constant);
        if !rewards.is_empty() && !rule.quick(rewards, &mut self.out) {
            rule.advantages(ScoredGroup { rewards, beside, is_constant }, &mut self.out);
        }
        out.fill(0.0);
        for (row, value) in scored().zip(&self.out) {
            if let Some(out) = out.get_mut(row) {
                *out = *value;
            }
        }
        self.is_out_of_range |= !all_finite(rewards) || !all_finite(out);
    }

    fn report(self) -> Option<GroupReport> {
        (!self.is_out_of_range).then_some(self.report)
    }
}

/// The rows of a group, where they stand one after another.
fn adjacent(members: &Members<'_>) -> Option<Range<usize>> {
    match members {
        Members::Adjacent(rows) => Some(rows.clone()),
        Members::Listed(rows) => {
            let first = *rows.first()?;
            let is_next = |(at, row): (usize, &usize)| *row == first + at;
            rows.iter().enumerate().all(is_next).then(|| first..first + rows.len())
        }
    }
}

/// All are looked at, so that the compiler looks at several at once.
#[inline]
fn all_finite(values: &[f64]) -> bool {
    values.iter().filter(|value| !value.is_finite()).count() == 0
}
