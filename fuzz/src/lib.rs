//! The fuzz targets: each takes any bytes, and panics where a promise is broken.
//!
//! The drivers in `fuzz_targets/` call them from libFuzzer; `tests/it/replay.rs` includes this file
//! and calls them with the seeds and with every hostile dataset.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write as _};
use std::sync::OnceLock;

use assay::data::{Columns, DataError, ReadLimits, Source};
use assay::engine::Document;
use assay::rubrics::formats;
use assay::rubrics::judge::{JudgeParts, JudgeReply};
use assay::rubrics::reply::{self, AskedCriteria};
use assay::rubrics::rubric::{AnswerChoice, AnswerKind, Criterion, Scale};
use assay::verifiers::{
    Earlier, FaultKind, Lane, Meter, NoFiles, Outcome, Sample, Verdict, Verifier,
};
use assay::verifiers::{canonical, registry};
use assay::{Plan, Registry};
use serde_json::{Value, json};

/// Every target, by name.
pub const TARGETS: [(&str, fn(&[u8])); 15] = [
    ("canonical", canonical),
    ("choice", choice),
    ("config", config),
    ("extract_boxed", extract_boxed),
    ("json", json),
    ("jsonl", jsonl),
    ("judge_reply", judge_reply),
    ("math", math),
    ("math_equiv", math_equiv),
    ("math_parse", math_parse),
    ("number", number),
    ("parquet", parquet),
    ("regex", regex),
    ("rhai", rhai),
    ("rubric", rubric),
];

/// The most evidence, in bytes: it points at the sample and does not copy it.
const EVIDENCE_BYTES_MAX: usize = 8192;

/// JSON: its canonical form is read back as the same value.
pub fn canonical(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let bytes = canonical::to_bytes(&value);
    let again: Value = serde_json::from_slice(&bytes).expect("the canonical form is JSON");
    assert_eq!(bytes, canonical::to_bytes(&again), "the canonical form is not its own");
}

/// The reference on the first line, then the completion.
pub fn choice(data: &[u8]) {
    judge_pair("choice", data);
}

/// The same.
pub fn math(data: &[u8]) {
    judge_pair("math", data);
}

/// The same.
pub fn number(data: &[u8]) {
    judge_pair("number", data);
}

/// One text as a reference and as an answer, in every place where an answer is looked for.
pub fn math_parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for extract in ["auto", "boxed", "anchor", "last_number", "whole"] {
        let verifier = build("math", json!({"extract": extract})).expect("a policy");
        judge(&*verifier, &Sample::builder(&*text).reference("1").build());
    }
    let boxed = format!("\\boxed{{{text}}}");
    judge(default("math"), &Sample::builder(boxed).reference(&*text).build());
    judge(default("math"), &Sample::builder("\\boxed{1}").prompt(&*text).reference(&*text).build());
}

