//! What is asked about a program, as the reference says it.

use assay_verifiers::{Fault, from_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::truth::Truth;
use crate::answer::unmarked;
use crate::value::literal::{self, Words};
use crate::value::{PyValue, from_json};

/// Questions on one sheet.
const QUESTIONS_MAX: usize = 1000;
/// Keys that a question may have.
const KEYS: [&str; 15] = assay_verifiers::words::list(
    "program code call entry_point input stdin ask line visit variable answer expected output \
     questions id",
);

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// What the call returns; without a call, what the program prints.
    Output,
    /// What the call returns.
    Return,
    /// What the program prints.
    Stdout,
    /// The class of the exception that ends the program, or `None`.
    Exception,
    /// Arguments with which the function returns what is expected. Any that do are right.
    Input,
    /// The line that runs after `line`, by its number or its text, or `None` where none does.
    NextLine,
    /// The value of `variable` after `line` has run.
    Value,
    /// The type of `variable` after `line` has run.
    Type,
}

impl Ask {
    /// Whether it is about the inside of the program.
    pub(super) fn is_white_box(self) -> bool {
        matches!(self, Self::NextLine | Self::Value | Self::Type)
    }
}

/// A place in a run: after the `visit`-th time that `line` has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) line: u32,
    pub(super) visit: u32,
    pub(super) variable: String,
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) ask: Ask,
    pub(super) point: Option<Point>,
    /// The answer, where the reference gives it.
    pub(super) given: Option<Truth>,
}

/// A program to ask about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AskedProgram {
    pub(super) source: String,
    /// An expression.
    pub(super) call: Option<String>,
    pub(super) entry_point: String,
    pub(super) stdin: String,
}

/// All that a reference asks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Task {
    pub(super) program: AskedProgram,
    pub(super) questions: Vec<Question>,
    /// The answers are on a sheet, each under its id.
    pub(super) is_sheet: bool,
}

impl Task {
    /// Reads a reference: an object (or its JSON text) with a `program`, else the answer itself.
    /// `ask` is for those that do not say; a whole row may have other columns.
    pub(super) fn read(value: &Value, ask: Option<Ask>, is_row: bool) -> Result<Self, Fault> {
        let parsed: Option<Value> = match value {
            Value::String(text) if text.trim_start().starts_with('{') => {
                serde_json::from_str(text).ok()
            }
            _ => None,
        };
        match parsed.as_ref().unwrap_or(value) {
            Value::Object(members) if is_row || asks(members) => {
                Reader { members, is_row, ask }.task().map_err(|why| bad(&why))
            }
            _ if is_row => Err(bad("expected an object")),
            _ => {
                let ask = ask.filter(|ask| *ask != Ask::Input).unwrap_or(Ask::Output);
                let given = Some(given(ask, value).map_err(|why| bad(&why))?);
                let id = "1".to_owned();
                let question = Question { id, ask, point: None, given };
                let program = AskedProgram::default();
                Ok(Self { program, questions: vec![question], is_sheet: false })
            }
        }
    }

    /// The one answer, as a completion writes it, where no program must run for it.
    pub(super) fn gold(&self) -> Option<String> {
        let question = self.questions.first().filter(|_| !self.is_sheet)?;
        match question.ask {
            Ask::Input => self.program.call.clone(),
            _ => question.given.as_ref()?.written(),
        }
    }

    /// Whether the program must run for the answers to be known.
    pub(super) fn must_run(&self) -> bool {
        self.questions.iter().any(|question| question.given.is_none())
    }
}

fn bad(why: &str) -> Fault {
    Fault::bad_reference(format!("reference: {why}"))
}

/// A dictionary that is the answer itself has other keys.
fn asks(members: &Map<String, Value>) -> bool {
    let is_text = |key: &str| members.get(key).is_some_and(Value::is_string);
    let is_list = members.get("questions").is_some_and(Value::is_array);
    is_list || is_text("program") || is_text("code")
}

struct Reader<'a> {
    members: &'a Map<String, Value>,
    is_row: bool,
    ask: Option<Ask>,
}

