//! `choice`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::checks::choice::Choice;
use assay_verifiers::prelude::*;
use proptest::prelude::*;

fn choice() -> Choice {
    let mut choice: Choice = serde_json::from_value(json!({})).unwrap();
    choice.load(&NoFiles).unwrap();
    choice
}

/// Each of these once made every cue read on to the end of the text, or back to its start.
#[test]
fn hostile_texts_end_soon() {
    let cues = "answer:A".repeat(1 << 12);
    for text in [
        format!("{}{cues}", "x".repeat(1 << 18)),
        format!("{}{}", "answer:".repeat(1 << 12), "(".repeat(1 << 18)),
        format!("{}{}", "answer:".repeat(1 << 12), "A or ".repeat(1 << 16)),
        format!("{}A{}", "answer:".repeat(1 << 12), "'".repeat(1 << 18)),
        "answer: A B ".repeat(1 << 12),
    ] {
        let bytes = text.len() as u64;
        let sample = Sample::builder(text).reference("B").build();
        let mut meter = Meter::default();
        match choice().check(&sample, &mut meter) {
            Ok(verdict) => {
                assert_ne!(verdict.outcome, Outcome::Scored(Reward::ONE));
                let spent = meter.spent();
                assert!((bytes / 8..=64 * bytes).contains(&spent), "{spent} for {bytes} bytes");
            }
            Err(fault) => assert_eq!(fault.kind, FaultKind::OutOfFuel),
        }
    }
}

#[test]
fn boxes_that_are_never_closed_hold_no_answer() {
    let sample = Sample::builder("\\boxed{".repeat(5000)).reference("C").build();
    let verdict = choice().check(&sample, &mut Meter::default()).unwrap();
    assert_eq!(verdict.outcome, Outcome::Scored(Reward::ZERO));
}

proptest! {
    #[test]
    fn no_text_panics(completion in r"(?s).{0,80}|([A-J(){}*,. \\]|answer|is|boxed|or){0,30}", reference in ".{0,6}") {
        let sample = Sample::builder(completion).prompt(reference.as_str()).reference(reference).build();
        let _ = choice().check(&sample, &mut Meter::default());
    }

    #[test]
    fn the_reference_is_right(letter in "[A-J]", shape in 0..6_usize) {
        let shapes = ["{}", "({})", "**{}**", "The answer is {}.", r"\boxed{{}}", "Option {}"];
        let completion = shapes[shape].replacen("{}", &letter, 1);
        let completion = if shape == 4 { format!("\\boxed{{{letter}}}") } else { completion };
        let sample = Sample::builder(completion).reference(letter).build();
        let verdict = choice().check(&sample, &mut Meter::default()).unwrap();
        prop_assert_eq!(verdict.outcome, Outcome::Scored(Reward::ONE));
    }
}
