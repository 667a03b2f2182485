//! Finding the answer in a completion.
//!
//! What is announced counts, and the last announcement counts most. Text that was hidden (a chain
//! of thought, a code block) announces nothing.

mod anchors;
mod boxes;
mod conclusion;
mod retracted;
mod scope;
mod tail;
mod words;

use std::borrow::Cow;

pub(crate) use scope::Scope;
pub(crate) use tail::last_number;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::meter::Meter;

/// Where the answer is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The last box or announced answer; without one, a bare answer or the number that ends the
    /// last sentence.
    #[default]
    Auto,
    /// `\boxed{}` and its like only.
    Boxed,
    /// Announced answers only: "the answer is", `#### 18`, `"answer": "18"`, `<answer>`.
    Anchor,
    /// The last number of the text.
    LastNumber,
    /// The whole text is the answer.
    Whole,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    Boxed,
    /// `#### 18`, `A: 18`, `<answer>18</answer>`: a format that the prompt asked for.
    Marker,
    /// The member of a JSON object.
    Json,
    /// "the answer is 18".
    Anchor,
    /// The completion is nothing but the answer.
    Whole,
    LastMath,
    LastNumber,
}

impl Provenance {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Boxed => "boxed",
            Self::Marker => "marker",
            Self::Json => "json",
            Self::Anchor => "anchor",
            Self::Whole => "whole",
            Self::LastMath => "last-math",
            Self::LastNumber => "last-number",
        }
    }
}

/// A text that may be the answer.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Byte offsets into the completion.
    pub(crate) span: (usize, usize),
    pub(crate) provenance: Provenance,
}

/// A reference of more words is a solution, where it has formulas or announces its answer.
const SOLUTION_WORDS: usize = 20;
/// What a solution announces is a value of at most this many words.
const ANNOUNCED_WORDS: usize = 6;
/// What looking for announcements in a reference may cost; its length is paid for by the caller.
const REFERENCE_FUEL: u64 = 10_000;
/// The longest completion that is tried as a bare answer, in bytes.
const WHOLE_BYTES_MAX: usize = 4000;

/// The answers that a completion announces, the best first.
pub(crate) fn announced<'a>(
    scope: &Scope<'a>,
    policy: Policy,
    meter: &mut Meter<'_>,
) -> Result<Vec<Candidate<'a>>, Fault> {
    let mut found = Vec::new();
    if matches!(policy, Policy::Auto | Policy::Boxed) {
        found.extend(boxes::last_group(scope));
    }
    if matches!(policy, Policy::Auto | Policy::Anchor) {
        anchors::find(scope, &mut found, meter)?;
        // An announcement of a box adds nothing to the box, and what is said around an object that
        // has an answer is commentary.
        let json = found.iter().any(|candidate| candidate.provenance == Provenance::Json);
        found.retain(|candidate| {
            candidate.provenance != Provenance::Anchor
                || !(json || candidate.text.contains("\\boxed"))
        });
        // The one that ends last was said last.
        found.sort_by_key(|candidate| {
            std::cmp::Reverse((candidate.span.1, candidate.provenance == Provenance::Boxed))
        });
        let said = found.first().map(|last| last.span.1);
        if let Some(new) = said.and_then(|said| retracted::replaced(scope.text, said)) {
            found.insert(0, new);
        }
    }
    Ok(found)
}

/// What may be the answer of a completion whose announcements are none.
pub(crate) fn unannounced<'a>(scope: &Scope<'a>, policy: Policy) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    if matches!(policy, Policy::Auto | Policy::Whole)
        && !scope.fenced
        && scope.text.len() <= WHOLE_BYTES_MAX
    {
        found.extend(slice(scope.text, 0, scope.text.len(), Provenance::Whole));
    }
    match policy {
        Policy::Auto => {
            found.extend(tail::last_sentence(scope.text));
            found.extend(conclusion::find(scope.text));
        }
        Policy::LastNumber => found.extend(tail::last_number(scope.text, 0)),
        _ => {}
    }
    found
}

/// The answer that a reference gives: its box, what follows `####`, or the whole of it.
pub(crate) fn reference(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\\', b'#', text.as_bytes()).is_none() {
        return plain_reference(text);
    }
    if let Some(found) = boxes::last_group(&Scope::all(text)) {
        return found.text;
    }
    match text.rfind("####") {
        Some(at) => Cow::Borrowed(text.get(at + 4..).unwrap_or_default().trim()),
        None => plain_reference(text),
    }
}

/// A reference without marks: all of it, or what a whole solution announces, else what its last
/// sentence comes to.
fn plain_reference(text: &str) -> Cow<'_, str> {
    let whole = trimmed_start(text).trim_end();
    if whole.split_whitespace().nth(SOLUTION_WORDS).is_none() {
        return Cow::Borrowed(whole);
    }
    let said = announced_in_solution(whole).or_else(|| {
        let formulas = whole.contains('$');
        formulas
            .then(|| tail::last_sentence(whole).or_else(|| conclusion::find(whole)))
            .flatten()
            .map(|found| found.text)
    });
    said.unwrap_or(Cow::Borrowed(whole))
}

/// The last value that a solution announces. What is said behind it, even that it is wrong, takes
/// nothing back: the reference is right by definition.
fn announced_in_solution(text: &str) -> Option<Cow<'_, str>> {
    let mut found = Vec::new();
    anchors::find(&Scope::all(text), &mut found, &mut Meter::new(REFERENCE_FUEL)).ok()?;
    found.retain(|candidate| {
        let words = candidate.text.split_whitespace();
        candidate.provenance == Provenance::Anchor
            && words.count() <= ANNOUNCED_WORDS
            && candidate.text.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c))
    });
    found.into_iter().max_by_key(|candidate| candidate.span.1).map(|candidate| candidate.text)
}

/// Without the space in front. A tab or a form feed before a letter may be what an escape sequence
/// made of `\\text` or `\\frac`.
pub(crate) fn trimmed_start(text: &str) -> &str {
    let mut rest = text;
    while let Some(first) = rest.chars().next().filter(|c| c.is_whitespace()) {
        let tail = rest.get(first.len_utf8()..).unwrap_or_default();
        if matches!(first, '\t' | '\u{c}') && tail.starts_with(|c: char| c.is_ascii_lowercase()) {
            break;
        }
        rest = tail;
    }
    rest
}

/// The trimmed text between two offsets, unless it is empty.
fn slice(text: &str, from: usize, to: usize, provenance: Provenance) -> Option<Candidate<'_>> {
    let part = text.get(from..to)?;
    let start = from + part.len() - trimmed_start(part).len();
    let part = trimmed_start(part).trim_end();
    (!part.is_empty()).then(|| Candidate {
        text: Cow::Borrowed(part),
        span: (start, start + part.len()),
        provenance,
    })
}
