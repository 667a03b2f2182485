//! Line ends, and the mark that some editors put before a text.

use std::borrow::Cow;

/// The byte order mark: no part of a program.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text with the line ends of Unix, without a byte order mark.
pub(super) fn unix_lines(text: &str) -> Cow<'_, str> {
    let text = unmarked(text);
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// A text without the mark: Python refuses it in a source that is not read from a file.
pub(crate) fn unmarked(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}
