//! What a program really does: it runs in the sandbox, and its answers are noted.

use assay_verifiers::{Fault, Meter};

use super::question::{Ask, AskedProgram, Question, Task};
use super::truth::Truth;
use crate::isolation::{CallResult, Callee, CallsRun, RunContext, run_calls};
use crate::runtime::{Guest, Limits};
use crate::suite_run;
use crate::value::literal::{self, Words};
use crate::value::{Arguments, PyValue};

const HARNESS: &str = include_str!("harness.py");

/// What a program came to.
#[derive(Clone, Debug)]
pub(super) struct Truths {
    /// One for each question.
    pub(super) answers: Vec<Truth>,
    /// Fuel of the run; 0 where nothing had to run.
    pub(super) fuel: u64,
}

/// What a run of the harness found.
pub(super) struct Found {
    pub(super) returned: Option<Truth>,
    /// Class, and class with text.
    pub(super) raised: Option<(String, String)>,
    printed: String,
    points: Vec<PyValue>,
    pub(super) fuel: u64,
}

/// Why a run found nothing.
pub(super) enum RunFailure {
    /// The program, or its call, is none.
    Broken(String),
    /// It was stopped.
    Stopped(String),
    /// It says nothing about the program.
    Fault(Fault),
}

/// Runs programs that questions are about.
pub(super) struct ProgramRunner<'a> {
    pub(super) python: &'a Guest,
    pub(super) limits: &'a Limits,
    pub(super) steps_max: u32,
}

impl Truths {
    /// The answers to all questions of a task.
    pub(super) fn of(
        task: &Task,
        runner: &ProgramRunner<'_>,
        meter: &Meter<'_>,
    ) -> Result<Self, Fault> {
        let given = || task.questions.iter().map(|question| question.given.clone());
        if !task.must_run() {
            return Ok(Self { answers: given().flatten().collect(), fuel: 0 });
        }
        let bad = |why: String| Fault::bad_reference(format!("the program: {why}"));
        let points: Vec<&Question> = asked(task).collect();
        let found =
            runner.run(&task.program, None, &points, meter).map_err(|failure| match failure {
                RunFailure::Broken(why) | RunFailure::Stopped(why) => bad(why),
                RunFailure::Fault(fault) => fault,
            })?;
        let mut noted = found.points.iter();
        let answers = task.questions.iter().map(|question| match (&question.given, question.ask) {
            (Some(given), _) => Ok(given.clone()),
            (None, ask) if ask.is_white_box() => noted
                .next()
                .and_then(|note| at_point(ask, note))
                .unwrap_or_else(|| Err(Fault::internal("the harness noted no answer"))),
            (None, ask) => found.answer(ask).map_err(bad),
        });
        Ok(Self { answers: answers.collect::<Result<_, _>>()?, fuel: found.fuel })
    }
}

/// The questions that a trace answers.
fn asked(task: &Task) -> impl Iterator<Item = &Question> {
    task.questions.iter().filter(|q| q.given.is_none() && q.ask.is_white_box())
}

impl Found {
    fn answer(&self, ask: Ask) -> Result<Truth, String> {
        match (ask, &self.raised) {
            (Ask::Exception, None) => Ok(Truth::Value(PyValue::None)),
            (Ask::Input, Some((_, text))) => Err(format!("the call raises {text}")),
            (_, Some((class, _))) => Ok(Truth::Raised(class.clone())),
            (Ask::Stdout, None) if self.returned.is_none() && self.printed.trim().is_empty() => {
                Err("it prints nothing, and there is no call".to_owned())
            }
            (Ask::Stdout, None) => Ok(Truth::Printed(self.printed.clone())),
            (_, None) => self.returned.clone().ok_or_else(|| "there is no call".to_owned()),
        }
    }
}

fn at_point(ask: Ask, note: &PyValue) -> Option<Result<Truth, Fault>> {
    let PyValue::List(parts) = note else { return None };
    let truth = match parts.as_slice() {
        [kind] if is(kind, "end") => Truth::End,
        [kind, PyValue::Int(line), text] if is(kind, "line") => {
            Truth::Line { number: u32::try_from(line).ok(), text: text.to_text()? }
        }
        [kind, PyValue::List(names), ..] if is(kind, "value") && ask == Ask::Type => {
            Truth::Type(names.iter().map(PyValue::to_text).collect::<Option<_>>()?)
        }
        [kind, _, text, plain] if is(kind, "value") => shown(text, plain)?,
        [kind, why] if is(kind, "unknown") => {
            return Some(Err(Fault::bad_reference(format!("the question: {}", why.to_text()?))));
        }
        _ => return None,
    };
    Some(Ok(truth))
}

