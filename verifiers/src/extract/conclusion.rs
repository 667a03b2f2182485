//! "Therefore, there are 12 ways. I hope this helps!": what the last sentence concludes.
//!
//! The weakest kind of announcement: a sentence that states one value without doubt.

use super::candidate::{Candidate, Provenance, slice};
use super::words::is_one_of;
use super::{last_sentence, qualify};
use crate::language::{conclude, hedge, remark};

/// The longest concluding sentence, in bytes.
const SENTENCE_MAX: usize = 600;
/// The most closing courtesies that are skipped.
const COURTESIES_MAX: usize = 4;

/// The most words behind the verb of a sentence with several values.
const SEVERAL_WORDS_MAX: usize = 12;

/// The value that the last sentence concludes.
pub(super) fn find(text: &str) -> Option<Candidate<'_>> {
    let (from, to) = last_sentence(text)?;
    let sentence = text.get(from..to)?;
    if sentence.len() > SENTENCE_MAX || !concludes(sentence) {
        return None;
    }
    let number = last_sentence::last_number(sentence, from)?;
    let (start, end) = number.span;
    let (before, after) = (text.get(from..start)?, text.get(end..to)?);
    // A dollar before the number alone is a currency.
    let before = if after.contains('$') { before } else { before.trim_end_matches(['$', '\\']) };
    if before.matches('$').count() % 2 == 1 || before.contains('\\') || after.contains('\\') {
        return formula(text, (from, to));
    }
    let named = before.contains('$') || before.contains(['=', '<', '>']);
    let last_word = before.split_whitespace().next_back().unwrap_or_default();
    let led = is_one_of(conclude::BEFORE, last_word);
    let another = before.contains(|c: char| c.is_ascii_digit());
    (!(named || led || another) && last_sentence::stands_free(text.get(..to)?, from, number.span))
        .then_some(number)
}

/// Several values behind the verb of the last sentence: "the roots are x = 1 and x = 2", "it is
/// 3:15 PM". One value alone is better found from the end.
pub(super) fn several(text: &str) -> Option<Candidate<'_>> {
    let (from, to) = last_sentence(text)?;
    let sentence = text.get(from..to).filter(|sentence| sentence.len() <= SENTENCE_MAX)?;
    let verb =
        conclude::VERBS.iter().filter_map(|verb| Some((sentence.find(verb)?, verb.len()))).min()?;
    let (before, said) = sentence.split_at_checked(verb.0 + verb.1)?;
    let values = said.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '/')));
    let values = values.filter(|run| run.contains(|c: char| c.is_ascii_digit())).count();
    let plain = !before.contains(|c: char| c.is_ascii_digit() || "$\\=?".contains(c));
    let words = said.split_whitespace().count();
    let digit = |c: char| c.is_ascii_digit();
    let first = said.split_whitespace().take_while(|word| !word.contains(digit)).any(is_doubted);
    let doubted = sentence.contains(['?', '$', '\\']) || is_doubted(before) || first || {
        qualify::qualifier(before, said).is_some() || qualify::is_unsaid(before)
    };
    (plain && values > 1 && words <= SEVERAL_WORDS_MAX && !doubted)
        .then(|| slice(text, from + before.len(), to, Provenance::LastMath))
        .flatten()
}

/// The formula that ends the sentence, where it is the only one.
fn formula(text: &str, (from, to): (usize, usize)) -> Option<Candidate<'_>> {
    let found = last_sentence::last_math(text.get(..to)?, from)?;
    let (start, end) = found.span;
    let (before, after) = (text.get(from..start)?, text.get(end..to)?);
    let marks = ['$', '\\', '(', '[', ' ', '*'];
    let said = before.trim_end_matches(marks);
    let only = !said.contains(['$', '\\']) && !said.contains(|c: char| c.is_ascii_digit());
    let ends = !after.contains(|c: char| c.is_ascii_digit())
        && !after.trim_start_matches(['$', '\\', ')', ']']).contains(['$', '\\'])
        && after.split_whitespace().count() <= 3;
    let value = found.text.contains(|c: char| c.is_ascii_digit());
    let found = Candidate { provenance: Provenance::LastMath, ..found };
    (only && ends && value).then_some(found)
}

/// Whether a sentence begins as a conclusion does, and asks and doubts nothing.
fn concludes(sentence: &str) -> bool {
    let lead = sentence.trim_start_matches(['*', '-', ' ', '_', '#', '>']);
    let begins = conclude::BEGINNINGS.iter().any(|word| {
        let head = lead.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        head && lead.get(word.len()..).is_some_and(|rest| rest.starts_with([' ', ',', ':']))
    });
    begins && !is_doubted(sentence)
}

/// Whether a sentence asks, or has a word of doubt.
pub(super) fn is_doubted(sentence: &str) -> bool {
    sentence.contains('?')
        || sentence.contains("n't")
        || sentence.split(|c: char| !c.is_alphanumeric()).any(|word| is_one_of(hedge::DOUBTS, word))
}

/// Whether the last sentence of a text asks, or has a word of doubt.
pub(super) fn doubts(text: &str) -> bool {
    last_sentence(text).and_then(|(from, to)| text.get(from..to)).is_some_and(is_doubted)
}

/// The span of the last sentence that is not a courtesy.
pub(super) fn last_sentence(text: &str) -> Option<(usize, usize)> {
    let mut end = text.trim_end().len();
    for _ in 0..=COURTESIES_MAX {
        let body = text.get(..end)?.trim_end_matches(['.', '!', ' ', '*', '\n', '\r', '_']);
        let start = start_of_last(body);
        let sentence = text.get(start..end)?;
        let lower: String =
            sentence.chars().skip_while(|c| !c.is_alphabetic()).take(200).collect::<String>();
        let lower = lower.to_ascii_lowercase().replace('’', "'");
        let courtesy = remark::COURTESIES.iter().any(|courtesy| lower.starts_with(courtesy));
        let more = lower.contains(" but ") || sentence.contains(|c: char| c.is_ascii_digit());
        if !courtesy || more {
            return Some((start, body.len()));
        }
        end = text.get(..start)?.trim_end().len();
    }
    None
}

/// Where the last sentence of a text starts: behind a line, or behind a mark and a space.
fn start_of_last(body: &str) -> usize {
    let line = body.rfind('\n').map_or(0, |at| at + 1);
    let marks = [". ", "! ", "? ", ".) ", ".$ ", ".** "];
    let mark = marks.iter().filter_map(|mark| Some(body.rfind(mark)? + mark.len())).max();
    line.max(mark.unwrap_or(0))
}
