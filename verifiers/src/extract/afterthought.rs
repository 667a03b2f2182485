//! What is said behind a value: that it is wrong, or that another value may be the answer.
//!
//! "17. That is wrong.", "17, although 42 is possible too", "答案是17，也可能是42". What replaces a
//! value, as in "17. Wait, 42.", is told by [`super::retraction`].

use std::ops::Range;

use super::words::{is_one_of, offers, words};
use super::{qualify, retraction};
use crate::math::syntax::number_words;

/// So many bytes behind a value are read.
const LOOKED_AT: usize = 160;
/// Between two values stand at most so many bytes.
const GAP_MAX: usize = 60;
/// The most values that are offered side by side.
const VALUES_MAX: usize = 8;

/// Words between a value and one that is offered in words.
const LEAD_MAX: usize = 4;
/// What ends a sentence.
const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', '\n', '。', '！', '？'];
/// Marks that judge a value wrong.
const CROSSES: [char; 6] = ['❌', '✗', '✘', '✖', '❎', '👎'];
/// Letters that are offered as values. Others are words, or units.
const VARIABLES: &str = "xznktpqr";
/// Words for numbers that are pronouns as often.
const PRONOUNS: [&str; 3] = ["one", "half", "quarter"];

/// Signs that close what holds a value, end its sentence, or part it from the next one.
const CLOSERS: &str = "$*_})]\"”’'`.!?,;:|/—–。，！？；：、（([";
/// The tags and brackets around a value.
const CLOSING: [&str; 8] = ["\\)", "\\]", "\\\\", "\\,", "\\;", "\\quad", "\\text{", "\\mathrm{"];
/// Words before a judgement: "oops, that is wrong".
#[rustfmt::skip]
const INTERJECTIONS: &[&str] = &[
    "oops", "hmm", "oh", "no", "wait", "sorry", "actually", "well", "ah", "uh", "but", "and", "however", "nope",
];
/// What a judgement is about.
const SUBJECTS: [&str; 8] = ["that", "this", "it", "which", "that's", "it's", "that’s", "it’s"];
const COPULAS: [&str; 5] = ["is", "was", "isn't", "isn’t", "wasn't"];
/// Judgements by which a value is no answer.
#[rustfmt::skip]
const JUDGEMENTS: &[&str] = &[
    "wrong", "incorrect", "false", "not right", "not correct", "not it", "not the answer", "not true", "invalid", "nonsense",
    "right", "correct", "true", "just kidding", "kidding", "no", "nope", "not", "错了", "错的", "不对", "错误", "不正确", "falsch", "faux", "falso",
    "incorrecto", "errado", "sbagliato", "fout", "неверно", "неправильно", "źle", "fel", "feil", "forkert", "väärin", "yanlış", "salah", "sai",
];
/// Judgements that deny behind "not" alone.
const PRAISES: [&str; 3] = ["right", "correct", "true"];
/// Phrases between two values that are both the answer.
const TOGETHER: [&str; 5] = ["as well as", "along with", "together with", "and so is", "also"];
/// Words before a value that is offered by the words behind it.
#[rustfmt::skip]
const CONCEDING: &[&str] = &["but", "although", "though", "and", "however", "then", "also"];
/// Words behind a value that offer it beside another one.
#[rustfmt::skip]
const POSSIBLE: &[&str] = &[
    "is possible", "is also possible", "is equally possible", "is also correct", "is also right", "is also valid", "is an option",
    "also works", "works too", "works as well", "works also", "would also work", "could also be", "might be right", "may be right",
    "might be correct", "may be correct", "could be right", "could be correct", "is also an answer", "is another answer", "otherwise",
    "is also a solution", "is fine too", "as backup", "as a backup",
];

/// What follows a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Afterthought {
    Stands,
    /// It is judged wrong.
    TakenBack,
    /// Another value is offered, which stands here.
    Offered(Range<usize>),
}

