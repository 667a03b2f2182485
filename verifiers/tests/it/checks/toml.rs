//! `toml`: documents that take hundreds of times their bytes.

use assay_verifiers::checks::toml::Toml;
use assay_verifiers::prelude::*;

#[test]
fn documents_of_very_many_tables_or_values_are_refused() {
    let check: Toml = serde_json::from_value(json!({})).unwrap();
    for (text, reason) in [
        ("[[a]]\n".repeat(10_001), "too-large"),
        (format!("[{}a]\n", "a.".repeat(10_001)), "too-large"),
        (format!("```toml\n{}```\n", "[[a]]\n".repeat(10_001)), "too-large"),
        (format!("a = [{}]", "[],".repeat(100_000)), "too-large"),
        ("[[a]]\n".repeat(1000), "valid"),
    ] {
        let verdict = check.check(&Sample::builder(text).build(), &mut Meter::default()).unwrap();
        assert_eq!(verdict.outcome, Outcome::Scored(Reward::graded(reason == "valid")));
        assert_eq!(verdict.evidence.get("reason").and_then(Value::as_str), Some(reason));
    }
}
