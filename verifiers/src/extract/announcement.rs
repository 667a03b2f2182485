//! Announced answers: "the answer is 18", "Answer: 18", "答案是18", "La respuesta es 18".
//!
//! One table of stems and verbs for the languages in which models answer. English comes first and
//! is found by the rarest letter of "answer"; the other languages are looked for in one pass by an
//! automaton that is built once.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memrchr2;

use super::candidate::{Candidate, Provenance, slice};
use super::negation::has_negation;
use super::sentence::{self, span_of_answer};
use super::words::is_one_of;
use super::{afterthought, qualify, resolved, run_on};
use crate::language::{announce, deny};

/// Only the last few announcements are looked at.
const LOOKED_AT_MAX: usize = 16;
/// Between the stem and its verb stand at most this many bytes.
const VERB_WITHIN: usize = 80;

/// An announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    /// What is announced, to the end of its sentence; the whole formula where it is one. It may be
    /// a sentence with the answer in it.
    pub(super) said: Range<usize>,
    /// The words around it negate it or make it hypothetical: "the answer is not 4", "suppose the
    /// answer is 4". Such a value is not an answer.
    pub(super) is_unsaid: bool,
}

static FOREIGN: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let stems: Vec<String> =
        announce::STEMS.iter().flat_map(|stem| [(*stem).to_owned(), capital(stem)]).collect();
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(stems)
        .ok()
});

