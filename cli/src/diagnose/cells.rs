//! Numbers and lines of the tables.

use super::view::TOTAL;
use crate::output::count;
use crate::text::inline;

/// Pairs of rewards that are shown.
pub(super) const PAIRS_MAX: usize = 45;

/// A table after an empty line.
pub(super) fn section(text: &mut String, table: &str) {
    text.push('\n');
    text.push_str(table);
    text.push('\n');
}

/// What could not be told.
pub(super) fn notes(text: &mut String, missing: &[String]) {
    for note in missing {
        text.push_str(&format!("not told: {}\n", inline(note)));
    }
}

/// A count.
pub(super) fn amount(rows: usize) -> String {
    count(rows as u64)
}

/// A number, or a dash.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

/// A number with its sign, or a dash.
pub(super) fn signed(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.4}"))
}

/// A slope, which may be small: a character earns little.
pub(super) fn small(value: Option<f64>) -> String {
    match value {
        Some(value) if value != 0.0 && value.abs() < 1e-3 => format!("{value:.2e}"),
        other => number(other),
    }
}

/// Names in the order of a table: the combined reward first.
pub(super) fn names_of<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_by_key(|name| *name != TOTAL);
    names
}
