//! A program on its tests: where each kind of suite comes from, and how it runs.

use std::borrow::Cow;

use assay_verifiers::prelude::*;

use crate::answer::Asked;
use crate::isolation::{
    AssertionRun, AssertionTask, CallResult, CallVerb, Callee, CallsRun, Ruling, RunContext, Side,
    TestResult, Told, run_assertions, run_operations,
};
use crate::runtime::{Guest, Limits, Stop};
use crate::stub;
use crate::suite::{Assertions, CallCase, CallTarget, Calls, Suite, SuiteError};
use crate::suite_report::{SuiteReport, cause_of_error, cause_of_stop};
use crate::value::{AnswerOrder, PyValue, equal_json, truncated};

/// What is before the reason why a program could not be loaded.
const NOT_LOADED: &str = "the program does not load: ";
/// What is before the reason why a call gave nothing.
const NO_ANSWER: &str = "no answer: ";
/// Columns that a reason names.
const COLUMNS_SHOWN: usize = 12;
/// Characters of a value that evidence repeats.
const SHOWN_CHARS_MAX: usize = 200;

/// The fault of a run that says nothing about the program.
pub(crate) fn fault(stop: &Stop) -> Option<Fault> {
    match stop {
        Stop::Deadline => Some(Fault::new(FaultKind::Timeout, stop.to_string())),
        Stop::Internal(why) => Some(Fault::internal(why.clone())),
        _ => None,
    }
}

/// Where the tests of a sample are: the reference, a column of the row, or (`.`) the whole row.
pub(crate) fn tests<'a>(sample: &'a Sample, from: &str) -> Option<Cow<'a, Value>> {
    match from {
        "reference" => sample.reference().map(Cow::Borrowed),
        "." => Some(Cow::Owned(Value::Object(sample.meta().clone()))),
        path => sample.column(path).filter(|value| !value.is_null()).map(Cow::Borrowed),
    }
}

/// The verdict on a sample without tests.
pub(crate) fn no_tests(sample: &Sample, from: &str) -> Verdict {
    if let "reference" | "." = from {
        return Verdict::no_reference();
    }
    let columns: Vec<&str> = sample.meta().keys().take(COLUMNS_SHOWN).map(String::as_str).collect();
    let has = if columns.is_empty() { "no other".to_owned() } else { columns.join(", ") };
    Verdict::abstained(format!("the row has no column \"{from}\" of tests; it has {has}"))
}

/// The tests of a sample as they came, and as a suite; `None` where it has none.
pub(crate) fn suite<'a>(
    sample: &'a Sample,
    from: &str,
    meter: &mut Meter<'_>,
) -> Result<Option<(Cow<'a, Value>, Suite)>, Fault> {
    let Some(value) = tests(sample, from) else { return Ok(None) };
    meter.spend(sample.completion().len() as u64)?;
    let suite = Suite::from_value(&value).map_err(|error| in_row(&error, sample, from))?;
    Ok(Some((value, suite)))
}

/// The fault of a suite; where it lacks keys and is the whole row, with what else may be wrong.
fn in_row(error: &SuiteError, sample: &Sample, from: &str) -> Fault {
    let lacks_keys = match error {
        SuiteError::Wrong { key, .. } | SuiteError::Missing { key, .. } => key.is_empty(),
        _ => false,
    };
    let help = match sample.reference() {
        _ if from != "." || !lacks_keys => "",
        Some(_) => "; columns that [data] names are not among them, so leave [data] reference out",
        None => "; columns that [data] names are not among them",
    };
    Fault::bad_reference(format!("{error}{help}"))
}

/// Runs assertions apart from the candidate.
pub(crate) fn assertions(
    python: &Guest,
    task: &AssertionTask<'_>,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Result<SuiteReport, Fault> {
    let context = RunContext { limits: limits.clone(), seed: 0, expired: &mut || meter.expired() };
    let run = run_assertions(python, task, context);
    match run.ruling() {
        Ruling::BadTests(why) => Err(Fault::bad_reference(why)),
        Ruling::Stopped(stop) => Err(fault(&stop).unwrap_or_else(|| Fault::internal("stopped"))),
        ruling => Ok(asserted(&run, ruling == Ruling::Passed)),
    }
}

