//! Formulas as sequences of symbols: whether one occurs in a question, whether two have one form.

use super::symbols::{ARTICLE, is_number, is_word};
use crate::syntax::units;

/// Whether a symbol of the question is this number, in digits or as a word.
pub(crate) fn is_same_number(symbol: &str, number: &str) -> bool {
    const WORDS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let at = number.parse::<usize>().ok().and_then(|value| value.checked_sub(1));
    let word = at.and_then(|at| WORDS.get(at));
    symbol == number || word.is_some_and(|word| symbol.eq_ignore_ascii_case(word))
}

/// Words that say a factor, and the numbers that stand for it: half is `/ 2` or `.5`.
#[rustfmt::skip]
const FACTORS: [(&str, &[&str]); 13] = [
    ("half", &["2", ".5"]), ("third", &["3"]), ("thirds", &["3"]), ("quarter", &["4", ".25"]), ("quarters", &["4"]),
    ("fourth", &["4"]), ("fifth", &["5", ".2"]), ("tenth", &["10", ".1"]), ("double", &["2"]), ("doubled", &["2"]),
    ("twice", &["2"]), ("triple", &["3"]), ("dozen", &["12"]),
];

/// Whether the question has this number: in digits, as a word, as a factor in words ("half"), or
/// as a percentage.
pub(crate) fn is_given(question: &[&str], number: &str) -> bool {
    let hundredfold = hundredfold(number);
    let number = without_zero(number);
    question.iter().enumerate().any(|(at, have)| {
        let value = without_zero(plain_number(have));
        let is_percentage = || {
            let behind = question.get(at + 1).is_some_and(|next| next.ends_with('%'));
            behind && hundredfold.as_deref() == Some(value)
        };
        is_same_number(value, number)
            || FACTORS
                .iter()
                .any(|(word, numbers)| have.eq_ignore_ascii_case(word) && numbers.contains(&number))
            || is_percentage()
    })
}

/// A number without the zeros that end its decimals: `30.0` is `30`.
pub(crate) fn plain_number(symbol: &str) -> &str {
    match symbol.split_once('.') {
        Some((_, decimals)) if decimals.bytes().all(|byte| byte.is_ascii_digit()) => {
            symbol.trim_end_matches('0').trim_end_matches('.')
        }
        _ => symbol,
    }
}

/// A number without the zero before its point: `0.5` is `.5`.
fn without_zero(number: &str) -> &str {
    number.strip_prefix('0').filter(|rest| rest.starts_with('.')).unwrap_or(number)
}

/// A plain decimal times a hundred: `0.2` is `20`, `1.055` is `105.5`.
fn hundredfold(number: &str) -> Option<String> {
    let (whole, decimals) = number.split_once('.')?;
    let digits = decimals.bytes().all(|byte| byte.is_ascii_digit());
    let padded = format!("{decimals:0<2}");
    let (percents, rest) = padded.split_at_checked(2).filter(|_| digits)?;
    let scaled = format!("{whole}{percents}.{rest}");
    Some(plain_number(scaled.trim_start_matches('0')).to_owned())
}

/// How many symbols of the question are this number with separators: `35,000`.
fn grouped(question: &[&str], number: &str) -> Option<usize> {
    let mut rest = number.strip_prefix(*question.first()?)?;
    let mut length = 1;
    while !rest.is_empty() {
        let [",", digits, ..] = question.get(length..)? else { return None };
        rest = rest.strip_prefix(*digits).filter(|_| digits.len() == 3)?;
        length += 2;
    }
    Some(length)
}

/// The symbols without a final sign of punctuation.
pub(crate) fn unwrapped<'s, 'a>(symbols: &'s [&'a str]) -> &'s [&'a str] {
    let mut symbols = symbols;
    while let [rest @ .., "." | "," | ";"] = symbols {
        symbols = rest;
    }
    symbols
}

/// Whether an answer could be another form of the reference: it has several symbols, or it is one
/// number and the reference is not.
pub(crate) fn changes_form(answer: &[&str], reference: &[&str]) -> bool {
    let mut signs = answer.iter().filter(|symbol| !is_word(symbol));
    match (signs.next(), signs.next()) {
        (Some(_), Some(_)) => !(is_one_number(answer) && is_one_number(reference)),
        (Some(only), None) if is_number(only) => {
            let plain = essence(reference).iter().all(|symbol| is_number(symbol));
            !reference.contains(only) && (!plain || reference.contains(&"%"))
        }
        (Some(only), None) => *only == "pi",
        _ => false,
    }
}

