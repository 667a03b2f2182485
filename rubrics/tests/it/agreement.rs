//! Agreement of judges with people, against scipy and scikit-learn.

use assay_rubrics::agreement::{
    Bootstrap, JudgedPair, KappaWeights, accuracy, bootstrap, cohen_kappa, mean_absolute_error,
    pair_agreement, reliability, spearman, weighted_kappa,
};
use assay_rubrics::compare::{OrderedResult, order_effects};
use assay_rubrics::reply::pair::Winner;
use proptest::prelude::*;
use serde::Deserialize;

use crate::fixtures;

#[derive(Deserialize)]
struct Reference {
    levels: Vec<Levels>,
    calibration: Vec<Calibration>,
}

#[derive(Deserialize)]
struct Levels {
    judge: Vec<i64>,
    truth: Vec<i64>,
    accuracy: f64,
    kappa: f64,
    kappa_linear: f64,
    kappa_quadratic: f64,
    spearman: f64,
    error: f64,
}

#[derive(Deserialize)]
struct Calibration {
    p: Vec<f64>,
    right: Vec<bool>,
    bins: usize,
    counts: Vec<usize>,
    ece: f64,
    brier: f64,
}

fn reference() -> Reference {
    serde_json::from_str(&fixtures::text("agreement.json")).unwrap()
}

fn assert_near(ours: Option<f64>, theirs: f64) {
    let ours = ours.unwrap();
    assert!((ours - theirs).abs() < 1e-12, "{ours} is not {theirs}");
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "levels are small")]
fn levels_agree_with_scipy() {
    for levels in reference().levels {
        let cases: Vec<(i64, i64)> = levels.judge.into_iter().zip(levels.truth).collect();
        let numbers: Vec<(f64, f64)> = cases.iter().map(|(a, b)| (*a as f64, *b as f64)).collect();
        assert_near(accuracy(&cases), levels.accuracy);
        assert_near(cohen_kappa(&cases), levels.kappa);
        assert_near(weighted_kappa(&cases, KappaWeights::Linear), levels.kappa_linear);
        assert_near(weighted_kappa(&cases, KappaWeights::Quadratic), levels.kappa_quadratic);
        assert_near(spearman(&numbers), levels.spearman);
        assert_near(mean_absolute_error(&numbers), levels.error);
    }
}

#[test]
fn calibration_agrees_with_scikit_learn() {
    for case in reference().calibration {
        let cases: Vec<(f64, bool)> = case.p.into_iter().zip(case.right).collect();
        let diagram = reliability(&cases, case.bins);
        let counts: Vec<usize> = diagram.bins.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, case.counts);
        assert_near(diagram.expected_calibration_error, case.ece);
        assert_near(diagram.brier, case.brier);
    }
}

#[test]
fn what_is_not_defined_is_none() {
    assert_eq!(accuracy::<u8>(&[]), None);
    assert_eq!(cohen_kappa(&[(1, 1), (1, 1)]), None);
    assert_eq!(weighted_kappa(&[], KappaWeights::Linear), None);
    assert_eq!(weighted_kappa(&[(i64::MIN, i64::MAX); 2], KappaWeights::Linear), Some(0.0));
    assert_eq!(spearman(&[(f64::NAN, 2.0), (1.0, 3.0)]), None);
    assert_eq!(mean_absolute_error(&[(f64::INFINITY, 0.0)]), None);
    let none = reliability(&[(f64::NAN, true), (1.5, true)], 10);
    assert_eq!((none.invalid, none.brier, none.expected_calibration_error), (2, None, None));
    assert!(reliability(&[(0.5, true)], 0).bins.is_empty());
}

#[test]
fn probabilities_at_the_edges_fall_into_a_bin() {
    let diagram = reliability(&[(0.0, false), (0.1, true), (0.3, true), (1.0, true)], 10);
    let counts: Vec<usize> = diagram.bins.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [1, 1, 0, 1, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn pairs_are_counted_in_both_orders() {
    use Winner::{First, Second, Tie};
    let pair = |label, shown, swapped| JudgedPair { label, shown, swapped };
    let found = pair_agreement(&[
        pair(First, Some(First), Some(Second)),
        pair(First, Some(First), Some(First)),
        pair(Second, Some(First), Some(Second)),
        pair(Second, Some(Tie), None),
    ]);
    assert_eq!((found.cases, found.in_both_orders), (4, 3));
    assert_eq!(found.accuracy, Some(0.5));
    assert_eq!(found.both_order_accuracy, Some(0.25));
    assert_near(found.flip_rate, 1.0 / 3.0);
    assert_eq!(found.abstention_rate, Some(0.125));
    assert_eq!(pair_agreement(&[]).accuracy, None);
}

#[test]
fn an_interval_is_the_same_for_the_same_seed() {
    let cases: Vec<(u8, u8)> = (0..200).map(|at| (at % 2, u8::from(at % 10 < 3))).collect();
    let of = |seed| {
        let how = Bootstrap { seed, ..Bootstrap::default() };
        bootstrap(&cases, how, accuracy).unwrap()
    };
    let interval = of(3);
    assert_eq!(interval, of(3));
    assert_ne!(interval, of(4));
    assert!(interval.low < interval.value && interval.value < interval.high);
    // Two standard errors of a share of 200 cases.
    let error = 2.0 * (interval.value * (1.0 - interval.value) / 200.0).sqrt();
    assert!((interval.high - interval.low - 2.0 * error).abs() < 0.3 * error);
    let whole = Bootstrap { level: 1.0, ..Bootstrap::default() };
    assert_eq!(bootstrap(&cases, whole, accuracy), None);
    assert_eq!(bootstrap(&cases, Bootstrap { resamples: 0, ..whole }, |_| Some(1.0)), None);
}

fn numbers() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((-5_i8..5, -5_i8..5), 2..30)
        .prop_map(|cases| cases.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).collect())
}

