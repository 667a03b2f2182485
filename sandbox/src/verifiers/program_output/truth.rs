//! What a program really does: it runs in the sandbox, and its answers are noted.

use assay_verifiers::{Fault, Meter};

use super::literal::{self, Words};
use super::question::{Ask, Program, Question, Task};
use crate::rooms::wire::Plain;
use crate::rooms::{Call, Callee, CaseResult, CaseRun, Terms, call_cases};
use crate::runtime::{Guest, Limits, Stop};
use crate::trial;

const HARNESS: &str = include_str!("harness.py");

/// What is right.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Truth {
    /// A value that has a literal.
    Value(Plain),
    /// One that has none, as Python shows it, and the plain value in it, where there is one.
    Shown { text: String, plain: Option<Plain> },
    /// Text that is printed.
    Printed(String),
    /// The class of an exception.
    Raised(String),
    /// A line, by its number and its text; a reference may give one of them alone.
    Line { number: Option<u32>, text: String },
    /// No line runs any more.
    End,
    /// Names of a type.
    Type(Vec<String>),
}

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
    points: Vec<Plain>,
    pub(super) fuel: u64,
}

/// Why a run found nothing.
pub(super) enum Lost {
    /// The program, or its call, is none.
    Broken(String),
    /// It was stopped.
    Stopped(String),
    /// It says nothing about the program.
    Fault(Fault),
}

/// Where programs run.
pub(super) struct Room<'a> {
    pub(super) python: &'a Guest,
    pub(super) limits: &'a Limits,
    pub(super) steps_max: u32,
}

impl Truths {
    /// The answers to all questions of a task.
    pub(super) fn of(task: &Task, room: &Room<'_>, meter: &Meter<'_>) -> Result<Self, Fault> {
        let given = || task.questions.iter().map(|question| question.given.clone());
        if !task.must_run() {
            return Ok(Self { answers: given().flatten().collect(), fuel: 0 });
        }
        let bad = |why: String| Fault::bad_reference(format!("the program: {why}"));
        let points: Vec<&Question> = asked(task).collect();
        let found = room.run(&task.program, None, &points, meter).map_err(|lost| match lost {
            Lost::Broken(why) | Lost::Stopped(why) => bad(why),
            Lost::Fault(fault) => fault,
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
            (Ask::Exception, None) => Ok(Truth::Value(Plain::None)),
            (Ask::Input, Some((_, text))) => Err(format!("the call raises {text}")),
            (_, Some((class, _))) => Ok(Truth::Raised(class.clone())),
            (Ask::Stdout, None) => Ok(Truth::Printed(self.printed.clone())),
            (_, None) => self.returned.clone().ok_or_else(|| "there is no call".to_owned()),
        }
    }
}

fn at_point(ask: Ask, note: &Plain) -> Option<Result<Truth, Fault>> {
    let Plain::List(parts) = note else { return None };
    let truth = match parts.as_slice() {
        [kind] if is(kind, "end") => Truth::End,
        [kind, Plain::Int(line), text] if is(kind, "line") => {
            Truth::Line { number: u32::try_from(line).ok(), text: said(text)? }
        }
        [kind, Plain::List(names), ..] if is(kind, "value") && ask == Ask::Type => {
            Truth::Type(names.iter().map(said).collect::<Option<_>>()?)
        }
        [kind, _, text, plain] if is(kind, "value") => shown(text, plain)?,
        [kind, why] if is(kind, "unknown") => {
            return Some(Err(Fault::bad_reference(format!("the question: {}", said(why)?))));
        }
        _ => return None,
    };
    Some(Ok(truth))
}

impl Room<'_> {
    /// Runs a program once: as a whole, with its call, or with `arguments` of its function.
    pub(super) fn run(
        &self,
        program: &Program,
        arguments: Option<&Call>,
        points: &[&Question],
        meter: &Meter<'_>,
    ) -> Result<Found, Lost> {
        let callee = Callee {
            source: HARNESS,
            setup: None,
            entry_point: "ask",
            common_imports: false,
            allow_nan: true,
        };
        let call = Call { args: self.request(program, arguments, points), kwargs: Vec::new() };
        let terms =
            Terms { limits: self.limits.clone(), seed: 0, expired: &mut || meter.expired() };
        let run = call_cases(self.python, callee, &[call], terms);
        if let Some((_, stop)) = &run.stop {
            return Err(stopped(stop));
        }
        read(&run)
    }

    fn request(
        &self,
        program: &Program,
        arguments: Option<&Call>,
        points: &[&Question],
    ) -> Vec<Plain> {
        let point = |question: &&Question| {
            let point = question.point.as_ref()?;
            let variable =
                if question.ask == Ask::NextLine { Plain::None } else { text(&point.variable) };
            let numbers = [point.line, point.visit].map(|number| Plain::Int(number.into()));
            Some(Plain::Tuple(numbers.into_iter().chain([variable]).collect()))
        };
        let target = arguments.map_or(Plain::None, |call| {
            let kwargs = call.kwargs.iter().map(|(name, value)| (text(name), value.clone()));
            Plain::Tuple(vec![
                text(&program.entry_point),
                Plain::List(call.args.clone()),
                Plain::Dict(kwargs.collect()),
            ])
        });
        let call = program.call.as_ref().filter(|_| arguments.is_none());
        vec![
            text(&program.source),
            call.map_or(Plain::None, |call| text(call)),
            target,
            text(&program.stdin),
            Plain::List(points.iter().filter_map(point).collect()),
            Plain::Int(self.steps_max.into()),
        ]
    }
}

fn stopped(stop: &Stop) -> Lost {
    trial::fault(stop).map_or_else(|| Lost::Stopped(stop.to_string()), Lost::Fault)
}

fn read(run: &CaseRun) -> Result<Found, Lost> {
    let members = match run.results.first() {
        Some(CaseResult::Returned(Plain::Dict(members))) => members,
        Some(CaseResult::Raised(why) | CaseResult::Refused(why)) => {
            return Err(Lost::Stopped(why.clone()));
        }
        _ => {
            let why = run.error.clone().unwrap_or_else(|| "the harness gave nothing".to_owned());
            return Err(Lost::Fault(Fault::internal(why)));
        }
    };
    let get = |name: &str| members.iter().find(|(key, _)| is(key, name)).map(|(_, value)| value);
    if let Some(why) = get("broken").and_then(said) {
        return Err(Lost::Broken(why));
    }
    let pair = |name: &str| match get(name) {
        Some(Plain::List(parts)) => parts.first().zip(parts.get(1)),
        _ => None,
    };
    Ok(Found {
        returned: pair("returned").and_then(|(text, plain)| shown(text, plain)),
        raised: pair("raised").and_then(|(class, text)| Some((said(class)?, said(text)?))),
        printed: get("printed").and_then(said).unwrap_or_default(),
        points: match get("points") {
            Some(Plain::List(points)) => points.clone(),
            _ => Vec::new(),
        },
        fuel: run.fuel,
    })
}

/// A value by what Python writes.
fn shown(text: &Plain, plain: &Plain) -> Option<Truth> {
    let read = |text: &Plain| literal::read(&said(text)?, Words::Python).ok();
    match read(text) {
        Some(value) => Some(Truth::Value(value)),
        None => Some(Truth::Shown { text: said(text)?, plain: read(plain) }),
    }
}

fn text(text: &str) -> Plain {
    Plain::Str(text.as_bytes().to_vec())
}

fn is(value: &Plain, word: &str) -> bool {
    matches!(value, Plain::Str(text) if text == word.as_bytes())
}

fn said(value: &Plain) -> Option<String> {
    match value {
        Plain::Str(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}