/// Whether the symbols are one number, perhaps in groups of three digits, and its unit.
fn is_one_number(symbols: &[&str]) -> bool {
    let group =
        |pair: &[&str]| matches!(pair, [",", digits] if digits.len() == 3 && is_number(digits));
    match without_unit(symbols) {
        [first, groups @ ..] => is_number(first) && groups.chunks(2).all(group),
        [] => false,
    }
}

/// Whether an answer has the form of the reference, or of a side of it.
pub(crate) fn has_form(answer: &[&str], reference: &[&str]) -> bool {
    let form = essence(answer);
    let sides = reference.split(|symbol| matches!(*symbol, "=" | "\\approx" | "≈"));
    form == essence(reference) || sides.into_iter().any(|side| form == essence(side))
}

/// The symbols without the unit that ends them: `5 km/h`, `25 cm^2`.
fn without_unit<'s, 'a>(symbols: &'s [&'a str]) -> &'s [&'a str] {
    let unit = |symbol: &str| is_word(symbol) || units::known(symbol);
    let mut rest = symbols;
    loop {
        rest = match rest {
            [before @ .., name, "^", "2" | "3"] if unit(name) => before,
            [before @ .., name] if !before.is_empty() && unit(name) => before,
            [before @ .., "/"] if rest.len() < symbols.len() => before,
            _ => return rest,
        };
    }
}

/// The symbols of a form, sorted, without its unit, labels, words, brackets and optional marks.
fn essence<'a>(symbols: &[&'a str]) -> Vec<&'a str> {
    let symbols = without_unit(symbols);
    let mut kept: Vec<&str> = Vec::with_capacity(symbols.len());
    let mut since = 0;
    for symbol in symbols {
        match *symbol {
            // A name before an equals sign.
            "=" if kept.len() == since + 1 => kept.truncate(since),
            "," | ";" => since = kept.len(),
            "%" | "°" | "(" | ")" | "[" | "]" | "{" | "}" | "." => {}
            ">" => kept.push("<"),
            "≥" => kept.push("≤"),
            word if is_word(word) => {}
            other => kept.push(other),
        }
    }
    kept.sort_unstable();
    kept
}

/// Whether a formula occurs in a question as a whole. With `replaced`, a letter of the question may
/// be substituted by a number of the formula.
pub(crate) fn stands(question: &[&str], formula: &[&str], replaced: bool) -> bool {
    (0..question.len()).any(|from| {
        let (before, rest) = question.split_at(from);
        ends(before.last())
            && length_at(rest, formula, replaced)
                .is_some_and(|length| ends(question.get(from + length)))
    })
}

/// "How many seconds are in a day?": one unit of what is to be converted.
pub(crate) fn stands_once(question: &[&str], quantity: &[&str]) -> bool {
    let ["1", unit] = quantity else { return false };
    question.windows(2).any(|pair| {
        let [count, noun] = pair else { return false };
        noun == unit && [ARTICLE, "an", "one", "each", "every", "per"].contains(count)
    })
}

/// How many symbols of the question a formula covers, where it starts there.
fn length_at(question: &[&str], formula: &[&str], replaced: bool) -> Option<usize> {
    let mut letters: Vec<(&str, &[&str])> = Vec::new();
    let (mut at, mut next) = (0, 0);
    while let Some(symbol) = formula.get(next) {
        let have = *question.get(at)?;
        let value = if replaced && is_letter(have) && have != *symbol {
            Some(value_at(formula.get(next..)?)?)
        } else {
            None
        };
        if let Some(value) = value {
            match letters.iter().find(|(letter, _)| *letter == have) {
                Some((_, known)) if *known != value => return None,
                Some(_) => {}
                None => letters.push((have, value)),
            }
            (at, next) = (at + 1, next + value.len());
        } else if have == *symbol || (is_number(symbol) && is_same_number(have, symbol)) {
            (at, next) = (at + 1, next + 1);
        } else if is_number(symbol) && is_number(have) {
            (at, next) = (at + grouped(question.get(at..)?, symbol)?, next + 1);
        } else {
            return None;
        }
    }
    Some(at)
}

fn is_letter(symbol: &str) -> bool {
    matches!(symbol.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

/// The number at the start of a formula, perhaps negative in brackets.
fn value_at<'s, 'a>(formula: &'s [&'a str]) -> Option<&'s [&'a str]> {
    match formula {
        ["(", "-", number, ")", ..] if is_number(number) => formula.get(..4),
        [number, ..] if is_number(number) => formula.get(..1),
        _ => None,
    }
}

/// Whether a formula may begin or end beside this symbol.
fn ends(symbol: Option<&&str>) -> bool {
    symbol.is_none_or(|symbol| {
        matches!(*symbol, "." | "," | ";" | ":" | "?" | "!" | "=") || is_word(symbol)
    })
}
