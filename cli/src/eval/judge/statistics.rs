//! The arithmetic of `assay eval judge`.
//!
//! A row without a verdict counts as wrong in an accuracy; every other statistic is of the rows that
//! were judged.

use assay::rubrics::agreement::{
    Bootstrap, Interval, JudgedPair, KappaWeights, ReliabilityDiagram, accuracy, bootstrap,
    cohen_kappa, mean_absolute_error, pair_agreement, reliability, spearman, weighted_kappa,
};
use assay::rubrics::reply::pair::Winner;
use assay::verifiers::OrderedMap;
use serde::Serialize;

/// A pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairCase {
    pub(super) label: Winner,
    /// The judge, over both orders; `None` without a verdict.
    pub(super) preferred: Option<Winner>,
    /// The judge in each order.
    pub(super) orders: JudgedPair,
    /// The reward of the first, where it is a share.
    pub(super) share: Option<f64>,
}

/// A number.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelCase {
    pub(super) label: f64,
    pub(super) value: Option<f64>,
}

/// Right or wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct RightCase {
    pub(super) label: bool,
    /// The reward.
    pub(super) share: Option<f64>,
    pub(super) judged: Option<bool>,
}

/// Statistics with their intervals; `None` where one is not defined.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) statistics: OrderedMap<Option<Interval>>,
    pub(super) calibration: Option<ReliabilityDiagram>,
}

/// One statistic.
type Statistic<Case> = fn(&[Case]) -> Option<f64>;

/// Of pairs.
pub(super) fn pairs(cases: &[PairCase], how: Bootstrap, bins: usize) -> Measured {
    let orders = |cases: &[PairCase]| {
        let orders: Vec<JudgedPair> = cases.iter().map(|case| case.orders).collect();
        pair_agreement(&orders)
    };
    let in_orders = cases.iter().any(|case| case.orders.shown.or(case.orders.swapped).is_some());
    let mut statistics = all(
        cases,
        how,
        &[
            ("accuracy", |cases| share(cases, |case| case.preferred == Some(case.label))),
            ("cohen_kappa", |cases| cohen_kappa(&preferences(cases))),
            ("tie_rate", |cases| share(cases, |case| case.preferred == Some(Winner::Tie))),
            ("unjudged_rate", |cases| share(cases, |case| case.preferred.is_none())),
        ],
    );
    if in_orders {
        let one = |of: fn(assay::rubrics::agreement::PairAgreement) -> Option<f64>| {
            bootstrap(cases, how, |cases| of(orders(cases)))
        };
        statistics.push("first_order_accuracy", one(|found| found.accuracy));
        statistics.push("both_order_accuracy", one(|found| found.both_order_accuracy));
        statistics.push("flip_rate", one(|found| found.flip_rate));
    }
    let shares = |cases: &[PairCase]| -> Vec<(f64, bool)> {
        let decided = cases.iter().filter(|case| case.label != Winner::Tie);
        decided.filter_map(|case| Some((case.share?, case.label == Winner::First))).collect()
    };
    calibrated(statistics, cases, how, (bins, shares))
}

/// Of levels.
pub(super) fn levels(cases: &[LevelCase], how: Bootstrap) -> Measured {
    let statistics = all(
        cases,
        how,
        &[
            ("accuracy", |cases| share(cases, |case| case.rounded().is_some_and(|(a, b)| a == b))),
            ("cohen_kappa", |cases| cohen_kappa(&rounded(cases))),
            ("quadratic_kappa", |cases| weighted_kappa(&rounded(cases), KappaWeights::Quadratic)),
            ("spearman", |cases| spearman(&numbers(cases))),
            ("mean_absolute_error", |cases| mean_absolute_error(&numbers(cases))),
            ("unjudged_rate", |cases| share(cases, |case| case.value.is_none())),
        ],
    );
    Measured { statistics, calibration: None }
}

/// Of right and wrong.
pub(super) fn rights(cases: &[RightCase], how: Bootstrap, bins: usize) -> Measured {
    let answers = |cases: &[RightCase]| -> Vec<(bool, bool)> {
        cases.iter().filter_map(|case| Some((case.judged?, case.label))).collect()
    };
    let mut statistics = all(
        cases,
        how,
        &[
            ("accuracy", |cases| share(cases, |case| case.judged == Some(case.label))),
            ("unjudged_rate", |cases| share(cases, |case| case.judged.is_none())),
        ],
    );
    let of =
        |of: fn(&[(bool, bool)]) -> Option<f64>| bootstrap(cases, how, |cases| of(&answers(cases)));
    statistics.push("accuracy_of_judged", of(accuracy));
    statistics.push("cohen_kappa", of(cohen_kappa));
    let shares = |cases: &[RightCase]| -> Vec<(f64, bool)> {
        cases.iter().filter_map(|case| Some((case.share?, case.label))).collect()
    };
    calibrated(statistics, cases, how, (bins, shares))
}

