//! Texts that break parsers, through every check as its first fixture sets it: the verdict
//! may be anything but a panic, an internal fault or large evidence.

use assay_verifiers::cases::{self, Case};
use assay_verifiers::{
    Earlier, FaultKind, Group, Lane, Member, Meter, Outcome, Reward, Sample, Verdict, registry,
};
use serde_json::Value;

fn texts() -> Vec<String> {
    let repeated = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    vec![
        "\0".to_owned(),
        "\u{202e}drawkcab\u{202c} \u{2066}a\u{2069}".to_owned(),
        "\u{301}\u{301}".to_owned(),
        "\u{feff}\u{200b}\u{200d}".to_owned(),
        "a\u{2028}b\r\n\u{85}c".to_owned(),
        "İıſßẞﬁ".to_owned(),
        repeated("a", 1 << 16),
        repeated("(", 1 << 16),
        repeated("\\boxed{", 1 << 16),
        repeated("the answer is ", 1 << 16),
        repeated("A or ", 1 << 16),
        repeated("1 ", 1 << 16),
        repeated("<think>", 1 << 16),
        repeated("```\n", 1 << 16),
        repeated("{\"a\":", 1 << 16),
        repeated("é\u{301}", 1 << 16),
    ]
}

#[test]
fn hostile_texts_are_judged_within_the_meter() {
    for entry in registry::ALL {
        let id = entry.about.id;
        for case in cases::parse(entry.about.fixtures).unwrap().cases.into_iter().take(1) {
            let built = (entry.build)(Value::Object(case.config.clone()), &case).unwrap();
            for text in texts() {
                let references = [case.reference.clone().unwrap_or_default(), text.as_str().into()];
                for reference in references {
                    let sample = Sample::builder(text.as_str())
                        .prompt(text.as_str())
                        .reference(reference)
                        .meta(case.meta.clone())
                        .build();
                    for verdict in verdicts(&built.lane, &case, &sample) {
                        is_bounded(id, &case, &verdict);
                    }
                }
            }
        }
    }
}

/// What a check says of a sample; beside a copy of itself and the completion of the case where it
/// judges groups.
fn verdicts(lane: &Lane, case: &Case, sample: &Sample) -> Vec<Verdict> {
    match lane {
        Lane::Compute(verifier) => {
            vec![verifier.verify(sample, Earlier::default(), &mut Meter::default())]
        }
        Lane::Group(verifier) => {
            let names: Vec<String> = case.earlier.keys().cloned().collect();
            let known = vec![Some(Verdict::scored(Reward::ONE)); names.len()];
            let samples = [sample.clone(), sample.clone(), case.sample()];
            let earlier = Earlier::new(&names, &known);
            let members = samples.iter().map(|sample| Member { sample, earlier }).collect();
            let fuel = Meter::DEFAULT_FUEL * samples.len() as u64;
            let verdicts = verifier.verify_group(&Group { members }, &mut Meter::new(fuel));
            assert_eq!(verdicts.len(), samples.len(), "{}", case.name);
            verdicts
        }
        Lane::Awaited(_) | Lane::AwaitedGroup(_) => Vec::new(),
    }
}

fn is_bounded(id: &str, case: &Case, verdict: &Verdict) {
    if let Outcome::Failed(fault) = &verdict.outcome {
        assert_ne!(fault.kind, FaultKind::Internal, "{id}: {}: {fault}", case.name);
    }
    let evidence = serde_json::to_string(&verdict.evidence).unwrap();
    assert!(evidence.len() < 8192, "{id}: {evidence:.200}");
}
