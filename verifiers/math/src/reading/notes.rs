//! Notes beside an answer: `7 (approx.)`, `3 (cm)`, `P(X = 3) = 0.25`.

use std::borrow::Cow;

use crate::syntax::{Rel, number_words, plain_text};

/// Longer texts are not searched for notes.
const TEXT_MAX: usize = 400;
/// Notes without meaning for the value.
#[rustfmt::skip]
const SILENT: [&str; 9] = [
    "approx", "exact", "rounded", "simplified", "in simplest", "about", "final answer",
    "to the nearest", "nearest",
];
/// What may be between a value and its note.
const GAPS: [&str; 8] = ["\\text{", "\\mathrm{", "\\", "\\,", "\\;", "\\quad", "~", "$"];
/// What a note may begin with.
const LEADS: [&str; 7] = ["or ", "or", "i.e. ", "i.e., ", "that is, ", "=", "\\approx"];

/// Words before a restriction.
const QUALIFIERS: [&str; 6] =
    ["\\text{ for }", "\\text{for }", "\\text{ where }", "\\text{where }", " for ", " where "];

/// A value and what its note says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Note<'a> {
    /// The text with what the note says, or without it.
    Part(Cow<'a, str>),
    /// A value in brackets, which may be the same value. What is offered with "or" is not a rounding of
    /// the value to an integer.
    Again { value: &'a str, note: &'a str, sign: Rel },
}

/// The note at the end of a text: `7 (approx.)`, `3 (cm)`, `\frac34 (75\%)`, `4\text{ (four)}`.
pub(crate) fn note(text: &str) -> Option<Note<'_>> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let closed = text.strip_suffix('}').filter(|rest| rest.ends_with([')', ']'])).unwrap_or(text);
    let open = opening(closed)?;
    let inner = closed.get(open + 1..closed.len() - 1)?.trim();
    let (value, apart) = without_gap(closed.get(..open)?);
    if value.is_empty() || !apart {
        return None;
    }
    let inner = unwrapped(inner);
    let lower = inner.to_ascii_lowercase();
    if lower.starts_with("mod") {
        return None;
    }
    // "(rounded to 2 places)" is without meaning, but "(about 5)" is a value.
    let brief = lower.split(' ').count() <= 2 && !lower.contains(|c: char| c.is_ascii_digit());
    let of_rounding = lower.starts_with("rounded") || lower.contains("nearest");
    if (brief || of_rounding) && SILENT.iter().any(|word| lower.starts_with(word)) {
        return Some(Note::Part(Cow::Borrowed(value)));
    }
    if let Some(base) = lower.strip_prefix("base ") {
        return Some(Note::Part(Cow::Owned(format!("{value}_{{{}}}", base.trim()))));
    }
    let lead = LEADS.iter().find_map(|lead| inner.strip_prefix(lead)).unwrap_or(inner);
    // \text{ (or } 0.5)
    let lead = lead.strip_prefix('}').unwrap_or(lead);
    let spelled = plain_text(unwrapped(lead.trim()));
    if number_words::number(&spelled).is_some() || lead.contains(|c: char| c.is_ascii_digit()) {
        let plain = !lead.contains(['=', '<', '>', ',']) || lead.len() < inner.len();
        let sign = if inner.starts_with("or") { Rel::Equal } else { Rel::Approx };
        return plain.then(|| Note::Again { value, note: unwrapped(lead.trim()), sign });
    }
    let words = inner.len() > 1 || value.ends_with(|c: char| c.is_ascii_digit());
    let word = |c: char| c.is_ascii_alphabetic() || matches!(c, ' ' | '/' | '^');
    let counts = value.ends_with(|c: char| c.is_ascii_digit() || c == '}');
    (words && counts && inner.chars().all(word) && !inner.is_empty())
        .then(|| Note::Part(Cow::Owned(format!("{value}\\text{{ {inner}}}"))))
}

/// A value with the restriction after it as a clause of its own: "2x + 1 for x > 0", `2x + 1 (x > 0)`.
pub(crate) fn restricted(text: &str) -> Option<String> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let apart = text.ends_with(')').then(|| opening(text)).flatten().and_then(|open| {
        let inner = text.get(open + 1..text.len() - 1)?;
        Some((without_gap(text.get(..open)?).0, inner))
    });
    let said = QUALIFIERS.iter().find_map(|word| text.split_once(word));
    let (value, condition) = apart.filter(|(_, condition)| restricts(condition)).or(said)?;
    let plain = !value.trim().is_empty() && restricts(condition);
    plain.then(|| format!("{}, {}", value.trim(), condition.trim()))
}

