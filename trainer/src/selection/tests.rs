//! What holds for every kind of selection.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::groups::Groups;
use crate::selection::testing::{Columns, built, kept_rows, refused};

/// The settings that each kind needs.
fn settings(kind: &str) -> Value {
    match kind {
        "adaptive_dapo" => json!({"batch_groups": 1}),
        _ => json!({}),
    }
}

#[test]
fn every_kind_and_each_of_its_settings_is_documented() {
    for entry in ALL {
        let schema = (entry.schema)().to_value();
        let docs = schema["description"].as_str().unwrap_or_default();
        assert!(docs.len() > 40, "{}: the doc comment is its manual page", entry.kind);
        for (setting, about) in schema["properties"].as_object().into_iter().flatten() {
            let told = about["description"].as_str().is_some_and(|docs| docs.len() > 10);
            assert!(told, "{}.{setting} has no doc comment", entry.kind);
        }
        assert_eq!(schema["additionalProperties"], json!(false), "{}", entry.kind);
        let unknown = refused(entry.kind, json!({"no_such_setting": 1}));
        assert!(unknown.contains("no_such_setting"), "{}: {unknown}", entry.kind);
    }
}

#[test]
fn a_configuration_names_its_kind() {
    let config: SelectConfig =
        serde_json::from_value(json!({"kind": "band", "of": "std", "above": 0.0})).unwrap();
    assert_eq!(config.kind.as_deref(), Some("band"));
    let groups = Groups::of_size(4, 2).unwrap();
    let batch = RolloutBatch::new(&groups, &[1.0, 1.0, 1.0, 0.0]).unwrap();
    let selection = config.build().unwrap().select(&batch, &SelectionState::default()).unwrap();
    assert_eq!(kept_rows(&selection), [2, 3]);
    let unknown = refused("none_such", json!({}));
    assert!(unknown.contains("no selection is called \"none_such\""), "{unknown}");
}