/// The stem with a capital letter: the automaton ignores case in ASCII alone.
fn capital(stem: &str) -> String {
    let mut chars = stem.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// Places behind the last words "answer", whatever their case, the last one first. They are found
/// by their rarest letter.
pub(super) fn english(text: &str) -> Vec<usize> {
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

/// The announcement by the word "answer" that ends at `at`: "the answer is 18", "**Answer** 18".
pub(super) fn by_answer(text: &str, at: usize) -> Option<Announcement> {
    let tail = text.get(at..)?;
    let tail = tail.strip_prefix('s').unwrap_or(tail);
    // The name of a tag announces nothing.
    if tail.starts_with(|c: char| c.is_alphanumeric() || c == '>') {
        return None;
    }
    let cue = at.saturating_sub(6);
    let start = text.len() - tail.len() + heading(text, cue, tail).or_else(|| verb(tail))?;
    announcement(text, cue..start)
}

/// The length of what leads from "answer" to the value below it, where the word is a heading:
/// "## Final answer", "**Answer**".
fn heading(text: &str, cue: usize, tail: &str) -> Option<usize> {
    let before = text.get(..cue)?.rsplit('\n').next()?;
    let words = before.trim_start_matches(['#', '*', '_', ' ']);
    let is_marked = before.starts_with(['#', '*', '_']);
    let words = words.trim();
    let named = words.is_empty() || is_one_of(announce::HEADING_LEADS, words);
    let line = tail.find('\n')?;
    let ends = tail.get(..line)?.trim_matches(['*', '_', ' ', ':', '#', '\r']).is_empty();
    let below = tail.get(line..)?.trim_start();
    let value = below.split('\n').next()?.trim_matches(['*', '_', ' ']);
    (is_marked && named && ends && run_on::is_value(value)).then(|| tail.len() - below.len())
}

/// The last announcements in other languages and by other words behind the byte `near`, the last
/// one first.
pub(super) fn foreign(text: &str, near: usize) -> Vec<Announcement> {
    let Some(stems) = FOREIGN.as_ref() else { return Vec::new() };
    let mut places: Vec<Range<usize>> = Vec::new();
    for found in stems.find_iter(&text[near..]) {
        let found = near + found.start()..near + found.end();
        let starts = text.get(..found.start).is_some_and(|head| {
            let stem = &text[found.clone()];
            !stem.starts_with(|c: char| c.is_alphabetic() && !qualify::is_unspaced(c))
                || !head.ends_with(|c: char| c.is_alphabetic() && !qualify::is_unspaced(c))
        });
        if starts {
            places.push(found);
        }
    }
    let last = places.iter().rev().take(LOOKED_AT_MAX);
    last.filter_map(|stem| by_stem(text, stem.clone())).collect()
}

/// The announcement by one of [`announce::STEMS`].
fn by_stem(text: &str, stem: Range<usize>) -> Option<Announcement> {
    let mut start = stem.end;
    let noun = text.get(stem.clone())?;
    let mut said = noun.ends_with([':', '=', '：', '.']) || noun.ends_with(['은', '이']);
    let mut denied = false;
    // Adjectives and endings may stand before the first verb, and verbs in a row.
    for round in 0..4 {
        let rest = text.get(start..)?;
        let near = rest.get(..rest.floor_char_boundary(VERB_WITHIN))?;
        let reach = if said { leading(near) } else { within(near) };
        let Some((before, verb)) = next_verb(near, reach, round == 0) else { break };
        denied |= has_negation(&near[..before]);
        said = true;
        start += before + verb;
    }
    let next = text.get(start..)?.trim_start_matches([' ', '*', '_', '\n']);
    let value = next.starts_with(|c: char| {
        c.is_ascii_digit() || c.is_ascii_uppercase() || "$\\-(（".contains(c)
    });
    if !(said || value) {
        return None;
    }
    let filler = announce::FILLERS.iter().find(|filler| qualify::starts_with(next, &[**filler]));
    if let Some(filler) = filler {
        start = text.len() - next.len() + filler.len();
    }
    let mut found = announcement(text, stem.start..start)?;
    let inner = text.get(found.said.clone())?;
    found.is_unsaid |= denied;
    let end = inner.find(['。', '；', '！', '।']).unwrap_or(inner.len());
    let inner = inner.get(..end)?.trim_end_matches(['.', '*', ' ', '!']);
    found.is_unsaid |= has_negation(inner.split_whitespace().next_back().unwrap_or_default())
        || qualify::ends_with(inner, announce::DENIED_ENDS);
    let copula = announce::COPULAS.iter().find_map(|copula| inner.strip_suffix(copula));
    found.said.end = found.said.start + copula.unwrap_or(inner).trim_end().len();
    (!found.said.is_empty()).then_some(found)
}

/// The bytes between a stem and its verb: to the end of the clause, or to what may be the value.
fn within(near: &str) -> usize {
    near.find(|c: char| c.is_ascii_digit() || "\n.,;$\\。，；".contains(c)).unwrap_or(near.len())
}

/// The bytes in front of the next verb of a row.
fn leading(near: &str) -> usize {
    near.len() - near.trim_start_matches([' ', '*', '_', '\n']).len()
}

/// Where the next verb starts, at the latest after `reach` bytes, and its length.
fn next_verb(near: &str, reach: usize, first: bool) -> Option<(usize, usize)> {
    let head = near.get(..near.floor_char_boundary(reach + 24))?;
    let places = head.char_indices().map(|(at, _)| at).take_while(|at| *at <= reach);
    let mut before: Option<char> = None;
    for at in places {
        let rest = head.get(at..)?;
        let c = rest.chars().next()?;
        let inner = c.is_alphabetic() && !qualify::is_unspaced(c);
        let starts = !(inner && before.is_some_and(|c| c.is_alphanumeric() || c == '\''));
        before = Some(c);
        if !starts {
            continue;
        }
        let verbs = announce::VERBS.iter().filter(|verb| qualify::starts_with(rest, &[**verb]));
        if let Some(verb) = verbs.max_by_key(|verb| verb.len()) {
            return Some((at, verb.len()));
        }
        if !first && !c.is_whitespace() && !"*_".contains(c) {
            return None;
        }
    }
    None
}

/// What the last announcements of a text deny or suppose, in any language.
pub(super) fn unsaid(text: &str, near: usize) -> Vec<Range<usize>> {
    let english = english(text).into_iter().filter_map(|at| by_answer(text, at));
    let unsaid = english.chain(foreign(text, near)).filter(|said| said.is_unsaid);
    unsaid.map(|unsaid| unsaid.said).collect()
}

/// Whether what is announced begins with a negation of a value: "not 4", "neither A nor B". "No"
/// and "not prime" are answers.
fn denies_value(said: &str) -> bool {
    // The command of `\text{No solution}` begins no value.
    let said = said.strip_prefix("\\text{").unwrap_or(said);
    let mut words = said.split([' ', ',']).filter(|word| !word.is_empty());
    let negation = words.next().is_some_and(has_negation);
    let mut value = || {
        said.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c))
            || words.next().is_some_and(|word| {
                let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
                letters.chars().count() == 1 || is_one_of(announce::NOUNS, letters)
            })
    };
    negation && value()
}

