//! The digits of a number, with separators, decimals and an exponent.

use dashu_ratio::RBig;

use super::decimal;
use crate::extract::is_unspaced;
use crate::language::value;
use crate::math::syntax::is_minus;

/// The notation of numbers.
#[derive(Clone, Copy)]
pub(super) struct Notation {
    pub(super) decimal_comma: bool,
    pub(super) blank_separates: bool,
    pub(super) percent_is_fraction: bool,
}

/// A value and where it ends, or how far something reaches that is no number.
pub(super) type Read = Option<Result<(RBig, usize), usize>>;

/// Digits with separators, decimals and an exponent. An error is how far something reaches that
/// looks like a number and is none: a version, an ordinal, too many digits.
pub(super) fn digits_at(text: &str, at: usize, notation: Notation) -> Read {
    let (point, separator) = if notation.decimal_comma { (',', '.') } else { ('.', ',') };
    let rest = text.get(at..)?;
    let mut digits = String::new();
    let mut end = run(rest, 0);
    digits.push_str(rest.get(..end)?);
    if (1..=3).contains(&end) {
        while let Some(after) = group(rest, end, separator, notation) {
            digits.push_str(rest.get(after - 3..after)?);
            end = after;
        }
    }
    while rest.get(end..)?.starts_with('_') && run(rest, end + 1) > end + 1 {
        let after = run(rest, end + 1);
        digits.push_str(rest.get(end + 1..after)?);
        end = after;
    }
    // LaTeX sets a comma without a gap as "2{,}5".
    let braced = rest.get(end..)?.starts_with("{,}") && notation.decimal_comma;
    let decimals = end + if braced { 3 } else { 1 };
    if (braced || rest.get(end..)?.starts_with(point)) && run(rest, decimals) > decimals {
        let after = run(rest, decimals);
        digits.push('.');
        digits.push_str(rest.get(decimals..after)?);
        end = after;
    }
    if digits.is_empty() {
        return None;
    }
    if let Some(after) = exponent(rest, end) {
        digits.push_str(&rest.get(end..after)?.replace(is_minus, "-"));
        end = after;
    }
    let tail = rest.get(end..)?;
    let is_version = tail.starts_with('.') && run(tail, 1) > 1;
    let is_ordinal = value::ORDINALS.iter().any(|o| tail.starts_with(o) && word_end(tail) == 2);
    if let Some(after) = date_end(rest, end) {
        return Some(Err(at + after));
    }
    match decimal::parse(&digits) {
        Some(value) if !is_version && !is_ordinal => Some(Ok((value, at + end))),
        _ => Some(Err(at + end + if is_version { run(tail, 1) } else { 0 })),
    }
}

/// The end of a date or a time, of which no part is the number that is meant: 2024-01-18, 18:30.
fn date_end(text: &str, at: usize) -> Option<usize> {
    let next = |at: usize, sign: char| {
        let digits = run(text.get(at..)?.strip_prefix(sign)?, 0);
        (digits > 0).then_some(at + 1 + digits)
    };
    let mut end = next(at, ':').or_else(|| next(at, '-').and_then(|end| next(end, '-')))?;
    while let Some(after) = next(end, ':').or_else(|| next(end, '-')) {
        end = after;
    }
    Some(end)
}

/// The end of the run of digits at `at`.
pub(super) fn run(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.bytes().take_while(u8::is_ascii_digit).count()
}

/// The end of a separator and exactly three digits.
fn group(text: &str, at: usize, separator: char, notation: Notation) -> Option<usize> {
    let rest = text.get(at..)?;
    let blanks: &[&str] = &["\u{202f}", "\u{a0}", "\u{2009}", "\\,", "'", "’", "{,}"];
    // Where the comma is the decimal point, it parts no groups.
    let blanks = if notation.decimal_comma { blanks.get(..6)? } else { blanks };
    let blank = blanks.iter().find(|blank| rest.starts_with(**blank)).map(|blank| blank.len());
    let is_separator =
        rest.starts_with(separator) || (notation.blank_separates && rest.starts_with(' '));
    let skipped = blank.or(is_separator.then_some(1))?;
    let end = run(rest, skipped);
    (end == skipped + 3).then_some(at + end)
}

/// The end of `e-5`.
fn exponent(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(['e', 'E'])?;
    let signed = rest.strip_prefix(|c| c == '+' || is_minus(c)).unwrap_or(rest);
    let start = text.len() - signed.len();
    let end = run(text, start);
    (end > start).then_some(end)
}

/// A name with its digits is skipped whole: `x2`, `H2O`.
pub(super) fn word_end(rest: &str) -> usize {
    let goes_on = |c: char| (c.is_alphanumeric() && !is_unspaced(c)) || c == '_';
    rest.find(|c: char| !goes_on(c)).unwrap_or(rest.len())
}