/// Whether a text is an inequality.
fn restricts(text: &str) -> bool {
    const SIGNS: [&str; 9] = ["<", ">", "≤", "≥", "≠", "\\le", "\\ge", "\\ne", "\\lt"];
    let related = SIGNS.iter().any(|sign| text.contains(sign)) || text.contains("\\gt");
    // What is before a command is a letter, and the rest is its name.
    let said = text.split(|c: char| !(c.is_ascii_alphabetic() || c == '\\'));
    let mut words = said.filter(|word| word.split('\\').next().is_some_and(|word| word.len() > 1));
    related && !text.contains([',', ';']) && words.next().is_none()
}

/// Where the bracket opens that ends a text.
fn opening(text: &str) -> Option<usize> {
    let (open, close) = match text.as_bytes().last()? {
        b')' => (b'(', b')'),
        b']' => (b'[', b']'),
        _ => return None,
    };
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate().rev() {
        if byte == close {
            depth += 1;
        } else if byte == open {
            depth -= 1;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// A value without the gap after it, and whether there was one.
fn without_gap(head: &str) -> (&str, bool) {
    let mut value = head.trim_end();
    let mut apart = value.len() < head.len();
    while let Some(rest) = GAPS.iter().find_map(|gap| value.strip_suffix(gap)) {
        (value, apart) = (rest.trim_end(), true);
    }
    let open = value.strip_prefix("\\text{").filter(|rest| !rest.contains(['{', '}']));
    (open.unwrap_or(value), apart)
}

/// What is in `\text{}`, where this is all.
fn unwrapped(text: &str) -> &str {
    let inner =
        ["\\text{", "\\mathrm{", "\\textbf{"].iter().find_map(|open| text.strip_prefix(open));
    inner
        .and_then(|inner| inner.strip_suffix('}'))
        .filter(|inner| !inner.contains('}'))
        .unwrap_or(text)
        .trim()
}

/// `P(X = 3) = 0.25`, `\mathbb{E}[X] = 3.5`: a function of an event or a variable, as a name and
/// its value.
pub(crate) fn named_value(text: &str) -> Option<String> {
    const NAMES: [&str; 10] = [
        "P",
        "\\Pr",
        "Pr",
        "E",
        "\\mathbb{P}",
        "\\mathbb{E}",
        "\\mathrm{P}",
        "\\text{P}",
        "Var",
        "\\operatorname{Var}",
    ];
    let (from, rest) =
        NAMES.iter().find_map(|name| Some((name.len(), text.strip_prefix(name)?)))?;
    let inner = rest.strip_prefix("\\left").unwrap_or(rest);
    let close = match inner.as_bytes().first()? {
        b'(' => ')',
        b'[' => ']',
        _ => return None,
    };
    let length = inner.get(..TEXT_MAX).unwrap_or(inner).find(close)? + 1;
    // P(x) may define a polynomial.
    let event = close == ']' || inner.get(..length)?.contains(['=', '<', '>', '|', '\\']);
    let end = from + rest.len() - inner.len() + length;
    let value = text.get(end..)?.trim_start().strip_prefix('=')?;
    let name: String = text.get(..end)?.chars().filter(char::is_ascii_alphabetic).collect();
    event.then(|| format!("\\text{{{name}}} = {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_from_factors() {
        let part = |text: &str| match note(text) {
            Some(Note::Part(part)) => part.into_owned(),
            _ => String::new(),
        };
        assert_eq!(part("7.0 (approx)"), "7.0");
        assert_eq!(part("7 \\text{ (exactly)}"), "7");
        assert_eq!(part("2.67 (rounded to 2 places)"), "2.67");
        assert_eq!(part("\\text{minus 5 (approx)}"), "minus 5");
        assert_eq!(part("3 (\\text{dollars})"), "3\\text{ dollars}");
        assert_eq!(part("21\\text{ (base 5)}"), "21_{5}");
        let again = |value, note| Some(Note::Again { value, note, sign: Rel::Approx });
        assert_eq!(note("\\frac34 (0.75)"), again("\\frac34", "0.75"));
        assert_eq!(note("\\text{four (4)}"), again("four", "4"));
        for text in ["f(x)", "x(x+1)", "(1, 2)", "5 (mod 7)", "2 (x + y)", "P (A)", "x = 5 (x = 7)"]
        {
            assert_eq!(note(text), None, "{text}");
        }
    }
}
