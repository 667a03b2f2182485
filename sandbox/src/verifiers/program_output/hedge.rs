//! Whether an answer offers something else too, or is denied: a value and an exception, "[1] or [2]",
//! "[1]. No, it's [2]", "it is not true that the output is [1]".

use assay_verifiers::afterthought::{afterthought, offers_next};
use assay_verifiers::extract::qualify;
use assay_verifiers::language::program;

use super::find::{Answer, says_value, sides};
use super::raised::{CHARS_MAX, may_raise};
use super::truth::Truth;
use crate::value::literal::{self, Words};

/// Whether `answer`, one of `answers`, says the truth beside something else that it could be.
pub(super) fn is_hedged(answer: &Answer<'_>, answers: &[Answer<'_>], truth: &Truth) -> bool {
    match truth {
        Truth::Value(_) | Truth::Shown { .. } | Truth::Printed(_) => {
            answers.iter().any(|around| is_beside_failure(answer, around))
                || answers.iter().any(|around| is_beside_another(answer, around))
        }
        Truth::Raised(_) => is_beside_value(answer, answers),
        Truth::Line { .. } | Truth::End | Truth::Type(_) => false,
    }
}

/// Whether the text around a value says that an exception may be raised.
fn is_beside_failure(answer: &Answer<'_>, around: &Answer<'_>) -> bool {
    let text = &around.text;
    let is_as_written = text.len() == around.span.1 - around.span.0;
    if !is_as_written || text.chars().count() > CHARS_MAX {
        return false;
    }
    if around.span == answer.span {
        // Names in a text of the value itself are no exceptions, but those after it are.
        return unquoted(text).is_some_and(|text| may_raise(&text));
    }
    let Some((before, after)) = sides_of(answer, around) else { return false };
    let value = answer.text.trim();
    // What an assertion asserts may have a comment.
    let own = (answer.from == "assertion").then(|| unquoted(value)).flatten();
    may_raise(&format!("{before} _ {after}")) || own.is_some_and(|own| may_raise(&own))
}

/// What is before and after an answer in the text around it.
fn sides_of<'a>(answer: &Answer<'_>, around: &'a Answer<'_>) -> Option<(&'a str, &'a str)> {
    let from = answer.span.0.checked_sub(around.span.0)?;
    let until = answer.span.1.checked_sub(around.span.0)?;
    Some((around.text.get(..from)?, around.text.get(until..)?))
}

/// Bytes before an answer that are looked at.
const BEFORE_BYTES_MAX: usize = 200;

/// Comments after a literal that are looked at.
const COMMENTS_MAX: usize = 8;

/// Whether the text around a value offers another value, or denies this one.
fn is_beside_another(answer: &Answer<'_>, around: &Answer<'_>) -> bool {
    let text = &around.text;
    if text.len() != around.span.1 - around.span.0 {
        return false;
    }
    if around.span == answer.span {
        return noted(text).is_some_and(|(own, note)| is_followed(note, own));
    }
    let Some((before, after)) = sides_of(answer, around) else { return false };
    let after = after.trim_start_matches(['"', '\'', '}', '`']);
    let own = answer.text.trim();
    after.starts_with('?')
        || is_denied(before)
        || is_boxed_beside(before)
        || is_followed(after, own)
}

/// Whether another value is offered behind one, or joined to it: "[1, 2] and [3]".
fn is_followed(after: &str, own: &str) -> bool {
    let joined = after.trim_start_matches([' ', '`', '*', '$']);
    let joined = program::JOINED.iter().find_map(|join| joined.strip_prefix(join));
    let is_joined = joined.is_some_and(|next| {
        let end = another(next, own).and_then(|length| next.get(length..));
        let end = end.map(|rest| rest.trim_start_matches([' ', '`', '*', '$', '}', ')']));
        end.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ',', ';', '!', '\n']))
    });
    is_joined || afterthought(after, |text| another(text, own)).is_some()
}

/// A literal and the comment after it.
fn noted(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().trim_matches('`');
    let mut marks = text.match_indices('#').take(COMMENTS_MAX);
    marks.find_map(|(at, _)| {
        let (own, note) = text.split_at_checked(at)?;
        literal::read(own, Words::Python).ok().map(|_| (own.trim(), note))
    })
}

/// Whether the box that opens at the end of a text is beside another one: `\boxed{1} or \boxed{`.
fn is_boxed_beside(before: &str) -> bool {
    let Some(lead) = before.strip_suffix("\\boxed{") else { return false };
    let lead = lead.trim_end_matches([' ', '$', '\n']);
    let joined = program::BOXED_JOINS.iter().find_map(|join| lead.strip_suffix(join));
    let joined = joined.map(|lead| lead.trim_end_matches([' ', '$', ',']));
    joined.is_some_and(|lead| lead.ends_with('}') && lead.contains("\\boxed{"))
}

