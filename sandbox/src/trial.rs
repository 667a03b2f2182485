//! A program on its tests: which room runs what, and what the result earns.

use std::collections::BTreeMap;

use assay_verifiers::{Fault, FaultKind, Meter, Reward, Sample, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answer::Asked;
use crate::rooms::wire::Plain;
use crate::rooms::{
    self, Call, Callee, CaseResult, CaseRun, Containers, Judged, Room, Ruling, Task, Terms,
};
use crate::runtime::{Guest, Limits, Stop};
use crate::stub;
use crate::suite::{Assertions, Calls, Data, Suite};

/// Tests that evidence describes; all are counted.
const SHOWN_MAX: usize = 10;
/// Characters of output that evidence repeats.
const TAIL_CHARS: usize = 400;

/// What a program earns by the share of its tests that it passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pay {
    /// 1 when every test passes, else 0.
    #[default]
    All,
    /// The share of the tests that pass.
    Fraction,
}

/// What became of a program on its tests.
pub(crate) struct Outcome {
    passed: usize,
    total: usize,
    /// What ended it before the tests were through.
    error: Option<String>,
    tests: Vec<Value>,
    notes: BTreeMap<&'static str, Value>,
}

impl Outcome {
    pub(crate) fn new(total: usize) -> Self {
        Self { passed: 0, total, error: None, tests: Vec::new(), notes: BTreeMap::new() }
    }

    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// A test that failed, described for whoever asks why.
    pub(crate) fn fail(&mut self, test: Value) {
        if self.tests.len() < SHOWN_MAX {
            self.tests.push(test);
        }
    }

    pub(crate) fn end(&mut self, why: impl Into<String>) {
        self.error.get_or_insert_with(|| why.into());
    }

    pub(crate) fn note(&mut self, key: &'static str, value: impl Into<Value>) {
        self.notes.insert(key, value.into());
    }

    /// What the program used, and the end of what it wrote.
    pub(crate) fn used(&mut self, fuel: u64, memory_bytes_peak: usize, out: [&[u8]; 2]) {
        self.note("fuel", fuel);
        self.note("memory_bytes", memory_bytes_peak);
        for (key, bytes) in ["stdout", "stderr"].into_iter().zip(out) {
            if !bytes.is_empty() {
                self.note(key, tail(bytes));
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no suite has 2^53 tests")]
    pub(crate) fn verdict(self, pay: Pay) -> Verdict {
        let all = self.passed == self.total && self.total > 0 && self.error.is_none();
        let share = self.passed as f64 / self.total.max(1) as f64;
        let reward = match pay {
            Pay::All => Reward::graded(all),
            // A program that was stopped has not passed what it seemed to pass.
            Pay::Fraction if !all && self.passed >= self.total => Reward::ZERO,
            Pay::Fraction => Reward::new(share).unwrap_or(Reward::ZERO),
        };
        let mut verdict = Verdict::scored(reward)
            .with("passed", self.passed)
            .with("total", self.total)
            .because(if all { "all-passed" } else { "failed" });
        if let Some(error) = self.error {
            verdict = verdict.with("error", error);
        }
        if !self.tests.is_empty() {
            verdict = verdict.with("failures", self.tests);
        }
        for (key, value) in self.notes {
            verdict = verdict.with(key, value);
        }
        verdict
    }
}

/// The end of an output, as text.
pub(crate) fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(4 * TAIL_CHARS);
    let text = String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned();
    let skip = text.chars().count().saturating_sub(TAIL_CHARS);
    text.chars().skip(skip).collect()
}

/// The fault of a run that says nothing about the program.
pub(crate) fn fault(stop: &Stop) -> Option<Fault> {
    match stop {
        Stop::Deadline => Some(Fault::new(FaultKind::Timeout, stop.to_string())),
        Stop::Internal(why) => Some(Fault::internal(why.clone())),
        _ => None,
    }
}

/// Where the tests of a sample are: the reference, a column of the row, or (`.`) the whole row.
pub(crate) fn tests<'a>(sample: &'a Sample, from: &str) -> Option<std::borrow::Cow<'a, Value>> {
    use std::borrow::Cow;
    match from {
        "reference" => sample.reference().map(Cow::Borrowed),
        "." => Some(Cow::Owned(Value::Object(sample.meta().clone()))),
        path => column(sample.meta(), path).map(Cow::Borrowed),
    }
}