impl ProgramRunner<'_> {
    /// Runs a program once: as a whole, with its call, or with `arguments` of its function.
    pub(super) fn run(
        &self,
        program: &AskedProgram,
        arguments: Option<&Arguments>,
        points: &[&Question],
        meter: &Meter<'_>,
    ) -> Result<Found, RunFailure> {
        let callee = Callee {
            source: HARNESS,
            setup: None,
            entry_point: "ask",
            common_imports: false,
            allow_nan: true,
        };
        let args = self.request(program, arguments, points);
        let call = Arguments { args, kwargs: Vec::new() };
        let context =
            RunContext { limits: self.limits.clone(), seed: 0, expired: &mut || meter.expired() };
        let run = run_calls(self.python, callee, [&call], context);
        if let Some(stop) = &run.stop {
            let stopped = || RunFailure::Stopped(stop.to_string());
            return Err(suite_run::fault(stop).map_or_else(stopped, RunFailure::Fault));
        }
        read(&run)
    }

    fn request(
        &self,
        program: &AskedProgram,
        arguments: Option<&Arguments>,
        points: &[&Question],
    ) -> Vec<PyValue> {
        let point = |question: &&Question| {
            let point = question.point.as_ref()?;
            let variable =
                (question.ask != Ask::NextLine).then_some(point.variable.as_str()).into();
            let numbers = [point.line, point.visit].map(|number| PyValue::Int(number.into()));
            Some(PyValue::Tuple(numbers.into_iter().chain([variable]).collect()))
        };
        let target = arguments.map_or(PyValue::None, |call| {
            let kwargs = call.kwargs.iter().map(|(name, value)| (name.as_str(), value.clone()));
            PyValue::Tuple(vec![
                program.entry_point.as_str().into(),
                PyValue::List(call.args.clone()),
                PyValue::dict(kwargs),
            ])
        });
        let call = program.call.as_ref().filter(|_| arguments.is_none());
        vec![
            program.source.as_str().into(),
            call.map(String::as_str).into(),
            target,
            program.stdin.as_str().into(),
            PyValue::List(points.iter().filter_map(point).collect()),
            PyValue::Int(self.steps_max.into()),
        ]
    }
}

fn read(run: &CallsRun) -> Result<Found, RunFailure> {
    let found = match run.results.first() {
        Some(CallResult::Returned(found @ PyValue::Dict(_))) => found,
        Some(CallResult::Raised(why) | CallResult::Refused(why)) => {
            return Err(RunFailure::Stopped(why.clone()));
        }
        _ => {
            let why = run.error.clone().unwrap_or_else(|| "the harness gave nothing".to_owned());
            return Err(RunFailure::Fault(Fault::internal(why)));
        }
    };
    if let Some(why) = found.get("broken").and_then(PyValue::to_text) {
        return Err(RunFailure::Broken(why));
    }
    let pair = |name: &str| match found.get(name) {
        Some(PyValue::List(parts)) => parts.first().zip(parts.get(1)),
        _ => None,
    };
    Ok(Found {
        returned: pair("returned").and_then(|(text, plain)| shown(text, plain)),
        raised: pair("raised").and_then(|(class, text)| Some((class.to_text()?, text.to_text()?))),
        printed: found.get("printed").and_then(PyValue::to_text).unwrap_or_default(),
        points: match found.get("points") {
            Some(PyValue::List(points)) => points.clone(),
            _ => Vec::new(),
        },
        fuel: run.used.fuel,
    })
}

/// A value by what Python writes.
fn shown(text: &PyValue, plain: &PyValue) -> Option<Truth> {
    let read = |text: &PyValue| literal::read(&text.to_text()?, Words::Python).ok();
    match read(text) {
        Some(value) => Some(Truth::Value(value)),
        None => Some(Truth::Shown { text: text.to_text()?, plain: read(plain) }),
    }
}

fn is(value: &PyValue, word: &str) -> bool {
    matches!(value, PyValue::Str(text) if text == word.as_bytes())
}
