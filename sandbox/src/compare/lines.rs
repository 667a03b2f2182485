//! Tokens and lines, in order and in any order.

use std::cmp::Ordering;

use assay_verifiers::{Fault, Meter};

use super::difference::Difference;
use super::number::{near, value};
use super::tolerance::Errors;

/// How one line, or one token, equals another.
pub(super) struct Lines {
    /// Only the words of a line count.
    pub(super) words: bool,
    pub(super) ignore_case: bool,
    pub(super) errors: Option<Errors>,
}

impl Lines {
    pub(super) fn exact(&self, expected: &str, got: &str) -> Option<Difference> {
        if self.same(expected, got) {
            return None;
        }
        let pairs = expected.split_inclusive('\n').zip(got.split_inclusive('\n'));
        let same = pairs.take_while(|(a, b)| self.same(a, b)).count();
        let line = |text: &str| text.split_inclusive('\n').nth(same).unwrap_or_default().to_owned();
        Some(Difference::new("different-text", same + 1, &line(expected), &line(got)))
    }

    pub(super) fn tokens(&self, expected: &str, got: &str) -> Option<Difference> {
        let (mut wanted, mut found) = (expected.split_whitespace(), got.split_whitespace());
        let mut index = 0;
        loop {
            let (reason, text, at, pair) = match (wanted.next(), found.next()) {
                (None, None) => return None,
                (Some(a), Some(b)) if self.token(a, b) => {
                    index += 1;
                    continue;
                }
                (Some(a), Some(b)) => ("different-token", expected, a, (a, b)),
                (Some(a), None) => ("missing-token", expected, a, (a, "")),
                (None, Some(b)) => ("extra-token", got, b, ("", b)),
            };
            let line = line_of(text, at);
            return Some(Difference::new(reason, line, pair.0, pair.1).at_token(index));
        }
    }

    pub(super) fn ordered(&self, expected: &str, got: &str) -> Option<Difference> {
        let (wanted, found) = (trimmed(expected), trimmed(got));
        let (mut wanted, mut found) = (wanted.lines(), found.lines());
        let mut line = 1;
        loop {
            let (a, b) = (wanted.next(), found.next());
            match self.line_pair(line, a, b) {
                None if a.is_none() => return None,
                None => line += 1,
                difference => return difference,
            }
        }
    }

    /// Without a tolerance equal lines are at equal places once both sides are sorted. With one
    /// they nearly always do: lines that differ by less than the tolerance in one column alone
    /// might not.
    pub(super) fn unordered(
        &self,
        expected: &str,
        got: &str,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Difference>, Fault> {
        let (mut wanted, mut found) = (self.keyed(expected), self.keyed(got));
        let doublings = u64::from((wanted.len() + found.len()).max(2).ilog2());
        meter.spend((expected.len() + got.len()) as u64 * doublings)?;
        wanted.sort_by(Keyed::cmp);
        found.sort_by(Keyed::cmp);
        let count = wanted.len().max(found.len());
        Ok((0..count).find_map(|index| {
            let (a, b) = (wanted.get(index), found.get(index));
            self.line_pair(a.or(b)?.number, a.map(|line| line.text), b.map(|line| line.text))
        }))
    }

    fn line_pair(&self, line: usize, a: Option<&str>, b: Option<&str>) -> Option<Difference> {
        let (reason, a, b) = match (a, b) {
            (None, None) => return None,
            (Some(a), Some(b)) if self.line(a.trim_end(), b.trim_end()) => return None,
            (Some(a), Some(b)) => ("different-line", a, b),
            (Some(a), None) => ("missing-line", a, ""),
            (None, Some(b)) => ("extra-line", "", b),
        };
        Some(Difference::new(reason, line, a, b))
    }

    fn line(&self, expected: &str, got: &str) -> bool {
        if self.words {
            let (mut a, mut b) = (expected.split_whitespace(), got.split_whitespace());
            return std::iter::from_fn(|| match (a.next(), b.next()) {
                (None, None) => None,
                (Some(a), Some(b)) => Some(self.token(a, b)),
                _ => Some(false),
            })
            .all(|same| same);
        }
        self.same(expected, got) || (self.errors.is_some() && self.spaced_alike(expected, got))
    }

    /// Whether the lines have the same blanks, and words that are near each other.
    fn spaced_alike(&self, expected: &str, got: &str) -> bool {
        let blanks = |line: &str| -> Vec<String> {
            let pieces = line.split(|c: char| !c.is_whitespace()).filter(|piece| !piece.is_empty());
            pieces.map(str::to_owned).collect()
        };
        let indented = |line: &str| line.starts_with(char::is_whitespace);
        let words = Self { words: true, ..*self };
        indented(expected) == indented(got)
            && blanks(expected) == blanks(got)
            && words.line(expected, got)
    }

    fn token(&self, expected: &str, got: &str) -> bool {
        self.same(expected, got) || self.errors.is_some_and(|errors| near(expected, got, errors))
    }

    fn same(&self, expected: &str, got: &str) -> bool {
        let lower = |text: &'_ str| text.to_lowercase();
        expected == got || (self.ignore_case && lower(expected) == lower(got))
    }

    fn keyed<'a>(&self, text: &'a str) -> Vec<Keyed<'a>> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(index, line)| Keyed::new(self, index + 1, line)).collect()
    }
}

/// A line and what it is sorted by.
struct Keyed<'a> {
    key: Vec<Key>,
    text: &'a str,
    number: usize,
}

/// A token, or a whole line.
struct Key {
    value: Option<f64>,
    text: String,
}

impl<'a> Keyed<'a> {
    fn new(lines: &Lines, number: usize, text: &'a str) -> Self {
        let key = |token: &str| Key {
            value: lines.errors.and_then(|_| value(token)),
            text: if lines.ignore_case { token.to_lowercase() } else { token.to_owned() },
        };
        let by_token = lines.words || lines.errors.is_some();
        let tokens = || text.split_whitespace().map(key).collect();
        let key = if by_token { tokens() } else { vec![key(text.trim_end())] };
        Self { key, text, number }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let mut orders = self.key.iter().zip(&other.key).map(|(a, b)| a.cmp(b));
        let first = orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        first.then(self.key.len().cmp(&other.key.len())).then_with(|| self.text.cmp(other.text))
    }
}

impl Key {
    /// Numbers come first, in the order of their values.
    fn cmp(&self, other: &Self) -> Ordering {
        let values = match (self.value, other.value) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        values.then_with(|| self.text.cmp(&other.text))
    }
}

/// Without the blank lines at its end.
fn trimmed(text: &str) -> &str {
    let kept = text.trim_end();
    let rest = &text[kept.len()..];
    &text[..kept.len() + rest.find('\n').unwrap_or(rest.len())]
}

/// The line, from 1, of a piece of `text`.
fn line_of(text: &str, piece: &str) -> usize {
    let at = piece.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    text[..at].matches('\n').count() + 1
}
