//! Emphasis of Markdown around values: `**17** cm`, `*17*`, `__18__`, `<b>18</b>`.
//!
//! Checks for which `**` may be a power read a text without it.

use std::borrow::Cow;

use crate::language::connect;

/// The longest value that is emphasised, in bytes.
const VALUE_MAX: usize = 120;
/// Tags of HTML around a value.
const TAGS: [(&str, &str); 4] =
    [("<b>", "</b>"), ("<strong>", "</strong>"), ("<i>", "</i>"), ("<em>", "</em>")];

/// The text with blanks in place of the signs of emphasis around values with digits, so that places
/// in it stay the same; dollars stand around formulas.
pub(super) fn blanked(text: &str) -> Cow<'_, str> {
    blanked_at(text, &['*', '_', '<'])
}

/// The same for tags of HTML alone, with no formulas.
pub(super) fn untagged(text: &str) -> Cow<'_, str> {
    if text.contains("</") { blanked_at(text, &['<']) } else { Cow::Borrowed(text) }
}

/// The values of a text in bold: `**18 kg**`, `<b>B</b>`. Labels are none.
pub(super) fn bold(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    let signs = [("**", "**"), ("__", "__"), ("<b>", "</b>"), ("<strong>", "</strong>")];
    while let Some(next) =
        text.as_bytes().get(at..).and_then(|rest| memchr::memchr3(b'*', b'_', b'<', rest))
    {
        let start = at + next;
        let rest = &text[start..];
        let sign = signs.iter().find(|(open, _)| rest.starts_with(open));
        let Some((open, close)) = sign else {
            at = start + 1;
            continue;
        };
        let inner = &rest[open.len()..];
        let line = inner.split('\n').next().unwrap_or_default();
        let Some(length) = line.find(close) else {
            at = start + open.len();
            continue;
        };
        let (from, to) = (start + open.len(), start + open.len() + length);
        let value = inner[..length].trim();
        let behind = &text[to + close.len()..];
        let is_label = value.ends_with([':', '：']) || behind.starts_with([':', '：']);
        if !value.is_empty() && value.len() <= VALUE_MAX && !is_label {
            found.push((from, to));
        }
        at = to + close.len();
    }
    found
}

/// The text without the signs of emphasis that begin with one of `marks`. Where these are not only
/// tags, dollars stand around formulas.
fn blanked_at<'a>(text: &'a str, marks: &[char]) -> Cow<'a, str> {
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(marks)) {
        let start = at + found;
        let rest = &text[start..];
        let opener = opener(text, start, rest);
        let Some((open, close)) = opener else {
            let run = rest.len() - rest.trim_start_matches(['*', '_']).len();
            at = start + run.max(1);
            continue;
        };
        let inner = &rest[open.len()..];
        let Some(length) = closing(inner, close) else {
            at = start + open.len();
            continue;
        };
        let (from, to) = (start + open.len(), start + open.len() + length);
        let bytes = out.get_or_insert_with(|| text.as_bytes().to_vec());
        for place in (start..from).chain(to..to + close.len()) {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = b' ';
            }
        }
        if marks.len() > 1 && text.get(from..to).is_some_and(is_formula) {
            for place in [from - 1, to] {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = b'$';
                }
            }
        }
        at = to + close.len();
    }
    out.and_then(|bytes| String::from_utf8(bytes).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The sign of emphasis that opens at `start`, and the one that closes it.
fn opener<'a>(text: &'a str, start: usize, rest: &'a str) -> Option<(&'a str, &'a str)> {
    if let Some(tag) = TAGS.iter().find(|(open, _)| rest.starts_with(open)) {
        return Some(*tag);
    }
    let sign = rest.chars().next().filter(|sign| "*_".contains(*sign))?;
    let run = rest.get(..rest.len() - rest.trim_start_matches(sign).len())?;
    let before = text.get(..start)?.chars().next_back();
    let opens = before.is_none_or(|c| c.is_whitespace() || "([\"“:—–>-".contains(c));
    let apart = rest.get(run.len()..)?.starts_with(|c: char| !c.is_whitespace());
    (opens && apart && run.len() <= 3).then_some((run, run))
}

/// The length of an emphasised value with digits that a sign of emphasis closes on its line.
fn closing(inner: &str, close: &str) -> Option<usize> {
    let near = inner.get(..inner.floor_char_boundary(VALUE_MAX))?;
    let length = near.find(close)?;
    let value = near.get(..length)?;
    let behind = inner.get(length + close.len()..)?;
    let ends = close.starts_with('<')
        || behind
            .chars()
            .next()
            .is_none_or(|c| c.is_whitespace() || ".,;:!?)]\"”'’。，-/".contains(c));
    let holds = value.contains(|c: char| c.is_ascii_digit()) && !value.contains('\n');
    (ends && holds && !value.ends_with(' ')).then_some(length)
}

/// Whether an emphasised value is a formula with a relation, a power or several values, rather than
/// one number or words: "x > 2", "x² + 2x + 1", "2 and 3".
fn is_formula(value: &str) -> bool {
    let signs = ['=', '<', '>', '≤', '≥', '≠', '^', '²', '³', '√', 'π', '∞', '+', '±'];
    let words = value.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1);
    let joins = words.clone().any(|word| connect::OR_AND.contains(&word));
    let mut others = words.filter(|word| word.is_ascii());
    // "E. x + 1" is a choice.
    let is_choice = matches!(value.as_bytes(), [b'A'..=b'Z', b'.' | b')' | b':', ..]);
    let is_plain = !is_choice
        && others.all(|word| connect::OR_AND.contains(&word) || matches!(word, "pi" | "sqrt"));
    is_plain
        && (joins || value.contains(signs))
        && !value.contains(['$', '\\', ':', '*', '`', '?', ';'])
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn values_are_told_from_powers() {
        for (text, plain) in [
            ("The answer is **17** cm.", "The answer is   17   cm."),
            ("**Answer: 17** cm", "  Answer: 17   cm"),
            ("*17* and __18__.", " 17  and   18  ."),
            ("<b>18</b>", "   18    "),
            ("2**3 and x**2", "2**3 and x**2"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("$a_1$ and $a_2$", "$a_1$ and $a_2$"),
            ("**Answer** 4", "**Answer** 4"),
        ] {
            assert_eq!(blanked(text), plain);
        }
    }
}
