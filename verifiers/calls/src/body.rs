//! What stands behind a mark that opens calls.

use crate::call::Call;
use crate::cursor::Cursor;
use crate::format::{Body, Format, Sections};
use crate::refusal::{Code, Refusal};
use crate::shape::{self, is_name};
use crate::value::{Object, Value};
use crate::{json, python};

/// What a mark turned out to open.
pub(crate) enum Opened {
    /// Calls, in this notation.
    Calls(Format),
    /// A thought, or what somebody else says: nothing of it is read.
    Hidden,
    /// Text.
    Text,
}

/// Reads what follows the mark; the place moves behind it.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    format: Format,
    body: Body,
    names: bool,
    out: &mut Vec<Call>,
) -> Result<Opened, Refusal> {
    let start = cursor.at();
    match body {
        Body::Unopened => return cursor.refuse_from(Code::UnopenedTag, start),
        Body::Harmony => return harmony(cursor, out),
        Body::ToolCall => return tool_call(cursor, out).map(Opened::Calls),
        Body::Function => return function(cursor, out).map(Opened::Calls),
        Body::Json { close, must_close } => {
            json_calls(cursor, out)?;
            closed(cursor, close, must_close)?;
        }
        Body::Either { close, must_close } => {
            let first = out.len();
            either(cursor, names, out)?;
            // The tools of Llama itself: `brave_search.call(query="x")`.
            for call in out.iter_mut().skip(first).filter(|_| format == Format::Llama) {
                call.name.truncate(call.name.trim_end_matches(".call").len());
            }
            closed(cursor, close, must_close)?;
        }
        Body::Functools => {
            *cursor = Cursor::new(cursor.text(), start - 1);
            json_calls(cursor, out)?;
        }
        Body::Action if !is_fence(cursor) => return action(cursor, out).map(Opened::Calls),
        Body::Action => fenced(cursor, names, out)?,
        Body::Recipient => return recipient(cursor, out),
        Body::Mistral => mistral(cursor, out)?,
        Body::Sections(marks) => sections(cursor, marks, out)?,
        Body::Invokes { prefix, close } => {
            return invokes(cursor, prefix, close, out).map(Opened::Calls);
        }
    }
    Ok(Opened::Calls(format))
}

/// Moves past a mark that must come next, but where it may be missing.
fn closed(cursor: &mut Cursor<'_>, mark: &str, is_due: bool) -> Result<(), Refusal> {
    cursor.space();
    match cursor.peek() {
        _ if cursor.eat(mark) || !is_due => Ok(()),
        None | Some(b'<') => cursor.refuse(Code::UnclosedTag),
        Some(_) => cursor.refuse(Code::TextAfter),
    }
}

/// Values of JSON that are calls: one, several side by side or parted by semicolons, or a list.
fn json_calls(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<(), Refusal> {
    loop {
        cursor.space();
        let start = cursor.at();
        let value = json::value(cursor)?;
        if shape::take(value, &(start..cursor.at()), out)?.is_none() {
            return cursor.refuse_from(Code::NotACall, start);
        }
        cursor.space();
        if cursor.eat(";") {
            cursor.space();
        }
        if !matches!(cursor.peek(), Some(b'{')) {
            return Ok(());
        }
    }
}

/// Calls of Python or of JSON, in a fence or not.
fn either(cursor: &mut Cursor<'_>, names: bool, out: &mut Vec<Call>) -> Result<(), Refusal> {
    cursor.space();
    if cursor.peek() == Some(b'`') {
        return fenced(cursor, names, out);
    }
    let is_json = match cursor.peek() {
        Some(b'{') => true,
        Some(b'[') => {
            let mut inner = cursor.clone();
            inner.skip(1);
            inner.space();
            matches!(inner.peek(), Some(b'{' | b']'))
        }
        _ => false,
    };
    if is_json { json_calls(cursor, out) } else { python::calls(cursor, names, out) }
}

fn fenced(cursor: &mut Cursor<'_>, names: bool, out: &mut Vec<Call>) -> Result<(), Refusal> {
    closed(cursor, "```", true)?;
    cursor.while_bytes(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    cursor.space();
    if cursor.peek() == Some(b'`') {
        return cursor.refuse(Code::Unexpected);
    }
    either(cursor, names, out)?;
    closed(cursor, "```", true)
}

/// A name up to one of `ends`, which is not read.
fn name<'t>(cursor: &mut Cursor<'t>, ends: &[u8]) -> Result<&'t str, Refusal> {
    let start = cursor.at();
    let name = cursor.while_bytes(|byte| !ends.contains(&byte) && byte != b'\n').trim();
    if is_name(name) { Ok(name) } else { cursor.refuse_from(Code::BadName, start) }
}