fn all<Case: Clone>(
    cases: &[Case],
    how: Bootstrap,
    statistics: &[(&'static str, Statistic<Case>)],
) -> OrderedMap<Option<Interval>> {
    let mut found = OrderedMap::default();
    for (name, statistic) in statistics {
        found.push(*name, bootstrap(cases, how, statistic));
    }
    found
}

fn calibrated<Case: Clone>(
    mut statistics: OrderedMap<Option<Interval>>,
    cases: &[Case],
    how: Bootstrap,
    (bins, shares): (usize, impl Fn(&[Case]) -> Vec<(f64, bool)>),
) -> Measured {
    let error = |cases: &[Case]| reliability(&shares(cases), bins).expected_calibration_error;
    statistics.push("expected_calibration_error", bootstrap(cases, how, error));
    let diagram = reliability(&shares(cases), bins);
    let known = diagram.bins.iter().any(|bin| bin.count > 0);
    Measured { statistics, calibration: known.then_some(diagram) }
}

impl LevelCase {
    /// Both as whole numbers.
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float keeps within the range")]
    fn rounded(&self) -> Option<(i64, i64)> {
        Some((self.value?.round() as i64, self.label.round() as i64))
    }
}

fn rounded(cases: &[LevelCase]) -> Vec<(i64, i64)> {
    cases.iter().filter_map(LevelCase::rounded).collect()
}

fn numbers(cases: &[LevelCase]) -> Vec<(f64, f64)> {
    cases.iter().filter_map(|case| Some((case.value?, case.label))).collect()
}

fn preferences(cases: &[PairCase]) -> Vec<(Winner, Winner)> {
    cases.iter().filter_map(|case| Some((case.preferred?, case.label))).collect()
}

/// The share of the cases that `is` holds for.
fn share<Case>(cases: &[Case], is: impl Fn(&Case) -> bool) -> Option<f64> {
    let answers: Vec<(bool, bool)> = cases.iter().map(|case| (is(case), true)).collect();
    accuracy(&answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(found: &Measured, name: &str) -> Option<f64> {
        found.statistics.get(name)?.as_ref().map(|found| found.value)
    }

    fn pair(preferred: Option<Winner>, shown: Option<Winner>, swapped: Option<Winner>) -> PairCase {
        let orders = JudgedPair { label: Winner::First, shown, swapped };
        PairCase { label: Winner::First, preferred, orders, share: Some(1.0) }
    }

    #[test]
    fn a_pair_without_a_verdict_is_not_right() {
        let (first, second) = (Some(Winner::First), Some(Winner::Second));
        let cases = [
            pair(first, first, second),
            pair(Some(Winner::Tie), first, first),
            pair(second, second, first),
            pair(None, None, None),
        ];
        let found = pairs(&cases, Bootstrap::default(), 10);
        assert_eq!(value(&found, "accuracy"), Some(0.25));
        assert_eq!(value(&found, "both_order_accuracy"), Some(0.25));
        assert_eq!(value(&found, "first_order_accuracy"), Some(0.5));
        assert_eq!(value(&found, "flip_rate"), Some(1.0 / 3.0));
        assert_eq!(value(&found, "unjudged_rate"), Some(0.25));
        assert_eq!(value(&found, "expected_calibration_error"), Some(0.0));
    }

    #[test]
    fn levels_are_compared_as_whole_numbers_and_as_they_are() {
        let case = |label: f64, value: f64| LevelCase { label, value: Some(value) };
        let cases =
            [case(1.0, 1.2), case(2.0, 2.0), case(3.0, 4.0), LevelCase { label: 4.0, value: None }];
        let found = levels(&cases, Bootstrap::default());
        assert_eq!(value(&found, "accuracy"), Some(0.5));
        assert_eq!(value(&found, "spearman"), Some(1.0));
        assert!((value(&found, "mean_absolute_error").unwrap() - 0.4).abs() < 1e-12);
        assert!(value(&found, "quadratic_kappa").is_some());
    }

    #[test]
    fn shares_are_probabilities() {
        let case = |label: bool, share: f64| RightCase {
            label,
            share: Some(share),
            judged: Some(share >= 0.5),
        };
        let cases = [case(true, 0.9), case(true, 0.8), case(false, 0.1), case(true, 0.2)];
        let found = rights(&cases, Bootstrap::default(), 10);
        assert_eq!(value(&found, "accuracy"), Some(0.75));
        assert_eq!(value(&found, "cohen_kappa"), Some(0.5));
        assert_eq!(found.calibration.unwrap().bins.len(), 10);
    }
}