/// The length of another value at the start of a text.
fn another(text: &str, own: &str) -> Option<usize> {
    let bare = text.trim_start_matches(['`', '*', '$']);
    let lead = text.len() - bare.len();
    // Of a text in backticks, the first one is a mark that was skipped.
    if let Some((marked, _)) = bare.split_once('`')
        && !marked.is_empty()
        && !marked.contains(char::is_whitespace)
    {
        return (marked != own).then_some(lead + marked.len());
    }
    let lower = bare.get(..bare.floor_char_boundary(20))?.to_ascii_lowercase();
    if let Some(failure) =
        program::OTHER_OUTCOMES.iter().find(|failure| lower.starts_with(**failure))
    {
        return Some(lead + failure.len());
    }
    let line = bare.split('\n').next()?;
    let value = sides(line).map_or(line, |(_, right)| right);
    let value = if value.len() < line.len() { bare.get(line.len() - value.len()..)? } else { bare };
    let (_, length) = literal::prefix(value, Words::Python).ok()?;
    // The dot after a whole number ends the sentence.
    let written = value.get(..length)?.trim_end_matches('.');
    let ends = !value.get(written.len()..)?.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (ends && written.trim() != own).then(|| lead + bare.len() - value.len() + written.len())
}

/// Whether the words before a value deny it, or offer it beside another one.
fn is_denied(before: &str) -> bool {
    let near = before.floor_char_boundary(before.len().saturating_sub(BEFORE_BYTES_MAX));
    let mut before = &before[near..];
    loop {
        let bare =
            before.trim_end_matches(|c: char| c.is_whitespace() || "*_`:\"'$\\#(".contains(c));
        let head = bare.trim_end_matches(char::is_alphabetic);
        let word = bare[head.len()..].to_ascii_lowercase();
        // What opens a block names its language.
        if !head.ends_with("```") && !program::CUE_WORDS.contains(&word.as_str()) {
            break;
        }
        before = head;
    }
    if offers_next(before) {
        return true;
    }
    let mut words = before.split_inclusive(char::is_whitespace).rev();
    let mut length = 0;
    let is_start = |word: &str| {
        let word = word.trim().trim_end_matches(',').to_ascii_lowercase();
        program::CLAUSES.contains(&word.as_str())
    };
    for word in words.by_ref() {
        if is_start(word) {
            break;
        }
        length += word.len();
    }
    let clause = &before[before.len() - length..];
    let values = clause.trim_end().ends_with(|c: char| c.is_ascii_digit() || "])}".contains(c));
    // A value that is false is not a denial.
    let is_value = clause.trim_end().ends_with("False") || clause.trim_end().ends_with("false");
    !values && !is_value && qualify::is_unsaid(clause)
}

/// What is outside quotes in a text that begins with a literal, or asserts one.
fn unquoted(text: &str) -> Option<String> {
    let text = text.trim();
    let value = text.split_once("==").map_or(text, |(_, right)| right.trim_start());
    literal::prefix(value, Words::Python).ok()?;
    let mut quote = None;
    let is_outside = |c: &char| {
        let was_inside = quote.is_some();
        match quote {
            Some(open) if open == *c => quote = None,
            None if ['\'', '"'].contains(c) => quote = Some(*c),
            _ => {}
        }
        !was_inside && quote.is_none()
    };
    Some(value.chars().filter(is_outside).collect())
}

/// Whether an exception is said beside a value.
fn is_beside_value(answer: &Answer<'_>, answers: &[Answer<'_>]) -> bool {
    let other = |other: &&Answer<'_>| {
        other.span != answer.span
            && ["json", "assertion", "fence", "session"].contains(&other.from)
            && (other.value.is_some() || is_literal(&other.text))
    };
    if answers.iter().any(|one| other(&one)) {
        return true;
    }
    let is_reasoned = || {
        let mut words = answer.text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| program::REASONS.contains(&word.to_ascii_lowercase().as_str()))
    };
    says_value(&answer.text) && !is_reasoned()
}

fn is_literal(text: &str) -> bool {
    let value = text.split_once("==").map_or(text, |(_, right)| right);
    literal::read(value.trim(), Words::Python).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_denied;

    #[test]
    fn words_before_a_value_may_stand_behind_wide_marks() {
        for (before, denied) in
            [("输出：", false), ("结果，or", true), ("…or ", true), ("é – ", false)]
        {
            assert_eq!(is_denied(before), denied, "{before}");
        }
    }
}
