//! Filters that are formulas: what they keep, why they drop the others, and what they need.

use serde_json::json;

use crate::groups::Groups;
use crate::selection::outcome::DropReason;
use crate::selection::rollouts::RolloutBatch;
use crate::selection::state::SelectionState;
use crate::selection::testing::{Columns, built, check_fates, kept_rows, refused};

const NAN: f64 = f64::NAN;

#[test]
fn bounds_belong_to_the_band_or_do_not() {
    // Pass rates 0, 1/4, 1/2, 3/4, 1.
    let rewards: Vec<f64> =
        (0..5).flat_map(|right| (0..4).map(move |at| f64::from(u8::from(at < right)))).collect();
    let groups = Groups::of_size(20, 4).unwrap();
    let batch = RolloutBatch::new(&groups, &rewards).unwrap();
    for (settings, kept_groups) in [
        (json!({"of": "pass_rate", "min": 0.25, "max": 0.75}), vec![1, 2, 3]),
        (json!({"of": "pass_rate", "above": 0.25, "below": 0.75}), vec![2]),
        (json!({"of": "mean", "above": 0.0, "below": 1.0}), vec![1, 2, 3]),
        (json!({"of": "std", "above": 0.0}), vec![1, 2, 3]),
        // Sample deviations: 0, 1/2, 1/sqrt(3), 1/2, 0.
        (json!({"of": "std", "above": 0.5}), vec![2]),
        (json!({"of": "std", "min": 0.5}), vec![1, 2, 3]),
        // Population deviations: 0, sqrt(3)/4, 1/2, sqrt(3)/4, 0.
        (json!({"of": "std", "min": 0.5, "std": "biased"}), vec![2]),
    ] {
        let chosen =
            built("band", settings.clone()).select(&batch, &SelectionState::default()).unwrap();
        let expected: Vec<usize> =
            kept_groups.iter().flat_map(|group| group * 4..group * 4 + 4).collect();
        assert_eq!(kept_rows(&chosen), expected, "{settings}");
    }
}

#[test]
fn missing_rewards_and_rates_are_no_zeros() {
    let groups = Groups::of_size(6, 2).unwrap();
    let rewards = [1.0, NAN, NAN, NAN, 1.0, 0.0];
    let mut batch = RolloutBatch::new(&groups, &rewards).unwrap();
    let hard = built("band", json!({"of": "mean", "max": 0.6}));
    let chosen = hard.select(&batch, &SelectionState::default()).unwrap();
    assert_eq!(kept_rows(&chosen), [4, 5], "one right answer of one is a mean of 1");
    let reasons: Vec<_> = chosen.reasons().into_iter().collect();
    assert_eq!(reasons, [(DropReason::MissingReward, 3), (DropReason::AboveBand, 1)]);

    batch.pass_rates = Some(&[0.1, 0.5, NAN]);
    let band = built("band", json!({"of": "pass_rate", "min": 0.1, "max": 0.8}));
    let chosen = band.select(&batch, &SelectionState::default()).unwrap();
    assert_eq!(kept_rows(&chosen), [0]);
    assert_eq!(chosen.reasons()[&DropReason::MissingMeasure], 2);
}

#[test]
fn an_empty_band_is_refused() {
    assert!(refused("band", json!({"of": "mean"})).contains("no bound"));
    let empty = refused("band", json!({"of": "mean", "min": 0.8, "below": 0.2}));
    assert!(empty.contains("the band is empty"), "{empty}");
    assert!(refused("band", json!({"of": "median", "min": 0.0})).contains("median"));
}

