//! Finds numbers in prose and LaTeX.

use dashu_ratio::RBig;

use super::decimal;
use super::digits::{Notation, Read, digits_at, run, word_end};
use crate::extract::is_unspaced;
use crate::math::syntax::is_minus;

/// A number, and where it stands.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) value: RBig,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Words that scale the number before them, by how much.
const SCALES: [(&str, &str); 12] = [
    ("dozen", "12"),
    ("hundred", "1e2"),
    ("thousand", "1e3"),
    ("lakh", "1e5"),
    ("million", "1e6"),
    ("crore", "1e7"),
    ("billion", "1e9"),
    ("trillion", "1e12"),
    ("千", "1e3"),
    ("万", "1e4"),
    ("萬", "1e4"),
    ("亿", "1e8"),
];

/// Units before which 千 is their prefix.
const KILO_UNITS: [char; 8] = ['克', '米', '瓦', '卡', '焦', '帕', '伏', '赫'];

/// Letters right behind a number that scale it, where no word goes on: 18k, 2.5M.
const SUFFIXES: [(&str, &str); 8] = [
    ("bn", "1e9"),
    ("mn", "1e6"),
    ("k", "1e3"),
    ("K", "1e3"),
    ("M", "1e6"),
    ("B", "1e9"),
    ("T", "1e12"),
    ("mln", "1e6"),
];

/// The fuel of a number, beside that of its bytes.
const NUMBER_FUEL: u64 = 150;

/// The fuel of a power of ten: five bytes may denote a number of a thousand digits.
const POWER_FUEL: u64 = 2000;

/// The fuel of reading every number of `text`.
pub(super) fn price(text: &str) -> u64 {
    let digit = |byte: u8| byte.is_ascii_digit();
    let cost = |bytes: &[u8]| match *bytes {
        // A sign may have several bytes.
        [one, b'e' | b'E', next]
            if digit(one) && (digit(next) || b"+-\xe2\xef".contains(&next)) =>
        {
            POWER_FUEL
        }
        [b'1', b'0', b'^' | b'*'] => POWER_FUEL,
        [_, one, next] if !digit(one) && digit(next) => NUMBER_FUEL,
        _ => 0,
    };
    6 * text.len() as u64 + text.as_bytes().windows(3).map(cost).sum::<u64>()
}

/// How much fuel the numbers of one text may cost; of a text that costs more, the end is read.
const READ_FUEL: u64 = 1_000_000;

/// From where on the numbers of `text` are read, and the fuel for it.
pub(super) fn affordable(text: &str) -> (usize, u64) {
    let whole = price(text);
    if whole <= READ_FUEL {
        return (0, whole);
    }
    let mut length = text.len();
    let mut tail = text;
    let mut cost = whole;
    while cost > READ_FUEL && length > 1 {
        length /= 2;
        tail = &text[text.ceil_char_boundary(text.len() - length)..];
        cost = price(tail);
    }
    // A number is read whole, where blanks stand between them.
    let from = text.len() - tail.len();
    let blank = tail.find(char::is_whitespace).unwrap_or(0);
    (from + blank, cost)
}

/// The first number at or after `from`.
pub(super) fn first(text: &str, from: usize, notation: Notation) -> Option<Found> {
    let mut at = from;
    while at < text.len() {
        match number_at(text, at, notation) {
            Step::Number(found) => return Some(found),
            Step::Skip(end) => at = end,
        }
    }
    None
}

/// The most characters of a unit in scripts without blanks.
const UNIT_CHARS_MAX: usize = 2;
/// Ends of words that state what follows, in scripts without blanks.
const COPULAS: [char; 11] = ['是', '为', '為', '于', '於', '得', 'は', 'が', '은', '는', '이'];

enum Step {
    Number(Found),
    /// Nothing before this place.
    Skip(usize),
}

