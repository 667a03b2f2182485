//! Components that judge, refuse, trap and spin.

use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{Built, Earlier, Lane, Verifier};

use crate::{Sandbox, verifiers};

struct Text(&'static str);

impl Files for Text {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.as_bytes().to_vec())
    }
}

fn build(text: &'static str, settings: &Value) -> Result<Built, BuildError> {
    let sandbox = Arc::new(Sandbox::default());
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "wasm").unwrap();
    (entry.build)(&sandbox, settings.clone(), &Text(text))
}

fn verifier(limits: &Value) -> Box<dyn Verifier> {
    let settings = json!({ "path": "test.wat", "limits": limits });
    match build(include_str!("test.wat"), &settings).unwrap().lane {
        Lane::Compute(verifier) => verifier,
        _ => panic!("not a compute verifier"),
    }
}

fn judge(verifier: &dyn Verifier, completion: &str) -> Verdict {
    verifier.verify(&Sample::builder(completion).build(), Earlier::default(), &mut Meter::default())
}

fn failed(verdict: &Verdict) -> Option<(FaultKind, &str)> {
    match &verdict.outcome {
        Outcome::Failed(fault) => Some((fault.kind, &fault.why)),
        _ => None,
    }
}

#[test]
fn every_sample_has_an_instance_of_its_own() {
    let verifier = verifier(&json!({}));
    for _ in 0..3 {
        let verdict = judge(&*verifier, "x");
        assert_eq!(verdict.outcome, Outcome::Scored(Reward::new(0.5).unwrap()));
        assert_eq!(verdict.evidence.get("notes"), Some(&json!({ "seen": 1 })));
    }
}

#[test]
fn whatever_goes_wrong_is_a_fault_and_no_zero() {
    let verifier = verifier(&json!({ "memory_bytes_max": 4 << 20 }));
    for (completion, kind, why) in [
        ("trap", FaultKind::Trap, "unreachable"),
        ("spin", FaultKind::OutOfFuel, "fuel"),
        ("nan", FaultKind::Trap, "not finite"),
        ("json", FaultKind::Trap, "no JSON object"),
        ("error", FaultKind::Trap, "a reason"),
        ("memory", FaultKind::OutOfMemory, "memory"),
    ] {
        let verdict = judge(&*verifier, completion);
        let found = failed(&verdict);
        assert!(
            found.is_some_and(|(have, told)| have == kind && told.contains(why)),
            "{completion}: {found:?}"
        );
    }
}

#[test]
fn the_meter_pays_for_what_the_component_does() {
    let verifier = verifier(&json!({}));
    let mut meter = Meter::new(1000);
    let verdict = verifier.verify(&Sample::builder("spin").build(), Earlier::default(), &mut meter);
    assert_eq!(failed(&verdict).map(|found| found.0), Some(FaultKind::OutOfFuel));
    assert!(meter.left() <= 1, "{}", meter.left());
}

#[test]
fn a_deadline_is_seen_while_the_component_runs() {
    struct Past;
    impl assay_verifiers::Cancellation for Past {
        fn expired(&self) -> bool {
            true
        }
    }
    let verifier = verifier(&json!({}));
    let mut meter = Meter::default().with_cancellation(&Past);
    let verdict = verifier.verify(&Sample::builder("spin").build(), Earlier::default(), &mut meter);
    assert_eq!(failed(&verdict).map(|found| found.0), Some(FaultKind::Timeout));
}

#[test]
fn what_is_no_plugin_is_refused_at_its_setting() {
    for text in ["(component)", "(module)", "not wasm at all"] {
        let error = build(text, &json!({ "path": "p.wat" })).err().unwrap();
        assert_eq!(error.setting, "path", "{text}: {error}");
    }
}
