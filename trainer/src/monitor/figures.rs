//! The means of a step, and of several, with their standard errors.

use assay_verifiers::stats::{corrected_mean, float};
use std::collections::BTreeMap;

use assay_verifiers::Reward;
use serde::{Deserialize, Serialize};

use super::known_attacks::KnownAttacks;
use super::moments::Estimated;
use super::paid_groups::{is_wrong, rightness};
use crate::diagnostics::clustered_mean;
use crate::groups::{Groups, Members};
use crate::reports::{RolloutReport, StepReport};

/// The means of some steps in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StepFigures {
    /// The first of the steps.
    pub(super) from: u64,
    /// The last of them.
    pub(super) to: u64,
    /// Each series by its name: its mean over the steps, and the variance of that mean. Rollouts of a
    /// group are not independent: the variance is that of the groups.
    pub(super) series: BTreeMap<String, SeriesMean>,
}

/// A mean over steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SeriesMean {
    /// The mean.
    pub(super) mean: f64,
    /// The variance of the mean.
    pub(super) variance: f64,
    /// Steps that had the series.
    pub(super) steps: u32,
}

impl StepFigures {
    /// The means of a step. A series that nothing has is left out.
    pub(super) fn of(report: &StepReport, attacks: &KnownAttacks) -> Self {
        let groups = Groups::by_key(report.rollouts.iter().map(|rollout| rollout.group));
        let mut found = Self { from: report.step, to: report.step, series: BTreeMap::new() };
        let per_row = |number: &dyn Fn(&RolloutReport) -> Option<f64>| {
            let rows = |members: Members<'_>| -> Vec<f64> {
                members.rows().filter_map(|row| number(report.rollouts.get(row)?)).collect()
            };
            groups.iter().map(rows).collect::<Vec<_>>()
        };
        found.add("reward", &per_row(&|own| own.reward));
        found.add("correct", &per_row(&rightness));
        found.add("tokens", &per_row(&|own| Some(float(own.tokens))));
        found.add("truncated", &per_row(&|own| Some(f64::from(own.truncated))));
        found.add("entropy", &per_row(&|own| Some(own.entropy)));
        found.add("fault", &per_row(&|own| Some(f64::from(own.fault.is_some()))));
        if !attacks.is_empty() {
            found.add("known_attack", &per_row(&|own| Some(f64::from(attacks.is_in(own)))));
        }
        for (at, name) in report.parts.iter().enumerate() {
            let part = |own: &RolloutReport| own.parts.get(at).copied().flatten();
            found.add(&format!("{PART}{name}"), &per_row(&part));
        }
        let of_groups = |number: &dyn Fn(&[&RolloutReport]) -> Option<f64>| {
            let one = |members: Members<'_>| {
                let rows = members.rows().filter_map(|row| report.rollouts.get(row));
                number(&rows.collect::<Vec<_>>()).into_iter().collect()
            };
            groups.iter().map(one).collect::<Vec<Vec<f64>>>()
        };
        found.add("flat_and_wrong", &of_groups(&flat_and_wrong));
        found.add("wrong_copies", &of_groups(&wrong_copies));
        found
    }

    /// The mean over several steps, each counting the same.
    pub(super) fn over<'a>(steps: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut found: Option<Self> = None;
        for step in steps {
            match &mut found {
                Some(found) => found.join(step),
                None => found = Some(step.clone()),
            }
        }
        found.unwrap_or_default()
    }

    /// A series, with its standard error.
    pub(super) fn get(&self, name: &str) -> Option<Estimated> {
        let series = self.series.get(name)?;
        Some(Estimated { value: series.mean, error: series.variance.sqrt() })
    }

    /// How far a series is above what it was in `earlier`, with the standard error of that.
    pub(super) fn change(&self, name: &str, earlier: &Self) -> Option<Estimated> {
        let (now, then) = (self.series.get(name)?, earlier.series.get(name)?);
        let error = (now.variance + then.variance).sqrt();
        Some(Estimated { value: now.mean - then.mean, error })
    }

    fn add(&mut self, name: &str, groups: &[Vec<f64>]) {
        let Some(mean) = clustered_mean(groups.iter().map(Vec::as_slice)) else { return };
        // One group tells nothing of the spread of groups: its rows must do, or the unit.
        let error = mean.standard_error.or(mean.naive_error).unwrap_or(1.0);
        if mean.mean.is_finite() && (error * error).is_finite() {
            let series = SeriesMean { mean: mean.mean, variance: error * error, steps: 1 };
            self.series.insert(name.to_owned(), series);
        }
    }

    fn join(&mut self, step: &Self) {
        self.to = step.to;
        for (name, added) in &step.series {
            let own = self.series.entry(name.clone()).or_default();
            let all = f64::from(own.steps) + f64::from(added.steps);
            let (own_share, added_share) =
                (f64::from(own.steps) / all, f64::from(added.steps) / all);
            own.mean = own.mean * own_share + added.mean * added_share;
            own.variance = own.variance * own_share.powi(2) + added.variance * added_share.powi(2);
            own.steps += added.steps;
        }
    }
}

