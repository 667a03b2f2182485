//! A place in a text.

use crate::refusal::{Code, Refusal};

/// A place in a text that only moves forward.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// A place in a text; one that is within a character, or behind the end, is the end.
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at: if text.is_char_boundary(at) { at } else { text.len() } }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The byte offset.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The text that is still to come.
    pub(crate) fn rest(&self) -> &'t str {
        // The place is always a boundary.
        self.text.split_at(self.at).1
    }

    /// What was read since `start`.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        // Both are boundaries, in this order.
        &self.text[start..self.at]
    }

    /// The next byte.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The byte behind the next one.
    pub(crate) fn second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// The next character.
    pub(crate) fn char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves past `bytes` bytes, or to the next boundary behind them.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at = self.text.ceil_char_boundary(self.at.saturating_add(bytes));
    }

    /// Moves past `mark` where it comes next.
    pub(crate) fn eat(&mut self, mark: &str) -> bool {
        let is_next = self
            .text
            .as_bytes()
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(mark.as_bytes()));
        if is_next {
            self.at += mark.len();
        }
        is_next
    }

    /// Moves past white space.
    pub(crate) fn space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                0x80.. if self.char().is_some_and(char::is_whitespace) => self.skip(1),
                _ => break,
            }
        }
    }

    /// Moves past the bytes that `is_part` takes, all of them ASCII or whole characters, and gives
    /// them.
    pub(crate) fn while_bytes(&mut self, is_part: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        let taken = self.rest().bytes().take_while(|byte| is_part(*byte)).count();
        self.skip(taken);
        self.since(start)
    }

    /// The text up to `mark`, past which it moves. `None` where there is no such mark.
    pub(crate) fn until(&mut self, mark: &str) -> Option<&'t str> {
        let found = memchr::memmem::find(self.rest().as_bytes(), mark.as_bytes())?;
        let before = self.rest().get(..found)?;
        self.at += found + mark.len();
        Some(before)
    }

    /// A refusal of what comes next.
    pub(crate) fn refuse<T>(&self, code: Code) -> Result<T, Refusal> {
        let length = self.char().map_or(0, char::len_utf8);
        let code = if length == 0 && code == Code::Unexpected { Code::Truncated } else { code };
        Err(Refusal::new(code, self.at..self.at + length))
    }

    /// A refusal of everything since `start`.
    pub(crate) fn refuse_from<T>(&self, code: Code, start: usize) -> Result<T, Refusal> {
        Err(Refusal::new(code, start..self.at))
    }
}
