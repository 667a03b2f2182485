//! Candidates: texts that may be the answer, and how they were found.

use std::borrow::Cow;

use super::hidden;
use crate::math::syntax::text::trimmed_start;

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// `\boxed{18}`.
    Boxed,
    /// `#### 18`, `A: 18`, `<answer>18</answer>`: a format that the prompt asked for.
    Marker,
    /// The member of a JSON object.
    Json,
    /// "the answer is 18".
    Anchor,
    /// The completion is nothing but the answer.
    Whole,
    /// The formula that ends the last sentence.
    LastMath,
    /// The number that ends the last sentence.
    LastNumber,
}

crate::words! {
    Provenance, name:
    Boxed "boxed", Marker "marker", Json "json", Anchor "anchor", Whole "whole",
    LastMath "last-math", LastNumber "last-number",
}

/// A text that may be the answer.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// What is announced, to the end of its sentence. It is not always a part of the completion:
    /// boxes that stand beside each other are joined.
    pub text: Cow<'a, str>,
    /// Byte offsets into the text of the scope.
    pub span: (usize, usize),
    /// How it was found.
    pub provenance: Provenance,
}

/// The trimmed text between two offsets, unless it is empty.
pub(super) fn slice(
    text: &str,
    from: usize,
    to: usize,
    provenance: Provenance,
) -> Option<Candidate<'_>> {
    let part = text.get(from..to)?;
    let start = from + part.len() - trimmed_start(part).len();
    let part = trimmed_start(part).trim_end();
    let text = hidden::shown(part).filter(|text| !text.is_empty())?;
    Some(Candidate { text, span: (start, start + part.len()), provenance })
}
