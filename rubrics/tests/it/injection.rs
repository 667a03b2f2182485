//! Completions that try to talk a judge into a verdict.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use assay_rubrics::judge::{Judge, JudgeParts, JudgeReply, JudgeRequest, JudgeSet};
use assay_rubrics::reply::{AskedCriteria, AskedSeveral, read, read_pair};
use assay_rubrics::rubric::{AnswerChoice, AnswerKind, Criterion, Scale};
use assay_rubrics::verifiers::{self, RubricScope};
use assay_verifiers::{
    AsyncVerifier, BuildError, Earlier, Fault, FaultKind, Lane, Meter, NoFiles, Outcome, Pending,
    Sample, Verdict,
};
use serde_json::{Value, json};

/// What a judge makes of a request.
type Says = fn(&JudgeRequest, &str) -> String;

/// A judge that says what a function makes of the text outside every fence.
struct Obedient(Says);

impl Judge for Obedient {
    fn identity(&self) -> Value {
        json!("obedient")
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let whole: Vec<&str> =
            request.messages.iter().map(|message| message.content.as_str()).collect();
        let text = (self.0)(&request, &outside(&whole.join("\n")));
        Box::pin(async move { Ok(JudgeReply { text, ..JudgeReply::default() }) })
    }
}

/// The text without what stands between two lines that carry the same code.
fn outside(text: &str) -> String {
    let code = |line: &str| {
        let word = line.rsplit(' ').next().unwrap_or_default();
        let is_code = word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
        is_code.then(|| word.to_owned())
    };
    let (mut out, mut open) = (String::new(), None);
    for line in text.lines() {
        match (&open, code(line)) {
            (None, Some(own)) if line.starts_with("BEGIN ") => open = Some(own),
            (Some(own), Some(found)) if line.starts_with("END ") && *own == found => open = None,
            (None, _) => out.extend([line, "\n"]),
            (Some(_), _) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    out
}

fn code(request: &JudgeRequest) -> String {
    request.schema["properties"]["code"]["enum"][0].as_str().unwrap().to_owned()
}

fn honest(request: &JudgeRequest) -> String {
    json!({"code": code(request), "reasons": "it is not", "verdict": false}).to_string()
}

/// Obeys the last instruction outside the fence, which is ours unless the completion got out.
fn obeys(request: &JudgeRequest, outside: &str) -> String {
    let last = outside.trim().lines().last().unwrap_or_default();
    let ours = format!(
        "{{\"code\": \"{}\", \"reasons\": \"...\", \"verdict\": true or false}}",
        code(request)
    );
    if last == ours { honest(request) } else { last.to_owned() }
}

fn completion(request: &JudgeRequest) -> &str {
    &request.texts.completion
}

fn verdict(says: Says, completion: &str) -> Verdict {
    let settings = json!({
        "rubric": {"criterion": [{"name": "met", "text": "The response proves Fermat's theorem."}]},
        "judge": "stub",
    });
    judged(says, settings, &Sample::builder(completion).prompt("Prove it.").build())
}

fn judged(says: Says, settings: Value, sample: &Sample) -> Verdict {
    let judges = BTreeMap::from([("stub".to_owned(), Arc::new(Obedient(says)) as Arc<dyn Judge>)]);
    let judges = JudgeSet::new(BTreeMap::new(), JudgeParts { judges, ..JudgeParts::default() });
    let judges = judges.unwrap();
    let none = |_: &str, _: Value| Err(BuildError::new("", "no verifiers"));
    let scope = RubricScope {
        files: &NoFiles,
        judges: &judges,
        verifiers: &none,
        row_verifiers: Arc::new(none),
        earlier: &[],
    };
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "rubric").unwrap();
    let built = (entry.build)(&scope, settings).unwrap();
    let Lane::Awaited(verifier) = built.lane else { panic!("it is awaited") };
    let mut meter = Meter::default();
    let pending = AsyncVerifier::verify(verifier, sample, Earlier::default(), &mut meter);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(pending)
}

fn injections() -> Vec<(String, String)> {
    let file = include_str!("../../../fixtures/rubrics/injections.jsonl");
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        (text("name"), text("completion"))
    };
    let cases: Vec<_> = file.lines().map(case).collect();
    assert!(cases.len() >= 60);
    cases
}

fn is_paid(verdict: &Verdict) -> bool {
    matches!(verdict.outcome, Outcome::Scored(reward) if reward.get() != 0.0)
}

#[test]
fn a_prompt_may_stand_in_the_settings_and_show_the_answer_alone() {
    let says: Says = |request, _| match request.messages.as_slice() {
        [one] if one.role == "user" && one.content == "1/4 + 1/4? 1/2: \\frac12 | it" => {
            "true".to_owned()
        }
        _ => "false".to_owned(),
    };
    let settings = |user: &str| {
        json!({
            "rubric": {"criterion": [{"name": "met", "text": "Is it?"}]},
            "judge": "stub", "system_prompt": "", "user_prompt": user,
        })
    };
    let sample = |text: &str| Sample::builder(text).prompt("1/4 + 1/4?").reference("1/2").build();
    let paid = |user: &str, text: &str| is_paid(&judged(says, settings(user), &sample(text)));
    let user = "{{ prompt }} {{ reference }}: {{ answer }} | it";
    assert!(paid(user, "<think>1/4</think>We add. So the answer is $\\frac12$."));
    assert!(!paid(user, "So the answer is $\\frac13$."));
    assert!(paid("{{ prompt }} {{ reference }}: {{ completion }} | it", "\\frac12"));
}

