//! A script of the user's in the sandbox: what it is given, and what it says.

use std::fmt;

use assay_verifiers::{Content, Fault, FaultKind, Message, Meter, Sample};
use serde_json::{Map, Number, Value};

use crate::answer::unmarked;
use crate::isolation::{CallResult, Callee, CallsRun, RunContext, run_calls};
use crate::runtime::{Guest, Limits};
use crate::suite_report;
use crate::value::{Arguments, PyValue, from_json};

const HARNESS: &str = include_str!("harness.py");

/// A script, and the function that gives the reward.
#[derive(Clone, Copy)]
pub(super) struct Script<'a> {
    pub(super) body: Body<'a>,
    pub(super) function: Option<&'a str>,
}

/// What is run.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    /// What [`compile`] gave.
    Compiled(&'a [u8]),
    Source(&'a str),
}

/// What a script says of a sample.
pub(super) enum Said {
    Reward(f64, Map<String, Value>),
    Abstained,
}

/// Why it says nothing.
pub(super) struct Failure {
    pub(super) kind: FaultKind,
    pub(super) why: String,
    /// The line of the script.
    pub(super) line: Option<usize>,
}

/// What came of a run.
pub(super) struct Ran {
    pub(super) said: Result<Said, Failure>,
    pub(super) fuel: u64,
    /// The end of what was printed.
    pub(super) stdout: String,
}

/// Compiles a script, and finds its function in it.
pub(super) fn compile(
    python: &Guest,
    source: &str,
    function: Option<&str>,
    limits: &Limits,
) -> Result<Vec<u8>, Failure> {
    let args = vec![unmarked(source).into(), function.into()];
    let run = call(python, "compiled", args, limits, &mut || false);
    let code = reply(&run).and_then(|reply| match reply.get("code") {
        Some(PyValue::Bytes(code)) => Ok(code.clone()),
        _ => Err(failure(reply)),
    });
    code.map_err(|failure| failure.under(limits))
}

impl Script<'_> {
    /// Asks the script about the sample.
    pub(super) fn run(
        &self,
        python: &Guest,
        sample: &Sample,
        limits: &Limits,
        meter: &Meter<'_>,
    ) -> Ran {
        let body = match self.body {
            Body::Compiled(code) => PyValue::Bytes(code.to_vec()),
            Body::Source(source) => unmarked(source).into(),
        };
        let args = vec![body, self.function.into(), argument(sample)];
        let run = call(python, "judge", args, limits, &mut || meter.expired());
        let said = reply(&run).and_then(said).map_err(|failure| failure.under(limits));
        Ran { said, fuel: run.used.fuel, stdout: suite_report::tail(&run.used.stdout) }
    }
}

fn call(
    python: &Guest,
    operation: &str,
    args: Vec<PyValue>,
    limits: &Limits,
    expired: &mut dyn FnMut() -> bool,
) -> CallsRun {
    let callee = Callee {
        source: HARNESS,
        setup: None,
        entry_point: operation,
        common_imports: false,
        allow_nan: true,
    };
    let context = RunContext { limits: limits.clone(), seed: 0, expired };
    run_calls(python, callee, [&Arguments { args, kwargs: Vec::new() }], context)
}

/// The sample as the function gets it.
fn argument(sample: &Sample) -> PyValue {
    let meta = sample.meta().iter().map(|(key, value)| (key.as_str(), from_json(value)));
    PyValue::dict([
        ("completion", sample.completion().into()),
        ("output_text", sample.completion().into()),
        ("messages", messages(sample.completion_content())),
        ("prompt", sample.prompt().into()),
        ("prompt_messages", messages(sample.prompt_content())),
        ("reference", sample.reference().map_or(PyValue::None, from_json)),
        ("id", sample.id().into()),
        ("group", sample.group().into()),
        ("finish_reason", sample.finish_reason().into()),
        ("meta", PyValue::dict(meta)),
    ])
}

