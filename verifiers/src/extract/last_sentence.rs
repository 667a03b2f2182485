//! Completions without announcements: the value that ends the last sentence.

use std::borrow::Cow;

use super::candidate::{Candidate, Provenance, slice};
use super::negation::has_negation;
use super::words::{offers, words};
use super::{joined, qualify, sentence};
use crate::language::{deny, value};
use crate::math::syntax::{is_minus, units};

/// Signs of the end of a proof.
const ENDS: [&str; 6] = ["QED", "Q.E.D.", "QED.", "∎", "■", "□"];

/// The value that ends the last sentence: mathematics between dollars, or a number.
pub(super) fn last_sentence(text: &str) -> Option<Candidate<'_>> {
    // A GSM8K solution ends with a marked line; without it, the text was truncated.
    if text.contains("<<") && text.contains(">>") {
        return None;
    }
    let trimmed = text.trim_end();
    let trimmed =
        ENDS.iter().find_map(|end| trimmed.strip_suffix(end)).unwrap_or(trimmed).trim_end();
    if qualify::admits(trimmed) {
        return None;
    }
    let line_start = trimmed.rfind('\n').map_or(0, |at| at + 1);
    let line = trimmed.get(line_start..)?;
    let body = line.trim_end_matches(['.', '*', ' ', '!']);
    let sentence = body.rfind(". ").map_or(line_start, |at| line_start + at + 2);
    let number = last_number(trimmed.get(sentence..)?, sentence);
    let number = number
        .map(|found| signed(found, &trimmed[sentence..], sentence))
        .filter(|found| stands_free(trimmed, sentence, found.span));
    let around = |found: &Candidate<'_>| {
        let before = &trimmed[sentence.min(found.span.0)..found.span.0];
        (before, &trimmed[found.span.1..])
    };
    let math = last_math(trimmed, sentence);
    let several = math.as_ref().and_then(|last| joined::formulas(trimmed, sentence, last));
    let is_last =
        |math: &Candidate<'_>| number.as_ref().is_none_or(|number| number.span.0 <= math.span.1);
    if let Some(several) = several.filter(is_last) {
        let (before, after) = around(&several);
        return is_said(before, after).then_some(several);
    }
    let math = math.filter(|found| {
        let (before, after) = around(found);
        is_said(before, after) && !is_offered_too(before)
    });
    match (&math, &number) {
        (Some(math), Some(number)) if math.span.1 < number.span.0 => Some(number.clone()),
        (Some(_), _) => math,
        _ => number,
    }
}

/// Whether the last line of a text is one of several cases, or the last item of a list of values:
/// then it is not the answer alone.
pub(super) fn is_one_of_cases(text: &str) -> bool {
    let mut lines = text.trim_end().rsplit('\n').map(str::trim).filter(|line| !line.is_empty());
    let (Some(line), before) = (lines.next(), lines.next().unwrap_or_default()) else {
        return false;
    };
    let lead = line.trim_start_matches(['*', '-', ' ', '#', '(']);
    let named = qualify::starts_with(lead, value::CASE_NAMES);
    let is_value = |item: &&str| {
        (item.starts_with(['$', '\\']) || item.contains('=') || is_number(item)) && is_brief(item)
    };
    let items = sentence::items(before, line);
    named || items.is_some_and(|items| items.iter().all(is_value))
}

fn is_number(item: &str) -> bool {
    item.contains(|c: char| c.is_ascii_digit())
        && item.chars().all(|c| c.is_ascii_digit() || ".,/%-−".contains(c))
}

fn is_brief(item: &str) -> bool {
    item.split_whitespace().nth(3).is_none()
}

/// Whether the words around a value do not disqualify it.
fn is_said(before: &str, after: &str) -> bool {
    qualify::qualifier(before, after).is_none()
        && !qualify::is_unsaid(before)
        && (before.is_ascii() || !has_negation(qualify::clause(before)))
        && !qualify::is_mistaken(before)
}

/// "Negative 4" and "minus 4" as -4. The sentence starts at `offset`.
pub fn signed<'a>(found: Candidate<'a>, sentence: &str, offset: usize) -> Candidate<'a> {
    let before = found.span.0.checked_sub(offset).and_then(|at| sentence.get(..at));
    let lead = before.unwrap_or_default().trim_end_matches([' ', '$', '*']);
    let named = ["negative", "minus"].iter().find(|sign| qualify::ends_with(lead, &[**sign]));
    let Some(sign) = named else { return found };
    let at = lead.len() - sign.len();
    let subtracts = lead
        .get(..at)
        .is_some_and(|head| head.trim_end().ends_with(|c: char| c.is_ascii_digit() || c == ')'));
    if subtracts || found.text.starts_with(is_minus) {
        return found;
    }
    let text = Cow::Owned(format!("-{}", found.text));
    Candidate { text, span: (offset + at, found.span.1), provenance: found.provenance }
}

/// Whether the words between a number and this place offer another one: "5 (or maybe ".
fn is_offered_too(before: &str) -> bool {
    let number = before.rfind(|c: char| c.is_ascii_digit());
    number.and_then(|at| before.get(at + 1..)).is_some_and(|between| offers(words(between)))
}