/// What is said of the value that ends at `end`.
pub(super) fn of(text: &str, end: usize) -> Afterthought {
    let Some(rest) = text.get(end..text.floor_char_boundary(end + LOOKED_AT)) else {
        return Afterthought::Stands;
    };
    let said = behind_closers(rest);
    let gap = rest.get(..rest.len() - said.len()).unwrap_or_default();
    if gap.matches('\n').count() > 2 {
        return Afterthought::Stands;
    }
    let ends = gap.contains(SENTENCE_ENDS);
    if said.starts_with(CROSSES) && !gap.contains('\n') {
        return Afterthought::TakenBack;
    }
    if let Some(other) = offered_in_words(said, gap) {
        let from = end + gap.len() + other.range.start;
        let to = from + other.range.len();
        match integer_before(text, end) {
            Some(number) if number == other.number => return Afterthought::Stands,
            None if end > 0 => {}
            _ => return Afterthought::Offered(from..to),
        }
    }
    let at = said.find(begins_value).filter(|at| *at <= GAP_MAX);
    let lead = at.and_then(|at| said.get(..at));
    // Between the values the next sentence does not begin.
    let lead =
        lead.filter(|lead| !lead.contains([':', '=', '?', '<', '>']) && !lead.contains(". "));
    if let (Some(at), Some(lead)) = (at, lead) {
        let from = end + gap.len() + at;
        let from = if lead.ends_with(['-', '−']) { from - 1 } else { from };
        let to = value_end(text, from);
        if is_offered(gap, lead, text.get(to..).unwrap_or_default(), ends) {
            return Afterthought::Offered(from..to);
        }
    }
    if is_judged(said, ends) || (!ends && retraction::denied(rest)) {
        return Afterthought::TakenBack;
    }
    Afterthought::Stands
}

/// The values that are offered together from the first one of a text on, if there are several and
/// other words than "and" and "or" join any two of them. Those are read by the checks.
pub(super) fn several(text: &str) -> Option<String> {
    let first = text.find(begins_value)?;
    let first = if text.get(..first)?.ends_with(['-', '−']) { first - 1 } else { first };
    let mut end = value_end(text, first);
    let mut values = vec![text.get(..end)?];
    let mut plain = true;
    while let Afterthought::Offered(next) = of(text, end)
        && values.len() < VALUES_MAX
    {
        let said = text.get(end..next.start)?.trim_matches([' ', ',', '*', '(']);
        let value = text.get(next.clone())?;
        plain &= is_one_of(&["or", "and"], said) && !value.starts_with(char::is_alphabetic);
        values.push(value);
        end = next.end;
    }
    (values.len() > 1 && !plain).then(|| values.join(" or "))
}

/// Where the first value of a text ends.
pub(super) fn first_end(text: &str) -> Option<usize> {
    text.find(begins_value).map(|first| value_end(text, first))
}

/// Whether what stands behind the first value of a text takes it back.
pub(super) fn is_taken_back(text: &str) -> bool {
    first_end(text).is_some_and(|end| of(text, end) == Afterthought::TakenBack)
}

/// Whether the text behind a value neither takes it back nor offers another one: "17. That is
/// wrong.", "17, but 42 is possible too".
pub(crate) fn stands(after: &str) -> bool {
    of(after, 0) == Afterthought::Stands
}

fn begins_value(c: char) -> bool {
    c.is_ascii_digit() || "$\\".contains(c)
}

/// What follows the signs that close what holds a value.
fn behind_closers(rest: &str) -> &str {
    let mut said = rest;
    loop {
        let before = said.len();
        said = said.trim_start_matches(|c: char| c.is_whitespace() || CLOSERS.contains(c));
        // Dollars before a value open it.
        let closed = rest.get(..rest.len() - said.len()).unwrap_or_default();
        if closed.ends_with('$') && said.starts_with(|c: char| begins_value(c) || c.is_alphabetic())
        {
            let is_opening = closed.trim_end_matches('$').ends_with([' ', '/', '\n']);
            if is_opening {
                return rest.get(closed.trim_end_matches('$').len()..).unwrap_or_default();
            }
        }
        if let Some(tail) = CLOSING.iter().find_map(|sign| said.strip_prefix(sign)) {
            said = tail;
        }
        if let Some((_, tail)) = said.strip_prefix("</").and_then(|tag| tag.split_once('>')) {
            said = tail;
        }
        if said.len() == before {
            return said;
        }
    }
}

