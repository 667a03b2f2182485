//! Whether an answer says that a program fails, and with which exception.

use assay_verifiers::language::program;

use super::find::Answer;
use super::paid::Paid;
use crate::value::literal::{self, Words};

/// What is paid for knowing that the program fails, but not how.
const FAILS: f64 = 0.5;
/// Characters of an answer that names an exception: whoever tells a story names many.
pub(super) const CHARS_MAX: usize = 200;

/// How the names of exceptions end.
const CLASS_ENDS: [&str; 6] = ["Error", "Exception", "Exit", "Interrupt", "Iteration", "Warning"];
/// Words before a word that may deny it.
const DENIED_WITHIN: usize = 3;

/// All for the class, half for saying that it fails. A class that is denied, doubted, or one of
/// several things that may happen is not said.
pub(super) fn raised(answer: &Answer<'_>, class: &str) -> Paid {
    let text = answer.text.trim();
    let is_value = !answer.quoted && literal::read(text, Words::Python).is_ok();
    if is_value || answer.value.is_some() || text.chars().count() > CHARS_MAX {
        return Paid::NOTHING;
    }
    let tokens = tokens(text);
    let class = class.rsplit('.').next().unwrap_or(class);
    let is_class = |word: &str| is_known(word) || word == class;
    if text.starts_with('[') || is_listed(&tokens, &is_class) || is_led_by_value(text, class) {
        return Paid::NOTHING;
    }
    let said = |is_meant: &dyn Fn(&str) -> bool| {
        let place = tokens.iter().rposition(|token| is_meant(token))?;
        Some(claim(&tokens, place))
    };
    let is_failure = |word: &str| program::FAILURES.contains(&word.to_ascii_lowercase().as_str());
    let named = said(&|word| word == class);
    let other =
        said(&|word| word != class && is_class(word)).filter(|claim| *claim != Claim::Denied);
    match (named, other) {
        (Some(Claim::Made), None) => Paid::full("exception"),
        (Some(_), None) | (Some(Claim::Denied), Some(Claim::Open)) => Paid::NOTHING,
        (_, Some(_)) => Paid { share: FAILS, reading: "fails" },
        (None, None) => match said(&is_failure) {
            Some(Claim::Made) => Paid { share: FAILS, reading: "fails" },
            _ => Paid::NOTHING,
        },
    }
}

fn is_known(word: &str) -> bool {
    CLASS_ENDS.iter().any(|end| word.len() > end.len() && word.ends_with(end))
}

/// Whether a text says of any class of exceptions that it is raised, or may be.
pub(super) fn may_raise(text: &str) -> bool {
    let tokens = tokens(text);
    let is_claimed = |(place, word): (usize, &&str)| {
        let handles =
            || place.checked_sub(1).and_then(|before| tokens.get(before)) == Some(&"except");
        is_known(word) && !handles() && claim(&tokens, place) != Claim::Denied
    };
    tokens.iter().enumerate().any(is_claimed)
}

/// Whether a text is a list of single words of which a class is one, and not all are.
fn is_listed(tokens: &[&str], is_class: &dyn Fn(&str) -> bool) -> bool {
    let is_sign = |token: &&str| program::LIST_SIGNS.contains(token);
    let tokens = tokens.strip_suffix(&["."]).unwrap_or(tokens);
    let items: Vec<&[&str]> = tokens.split(|token| is_sign(token)).collect();
    let words: Vec<&str> = items.iter().filter_map(|item| item.first().copied()).collect();
    let is_failure = |word: &str| program::FAILURES.contains(&word.to_ascii_lowercase().as_str());
    let names = |word: &&str| is_class(word) || is_failure(word);
    items.len() > 1
        && items.iter().all(|item| item.len() <= 1)
        && words.iter().any(names)
        && !words.iter().all(names)
}

