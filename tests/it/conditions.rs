//! `when` and `combine.expression`: what many conditions of one row share changes no verdict, and none
//! goes on beyond the deadline of its verdict.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use assay::Engine;
use assay::engine::{Clock, Document};
use assay::verifiers::{FaultKind, Outcome, Sample, Scored};

/// A clock on which an hour passes between two looks.
#[derive(Default)]
struct Hasty(AtomicU64);

impl Clock for Hasty {
    fn now_ns(&self) -> u64 {
        self.0.fetch_add(3_600_000_000_000, Ordering::Relaxed)
    }
}

fn document(conditions: &[String], rest: &str) -> Document {
    let mut text = String::from("version = 1\n");
    for (at, when) in conditions.iter().enumerate() {
        let _ = writeln!(text, "[[reward]]\nname = 'r{at}'\nverifier = 'exact'\nwhen = {when:?}");
    }
    Document::parse("t.toml", &format!("{text}{rest}")).unwrap()
}

fn members(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn samples() -> Vec<Sample> {
    let lines = [("math", 1, "7"), ("code", 2, "7"), ("math", 3, "8")];
    let sample = |(source, level, said): (&str, i64, &str)| {
        let sample = Sample::builder(said).prompt("How many?").reference("7");
        sample.meta(members(&json!({ "source": source, "level": level }))).build()
    };
    lines.into_iter().map(sample).collect()
}

fn score(conditions: &[String]) -> Vec<Scored> {
    Engine::builder().config(document(conditions, "")).jobs(1).build().unwrap().score(samples())
}

/// `true` where a reward judged, `false` where its `when` was false.
fn judged(scored: &Scored, reward: usize) -> bool {
    match &scored.verdict(&format!("r{reward}")).unwrap().outcome {
        Outcome::Scored(_) => true,
        Outcome::Abstained(why) => {
            assert_eq!(why, "`when` is false");
            false
        }
        Outcome::Failed(fault) => unreachable!("{fault:?}"),
    }
}

#[test]
fn conditions_that_share_a_row_decide_what_each_decides_alone() {
    let conditions = [
        "meta.source == \"math\"",
        "meta.level > 1",
        "meta.source == \"math\" && completion != reference",
        "completion.len() == 1 && (meta.level < 3 || step > 0)",
        "rewards.r1 == 1.0",
        "verdicts.r0.outcome == \"scored\"",
        "rewards.len() > 3",
        "meta.source.len() == 4",
        "meta.source == \"math\"",
    ];
    let together: Vec<String> = conditions.map(str::to_owned).to_vec();
    let scored = score(&together);
    let found: Vec<Vec<bool>> = scored
        .iter()
        .map(|scored| (0..together.len()).map(|at| judged(scored, at)).collect())
        .collect();
    let (yes, no) = (true, false);
    assert_eq!(
        found,
        [
            [yes, no, no, yes, no, yes, yes, yes, yes],
            [no, yes, no, yes, yes, no, yes, yes, no],
            [yes, yes, yes, no, no, yes, yes, yes, yes],
        ]
    );
    let by_sample = |when: &str| !when.contains("rewards") && !when.contains("verdicts");
    for (at, when) in together.iter().enumerate().filter(|(_, when)| by_sample(when)) {
        for (alone, together) in score(std::slice::from_ref(when)).iter().zip(&scored) {
            assert_eq!(judged(alone, 0), judged(together, at), "{when}");
        }
    }
}

#[test]
fn what_a_condition_changes_no_other_sees() {
    let conditions =
        ["meta.tags.pad(9, \"x\") == ()", "meta.tags.len() == 1", "meta.tags[0] == \"a\""];
    let conditions: Vec<String> = conditions.iter().map(|when| (*when).to_owned()).collect();
    let sample =
        Sample::builder("7").reference("7").meta(members(&json!({ "tags": ["a"] }))).build();
    let engine = Engine::builder().config(document(&conditions, "")).build().unwrap();
    let scored = engine.score([sample]);
    for at in [1, 2] {
        assert!(judged(&scored[0], at), "{at}: {:?}", scored[0].verdicts);
    }
}

#[test]
fn a_long_script_is_a_fault_by_the_deadline() {
    let letters =
        |text: &str| format!("{text}.split(' ').filter(|word| word.len() == 4).len() > 0");
    let words = format!("'{}'", "word ".repeat(2000)).replace('\'', "`");
    let when = document(&[letters("completion"), "step == 0".to_owned()], "");
    let rule = format!("how = 'expression'\nexpression = \"{}\"", letters(&words));
    let combine = document(&["step == 0".to_owned()], &format!("[combine]\n{rule}"));
    for (document, reward) in [(when, Some("r0")), (combine, None)] {
        for is_hasty in [true, false] {
            let builder = Engine::builder().config(document.clone()).jobs(1);
            let builder = if is_hasty { builder.clock(Hasty::default()) } else { builder };
            let sample = Sample::builder("word ".repeat(2000)).reference("7").build();
            let scored = builder.build().unwrap().score([sample]);
            let verdict = reward.map(|name| &scored[0].verdict(name).unwrap().outcome);
            let outcome = verdict.unwrap_or(&scored[0].outcome);
            let is_late =
                matches!(outcome, Outcome::Failed(fault) if fault.kind == FaultKind::Timeout);
            assert_eq!(is_late, is_hasty, "{reward:?}: {outcome:?}");
            assert!(is_hasty || matches!(outcome, Outcome::Scored(_)), "{reward:?}: {outcome:?}");
        }
    }
}