/// An object of arguments.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Object, Refusal> {
    cursor.space();
    let start = cursor.at();
    match json::value(cursor)? {
        Value::Object(members) => Ok(members),
        _ => cursor.refuse_from(Code::ArgumentsNotObject, start),
    }
}

fn push(out: &mut Vec<Call>, cursor: &Cursor<'_>, start: usize, name: &str, arguments: Object) {
    let span = start..cursor.at();
    out.push(Call { name: name.to_owned(), arguments, positional: Vec::new(), span });
}

/// Whether what a mark at the start of a line opens comes next: many a text has an "Action:".
pub(crate) fn is_meant(body: Body, mut ahead: Cursor<'_>, is_named: bool) -> bool {
    match body {
        Body::Action => {
            is_fence(&ahead) || {
                ahead.while_bytes(|byte| byte != b'\n');
                ahead.space();
                ahead.eat("Action Input:")
            }
        }
        Body::Recipient => {
            let name = ahead.while_bytes(|byte| byte != b'\n' && byte != b'<');
            ahead.space();
            let is_open = ahead.eat("<|content|>") || matches!(ahead.peek(), Some(b'{' | b'['));
            is_named || is_name(name) && (is_open || name == ALL)
        }
        _ => true,
    }
}

fn is_fence(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    ahead.space();
    ahead.eat("```")
}