fn asserted(run: &AssertionRun, all: bool) -> SuiteReport {
    let reached = run.tests.len();
    // Assertions after the one that ended the tests were not reached; they are counted as well.
    let total = if all { reached } else { reached.max(run.asserts) }.max(1);
    let mut report = SuiteReport::new(total);
    report.passed(match () {
        // Tests that assert nothing by themselves pass as one.
        () if all => total,
        // A program that broke a rule is not paid for what seemed to pass.
        () if run.poisoned.is_some() => 0,
        () => run.tests.iter().filter(|test| test.failures == 0).count(),
    });
    blame(run, &mut report);
    for test in run.tests.iter().filter(|test| test.failures > 0) {
        let error = test.error.as_deref().unwrap_or("failed");
        let is_assertion = error.starts_with("AssertionError");
        report.cause(if is_assertion { "failed-assertion" } else { "exception" });
        report.fail(described(test), &in_words(test, error, run.poisoned.as_deref()));
    }
    for why in [&run.poisoned, &run.error].into_iter().flatten() {
        report.end(why.clone());
    }
    if let Some((side, stop)) = &run.stop {
        let side = if *side == Side::Candidate { "the program" } else { "the tests" };
        report.end(format!("{side}: {stop}"));
    }
    if !all {
        report.end("the tests did not pass");
    }
    report.used(&run.used);
    report.note("crossings", run.crossings);
    report.note("room", if run.shared_room { "shared" } else { "separate" });
    if let (true, Some(why)) = (run.shared_room, &run.why_shared) {
        report.note("why_shared", why.clone());
    }
    report
}

/// A failed test, as data.
fn described(test: &TestResult) -> Value {
    let mut found = json!({"line": test.line, "test": test.text, "error": test.error});
    let Told { input, expected, got } = &test.told;
    for (key, text) in [("input", input), ("expected", expected), ("got", got)] {
        if let (Some(text), Some(found)) = (text, found.as_object_mut()) {
            found.insert(key.to_owned(), truncated(text, SHOWN_CHARS_MAX).into());
        }
    }
    found
}

/// The same in a line of words; `stopped` is what stopped the candidate.
fn in_words(test: &TestResult, error: &str, stopped: Option<&str>) -> String {
    let shown = |text: &str| truncated(text, SHOWN_CHARS_MAX);
    let Told { input, expected, got } = &test.told;
    let subject = input.as_deref().map_or_else(|| test.text.clone(), shown);
    let place = match (test.line, input) {
        (0, None) => String::new(),
        (0, Some(_)) => format!("{}, ", test.text),
        (line, _) => format!("line {line}, "),
    };
    let (got, message) = match got {
        Some(got) => (shown(got), message(test, error)),
        None if error == "AssertionError" => {
            return format!("{place}{}: it does not hold", test.text);
        }
        None if stopped == Some(error) => (format!("{NO_ANSWER}{error}"), None),
        None => (error.to_owned(), None),
    };
    let expected = expected.as_deref().filter(|_| input.is_some()).map(shown);
    let message = message.map_or_else(String::new, |message| format!(" ({})", shown(&message)));
    match expected {
        Some(expected) => format!("{place}{subject}: expected {expected}, got {got}{message}"),
        None => format!("{place}{subject}: {got}{message}"),
    }
}

/// What an error says beside the values that were compared: the message of an assertion, or another
/// exception.
fn message(test: &TestResult, error: &str) -> Option<String> {
    let Some(message) = error.strip_prefix("AssertionError") else { return Some(error.to_owned()) };
    let message = message.trim_start_matches(": ");
    // What unittest says of the values precedes a message of the tests' own.
    let own = if test.line == 0 { message.rsplit_once(" : ")?.1 } else { message };
    (!own.is_empty()).then(|| own.to_owned())
}

