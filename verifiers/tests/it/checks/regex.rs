//! `regex`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::check::build;
use assay_verifiers::checks::regex::Regex;
use assay_verifiers::prelude::*;
use proptest::prelude::*;

#[test]
fn settings_that_contradict_each_other_are_refused() {
    for (settings, at) in [
        (json!({"pattern": "("}), "pattern"),
        (json!({"pattern": "a", "min": 3, "max": 2}), "min"),
        (json!({"pattern": "a", "min": 3, "full": true}), "min"),
        (json!({"pattern": "(a)", "group": "2"}), "group"),
        (json!({"pattern": "(a)", "group": "1", "negate": true}), "negate"),
        (json!({"patern": "a"}), "patern"),
        // What every completion fulfils.
        (json!({"pattern": ""}), "pattern"),
        (json!({"pattern": "(?s)^.*"}), "pattern"),
        (json!({"pattern": "a*|b", "negate": true}), "pattern"),
        (json!({"pattern": "(?s).*", "full": true}), "pattern"),
        (json!({"pattern": "a", "min": 0}), "min"),
    ] {
        let error = build::<Regex>(settings.clone(), &NoFiles).err().expect("refused");
        assert_eq!(error.setting, at, "{settings}: {error}");
    }
}

#[test]
fn a_pattern_that_may_be_empty_somewhere_is_kept() {
    for settings in [
        json!({"pattern": "^a*$"}),
        json!({"pattern": ".*", "full": true}),
        json!({"pattern": r"\ba*"}),
        json!({"pattern": "(a*)", "group": "1"}),
        json!({"pattern": "a*", "max": 3}),
    ] {
        assert!(build::<Regex>(settings.clone(), &NoFiles).is_ok(), "{settings}");
    }
}

#[test]
fn many_matches_in_a_long_text_pay() {
    let mut check: Regex =
        serde_json::from_value(json!({"pattern": ".*[^A-Z]|[A-Z]", "min": 1})).unwrap();
    check.load(&NoFiles).unwrap();
    let sample = Sample::builder("A".repeat(1 << 20)).build();
    let fault = check.check(&sample, &mut Meter::default()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfFuel);
}

proptest! {
    #[test]
    fn no_pattern_and_no_text_panics(
        pattern in r"[()\[\]{}*+?|.\\^$a-c0-9]{0,12}", text in "(?s).{0,60}", full: bool,
    ) {
        let Ok(pattern) = Pattern::new(&pattern) else { return Ok(()) };
        let settings = json!({"pattern": pattern.as_str(), "full": full});
        let Ok(mut check) = serde_json::from_value::<Regex>(settings) else { return Ok(()) };
        if check.load(&NoFiles).is_ok() {
            let sample = Sample::builder(text).build();
            prop_assert!(check.check(&sample, &mut Meter::default()).is_ok());
        }
    }
}