/// The tests of a sample as they came, and as a suite; `None` where it has none.
pub(crate) fn suite<'a>(
    sample: &'a Sample,
    from: &str,
    meter: &mut Meter<'_>,
) -> Result<Option<(std::borrow::Cow<'a, Value>, Suite)>, Fault> {
    let Some(value) = tests(sample, from) else { return Ok(None) };
    meter.spend(sample.completion().len() as u64)?;
    let suite = Suite::from_value(&value)
        .map_err(|error| Fault::bad_reference(format!("tests: {error}")))?;
    Ok(Some((value, suite)))
}

/// The value at a dotted path, unless it is null.
fn column<'a>(row: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = row.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part)).filter(|value| !value.is_null())
}

/// Runs assertions in a room of their own.
pub(crate) fn assertions(
    python: &Guest,
    task: &Task<'_>,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Result<Outcome, Fault> {
    let terms = Terms { limits: limits.clone(), seed: 0, expired: &mut || meter.expired() };
    let judged = rooms::judge(python, task, terms);
    match judged.ruling() {
        Ruling::BadTests(why) => Err(Fault::bad_reference(why)),
        Ruling::Stopped(stop) => Err(fault(&stop).unwrap_or_else(|| Fault::internal("stopped"))),
        ruling => Ok(asserted(&judged, ruling == Ruling::Passed)),
    }
}

fn asserted(judged: &Judged, all: bool) -> Outcome {
    let reached = judged.tests.len();
    // Assertions after the one that ended the tests were not reached; they are counted as well.
    let total = if all { reached } else { reached.max(judged.asserts) };
    let mut outcome = Outcome::new(total.max(1));
    outcome.passed = judged.tests.iter().filter(|test| test.failures == 0).count();
    if all {
        // Tests that assert nothing by themselves pass as one.
        outcome.passed = outcome.total;
    }
    for test in judged.tests.iter().filter(|test| test.failures > 0) {
        outcome.fail(json!({"line": test.line, "test": test.text, "error": test.error}));
    }
    if let Some(why) = &judged.poisoned {
        // Who broke a rule is not paid for what seemed to pass.
        outcome.passed = 0;
        outcome.end(why.clone());
    }
    if let Some(why) = &judged.error {
        outcome.end(why.clone());
    }
    if let Some((room, stop)) = &judged.stop {
        let room = if *room == Room::Candidate { "the program" } else { "the tests" };
        outcome.end(format!("{room}: {stop}"));
    }
    if !all {
        outcome.end("the tests did not pass");
    }
    outcome.used(judged.fuel, judged.memory_bytes_peak, [&judged.stdout, &judged.stderr]);
    outcome.note("crossings", judged.crossings);
    outcome.note("room", if judged.shared_room { "shared" } else { "separate" });
    if let (true, Some(why)) = (judged.shared_room, &judged.why_shared) {
        outcome.note("why_shared", why.clone());
    }
    outcome
}