#[test]
fn short_right_ones_and_long_wrong_ones_are_kept() {
    // The mean length is 10: 0.9, 0.95, 0.85, 0.4, -0.1, -0.2, -0.05, -0.05.
    let mut columns = Columns::new(8, &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    columns.lengths = vec![10, 5, 15, 10, 10, 20, 5, 5];
    let chosen = columns.select(&*built("dcpo", json!({})), &SelectionState::default());
    assert_eq!(kept_rows(&chosen), [0, 1, 4, 5]);
    let pairs: Vec<_> = chosen.pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
    assert_eq!(pairs, [(1, 5), (0, 4)]);
    assert_eq!(chosen.reasons()[&DropReason::RankedOut], 4);
    // Without a price of length, the first of equals rank higher.
    let free = built("dcpo", json!({"kappa": 0.0}));
    assert_eq!(kept_rows(&columns.select(&*free, &SelectionState::default())), [0, 1, 6, 7]);
}

#[test]
fn groups_without_contrast_are_dropped() {
    let columns = Columns::new(3, &[0.5, 0.5, NAN, NAN, 1.0, NAN, 1.0, NAN, 0.0]);
    let chosen = columns.select(&*built("dcpo", json!({})), &SelectionState::default());
    assert_eq!(kept_rows(&chosen), [6, 8]);
    let reasons: Vec<_> = chosen.reasons().into_iter().collect();
    let expected =
        [(DropReason::MissingReward, 4), (DropReason::Single, 1), (DropReason::LowVariance, 2)];
    assert_eq!(reasons, expected);
    assert!(refused("dcpo", json!({"share": 0.6})).contains("0 to 0.5"));
}

#[test]
fn cut_rollouts_are_dropped() {
    let groups = Groups::of_size(5, 5).unwrap();
    let mut batch = RolloutBatch::new(&groups, &[1.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
    batch.truncated = Some(&[true, false, true, false, false]);
    batch.advantages = Some(&[0.7, 0.7, -1.1, -1.1, 0.7]);
    batch.lengths = Some(&[90, 80, 90, 70, 100]);
    for (settings, kept) in [
        (json!({}), vec![1, 2, 3, 4]),
        (json!({"drop": "all"}), vec![1, 3, 4]),
        (json!({"max": 100}), vec![1, 2, 3]),
        (json!({"max": 80, "drop": "all"}), vec![3]),
    ] {
        let chosen = built("length_cap", settings.clone());
        let chosen = chosen.select(&batch, &SelectionState::default()).unwrap();
        assert_eq!(kept_rows(&chosen), kept, "{settings}");
    }
}

#[test]
fn what_is_needed_is_named() {
    let groups = Groups::of_size(1, 1).unwrap();
    let batch = RolloutBatch::new(&groups, &[1.0]).unwrap();
    let needs = |settings| {
        let selector = built("length_cap", settings);
        selector.select(&batch, &SelectionState::default()).unwrap_err().to_string()
    };
    assert!(needs(json!({})).starts_with("truncated: not given"));
    assert!(needs(json!({"max": 5})).starts_with("lengths: not given"));
    assert!(refused("length_cap", json!({"max": 0})).contains("1 or more"));
}

#[test]
fn old_rollouts_are_dropped() {
    let groups = Groups::of_size(6, 2).unwrap();
    let mut batch = RolloutBatch::new(&groups, &[1.0, 0.0, 1.0, 0.0, f64::NAN, 0.0]).unwrap();
    batch.versions = Some(&[7, 4, 5, 6, 7, 7]);
    for (settings, version, kept) in [
        (json!({"age_max": 2}), None, vec![0, 2, 3, 5]),
        (json!({"age_max": 2, "scope": "group"}), None, vec![2, 3, 5]),
        (json!({"age_max": 2}), Some(8), vec![0, 3, 5]),
        (json!({"age_max": 0}), Some(7), vec![0, 5]),
        (json!({"age_max": 9}), Some(8), vec![0, 1, 2, 3, 5]),
    ] {
        batch.version = version;
        let selector = built("stale", settings.clone());
        let chosen = selector.select(&batch, &SelectionState::default()).unwrap();
        check_fates(&batch, &chosen);
        assert_eq!(kept_rows(&chosen), kept, "{settings} at {version:?}");
    }
    batch.versions = None;
    let error = built("stale", json!({"age_max": 1})).select(&batch, &SelectionState::default());
    assert!(error.unwrap_err().to_string().starts_with("versions: not given"));
}

#[test]
fn a_formula_says_why_it_drops_and_what_it_pairs() {
    let formula = "skip(r < 0, \"below_band\"); let best = r == max(r); \
                   #{ keep: 1, pair: if best { 1 } else if r == min(r) { -1 } else { 0 } }";
    let columns = Columns::new(4, &[-1.0, 0.0, 1.0, 0.5, NAN, 0.2, 0.1, 0.3]);
    let chosen = columns
        .select(&*built("formula", json!({ "formula": formula })), &SelectionState::default());
    // The worst of the first group is skipped, so that group has no pair.
    assert_eq!((kept_rows(&chosen), chosen.state.steps), (vec![1, 2, 3, 5, 6, 7], 1));
    assert_eq!(chosen.reasons()[&DropReason::BelowBand], 1);
    let pairs: Vec<_> = chosen.pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
    assert_eq!(pairs, [(7, 6)]);
    let unknown = refused("formula", json!({"formula": "skip(r < 0, \"dull\"); 1"}));
    assert!(unknown.contains("dull") && unknown.contains("below_band"), "{unknown}");
    let fails = built("formula", json!({"formula": "fail(r > 0.9, \"too good\"); 1"}));
    let groups = Groups::of_size(2, 2).unwrap();
    let batch = RolloutBatch::new(&groups, &[0.0, 1.0]).unwrap();
    let error = fails.select(&batch, &SelectionState::default()).unwrap_err().to_string();
    assert!(error.contains("row 1: too good"), "{error}");
}

#[test]
fn what_a_formula_copes_without_may_be_left_out() {
    let groups = Groups::of_size(2, 2).unwrap();
    let batch = RolloutBatch::new(&groups, &[0.0, 1.0]).unwrap();
    let kept = |formula: &str| {
        let selector = built("formula", json!({ "formula": formula }));
        selector.select(&batch, &SelectionState::default()).map(|chosen| kept_rows(&chosen))
    };
    assert_eq!(kept("(length ?? 5) > 4").unwrap(), [0, 1]);
    assert_eq!(kept("is_missing(pass_rate) && r > 0").unwrap(), [1]);
    // A branch that is never taken reads nothing.
    assert_eq!(kept("if 1 > 2 { length } else { r }").unwrap(), [1]);
    for formula in ["length ?? length", "let seen = length; 1", "r ?? length"] {
        let error = kept(formula).unwrap_err().to_string();
        assert!(error.starts_with("lengths: not given"), "{formula}: {error}");
    }
}
