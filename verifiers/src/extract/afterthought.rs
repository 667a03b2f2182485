//! Another value that is offered behind one: "17, although 42 is possible too", "答案是17，也可能是42".
//!
//! [`super::retraction`] reads what replaces a value, as in "17. Wait, 42.", and
//! [`crate::language::standing`] what takes it back.

use std::ops::Range;

use super::qualify;
use super::sentence::FORMULA_SIGNS;
use super::words::{is_one_of, offers, words};
use crate::language::{connect, hedge, retract, suppose, value};
use crate::math::syntax::number_words;

/// So many bytes behind a value are read.
const LOOKED_AT: usize = 160;
/// Between two values stand at most so many bytes.
const GAP_MAX: usize = 60;
/// The most values that are offered side by side.
const VALUES_MAX: usize = 8;

/// Words between a value and one that is offered in words.
const LEAD_MAX: usize = 4;
/// A name that is offered has at most so many words.
const NAME_WORDS_MAX: usize = 3;
/// What ends a sentence.
const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', '\n', '。', '！', '？'];
/// Letters that are offered as values. Others are words, or units.
const VARIABLES: &str = "xznktpqr";

/// Signs that close what holds a value, end its sentence, or part it from the next one.
const CLOSERS: &str = "$*_})]\"”’'`.!?,;:|/—–。，！？；：、（([";
/// The tags and brackets around a value.
const CLOSING: [&str; 8] = ["\\)", "\\]", "\\\\", "\\,", "\\;", "\\quad", "\\text{", "\\mathrm{"];

/// Where another value is offered than the one that ends at `end`.
pub(super) fn offered(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text.get(end..text.floor_char_boundary(end + LOOKED_AT))?;
    let said = behind_closers(rest);
    let gap = &rest[..rest.len() - said.len()];
    if gap.matches('\n').count() > 2 {
        return None;
    }
    let ends = gap.contains(SENTENCE_ENDS);
    if let Some(other) = offered_in_words(said, gap) {
        let from = end + gap.len() + other.range.start;
        let to = from + other.range.len();
        match integer_before(text, end) {
            Some(number) if number == other.number => return None,
            None if end > 0 => {}
            _ => return Some(from..to),
        }
    }
    let at = said.find(begins_value).filter(|at| *at <= GAP_MAX);
    let lead = at.and_then(|at| said.get(..at));
    // Between the values the next sentence does not begin.
    let lead = lead.filter(|lead| {
        let lead = unlabelled(lead);
        !lead.contains([':', '=', '?', '<', '>']) && !lead.contains(". ")
    });
    if let Some(lead) = lead {
        let from = end + gap.len() + lead.strip_suffix(['-', '−']).unwrap_or(lead).len();
        let to = value_end(text, from);
        let (value, behind) = (text.get(from..to), text.get(to..));
        let other = (value.unwrap_or_default(), behind.unwrap_or_default());
        if is_offered(gap, lead, other, ends) {
            return Some(from..to);
        }
    }
    let is_name = ends && text.get(..end).is_some_and(|head| head.ends_with(char::is_alphabetic));
    let name = name_offered(said).filter(|_| is_name)?;
    let from = end + gap.len();
    Some(from + name.start..from + name.end)
}

/// The words between two values without a label in front: "note: ", "更正：".
fn unlabelled(lead: &str) -> &str {
    let lead = lead.trim_start();
    lead.split_once([':', '：']).map_or(lead, |(label, rest)| {
        let mut said = words(label);
        let known = |word| {
            [retract::REPLACING, connect::CONCEDING, retract::CONNECTING]
                .iter()
                .any(|list| is_one_of(list, word))
        };
        let is_label = said.next().is_some_and(known)
            && said.all(|word| known(word) || is_one_of(retract::REPLACED, word));
        if is_label { rest } else { lead }
    })
}

/// The name that a text offers and nothing else: "Wait, Rome.", "Or Rome."
fn name_offered(said: &str) -> Option<Range<usize>> {
    let (word, rest) = said.split_at_checked(said.find(|c: char| !c.is_alphabetic())?)?;
    let name = rest.trim_start_matches([' ', ',', ':']);
    let start = said.len() - name.len();
    let name = name.trim_end().trim_end_matches(['.', '!']);
    let plain = name.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '-');
    // "I was wrong."
    let is_name = name.starts_with(char::is_uppercase) && name.chars().nth(1) != Some(' ');
    let brief = is_name && name.split(' ').nth(NAME_WORDS_MAX).is_none();
    let offers = is_one_of(connect::OR, word) || is_one_of(retract::REPLACING, word);
    (offers && plain && brief).then_some(start..start + name.len())
}

