//! Where a text breaks the rules of its format.

use std::fmt;
use std::ops::Range;

/// The first place at which a text breaks its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The rule that is broken: a fixed word such as `mismatch`.
    pub rule: &'static str,
    /// What is there, or what a parser says of it. Lower case, no final dot; may be empty.
    pub what: String,
    /// Its bytes in the text, end excluded.
    pub span: Range<usize>,
}

impl Break {
    /// A broken rule at some bytes.
    pub fn new(rule: &'static str, what: impl Into<String>, span: Range<usize>) -> Self {
        Self { rule, what: what.into(), span }
    }

    /// The line and the column of its first byte, both from 1; a column is a character. Linear in the
    /// text before it.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.span.start)];
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// The same break of a text that starts `by` bytes later.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Self {
        self.span = self.span.start + by..self.span.end + by;
        self
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at {}..{}", self.rule, self.what, self.span.start, self.span.end)
    }
}

impl std::error::Error for Break {}

/// The byte at a line and a column of bytes, both from 1; the end of the text behind its last line.
pub(crate) fn byte_at(text: &str, line: usize, column: usize) -> usize {
    let start = line_start(text, line);
    start.map_or(text.len(), |start| text.floor_char_boundary(start + column.saturating_sub(1)))
}

/// The byte at a line and a column of characters, both from 1; that of the end of the line behind it. A
/// byte order mark is no character.
pub(crate) fn char_at(text: &str, line: usize, column: usize) -> usize {
    let Some(start) = line_start(text, line) else { return text.len() };
    let rest = &text[start..];
    let bare = rest.strip_prefix('\u{feff}').filter(|_| start == 0).unwrap_or(rest);
    let line = bare.split('\n').next().unwrap_or_default();
    let at = line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    text.len() - bare.len() + at
}

fn line_start(text: &str, line: usize) -> Option<usize> {
    let mut starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    if line <= 1 { Some(0) } else { starts.nth(line - 2) }
}
