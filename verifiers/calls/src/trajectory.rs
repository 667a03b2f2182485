//! Conversations and tagged texts as steps of an agent: thoughts, calls, observations, answers.
//!
//! The steps of a text cover it: their spans, in order, are the text. Reading is linear.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value as Json;

use crate::call::Call;
use crate::format::Reading;
use crate::key::Key;
use crate::reader::read;
use crate::refusal::Refusal;
use crate::value::Object;
use crate::value::Value;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the system or a user says.
    Prompt,
    /// What the model thinks.
    Thought,
    /// What the model says beside its calls.
    Text,
    /// An attempted call, marks included.
    Call,
    /// What a tool says.
    Observation,
    /// What the model says last.
    Answer,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is.
    pub kind: Kind,
    /// The message, counted from 0.
    pub message: usize,
    /// The part of the message, counted from 0.
    pub part: usize,
    /// The bytes of the text of the part; empty for a call that is no text.
    pub span: Range<usize>,
    /// The calls, or why there are none.
    pub calls: Result<Vec<Call>, Refusal>,
    /// A malformed call as it was written.
    pub malformed: String,
    /// The observation is an error.
    pub is_error: bool,
}

/// A message of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message<'m> {
    /// `system`, `user`, `assistant`, `tool`.
    pub role: &'m str,
    /// Its parts in their order.
    pub parts: Vec<Part<'m>>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part<'m> {
    /// Text.
    Text(&'m str),
    /// A thought, where the interface gives it apart.
    Thought(&'m str),
    /// A call: a tool, and arguments as they came.
    Call(&'m str, &'m Json),
    /// What a tool says, and whether the interface calls it an error.
    Observation(&'m str, bool),
}

impl<'m> Message<'m> {
    /// A message of `OpenAI` (`tool_calls`, `reasoning_content`, role `tool`; an item
    /// `function_call` or `function_call_output`) or of Anthropic (`tool_use`, `tool_result`,
    /// `thinking`). Parts of other kinds, such as images, are left out.
    pub fn from_json(message: &'m Json) -> Self {
        let text = |name: &str| message.get(name).and_then(Json::as_str);
        let mut parts = Vec::new();
        match (text("type"), text("name")) {
            (Some("function_call"), Some(name)) => {
                parts.push(Part::Call(name, message.get("arguments").unwrap_or(&Json::Null)));
                return Self { role: "assistant", parts };
            }
            (Some("function_call_output"), _) => {
                parts.push(Part::Observation(text("output").unwrap_or(""), false));
                return Self { role: "tool", parts };
            }
            _ => {}
        }
        let role = text("role").unwrap_or("");
        parts.extend(text("reasoning_content").or_else(|| text("reasoning")).map(Part::Thought));
        match message.get("content") {
            Some(Json::String(text)) => parts.push(Part::of_role(role, text)),
            Some(Json::Array(blocks)) => {
                for block in blocks {
                    Part::of_block(role, block, &mut parts);
                }
            }
            _ => {}
        }
        for call in message.get("tool_calls").and_then(Json::as_array).into_iter().flatten() {
            let inner = call.get("function").unwrap_or(call);
            let name = inner.get("name").and_then(Json::as_str).unwrap_or("");
            parts.push(Part::Call(name, inner.get("arguments").unwrap_or(&Json::Null)));
        }
        Self { role, parts }
    }
}

impl<'m> Part<'m> {
    /// The text of a message of this role.
    pub fn of_role(role: &str, text: &'m str) -> Self {
        let is_tool =
            matches!(role, "tool" | "function" | "ipython" | "observation" | "tool_results");
        if is_tool { Self::Observation(text, false) } else { Self::Text(text) }
    }

    /// Adds what a block of content is.
    pub fn of_block(role: &str, block: &'m Json, out: &mut Vec<Self>) {
        let text = |name: &str| block.get(name).and_then(Json::as_str);
        match text("type") {
            Some("text" | "input_text" | "output_text") => {
                out.extend(text("text").map(|text| Self::of_role(role, text)));
            }
            Some("thinking") => out.extend(text("thinking").map(Self::Thought)),
            Some("tool_use") => {
                let name = text("name").unwrap_or("");
                out.push(Self::Call(name, block.get("input").unwrap_or(&Json::Null)));
            }
            Some("tool_result") => {
                let is_error = block.get("is_error") == Some(&Json::Bool(true));
                match block.get("content") {
                    Some(Json::Array(blocks)) => out.extend(blocks.iter().filter_map(|inner| {
                        Some(Self::Observation(inner.get("text")?.as_str()?, is_error))
                    })),
                    content => {
                        let text = content.and_then(Json::as_str).unwrap_or("");
                        out.push(Self::Observation(text, is_error));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Tags, and what stands in them.
const TAGS: [(&str, Kind); 22] = [
    ("think", Kind::Thought),
    ("thinking", Kind::Thought),
    ("thought", Kind::Thought),
    ("reasoning", Kind::Thought),
    ("reflection", Kind::Thought),
    ("scratchpad", Kind::Thought),
    ("tool_call", Kind::Call),
    ("tool_calls", Kind::Call),
    ("function_call", Kind::Call),
    ("function_calls", Kind::Call),
    ("action", Kind::Call),
    ("search", Kind::Call),
    ("python", Kind::Call),
    ("code", Kind::Call),
    ("tool_response", Kind::Observation),
    ("tool_result", Kind::Observation),
    ("observation", Kind::Observation),
    ("information", Kind::Observation),
    ("result", Kind::Observation),
    ("output", Kind::Observation),
    ("answer", Kind::Answer),
    ("final_answer", Kind::Answer),
];

/// Reads messages as steps. `is_error` tells from its text whether an observation is an error.
pub fn steps(messages: &[Message<'_>], is_error: &dyn Fn(&str) -> bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for (part, content) in message.parts.iter().enumerate() {
            let mut push = |kind, span: Range<usize>, calls: Result<Vec<Call>, _>, is_error| {
                let malformed = match content {
                    _ if calls.is_ok() => String::new(),
                    Part::Call(name, arguments) => format!("{name}{arguments}"),
                    Part::Text(text) => text[span.clone()].trim().to_owned(),
                    _ => String::new(),
                };
                steps.push(Step { kind, message: at, part, span, calls, malformed, is_error });
            };
            match content {
                Part::Thought(text) => push(Kind::Thought, 0..text.len(), Ok(Vec::new()), false),
                Part::Call(name, arguments) => {
                    push(
                        Kind::Call,
                        0..0,
                        Call::from_parts(name, arguments).map(|call| vec![call]),
                        false,
                    );
                }
                Part::Observation(text, is_marked) => {
                    push(
                        Kind::Observation,
                        0..text.len(),
                        Ok(Vec::new()),
                        *is_marked || is_error(text),
                    );
                }
                Part::Text(text) if message.role == "assistant" => {
                    for (kind, span, calls) in said(text) {
                        let own = &text[span.clone()];
                        let is_wrong = kind == Kind::Observation && is_error(inner(own));
                        push(kind, span, calls, is_wrong);
                    }
                }
                Part::Text(text) => push(Kind::Prompt, 0..text.len(), Ok(Vec::new()), false),
            }
        }
    }
    // What is said last, behind every call, is the answer.
    let last =
        steps.iter_mut().rev().find(|step| !matches!(step.kind, Kind::Prompt | Kind::Thought));
    let says =
        |step: &&mut Step| match messages.get(step.message).map(|own| own.parts.get(step.part)) {
            Some(Some(Part::Text(text))) => has_content(&text[step.span.clone()]),
            _ => false,
        };
    if let Some(step) = last.filter(|step| step.kind == Kind::Text).filter(says) {
        step.kind = Kind::Answer;
    }
    steps
}

/// A text of the assistant in the shape of one message.
pub fn steps_of_text(text: &str, is_error: &dyn Fn(&str) -> bool) -> Vec<Step> {
    steps(&[Message { role: "assistant", parts: vec![Part::Text(text)] }], is_error)
}

/// What stands between the tags of a step, or the whole.
pub fn inner(text: &str) -> &str {
    let is_tagged = text.starts_with('<') && text.ends_with('>');
    let inner = text.split_once('>').and_then(|(_, rest)| Some(rest.rsplit_once("</")?.0));
    inner.filter(|_| is_tagged).unwrap_or(text)
}

/// Whether a text, or what stands in its tag, has a sign that is seen.
fn has_content(text: &str) -> bool {
    let is_hidden = |c: char| {
        c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    };
    inner(text.trim()).chars().any(|c| !is_hidden(c))
}

type Part3 = (Kind, Range<usize>, Result<Vec<Call>, Refusal>);

/// The parts of what a model says: tags, and the texts between them, of which those with calls in
/// another notation are calls.
fn said(text: &str) -> Vec<Part3> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    // A tag that is not closed is looked for once.
    let mut unclosed = [false; TAGS.len()];
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr(b'<', rest.as_bytes())) {
        let open = at + found;
        at = open + 1;
        let Some(rest) = text.get(at..) else { break };
        let name = rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let name = name
            .filter(|end| rest.as_bytes().get(*end) == Some(&b'>'))
            .and_then(|end| rest.get(..end));
        let tag = name.and_then(|name| TAGS.iter().position(|(tag, _)| *tag == name));
        let Some((tag, (name, kind))) = tag.and_then(|tag| Some((tag, TAGS.get(tag)?))) else {
            continue;
        };
        let is_unclosed = unclosed.get(tag).copied().unwrap_or(true);
        let close = ["</", name, ">"].concat();
        let end = if is_unclosed {
            None
        } else {
            memchr::memmem::find(rest.as_bytes(), close.as_bytes())
        };
        let Some(end) = end.map(|end| at + end + close.len()) else {
            if let Some(flag) = unclosed.get_mut(tag) {
                *flag = true;
            }
            continue;
        };
        between(text, from..open, &mut parts);
        let calls = match kind {
            Kind::Call => tagged_calls(text, open..end, name),
            _ => Ok(Vec::new()),
        };
        let is_empty = *kind == Kind::Answer && !has_content(&text[open..end]);
        parts.push((if is_empty { Kind::Text } else { *kind }, open..end, calls));
        (from, at) = (end, end);
    }
    between(text, from..text.len(), &mut parts);
    parts
}

fn between(text: &str, span: Range<usize>, parts: &mut Vec<Part3>) {
    let Some(own) = text.get(span.clone()).filter(|own| !own.is_empty()) else { return };
    // A blank is a part of what stands before it.
    if own.trim().is_empty()
        && let Some((_, last, _)) = parts.last_mut()
    {
        last.end = span.end;
        return;
    }
    let calls = read(own, Reading { text_after: true, ..Reading::default() });
    let calls = calls
        .map(|found| shifted(found.calls, span.start))
        .map_err(|refusal| refusal.shifted(span.start));
    let is_call = calls.as_ref().map_or(true, |calls| !calls.is_empty());
    parts.push((if is_call { Kind::Call } else { Kind::Text }, span, calls));
}

fn shifted(mut calls: Vec<Call>, offset: usize) -> Vec<Call> {
    for call in &mut calls {
        call.span = call.span.start + offset..call.span.end + offset;
    }
    calls
}

/// The calls in a tag. What is no call of a notation is a call of the tool that the tag names, with
/// its text: `<search>query</search>`.
fn tagged_calls(text: &str, span: Range<usize>, name: &str) -> Result<Vec<Call>, Refusal> {
    let own = &text[span.clone()];
    let is_free = matches!(name, "search" | "python" | "code" | "action");
    let content = inner(own);
    let read_as = if is_free { content } else { own };
    let offset = span.start + if is_free { own.find('>').map_or(0, |at| at + 1) } else { 0 };
    let found = read(read_as, Reading::default()).map_err(|refusal| refusal.shifted(offset))?;
    if !is_free || !found.calls.is_empty() {
        return Ok(shifted(found.calls, offset));
    }
    let positional = vec![Value::Text(content.trim().to_owned())];
    Ok(vec![Call { name: name.to_owned(), arguments: Object::default(), positional, span }])
}

/// Whether the text of an observation says that it is an error: it begins with a word for one, has
/// a traceback of Python, or is an object whose `error` is not empty.
pub fn looks_like_error(text: &str) -> bool {
    const WORDS: [&str; 6] = ["error", "traceback", "exception", "failed", "failure", "invalid"];
    let start = text.trim_start();
    let word: String = start.chars().take(12).flat_map(char::to_lowercase).collect();
    if WORDS.iter().any(|own| word.starts_with(own))
        || text.contains("Traceback (most recent call last)")
    {
        return true;
    }
    if !start.starts_with('{') || !start.contains("\"error\"") {
        return false;
    }
    let object = crate::json::parse(text.trim());
    let Ok(Value::Object(object)) = object else { return false };
    object.get("error").is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::Text(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

/// What an agent did, counted from steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account<'s> {
    /// The calls that are well formed, in order.
    pub calls: Vec<&'s Call>,
    /// How many calls are malformed, or of a tool that is not known.
    pub invalid: usize,
    /// How many calls were made before with the same arguments, or malformed in the same way.
    pub repeats: usize,
    /// How often the model spoke before it was answered.
    pub turns: usize,
    /// How many observations are errors.
    pub errors: usize,
    /// After how many of them another call was made, and an observation that is no error followed.
    pub recovered: usize,
    /// Whether an answer ends it.
    pub is_answered: bool,
}

/// Counts what was done. `is_known` tells whether there is a tool of a name. Linear in the steps.
pub fn account<'s>(steps: &'s [Step], is_known: &dyn Fn(&str) -> bool) -> Account<'s> {
    let mut own = Account::default();
    let mut seen: HashSet<String> = HashSet::new();
    let mut is_speaking = false;
    // The calls of the last turn, and errors that wait for another call, then for a success.
    let (mut last, mut failed, mut waiting, mut retried) = (String::new(), String::new(), 0, false);
    for step in steps {
        let speaks = !matches!(step.kind, Kind::Prompt | Kind::Observation);
        own.turns += usize::from(speaks && !is_speaking);
        if speaks && !is_speaking {
            last.clear();
        }
        is_speaking = speaks;
        match (step.kind, &step.calls) {
            (Kind::Call, Err(_)) => {
                own.invalid += 1;
                own.repeats += usize::from(!seen.insert(step.malformed.clone()));
            }
            (Kind::Call, Ok(calls)) => {
                for call in calls {
                    own.invalid += usize::from(!is_known(&call.name));
                    let key = key(call);
                    last.push_str(&key);
                    own.repeats += usize::from(!seen.insert(key));
                    own.calls.push(call);
                }
                retried = waiting > 0 && last != failed;
            }
            (Kind::Observation, _) if step.is_error => {
                own.errors += 1;
                waiting += 1;
                retried = false;
                failed.clone_from(&last);
            }
            (Kind::Observation, _) if retried => {
                own.recovered += waiting;
                (waiting, retried) = (0, false);
            }
            _ => {}
        }
    }
    own.is_answered = steps
        .iter()
        .rev()
        .find(|step| step.kind != Kind::Thought)
        .is_some_and(|step| step.kind == Kind::Answer);
    own
}

/// A text that two calls share where they are equal.
fn key(call: &Call) -> String {
    format!("{}{}", call.name, Key::of(&call.arguments, &call.positional).text)
}

impl Account<'_> {
    /// The share of `names` that were called; 1 without names.
    pub fn required(&self, names: &[String]) -> f64 {
        let has = |name: &&String| self.calls.iter().any(|call| call.name == **name);
        share(names.iter().filter(has).count(), names.len())
    }

    /// The first call of one of `names`.
    pub fn forbidden(&self, names: &[String]) -> Option<&Call> {
        self.calls.iter().copied().find(|call| names.contains(&call.name))
    }

    /// The share of `names` that were called in this order, others between them.
    pub fn ordered(&self, names: &[String]) -> f64 {
        let mut due = names.iter().peekable();
        for call in &self.calls {
            due.next_if(|name| call.name == **name);
        }
        share(names.len() - due.len(), names.len())
    }

    /// The share of errors from which the agent recovered; 1 without errors.
    pub fn recovery(&self) -> f64 {
        share(self.recovered, self.errors)
    }

    /// An outcome, discounted by each turn after the first.
    pub fn discounted(&self, outcome: f64, discount: f64) -> f64 {
        let turns = i32::try_from(self.turns.saturating_sub(1)).unwrap_or(i32::MAX);
        outcome * discount.powi(turns)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of steps are far below 2^53")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