/// Two answers, a line each: each equals itself however it is written, and what is equal one way
/// is not refused the other way.
pub fn math_equiv(data: &[u8]) {
    let (one, two) = first_line(data);
    let verifier =
        build("math", json!({"extract": "whole", "decimals": "exact"})).expect("settings");
    let reason = |reference: &str, answer: &str| {
        let sample = Sample::builder(answer).reference(reference).build();
        let verdict = judge(&*verifier, &sample);
        let note = |key: &str| verdict.evidence.get(key).and_then(Value::as_str).map(str::to_owned);
        (note("reason").unwrap_or_default(), note("rung").unwrap_or_default())
    };
    // What wraps an answer, or reads otherwise in a reference: a box, a decimal comma, an open brace.
    let plain = |text: &str| {
        let text = text.replace(['$', '*', '`', '"', '#', '\n', '<'], " ");
        let text = text.trim().trim_end_matches(['.', ',', ';', '^', '_', '\\', ' ', '|']);
        let wrapped = ["box", "\\[", "\\("].iter().any(|mark| text.contains(mark))
            || text.contains(char::is_control);
        let comma =
            text.split(',').skip(1).any(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
        let depth = text.chars().try_fold(0usize, |depth, c| match c {
            '{' => Some(depth + 1),
            '}' => depth.checked_sub(1),
            _ => Some(depth),
        });
        (!text.is_empty() && !wrapped && !comma && depth == Some(0)).then(|| text.to_owned())
    };
    let (Some(one), Some(two)) = (plain(&one), plain(&two)) else { return };
    for text in [&one, &two] {
        // A space of no width, so that equal bytes do not decide.
        let (reason, _) = reason(text, &format!("{text}\\!"));
        assert_ne!(reason, "proved-unequal", "{text}");
    }
    let (forth, rung) = reason(&one, &two);
    let symmetric = ["rational", "surd", "polynomial"].contains(&rung.as_str());
    if forth == "proved-equal" && symmetric {
        assert_ne!(reason(&two, &one).0, "proved-unequal", "{one} and {two}");
    }
}

/// A box behind any text is found, and what is found stands where it is said to stand.
pub fn extract_boxed(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let sample = Sample::builder(&*text).reference("7").build();
    let verdict = judge(default("math"), &sample);
    let note = |key: &str| verdict.evidence.get(key).cloned().unwrap_or_default();
    if let (Some(span), "boxed") =
        (note("span").as_array(), note("provenance").as_str().unwrap_or(""))
    {
        let end =
            |at: usize| usize::try_from(span[at].as_u64().expect("an offset")).expect("small");
        let found = text.get(end(0)..end(1)).expect("a span of the completion");
        let said = note("extracted");
        let said = said.as_str().expect("a text").trim_end_matches('…');
        let first = said.split(", ").next().unwrap_or_default();
        assert!(found.starts_with(first) || found.trim().starts_with(first.trim()), "{said}");
    }
    if !text.contains(['\\', '`', '<']) {
        let verifier = build("math", json!({"extract": "boxed"})).expect("a policy");
        let sample = Sample::builder(format!("{text}\n\nSo \\boxed{{7}}.")).reference("7").build();
        let reward = judge(&*verifier, &sample).outcome.reward();
        assert_eq!(reward.map(assay::verifiers::Reward::get), Some(1.0), "{text}");
    }
}

/// A pattern on the first line, then the completion.
pub fn regex(data: &[u8]) {
    let (pattern, completion) = first_line(data);
    for settings in [
        json!({"pattern": pattern}),
        json!({"pattern": pattern, "full": true}),
        json!({"pattern": pattern, "group": "0"}),
        json!({"pattern": pattern, "min": 1, "max": 3}),
    ] {
        if let Some(verifier) = build("regex", settings) {
            judge(&*verifier, &Sample::builder(&*completion).reference("a").build());
        }
    }
}

/// A JSON Schema on the first line, then the completion.
pub fn json(data: &[u8]) {
    let (schema, completion) = first_line(data);
    let sample = Sample::builder(&*completion).reference(&*schema).build();
    judge(default("json"), &sample);
    let Ok(schema) = serde_json::from_str::<Value>(&schema) else { return };
    if let Some(verifier) = build("json", json!({"schema": schema, "unique_keys": true})) {
        judge(&*verifier, &sample);
    }
}

/// A script: it ends within its fuel, and the same way every time.
pub fn rhai(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    if let Some(verifier) = build("rhai", json!({"script": source})) {
        let reference = json!([1, "a", null, {"b": 2.5}]);
        judge(&*verifier, &Sample::builder("one, two é").prompt("p").reference(reference).build());
    }
}

/// A configuration: whatever is built is built the same way again.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let plan = || {
        let document = Document::parse("assay.toml", &text)?;
        Plan::build(
            &document,
            &Registry::standard(&std::sync::Arc::default(), &std::sync::Arc::default()),
            &NoFiles,
            &JudgeParts::default(),
        )
    };
    match plan() {
        Ok(plan_of_text) => {
            let again = plan().expect("it was built a moment ago");
            assert_eq!(plan_of_text.config_hash(), again.config_hash());
        }
        Err(error) => assert!(!error.message.is_empty(), "an error without words"),
    }
}

/// What a judge says: a share from 0 to 1, or no verdict. A reply that repeats the material is none.
pub fn judge_reply(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let reply = JudgeReply { text: text.clone(), ..JudgeReply::default() };
    let choice =
        |label: &str| AnswerChoice { label: label.into(), text: String::new(), value: None };
    let kinds = [
        AnswerKind::YesNo,
        AnswerKind::Scale(Scale { max: 5, ..Scale::default() }),
        AnswerKind::Choices(vec![choice("I"), choice("P"), choice("C")]),
    ];
    for kind in kinds {
        let criterion = Criterion { kind, ..Criterion::new("fuzz", "is it so?") };
        let criteria = [&criterion];
        let read = |material: &[&str]| {
            reply::read(&reply, &AskedCriteria { criteria: &criteria, code: "01234567", material })
        };
        for verdict in read(&[]).into_iter().flatten() {
            let share = verdict.answer.map_or(0.0, |answer| answer.share);
            assert!((0.0..=1.0).contains(&share), "a share of {share}");
        }
        if !text.contains("01234567") {
            let echoed = read(&[&text]);
            assert!(echoed.is_err(), "an echo is a verdict: {echoed:?}");
        }
    }
}