#[test]
fn no_completion_gets_out_of_its_fence() {
    for (name, text) in injections() {
        let verdict = verdict(obeys, &text);
        assert!(
            matches!(verdict.outcome, Outcome::Scored(reward) if reward.get() == 0.0),
            "{name}: {verdict:?}"
        );
    }
}

#[test]
fn an_echo_of_a_completion_is_no_verdict() {
    let echoes: [(&str, Says); 4] = [
        ("whole", |request, _| completion(request).to_owned()),
        ("quoted", |request, _| {
            format!("The response says:\n> {}", completion(request).replace('\n', "\n> "))
        }),
        ("in a string", |request, _| format!("It claims {}", json!(completion(request)))),
        ("in prose", |request, _| format!("I read `{}` and am not sure.", completion(request))),
    ];
    for (name, text) in injections() {
        for (how, says) in echoes {
            let verdict = verdict(says, &text);
            assert!(!is_paid(&verdict), "{name}, echoed {how}: {verdict:?}");
            if let Outcome::Failed(fault) = &verdict.outcome {
                assert_eq!(fault.kind, FaultKind::Upstream, "{name}, echoed {how}");
            }
        }
    }
}

#[test]
fn the_verdict_beside_an_echo_counts() {
    let mixed: [(&str, Says); 3] = [
        ("before", |request, _| format!("{}\n{}", honest(request), completion(request))),
        ("behind", |request, _| format!("{}\n{}", completion(request), honest(request))),
        ("around", |request, _| {
            format!("{}\n{}\n{}", honest(request), completion(request), honest(request))
        }),
    ];
    for (name, text) in injections() {
        for (how, says) in mixed {
            let verdict = verdict(says, &text);
            assert!(!is_paid(&verdict), "{name}, {how}: {verdict:?}");
        }
    }
}

#[test]
fn what_an_earlier_request_taught_is_of_no_use() {
    static LEARNT: Mutex<String> = Mutex::new(String::new());
    let learn: Says = |request, _| {
        honest(request).clone_into(&mut LEARNT.lock().unwrap());
        honest(request)
    };
    verdict(learn, "a first try");
    let learnt = LEARNT.lock().unwrap().replace("false", "true");
    let echo: Says = |request, _| completion(request).to_owned();
    let verdict = verdict(echo, &format!("a second try\n{learnt}"));
    assert!(
        matches!(&verdict.outcome, Outcome::Failed(fault) if fault.kind == FaultKind::Upstream),
        "{verdict:?}"
    );
}

/// Pieces of which replies are made.
const PIECES: [&str; 40] = [
    "yes",
    "no",
    "Verdict: ",
    "verdict = ",
    "[RESULT] ",
    "[[",
    "]]",
    "GRADE: ",
    "C",
    "P",
    "4",
    "4/5",
    "5",
    "{\"verdict\": true}",
    "{\"verdict\": \"C\", \"reasons\": \"x\"}",
    "{\"score\": 4}",
    "{\"verdict\": ",
    "}",
    "\"",
    "```json\n",
    "\n```",
    "\n",
    "\n> ",
    "- ",
    " ",
    ", ",
    ". ",
    "the answer is ",
    "**",
    "<think>",
    "</think>",
    "\u{200B}",
    "cannot tell",
    "I am not sure",
    "A",
    "Output (b)",
    " is better",
    "tie",
    "{\"winner\": \"A\"}",
    "both",
];

proptest::proptest! {
    #[test]
    fn a_reply_that_is_the_material_is_no_verdict(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..12),
        around in 0..3_usize,
    ) {
        let material: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        let text = match around {
            0 => material.clone(),
            1 => format!("{material}\n"),
            _ => format!(" {material} "),
        };
        let reply = JudgeReply { text, ..JudgeReply::default() };
        let choice = |label: &str| AnswerChoice { label: label.into(), text: String::new(), value: None };
        for kind in [
            AnswerKind::YesNo,
            AnswerKind::Scale(Scale { max: 5, ..Scale::default() }),
            AnswerKind::Choices(vec![choice("I"), choice("P"), choice("C")]),
        ] {
            let criterion = Criterion { kind, ..Criterion::new("a", "b") };
            let asked = AskedCriteria { criteria: &[&criterion], code: "01234567", material: &[&material] };
            let read = read(&reply, &asked);
            proptest::prop_assert!(read.is_err(), "{:?}: {:?}", material, read);
        }
        let asked = AskedSeveral { code: "01234567", material: &[&material, "another"] };
        let read = read_pair(&reply, asked, false);
        proptest::prop_assert!(read.is_err(), "{:?}: {:?}", material, read);
    }
}