/// Says what ended the tests as a whole.
fn blame(run: &AssertionRun, report: &mut SuiteReport) {
    if let Some((_, stop)) = &run.stop {
        report.cause(cause_of_stop(stop));
    }
    if let Some(why) = &run.poisoned {
        report.cause(cause_of_error(why, "broken-rule"));
    }
    if let Some(why) = &run.error {
        match why.strip_prefix(NOT_LOADED) {
            Some(why) => report.cause(cause_of_error(why, "module-error")),
            None if run.tests.is_empty() => report.cause(cause_of_error(why, "not-tested")),
            None => {}
        }
    }
}

/// How what calls return is compared, where tests do not say.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AnswerComparison {
    /// How the items of a list may be ordered: `exact`, as they are expected; `any_order`, each as
    /// often as expected; or `any_order_deep`, where the lists within may be in any order too. The
    /// key `compare` of tests, and that of a case, come before it.
    compare: AnswerOrder,
    /// How far a float may be off: this times 1, or times what is expected where that is more. The
    /// judge of `LeetCode` allows 1e-5. The key `float_tolerance` of tests comes before it.
    float_tolerance: Option<f64>,
}

impl AnswerComparison {
    /// Looks at the settings, as those of `answers`.
    pub(crate) fn load(self) -> Result<(), BuildError> {
        if self.float_tolerance.is_none_or(|off| off.is_finite() && off >= 0.0) {
            return Ok(());
        }
        Err(BuildError::new("answers.float_tolerance", "must be a number that is 0 or more"))
    }

    /// Whether a case got what is right.
    fn holds(self, got: &PyValue, case: &CallCase, calls: &Calls) -> bool {
        let order = case.order.or(calls.order).unwrap_or(self.compare);
        let tolerance = calls.float_tolerance.or(self.float_tolerance);
        let mut right = std::iter::once(&case.expected).chain(&case.or_expected);
        if order == AnswerOrder::Exact {
            return right.any(|right| equal_json(got, right, tolerance));
        }
        let got = order.settled(got);
        right.any(|right| equal_json(&got, &order.settled(right), tolerance))
    }
}

/// Calls a function with each case and compares on the host what it returns.
pub(crate) fn calls(
    python: &Guest,
    callee: Callee<'_>,
    calls: &Calls,
    comparison: AnswerComparison,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Result<SuiteReport, Fault> {
    let context = RunContext { limits: limits.clone(), seed: 0, expired: &mut || meter.expired() };
    let made = calls.cases.iter().map(|case| (verb(&case.target), &case.arguments));
    let run = run_operations(python, callee, made, context);
    if let Some(why) = &run.broken {
        return Err(Fault::bad_reference(format!("the setup does not run: {why}")));
    }
    if let Some(fault) = run.stop.as_ref().and_then(fault) {
        return Err(fault);
    }
    Ok(called(&run, calls, comparison))
}

fn verb(target: &CallTarget) -> CallVerb<'_> {
    match target {
        CallTarget::Function => CallVerb::Answer,
        CallTarget::Class => CallVerb::Make,
        CallTarget::Operation { name, .. } => CallVerb::Operate(name),
    }
}

