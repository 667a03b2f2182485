//! Formats that a prompt asks for: `#### 18`, `A: 18`, `<answer>18</answer>`, members of JSON.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr2, memrchr_iter, memrchr2_iter};

use super::candidate::{Candidate, Provenance, slice};
use super::words::is_one_of;
use super::{afterthought, qualify, retraction};
use crate::language::cues;
use crate::language::guess::Languages;

/// The names of tags that hold an answer, without case. Those in square brackets are capitals.
const TAGS: [&str; 8] = [
    "answer",
    "final_answer",
    "final-answer",
    "finalanswer",
    "final answer",
    "result",
    "solution",
    "final",
];
/// What may stand before "answer" in the name of a member of JSON.
const MEMBER_WORDS: [&str; 22] = assay_math::words::list(
    "actual best boxed calculated computed correct exact extracted final integer model my numeric \
     numerical overall predicted right short single the total your",
);

/// The longest text between `<solution>` tags that is an answer and not a whole solution, in bytes.
const SOLUTION_MAX: usize = 200;

/// The most words of a name behind `####`.
const NAME_WORDS_MAX: usize = 3;
/// The longest remark behind it, in bytes.
const REMARK_MAX: usize = 300;

/// The candidates of all formats but JSON, in no order.
pub(super) fn find(text: &str) -> impl Iterator<Item = Candidate<'_>> {
    let tag = last_tag(text, is_answer_tag).and_then(|tag| {
        let opened = text.get(..tag.inner.start)?.rfind(['<', '['])?;
        if qualify::is_denied_before(text.get(..opened)?.trim_end()) {
            return None;
        }
        let inner = slice(text, tag.inner.start, tag.inner.end, Provenance::Marker)?;
        let solution = tag.name.eq_ignore_ascii_case("solution");
        (!solution || inner.text.len() <= SOLUTION_MAX).then_some(inner)
    });
    hashes(text).into_iter().chain(tag).chain(prefixed(text))
}

/// Whether a tag of this name holds an answer, whatever the task.
pub fn is_answer_tag(name: &str) -> bool {
    is_one_of(&TAGS, name)
}

/// A pair of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag<'a> {
    /// The name as it is written.
    pub name: &'a str,
    /// What stands between the tags.
    pub inner: Range<usize>,
}

/// The last closed pair of tags whose name is `wanted`: `<answer>18</answer>`, or in capitals
/// `[ANSWER]18[/ANSWER]`. It opens at the last opening tag before its end.
pub fn last_tag(text: &str, wanted: impl Fn(&str) -> bool) -> Option<Tag<'_>> {
    let bytes = text.as_bytes();
    let (name, close) = memrchr_iter(b'/', bytes).find_map(|slash| {
        let at = slash.checked_sub(1).filter(|at| matches!(bytes.get(*at), Some(b'<' | b'[')))?;
        let (name, _) = tag_name(text.get(slash + 1..)?, at, bytes)?;
        wanted(name).then_some((name, at))
    })?;
    memrchr2_iter(b'<', b'[', bytes.get(..close)?).find_map(|at| {
        let (open, length) = tag_name(text.get(at + 1..)?, at, bytes)?;
        open.eq_ignore_ascii_case(name).then(|| Tag { name, inner: at + 1 + length..close })
    })
}

/// The name with which `rest` begins, and its length with the end of its tag, which opened at `at`.
fn tag_name<'a>(rest: &'a str, at: usize, bytes: &[u8]) -> Option<(&'a str, usize)> {
    let near = rest.get(..rest.floor_char_boundary(40))?;
    let angular = bytes.get(at) == Some(&b'<');
    let closer = if angular { b'>' } else { b']' };
    let end = memchr2(closer, b'\n', near.as_bytes())?;
    let name = near.get(..end)?;
    let capitals = angular || !name.contains(|c: char| c.is_ascii_lowercase());
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (capitals && named && near.as_bytes().get(end) == Some(&closer)).then_some((name, end + 1))
}

/// `#### 18`.
fn hashes(text: &str) -> Option<Candidate<'_>> {
    memchr::memchr(b'#', text.as_bytes())?;
    let from = text.rfind("####")? + 4;
    let line = text.get(from..)?.split('\n').next()?;
    // A heading of Markdown announces nothing by itself.
    let last = text.trim_end().len() <= from + line.len();
    let said = line.trim().trim_matches(['(', ')', '*', '.', '$']);
    let is_letter = said.len() == 1 && said.starts_with(|c: char| c.is_ascii_uppercase());
    let is_formula = line.trim().starts_with('$');
    // A name is an answer before a remark, and a heading before a text.
    let behind = text.get(from + line.len()..)?.trim();
    let is_name = said.split_whitespace().nth(NAME_WORDS_MAX).is_none()
        && behind.len() <= REMARK_MAX
        && !behind.contains("\n\n")
        && cues::of(said, &Languages::of(text)).is_empty();
    let digits = line.contains(|c: char| c.is_ascii_digit());
    let value = last || is_letter || is_formula || digits || is_name;
    value.then(|| without_remark(text, from, from + line.len())).flatten()
}

/// What a line announces, without the remark behind it: "18 (we reject x = 17)". All values where
/// several are offered.
fn without_remark(text: &str, from: usize, to: usize) -> Option<Candidate<'_>> {
    let line = text.get(from..to)?;
    let from = from + line.len() - line.trim_start().len();
    let line = line.trim_start();
    if line.starts_with(|c: char| c.is_ascii_digit() || "-−$\\".contains(c)) {
        let said = from + afterthought::first_end(line)?;
        if let Some(new) = retraction::replaced(text.get(..to)?, said) {
            return Some(Candidate { provenance: Provenance::Marker, ..new });
        }
        if let Some(several) = afterthought::several(line) {
            let text = Cow::Owned(several);
            return Some(Candidate { text, span: (from, to), provenance: Provenance::Marker });
        }
    }
    slice(text, from, from + qualify::value_length(line), Provenance::Marker)
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
    without_remark(text, trimmed.len() - body.len(), trimmed.len())
}

/// Where the value of the member starts, if "answer" is the name of one.
pub(super) fn json_member(text: &str, at: usize) -> Option<usize> {
    let tail = text.get(at..)?;
    let rest = tail.strip_prefix("\\\"").or_else(|| tail.strip_prefix(['"', '\'']))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    Some(text.len() - rest.len())
}

/// Whether the name of the member that ends here, in "answer", is that of an answer: `final_answer` is,
/// `not_the_answer` is not.
pub(super) fn is_answer_member(text: &str, at: usize) -> bool {
    let Some(before) = at.checked_sub("answer".len()).and_then(|start| text.get(..start)) else {
        return false;
    };
    let is_in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let (_, words) = before.split_at(before.trim_end_matches(is_in_name).len());
    let mut words = words.split(['_', '-', ' ']).filter(|word| !word.is_empty());
    words.all(|word| MEMBER_WORDS.iter().any(|own| own.eq_ignore_ascii_case(word)))
}

/// `"answer": "18"`: the value of a member, perhaps in a fence or malformed.
pub(super) fn json_value(text: &str, start: usize) -> Option<Candidate<'_>> {
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

/// The length of a JSON string up to its closing quote, or to the end of its line where an object
/// is closed without it. `None` for a truncated text.
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

/// A JSON string as text. The backslash of a LaTeX command is kept, escaped or not.
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
