//! `json`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::check::build;
use assay_verifiers::checks::json::Json;
use assay_verifiers::prelude::*;
use proptest::prelude::*;

#[test]
fn settings_that_cannot_work_are_refused() {
    for (settings, at) in [
        (json!({"schema": {"type": "no-type"}}), "schema"),
        (json!({"schema": {"$ref": "https://example.com/schema.json"}}), "schema"),
        (json!({"schema": {"$ref": "file:///etc/hostname"}}), "schema"),
        (json!({"schema": {"pattern": "(?=a)"}}), "schema"),
        (json!({"schema": {}, "schema_file": "s.json"}), "schema_file"),
        (json!({"schema_file": "s.json"}), "schema_file"),
        (json!({"pointer": "answer"}), "pointer"),
        (json!({"depth_max": 0}), "depth_max"),
    ] {
        let error = build::<Json>(settings.clone(), &NoFiles).err().expect("refused");
        assert_eq!(error.setting, at, "{settings}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in r#"(?s).{0,40}|([\[\]{}:,"0-9eE. -]|null|true|```json\n|```){0,40}"#) {
        let check: Json = serde_json::from_value(json!({"equals_reference": true})).unwrap();
        let sample = Sample::builder(text).reference(1).build();
        prop_assert!(check.check(&sample, &mut Meter::default()).is_ok());
    }
}

#[test]
fn deep_text_is_refused_and_not_followed() {
    let check: Json = serde_json::from_value(json!({})).unwrap();
    let text = format!("{}{}", "[".repeat(250_000), "]".repeat(250_000));
    let sample = Sample::builder(text).build();
    let verdict = check.check(&sample, &mut Meter::default()).unwrap();
    assert_eq!(verdict.evidence.get("reason"), Some(&json!("too-deep")));
}
