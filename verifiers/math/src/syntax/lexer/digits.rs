//! Number tokens: separators of thousands, exponents, repeating decimals, prefixes of bases.

use super::{Lexer, digit_at};
use crate::syntax::token::{Commas, Tok, Token};

/// Separators of thousands, whatever a comma means.
const MARKS: [&str; 7] = ["{,}", "\\!,\\!", ",\\!", "\\,", "\\!", "\u{202f}", "\u{2009}"];
/// Separators of thousands behind at most three leading digits.
const MARKS_OF_SHORT: [&str; 7] = ["\\;", "\\:", "\\ ", "'", "’", "_", "\u{a0}"];
/// The longest mark, with a space, in bytes.
const MARK_MAX: usize = 5;
/// More pairs of digits are a list.
const PAIRS_MAX: usize = 12;
/// Ellipses behind digits.
const ELLIPSES: [&str; 5] = ["\\ldots", "\\dots", "\\cdots", "...", "…"];
/// How the exponent of a power of ten begins.
const EXPONENTS: [&str; 6] = ["e", "E", "\\text{e}", "\\text{E}", "\\mathrm{e}", "\\mathrm{E}"];
/// Prefixes of bases.
const PREFIXES: [(&str, u32); 6] =
    [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8), ("0O", 8)];

impl Lexer<'_> {
    /// Digits with their separators: `1,234.50`, `1{,}234`, `1\,234`, `.5`, `0x1F`.
    pub(crate) fn number(&mut self) {
        let rest = self.rest();
        if let Some((digits, base)) = prefixed(rest) {
            return self.push(Tok::Based(digits, base), digits.len() + 2);
        }
        let commas = if self.encloses(rest) { Commas::Separate } else { self.commas };
        let end = whole(rest, commas);
        // One point is a decimal point, more of them are not.
        let dotted = rest.get(..end).is_some_and(|whole| whole.contains('.'));
        let end = if dotted { end } else { fraction(rest, end, commas) };
        let text = &rest[..end];
        self.push(Tok::Num(text), end.max(1));
        self.exponent();
    }

    /// Whether brackets are around nothing but digits and commas: `(3,331)` is a point.
    fn encloses(&self, rest: &str) -> bool {
        let open = matches!(
            self.tokens.last(),
            Some(Token { tok: Tok::LParen | Tok::LBracket | Tok::LSet, .. })
        );
        open && rest
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == ',')
            .starts_with([')', ']', '\\'])
    }

    /// `2.5e-7`, `1E6`, `1.5\text{e}3`: the exponent is written as a power of ten.
    pub(crate) fn exponent(&mut self) {
        let rest = self.rest();
        if !rest.starts_with(['e', 'E', '\\']) {
            return;
        }
        let Some(mark) = EXPONENTS.iter().find(|mark| rest.starts_with(**mark)) else { return };
        let from = mark.len();
        let sign = usize::from(rest.get(from..).is_some_and(|tail| tail.starts_with(['-', '+'])));
        if !digit_at(rest, from + sign) {
            return;
        }
        let end = digits(rest, from + sign);
        if end > from + 7
            || rest.get(end..).is_some_and(|tail| tail.starts_with(char::is_alphabetic))
        {
            return;
        }
        self.push(Tok::Times, 0);
        self.push(Tok::Num("10"), 0);
        self.push(Tok::Caret, 0);
        if rest.get(from..).is_some_and(|tail| tail.starts_with('-')) {
            self.push(Tok::Minus, 0);
        }
        self.push(Tok::Num(&rest[from + sign..end]), end);
    }
}

/// The whole part with its separators.
fn whole(rest: &str, commas: Commas) -> usize {
    let mut end = digits(rest, 0);
    let special = match rest.as_bytes().get(end) {
        Some(b',') if commas == Commas::Thousands => paired(rest),
        Some(b'.') if points(rest) > 1 => Some(digits_and(rest, b'.')),
        _ => None,
    };
    if let Some(end) = special {
        return end;
    }
    while let Some(separator) = separator(rest, end, commas) {
        end += separator + 3;
    }
    end
}

/// The end of the part after a decimal point or comma, with the mark of digits that go on.
fn fraction(rest: &str, end: usize, commas: Commas) -> usize {
    let tail = &rest[end..];
    let mark = match tail.as_bytes().first() {
        Some(b'.') => 1,
        Some(b',') if commas == Commas::Decimal => 1,
        Some(b'{') if tail.starts_with("{.}") => 3,
        Some(b'{') if tail.starts_with("{,}") && commas == Commas::Decimal => 3,
        _ => return end,
    };
    if digit_at(rest, end + mark) {
        let end = digits(rest, end + mark);
        let tail = &rest[end..];
        return end
            + ELLIPSES.iter().find(|dots| tail.starts_with(**dots)).map_or(0, |dots| dots.len());
    }
    let repeats = tail.starts_with('.') && tail.get(1..).is_some_and(repeats);
    end + usize::from(repeats)
}