/// The values that are offered together from the first one of a text on, if there are several and
/// other words than "and" and "or" join any two of them. Those are read by the checks.
pub(super) fn several(text: &str) -> Option<String> {
    let first = text.find(begins_value)?;
    let lead = text.get(..first)?;
    let first = lead.strip_suffix(['-', '−']).unwrap_or(lead).len();
    let mut end = value_end(text, first);
    let mut values = vec![text.get(..end)?];
    let mut plain = true;
    while let Some(next) = offered(text, end)
        && values.len() < VALUES_MAX
    {
        let said = text.get(end..next.start)?.trim_matches([' ', ',', '*', '(']);
        let value = text.get(next.clone())?;
        plain &= is_one_of(connect::OR_AND, said) && !value.starts_with(char::is_alphabetic);
        values.push(value);
        end = next.end;
    }
    (values.len() > 1 && !plain).then(|| values.join(" or "))
}

/// Where the first value of a text ends.
pub(super) fn first_end(text: &str) -> Option<usize> {
    text.find(begins_value).map(|first| value_end(text, first))
}

/// Whether the text behind a value offers no other one: "17, but 42 is possible too".
pub(crate) fn stands(after: &str) -> bool {
    offered(after, 0).is_none()
}

pub(super) fn begins_value(c: char) -> bool {
    c.is_ascii_digit() || "$\\".contains(c)
}

/// What follows the signs that close what holds a value.
fn behind_closers(rest: &str) -> &str {
    let mut said = rest;
    loop {
        let before = said.len();
        said = said.trim_start_matches(|c: char| c.is_whitespace() || CLOSERS.contains(c));
        // Dollars before a value open it.
        let closed = &rest[..rest.len() - said.len()];
        if closed.ends_with('$') && said.starts_with(|c: char| begins_value(c) || c.is_alphabetic())
        {
            let is_opening = closed.trim_end_matches('$').ends_with([' ', '/', '\n']);
            if is_opening {
                return &rest[closed.trim_end_matches('$').len()..];
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
pub(super) fn value_end(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    for (open, close) in FORMULA_SIGNS {
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
        let is_closed =
            |tail: &str| tail.is_empty() || tail.starts_with([')', '}', '$', '.', ',', ';', '\n']);
        if is_offer && is_letter && is_closed(&skipped[1..]) && !is_next_sentence {
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
    if value::PRONOUNS.contains(&lower.as_str()) {
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
    let gap = &after[..after.len() - said.len()];
    offered_in_words(said, gap).is_some_and(|other| other.number == number)
}

/// Whether the words between two values, or behind the second one, offer it beside the first.
fn is_offered(gap: &str, lead: &str, (value, behind): (&str, &str), ends: bool) -> bool {
    let said: Vec<&str> = words(lead).collect();
    let joined = said.join(" ");
    let behind = behind.trim_start_matches([' ', '$', '*', ')', ',']);
    let conceded = said.iter().all(|word| is_one_of(connect::CONCEDING, word));
    // Behind a plain number a stroke divides.
    let is_formula = gap.starts_with(['$', '}']) || gap.starts_with("\\)");
    let marked = gap.contains(['/', '|']) && gap.contains(['$', '}']) && !ends;
    // "$2$; $3$", "$2$ - $3$".
    let signs = gap.trim_matches(['$', ' ']).chars().chain(lead.trim().chars());
    let parted = is_formula && signs.clone().count() == 1 && signs.clone().all(is_parting);
    let parted = parted && !ends && is_end(behind);
    // "($3$ if I am wrong)", "(some would say $3$)".
    let doubted =
        gap.contains(['(', '[', '（']) && said.iter().any(|word| is_one_of(hedge::DOUBTING, word));
    // "Edit: 24", "So it is 24."
    let begins = lead.trim_start().starts_with(char::is_uppercase);
    let is_closed = ends || gap.contains("</") || (begins && gap.contains(['}', '*']));
    let leads = |word: &&str| {
        [retract::REPLACING, retract::REPLACED, retract::LINKING, retract::CONNECTING]
            .iter()
            .any(|list| is_one_of(list, word))
    };
    let replaces = is_closed
        && !said.is_empty()
        && said.iter().all(leads)
        && (said.first().is_some_and(|word| is_one_of(retract::REPLACING, word))
            || (is_end(behind) && !value.contains('=')));
    // "O 17 que apareceu": an article begins the next sentence.
    let is_article = ends && joined == "O" && !is_end(behind);
    let conditional = said.first().is_some_and(|word| is_one_of(suppose::CONJUNCTIONS, word));
    (said.is_empty() && (marked || parted))
        || doubted
        || replaces
        || is_one_of(connect::VERSUS, &joined)
        || (is_closed && is_one_of(hedge::IF_NOT, &joined))
        || (!said.is_empty() && !is_article && offers(said.iter().copied()))
        || (!ends && is_one_of(hedge::TOGETHER, &joined))
        || is_one_of(connect::AND_OR, &joined)
        || (conceded && qualify::starts_with(behind, hedge::POSSIBLE))
        || (conditional && !ends && qualify::starts_with(behind, suppose::OTHERWISE))
}

/// Whether a character parts two values.
fn is_parting(c: char) -> bool {
    ";|/–—-−~&".contains(c)
}

/// Whether nothing of the sentence follows.
fn is_end(behind: &str) -> bool {
    let behind = behind.trim_start_matches([' ', '$', '*', ')', '.', '!', '?', '。']);
    behind.is_empty() || behind.starts_with('\n')
}