/// The announcement of what follows a cue.
fn announcement(text: &str, cue: Range<usize>) -> Option<Announcement> {
    let (from, to) = span_of_answer(text, cue.end)?;
    let before = text.get(..cue.start)?;
    let is_unsaid = qualify::is_unsaid(before)
        || has_negation(text.get(cue.clone())?)
        || denies_value(text.get(from..to)?);
    Some(Announcement { said: from..to, is_unsaid })
}

/// The length of what leads from "answer" to the answer itself.
fn verb(tail: &str) -> Option<usize> {
    let near = tail.get(..tail.floor_char_boundary(VERB_WITHIN))?;
    let bold = near.len() - near.trim_start_matches(['*', '_', ' ', '\'', '"', '`']).len();
    let head = near.get(bold..)?;
    if let Some(rest) = head.strip_prefix([':', '=', '：', '|']) {
        return Some(near.len() - rest.trim_start_matches(['*', '_']).len());
    }
    if near.get(..bold)?.contains("**") && !head.starts_with([',', '.', '\n']) && !is_verb(head) {
        return Some(bold);
    }
    let line = near.split('\n').next()?;
    let line = line.split(". ").next()?;
    let (verb_at, verb) = announce::ANSWER_VERBS
        .iter()
        .filter_map(|verb| Some((find_word(line, verb)?, *verb)))
        .min()?;
    let after = near.get(verb_at + verb.len()..)?;
    let skipped = after.trim_start_matches([':', ' ', '*', '_']);
    Some(near.len() - skipped.len())
}

fn is_verb(head: &str) -> bool {
    announce::CONTINUING.iter().any(|word| head.starts_with(word))
}

/// Where a verb stands as a whole word.
fn find_word(line: &str, verb: &str) -> Option<usize> {
    line.match_indices(verb).map(|(at, _)| at).find(|at| {
        let after = line.get(at + verb.len()..).and_then(|rest| rest.chars().next());
        verb == ":" || !after.is_some_and(|c| c.is_alphanumeric() || c == '\'')
    })
}

/// The length of a plain number without the marks of exclamation behind it, which make no factorial:
/// several, apart from it, or with a mark of joy behind them.
fn shouted(said: &str) -> Option<usize> {
    let number = said.find(|c: char| !(c.is_ascii_digit() || ",.-".contains(c)))?;
    let behind = said.get(number..).filter(|_| number > 0)?;
    let marks = behind.matches('!').count();
    let plain =
        behind.chars().all(|c| c == '!' || c == ' ' || !(c.is_ascii() || c.is_alphabetic()));
    let shouts = marks > 1 || behind.starts_with(' ') || !behind.is_ascii();
    (marks > 0 && plain && shouts).then_some(number)
}

/// The candidate of an announcement: none where it is denied, but the value of "not 3 but 4"; all
/// values where several are offered; the items of a list.
pub(super) fn sentence<'a>(text: &'a str, said: &Announcement) -> Option<Candidate<'a>> {
    if let Some(settled) = resolved::find(text, &said.said) {
        return Some(settled);
    }
    let (mut from, to) = (said.said.start, said.said.end);
    if said.is_unsaid {
        let inner = text.get(from..to)?;
        let denial = qualify::starts_with(inner, deny::NOT);
        from += inner.find(" but ").filter(|_| denial)? + " but ".len();
    }
    let inner = text.get(from..to)?;
    if let Some(items) = sentence::items(inner, "").filter(|_| inner.contains('\n')) {
        let text = Cow::Owned(items.join(", "));
        return Some(Candidate { text, span: (from, to), provenance: Provenance::Anchor });
    }
    if let Some(several) = afterthought::several(inner) {
        let text = Cow::Owned(several);
        return Some(Candidate { text, span: (from, to), provenance: Provenance::Anchor });
    }
    let value = shouted(inner).unwrap_or_else(|| qualify::value_length(inner));
    if text.get(from + value..to).is_some_and(qualify::denies) {
        return None;
    }
    slice(text, from, from + value, Provenance::Anchor)
}
