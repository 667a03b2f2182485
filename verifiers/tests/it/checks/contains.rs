//! `contains`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::check::build;
use assay_verifiers::checks::contains::Contains;
use assay_verifiers::prelude::*;
use proptest::prelude::*;

#[test]
fn blank_texts_are_refused() {
    for list in ["all", "any", "none"] {
        let error = build::<Contains>(json!({list: ["a", " "]}), &NoFiles).err().unwrap();
        assert_eq!(error.setting, list);
    }
}

proptest! {
    #[test]
    fn a_text_contains_its_parts(a in "(?s).{0,20}", b in r"\PC{1,9}", c in "(?s).{0,20}", ignore_case: bool) {
        prop_assume!(!b.trim().is_empty());
        let check: Contains = serde_json::from_value(json!({"ignore_case": ignore_case})).unwrap();
        let sample = Sample::builder(format!("{a}{b}{c}")).reference(b).build();
        let verdict = check.check(&sample, &mut Meter::default()).unwrap();
        prop_assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE));
    }
}
