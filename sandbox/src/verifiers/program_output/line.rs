//! Whether an answer names the line that is executed next.

use assay_verifiers::language::program;

use super::find::{Answer, ways};
use super::paid::Paid;
use crate::value::PyValue;

/// By its number, `line 3`, or its text.
pub(super) fn line(answer: &Answer<'_>, number: Option<u32>, text: &str) -> Paid {
    if let (Some(PyValue::Int(said)), Some(number)) = (&answer.value, number) {
        return Paid::if_right(*said == number.into(), "line");
    }
    let right = |way: &str| {
        let way = undressed(way);
        let by_text = !text.trim().is_empty() && way == text.trim();
        by_text || number.is_some_and(|number| numbered(way, text) == Some(number))
    };
    let ways = ways(&answer.text);
    let said = ways.iter().filter_map(|way| said(way));
    Paid::if_right(ways.iter().copied().chain(said).any(right), "line")
}

/// The line that a sentence names as the next one.
fn said(way: &str) -> Option<&str> {
    let lower = way.to_ascii_lowercase();
    let lead =
        program::LINE_LEADS.iter().filter_map(|lead| Some(lower.rfind(lead)? + lead.len())).max();
    if let Some(from) = lead {
        return way.get(from..);
    }
    let body = lower.trim_end_matches(['.', ' ', '\n']);
    let trail = program::LINE_TRAILS.iter().find_map(|trail| body.strip_suffix(trail))?;
    way.get(..trail.len())
}

/// Without marks around it, and without a dot at its end.
fn undressed(text: &str) -> &str {
    text.trim().trim_end_matches('.').trim_matches(['`', '*']).trim()
}

/// The number in `3`, `line 3` and `3: x = 1`. The text that follows must be that of the line.
fn numbered(way: &str, text: &str) -> Option<u32> {
    let lower = way.get(..4).filter(|word| word.eq_ignore_ascii_case("line"));
    let rest = lower.map_or(way, |_| &way[4..]).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest.get(..digits)?.parse().ok()?;
    let after =
        rest.get(digits..)?.trim_start_matches(['*', ' ', ':', '.', ',', ')', '|', '(', '-', '–']);
    let after = undressed(after.strip_suffix(')').filter(|_| rest.contains(" (")).unwrap_or(after));
    (after.is_empty() || text.trim().is_empty() || after == text.trim()).then_some(number)
}

/// Whether an answer says that no line follows.
pub(super) fn says_end(answer: &Answer<'_>) -> bool {
    if let Some(value) = &answer.value {
        return *value == PyValue::None || *value == PyValue::Int((-1).into());
    }
    let word = answer.text.trim().trim_matches(['"', '\'', '`', '.']).to_ascii_lowercase();
    program::ENDS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_right(text: &str) -> bool {
        let answer =
            Answer { text: text.into(), value: None, span: (0, 0), from: "whole", quoted: false };
        line(&answer, Some(3), "    for x in xs:").share >= 1.0
    }

    #[test]
    fn a_line_is_named_by_its_number_or_its_text() {
        for text in [
            "3",
            "line 3",
            "Line 3.",
            "3: for x in xs:",
            "`for x in xs:`",
            "**line 3**",
            "The next line is line 3: `for x in xs:`",
            "The next line is 3.",
            "The next line to be executed is line 3 (`for x in xs:`).",
            "After line 4, the next executed line is line 3.",
            "It goes back to line 3.",
            "Line 3 is executed next.",
            "**Line 3**: `for x in xs:`",
        ] {
            assert!(is_right(text), "{text}");
        }
        for text in [
            "5",
            "3, 4, 5",
            "1 2 3",
            "not 3",
            "3 or 4",
            "The next line is not line 3",
            "The next line is line 3 or line 4",
            "The next line is line 3. The next line is line 4.",
            "3: out = []",
            "Line 3 is not executed next.",
            "Line 3 or line 4 is executed next.",
            "between 3 and 4",
        ] {
            assert!(!is_right(text), "{text}");
        }
    }
}