/// A name on a line, and what it is called with.
fn action(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<Format, Refusal> {
    let start = cursor.at();
    let name = name(cursor, b"")?;
    closed(cursor, "Action Input:", true)?;
    cursor.space();
    let is_fenced = cursor.eat("```");
    if is_fenced {
        cursor.eat("json");
    }
    let arguments = arguments(cursor)?;
    closed(cursor, "```", is_fenced)?;
    push(out, cursor, start, name, arguments);
    Ok(Format::React)
}

/// Whom Functionary names where it speaks to the user.
const ALL: &str = "all";

/// A name, and what it is called with, or what is said.
fn recipient(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<Opened, Refusal> {
    let start = cursor.at();
    let name = name(cursor, b"<")?;
    cursor.space();
    cursor.eat("<|content|>");
    if name == ALL {
        return Ok(Opened::Text);
    }
    let arguments = arguments(cursor)?;
    push(out, cursor, start, name, arguments);
    cursor.space();
    cursor.eat("<|from|>assistant");
    Ok(Opened::Calls(Format::Functionary))
}

fn tool_call(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<Format, Refusal> {
    const CLOSE: &str = "</tool_call>";
    cursor.space();
    let format = match cursor.peek() {
        Some(b'{' | b'[') => {
            json_calls(cursor, out)?;
            Format::Hermes
        }
        Some(b'<') => {
            closed(cursor, "<function=", true)?;
            function(cursor, out)?;
            cursor.space();
            while cursor.eat("<function=") {
                function(cursor, out)?;
                cursor.space();
            }
            Format::QwenXml
        }
        _ => {
            let start = cursor.at();
            let name = name(cursor, b"<")?;
            let arguments =
                pairs(cursor, &["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"])?;
            push(out, cursor, start, name, arguments);
            Format::Glm
        }
    };
    closed(cursor, CLOSE, true).map(|()| format)
}

/// Names and values between four marks: before a name, behind it, before the value, behind it. The
/// third may be empty. A mark that opens does not stand in a value.
fn pairs(cursor: &mut Cursor<'_>, marks: &[&str; 4]) -> Result<Object, Refusal> {
    let [open, name_end, value_start, close] = *marks;
    let start = cursor.at();
    let mut members = Vec::new();
    cursor.space();
    while cursor.eat(open) {
        let at = cursor.at();
        let unclosed = || Err(Refusal::new(Code::UnclosedTag, at - open.len()..at));
        let Some(name) = cursor.until(name_end) else { return unclosed() };
        // What `DeepSeek` says of the type.
        let (name, kind) =
            name.split_once("\" string=\"").map_or((name, None), |(own, kind)| (own, Some(kind)));
        if !value_start.is_empty() {
            closed(cursor, value_start, true)?;
        }
        let from = cursor.at();
        let Some(value) = cursor.until(close).filter(|value| !value.contains(open)) else {
            return unclosed();
        };
        let value = match kind {
            Some("true") => Value::Text(value.to_owned()),
            Some("false") => json::parse(value).map_err(|refusal| refusal.shifted(from))?,
            _ => Value::Raw(value.to_owned()),
        };
        if name.trim().is_empty() || name.contains(['<', '\n']) {
            return cursor.refuse_from(Code::BadName, at);
        }
        members.push((name.trim().to_owned(), value));
        cursor.space();
    }
    Object::new(members).or_else(|_| cursor.refuse_from(Code::DuplicateKey, start))
}

/// What follows `<function=`: a name, and parameters or an object, up to `</function>`.
fn function(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<Format, Refusal> {
    let start = cursor.at();
    let name = name(cursor, b">")?;
    closed(cursor, ">", true)?;
    cursor.space();
    let (format, arguments) = if cursor.peek().is_some_and(|next| next != b'<') {
        (Format::Llama, arguments(cursor)?)
    } else {
        let mut arguments = pairs(cursor, &["<parameter=", ">", "", "</parameter>"])?;
        for (_, value) in arguments.values_mut() {
            // The template puts a value on lines of its own.
            if let Value::Raw(text) = value {
                let own = text.strip_prefix('\n').unwrap_or(text);
                *text = own.strip_suffix('\n').unwrap_or(own).to_owned();
            }
        }
        (Format::QwenXml, arguments)
    };
    closed(cursor, "</function>", true)?;
    push(out, cursor, start, name, arguments);
    Ok(format)
}

fn mistral(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<(), Refusal> {
    cursor.space();
    if matches!(cursor.peek(), Some(b'[' | b'{')) {
        return json_calls(cursor, out);
    }
    let start = cursor.at();
    let name = name(cursor, b"[{")?;
    if cursor.eat("[CALL_ID]") {
        cursor.while_bytes(|byte| byte.is_ascii_alphanumeric());
    }
    cursor.eat("[ARGS]");
    let arguments = arguments(cursor)?;
    push(out, cursor, start, name, arguments);
    Ok(())
}

/// Calls with marks of their own. The name stands before the separator (`name`,
/// `functions.name:0`), or, where `function` stands there, on a line behind it, and the arguments
/// in a fence.
fn sections(cursor: &mut Cursor<'_>, marks: &Sections, out: &mut Vec<Call>) -> Result<(), Refusal> {
    loop {
        cursor.space();
        if cursor.eat(marks.close) {
            return Ok(());
        }
        let start = cursor.at();
        closed(cursor, marks.begin, true)?;
        let head = name(cursor, b"<")?;
        closed(cursor, marks.separator, true)?;
        cursor.space();
        let is_typed = head == "function" && cursor.peek() != Some(b'{');
        let own = if is_typed { name(cursor, b"`")? } else { bare_name(head) };
        if own.is_empty() {
            return cursor.refuse_from(Code::BadName, start);
        }
        cursor.space();
        let is_fenced = is_typed && cursor.eat("```json");
        let arguments = arguments(cursor)?;
        closed(cursor, "```", is_fenced)?;
        closed(cursor, marks.end, true)?;
        push(out, cursor, start, own, arguments);
    }
}

/// `functions.name:0` without what counts it.
fn bare_name(head: &str) -> &str {
    let head = head.strip_prefix("functions.").unwrap_or(head);
    let bare = head.trim_end_matches(|char: char| char.is_ascii_digit());
    bare.strip_suffix(':').unwrap_or(head)
}

/// Tags `<invoke name="...">` with `<parameter name="...">`; calls of Python in the same tags.
fn invokes(
    cursor: &mut Cursor<'_>,
    prefix: &str,
    close: &'static str,
    out: &mut Vec<Call>,
) -> Result<Format, Refusal> {
    let tag = |end: &str, name: &str| format!("<{end}{prefix}{name}");
    let (invoke, parameter) = (tag("", "invoke name=\""), tag("", "parameter name=\""));
    let (invoke_end, parameter_end) = (tag("/", "invoke>"), tag("/", "parameter>"));
    let format = match (prefix, close) {
        ("", "</function_calls>") => Format::Invoke,
        ("", _) => Format::MiniMax,
        _ => Format::DeepSeek,
    };
    cursor.space();
    if format == Format::Invoke && python::is_call(cursor) {
        python::calls(cursor, false, out)?;
        return closed(cursor, close, true).map(|()| Format::Python);
    }
    loop {
        cursor.space();
        if cursor.eat(close) {
            return Ok(format);
        }
        let start = cursor.at();
        closed(cursor, &invoke, true)?;
        let name = name(cursor, b"\"")?;
        closed(cursor, "\">", true)?;
        let arguments = pairs(cursor, &[&parameter, "\">", "", &parameter_end])?;
        closed(cursor, &invoke_end, true)?;
        push(out, cursor, start, name, arguments);
    }
}

/// The longest header of a message, in bytes.
const HEADER_BYTES_MAX: usize = 300;

/// A message of gpt-oss. One with a recipient is a call; the channel `analysis` is a thought.
fn harmony(cursor: &mut Cursor<'_>, out: &mut Vec<Call>) -> Result<Opened, Refusal> {
    const MESSAGE: &str = "<|message|>";
    let start = cursor.at();
    let near = cursor.rest();
    let near = near.get(..near.floor_char_boundary(HEADER_BYTES_MAX)).unwrap_or(near);
    let Some(length) = memchr::memmem::find(near.as_bytes(), MESSAGE.as_bytes()) else {
        return cursor.refuse_from(Code::UnclosedTag, start);
    };
    cursor.skip(length);
    let header = cursor.since(start);
    cursor.eat(MESSAGE);
    let recipient = header.split_once("to=").map(|(_, behind)| {
        behind.split_at(
            behind.find(|char: char| char.is_whitespace() || char == '<').unwrap_or(behind.len()),
        )
    });
    // What follows are channels and kinds of content.
    let is_kind =
        |word: &str| word.starts_with('<') || matches!(word, "json" | "code" | "commentary");
    match recipient {
        None if header.contains("analysis") => {}
        // What a tool says.
        Some(("assistant", _)) => {}
        None => return Ok(Opened::Text),
        Some((recipient, kinds)) => {
            let name = recipient.strip_prefix("functions.").unwrap_or(recipient);
            if !is_name(name) || !kinds.split_whitespace().all(is_kind) {
                return cursor.refuse_from(Code::BadName, start);
            }
            cursor.space();
            // Another tool of the system may take code.
            if cursor.peek() != Some(b'{') && !recipient.starts_with("functions.") {
                return cursor.refuse(Code::ArgumentsNotObject);
            }
            let arguments = arguments(cursor)?;
            cursor.space();
            if cursor.peek().is_some() && !cursor.eat("<|call|>") && !cursor.eat("<|end|>") {
                return cursor.refuse(Code::TextAfter);
            }
            push(out, cursor, start, name, arguments);
            return Ok(Opened::Calls(Format::Harmony));
        }
    }
    if cursor.until("<|end|>").is_none() {
        cursor.skip(usize::MAX / 2);
    }
    Ok(Opened::Hidden)
}