/// How many points separate groups of three: `1.000.000`. One alone is a decimal point.
fn points(rest: &str) -> usize {
    let first = digits(rest, 0);
    if !(1..=3).contains(&first) {
        return 0;
    }
    let mut groups = 0;
    let mut at = first;
    while rest.as_bytes().get(at) == Some(&b'.') && digits(rest, at + 1) == at + 4 {
        (groups, at) = (groups + 1, at + 4);
    }
    let ends = !rest.get(at..).is_some_and(|tail| tail.starts_with('.')) || !digit_at(rest, at + 1);
    if ends { groups } else { 0 }
}

/// The end of a number whose digits are in pairs before the last three: `12,34,567`.
fn paired(rest: &str) -> Option<usize> {
    let mut at = digits(rest, 0);
    if !(1..=2).contains(&at) {
        return None;
    }
    let mut pairs = 0;
    while pairs < PAIRS_MAX
        && rest.as_bytes().get(at) == Some(&b',')
        && digits(rest, at + 1) == at + 3
    {
        (pairs, at) = (pairs + 1, at + 3);
    }
    let last = rest.as_bytes().get(at) == Some(&b',') && digits(rest, at + 1) == at + 4;
    let ends = !matches!(rest.as_bytes().get(at + 4), Some(b','));
    (pairs > 0 && last && ends).then_some(at + 4)
}

fn digits_and(text: &str, mark: u8) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while bytes.get(end).is_some_and(|byte| byte.is_ascii_digit() || *byte == mark) {
        end += 1;
    }
    // The dot of a sentence.
    end - usize::from(end > 0 && bytes.get(end - 1) == Some(&mark))
}

/// The digits after the prefix of a base.
fn prefixed(rest: &str) -> Option<(&str, u32)> {
    if !rest.starts_with('0') {
        return None;
    }
    let (prefix, base) = PREFIXES.iter().find(|(prefix, _)| rest.starts_with(prefix))?;
    let tail = rest.get(prefix.len()..)?;
    let length = tail.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let digits = tail.get(..length)?;
    let fits = (1..=64).contains(&length) && digits.chars().all(|digit| digit.is_digit(*base));
    fits.then_some((digits, *base))
}

/// The length of a separator of thousands at `at`, where exactly three digits follow it.
fn separator(rest: &str, at: usize, commas: Commas) -> Option<usize> {
    let tail = rest.get(at..)?;
    // Every mark is short, and three digits come after it.
    let near = tail.bytes().take(MARK_MAX + 1).position(|byte| byte.is_ascii_digit());
    near.filter(|near| *near > 0 && digits(tail, *near) == near + 3)?;
    let starts =
        |marks: &[&'static str]| marks.iter().find(|mark| tail.starts_with(**mark)).copied();
    let marks = if commas == Commas::Decimal { &[][..] } else { &MARKS };
    let length = if let Some(mark) = starts(marks) {
        // 32,\! 349: the space is ignored in mathematics, and the separator joins the digits.
        mark.len() + usize::from(mark.len() > 2 && tail.get(mark.len()..)?.starts_with(' '))
    } else if let Some(mark) = starts(&MARKS_OF_SHORT).or_else(|| starts(&[" ", "~"])) {
        // 1 234 567, but not the mixed number 3 141/1000.
        let end = digits(rest, at + mark.len());
        let below = rest.get(end..).is_some_and(|tail| tail.trim_start().starts_with('/'));
        (digits(rest, 0) <= 3 && !below).then_some(mark.len())?
    } else if commas == Commas::Thousands && tail.starts_with(',') && at <= 3 + 4 * 40 {
        1
    } else {
        return None;
    };
    let from = at + length;
    (digits(rest, from) == from + 3).then_some(length)
}

fn digits(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = from;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    end
}

/// Whether a repeating part starts here: `0.\overline{3}`, `0.(3)`.
fn repeats(tail: &str) -> bool {
    let marks = ["\\overline", "\\bar", "\\dot", "\\\\overline", "\\\\bar"];
    let bracket =
        tail.strip_prefix('(').map(|tail| tail.trim_start_matches(|c: char| c.is_ascii_digit()));
    marks.iter().any(|mark| tail.starts_with(mark))
        || bracket.is_some_and(|after| after.starts_with(')') && !tail.starts_with("()"))
}