/// The end of the value that starts at a place: of its formula, or of its word.
fn value_end(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    for (open, close) in [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")] {
        let closed = rest.strip_prefix(open).and_then(|inner| inner.find(close));
        if let Some(length) = closed.filter(|length| *length > 0) {
            return from + open.len() + length + close.len();
        }
    }
    let ends = |(at, c): &(usize, char)| {
        let next = rest.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        match c {
            '.' | ',' => !next.is_some_and(|next| next.is_ascii_digit()),
            c => {
                c.is_whitespace()
                    || ";()[]|!?*\"<。，、；！？（）".contains(*c)
                    || qualify::is_unspaced(*c)
            }
        }
    };
    let length = rest.char_indices().skip(1).find(ends).map_or(rest.len(), |(at, _)| at);
    from + length
}

/// A number in words, or a lone letter, that is offered beside a value.
struct InWords {
    range: Range<usize>,
    /// The number in digits.
    number: String,
}

/// What the words behind a value offer in words: "or twenty-seven", "or x", "(twenty-seven)".
fn offered_in_words(said: &str, gap: &str) -> Option<InWords> {
    let near = said.get(..said.floor_char_boundary(GAP_MAX))?;
    let is_next_sentence = gap.contains(SENTENCE_ENDS);
    let mut lead: Vec<&str> = Vec::new();
    let mut at = 0;
    while lead.len() <= LEAD_MAX {
        let rest = near.get(at..)?;
        let skipped = rest.trim_start_matches([' ', ',', '*', '(', '$', '{', '}']);
        let from = at + rest.len() - skipped.len();
        let length =
            |goes_on: fn(char) -> bool| skipped.find(|c| !goes_on(c)).unwrap_or(skipped.len());
        let word = skipped.get(..length(char::is_alphabetic)).filter(|word| !word.is_empty())?;
        let phrase = length(|c| c.is_alphabetic() || " -".contains(c));
        let phrase = skipped.get(..phrase)?.trim_end();
        let hyphened = skipped.get(..length(|c| c.is_alphabetic() || c == '-'))?;
        let closes = skipped.get(phrase.len()..)?.starts_with([')', '）']);
        let is_note = lead.is_empty() && gap.ends_with(['(', '（']) && closes;
        let is_offer = offers(lead.iter().copied());
        let number = [Some(phrase), is_offer.then_some(hyphened)].into_iter().flatten();
        let number = number.filter(|_| is_offer || is_note);
        if let Some((said, number)) =
            number.into_iter().find_map(|said| Some((said, spelled(said)?)))
        {
            return Some(InWords { range: from..from + said.len(), number });
        }
        let is_letter = hyphened.len() == 1 && VARIABLES.contains(hyphened);
        let tail = skipped.get(1..).unwrap_or_default();
        let is_closed = tail.is_empty() || tail.starts_with([')', '}', '$', '.', ',', ';', '\n']);
        if is_offer && is_letter && is_closed && !is_next_sentence {
            return Some(InWords { range: from..from + 1, number: String::new() });
        }
        lead.push(word);
        at = from + word.len();
    }
    None
}

/// A number in words, in digits. "One" and "a third" are rather no numbers.
fn spelled(words: &str) -> Option<String> {
    let lower = words.to_lowercase();
    if PRONOUNS.contains(&lower.as_str()) {
        return None;
    }
    match number_words::number(&lower)? {
        (number, None) => Some(number.to_string()),
        _ => None,
    }
}