/// Calls a function with each case and compares on the host what it returns.
pub(crate) fn calls(
    python: &Guest,
    callee: Callee<'_>,
    calls: &Calls,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Result<Outcome, Fault> {
    let cases: Vec<Call> = calls
        .cases
        .iter()
        .map(|case| Call {
            args: case.args.iter().map(plain).collect(),
            kwargs: case.kwargs.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        })
        .collect();
    let terms = Terms { limits: limits.clone(), seed: 0, expired: &mut || meter.expired() };
    let run = rooms::call_cases(python, callee, &cases, terms);
    if let Some(why) = &run.broken {
        return Err(Fault::bad_reference(format!("the setup does not run: {why}")));
    }
    if let Some(fault) = run.stop.as_ref().and_then(|(_, stop)| fault(stop)) {
        return Err(fault);
    }
    Ok(called(&run, calls))
}

fn called(run: &CaseRun, calls: &Calls) -> Outcome {
    let mut outcome = Outcome::new(calls.cases.len());
    for (case, result) in calls.cases.iter().zip(&run.results) {
        let expected = std::iter::once(&case.expected).chain(&case.or_expected);
        let right = |value: &Plain| {
            expected.clone().any(|wanted| equal(value, &plain(wanted), calls.float_tolerance))
        };
        let got = match result {
            CaseResult::Returned(value) if right(value) => {
                outcome.pass();
                continue;
            }
            CaseResult::Returned(value) => format!("{value:?}"),
            CaseResult::NotPlain => "an object of its own".to_owned(),
            CaseResult::Raised(why) => format!("raised {why}"),
            CaseResult::Refused(why) => why.clone(),
        };
        let args: Vec<String> = case.args.iter().map(|arg| cut(&arg.to_string())).collect();
        let expected = cut(&case.expected.to_string());
        outcome.fail(json!({"args": args.join(", "), "expected": expected, "got": cut(&got)}));
    }
    if let Some(why) = &run.error {
        outcome.end(format!("the program does not load: {why}"));
    }
    if let Some((_, stop)) = &run.stop {
        outcome.end(format!("the program: {stop}"));
    }
    outcome.used(run.fuel, run.memory_bytes_peak, [&run.stdout, &run.stderr]);
    outcome
}

/// As Python compares, or within a tolerance where one is given.
fn equal(got: &Plain, wanted: &Plain, tolerance: Option<f64>) -> bool {
    let Some(tolerance) = tolerance else {
        return rooms::plain_equal(got, wanted, Containers::Json);
    };
    match (got, wanted) {
        (Plain::List(got) | Plain::Tuple(got), Plain::List(wanted)) => {
            let pairs = got.iter().zip(wanted);
            got.len() == wanted.len()
                && pairs.into_iter().all(|(got, wanted)| equal(got, wanted, Some(tolerance)))
        }
        (Plain::Dict(got), Plain::Dict(wanted)) => {
            rooms::json_dicts_equal(got, wanted, |one, other| equal(one, other, Some(tolerance)))
        }
        (Plain::Float(got), wanted) => number(wanted)
            .is_some_and(|wanted| (got - wanted).abs() <= tolerance * wanted.abs().max(1.0)),
        (got, Plain::Float(wanted)) => {
            number(got).is_some_and(|got| (got - wanted).abs() <= tolerance * wanted.abs().max(1.0))
        }
        _ => rooms::plain_equal(got, wanted, Containers::Json),
    }
}

fn number(value: &Plain) -> Option<f64> {
    match value {
        Plain::Float(value) => Some(*value),
        Plain::Int(value) => value.to_string().parse().ok(),
        _ => None,
    }
}

/// A value as the guest has it.
pub(crate) fn plain(data: &Data) -> Plain {
    match data {
        Data::None => Plain::None,
        Data::Bool(value) => Plain::Bool(*value),
        Data::Int(value) => Plain::Int(value.clone()),
        Data::Float(value) => Plain::Float(*value),
        Data::Text(text) => Plain::Str(text.as_bytes().to_vec()),
        Data::List(items) => Plain::List(items.iter().map(plain).collect()),
        Data::Dict(members) => {
            let pair =
                |(key, value): &(String, Data)| (Plain::Str(key.as_bytes().to_vec()), plain(value));
            Plain::Dict(members.iter().map(pair).collect())
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The task of assertions.
pub(crate) fn task<'a>(
    program: &'a str,
    tests: &'a Assertions,
    setup: Option<&'a str>,
    prompt: &'a str,
) -> Task<'a> {
    let asked = Asked { entry_point: tests.entry_point.as_deref(), tests: Some(&tests.test) };
    Task {
        candidate: program,
        preamble: setup,
        prompt: stub::helpers(tests.prompt.as_deref().unwrap_or(prompt), &asked),
        setup,
        test: &tests.test,
        entry_points: tests.entry_point.as_slice(),
        ..Task::default()
    }
}