impl<'a> Reader<'a> {
    fn task(&self) -> Result<Task, String> {
        self.only_known()?;
        let program = self.program()?;
        let questions = match self.get("questions") {
            None => vec![self.question(1, &program)?],
            Some(Value::Array(items)) if (1..=QUESTIONS_MAX).contains(&items.len()) => {
                let read = |(index, item): (usize, &Value)| self.listed(index + 1, item, &program);
                items.iter().enumerate().map(read).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(format!("questions: expected 1 to {QUESTIONS_MAX} in a list")),
        };
        let twice = questions.iter().enumerate().find(|(at, question)| {
            questions.iter().take(*at).any(|before| before.id == question.id)
        });
        if let Some((_, question)) = twice {
            return Err(format!("questions: the id \"{}\" is there twice", question.id));
        }
        let task = Task { program, questions, is_sheet: self.get("questions").is_some() };
        let needs = task.must_run() || task.questions.iter().any(|q| q.ask == Ask::Input);
        if needs && task.program.source.trim().is_empty() {
            let taken = "; columns that [data] names, as in prompt = \"code\", are not among them: leave \
                         them out of [data]";
            let help = if self.is_row { taken } else { "" };
            return Err(format!("key \"program\" missing, and not every answer is given{help}"));
        }
        Ok(task)
    }

    fn listed(
        &self,
        number: usize,
        item: &Value,
        program: &AskedProgram,
    ) -> Result<Question, String> {
        let at = |why: String| format!("questions[{}]: {why}", number - 1);
        let Value::Object(members) = item else { return Err(at("expected an object".to_owned())) };
        let reader = Reader { members, is_row: false, ask: self.ask };
        reader.only_known().and_then(|()| reader.question(number, program)).map_err(at)
    }

    fn only_known(&self) -> Result<(), String> {
        let unknown = self.members.keys().find(|key| !KEYS.contains(&key.as_str()));
        match unknown.filter(|_| !self.is_row) {
            Some(key) => Err(format!("unknown key \"{key}\"; may have: {}", KEYS.join(", "))),
            None => Ok(()),
        }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("{key}: expected text, found {other}")),
        }
    }

    fn program(&self) -> Result<AskedProgram, String> {
        let source = self.text("program")?.or(self.text("code")?).map_or("", unmarked);
        let call = self.text("call")?;
        let entry_point = self.text("entry_point")?;
        let entry_point =
            entry_point.or(call.and_then(called)).unwrap_or(defined(source)).to_owned();
        let stdin = self.text("stdin")?.unwrap_or_default().to_owned();
        let input = self.text("input")?.map(|input| format!("{entry_point}({input})"));
        let call = call.map(str::to_owned).or(input);
        Ok(AskedProgram { source: source.to_owned(), call, entry_point, stdin })
    }

    fn question(&self, number: usize, program: &AskedProgram) -> Result<Question, String> {
        let ask = match self.get("ask") {
            Some(ask) => from_value(ask).map_err(|error| format!("ask: {error}"))?,
            None => self.ask.unwrap_or(Ask::Output),
        };
        let ask = match ask {
            Ask::Output if program.call.is_some() => Ask::Return,
            Ask::Output => Ask::Stdout,
            ask => ask,
        };
        let answer = ["answer", "expected", "output"].iter().find_map(|key| self.get(key));
        let id = match self.get("id") {
            Some(Value::String(id)) if !self.is_row => id.clone(),
            Some(Value::Number(id)) if !self.is_row => id.to_string(),
            _ => number.to_string(),
        };
        let given = answer.map(|answer| given(ask, answer)).transpose()?;
        let point = ask.is_white_box().then(|| self.point(ask)).transpose()?;
        if given.is_none() && matches!(ask, Ask::Return | Ask::Input) && program.call.is_none() {
            let taken =
                "; columns that [data] names, as in reference = \"output\", are not among them";
            let help = if self.is_row { taken } else { "" };
            return Err(format!(
                "one of the keys call, input, answer, expected and output is needed{help}"
            ));
        }
        Ok(Question { id, ask, point, given })
    }

    fn point(&self, ask: Ask) -> Result<Point, String> {
        let number = |key: &str, default: Option<u32>| match self.get(key) {
            None => default.ok_or_else(|| format!("key \"{key}\" missing")),
            Some(value) => value
                .as_u64()
                .and_then(|value| u32::try_from(value).ok())
                .filter(|value| *value > 0)
                .ok_or_else(|| format!("{key}: expected a number from 1, found {value}")),
        };
        let variable = self.text("variable")?.unwrap_or_default().to_owned();
        if variable.trim().is_empty() && ask != Ask::NextLine {
            return Err("key \"variable\" missing".to_owned());
        }
        Ok(Point { line: number("line", None)?, visit: number("visit", Some(1))?, variable })
    }
}

/// The function that a call names.
fn called(call: &str) -> Option<&str> {
    let (name, _) = call.trim().split_once('(')?;
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

/// `f`, or the last function of a program that has no `f`.
fn defined(source: &str) -> &str {
    let functions = || source.lines().filter_map(|line| called(line.strip_prefix("def ")?));
    functions().find(|name| *name == "f").or_else(|| functions().next_back()).unwrap_or("f")
}

/// An answer that the reference gives.
fn given(ask: Ask, answer: &Value) -> Result<Truth, String> {
    let text = match answer {
        Value::String(text) => text,
        Value::Number(number) if ask == Ask::NextLine => {
            let line = number.as_u64().and_then(|line| u32::try_from(line).ok());
            let line = line.ok_or_else(|| format!("answer: {number} is no line"))?;
            return Ok(Truth::Line { number: Some(line), text: String::new() });
        }
        other => return Ok(Truth::Value(from_json(other))),
    };
    match ask {
        Ask::Stdout => Ok(Truth::Printed(text.clone())),
        Ask::Exception if text == "None" => Ok(Truth::Value(PyValue::None)),
        Ask::Exception => Ok(Truth::Raised(text.clone())),
        Ask::Type => Ok(Truth::Type(vec![text.trim().to_owned()])),
        Ask::NextLine => Ok(match text.trim().parse() {
            Ok(number) => Truth::Line { number: Some(number), text: String::new() },
            Err(_) if text.trim() == "None" => Truth::End,
            Err(_) => Truth::Line { number: None, text: text.trim().to_owned() },
        }),
        Ask::Output | Ask::Return | Ask::Input | Ask::Value if text.is_empty() => {
            Err("the answer is empty; an empty text is written ''".to_owned())
        }
        Ask::Output | Ask::Return | Ask::Input | Ask::Value => {
            let value = literal::read(text, Words::Python);
            let bare = || PyValue::Str(text.clone().into_bytes());
            Ok(match value.or_else(|_| literal::read(text, Words::Json)) {
                Ok(value) => Truth::Value(value),
                // A text without quotes, or a value without a literal.
                Err(_) => Truth::Shown { text: text.clone(), plain: Some(bare()) },
            })
        }
    }
}
