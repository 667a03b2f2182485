//! Thousands that a text parts by dots, as in "24.000", in languages with a decimal comma.

use std::ops::Range;

use crate::language::guess::Languages;

/// Languages whose numbers have a decimal comma, and dots between thousands.
const COMMA: [&str; 8] = ["de", "es", "fr", "it", "nl", "pl", "pt", "tr"];

/// The dots between thousands. None where the text has a decimal point.
pub(super) fn dots(text: &str) -> Vec<usize> {
    // Most texts have no dot between digits, and cost no more than this.
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_dot =
        |at: usize| at > 0 && digit(at - 1) && (at + 1..at + 4).all(digit) && !digit(at + 4);
    if !memchr::memchr_iter(b'.', bytes).any(is_dot) {
        return Vec::new();
    }
    let runs = runs(text);
    let is_grouped = |run: &&Range<usize>| groups(&text[(*run).clone()]);
    if !runs.iter().any(|run| is_grouped(&run)) {
        return Vec::new();
    }
    let has_point = |run: &Range<usize>| {
        let number = &text[run.clone()];
        number.contains('.') && !groups(number)
    };
    let languages = Languages::of(text);
    if runs.iter().any(has_point) || !languages.first().is_some_and(|one| COMMA.contains(&one)) {
        return Vec::new();
    }
    let grouped = runs.iter().filter(is_grouped);
    grouped
        .flat_map(|run| {
            let number = &text[run.clone()];
            number.match_indices('.').map(|(at, _)| run.start + at).collect::<Vec<_>>()
        })
        .collect()
}

/// The runs of digits, points and commas that begin and end with a digit.
fn runs(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit()))
    {
        let start = at + start;
        let rest = &text[start..];
        let run = rest.find(|c: char| !(c.is_ascii_digit() || ".,".contains(c)));
        let run = &rest[..run.unwrap_or(rest.len())];
        found.push(start..start + run.trim_end_matches(['.', ',']).len());
        at = start + run.len();
    }
    found
}

/// Whether a number is parted into thousands by dots: "1.260", "1.260,5".
fn groups(number: &str) -> bool {
    let whole = number.split(',').next().unwrap_or_default();
    let mut parts = whole.split('.');
    let first = parts.next().unwrap_or_default();
    let mut others = parts.peekable();
    others.peek().is_some()
        && (1..=3).contains(&first.len())
        && first != "0"
        && others.all(|part| part.len() == 3)
}
