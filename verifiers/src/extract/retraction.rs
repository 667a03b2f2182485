//! Retracted answers, and the values that replace them.

use super::candidate::{Candidate, Provenance, slice};
use super::{qualify, sentence};
use crate::language::retract;

/// Only the end of a text is looked at.
const LOOKED_AT: usize = 300;
/// Between the retraction and the new value stand at most this many bytes.
const VERB_WITHIN: usize = 60;
/// A new value has at most this many words.
const WORDS_MAX: usize = 3;

/// "Wait, that is wrong. It is 41." behind the last announcement: the value that replaces it.
pub(super) fn replaced(text: &str, said: usize) -> Option<Candidate<'_>> {
    let from = text.ceil_char_boundary(said.max(text.len().saturating_sub(LOOKED_AT)));
    let after = text.get(from..)?;
    // Most texts end with their answer, and cost no more than this.
    if !after.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c)) {
        return None;
    }
    // In a remark, "wrong" refers to something other than the answer.
    let skipped = if qualify::is_remark(after) { sentence::sentence_end(after) } else { 0 };
    let from = from + skipped;
    let after = text.get(from..)?;
    let after = after.to_ascii_lowercase();
    let ends =
        retract::RETRACTIONS.iter().filter_map(|word| Some(last_word(&after, word)? + word.len()));
    let mut at = ends.max()?;
    let near = after.get(at..after.floor_char_boundary(at + VERB_WITHIN))?;
    // "No wait, 42": the value itself may follow.
    let verb =
        retract::VERBS.iter().filter_map(|verb| Some(first_word(near, verb)? + verb.len())).min();
    let skipped = near.trim_start_matches([' ', ',', ':', '.', ';', '，', '、', '。']);
    at += verb.unwrap_or(near.len() - skipped.len());
    let value = after.get(at..)?.starts_with(|c: char| c.is_ascii_digit() || "-$\\".contains(c));
    let (start, end) = value.then(|| sentence::span_of_answer(text, from + at)).flatten()?;
    let found = slice(text, start, end, Provenance::Anchor)?;
    let boxed = found.text.contains("\\box");
    (!boxed && found.text.split_whitespace().count() <= WORDS_MAX).then_some(found)
}

/// Where a phrase last starts as a word.
fn last_word(text: &str, phrase: &str) -> Option<usize> {
    text.rmatch_indices(phrase).map(|(at, _)| at).find(|at| starts_word(text, *at, phrase))
}

/// Where a phrase first starts as a word.
fn first_word(text: &str, phrase: &str) -> Option<usize> {
    text.match_indices(phrase).map(|(at, _)| at).find(|at| starts_word(text, *at, phrase))
}

fn starts_word(text: &str, at: usize, phrase: &str) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    phrase.starts_with(qualify::is_unspaced) || !before.is_some_and(char::is_alphabetic)
}