/// A rubric of any format, as JSON, YAML or TOML: in our format it is the same rubric.
pub fn rubric(data: &[u8]) {
    for name in ["fuzz.json", "fuzz.yaml", "fuzz.toml"] {
        match formats::read_text(name, data) {
            Ok(rubric) => {
                rubric.check().expect("it was checked");
                let Ok(toml) = formats::to_toml(&rubric) else { continue };
                let again = formats::read_text("fuzz.toml", toml.as_bytes());
                assert_eq!(again.expect("it is our format"), rubric);
            }
            Err(error) => assert!(!error.message.is_empty(), "an error without words"),
        }
    }
}

/// Lines of JSON, perhaps compressed: the same rows in whatever pieces they come.
pub fn jsonl(data: &[u8]) {
    let limits = ReadLimits::default();
    let whole = Source::stream("fuzz", Cursor::new(data.to_vec()), &limits);
    let drip = Source::stream("fuzz", Drip(Cursor::new(data.to_vec())), &limits);
    assert_eq!(rows(whole), rows(drip), "the rows depend on how they come");
}

/// A Parquet file.
pub fn parquet(data: &[u8]) {
    let mut file = tempfile::Builder::new().suffix(".parquet").tempfile().expect("a file");
    file.write_all(data).expect("a disk with room");
    rows(Source::open(&[file.path().to_owned()], &ReadLimits::default()));
}

/// Gives a few bytes at a time, as a pipe does; more of them once many have come.
struct Drip(Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let few = buffer.len().min(7 + usize::try_from(self.0.position()).unwrap_or(0) / 64);
        self.0.read(&mut buffer[..few])
    }
}

/// Every row and every error, as text.
fn rows(source: Result<Source, DataError>) -> Vec<String> {
    let source = match source {
        Ok(source) => source,
        Err(error) => return vec![error.to_string()],
    };
    let mut seen = Vec::new();
    let mut count = 0;
    for block in source {
        let block = match block {
            Ok(block) => block,
            Err(error) => {
                seen.push(error.to_string());
                continue;
            }
        };
        let rows = block.rows(&Columns::default());
        assert_eq!(rows.len(), block.len(), "a block has other rows than it says");
        for row in rows {
            assert_eq!(row.index, count, "rows are numbered without a gap");
            count += 1;
            seen.push(format!("{row:?}"));
        }
    }
    seen
}

/// The first line, and the rest.
fn first_line(data: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(data);
    let (first, rest) = text.split_once('\n').unwrap_or(("", &text));
    (first.to_owned(), rest.to_owned())
}

fn judge_pair(id: &str, data: &[u8]) {
    let (reference, completion) = first_line(data);
    judge(default(id), &Sample::builder(&*completion).reference(&*reference).build());
    judge(default(id), &Sample::builder(&*reference).prompt(&*completion).reference(3).build());
}

/// The same verdict for the same fuel each time, with little evidence and no fault of ours.
fn judge(verifier: &dyn Verifier, sample: &Sample) -> Verdict {
    let verdict = || {
        let mut meter = Meter::default();
        (verifier.verify(sample, Earlier::default(), &mut meter), meter.spent())
    };
    let (first, again) = (verdict(), verdict());
    assert_eq!(first, again, "another verdict, or another price");
    if let Outcome::Failed(fault) = &first.0.outcome {
        assert_ne!(fault.kind, FaultKind::Internal, "{fault}");
    }
    let evidence = serde_json::to_string(&first.0.evidence).expect("evidence is JSON");
    assert!(evidence.len() < EVIDENCE_BYTES_MAX, "{} bytes of evidence", evidence.len());
    first.0
}

fn build(id: &str, settings: Value) -> Option<Box<dyn Verifier>> {
    let built = (registry::find(id)?.build)(settings, &NoFiles).ok()?;
    match built.lane {
        Lane::Compute(verifier) => Some(verifier),
        _ => None,
    }
}

/// A check as it is without settings. Patterns are compiled once.
fn default(id: &str) -> &'static dyn Verifier {
    static BUILT: OnceLock<BTreeMap<&str, Box<dyn Verifier>>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let ids = ["choice", "json", "math", "number"];
        ids.into_iter().filter_map(|id| Some((id, build(id, json!({}))?))).collect()
    });
    &**built.get(id).expect("the check needs no settings")
}
