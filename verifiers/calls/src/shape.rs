//! Which values of JSON are calls.

use std::ops::Range;

use serde_json::Value as Json;

use crate::call::Call;
use crate::format::Format;
use crate::json;
use crate::refusal::{Code, Refusal};
use crate::value::{Object, Value};

/// Names of the member that names the tool, and of the one that holds the arguments.
const NAMES: [&str; 3] = ["name", "tool_name", "function"];
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "input", "args"];

/// The longest name of a tool, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// Adds the calls that a value is: one, a list of them, a message of `OpenAI` with `tool_calls`,
/// content of Anthropic with `tool_use`. `None` where it is data and no call.
pub(crate) fn take(
    value: Value,
    span: &Range<usize>,
    out: &mut Vec<Call>,
) -> Result<Option<Format>, Refusal> {
    match value {
        Value::Object(mut members) => {
            if let Some(calls) = members.take("tool_calls") {
                return match calls {
                    Value::Null => Ok(Some(Format::OpenAi)),
                    Value::List(calls) => {
                        list(calls, span, out, true).map(|_| Some(Format::OpenAi))
                    }
                    _ => Err(Refusal::new(Code::NotACall, span.clone())),
                };
            }
            if let Some(Value::Object(call)) = members.take("function_call") {
                return one(call, span, out).map(|found| found.map(|_| Format::OpenAi));
            }
            match members.take("content") {
                Some(Value::List(blocks)) => list(blocks, span, out, false),
                Some(_) => Ok(None),
                None => one(members, span, out),
            }
        }
        Value::List(values) => list(values, span, out, false),
        _ => Ok(None),
    }
}

/// Adds the calls of a list. Beside one call, everything must be a call, but for blocks of
/// Anthropic.
fn list(
    values: Vec<Value>,
    span: &Range<usize>,
    out: &mut Vec<Call>,
    must: bool,
) -> Result<Option<Format>, Refusal> {
    let (mut format, mut is_mixed) = (None, false);
    let is_empty = values.is_empty();
    for value in values {
        let Value::Object(members) = value else {
            is_mixed = true;
            continue;
        };
        let kind = members.get("type").and_then(Value::as_text);
        let is_block = kind.is_some_and(|kind| {
            matches!(
                kind,
                "text" | "thinking" | "redacted_thinking" | "image" | "reasoning" | "message"
            )
        });
        match one(members, span, out)? {
            Some(found) => format = Some(found),
            None => is_mixed |= !is_block,
        }
    }
    if is_mixed && (must || format.is_some()) {
        return Err(Refusal::new(Code::NotACall, span.clone()));
    }
    Ok(if is_empty { Some(Format::Json) } else { format })
}

/// Adds the call that an object is.
fn one(
    mut members: Object,
    span: &Range<usize>,
    out: &mut Vec<Call>,
) -> Result<Option<Format>, Refusal> {
    let mut format = Format::Json;
    if members.get("type").and_then(Value::as_text) == Some("tool_use") {
        format = Format::Anthropic;
    }
    if let Some(Value::Object(_)) = members.get("function")
        && let Some(Value::Object(inner)) = members.take("function")
    {
        (members, format) = (inner, Format::OpenAi);
    }
    // A description is one of a tool, and no call.
    if members.get("description").is_some() {
        return Ok(None);
    }
    let name = NAMES.iter().find_map(|key| members.take(key));
    let mut arguments = ARGUMENTS.iter().filter_map(|key| members.take(key));
    let (Some(name), Some(arguments)) = (name, arguments.next()) else { return Ok(None) };
    let refuse = |code| Err(Refusal::new(code, span.clone()));
    let Value::Text(name) = name else { return refuse(Code::BadName) };
    if ARGUMENTS.iter().any(|key| members.get(key).is_some()) {
        return refuse(Code::DuplicateKey);
    }
    out.push(call(name, arguments, span)?);
    Ok(Some(format))
}

/// A call, of whose arguments the form is checked: an object, or text that holds one.
fn call(name: String, arguments: Value, span: &Range<usize>) -> Result<Call, Refusal> {
    let refuse = |code| Err(Refusal::new(code, span.clone()));
    // In JSON a name may have several words, as those of some APIs have.
    if name.trim() != name || !is_name(&name.replace(' ', "_")) {
        return refuse(Code::BadName);
    }
    let arguments = match arguments {
        Value::Object(members) => members,
        Value::Text(text) if text.trim().is_empty() => Object::default(),
        Value::Text(text) => match json::parse(&text) {
            Ok(Value::Object(members)) => members,
            Ok(_) => return refuse(Code::ArgumentsNotObject),
            Err(refusal) => return refuse(refusal.code),
        },
        Value::Null => return refuse(Code::NoArguments),
        _ => return refuse(Code::ArgumentsNotObject),
    };
    Ok(Call { name, arguments, positional: Vec::new(), span: span.clone() })
}

/// Whether a text can be the name of a tool in tags: no blank, no control, no bracket of a notation.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part =
        |char: char| !char.is_whitespace() && !char.is_control() && !"<>{}[]()\"'`".contains(char);
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(is_part)
}

impl Call {
    /// The call of a message: a name, and arguments as they came, an object or text that holds one.
    ///
    /// # Errors
    /// A name that no tool can have, or arguments that are no object.
    pub fn from_parts(name: &str, arguments: &Json) -> Result<Self, Refusal> {
        call(name.to_owned(), Value::from(arguments), &(0..0))
    }
}

/// The calls of a message, or of a list of blocks, as JSON: `tool_calls` of `OpenAI`, an item
/// `function_call`, `tool_use` of Anthropic.
///
/// # Errors
/// What is wrong with one of them; spans are empty.
pub fn in_message(message: &Json) -> Result<Vec<Call>, Refusal> {
    let mut calls = Vec::new();
    take(Value::from(message), &(0..0), &mut calls)?;
    Ok(calls)
}
