//! Verdicts and lines: every form reads back as it was written.

use assay_verifiers::{Evidence, Fault, Outcome, Reward, Scored, Step, Usage, Verdict, Verdicts};
use serde_json::{Value, json};

#[test]
fn a_reward_is_finite_and_has_one_zero() {
    assert_eq!(Reward::new(f64::NAN), None);
    assert_eq!(Reward::new(f64::INFINITY), None);
    assert!(Reward::new(-0.0).unwrap().get().is_sign_positive());
}

#[test]
fn evidence_keeps_its_order_through_json() {
    let verdict = Verdict::graded(true).with("z", 1).with("a", "x").because("equal");
    let text = serde_json::to_string(&verdict.evidence).unwrap();
    assert_eq!(text, r#"{"z":1,"a":"x","reason":"equal"}"#);
    assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), verdict.evidence);
}

#[test]
fn long_evidence_is_cut_at_a_character() {
    let verdict = Verdict::graded(true).with("text", "é".repeat(400));
    let kept = verdict.evidence.get("text").and_then(Value::as_str).unwrap();
    assert_eq!(kept.chars().count(), 257);
    assert!(kept.ends_with('…'));
}

fn there_and_back(verdict: &Verdict) -> String {
    let text = serde_json::to_string(verdict).unwrap();
    assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), *verdict);
    text
}

#[test]
fn every_verdict_reads_back_as_it_was() {
    let half = Reward::new(0.5).unwrap();
    let plain = Verdict::scored(half).with("z", 1).because("equal");
    assert_eq!(
        there_and_back(&plain),
        r#"{"outcome":"scored","reward":0.5,"evidence":{"z":1,"reason":"equal"}}"#
    );
    let failed = Verdict::failed(Fault::bad_reference("empty"));
    assert_eq!(
        there_and_back(&failed),
        r#"{"outcome":"failed","fault":"BadReference","why":"empty"}"#
    );
    let mut whole = Verdict::abstained("no");
    whole.components.push("b", Outcome::Scored(half).into());
    whole.components.push("a".to_owned(), Outcome::Failed(Fault::internal("x")).into());
    whole.steps = vec![Step { tokens: Some((0, 3)), turn: Some(1), ..Step::new((0, 9), half) }];
    whole.usage = Usage { tokens: 12, calls: 1 };
    assert_eq!(
        there_and_back(&whole),
        "{\"outcome\":\"abstained\",\"why\":\"no\",\"components\":{\"b\":{\"outcome\":\"scored\",\
         \"reward\":0.5},\"a\":{\"outcome\":\"failed\",\"fault\":\"Internal\",\"why\":\"x\"}},\
         \"steps\":[{\"span\":[0,9],\"turn\":1,\"tokens\":[0,3],\"reward\":0.5}],\
         \"usage\":{\"tokens\":12,\"calls\":1}}"
    );
}

#[test]
fn what_is_no_verdict_is_refused() {
    for value in [
        json!({"outcome": "scored"}),
        json!({"outcome": "scored", "reward": null}),
        json!({"outcome": "failed", "why": "x"}),
        json!({"outcome": "failed", "fault": "Odd", "why": "x"}),
        json!({"outcome": "abstained"}),
        json!({"outcome": "right", "reward": 1}),
        json!({"reward": 1}),
        json!({"outcome": "abstained", "why": "x", "components": {
            "a": {"outcome": "abstained", "why": "y", "steps": 3},
        }}),
    ] {
        assert!(serde_json::from_value::<Verdict>(value.clone()).is_err(), "{value}");
    }
}

#[test]
fn a_line_reads_as_the_design_writes_it() {
    let names = ["correct", "format", "\"x\""].map(str::to_owned);
    let verdicts = vec![
        Verdict::graded(true).with("extracted", "18\u{2028}").because("equal-exact"),
        Verdict::abstained("no reference"),
        Verdict::failed(Fault::bad_reference("empty")),
    ];
    let scored = Scored {
        id: "a\nb".to_owned(),
        group: None,
        outcome: Outcome::Scored(Reward::ONE),
        verdicts: Verdicts::new(names.into(), verdicts),
        spent_ns: Vec::new(),
    };
    let text = serde_json::to_string(&scored).unwrap();
    assert_eq!(
        text,
        "{\"id\":\"a\\nb\",\"outcome\":\"scored\",\"reward\":1.0,\"verdicts\":{\"correct\":\
         {\"outcome\":\"scored\",\"reward\":1.0,\"evidence\":{\"extracted\":\"18\u{2028}\",\
         \"reason\":\"equal-exact\"}},\"format\":{\"outcome\":\"abstained\",\"why\":\
         \"no reference\"},\"\\\"x\\\"\":{\"outcome\":\"failed\",\"fault\":\"BadReference\",\
         \"why\":\"empty\"}}}"
    );
    assert_eq!(serde_json::from_str::<Scored>(&text).unwrap(), scored);
    assert_eq!(scored.reward(), Some(1.0));
    assert!(scored.has_fault() && scored.verdict("format").is_some());
}

#[test]
fn a_line_without_a_reward_says_why() {
    let mut scored = Scored::failed("row-1", Fault::bad_input("completion: missing"));
    scored.group = Some("g".to_owned());
    let text = serde_json::to_string(&scored).unwrap();
    assert_eq!(
        text,
        "{\"id\":\"row-1\",\"group\":\"g\",\"outcome\":\"failed\",\"reward\":null,\
         \"fault\":\"BadInput\",\"why\":\"completion: missing\",\"verdicts\":{}}"
    );
    assert_eq!(serde_json::from_str::<Scored>(&text).unwrap(), scored);
}
