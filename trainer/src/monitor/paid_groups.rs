//! The groups of a step, as far as they say what is paid.

use assay_verifiers::Reward;
use assay_verifiers::stats::{bounds, corrected_mean, float};

use super::moments::GroupMoments;
use crate::groups::Groups;
use crate::reports::{RolloutReport, StepReport};

/// The rollouts of a group that have a reward.
pub(super) struct PaidGroup {
    /// Their places in the step.
    pub(super) rows: Vec<usize>,
    /// Their advantages, about the mean of the group.
    advantages: Vec<f64>,
    /// How right they are, about the mean of the group; empty where nothing says so.
    rightness: Vec<f64>,
}

/// Below this, a variance is rounding.
const NOISE: f64 = 1e-12;

impl PaidGroup {
    /// The groups of a step. Left out are rollouts without a reward, groups of one, and groups that
    /// were not trained on: all of their advantages are 0, and their rewards differ.
    pub(super) fn of(report: &StepReport) -> Vec<Self> {
        let groups = Groups::by_key(report.rollouts.iter().map(|rollout| rollout.group));
        groups.iter().filter_map(|members| Self::one(report, members.rows().collect())).collect()
    }

    fn one(report: &StepReport, mut rows: Vec<usize>) -> Option<Self> {
        let rollout = |row: &usize| report.rollouts.get(*row);
        let judged = |row: &usize| rollout(row).and_then(rightness).is_some();
        rows.retain(|row| rollout(row).is_some_and(is_paid));
        if rows.iter().any(judged) {
            rows.retain(judged);
        }
        let column = |of: fn(&RolloutReport) -> Option<f64>| -> Vec<f64> {
            rows.iter().filter_map(|row| of(rollout(row)?)).collect()
        };
        let advantages = column(|rollout| Some(rollout.advantage));
        let rewards = centred(column(|rollout| rollout.reward));
        let is_left_out = advantages.iter().all(|own| *own == 0.0) && variance(&rewards) > NOISE;
        if rows.len() < 2 || is_left_out {
            return None;
        }
        let right = column(rightness);
        Some(Self { advantages: centred(advantages), rightness: centred(right), rows })
    }

    /// Whether it is known how right the rollouts are.
    pub(super) fn is_judged(&self) -> bool {
        !self.rightness.is_empty()
    }

    /// Whether some rollouts are more right than others.
    pub(super) fn is_mixed(&self) -> bool {
        variance(&self.rightness) > NOISE
    }

    /// The variance of the advantages; `None` where they are equal, or beyond all bounds.
    pub(super) fn spread(&self) -> Option<f64> {
        Some(variance(&self.advantages)).filter(|spread| *spread > NOISE && *spread < 1e100)
    }

    /// The moments with rightness alone.
    pub(super) fn moments_of_right(&self) -> GroupMoments {
        let (a, c) = (&self.advantages, &self.rightness);
        [product(c, c), 0.0, 0.0, product(c, a), 0.0]
    }

    /// The moments with a feature, one value for each of the rows; `None` where it is the same for
    /// all.
    pub(super) fn moments(&self, feature: Vec<f64>) -> Option<GroupMoments> {
        if feature.len() != self.rows.len() || !feature.iter().all(|value| value.is_finite()) {
            return None;
        }
        let (a, c, f) = (&self.advantages, &self.rightness, centred(feature));
        let ff = product(&f, &f);
        (ff > NOISE).then(|| [product(c, c), product(c, &f), ff, product(c, a), product(&f, a)])
    }

    /// The moments with a number of each rollout, from 0 for the least of the group to 1 for the
    /// greatest.
    pub(super) fn moments_in_range(
        &self,
        report: &StepReport,
        number: impl Fn(&RolloutReport) -> Option<f64>,
    ) -> Option<GroupMoments> {
        let values = self.rows.iter().map(|row| number(report.rollouts.get(*row)?));
        let values = values.collect::<Option<Vec<f64>>>()?;
        let (least, most) = bounds(&values)?;
        self.moments(values.iter().map(|value| (value - least) / (most - least)).collect())
    }
}

/// How right a rollout is, where that is known.
pub(super) fn rightness(rollout: &RolloutReport) -> Option<f64> {
    rollout.correct.filter(|correct| correct.is_finite())
}

/// Whether a rollout is known to be wrong.
pub(super) fn is_wrong(rollout: &RolloutReport) -> bool {
    rightness(rollout).is_some_and(|correct| correct < Reward::RIGHT)
}

fn is_paid(rollout: &RolloutReport) -> bool {
    rollout.reward.is_some_and(f64::is_finite) && rollout.advantage.is_finite()
}

fn centred(mut values: Vec<f64>) -> Vec<f64> {
    let level = corrected_mean(&values).unwrap_or_default();
    for value in &mut values {
        *value -= level;
    }
    values
}

/// The mean of the products of two series of one length.
fn product(first: &[f64], second: &[f64]) -> f64 {
    let products = first.iter().zip(second).map(|(first, second)| first * second);
    products.sum::<f64>() / float(first.len().max(1))
}

fn variance(deviations: &[f64]) -> f64 {
    product(deviations, deviations)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{rollout, step};
    use super::*;

    #[test]
    fn a_group_by_hand() {
        let report = step(&[
            rollout(0, 1.0, 1.0).tokens(4),
            rollout(0, -1.0, 0.0).tokens(8),
            rollout(0, 1.0, 1.0).tokens(6),
            rollout(0, -1.0, 0.0).tokens(8),
        ]);
        let groups = PaidGroup::of(&report);
        assert_eq!((groups.len(), groups[0].is_mixed(), groups[0].spread()), (1, true, Some(1.0)));
        assert_eq!(Some(groups[0].moments_of_right()), Some([0.25, 0.0, 0.0, 0.5, 0.0]));
        // Lengths 0, 1, 0.5, 1 about 0.625: cf = 0.5 (-0.625 - 0.375 - 0.125 - 0.375) / 4.
        let longer = groups[0].moments_in_range(&report, |own| Some(float(own.tokens)));
        assert_eq!(longer, Some([0.25, -0.1875, 0.171_875, 0.5, -0.375]));
        assert_eq!(groups[0].moments(vec![1.0; 4]), None);
        assert_eq!(groups[0].moments(vec![f64::NAN, 1.0, 0.0, 0.0]), None);
        assert_eq!(groups[0].moments(vec![1.0]), None);
    }

    #[test]
    fn what_was_not_trained_on_says_nothing() {
        let mut report = step(&[rollout(0, 0.0, 1.0), rollout(0, 0.0, 0.0)]);
        report.rollouts[0].reward = Some(1.0);
        assert_eq!(PaidGroup::of(&report).len(), 0);
        // With equal rewards the group was trained on, and paid nothing.
        report.rollouts[0].reward = report.rollouts[1].reward;
        let groups = PaidGroup::of(&report);
        assert_eq!((groups.len(), groups[0].spread()), (1, None));
        // One row is not a group; rows that are not judged are left out of one that is.
        report.rollouts[0].correct = None;
        assert_eq!(PaidGroup::of(&report).len(), 0);
        report.rollouts[1].correct = Some(f64::NAN);
        assert!(PaidGroup::of(&report).iter().all(|group| !group.is_judged()));
        report.rollouts[1].reward = None;
        assert_eq!(PaidGroup::of(&report).len(), 0);
        assert_eq!(PaidGroup::of(&StepReport::default()).len(), 0);
    }
}
