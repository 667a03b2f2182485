//! A script of the user's in its room: what it is given, and what it says.

use std::fmt;

use assay_verifiers::{Content, Fault, FaultKind, Message, Meter, Sample};
use serde_json::{Map, Number, Value};

use crate::rooms::wire::Plain;
use crate::rooms::{Call, Callee, CaseResult, CaseRun, Terms, call_cases, from_json};
use crate::runtime::{Guest, Limits, Stop};
use crate::trial;

const HARNESS: &str = include_str!("harness.py");

/// A script, with the function that judges.
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
    let args = vec![text(source), optional(function)];
    let run = call(python, "compiled", args, limits, &mut || false);
    let members = members(&run)?;
    match get(members, "code") {
        Some(Plain::Bytes(code)) => Ok(code.clone()),
        _ => Err(failure(members)),
    }
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
            Body::Compiled(code) => Plain::Bytes(code.to_vec()),
            Body::Source(source) => text(source),
        };
        let args = vec![body, optional(self.function), plain(sample)];
        let run = call(python, "judge", args, limits, &mut || meter.expired());
        let said = members(&run).and_then(said);
        Ran { said, fuel: run.fuel, stdout: trial::tail(&run.stdout) }
    }
}

fn call(
    python: &Guest,
    operation: &str,
    args: Vec<Plain>,
    limits: &Limits,
    expired: &mut dyn FnMut() -> bool,
) -> CaseRun {
    let callee = Callee {
        source: HARNESS,
        setup: None,
        entry_point: operation,
        common_imports: false,
        allow_nan: true,
    };
    let terms = Terms { limits: limits.clone(), seed: 0, expired };
    call_cases(python, callee, &[Call { args, kwargs: Vec::new() }], terms)
}

/// The sample as the function gets it.
fn plain(sample: &Sample) -> Plain {
    let meta = sample.meta().iter().map(|(key, value)| (text(key), from_json(value)));
    let members = [
        ("completion", text(sample.completion())),
        ("output_text", text(sample.completion())),
        ("messages", messages(sample.completion_content())),
        ("prompt", text(sample.prompt())),
        ("prompt_messages", messages(sample.prompt_content())),
        ("reference", sample.reference().map_or(Plain::None, from_json)),
        ("id", text(sample.id())),
        ("group", optional(sample.group())),
        ("meta", Plain::Dict(meta.collect())),
    ];
    Plain::Dict(members.into_iter().map(|(name, value)| (text(name), value)).collect())
}

fn messages(content: &Content) -> Plain {
    let Some(messages) = content.messages() else { return Plain::None };
    // What a message says is text here, whatever parts it came in; the rest is as it came.
    let message = |message: &Message| {
        let mut members =
            vec![(text("role"), text(&message.role)), (text("content"), text(message.text()))];
        if let Value::Object(whole) = message.to_value() {
            let rest =
                whole.iter().filter(|(name, _)| !["role", "content"].contains(&name.as_str()));
            members.extend(rest.map(|(name, value)| (text(name), from_json(value))));
        }
        Plain::Dict(members)
    };
    Plain::List(messages.iter().map(message).collect())
}

type Members = [(Plain, Plain)];

/// The answer of the harness, where the room lived to give one.
fn members(run: &CaseRun) -> Result<&Members, Failure> {
    if let Some((_, stop)) = &run.stop {
        return Err(Failure { kind: kind(stop), why: stop.to_string() });
    }
    match (run.results.first(), &run.error) {
        (Some(CaseResult::Returned(Plain::Dict(members))), _) => Ok(members),
        (Some(CaseResult::Raised(why) | CaseResult::Refused(why)), _) => {
            Err(Failure { kind: FaultKind::Trap, why: why.clone() })
        }
        (_, error) => {
            let why = error.clone().unwrap_or_else(|| "it gave nothing".to_owned());
            Err(Failure { kind: FaultKind::Trap, why })
        }
    }
}

fn kind(stop: &Stop) -> FaultKind {
    match stop {
        Stop::OutOfFuel => FaultKind::OutOfFuel,
        Stop::OutOfMemory => FaultKind::OutOfMemory,
        Stop::Deadline => FaultKind::Timeout,
        Stop::Internal(_) => FaultKind::Internal,
        _ => FaultKind::Trap,
    }
}

fn said(members: &Members) -> Result<Said, Failure> {
    match (get(members, "reward"), get(members, "notes"), get(members, "abstained")) {
        (Some(Plain::Float(reward)), Some(Plain::Dict(notes)), _) => {
            let notes = notes.iter().map(|(key, note)| (lossy(key), json(note))).collect();
            Ok(Said::Reward(*reward, notes))
        }
        (.., Some(_)) => Ok(Said::Abstained),
        _ => Err(failure(members)),
    }
}

fn failure(members: &Members) -> Failure {
    let trap = |why: String| Failure { kind: FaultKind::Trap, why };
    if let Some(missing) = get(members, "missing") {
        return trap(lossy(missing));
    }
    if let Some(wrong) = get(members, "wrong") {
        return trap(format!(
            "returned {}; expected a number, None, or a dict with reward",
            lossy(wrong)
        ));
    }
    let error = get(members, "error").map(lossy).unwrap_or_default();
    let is_memory = error.split(':').next() == Some("MemoryError");
    let why = match get(members, "line") {
        Some(Plain::Int(line)) if *line > 0.into() => format!("line {line}: {error}"),
        _ => error,
    };
    if is_memory { Failure { kind: FaultKind::OutOfMemory, why } } else { trap(why) }
}

fn json(note: &Plain) -> Value {
    match note {
        Plain::Bool(value) => (*value).into(),
        Plain::Int(value) => i64::try_from(value).map_or(Value::Null, Value::from),
        Plain::Float(value) => {
            Number::from_f64(*value).map_or_else(|| value.to_string().into(), Value::Number)
        }
        Plain::None => Value::Null,
        other => lossy(other).into(),
    }
}

fn get<'a>(members: &'a Members, name: &str) -> Option<&'a Plain> {
    let is = |key: &Plain| matches!(key, Plain::Str(text) if text == name.as_bytes());
    members.iter().find(|(key, _)| is(key)).map(|(_, value)| value)
}

fn lossy(value: &Plain) -> String {
    match value {
        Plain::Str(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}

fn text(text: &str) -> Plain {
    Plain::Str(text.as_bytes().to_vec())
}

fn optional(given: Option<&str>) -> Plain {
    given.map_or(Plain::None, text)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Failure {
    /// As a fault: of the script, or of the row that brought it.
    pub(super) fn fault(&self, is_of_row: bool) -> Fault {
        if is_of_row && self.kind == FaultKind::Trap {
            return Fault::bad_reference(format!("the grader of the row: {self}"));
        }
        Fault::new(self.kind, format!("script: {self}"))
    }
}
