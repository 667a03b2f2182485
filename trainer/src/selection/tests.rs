//! What holds for every kind of selection.

use serde_json::{Map, Value, json};

use super::*;
use crate::groups::Groups;
use crate::selection::testing::{Columns, built, kept_rows, refused};

/// The settings that each kind needs.
fn settings(kind: &str) -> Value {
    match kind {
        "band" => json!({"of": "pass_rate", "min": 0.2, "max": 0.8}),
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
    assert!(unknown.contains("there are: band, "), "{unknown}");
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
    let wrong = refused("chain", json!({"stages": [{"kind": "length_cap", "max": 0}]}));
    assert!(wrong.contains("`max` is 0"), "{wrong}");
}
