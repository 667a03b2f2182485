//! Announced answers: "the answer is 18", `#### 18`, `A: 18`, `<answer>`, JSON members.

use std::borrow::Cow;

use memchr::{memchr, memmem, memrchr2};

use super::{Candidate, Provenance, Scope, slice};
use crate::fault::Fault;
use crate::meter::Meter;

/// Only the last few announcements are looked at.
const LOOKED_AT_MAX: usize = 16;
/// Between "answer" and its verb stand at most this many bytes.
const VERB_WITHIN: usize = 80;

/// Every announcement near the end, in no order.
pub(super) fn find<'a>(
    scope: &Scope<'a>,
    found: &mut Vec<Candidate<'a>>,
    meter: &mut Meter<'_>,
) -> Result<(), Fault> {
    let text = scope.text;
    let mut looked = 0;
    let mut said = |candidate: &Candidate<'_>| {
        !scope.in_code(candidate.span.0) && !scope.quoted(candidate.span, &mut looked)
    };
    found.extend(hashes(text).filter(&mut said));
    found.extend(tagged(text).filter(&mut said));
    found.extend(prefixed(text).filter(&mut said));
    if !text.is_ascii() {
        found.extend(foreign(text).filter(&mut said));
    }
    for at in words(text) {
        meter.spend(200)?;
        if let Some(value) = json_member(text, at) {
            found.extend(json_value(text, value));
        } else if !scope.in_code(at) {
            found.extend(
                sentence(text, at).filter(|candidate| !scope.quoted(candidate.span, &mut looked)),
            );
        }
    }
    Ok(())
}

/// Offsets behind the last words "answer", whatever their case: found by their rarest letter.
fn words(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut end = bytes.len();
    while found.len() < LOOKED_AT_MAX {
        let Some(at) = bytes.get(..end).and_then(|head| memrchr2(b'w', b'W', head)) else { break };
        end = at;
        let start = at.checked_sub(3);
        let word = start.and_then(|start| bytes.get(start..start + 6));
        if word.is_some_and(|word| word.eq_ignore_ascii_case(b"answer")) {
            found.push(at + 3);
        }
    }
    found
}

/// Where the value of the member starts, if "answer" is the name of one.
fn json_member(text: &str, at: usize) -> Option<usize> {
    let tail = text.get(at..)?;
    let rest = tail.strip_prefix("\\\"").or_else(|| tail.strip_prefix(['"', '\'']))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    Some(text.len() - rest.len())
}

/// `"answer": "18"`: the value of a member, perhaps in a fence or malformed.
fn json_value(text: &str, start: usize) -> Option<Candidate<'_>> {
    let rest = text.get(start..)?;
    if let Some(inner) = rest.strip_prefix('"') {
        let length = string_length(inner)?;
        let decoded = unescaped(inner.get(..length)?);
        let span = (start + 1, start + 1 + length);
        return Some(Candidate { text: decoded, span, provenance: Provenance::Json });
    }
    if let Some(inner) = rest.strip_prefix('[')
        && let Some(length) = inner.find(']')
    {
        return slice(text, start + 1, start + 1 + length, Provenance::Json);
    }
    let ends = [rest.find(['\n', '}']), rest.find(", \""), rest.find(",\"")];
    let length = ends.into_iter().flatten().min().unwrap_or(rest.len());
    let value = rest.get(..length)?.trim_end().trim_end_matches(',');
    slice(text, start, start + value.len(), Provenance::Json)
}

/// The length of a JSON string up to its closing quote; a line that closes without one is cut at
/// its end, a text that was cut off has no answer.
fn string_length(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return Some(at),
            b'\n' if inner.get(at..).is_some_and(|rest| rest.trim_start().starts_with('}')) => {
                return Some(at);
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// A JSON string as text. A backslash that starts a LaTeX command stays one, however it was
/// escaped.
fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') if !chars.peek().is_some_and(char::is_ascii_lowercase) => out.push('\n'),
            Some('t') if !chars.peek().is_some_and(char::is_ascii_lowercase) => out.push('\t'),
            Some('"') => out.push('"'),
            Some('/') => out.push('/'),
            Some('\\') => out.push('\\'),
            Some('u') => {
                let hex: String = chars.by_ref().take(4).collect();
                out.extend(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32));
            }
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => {}
        }
    }
    Cow::Owned(out)
}

/// "the answer is 18", "Answer: 18", "**Answer** 18".
fn sentence(text: &str, at: usize) -> Option<Candidate<'_>> {
    let tail = text.get(at..)?;
    let tail = tail.strip_prefix('s').unwrap_or(tail);
    if tail.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let start = text.len() - tail.len() + verb(tail)?;
    let (from, to) = span_of_answer(text, start)?;
    slice(text, from, to, Provenance::Anchor)
}

/// The length of what leads from "answer" to the answer itself.
fn verb(tail: &str) -> Option<usize> {
    let mut end = VERB_WITHIN.min(tail.len());
    while !tail.is_char_boundary(end) {
        end -= 1;
    }
    let near = tail.get(..end)?;
    let bold = near.len() - near.trim_start_matches(['*', '_', ' ', '\'', '"', '`']).len();
    let head = near.get(bold..)?;
    if let Some(rest) = head.strip_prefix([':', '=']) {
        return Some(near.len() - rest.trim_start_matches(['*', '_']).len());
    }
    if near.get(..bold)?.contains("**") && !head.starts_with([',', '.', '\n']) && !is_verb(head) {
        return Some(bold);
    }
    let line = near.split('\n').next()?;
    let line = line.split(". ").next()?;
    let verbs =
        [" is", " are", " would be", " will be", " must be", " equals", " should be", ":", " as"];
    let (verb_at, verb) =
        verbs.iter().filter_map(|verb| Some((find_word(line, verb)?, *verb))).min()?;
    let after = near.get(verb_at + verb.len()..)?;
    let skipped = after.trim_start_matches([':', ' ', '*', '_']);
    Some(near.len() - skipped.len())
}