/// The number that starts at `at`, or how far to go on.
fn number_at(text: &str, at: usize, notation: Notation) -> Step {
    let rest = &text[at..];
    let Some(c) = rest.chars().next() else { return Step::Skip(text.len().max(at + 1)) };
    let next = at + c.len_utf8();
    // An underscore before digits is emphasis; a name begins with a letter.
    let emphasis =
        c == '_' && !text.get(..at).is_some_and(|head| head.ends_with(char::is_alphanumeric));
    if emphasis && rest.trim_start_matches('_').starts_with(|c: char| c.is_ascii_digit()) {
        return Step::Skip(next);
    }
    // Scripts without blanks have no names with digits.
    if is_unspaced(c) {
        return Step::Skip(next);
    }
    if c.is_alphabetic() || c == '_' {
        return Step::Skip(at + word_end(rest));
    }
    let (negative, unsigned) = match c {
        '+' => (false, after_sign(text, at, next)),
        // A dash apart from its digits is punctuation.
        c if is_minus(c) => (
            true,
            after_sign(text, at, next).filter(|start| {
                "-−﹣－".contains(c) || !text.get(next..*start).is_some_and(|gap| gap.contains(' '))
            }),
        ),
        _ => (false, Some(at)),
    };
    let Some(start) = unsigned else { return Step::Skip(next) };
    let found = fraction_of_latex(text, start, notation)
        .or_else(|| plain(text, start, notation))
        .or_else(|| fraction_of_one_character(text, start).map(Ok));
    match found {
        Some(Ok((value, end))) => {
            let (start, minus) = sign_word(text, at);
            let value = if negative == minus { value } else { -value };
            Step::Number(Found { value, start, end })
        }
        Some(Err(end)) => Step::Skip(end.max(next)),
        None => Step::Skip(next),
    }
}

/// Where the word of a sign before a number starts, and whether it is there: "negative 5".
fn sign_word(text: &str, at: usize) -> (usize, bool) {
    let before = text[..at].trim_end_matches(' ');
    let word = ["negative", "Negative", "minus", "Minus"].iter().find_map(|word| {
        let head = before.strip_suffix(word)?;
        let lead = head.trim_end_matches([' ', '$']);
        let subtracts = word.ends_with("inus")
            && lead.ends_with(|c: char| c.is_ascii_digit() || ")}".contains(c));
        (!head.ends_with(char::is_alphanumeric) && !subtracts).then_some(head.len())
    });
    word.map_or((at, false), |start| (start, true))
}

/// A sign belongs to the number unless it subtracts from what stands before it.
fn after_sign(text: &str, at: usize, next: usize) -> Option<usize> {
    if subtracts(text.get(..at)?) {
        return None;
    }
    let rest = text.get(next..)?;
    let skipped = rest.trim_start_matches(['$', '€', '£', '¥', ' ']);
    let skipped = skipped.strip_prefix("\\$").unwrap_or(skipped);
    (rest.len() - skipped.len() <= 3).then_some(text.len() - skipped.len())
}

/// Whether a dash behind this text takes away from what ends it. In scripts without blanks a
/// dash behind a word is a sign, but for one behind the unit of a number: "5元-8元".
fn subtracts(before: &str) -> bool {
    let head = before.trim_end_matches(is_unspaced);
    let word = &before[head.len()..];
    if word.is_empty() {
        return head.ends_with(|c: char| c.is_alphanumeric() || c == ')' || c == '}');
    }
    let is_unit = word.chars().count() <= UNIT_CHARS_MAX && !word.ends_with(COPULAS);
    is_unit && head.ends_with(|c: char| c.is_ascii_digit())
}

/// `\frac{3}{4}`, `\frac34`.
fn fraction_of_latex(text: &str, at: usize, notation: Notation) -> Read {
    let rest = text.get(at..)?;
    let command = ["\\frac", "\\dfrac", "\\tfrac"].iter().find(|c| rest.starts_with(**c))?;
    let mut end = at + command.len();
    let mut parts = Vec::new();
    for _ in 0..2 {
        let (digits, length) = part(text.get(end..)?)?;
        let (negative, digits) = match digits.trim().strip_prefix(is_minus) {
            Some(digits) => (true, digits),
            None => (false, digits.trim()),
        };
        let (value, read) = digits_at(digits, 0, notation)?.ok()?;
        if read != digits.len() {
            return None;
        }
        parts.push(if negative { -value } else { value });
        end += length;
    }
    let [numerator, denominator]: [RBig; 2] = parts.try_into().ok()?;
    (denominator != RBig::ZERO).then(|| Ok((numerator / denominator, end)))
}