/// Whether a number is not part of a formula, and is the only one offered.
pub(super) fn stands_free(text: &str, sentence: usize, (from, to): (usize, usize)) -> bool {
    let (before, after) = (&text[sentence..from], &text[to..]);
    let offered = before.contains(" or ") && before.contains(|c: char| c.is_ascii_digit())
        || is_offered_too(before);
    let lead = before.trim_end();
    // "41, 42" and "41 and 42" are a list of guesses.
    let listed =
        lead.strip_suffix(" and").unwrap_or(lead).trim_end_matches([',', ';', ' ', '&', '|']);
    // Dutch has "of" for "or", and "17 of 42" counts no result.
    let parted =
        lead.strip_suffix(" of").is_some_and(|head| head.ends_with(|c: char| c.is_ascii_digit()));
    let offered = offered || parted || listed.ends_with(|c: char| c.is_ascii_digit());
    let operated = |c: char| "+*/×".contains(c) || (is_minus(c) && !"—―".contains(c));
    let opened = before.ends_with(['{', '^', '_', '(', '[', '\\', ',', ':'])
        || lead.trim_end_matches(['$', '\\', ' ']).ends_with(operated);
    let denied = after.contains('?')
        || deny::DENIALS.iter().any(|word| after.contains(word))
        || !is_said(before, after);
    // A unit may stand right behind its number, a word may not.
    let run = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    let glued = run > 0 && !after.get(..run).is_some_and(units::known);
    // The text was truncated within a quotation.
    let quoted = before.matches('"').count() % 2 == 1 && !after.contains('"');
    !(quoted || denied || offered || opened || glued || goes_on(after))
}

/// Whether what stands behind a number goes on with its term: "5 π", "5 - x", "5½".
fn goes_on(after: &str) -> bool {
    let rest = after.trim_start();
    let word = rest.get(..rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len()));
    let operand = rest.strip_prefix(is_minus).unwrap_or_default().trim_start();
    let variable = operand.starts_with(|c: char| c.is_ascii_lowercase() && c != 'a')
        && !operand.get(1..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    rest.starts_with(|c| "(+*/^_=}{\\<>×·⋅÷√π±".contains(c))
        || matches!(word, Some("pi" | "sqrt"))
        || after.starts_with(|c: char| c.is_numeric())
        || variable
        || operand.starts_with(['√', 'π', '\\'])
}

/// The last `\( \)`, `\[ \]` or `$ $` that closes behind `from`.
pub(super) fn last_math(text: &str, from: usize) -> Option<Candidate<'_>> {
    let mut best: Option<Candidate<'_>> = None;
    for (open, close) in [("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")] {
        let Some(end) = text.rfind(close).filter(|end| *end >= from) else { continue };
        let Some(start) = text.get(..end).and_then(|head| head.rfind(open)) else { continue };
        let found = slice(text, start + open.len(), end, Provenance::LastMath);
        let single_line =
            found.as_ref().is_some_and(|found| !found.text.contains('\n') || open != "$");
        let later = best.as_ref().is_none_or(|best| end > best.span.1);
        if start >= from.saturating_sub(2) && single_line && later {
            best = found;
        }
    }
    best
}

/// The last number of a text, with its sign, separators and fraction.
pub fn last_number(text: &str, offset: usize) -> Option<Candidate<'_>> {
    let bytes = text.as_bytes();
    let mut end = bytes.len();
    loop {
        end = bytes.get(..end)?.iter().rposition(u8::is_ascii_digit)? + 1;
        let mut start = end;
        while let Some(before) = start.checked_sub(1).and_then(|at| bytes.get(at)) {
            let joins = before.is_ascii_digit()
                || (matches!(before, b'.' | b',' | b'/')
                    && start
                        .checked_sub(2)
                        .and_then(|at| bytes.get(at))
                        .is_some_and(u8::is_ascii_digit));
            if !joins {
                break;
            }
            start -= 1;
        }
        let before = text.get(..start)?.chars().next_back();
        // A number inside a word is no answer.
        if before.is_some_and(|c| (c.is_alphabetic() && !qualify::is_unspaced(c)) || c == '_') {
            end = start;
            continue;
        }
        let marked = text.get(..start)?.trim_end_matches(['$', '\\']);
        if let Some(lead) = marked.strip_suffix(is_minus).filter(|lead| is_sign(lead)) {
            start = lead.len();
        } else if before == Some('.') {
            start -= 1;
        }
        if text.get(end..)?.starts_with(['%']) {
            end += 1;
        } else if text.get(end..)?.starts_with("\\%") {
            end += 2;
        }
        let mut found = slice(text, start, end, Provenance::LastNumber)?;
        found.span = (found.span.0 + offset, found.span.1 + offset);
        return Some(found);
    }
}

/// Whether a minus behind this text is a sign rather than a subtraction or a hyphen.
fn is_sign(before: &str) -> bool {
    let operand =
        before.trim_end().ends_with(|c: char| c.is_ascii_digit() || matches!(c, ')' | '}'));
    !operand && !before.ends_with(|c: char| c.is_alphanumeric() && !qualify::is_unspaced(c))
}
