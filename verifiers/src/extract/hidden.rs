//! Hidden text: what the rendered answer does not show, or shows struck out.
//!
//! It announces nothing and is not part of an answer: [`blanked`] replaces it by spaces, so that
//! offsets stay. Zero-width characters inside an answer are skipped, since a reader sees
//! `1\u{200b}8` as 18. [`shown`] refuses a text with bidirectional overrides, which is displayed in
//! another order than it is stored.

mod latex;
mod markup;

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3_iter};

use latex::{command, comments};
use markup::{element, links, struck};

/// The hidden ranges of a text, in order.
///
/// The time is linear in the text: an element that is not closed extends to the end.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut next = 0;
    for at in memchr3_iter(b'<', b'\\', b'~', bytes) {
        if at < next || !may_hide(bytes.split_at(at).1) {
            // Of `\\`, the second one begins no command.
            next = next.max(at + usize::from(bytes.get(at..at + 2) == Some(br"\\")) * 2);
            continue;
        }
        let rest = &text[at..];
        let length = match bytes.get(at) {
            Some(b'<') => element(rest),
            Some(b'~') => struck(text, at),
            _ => command(rest),
        };
        if let Some(length) = length {
            found.push(at..at + length);
            next = at + length;
        }
    }
    let others = found.len();
    comments(text, &mut found);
    if memchr(b'[', bytes).is_some() {
        links(text, &mut found);
    }
    if found.len() > others {
        found.sort_by_key(|range| range.start);
    }
    found
}

/// A cheap test of the first bytes: few commands and tags hide something.
fn may_hide(bytes: &[u8]) -> bool {
    match bytes {
        [b'<', next, ..] => *next == b'!' || next.is_ascii_alphabetic(),
        [b'~', next, ..] => *next == b'~',
        [b'\\', one, two, three, ..] => {
            matches!(
                [*one, *two, *three],
                [b'h' | b'v', b'p', _]
                    | [b'p', b'h', b'a']
                    | [b'c', b'a', b'n']
                    | [b'b' | b'x', b'c', _]
                    | [b's', b'o', b'u']
                    | [b's', b't', b'{']
                    | [b'f', b'o', b'o']
                    | [b'm', b'a', b'r']
                    | [b'l', b'a', b'b']
                    | [b't', b'a', b'g']
                    | [b't', b'o', b'd']
                    | [b'n' | b'r', b'e', b'w' | b'n']
                    | [b'p', b'r', b'o']
                    | [b'd', b'e', b'f']
                    | [b'g', b'd', b'e']
                    | [b'i', b'f', b'f']
                    | [b'b', b'e', b'g']
                    | [b'c', b'o', b'l']
            ) || bytes.starts_with(b"\\textcolor")
        }
        _ => false,
    }
}

/// The text with spaces in place of hidden text; offsets stay.
pub fn blanked(text: &str) -> Cow<'_, str> {
    let hidden = ranges(text);
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for range in hidden {
        let from = range.start.max(out.len());
        out.push_str(&text[out.len()..from]);
        let inner = &text[from..range.end.max(from)];
        out.extend(inner.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    }
    out.push_str(&text[out.len()..]);
    Cow::Owned(out)
}

/// Whether a character has no width: zero-width spaces and joiners, soft hyphens, and marks of
/// direction that do not reorder text.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether a character shows nothing: white space, controls, default ignorable code points (The
/// Unicode Standard, section "Default Ignorable Code Points"), and blank signs.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || is_invisible(c)
        || matches!(c,
            '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is a bidirectional override or isolate.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without zero-width characters. `None` where it is displayed in another order than it is
/// stored.
pub fn shown(text: &str) -> Option<Cow<'_, str>> {
    if text.is_ascii() || !text.contains(|c| is_invisible(c) || reorders(c)) {
        return Some(Cow::Borrowed(text));
    }
    let clean: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    (!clean.contains(reorders)).then_some(Cow::Owned(clean))
}