/// What stands in the braces at the start of `text`, or else its first digit; and how much that is
/// with the braces.
fn part(text: &str) -> Option<(&str, usize)> {
    let Some(inner) = text.strip_prefix('{') else {
        let digit = text.get(..run(text, 0).min(1)).filter(|digit| !digit.is_empty())?;
        return Some((digit, 1));
    };
    let (digits, rest) = inner.split_at_checked(inner.find(['{', '}'])?)?;
    rest.starts_with('}').then_some((digits, digits.len() + 2))
}

/// `12.5`, `3/4`, `1 1/2`, `2 \times 10^5`, `3 million`, `50%`.
fn plain(text: &str, at: usize, notation: Notation) -> Read {
    let (mut value, mut end) = match digits_at(text, at, notation)? {
        Ok(read) => read,
        Err(end) => return Some(Err(end)),
    };
    if let Some((over, after)) = over(text, end, notation) {
        (value, end) = (value / over, after);
    } else if let Some((part, after)) = mixed(text, end, notation) {
        (value, end) = (value + part, after);
    }
    if let Some((power, after)) = times_power(text, end) {
        (value, end) = (value * power, after);
    }
    let rest = text.get(end..)?;
    if let Some((power, after)) = scale(text, end) {
        (value, end) = (value * power, after);
    }
    let percent = ["%", "\\%", " %", " percent", " \\%"].iter().find(|p| rest.starts_with(**p));
    if let Some(percent) = percent.filter(|_| notation.percent_is_fraction) {
        (value, end) = (value * decimal::parse("1e-2")?, end + percent.len());
    }
    Some(Ok((value, end)))
}

/// What scales the number before it, ` million`, `k`, and where that ends.
pub(super) fn scale(text: &str, at: usize) -> Option<(RBig, usize)> {
    let rest = text.get(at..)?;
    let trimmed = rest.trim_start();
    for (word, power) in &SCALES {
        let start = trimmed.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        // Five thousandths are no thousands.
        let ends = |tail: &str| match *word {
            // 千克 is a kilogram.
            "千" => !tail.starts_with(KILO_UNITS),
            word => {
                !word.is_ascii() || !tail.trim_start_matches('s').starts_with(char::is_alphabetic)
            }
        };
        if start.and(trimmed.get(word.len()..)).is_some_and(ends) {
            return Some((decimal::parse(power)?, text.len() - trimmed.len() + word.len()));
        }
    }
    let is_end = |tail: &&str| !tail.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let (tail, power) = SUFFIXES.iter().find_map(|(letters, power)| {
        Some((rest.strip_prefix(*letters).filter(is_end)?, power))
    })?;
    Some((decimal::parse(power)?, text.len() - tail.len()))
}

/// Signs of division, of which one may have been typed for a fraction.
pub(super) const SLASHES: [char; 4] = ['/', '⁄', '∕', '／'];

/// `/4`, where it is not the start of a date.
fn over(text: &str, at: usize, notation: Notation) -> Option<(RBig, usize)> {
    let rest = text.get(at..)?.strip_prefix(SLASHES)?;
    let (value, end) = digits_at(text, text.len() - rest.len(), notation)?.ok()?;
    let is_date = text.get(end..)?.starts_with('/');
    (value != RBig::ZERO && !is_date).then_some((value, end))
}

