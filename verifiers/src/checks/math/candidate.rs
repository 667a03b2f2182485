//! Which of the candidates is taken for the answer.

use crate::extract::{Candidate, Provenance, is_unspaced, number_in_prose};
use crate::language::value;
use crate::math::algebra::Context;
use crate::math::reading::{self, Reading};
use crate::math::stop::Stop;
use crate::math::syntax::units;
use crate::math::values::Value;

/// An answer that was chosen among the candidates, and what it may mean.
pub(super) struct Chosen<'a> {
    pub(super) candidate: Candidate<'a>,
    pub(super) reading: Reading,
    pub(super) values: Vec<Value>,
}

/// The first candidate that can be taken for an answer.
pub(super) fn choose<'a>(
    candidates: &[Candidate<'a>],
    textual: bool,
    cx: &mut Context,
) -> Result<Option<Chosen<'a>>, Stop> {
    for (at, candidate) in candidates.iter().enumerate() {
        let reading = reading::read(&candidate.text, true, cx)?;
        let values = reading.values(cx)?;
        let text = |value: &Value| matches!(value, Value::Text(_));
        let boxed = |other: &Candidate<'_>| other.provenance == Provenance::Boxed;
        let is_remark = candidates.get(at + 1..).is_some_and(|rest| rest.iter().any(boxed))
            && (reading.is_bound() || begins_in_words(&candidate.text));
        let is_sentence =
            candidate.provenance == Provenance::Whole && is_foreign_prose(&candidate.text);
        let prose = is_sentence
            || (!values.is_empty() && values.iter().all(text)) || wordy(&candidate.text) || is_remark;
        let taken = match candidate.provenance {
            Provenance::Boxed => true,
            _ if !prose => true,
            Provenance::Marker | Provenance::Json => {
                textual || !is_prose(&candidate.text) || number_in_prose(candidate, false).is_none()
            }
            Provenance::Anchor => textual && short(&candidate.text),
            Provenance::Whole => textual,
            Provenance::LastMath | Provenance::LastNumber => false,
        };
        if taken {
            return Ok(Some(Chosen { candidate: candidate.clone(), reading, values }));
        }
        let only = candidate.provenance == Provenance::Anchor;
        let announced =
            only || matches!(candidate.provenance, Provenance::Marker | Provenance::Json);
        if let (true, Some(candidate)) = (announced, number_in_prose(candidate, only)) {
            let reading = reading::read(&candidate.text, true, cx)?;
            let values = reading.values(cx)?;
            return Ok(Some(Chosen { candidate, reading, values }));
        }
    }
    Ok(None)
}

/// The answer with the unit that follows it in the text: "the current is 5 mA", of which the
/// number was found.
pub(super) fn with_unit<'a>(
    chosen: Chosen<'a>,
    text: &str,
    cx: &mut Context,
) -> Result<Chosen<'a>, Stop> {
    let Chosen { candidate, values, .. } = &chosen;
    let (from, to) = candidate.span;
    let unit = text.get(to..).and_then(units::behind);
    let (Some(unit), [value]) = (unit, values.as_slice()) else { return Ok(chosen) };
    if !value.is_unmarked() || text.get(from..to) != Some(candidate.text.as_ref()) {
        return Ok(chosen);
    }
    let whole = format!("{} {unit}", candidate.text);
    let reading = reading::read(&whole, true, cx)?;
    let values = reading.values(cx)?;
    Ok(Chosen { reading, values, ..chosen })
}

/// The candidates without announcements inside of what a marker holds, where that is no sentence:
/// "12 : 35" between tags called "answer".
pub(super) fn outermost(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let is_marker = |candidate: &&Candidate<'_>| {
        candidate.provenance == Provenance::Marker && !is_prose(&candidate.text)
    };
    let markers: Vec<_> = candidates.iter().filter(is_marker).map(|marker| marker.span).collect();
    candidates.retain(|candidate| {
        let from = candidate.span.0;
        candidate.provenance != Provenance::Anchor
            || !markers.iter().any(|marker| (marker.0..marker.1).contains(&from))
    });
    candidates
}

/// Whether a text goes on a sentence and states no value: "an integer", "in simplest form".
fn begins_in_words(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let first = words.next().is_some_and(|word| value::SENTENCE_BEGINNINGS.contains(&word));
    first && words.next().is_none_or(|word| word.starts_with(|c: char| c.is_alphabetic()))
}

/// Whether a text is a sentence with numbers rather than a value with a few words.
fn wordy(text: &str) -> bool {
    let word = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    text.split_whitespace().filter(word).count() > 5
}

/// Whether a text says its numbers in words, and does not only set them side by side.
fn is_prose(text: &str) -> bool {
    let word = |word: &&str| {
        let letters = word.trim_matches(|c: char| c.is_ascii_punctuation());
        letters.len() > 1 && !word.contains('\\') && letters.chars().all(char::is_alphabetic)
    };
    text.split_whitespace().filter(word).nth(1).is_some()
        || text.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
}

/// Whether a text has several words, and letters with which English does without: "Logo, x = 26, como queríamos".
fn is_foreign_prose(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphabetic() && !is_unspaced(c) && !('α'..='ω').contains(&c);
    let words = text.split(|c: char| !is_letter(c)).filter(|word| word.chars().nth(1).is_some());
    text.chars().any(|c| is_letter(c) && !c.is_ascii()) && words.take(3).count() == 3
}

fn short(text: &str) -> bool {
    text.len() <= 100 && text.split_whitespace().count() <= 6
}
