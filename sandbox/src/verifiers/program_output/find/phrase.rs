//! Answers in prose: "the output is `[1, 2]`", `assert f(1) == 2`, `\boxed{2}`.

use std::ops::Range;

use super::found::{Answer, sides};
use crate::value::literal::{self, Words};

/// What stands before an answer.
const CUES: [&str; 24] = [
    "answer is",
    "answer:",
    "answer**:",
    "answer will be",
    "output is",
    "output:",
    "output**:",
    "output will be",
    "output would be",
    "output should be",
    "result is",
    "result:",
    "result**:",
    "result will be",
    "value is",
    "returns",
    "return value is",
    "will return",
    "would return",
    "prints",
    "outputs",
    "evaluates to",
    "is equal to",
    "results in",
];
/// What may stand between the cue and the answer.
const FILLERS: [&str; 15] = [
    "therefore",
    "the string",
    "the list",
    "the tuple",
    "the dictionary",
    "the set",
    "the value",
    "the integer",
    "the number",
    "the boolean",
    "the following",
    "thus",
    "simply",
    "a string",
    "a list",
];
/// Places that are tried for each cue, the last one first.
const TRIED_MAX: usize = 8;
/// Bytes of an answer in quotes or backticks.
const BYTES_MAX: usize = 1 << 14;

/// The last sentence that says an answer.
pub(super) fn said(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let lower = inner.to_ascii_lowercase();
    let boxed = inner.rfind("\\boxed{").and_then(|at| boxed(inner, at + "\\boxed{".len()));
    let phrases = CUES.iter().filter_map(|cue| {
        let mut places = lower.rmatch_indices(cue).take(TRIED_MAX);
        places.find_map(|(at, _)| after(inner, at + cue.len()))
    });
    let range = phrases.chain(boxed).max_by_key(|range| range.start)?;
    let span = (part.start + range.start, part.start + range.end);
    let said = inner.get(range)?;
    Some(Answer { text: said.into(), value: None, span, from: "phrase", quoted: false })
}

/// The last assertion whose right side is no blank.
pub(super) fn assertion(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let mut places = inner.rmatch_indices("assert ").take(TRIED_MAX);
    places.find_map(|(at, _)| {
        let rest = inner.get(at..)?;
        let (_, right) = sides(rest)?;
        let start = rest.len() - right.len();
        let length = match literal::prefix(right, Words::Python) {
            Ok((_, length)) => length,
            Err(_) => right.find(['\n', '`']).unwrap_or(right.len()),
        };
        let right = right.get(..length)?.trim_end();
        if right.is_empty() || right.starts_with("??") {
            return None;
        }
        // All of it is kept: who asks for the input reads the left side.
        let end = at + start + right.len();
        let span = (part.start + at, part.start + end);
        let text = inner.get(at..end)?.into();
        Some(Answer { text, value: None, span, from: "assertion", quoted: false })
    })
}

/// The answer that follows a cue at once.
fn after(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let skipped = rest.trim_start_matches(|c: char| c.is_whitespace() || "*:".contains(c));
        let lower = skipped.get(..skipped.floor_char_boundary(20))?.to_ascii_lowercase();
        let filler = FILLERS.iter().find(|filler| lower.starts_with(**filler));
        at += rest.len() - skipped.len() + filler.map_or(0, |filler| filler.len());
        if filler.is_none() {
            break;
        }
    }
    let rest = text.get(at..)?;
    let rest = rest.get(..rest.floor_char_boundary(BYTES_MAX))?;
    if let Some(fence) = rest.strip_prefix("```") {
        let body = at + 3 + fence.find('\n')? + 1;
        let length = text.get(body..)?.find("```")?;
        return Some(body..body + length);
    }
    if let Some(inner) = rest.strip_prefix('`') {
        let end = inner.find(['`', '\n']).filter(|end| *end > 0)?;
        return inner.get(end..)?.starts_with('`').then_some(at + 1..at + 1 + end);
    }
    if let Some(inner) = rest.strip_prefix("\\boxed{") {
        return boxed(text, at + rest.len() - inner.len());
    }
    let (_, length) = literal::prefix(rest, Words::Python).ok()?;
    let next = rest.get(length..)?.chars().next();
    let ends = !next.is_some_and(|c| c.is_alphanumeric() || "_([+-/%".contains(c));
    ends.then_some(at..at + length)
}

/// The inside of the braces that open before `from`.
fn boxed(text: &str, from: usize) -> Option<Range<usize>> {
    let mut depth = 1_usize;
    let rest = text.get(from..)?;
    for (at, c) in rest.char_indices().take(BYTES_MAX) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(from..from + at);
        }
    }
    None
}