/// The integer in digits that ends at a place, and is no part of another number.
fn integer_before(text: &str, end: usize) -> Option<String> {
    let head = text.get(..end)?.trim_end_matches([' ', '$', '*', '_', '}', ')', '\\']);
    let from = head.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',').len();
    let (before, digits) = head.split_at_checked(from)?;
    let digits = digits.trim_start_matches(',').replace(',', "");
    let unsigned = before.strip_suffix(['-', '−']);
    let (before, sign) = unsigned.map_or((before, ""), |before| (before, "-"));
    let apart = before.is_empty()
        || before.ends_with([' ', '\n', '$', '*', '_', '(', ':', '='])
        || before.ends_with("boxed{");
    (apart && !digits.is_empty()).then(|| format!("{sign}{digits}"))
}

/// Whether the words behind a value say the same number, in digits `number`: "17 (seventeen)".
pub(crate) fn repeats_in_words(after: &str, number: &str) -> bool {
    let said = behind_closers(after);
    let gap = after.get(..after.len() - said.len()).unwrap_or_default();
    offered_in_words(said, gap).is_some_and(|other| other.number == number)
}

/// Whether the words between two values, or behind the second one, offer it beside the first.
fn is_offered(gap: &str, lead: &str, behind: &str, ends: bool) -> bool {
    let said: Vec<&str> = words(lead).collect();
    let joined = said.join(" ");
    let behind = behind.trim_start_matches([' ', '$', '*', ')', ',']);
    let conceded = said.iter().all(|word| is_one_of(CONCEDING, word));
    // Behind a plain number a stroke divides.
    let marked = gap.contains(['/', '|']) && gap.contains(['$', '}']) && !ends;
    let conditional = said.first().is_some_and(|word| is_one_of(&["if", "when"], word));
    (said.is_empty() && marked)
        || (!said.is_empty() && offers(said.iter().copied()))
        || (!ends && is_one_of(&TOGETHER, &joined))
        || is_one_of(&["and or"], &joined)
        || (conceded && qualify::starts_with(behind, POSSIBLE))
        || (conditional && !ends && qualify::starts_with(behind, &["otherwise", "else"]))
}

/// Whether a text begins with a judgement on the value before it. In its own sentence it may follow
/// without a subject: "17 (wrong)".
fn is_judged(said: &str, ends: bool) -> bool {
    let mut rest = said.trim_start();
    let mut is_denied = false;
    let mut has_subject = false;
    for _ in 0..6 {
        let word = rest.split([' ', ',', '.', '!', ';', ')']).next().unwrap_or_default();
        let next = rest.get(word.len()..).unwrap_or_default();
        let judged = JUDGEMENTS.iter().filter(|judged| qualify::starts_with(rest, &[**judged]));
        if let Some(judged) = judged.max_by_key(|judged| judged.len()) {
            let behind = rest.get(judged.len()..).unwrap_or_default();
            let closed = behind.trim_start_matches(['*', '_', '"']);
            let closed = closed.is_empty()
                || closed.starts_with(['.', '!', ')', '\n', ';', '。', '！', '）', '，']);
            let denies = !is_one_of(&PRAISES, judged) || is_denied;
            if closed && denies && (has_subject || !is_one_of(&["right", "true"], judged)) {
                return ends || has_subject || gap_allows(judged);
            }
        }
        let is_subject = is_one_of(&SUBJECTS, word);
        let is_copula = is_one_of(&COPULAS, word);
        has_subject |= is_subject;
        is_denied |= word.ends_with("n't") || word.ends_with("n’t") || is_one_of(&["not"], word);
        let light = is_one_of(INTERJECTIONS, word) && !has_subject;
        if word.is_empty()
            || !(is_subject
                || is_copula
                || light
                || is_one_of(&["not", "clearly", "just", "all"], word))
        {
            return false;
        }
        rest = next.trim_start_matches([' ', ',', '.', '!', ';']);
    }
    false
}

/// Whether a judgement may stand in the sentence of the value without a subject: "17 (wrong)".
fn gap_allows(judged: &str) -> bool {
    !is_one_of(&["no", "nope", "not"], judged)
}
