//! What rewards come to within groups: how far members differ, and how likely one of k is right.
//!
//! A group is a run of rows, one after the other, that share their `group` column, else their prompt.
//! Rows that stand apart are groups apart: nothing but the group in hand is held, however many there are.

use std::collections::BTreeMap;

use assay_verifiers::{RunningMoments, Std};
use serde::{Deserialize, Serialize};

/// The largest k of pass@k.
const K_MAX: u64 = 1 << 10;

/// The groups of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupCounts {
    /// Groups of two rows or more.
    pub groups: u64,
    /// The rows of them.
    pub rows: u64,
    /// The rows of the smallest of them.
    pub smallest: u64,
    /// The rows of the largest.
    pub largest: u64,
}

/// A reward within groups: of those in which two members or more have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupFigures {
    /// How many groups that are.
    pub groups: u64,
    /// The mean of the means of groups.
    pub mean: f64,
    /// The mean of the standard deviations of groups, over n - 1.
    pub std: f64,
    /// The share of groups whose members all have the same reward: they teach a policy nothing.
    pub no_variance: f64,
    /// pass@k for k = 1, 2, 4, ... where every reward is 0 or 1: the mean over groups of
    /// 1 - C(n-c, k)/C(n, k), of n members of which c have a reward of 1 ("Evaluating Large Language
    /// Models Trained on Code", section "Evaluation Framework"). Of each k at least half of the groups
    /// have as many members.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pass_at_k: BTreeMap<String, f64>,
}

/// Figures of one reward on their way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GroupTally {
    open: Members,
    groups: u64,
    means: f64,
    deviations: f64,
    no_variance: u64,
    /// A reward was neither 0 nor 1.
    is_graded: bool,
    /// Along k = 1, 2, 4, ...: the sum of pass@k, and of how many groups.
    passes: Vec<(f64, u64)>,
}

/// The members of the group in hand that have the reward.
#[derive(Clone, Debug, Default, PartialEq)]
struct Members {
    moments: RunningMoments,
    least: f64,
    most: f64,
    right: u64,
}

impl Members {
    fn add(&mut self, reward: f64) {
        (self.least, self.most) = match self.moments.count {
            0 => (reward, reward),
            _ => (self.least.min(reward), self.most.max(reward)),
        };
        self.moments.push(reward);
        self.right += u64::from(reward >= 1.0);
    }
}

impl GroupTally {
    pub(super) fn add(&mut self, reward: f64) {
        #[expect(
            clippy::float_cmp,
            reason = "a right answer earns exactly 1, a wrong one exactly 0"
        )]
        let is_graded = reward != 0.0 && reward != 1.0;
        self.is_graded |= is_graded;
        self.open.add(reward);
    }

    /// The group in hand is whole.
    pub(super) fn close(&mut self) {
        let members = std::mem::take(&mut self.open);
        let count = members.moments.count;
        if count < 2 {
            return;
        }
        self.groups += 1;
        self.means += members.moments.mean;
        // Rounding leaves a trace of variance where there is none.
        if members.least < members.most {
            self.deviations += members.moments.std(Std::Unbiased);
        } else {
            self.no_variance += 1;
        }
        let wrong = count - members.right;
        for (at, k) in ks().take_while(|k| *k <= count).enumerate() {
            if self.passes.len() <= at {
                self.passes.push((0.0, 0));
            }
            if let Some((sum, groups)) = self.passes.get_mut(at) {
                *sum += pass_at(count, wrong, k);
                *groups += 1;
            }
        }
    }

    /// The figures; `None` without a group of two.
    #[expect(clippy::cast_precision_loss, reason = "counts of groups are far below 2^53")]
    pub(super) fn figures(&self) -> Option<GroupFigures> {
        if self.groups == 0 {
            return None;
        }
        let count = self.groups as f64;
        let passes = ks().zip(&self.passes).filter(|_| !self.is_graded);
        let passes = passes.filter(|(_, (_, groups))| *groups * 2 >= self.groups);
        Some(GroupFigures {
            groups: self.groups,
            mean: self.means / count,
            std: self.deviations / count,
            no_variance: self.no_variance as f64 / count,
            pass_at_k: passes
                .map(|(k, (sum, groups))| (k.to_string(), sum / *groups as f64))
                .collect(),
        })
    }
}

impl GroupCounts {
    /// Counts a group that is whole.
    pub(super) fn add(&mut self, rows: u64) {
        if rows < 2 {
            return;
        }
        self.smallest = if self.groups == 0 { rows } else { self.smallest.min(rows) };
        self.largest = self.largest.max(rows);
        self.groups += 1;
        self.rows += rows;
    }
}

fn ks() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1), |k| Some(k * 2).filter(|k| *k <= K_MAX))
}

/// 1 - C(wrong, k)/C(count, k), as a product.
#[expect(clippy::cast_precision_loss, reason = "members of a group are few")]
fn pass_at(count: u64, wrong: u64, k: u64) -> f64 {
    if wrong < k {
        return 1.0;
    }
    let factor = |at: u64| 1.0 - k as f64 / at as f64;
    1.0 - (wrong + 1..=count).map(factor).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(groups: &[&[f64]]) -> Option<GroupFigures> {
        let mut tally = GroupTally::default();
        for group in groups {
            group.iter().for_each(|reward| tally.add(*reward));
            tally.close();
        }
        tally.figures()
    }

    #[test]
    fn pass_at_k_is_that_of_all_subsets() {
        for count in 1..=8_u64 {
            for wrong in 0..=count {
                for k in 1..=count {
                    let subsets =
                        (0_u64..1 << count).filter(|set| u64::from(set.count_ones()) == k);
                    // Members 0..wrong are wrong.
                    let (all, passed) = subsets.fold((0, 0), |(all, passed), set| {
                        (all + 1, passed + u32::from(set >> wrong != 0))
                    });
                    let expected = f64::from(passed) / f64::from(all);
                    let own = pass_at(count, wrong, k);
                    assert!(
                        (own - expected).abs() < 1e-12,
                        "{count} {wrong} {k}: {own} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn groups_are_compared_within_themselves() {
        let own = figures(&[&[1.0, 0.0, 0.0, 1.0], &[1.0; 4], &[0.0; 4], &[1.0]]).unwrap();
        assert_eq!((own.groups, own.mean), (3, 0.5));
        assert!((own.std - (1.0_f64 / 3.0).sqrt() / 3.0).abs() < 1e-12, "{}", own.std);
        assert!((own.no_variance - 2.0 / 3.0).abs() < 1e-12);
        let ks: Vec<&str> = own.pass_at_k.keys().map(String::as_str).collect();
        assert_eq!(ks, ["1", "2", "4"]);
        assert!((own.pass_at_k["1"] - 0.5).abs() < 1e-12);
        assert!((own.pass_at_k["2"] - (5.0 / 6.0 + 1.0) / 3.0).abs() < 1e-12);
        // A tenth three times over has no variance, whatever rounding says.
        let tenths = figures(&[&[0.1, 0.1, 0.1]]).unwrap();
        assert_eq!((tenths.std, tenths.no_variance), (0.0, 1.0));
        assert!(tenths.pass_at_k.is_empty());
        assert_eq!(figures(&[&[1.0], &[]]), None);
    }
}
