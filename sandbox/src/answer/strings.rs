//! Strings that span lines: whether a line of a program is inside one.

use super::language::{Language, Quoting};

/// Reads a program line by line and knows whether the next line begins inside a string (or a
/// comment) that an earlier one opened.
pub(super) struct Strings {
    quoting: Quoting,
    inside: Option<&'static str>,
}

impl Strings {
    pub(super) fn of(language: &Language) -> Self {
        Self { quoting: language.quoting, inside: None }
    }

    pub(super) fn inside(&self) -> bool {
        self.inside.is_some()
    }

    pub(super) fn feed(&mut self, line: &str) {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let taken = match self.inside {
                Some(end) => Some(self.within(rest, first, end)),
                None => self.outside(rest, first),
            };
            let Some(taken) = taken else { return };
            rest = &rest[taken..];
        }
    }

    /// Bytes to step over inside a text.
    fn within(&mut self, rest: &str, first: char, end: &str) -> usize {
        if rest.starts_with(end) {
            self.inside = None;
            return end.len();
        }
        let escaped = first == '\\' && self.quoting == Quoting::Python;
        if escaped { escape(rest) } else { first.len_utf8() }
    }

    /// Bytes to step over in code; `None` where the rest of the line says nothing.
    fn outside(&mut self, rest: &str, first: char) -> Option<usize> {
        match (self.quoting, first) {
            (Quoting::Python, '#') => None,
            (Quoting::Python, '"' | '\'') => {
                let opened = ["\"\"\"", "'''"].into_iter().find(|quote| rest.starts_with(quote));
                self.inside = opened;
                if opened.is_some() { Some(3) } else { quoted(rest, first) }
            }
            (Quoting::SlashStar, '/') if rest.starts_with("//") => None,
            (Quoting::SlashStar | Quoting::Sql, '/') if rest.starts_with("/*") => {
                self.inside = Some("*/");
                Some(2)
            }
            (Quoting::Sql, '-') if rest.starts_with("--") => None,
            (Quoting::SlashStar | Quoting::Sql, '"' | '\'') => quoted(rest, first),
            _ => Some(first.len_utf8()),
        }
    }
}

/// Steps over a text within one line; `None` where it does not end there.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut at = quote.len_utf8();
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        match tail.chars().next()? {
            '\\' => at += escape(tail),
            c if c == quote => return Some(at + c.len_utf8()),
            c => at += c.len_utf8(),
        }
    }
    None
}

fn escape(rest: &str) -> usize {
    rest.chars().take(2).map(char::len_utf8).sum()
}