#[test]
fn every_preset_builds_what_it_names() {
    for (name, text) in crate::presets::ALL {
        let rooms: Map<String, Value> = toml::from_str(text).unwrap();
        let Some(Value::Object(table)) = rooms.get("select") else { continue };
        for kind in table.iter().filter(|(_, value)| value.is_object()).map(|(key, _)| key) {
            let made: Map<String, Value> =
                serde_json::from_value(json!({"preset": name, "kind": kind})).unwrap();
            assert!(build(made).is_ok(), "{name}: {kind}");
        }
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let groups = Groups::of_size(4, 2).unwrap();
    let rewards = [1.0, 0.0, 1.0, 0.0];
    let names = ["a".to_owned()];
    let batch = RolloutBatch::new(&groups, &rewards).unwrap();
    for (wrong, named) in [
        (RolloutBatch { lengths: Some(&[1]), ..batch }, "lengths: 1 values, expected 4"),
        (RolloutBatch { ids: Some(&names), ..batch }, "ids: 1 values"),
        (RolloutBatch { prompts: Some(&names), ..batch }, "prompts: 1 values, expected 2"),
        (RolloutBatch { advantages: Some(&[0.0, 0.0, 0.0, f64::NAN]), ..batch }, "advantages: NaN"),
    ] {
        for entry in ALL {
            let selector = built(entry.kind, settings(entry.kind));
            let error = selector.select(&wrong, &SelectionState::default()).unwrap_err();
            assert!(error.to_string().starts_with(named), "{}: {error}", entry.kind);
        }
    }
    assert!(RolloutBatch::new(&groups, &[1.0]).is_err());
    assert!(RolloutBatch::new(&groups, &[1.0, 0.0, f64::INFINITY, 0.0]).is_err());
}

#[test]
fn stages_select_from_what_is_left() {
    // Group means 1/2, 1, 1/2; the last group has a rollout that was cut.
    let mut columns = Columns::new(2, &[1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    columns.truncated = vec![false, false, false, false, true, false];
    let chain = built(
        "chain",
        json!({"stages": [
            {"kind": "length_cap"},
            {"kind": "dynamic", "batch_groups": 2, "refill": "missing"},
        ]}),
    );
    let one = columns.select(&*chain, &SelectionState::seeded(1));
    assert_eq!((one.held.clone(), one.ready), (vec![0, 1], false));
    assert_eq!(one.requests, [RolloutRequest::NewPrompts { prompts: 1 }]);
    let reasons: Vec<_> = one.reasons().into_iter().collect();
    let expected =
        [(DropReason::TruncatedPositive, 1), (DropReason::Single, 1), (DropReason::LowVariance, 2)];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(reasons, expected);
    let two = columns.select(&*chain, &one.state);
    assert_eq!((two.ready, two.replayed.len(), kept_rows(&two)), (true, 2, vec![0, 1]));
    assert_eq!(two.state.stages.len(), 2);
    // The first stage waits, although the second would not; and it makes up for the group it drops.
    let stages = json!({"stages": [
        {"kind": "dynamic", "batch_groups": 9}, {"kind": "length_cap"},
    ]});
    assert!(!columns.select(&*built("chain", stages), &SelectionState::default()).ready);
    let stages = json!({"stages": [{"kind": "replace"}, {"kind": "length_cap", "drop": "all"}]});
    let twice = Columns::new(2, &[1.0, 0.0, 1.0, 1.0]).select(&*built("chain", stages), &one.state);
    let weights: Vec<(usize, f64)> =
        twice.kept.iter().map(|kept| (kept.row, kept.weight)).collect();
    assert_eq!(weights, [(0, 2.0), (1, 2.0)]);
    let wrong = refused("chain", json!({"stages": [{"kind": "length_cap", "max": 0}]}));
    assert!(wrong.contains("max is 0"), "{wrong}");
}

/// What a kind selects from these columns in the second of two batches.
fn second(kind: &str, columns: &Columns) -> Selection {
    let selector = built(kind, settings(kind));
    let first = columns.select(&*selector, &SelectionState::seeded(9));
    let mut later = columns.clone();
    later.ids = later.ids.iter().map(|id| format!("later {id}")).collect();
    later.select(&*selector, &first.state)
}

proptest! {
    /// `Columns::select` checks that each rollout is kept, held or dropped, and that none without a
    /// reward is kept.
    #[test]
    fn every_kind_is_a_function_of_its_batch(
        rewards in prop::collection::vec(
            prop_oneof![Just(0.0), Just(1.0), Just(f64::NAN), 0.0..1.0], 24,
        ),
    ) {
        let columns = Columns::new(4, &rewards).with_all();
        for entry in ALL {
            let selection = second(entry.kind, &columns);
            prop_assert_eq!(&selection, &second(entry.kind, &columns), "{}", entry.kind);
            prop_assert!(selection.size() <= 24.0, "{}: {}", entry.kind, selection.size());
            let text = serde_json::to_string(&selection.state).unwrap();
            let read: SelectionState = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(selection.state.clone(), read, "{}", entry.kind);
        }
    }

    /// Ties of whole groups are excluded by rewards that all differ; `adaptive_dapo` trains on the
    /// oldest groups, so that their order decides.
    #[test]
    fn the_order_of_groups_changes_nothing(
        rewards in prop::collection::vec(0.0..1.0, 24),
        missing in prop::collection::vec(0..24_usize, 0..8),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let mut rewards: Vec<f64> = rewards;
        for row in missing {
            rewards[row] = f64::NAN;
        }
        let columns = Columns::new(4, &rewards).with_all();
        let turned = columns.in_order(&order);
        for entry in ALL.iter().filter(|entry| entry.kind != "adaptive_dapo") {
            let selector = built(entry.kind, settings(entry.kind));
            let one = columns.select(&*selector, &SelectionState::seeded(4));
            let other = turned.select(&*selector, &SelectionState::seeded(4));
            prop_assert_eq!(columns.kept_ids(&one), turned.kept_ids(&other), "{}", entry.kind);
            prop_assert_eq!(one.reasons(), other.reasons(), "{}", entry.kind);
            prop_assert_eq!(one.requests.len(), other.requests.len(), "{}", entry.kind);
        }
    }
}

#[test]
fn batches_may_be_empty_and_groups_uneven() {
    let (no_groups, no_curves) = (Groups::of_size(0, 4).unwrap(), crate::ragged::Ragged::new());
    let empty = RolloutBatch {
        advantages: Some(&[]),
        lengths: Some(&[]),
        truncated: Some(&[]),
        step_means: Some(&[]),
        step_counts: Some(&[]),
        attempts: Some(&[]),
        versions: Some(&[]),
        curves: Some(&no_curves),
        prompts: Some(&[]),
        ..RolloutBatch::new(&no_groups, &[]).unwrap()
    };
    // Two groups that do not stand one after another, of three and of one.
    let groups = Groups::by_key(["a", "b", "a", "a"]);
    let rewards = [1.0, 1.0, 0.0, f64::NAN];
    let columns = Columns::new(1, &[1.0, 1.0, 0.0, 0.0]).with_all();
    let curves: crate::ragged::Ragged<f64> = [vec![0.1, 0.9], vec![0.2, 0.8]].into_iter().collect();
    let batch = RolloutBatch {
        advantages: Some(&[0.7, 0.0, -0.7, 0.0]),
        lengths: Some(&columns.lengths),
        truncated: Some(&[false; 4]),
        step_means: Some(&columns.step_means),
        step_counts: Some(&columns.step_counts),
        attempts: Some(&columns.attempts),
        versions: Some(&[3; 4]),
        curves: Some(&curves),
        prompts: Some(&columns.prompts[..2]),
        ..RolloutBatch::new(&groups, &rewards).unwrap()
    };
    for entry in ALL {
        let selector = built(entry.kind, settings(entry.kind));
        let none = selector.select(&empty, &SelectionState::default()).unwrap();
        assert_eq!((none.kept.len(), none.dropped.len()), (0, 0), "{}", entry.kind);
        let chosen = selector.select(&batch, &SelectionState::seeded(1)).unwrap();
        crate::selection::testing::check_fates(&batch, &chosen);
        assert!(!chosen.kept.is_empty(), "{}", entry.kind);
        assert!(chosen.kept.iter().all(|kept| kept.row != 3), "{}", entry.kind);
    }
}
