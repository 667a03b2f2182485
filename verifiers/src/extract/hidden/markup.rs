//! Hidden text of HTML and Markdown: elements, struck-out text, and the targets of links.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::extract::words::is_one_of;

/// Elements of HTML that a page does not show, or strikes out.
const ELEMENTS: [&str; 7] = ["del", "strike", "script", "style", "template", "noscript", "title"];

/// Styles and attributes that hide an element, in its opening tag without spaces and case.
const STYLES: [&str; 9] = [
    "display:none",
    "visibility:hidden",
    "opacity:0\"",
    "opacity:0;",
    "opacity:0'",
    "font-size:0",
    "color:white",
    "color:transparent",
    "color:#fff",
];

/// The longest opening tag of HTML that is read, in bytes.
const TAG_MAX: usize = 300;

/// The longest text that is struck out by Markdown, and the longest description of an image.
const STRUCK_MAX: usize = 400;

/// The length of a comment of HTML or of an element that is not shown.
pub(super) fn element(rest: &str) -> Option<usize> {
    if rest.starts_with("<!--") {
        return Some(until(rest, "-->"));
    }
    let name_length = rest.bytes().skip(1).take_while(u8::is_ascii_alphanumeric).count();
    let name = rest.get(1..=name_length).filter(|name| !name.is_empty())?;
    let near = rest.get(..rest.floor_char_boundary(TAG_MAX))?;
    let tag = near.get(..near.find('>')?)?.get(1 + name_length..)?;
    if !tag.is_empty() && !tag.starts_with([' ', '\n', '\t']) {
        return None;
    }
    let named = is_one_of(&ELEMENTS, name);
    let styled = || {
        let tag: String = tag.chars().filter(|c| !c.is_whitespace()).collect();
        let tag = tag.to_ascii_lowercase();
        tag == "hidden"
            || tag.starts_with("hidden=")
            || tag.ends_with("\"hidden")
            || STYLES.iter().any(|style| tag.contains(style))
    };
    (named || (!tag.is_empty() && styled())).then(|| until(rest, &format!("</{name}>")))
}

/// The length up to the end of `close`, or of all where it is missing.
pub(super) fn until(rest: &str, close: &str) -> usize {
    memmem::find(rest.as_bytes(), close.as_bytes()).map_or(rest.len(), |at| at + close.len())
}

/// The length of `~~text~~` at `at`, as Markdown strikes it out: on one line, and with blanks or
/// signs around it. In LaTeX the marks are spaces.
pub(super) fn struck(text: &str, at: usize) -> Option<usize> {
    let inner = text.get(at..)?.strip_prefix("~~")?;
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"}\\$".contains(c));
    let line = inner.get(..inner.floor_char_boundary(STRUCK_MAX))?;
    let end = line
        .find("~~")
        .filter(|end| line.get(..*end).is_some_and(|struck| !struck.contains('\n')))?;
    let opens = !inner.starts_with([' ', '~']) && edge(text.get(..at)?.chars().next_back());
    let closes = !line.get(..end)?.ends_with(' ') && edge(line.get(end + 2..)?.chars().next());
    (opens && closes).then_some(end + 4)
}

/// The hidden parts of links and images of Markdown: descriptions, titles, comments.
pub(super) fn links(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let line_end = |at: usize| {
        let (_, rest) = bytes.split_at(at);
        at + memchr(b'\n', rest).unwrap_or(rest.len())
    };
    let comments = memmem::find_iter(bytes, b"[//]:").map(|at| at..line_end(at));
    found.extend(comments);
    let mut end = 0;
    for at in memmem::find_iter(bytes, b"](http") {
        if at < end {
            continue;
        }
        end = line_end(at);
        end = text[at..end].find(')').map_or(end, |close| at + close + 1);
        let from = text.floor_char_boundary(at.saturating_sub(STRUCK_MAX));
        let head = &text[from..at];
        let image = head
            .rfind(['[', '\n'])
            .filter(|open| head.get(..*open).is_some_and(|before| before.ends_with('!')));
        found.push(image.map_or(at + 1, |open| from + open - 1)..end);
    }
}
