//! The AST checker of the Berkeley Function-Calling Leaderboard (BFCL), v1 to v3, single turn.
//!
//! Source: ShishirPatil/gorilla, `berkeley-function-call-leaderboard`, as of 2024-08 and of today.
//! What it does to a row is done here, with its quirks; what it cannot judge is said to be so.

mod category;
mod convert;
mod rules;

use serde_json::Value as Json;

use crate::call::Call;
use crate::schema;
use crate::value::Value;
pub use category::{Category, Language, Route, UNJUDGEABLE, Version, Wrong};
use rules::{Answer, Kind};

/// A row, ready to judge calls: tools and answers are resolved once.
#[derive(Debug)]
pub struct Checker<'r> {
    category: Category,
    version: Version,
    answers: Vec<Answer<'r>>,
}

impl<'r> Checker<'r> {
    /// Resolves the tools of a row and its answers: a list of `{name, arguments}` or of `{name:
    /// arguments}`, or an object of names, each with the list of allowed values of every argument.
    /// `is_dotless`: the model writes `_` for `.` in the names of tools. Linear in the row, but for
    /// answers times tools.
    ///
    /// # Errors
    /// What of the row cannot be judged by.
    pub fn new(
        tools: &'r Json,
        answers: &'r Json,
        category: Category,
        version: Version,
        is_dotless: bool,
    ) -> Result<Self, &'static str> {
        let mut checker = Self { category, version, answers: Vec::new() };
        if matches!(category.route, Route::Irrelevance | Route::Relevance) {
            return Ok(checker);
        }
        let tools = schema::tools(tools).ok_or("the tools are no list of functions with names")?;
        let named: Vec<(&str, &Json)> = match answers {
            Json::Array(calls) => calls.iter().map(expected).collect::<Option<_>>(),
            Json::Object(calls) => {
                Some(calls.iter().map(|(name, own)| (name.as_str(), own)).collect())
            }
            _ => None,
        }
        .ok_or("the answers are no list of calls with allowed values")?;
        let is_simple = category.route == Route::Simple;
        if named.is_empty() && category.route != Route::Parallel || named.len() > 1 && is_simple {
            return Err("the category wants one call");
        }
        for (name, allowed) in named {
            let mut every = tools.iter();
            let tool = match version {
                _ if is_simple => every.next(),
                Version::Of2024 => every.find(|tool| name.contains(tool.name)),
                Version::Current => every.find(|tool| tool.name == name),
            };
            let tool = tool.ok_or("an answer calls a tool that the row has not")?;
            let own = Answer::new(tool, allowed, category.language, is_dotless);
            checker
                .answers
                .push(own.ok_or("an answer, or the schema of its tool, has another form")?);
        }
        Ok(checker)
    }

    /// How many steps [`check`](Self::check) takes at most, for calls from a text of `bytes` bytes:
    /// parallel calls are tried in turn against each answer.
    pub fn cost(&self, bytes: usize) -> u64 {
        self.answers
            .iter()
            .map(|answer| answer.weight)
            .sum::<u64>()
            .saturating_mul(bytes as u64 / 4)
    }

    /// Judges calls. Where several arguments are wrong, the first in the order of the call is
    /// named, as in Python. The time is that of [`cost`](Self::cost); the caller pays for it.
    pub fn check(&self, calls: &[Call]) -> Option<Wrong> {
        let is_multiple = self.category.route == Route::Multiple && self.version == Version::Of2024;
        let route = if is_multiple { Route::Parallel } else { self.category.route };
        match (route, calls, self.answers.as_slice()) {
            (Route::Irrelevance, ..) => {
                (!calls.is_empty()).then_some("irrelevance_error:decoder_success")
            }
            (Route::Relevance, ..) => calls.is_empty().then_some("relevance_error:decoder_failed"),
            (Route::Simple, [call], [answer]) => answer.judge(call, self.version),
            (Route::Simple, ..) => Some(count(route)),
            (_, _, answers) if calls.len() != answers.len() => Some(count(route)),
            (Route::Multiple, [call, ..], [answer, ..]) => answer.judge(call, self.version),
            (_, calls, answers) => self.parallel(calls, answers),
        }
    }

    /// Each answer takes the first call that is left and right.
    fn parallel(&self, calls: &[Call], answers: &[Answer<'_>]) -> Option<Wrong> {
        let mut few = [false; 32];
        let mut many = Vec::new();
        let is_taken = if let Some(few) = few.get_mut(..calls.len()) {
            few
        } else {
            many.resize(calls.len(), false);
            &mut many[..]
        };
        for answer in answers {
            let mut wrong = Some("parallel_function_checker_no_order:cannot_find_match");
            for (call, is_taken) in
                calls.iter().zip(is_taken.iter_mut()).filter(|(_, is_taken)| !**is_taken)
            {
                match answer.judge(call, self.version) {
                    None => {
                        (*is_taken, wrong) = (true, None);
                        break;
                    }
                    Some(UNJUDGEABLE) => return Some(UNJUDGEABLE),
                    Some(_) => {}
                }
            }
            if wrong.is_some() {
                return wrong;
            }
        }
        None
    }

    /// Calls that the checker accepts, as the row allows them: the first value of every argument
    /// that may not be left out. `None` for Java and JavaScript, where a value is source.
    pub fn gold(&self) -> Option<Json> {
        let is_python = self.category.language == Language::Python;
        is_python.then(|| Json::Array(self.answers.iter().map(Answer::gold).collect()))
    }
}

fn count(route: Route) -> Wrong {
    match route {
        Route::Parallel => "parallel_function_checker_no_order:wrong_count",
        Route::Multiple => "multiple_function_checker:wrong_count",
        _ => "simple_function_checker:wrong_count",
    }
}

/// The name and the allowed values of a call of the answer.
fn expected(call: &Json) -> Option<(&str, &Json)> {
    let members = call.as_object()?;
    if let (Some(Json::String(name)), Some(own @ Json::Object(_))) =
        (members.get("name"), members.get("arguments"))
    {
        return Some((name, own));
    }
    let mut every = members.iter();
    let (name, own) = every.next()?;
    (every.next().is_none() && own.is_object()).then_some((name.as_str(), own))
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) | Value::Big(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Text(_) | Value::Raw(_) => Self::Str,
            Value::List(_) => Self::List,
            Value::Tuple(_) => Self::Tuple,
            Value::Object(_) => Self::Dict,
        }
    }

    fn of_json(value: &Json) -> Self {
        match value {
            Json::Null => Self::None,
            Json::Bool(_) => Self::Bool,
            Json::Number(number) if number.is_f64() => Self::Float,
            Json::Number(_) => Self::Int,
            Json::String(_) => Self::Str,
            Json::Array(_) => Self::List,
            Json::Object(_) => Self::Dict,
        }
    }
}
