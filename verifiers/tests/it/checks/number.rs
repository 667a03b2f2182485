//! `number`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::checks::number::Number;
use assay_verifiers::prelude::*;
use proptest::prelude::*;

fn judge(completion: &str, reference: Value) -> Result<Verdict, Fault> {
    let mut number: Number = serde_json::from_value(json!({})).unwrap();
    number.load(&NoFiles).unwrap();
    let sample = Sample::builder(completion).reference(reference).build();
    number.check(&sample, &mut Meter::default())
}

#[test]
fn a_double_has_several_shortest_forms() {
    // The double lies half way between them.
    let reference: Value = serde_json::from_str("1978775236147684.2").unwrap();
    for completion in ["1978775236147684.2", "1978775236147684.3", "1978775236147684.25"] {
        let verdict = judge(completion, reference.clone()).unwrap();
        assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE), "{completion}");
    }
    let verdict = judge("1978775236147684.5", reference).unwrap();
    assert_eq!(verdict.outcome, Outcome::Scored(Reward::ZERO));
}

proptest! {
    #[test]
    fn no_text_panics(
        completion in r"(?s).{0,60}|([-0-9.,_/ e^%{}$\\]|frac|boxed|answer is|×|10|or){0,25}",
        reference in r"[-0-9.,/e\[\]() ]{0,10}",
    ) {
        let _ = judge(&completion, json!(reference));
    }

    #[test]
    fn the_reference_is_right(
        whole in "-?(0|[1-9][0-9]{0,30})", decimals in r"(\.[0-9]{1,9})?", exponent in "(e-?[0-9]{1,2})?",
    ) {
        let text = format!("{whole}{decimals}{exponent}");
        let verdict = judge(&format!("so it is {text}"), json!(text)).unwrap();
        prop_assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE));
    }

    #[test]
    fn any_double_is_right(value in any::<f64>()) {
        prop_assume!(value.is_finite());
        let verdict = judge(&value.to_string(), json!(value)).unwrap();
        prop_assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE));
    }
}

#[test]
fn hostile_texts_end_soon() {
    let texts = ["1".repeat(1 << 20), "\\frac{".repeat(1 << 18), "1 or ".repeat(1 << 16)];
    let parts = ["1,", "1st", "1 1/2 ", "1e999/7e999 ", "8 x 10^{-999} "];
    for text in texts.into_iter().chain(parts.map(|part| part.repeat(1 << 18))) {
        match judge(&text, json!(7)) {
            Ok(verdict) => assert_eq!(verdict.outcome.reward(), Some(Reward::ZERO)),
            Err(fault) => assert_eq!(fault.kind, FaultKind::OutOfFuel),
        }
    }
}
