//! Whether an answer offers both a value and an exception: whichever is true, the other was said too.

use super::find::{Answer, says_value};
use super::raised::{CHARS_MAX, may_raise};
use super::truth::Truth;
use crate::value::literal::{self, Words};

/// Words that make what stands before or behind them the reason of the other.
#[rustfmt::skip]
const REASONS: &[&str] = &[
    "so", "therefore", "thus", "hence", "because", "since", "as", "when", "which", "while", "then",
    "where", "but",
];

/// Whether `answer`, one of `answers`, says the truth beside something else that it could be.
pub(super) fn is_hedged(answer: &Answer<'_>, answers: &[Answer<'_>], truth: &Truth) -> bool {
    match truth {
        Truth::Value(_) | Truth::Shown { .. } | Truth::Printed(_) => {
            answers.iter().any(|around| is_beside_failure(answer, around))
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
        // Names in a text of the value itself are no exceptions, but those behind it are.
        return unquoted(text).is_some_and(|text| may_raise(&text));
    }
    let from = answer.span.0.checked_sub(around.span.0);
    let until = answer.span.1.checked_sub(around.span.0);
    let (Some(before), Some(after)) =
        (from.and_then(|from| text.get(..from)), until.and_then(|until| text.get(until..)))
    else {
        return false;
    };
    let value = answer.text.trim();
    // What an assertion asserts may have a comment.
    let own = (answer.from == "assertion").then(|| unquoted(value)).flatten();
    may_raise(&format!("{before} _ {after}")) || own.is_some_and(|own| may_raise(&own))
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
        words.any(|word| REASONS.contains(&word.to_ascii_lowercase().as_str()))
    };
    says_value(&answer.text) && !is_reasoned()
}

fn is_literal(text: &str) -> bool {
    let value = text.split_once("==").map_or(text, |(_, right)| right);
    literal::read(value.trim(), Words::Python).is_ok()
}
