//! Calls without marks: JSON, or the syntax of Python, as the whole answer or in a fence.

use std::ops::Range;

use crate::call::Call;
use crate::cursor::Cursor;
use crate::format::{Format, Reading, TURN_ENDS};
use crate::json;
use crate::python;
use crate::refusal::{Code, Refusal};
use crate::shape;

/// A code fence.
pub(crate) struct Fence {
    /// What the opening line says of its language.
    pub(crate) info: Range<usize>,
    /// What stands in it.
    pub(crate) inner: Range<usize>,
}

/// What a text without marks is.
pub(crate) enum Bare {
    /// Calls and nothing else; there may be none: `[]`.
    Calls(Format),
    /// It starts as calls do, and is malformed.
    Failed(Refusal),
    /// Anything else.
    None,
}

/// Reads what comes next, up to the end of the text or of the turn.
pub(crate) fn read(mut cursor: Cursor<'_>, how: Reading, out: &mut Vec<Call>) -> Bare {
    let may_be = |formats: &[Format]| how.format.is_none_or(|format| formats.contains(&format));
    let is_json = may_be(&[Format::Json, Format::OpenAi, Format::Anthropic, Format::Llama]);
    let is_python = may_be(&[Format::Python, Format::Llama]);
    let mut inner = cursor.clone();
    inner.skip(1);
    inner.space();
    match cursor.peek() {
        Some(b'[') if is_python && python::is_listed_call(&inner, how.names) => {}
        Some(b'{') if is_json => return json(cursor, how, out),
        Some(b'[') if is_json && matches!(inner.peek(), Some(b'{' | b']' | b'\'' | b'"')) => {
            return json(cursor, how, out);
        }
        _ if is_python && python::is_call(&cursor) => {}
        _ => return Bare::None,
    }
    match python::calls(&mut cursor, how.names, out) {
        Ok(()) if is_end(&mut cursor) => Bare::Calls(Format::Python),
        Ok(()) => Bare::Failed(text_after(&cursor)),
        Err(refusal) => Bare::Failed(refusal),
    }
}

/// Whether a text that fails to be calls, of which some were read, is an attempt at them.
pub(crate) fn is_attempt(text: &str, from: usize, read: &[Call]) -> bool {
    let mut cursor = Cursor::new(text, from);
    cursor.space();
    let text = cursor.rest();
    let has = |mark: &str| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    let is_listed = text.starts_with('[');
    cursor.skip(usize::from(is_listed));
    cursor.space();
    if python::is_call(&cursor) {
        let inner = text.split_once('(').map_or("", |(_, inner)| inner);
        let name = inner.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_');
        let has_keyword = name.len() < inner.len() && name.trim_start().starts_with('=');
        return read.iter().any(|call| !call.arguments.is_empty())
            || has_keyword
            || is_listed && (text.contains('=') || text.trim_end().ends_with(")]"));
    }
    let marks =
        ["name\"", "name'", "function\"", "function'", "tool_calls\"", "tool_use\"", "name:"];
    !read.is_empty() || marks.into_iter().any(has)
}

/// Whether nothing but the end of the turn comes next.
fn is_end(cursor: &mut Cursor<'_>) -> bool {
    cursor.space();
    cursor.peek().is_none() || TURN_ENDS.iter().any(|end| cursor.eat(end))
}

fn text_after(cursor: &Cursor<'_>) -> Refusal {
    Refusal::new(Code::TextAfter, cursor.at()..cursor.at() + cursor.rest().trim_end().len())
}

/// Values of JSON, side by side or parted by semicolons.
fn json(mut cursor: Cursor<'_>, how: Reading, out: &mut Vec<Call>) -> Bare {
    let mut format = None;
    loop {
        let start = cursor.at();
        let read = json::value(&mut cursor)
            .and_then(|value| shape::take(value, &(start..cursor.at()), out));
        match read {
            Ok(Some(found)) => match format {
                Some(format) if format != found => {
                    return Bare::Failed(Refusal::new(Code::MixedFormats, start..cursor.at()));
                }
                _ => format = Some(found),
            },
            Ok(None) if format.is_none() => return Bare::None,
            Ok(None) => return Bare::Failed(Refusal::new(Code::NotACall, start..cursor.at())),
            Err(refusal) => return Bare::Failed(refusal),
        }
        let is_parted = is_end(&mut cursor) || cursor.eat(";");
        if is_end(&mut cursor) {
            break;
        }
        if !is_parted && cursor.peek() != Some(b'{') {
            return Bare::Failed(text_after(&cursor));
        }
    }
    let found = format.unwrap_or(Format::Json);
    match how.format {
        Some(Format::Json | Format::Llama) | None => Bare::Calls(found),
        Some(wanted) if wanted == found || out.is_empty() => Bare::Calls(wanted),
        Some(_) => Bare::None,
    }
}

/// Reads the one fence that holds calls. It ends the answer.
pub(crate) fn fenced(
    text: &str,
    fences: &[Fence],
    text_to: usize,
    how: Reading,
    out: &mut Vec<Call>,
) -> Result<Option<Format>, Refusal> {
    let (mut found, mut refused) = (None, None);
    for Fence { info, inner } in fences {
        let (Some(info), Some(block)) = (text.get(info.clone()), text.get(..inner.end)) else {
            continue;
        };
        let info = info.trim().to_ascii_lowercase();
        let mut cursor = Cursor::new(block, inner.start);
        cursor.space();
        let is_code = matches!(info.as_str(), "python" | "py") && cursor.peek() != Some(b'[');
        let is_other = !matches!(
            info.as_str(),
            "" | "json"
                | "jsonc"
                | "json5"
                | "python"
                | "py"
                | "tool_code"
                | "tool_call"
                | "tool_calls"
                | "text"
        );
        if is_code || is_other {
            continue;
        }
        let before = out.len();
        let read = read(cursor, how, out);
        let own = out.split_at(before.min(out.len())).1;
        let is_calls = match &read {
            Bare::Calls(_) => true,
            Bare::Failed(_) => is_attempt(block, inner.start, own),
            Bare::None => false,
        };
        if !is_calls {
            out.truncate(before);
            continue;
        }
        if found.is_some() || refused.is_some() {
            return Err(Refusal::new(Code::SeveralBlocks, inner.clone()));
        }
        match read {
            Bare::Calls(_) if inner.end < text_to && !how.text_after => {
                let span = inner.end..text_to;
                refused = Some(Refusal::new(Code::TextAfter, span));
            }
            Bare::Calls(format) => found = Some(format),
            Bare::Failed(refusal) => refused = Some(refusal),
            Bare::None => {}
        }
    }
    refused.map_or(Ok(found), Err)
}
