//! Finding the answer in a completion.
//!
//! What is announced counts, and the last announcement counts most. Text that was hidden (a chain
//! of thought, a code block) announces nothing.

mod anchors;
mod boxes;
mod tail;

use std::borrow::Cow;

pub(super) use tail::last_number;

use super::settings::Policy;
use crate::fault::Fault;
use crate::meter::Meter;

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
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
    pub(super) fn name(self) -> &'static str {
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
pub(super) struct Candidate<'a> {
    pub(super) text: Cow<'a, str>,
    /// Byte offsets into the completion.
    pub(super) span: (usize, usize),
    pub(super) provenance: Provenance,
}

/// The longest completion that is tried as a bare answer, in bytes.
const WHOLE_BYTES_MAX: usize = 4000;

/// The candidates of a completion, the best first.
pub(super) fn candidates<'a>(
    text: &'a str,
    policy: Policy,
    hidden: bool,
    meter: &mut Meter<'_>,
) -> Result<Vec<Candidate<'a>>, Fault> {
    meter.spend(20 + 2 * text.len() as u64)?;
    let (from, visible) = if hidden { (0, text) } else { visible(text) };
    let mut found = Vec::new();
    let fences = if hidden { Vec::new() } else { fences(visible) };
    if matches!(policy, Policy::Auto | Policy::Boxed) {
        found.extend(boxes::last_group(visible, &fences));
    }
    if matches!(policy, Policy::Auto | Policy::Anchor) {
        found.extend(anchors::find(visible, &fences, meter)?);
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
    }
    if matches!(policy, Policy::Auto | Policy::Whole)
        && fences.is_empty()
        && visible.len() <= WHOLE_BYTES_MAX
    {
        found.extend(whole(visible));
    }
    match policy {
        Policy::Auto => found.extend(tail::last_sentence(visible)),
        Policy::LastNumber => found.extend(tail::last_number(visible, 0)),
        _ => {}
    }
    for candidate in &mut found {
        candidate.span = (candidate.span.0 + from, candidate.span.1 + from);
    }
    Ok(found)
}

/// The answer that a reference gives: its box, what follows `####`, or the whole of it.
pub(super) fn reference(text: &str) -> Cow<'_, str> {
    if let Some(found) = boxes::last_group(text, &[]) {
        return found.text;
    }
    match text.rfind("####") {
        Some(at) => Cow::Borrowed(text.get(at + 4..).unwrap_or_default().trim()),
        None => Cow::Borrowed(text.trim()),
    }
}

/// What stands outside of the chain of thought, and where it starts.
fn visible(text: &str) -> (usize, &str) {
    if let Some(end) = text.rfind("</think>") {
        let from = end + "</think>".len();
        return (from, text.get(from..).unwrap_or_default());
    }
    match text.find("<think>") {
        Some(start) => (0, text.get(..start).unwrap_or_default()),
        None => (0, text),
    }
}

/// The ranges of fenced code blocks.
fn fences(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut open = None;
    for (at, _) in text.match_indices("```") {
        match open.take() {
            Some(start) => ranges.push((start, at + 3)),
            None => open = Some(at),
        }
    }
    ranges.extend(open.map(|start| (start, text.len())));
    ranges
}

fn in_fence(at: usize, fences: &[(usize, usize)]) -> bool {
    let next = fences.partition_point(|(_, end)| *end <= at);
    fences.get(next).is_some_and(|(start, _)| *start <= at)
}

fn whole(text: &str) -> Option<Candidate<'_>> {
    slice(text, 0, text.len(), Provenance::Whole)
}

/// The trimmed text between two offsets, unless it is empty.
fn slice(text: &str, from: usize, to: usize, provenance: Provenance) -> Option<Candidate<'_>> {
    let part = text.get(from..to)?;
    let start = from + part.len() - part.trim_start().len();
    let part = part.trim();
    (!part.is_empty()).then(|| Candidate {
        text: Cow::Borrowed(part),
        span: (start, start + part.len()),
        provenance,
    })
}