proptest! {
    #[test]
    fn correlations_are_bounded_and_symmetric(cases in numbers()) {
        let turned: Vec<(f64, f64)> = cases.iter().map(|(a, b)| (*b, *a)).collect();
        let (one, other) = (spearman(&cases), spearman(&turned));
        prop_assert_eq!(one.is_some(), other.is_some());
        let (one, other) = (one.unwrap_or(0.0), other.unwrap_or(0.0));
        prop_assert!((one - other).abs() < 1e-12 && (-1.0..=1.0).contains(&one));
    }

    #[test]
    fn the_order_of_the_cases_is_irrelevant(cases in numbers()) {
        let mut turned = cases.clone();
        turned.reverse();
        let same = |a: Option<f64>, b: Option<f64>| {
            a.is_some() == b.is_some() && (a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-12
        };
        prop_assert!(same(spearman(&cases), spearman(&turned)));
        prop_assert!(same(mean_absolute_error(&cases), mean_absolute_error(&turned)));
    }

    #[test]
    fn kappa_is_at_most_one(cases in prop::collection::vec((0_i64..4, 0_i64..4), 0..30)) {
        for kappa in [cohen_kappa(&cases), weighted_kappa(&cases, KappaWeights::Quadratic)] {
            prop_assert!(kappa.is_none_or(|kappa| kappa <= 1.0));
        }
    }
}

/// The verdicts of a judge on the pairs of `LLMBar`, one character each.
#[derive(Deserialize)]
struct Verdicts {
    judge: String,
    label: String,
    shown: String,
    swapped: String,
    accuracy: f64,
    both_order_accuracy: f64,
    flip_rate: f64,
    abstention_rate: f64,
    position_bias: f64,
}

fn winner(verdict: char) -> Option<Winner> {
    match verdict {
        '1' => Some(Winner::First),
        '2' => Some(Winner::Second),
        '=' => Some(Winner::Tie),
        _ => None,
    }
}

#[test]
fn real_judges_are_judged_as_by_hand() {
    let all: Vec<Verdicts> = fixtures::rows("judge-llmbar-verdicts.jsonl");
    for verdicts in &all {
        let orders = verdicts.shown.chars().zip(verdicts.swapped.chars());
        let pairs: Vec<JudgedPair> = verdicts
            .label
            .chars()
            .zip(orders)
            .map(|(label, (shown, swapped))| JudgedPair {
                label: winner(label).unwrap(),
                shown: winner(shown),
                swapped: winner(swapped),
            })
            .collect();
        let found = pair_agreement(&pairs);
        assert_near(found.accuracy, verdicts.accuracy);
        assert_near(found.both_order_accuracy, verdicts.both_order_accuracy);
        assert_near(found.flip_rate, verdicts.flip_rate);
        assert_near(found.abstention_rate, verdicts.abstention_rate);
        let ordered: Vec<OrderedResult> = pairs
            .iter()
            .map(|pair| OrderedResult {
                first: 0,
                second: 1,
                shown: pair.shown.map(Winner::sign),
                swapped: pair.swapped.map(Winner::sign),
            })
            .collect();
        let effects = order_effects(&ordered);
        assert_near(effects.position_bias, verdicts.position_bias);
        assert_near(effects.flip_rate, verdicts.flip_rate);
        let interval =
            bootstrap(&pairs, Bootstrap::default(), |pairs| pair_agreement(pairs).accuracy)
                .unwrap();
        assert!(interval.low < verdicts.accuracy && verdicts.accuracy < interval.high);
        assert!(interval.high - interval.low < 0.14, "{}", verdicts.judge);
    }
    assert_eq!(all.len(), 10);
}