/// What the names of the series of parts begin with.
pub(super) const PART: &str = "part/";

/// 1 of a group all of whose rewards are equal and whose answers are wrong, else 0. `None` without two
/// rewards, or where nothing says what is right.
fn flat_and_wrong(group: &[&RolloutReport]) -> Option<f64> {
    let rewards: Vec<f64> = group.iter().filter_map(|own| own.reward).collect();
    let first = *rewards.first().filter(|_| rewards.len() > 1)?;
    let right: Vec<f64> = group.iter().filter_map(|own| rightness(own)).collect();
    let right = corrected_mean(&right)?;
    let is_flat = rewards.iter().all(|reward| (reward - first).abs() < 1e-9);
    Some(f64::from(is_flat && right < Reward::RIGHT))
}

/// The share of the rollouts of a group that are wrong and a copy of another one of it. `None` where
/// nothing says what is right.
fn wrong_copies(group: &[&RolloutReport]) -> Option<f64> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for own in group {
        *counts.entry(&own.completion).or_default() += 1;
    }
    let is_copy = |own: &&&RolloutReport| counts.get(&*own.completion).is_some_and(|all| *all > 1);
    let copies = group.iter().filter(|own| is_wrong(own)).filter(is_copy).count();
    let judged = group.iter().any(|own| rightness(own).is_some());
    judged.then(|| float(copies) / float(group.len()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{rollout, step};
    use super::*;

    #[test]
    fn the_means_of_a_step_by_hand() {
        let report = step(&[
            rollout(0, 1.0, 1.0).text("4").parts(&[1.0]),
            rollout(0, 0.0, 0.0).text("5").parts(&[0.0]),
            rollout(1, 0.5, 0.0).text("6").parts(&[1.0]),
            rollout(1, 0.5, 0.0).text("6").parts(&[1.0]),
        ]);
        let found = StepFigures::of(&report, &KnownAttacks::new(&[]));
        let mean = |name: &str| found.get(name).unwrap().value;
        assert_eq!((mean("reward"), mean("correct"), mean("part/part-0")), (0.5, 0.25, 0.75));
        assert_eq!((mean("flat_and_wrong"), mean("wrong_copies")), (0.5, 0.5));
        assert_eq!((mean("tokens"), mean("fault"), mean("entropy")), (4.0, 0.0, 1.0));
        assert_eq!(found.get("tokens"), Some(Estimated { value: 4.0, error: 0.0 }));
        assert!(found.get("correct").unwrap().error > 0.2);
        assert_eq!(found.get("part/none"), None);
    }

    #[test]
    fn steps_are_averaged() {
        let of = |step: u64, mean: f64| StepFigures {
            from: step,
            to: step,
            series: BTreeMap::from([(
                "reward".to_owned(),
                SeriesMean { mean, variance: 0.04, steps: 1 },
            )]),
        };
        let both = StepFigures::over([&of(3, 1.0), &of(4, 2.0)]);
        assert_eq!((both.from, both.to), (3, 4));
        // Variance 0.04 / 2, and 0.06 of a difference.
        assert!((both.get("reward").unwrap().error - 0.02_f64.sqrt()).abs() < 1e-12);
        let change = both.change("reward", &of(1, 0.5)).unwrap();
        assert!(
            (change.value - 1.0).abs() < 1e-12 && (change.error - 0.06_f64.sqrt()).abs() < 1e-12
        );
        assert!(change.is_above(0.0, 4.0) && !change.is_above(0.0, 4.1));
        assert_eq!(StepFigures::over([]), StepFigures::default());
    }

    #[test]
    fn what_is_missing_has_no_mean() {
        let report = step(&[rollout(0, f64::NAN, 1.0).fault(), rollout(1, 0.0, 1.0).fault()]);
        let found = StepFigures::of(&report, &KnownAttacks::new(&[]));
        assert_eq!((found.get("reward"), found.get("correct")), (None, None));
        assert_eq!(found.get("fault"), Some(Estimated { value: 1.0, error: 0.0 }));
        assert_eq!(
            StepFigures::of(&StepReport::default(), &KnownAttacks::new(&[])).series.len(),
            0
        );
    }
}
