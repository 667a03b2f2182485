//! `tags`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::check::build;
use assay_verifiers::checks::tags::Tags;
use assay_verifiers::prelude::*;
use proptest::prelude::*;

#[test]
fn names_that_cannot_be_tags_are_refused() {
    for tags in [json!(["think", "think"]), json!(["<think>"]), json!([""])] {
        let error = build::<Tags>(json!({"tags": tags}), &NoFiles).err().expect("refused");
        assert_eq!(error.setting, "tags");
    }
}

proptest! {
    #[test]
    fn only_what_is_right_earns_everything(
        text in "(<think>|</think>|<answer>|</answer>|x| ){0,8}", strict: bool, partial: bool,
    ) {
        let settings = json!({"tags": ["think", "answer"], "strict": strict, "partial": partial});
        let check: Tags = serde_json::from_value(settings).unwrap();
        let sample = Sample::builder(text.as_str()).build();
        let verdict = check.check(&sample, &mut Meter::default()).unwrap();
        let outside = if strict { " *" } else { "[x ]*" };
        let right = Pattern::new(&format!(
            "^{outside}<think>[x ]*x[x ]*</think>{outside}<answer>[x ]*x[x ]*</answer>{outside}$"
        )).unwrap();
        prop_assert_eq!(verdict.outcome.reward() == Some(Reward::ONE), right.is_match(&text));
    }
}