fn called(run: &CallsRun, calls: &Calls, comparison: AnswerComparison) -> SuiteReport {
    let results = || calls.cases.iter().zip(&run.results);
    // A function that changes its argument answers by it, as in LeetCode; one that does nothing does not.
    let changes = |(case, result): (&CallCase, &CallResult)| match result {
        CallResult::Left(value) => case.arguments.first() != Some(value),
        _ => false,
    };
    let (is_in_place, none) = (results().any(changes), PyValue::None);
    let values = results().map(|(case, result)| match result {
        CallResult::Returned(value) => Some(value),
        CallResult::Left(value) if is_in_place && case.expected != none => Some(value),
        CallResult::Left(_) => Some(&none),
        _ => None,
    });
    let right = |case: &CallCase, value| comparison.holds(value, case, calls);
    let judged: Vec<_> = results()
        .zip(values)
        .map(|((case, result), value)| {
            (case, result, value, value.is_some_and(|value| right(case, value)))
        })
        .collect();
    // An operation that gives nothing shows nothing where it goes well, unless no other gives more.
    let shows = |case: &CallCase| case.target == CallTarget::Function || case.expected != none;
    let none_shows = !calls.cases.iter().any(shows);
    let is_counted = |index: usize, case: &CallCase| {
        none_shows || shows(case) || judged.get(index).is_some_and(|(.., is_right)| !is_right)
    };
    let cases = calls.cases.iter().enumerate();
    let mut report =
        SuiteReport::new(cases.filter(|(index, case)| is_counted(*index, case)).count());
    if let Some(stop) = &run.stop {
        report.cause(cause_of_stop(stop));
    }
    if let Some(why) = &run.error {
        report.cause(cause_of_error(why, "module-error"));
    }
    for (index, (case, result, value, is_right)) in judged.iter().enumerate() {
        if !is_right {
            failed(case, result, *value, &calls.entry_point, &mut report);
        } else if is_counted(index, case) {
            report.pass();
        }
    }
    if let Some(why) = &run.error {
        report.end(format!("{NOT_LOADED}{why}"));
    }
    if let Some(stop) = &run.stop {
        report.end(format!("the program: {stop}"));
    }
    report.used(&run.used);
    report
}

/// Describes a call that went wrong.
fn failed(
    case: &CallCase,
    result: &CallResult,
    value: Option<&PyValue>,
    entry_point: &str,
    report: &mut SuiteReport,
) {
    let shown = |value: &PyValue| truncated(format_args!("{value:#}"), SHOWN_CHARS_MAX);
    let got = match (value, result) {
        (Some(value), _) => shown(value),
        (None, CallResult::Raised(why)) => why.clone(),
        (None, CallResult::Refused(why)) => format!("{NO_ANSWER}{why}"),
        (None, CallResult::NotReached) => format!("{NO_ANSWER}an operation before it raised"),
        (None, _) => "an object of its own".to_owned(),
    };
    report.cause(match result {
        CallResult::Raised(_) => "exception",
        CallResult::Refused(why) => cause_of_error(why, "broken-rule"),
        _ => "wrong-value",
    });
    let args: Vec<String> = case.arguments.args.iter().map(shown).collect();
    let named = case.arguments.kwargs.iter();
    let named = named.map(|(name, value)| format!("{name}={}", shown(value)));
    let given: Vec<String> = args.iter().cloned().chain(named).collect();
    let (got, expected) = (truncated(got, SHOWN_CHARS_MAX), shown(&case.expected));
    let mut test = json!({"args": args.join(", "), "expected": expected, "got": got});
    let call = match &case.target {
        CallTarget::Operation { name, case, step } => {
            test = json!({"case": case, "operation": step, "args": args.join(", "), "expected": expected, "got": got});
            format!("case {case}, operation {step}, {name}")
        }
        CallTarget::Function | CallTarget::Class => entry_point.to_owned(),
    };
    report.fail(test, &format!("{call}({}): expected {expected}, got {got}", given.join(", ")));
}

/// The task of assertions.
pub(crate) fn task<'a>(
    program: &'a str,
    tests: &'a Assertions,
    setup: Option<&'a str>,
    prompt: &'a str,
) -> AssertionTask<'a> {
    let asked = Asked { entry_point: tests.entry_point.as_deref(), tests: Some(&tests.test) };
    AssertionTask {
        candidate: program,
        preamble: setup,
        prompt: stub::helpers(tests.prompt.as_deref().unwrap_or(prompt), &asked),
        setup,
        test: &tests.test,
        entry_points: tests.entry_point.as_slice(),
        ..AssertionTask::default()
    }
}
