//! Remarks at the end of a text: sentences behind the one that states the answer, which neither take it
//! back nor offer another.

use std::collections::BTreeSet;
use std::ops::Range;

use super::cues::{self, Cue, Cues, Role};
use super::guess::Languages;
use super::sentences::{self, is_asked, is_unspaced};
use super::value;

/// The most sentences at the end of a text that may be remarks.
const REMARKS_MAX: usize = 10;
/// They are looked for in so many bytes.
const TAIL_MAX: usize = 2000;

/// Where the sentence ends that states the answer; `None` where remarks are not known from statements.
///
/// The sentences behind it are known for remarks by their words, have no value, or have only values that
/// the text had before. `bold` are the values in bold.
pub(crate) fn statement(text: &str, bold: &[(usize, usize)]) -> Option<Range<usize>> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL_MAX));
    let tail = text.get(from..)?;
    let mut ends: Vec<usize> = sentences::ends(tail).chain([tail.len()]).collect();
    ends.dedup();
    let has_numbers = tail.contains(char::is_numeric);
    let languages = Languages::of(text);
    let mut seen = None;
    let mut is_blocked = false;
    // Whether the sentences at the end neither conclude nor calculate.
    let mut is_plain = true;
    for _ in 0..=REMARKS_MAX {
        let end = ends.pop()?;
        let start = ends.last().copied().unwrap_or(0);
        let sentence = tail.get(start..end)?;
        let range = from + start..from + end;
        if !sentence.contains(char::is_alphanumeric) || is_asked(sentence) {
            continue;
        }
        let Cues { phrases: found, words } = cues::all(sentence, &languages);
        let has = |role| found.iter().any(|cue: &Cue| cue.is(role));
        let numbers = stated(sentence);
        let others = [Role::If, Role::Would, Role::Who, Role::Wrong, Role::Fixed];
        let of_others = words.iter().any(|word| word.is_any(&others));
        let is_remark = has(Role::Remark) || has(Role::Verify) || has(Role::Past) || of_others;
        let own = |(from, to): &(usize, usize)| range.start <= *from && *to <= range.end;
        let is_bold = bold.iter().any(own);
        // A sentence in bold states the answer, whatever is calculated behind it.
        let is_stressed =
            bold.iter().any(|span| own(span) && 2 * (span.1 - span.0) > sentence.trim().len());
        // Behind numbers a statement has one: "81. The idea was worth it."
        let has_value = !numbers.is_empty() || !has_numbers || sentence.contains(['$', '*']);
        let states = is_bold
            || has_value && (has(Role::Conclude) || has(Role::Result))
            || is_value(sentence);
        // "No other answer fits" states none.
        let is_denial = numbers.is_empty()
            && !is_bold
            && !sentence.contains('$')
            && (has(Role::NotOffer) || has(Role::Deny) || has(Role::Reaffirm));
        let is_remark = is_remark || is_denial;
        let is_doubted = has(Role::Suppose) || has(Role::Offer) || has(Role::Report);
        // "So the result is 42. I took it that a year has 365 days."
        let has_noun = has(Role::Result) || words.iter().any(|word| word.is(Role::Noun));
        let is_blocked_now = is_blocked && !(has(Role::Conclude) && has_noun && is_plain);
        if is_stressed && !is_doubted && end < tail.len() || states && !is_remark && !is_blocked_now
        {
            if is_doubted && end < tail.len() {
                return None;
            }
            return Some(trimmed(text, range));
        }
        is_plain &= !(states || has(Role::Result) || sentence.contains(['=', '$']));
        let is_new = |seen: &BTreeSet<&str>| !numbers.iter().all(|number| seen.contains(number));
        if !is_remark && !numbers.is_empty() {
            let before = seen.get_or_insert_with(|| self::numbers(&text[..range.start]).collect());
            is_blocked |= is_new(before);
        }
    }
    None
}

/// A place without the blanks at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let sentence = &text[range.clone()];
    let lead = sentence.len() - sentence.trim_start().len();
    range.start + lead..range.start + sentence.trim_end().len()
}

/// So many sentences at the end of a text are searched for a value.
const VALUED_WITHIN: usize = 4;

/// The last sentence with a number, where it states it: it neither asks nor supposes, speaks of nobody else, and
/// the text does not break off.
pub(crate) fn valued(text: &str) -> Option<Range<usize>> {
    const ASIDE: [Role; 7] =
        [Role::Would, Role::Who, Role::Wrong, Role::Guess, Role::May, Role::Doubt, Role::Undo];
    const DOUBTED: [Role; 5] = [Role::Verify, Role::Past, Role::Suppose, Role::Offer, Role::Report];
    let body = text.trim_end();
    let from = body.ceil_char_boundary(body.len().saturating_sub(TAIL_MAX));
    let tail = body.get(from..).filter(|tail| !tail.ends_with(char::is_alphanumeric))?;
    let starts = sentences::ends(tail).rev().filter(|start| *start < tail.len()).chain([0]);
    let mut end = tail.len();
    for start in starts.take(VALUED_WITHIN) {
        let sentence = tail.get(start..end)?;
        if !stated(sentence).is_empty() {
            let Cues { phrases, words } = cues::all(sentence, &Languages::of(text));
            // 「四捨五入すると」 is an ending, and no condition.
            let is_ending = |word: &Cue| {
                let own = sentence[word.span.clone()].trim_end();
                own.ends_with(
                    |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}'),
                )
            };
            let is_case = |word: &Cue| word.is(Role::If) && !is_ending(word);
            let is_aside = phrases.iter().any(|cue| cue.is_any(&DOUBTED))
                || words.iter().any(|word| word.is_any(&ASIDE) || is_case(word))
                || is_asked(sentence);
            return (!is_aside).then(|| trimmed(text, from + start..from + end));
        }
        end = start;
    }
    None
}

/// Whether a text begins with a check of the answer before it, or a remark.
pub(crate) fn begins(text: &str) -> bool {
    let end = sentences::ends(text).next().unwrap_or(text.len());
    let sentence = &text[..end];
    let found = cues::of(sentence, &Languages::of(text));
    found.iter().any(|cue| cue.is(Role::Verify) || cue.is(Role::Remark))
}

/// Whether a line is a value and nothing else.
fn is_value(sentence: &str) -> bool {
    let said = sentence.trim();
    let words = said.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic));
    let digits = said.contains(char::is_numeric);
    let is_letter = said.len() <= 5 && said.trim_matches(['(', ')', '*', '.', '$']).len() == 1;
    said.starts_with('$') && said.ends_with(['$', '.']) || is_letter || digits && words.count() == 0
}

/// The numbers of a text, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_numeric() || ".,".contains(c)))
        .map(|number| number.trim_matches(['.', ',']))
        .filter(|number| !number.is_empty())
}

/// The numbers of a sentence that are no names: "see chapter 3".
fn stated(sentence: &str) -> Vec<&str> {
    let mut at = 0;
    numbers(sentence)
        .filter(|number| {
            let start = at + sentence[at..].find(number).unwrap_or(0);
            at = start + number.len();
            let lead = sentence[..start].trim_end_matches([' ', '(']);
            !value::NAME_BEFORE.iter().any(|name| {
                let from = lead.len().checked_sub(name.len());
                let word = from.and_then(|from| lead.split_at_checked(from));
                word.is_some_and(|(before, word)| {
                    word.eq_ignore_ascii_case(name)
                        && (!before.ends_with(char::is_alphabetic) || word.contains(is_unspaced))
                })
            })
        })
        .collect()
}