/// Whether a literal is before the class and nothing else does.
fn is_led_by_value(text: &str, class: &str) -> bool {
    let Ok((_, length)) = literal::prefix(text, Words::Python) else { return false };
    let rest = &text[length..];
    let rest = tokens(rest.trim_end_matches(['.', ')']));
    let mut rest = rest.iter().skip_while(|token| {
        !token.chars().any(char::is_alphanumeric)
            || program::LIGHT.contains(token)
            || **token == "and"
    });
    let has_sign = text.get(length..).is_some_and(|rest| {
        let first = rest.trim_start_matches([' ', '`', '*']);
        first.starts_with([',', ';', '/', '|', '(', '-', '—', '\n'])
            || first.starts_with("and ")
            || first.starts_with(class)
    });
    length > 0 && has_sign && rest.next().is_some_and(|word| *word == class || is_known(word))
}

/// What an answer says of an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Made,
    Denied,
    /// It may be raised, or something else may happen.
    Open,
}

/// Words and signs, without white space and what only sets words off.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || "_'’".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| !is_word(c)).filter(|length| *length > 0);
        let length = if is_word(first) { length.unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        let token = token.trim_matches('\'');
        if !token.is_empty()
            && !token.starts_with(|c: char| c.is_whitespace() || "`*\"".contains(c))
        {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// What is said of the exception at `place`.
fn claim(tokens: &[&str], place: usize) -> Claim {
    let (before, after) = tokens.split_at(place);
    let before: Vec<&str> = before.iter().rev().copied().collect();
    let after: Vec<&str> = after.iter().skip(1).copied().collect();
    let is_alternative = is_or(&before) || is_or(&after);
    let (backward, forward) = (walked(&before), walked(&after));
    // Behind the name of an exception its message may stand, which is more than one word.
    let is_none = |word: &str| program::NONE.iter().any(|none| none.eq_ignore_ascii_case(word));
    let none =
        matches!(after.as_slice(), [":" | "=", word] | [":" | "=", word, "."] if is_none(word));
    match (backward, forward) {
        _ if none || before.first() == Some(&"0") || is_averted(&after) => Claim::Denied,
        (Walk::Doubt, _) | (_, Walk::Doubt) => Claim::Open,
        (Walk::Negations(one), Walk::Negations(other)) if (one + other) % 2 == 1 => Claim::Denied,
        _ if is_alternative || is_conditional(tokens) || after.first() == Some(&"?") => Claim::Open,
        _ => Claim::Made,
    }
}

/// Whether one of two things is said to happen.
fn is_conditional(tokens: &[&str]) -> bool {
    tokens.iter().any(|token| program::OTHERWISE.contains(&token.to_ascii_lowercase().as_str()))
}

/// Whether the words after a class say, before the sentence ends, that it is caught, and not that
/// another class is.
fn is_averted(after: &[&str]) -> bool {
    let sentence = || after.iter().take_while(|token| **token != "." && !is_known(token));
    let averts = |word: &str| program::AVERTING.iter().any(|stem| word.starts_with(stem));
    sentence().enumerate().any(|(place, token)| {
        let word = token.to_lowercase();
        let (before, behind) = after.split_at(place);
        let denies = |token: &&&str| is_negation(&token.to_lowercase());
        let is_denied = before.iter().rev().take(DENIED_WITHIN).any(|token| denies(&token));
        let mut objects = behind
            .iter()
            .skip(1)
            .skip_while(|word| program::LIGHT.contains(word) || program::LIMITING.contains(word));
        let is_noun = program::GUARDS.contains(&word.as_str());
        averts(&word)
            && !is_noun
            && !is_denied
            && !objects.next().is_some_and(|word| is_known(word))
    })
}

fn is_negation(word: &str) -> bool {
    program::NEGATIONS.contains(&word)
        || word.ends_with("n't")
        || word.ends_with("n’t")
        || program::SUBJECTS.contains(&word)
}

/// Whether the words come to an "or" before anything else.
fn is_or(words: &[&str]) -> bool {
    let mut words = words
        .iter()
        .skip_while(|word| program::LIGHT.contains(word) || ["(", ")", ","].contains(word));
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("or"))
}

enum Walk {
    Negations(usize),
    Doubt,
}

/// Counts what denies in the words of a clause, up to the first that says something else.
fn walked(words: &[&str]) -> Walk {
    let mut negations = 0;
    let mut last = "";
    for token in words {
        let word = token.to_lowercase();
        // "instead of", read backward; "instead" alone denies nothing.
        let pair = std::mem::replace(&mut last, token);
        let averts = matches!((word.as_str(), pair), ("instead", "of") | ("rather", "than"));
        if program::DOUBTS.contains(&word.as_str()) {
            return Walk::Doubt;
        }
        let averts = averts || program::AVERTING.iter().any(|stem| word.starts_with(stem));
        let negates = program::NEGATIONS.contains(&word.as_str())
            || word.ends_with("n't")
            || word.ends_with("n’t");
        if averts || negates {
            negations += 1;
        } else if !program::LIGHT.contains(&word.as_str()) {
            break;
        }
    }
    Walk::Negations(negations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> f64 {
        let answer =
            Answer { text: text.into(), value: None, span: (0, 0), from: "whole", quoted: false };
        raised(&answer, "ZeroDivisionError").share
    }

    #[test]
    fn an_exception_that_is_said() {
        for text in [
            "ZeroDivisionError",
            "It raises a ZeroDivisionError.",
            "raise ZeroDivisionError('division by zero')",
            "ZeroDivisionError: integer division or modulo by zero",
            "ZeroDivisionError: not a number",
            "No value is returned, ZeroDivisionError is raised",
            "It does not return; it raises ZeroDivisionError",
            "It doesn't return a value but raises ZeroDivisionError",
            "10 cannot be divided by 0, so it raises `ZeroDivisionError`",
            "an uncaught ZeroDivisionError",
            "The ZeroDivisionError is not caught",
            "nothing catches it, so ZeroDivisionError is raised",
            "It instead raises ZeroDivisionError",
            "It raises ZeroDivisionError, not ValueError",
            "It raises ZeroDivisionError instead of returning 0",
            "builtins.ZeroDivisionError",
            "a ZeroDivisionError would be raised",
            "Traceback (most recent call last):\nZeroDivisionError: division by zero",
        ] {
            assert!((share(text) - 1.0).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn an_exception_that_is_denied_or_left_open() {
        for text in [
            "no ZeroDivisionError",
            "No ZeroDivisionError is raised",
            "not a ZeroDivisionError",
            "It never raises a ZeroDivisionError",
            "It doesn't raise ZeroDivisionError",
            "It avoids the ZeroDivisionError and returns 0",
            "The ZeroDivisionError is caught and 0 returned",
            "handles ZeroDivisionError",
            "0 instead of ZeroDivisionError",
            "0 rather than a ZeroDivisionError",
            "without ZeroDivisionError",
            "ZeroDivisionError is not raised",
            "ZeroDivisionError does not occur",
            "ZeroDivisionError won't be raised",
            "ZeroDivisionError or None",
            "None or ZeroDivisionError",
            "0 (or ZeroDivisionError)",
            "ZeroDivisionError, or 0",
            "ZeroDivisionError?",
            "maybe ZeroDivisionError",
            "It might raise a ZeroDivisionError",
            "It raises ZeroDivisionError? Then no ZeroDivisionError is raised",
            "It does not raise an error; 0",
            "Exception: none",
            "errors: 0",
            "no exception",
            "0 errors",
            "It does not fail",
            "5 or an error",
            "terror",
            "5",
        ] {
            assert!(share(text).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn a_failure_without_its_name() {
        for text in [
            "it raises an error",
            "error",
            "raise Exception",
            "ZeroDivisionError or ValueError",
            "ValueError",
            "It raises ValueError or TypeError",
            "It crashes because 0 is not allowed",
            "a division by zero error",
        ] {
            assert!((share(text) - 0.5).abs() < 1e-9, "{text}");
        }
    }
}