fn is_verb(head: &str) -> bool {
    ["is", "are", "to", "would", "will", "in", "for", "of"]
        .iter()
        .any(|verb| head.starts_with(verb))
}

/// Where a verb stands as a whole word.
fn find_word(line: &str, verb: &str) -> Option<usize> {
    line.match_indices(verb).map(|(at, _)| at).find(|at| {
        let after = line.get(at + verb.len()..).and_then(|rest| rest.chars().next());
        verb == ":" || !after.is_some_and(|c| c.is_alphanumeric() || c == '\'')
    })
}

/// From the announcement to the end of its sentence; the next lines where it ends in a colon.
pub(super) fn span_of_answer(text: &str, start: usize) -> Option<(usize, usize)> {
    let tail = text.get(start..)?;
    let lead = tail.len() - tail.trim_start_matches([' ', '\n', '\r', '\t', ':', '*']).len();
    if tail.get(..lead)?.matches('\n').count() > 3 {
        return None;
    }
    let body = tail.get(lead..)?;
    let from = start + lead;
    for (open, close) in [("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)")] {
        if let Some(inner) = body.strip_prefix(open)
            && let Some(end) = inner.find(close)
        {
            return Some((from + open.len(), from + open.len() + end));
        }
    }
    if let Some(inner) = body.strip_prefix('$')
        && let Some(end) = inner.find('$')
        && !inner.starts_with(|c: char| c.is_ascii_digit() || c == '\\' && inner.starts_with("\\$"))
        && !inner.get(end + 1..).is_some_and(goes_on)
        && inner.get(..end).is_some_and(|math| !math.contains('\n'))
    {
        return Some((from + 1, from + 1 + end));
    }
    let line = body.split('\n').next()?;
    Some((from, from + sentence_end(line)))
}

/// Whether the answer is a list that goes on behind its first formula.
fn goes_on(rest: &str) -> bool {
    let rest = rest.trim_start();
    ["or ", "and ", ", $", ",$"].iter().any(|join| rest.starts_with(join))
}

/// The end of the first sentence of a line: a dot before a space, unless it is a decimal point.
pub(super) fn sentence_end(line: &str) -> usize {
    for (at, _) in line.match_indices(". ") {
        let before = line.get(..at).unwrap_or_default();
        let abbreviated = before.ends_with("vs") || before.ends_with("approx");
        if !abbreviated {
            return at;
        }
    }
    line.len()
}

/// `#### 18`.
fn hashes(text: &str) -> Option<Candidate<'_>> {
    memchr(b'#', text.as_bytes())?;
    let from = text.rfind("####")? + 4;
    let line = text.get(from..)?.split('\n').next()?;
    // A heading of Markdown announces nothing by itself.
    let last = text.trim_end().len() <= from + line.len();
    let value = last || line.contains(|c: char| c.is_ascii_digit());
    value.then(|| slice(text, from, from + line.len(), Provenance::Marker)).flatten()
}

/// `<answer> 18 </answer>`.
fn tagged(text: &str) -> Option<Candidate<'_>> {
    memmem::find(text.as_bytes(), b"</answer>")?;
    let close = text.rfind("</answer>")?;
    let open = text.get(..close)?.rfind("<answer>")?;
    slice(text, open + "<answer>".len(), close, Provenance::Marker)
}

/// A last line that starts with `A:`.
fn prefixed(text: &str) -> Option<Candidate<'_>> {
    let trimmed = text.trim_end();
    let from = memchr::memrchr(b'\n', trimmed.as_bytes()).map_or(0, |at| at + 1);
    let body = trimmed.get(from..)?.trim_start().strip_prefix("A:")?;
    // A:B = 2 is a ratio.
    let letter = body.strip_prefix(|c: char| c.is_ascii_uppercase());
    if letter.is_some_and(|rest| rest.trim_start().starts_with(['=', ':'])) {
        return None;
    }
    slice(text, trimmed.len() - body.len(), trimmed.len(), Provenance::Marker)
}

/// "The answer is", in Chinese and in Russian.
fn foreign(text: &str) -> Option<Candidate<'_>> {
    const STEMS: [&str; 6] = ["答案", "故选", "应选", "Ответ", "ответ", "ОТВЕТ"];
    const VERBS: [&str; 9] = ["就是", "应该是", "应为", "是", "为", "：", ":", "—", "–"];
    let last = |stem: &&str| Some((memmem::rfind(text.as_bytes(), stem.as_bytes())?, stem.len()));
    let (at, length) = STEMS.iter().filter_map(last).max()?;
    let mut start = at + length;
    let mut said = false;
    loop {
        let rest = text.get(start..)?;
        let bare = rest.trim_start_matches([' ', '*', '_', '\n']);
        let verb = VERBS.iter().find_map(|verb| bare.strip_prefix(verb));
        let Some(rest) = verb else { break };
        said = true;
        start = text.len() - rest.len();
    }
    // Without a verb, the value itself must follow.
    let next = text.get(start..)?.trim_start_matches([' ', '*', '_', '\n']).chars().next()?;
    let value = next.is_ascii_digit() || next.is_ascii_uppercase() || "$\\-(".contains(next);
    if !(said || value) {
        return None;
    }
    let (from, to) = span_of_answer(text, start)?;
    let end = text.get(from..to)?.find(['。', '；']).map_or(to, |end| from + end);
    slice(text, from, end, Provenance::Anchor)
}
