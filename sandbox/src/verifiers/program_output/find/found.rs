//! An answer, and the sides of an assertion.

use std::borrow::Cow;

use crate::value::PyValue;

/// What a completion says.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::verifiers::program_output) struct Answer<'a> {
    /// The words of it, without what is around them.
    pub(in crate::verifiers::program_output) text: Cow<'a, str>,
    /// The value, where the text is JSON of one.
    pub(in crate::verifiers::program_output) value: Option<PyValue>,
    /// Its bytes in the completion.
    pub(in crate::verifiers::program_output) span: (usize, usize),
    /// Where it stood: a fixed word for the evidence.
    pub(in crate::verifiers::program_output) from: &'static str,
    /// Quotes were around it, so that all white space belongs to it.
    pub(in crate::verifiers::program_output) quoted: bool,
}

/// Something, and where it is in the text, in bytes.
pub(in crate::verifiers::program_output) type Placed<T> = (T, (usize, usize));

/// The sides of `f(1) == 2`, with `assert` before it or without, and of `f(1) = 2`.
pub(in crate::verifiers::program_output) fn sides(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("assert ").unwrap_or(text).trim_start();
    let called = text.find('(').is_some_and(|open| {
        let name = &text[..open];
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c))
    });
    if !called {
        return None;
    }
    let at = outside_brackets(text, "=")?;
    let left = text.get(..at)?;
    if left.ends_with(['!', '<', '>']) {
        return None;
    }
    let right = text.get(at + 1..)?;
    let right = right.strip_prefix(['=', '>']).unwrap_or(right);
    Some((left.trim_end(), right.trim()))
}

/// Where `mark` first is outside brackets and quotes.
fn outside_brackets(text: &str, mark: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _)
                if depth == 0 && text.get(at..).is_some_and(|rest| rest.starts_with(mark)) =>
            {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}