fn messages(content: &Content) -> PyValue {
    let Some(messages) = content.messages() else { return PyValue::None };
    // What a message says is text here, whatever parts it came in; the rest is as it came.
    let message = |message: &Message| {
        let said = [("role", message.role.as_str().into()), ("content", message.text().into())];
        let whole = message.to_value();
        let rest = whole.as_object().into_iter().flatten();
        let rest = rest.filter(|(name, _)| !["role", "content"].contains(&name.as_str()));
        let rest = rest.map(|(name, value)| (name.as_str(), from_json(value)));
        PyValue::dict(said.into_iter().chain(rest))
    };
    PyValue::List(messages.iter().map(message).collect())
}

/// The dictionary that the harness returns, where nothing stopped it.
fn reply(run: &CallsRun) -> Result<&PyValue, Failure> {
    if let Some(stop) = &run.stop {
        return Err(Failure { kind: stop.fault_kind(), why: stop.to_string(), line: None });
    }
    match (run.results.first(), &run.error) {
        (Some(CallResult::Returned(reply @ PyValue::Dict(_))), _) => Ok(reply),
        (Some(CallResult::Raised(why) | CallResult::Refused(why)), _) => {
            Err(Failure { kind: FaultKind::Trap, why: why.clone(), line: None })
        }
        (_, error) => {
            let why = error.clone().unwrap_or_else(|| "it gave nothing".to_owned());
            Err(Failure { kind: FaultKind::Trap, why, line: None })
        }
    }
}

fn said(reply: &PyValue) -> Result<Said, Failure> {
    match (reply.get("reward"), reply.get("notes"), reply.get("abstained")) {
        (Some(PyValue::Float(reward)), Some(PyValue::Dict(notes)), _) => {
            let notes = notes.iter().map(|(key, note)| (lossy(key), json(note))).collect();
            Ok(Said::Reward(*reward, notes))
        }
        (.., Some(_)) => Ok(Said::Abstained),
        _ => Err(failure(reply)),
    }
}

fn failure(reply: &PyValue) -> Failure {
    let trap = |why: String| Failure { kind: FaultKind::Trap, why, line: None };
    if let Some(missing) = reply.get("missing") {
        return trap(lossy(missing));
    }
    if let Some(wrong) = reply.get("wrong") {
        return trap(format!(
            "returned {}; expected a number, None, or a dict with reward",
            lossy(wrong)
        ));
    }
    let error = reply.get("error").map(lossy).unwrap_or_default();
    let is_memory = error.split(':').next() == Some("MemoryError");
    let line = match reply.get("line") {
        Some(PyValue::Int(line)) => usize::try_from(line).ok().filter(|line| *line > 0),
        _ => None,
    };
    let why = line.map_or(error.clone(), |line| format!("line {line}: {error}"));
    let kind = if is_memory { FaultKind::OutOfMemory } else { FaultKind::Trap };
    Failure { kind, why, line }
}

fn json(note: &PyValue) -> Value {
    match note {
        PyValue::Bool(value) => (*value).into(),
        PyValue::Int(value) => i64::try_from(value).map_or(Value::Null, Value::from),
        PyValue::Float(value) => {
            Number::from_f64(*value).map_or_else(|| value.to_string().into(), Value::Number)
        }
        PyValue::None => Value::Null,
        other => lossy(other).into(),
    }
}

fn lossy(value: &PyValue) -> String {
    value.to_text().unwrap_or_default()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Failure {
    /// Names the limit that was reached.
    fn under(mut self, limits: &Limits) -> Self {
        let reached = match self.kind {
            FaultKind::OutOfFuel => Some(("fuel", limits.fuel)),
            FaultKind::OutOfMemory => Some(("memory_bytes_max", limits.memory_bytes_max as u64)),
            _ => None,
        };
        if let Some((limit, most)) = reached {
            self.why = format!("{}; limits.{limit} is {most}", self.why);
        }
        self
    }

    /// As a fault: of the script, or of the row that brought it.
    pub(super) fn fault(&self, is_of_row: bool) -> Fault {
        if is_of_row && self.kind == FaultKind::Trap {
            return Fault::bad_reference(format!("the grader of the row: {self}"));
        }
        Fault::new(self.kind, format!("script: {self}")).at(self.line.map(|line| (line, 0)))
    }
}