/// ` 1/2`, `½` or `\frac{1}{2}` after a whole number.
fn mixed(text: &str, at: usize, notation: Notation) -> Option<(RBig, usize)> {
    if let Some(part) = fraction_of_one_character(text, at) {
        return Some(part);
    }
    let rest = text.get(at..)?;
    if let Some(Ok((part, end))) =
        fraction_of_latex(text, text.len() - rest.trim_start_matches(' ').len(), notation)
    {
        return (part > RBig::ZERO && part < RBig::ONE).then_some((part, end));
    }
    let rest = rest.strip_prefix(' ')?;
    let (value, end) = digits_at(text, text.len() - rest.len(), notation)?.ok()?;
    let (over, after) = over(text, end, notation)?;
    (value < over).then(|| (value / over, after))
}

/// Fractions of one character.
#[rustfmt::skip]
const FRACTIONS: [(char, u8, u8); 15] = [
    ('½', 1, 2), ('⅓', 1, 3), ('⅔', 2, 3), ('¼', 1, 4), ('¾', 3, 4), ('⅕', 1, 5), ('⅖', 2, 5), ('⅗', 3, 5),
    ('⅘', 4, 5), ('⅙', 1, 6), ('⅚', 5, 6), ('⅛', 1, 8), ('⅜', 3, 8), ('⅝', 5, 8), ('⅞', 7, 8),
];

/// `½`.
fn fraction_of_one_character(text: &str, at: usize) -> Option<(RBig, usize)> {
    let c = text.get(at..)?.chars().next()?;
    let (_, over, under) = FRACTIONS.iter().find(|(fraction, ..)| *fraction == c)?;
    Some((RBig::from(*over) / RBig::from(*under), at + c.len_utf8()))
}

/// ` \times 10^{5}`.
fn times_power(text: &str, at: usize) -> Option<(RBig, usize)> {
    let rest = text.get(at..)?.trim_start();
    let sign = ["\\times", "\\cdot", "×", "·", "x", "*"].iter().find(|s| rest.starts_with(**s))?;
    let rest = rest.get(sign.len()..)?.trim_start();
    if let Some(raised) =
        rest.strip_prefix("10").filter(|raised| raised.starts_with(is_superscript))
    {
        let length = raised.find(|c| !is_superscript(c)).unwrap_or(raised.len());
        let exponent: String = raised.get(..length)?.chars().filter_map(lowered).collect();
        return Some((
            decimal::parse(&format!("1e{exponent}"))?,
            text.len() - raised.len() + length,
        ));
    }
    let rest = rest.strip_prefix("10^").or_else(|| rest.strip_prefix("10**"))?;
    let digits = rest.trim_start_matches(['{', '(']);
    let length =
        digits.char_indices().take_while(|(_, c)| c.is_ascii_digit() || *c == '+' || is_minus(*c));
    let length = length.last().map(|(at, c)| at + c.len_utf8())?;
    let exponent = digits.get(..length)?.replace(is_minus, "-");
    let power = decimal::parse(&format!("1e{exponent}"))?;
    let tail = digits.get(length..)?;
    let tail = if digits.len() < rest.len() { tail.strip_prefix(['}', ')'])? } else { tail };
    Some((power, text.len() - tail.len()))
}

const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺";

/// Whether a character is a digit or sign of an exponent.
pub(super) fn is_superscript(c: char) -> bool {
    SUPERSCRIPTS.contains(c)
}

/// The digit or sign of an exponent on its line.
fn lowered(c: char) -> Option<char> {
    let at = SUPERSCRIPTS.chars().position(|other| other == c)?;
    "0123456789-+".chars().nth(at)
}

#[cfg(test)]
mod tests {
    use super::{READ_FUEL, affordable};

    #[test]
    fn of_very_many_numbers_the_last_are_read() {
        for bomb in ["1e9".repeat(10_000), "1e9e".repeat(5_000), "1e9 ".repeat(10_000)] {
            let (from, cost) = affordable(&bomb);
            assert!(from > 0 && cost <= READ_FUEL && bomb.is_char_boundary(from));
        }
        assert_eq!(affordable("The answer is 42.").0, 0);
    }
}
