//! Hidden text: what the rendered answer does not show, or shows struck out.
//!
//! It announces nothing and is not part of an answer: [`blanked`] replaces it by spaces, so that
//! offsets stay. Zero-width characters inside an answer are skipped, since a reader sees
//! `1\u{200b}8` as 18. [`shown`] refuses a text with bidirectional overrides, which is displayed in
//! another order than it is stored.

use super::words::is_one_of;
use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3_iter, memmem};

/// Commands that hide their argument, strike it out, or set it as a note.
const UNSEEN: [&str; 14] = [
    "phantom",
    "hphantom",
    "vphantom",
    "cancel",
    "bcancel",
    "xcancel",
    "sout",
    "st",
    "footnote",
    "footnotetext",
    "marginpar",
    "label",
    "tag",
    "todo",
];
/// Commands that define others, with all of their groups.
const DEFINING: [&str; 5] = ["newcommand", "renewcommand", "providecommand", "def", "gdef"];
/// Environments that hide their content or show it as code.
const ENVIRONMENTS: [&str; 4] = ["comment", "verbatim", "lstlisting", "filecontents"];
/// Colors of text that cannot be seen on white, without case.
const UNSEEN_COLORS: [&str; 5] = ["white", "transparent", "#fff", "#ffffff", "1,1,1"];
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
/// The longest name of a color with its model, in bytes.
const COLOR_MAX: usize = 40;
/// The longest text that is struck out by Markdown, and the longest description of an image.
const STRUCK_MAX: usize = 400;

/// The hidden ranges of a text, in order.
///
/// The time is linear in the text: an element that is not closed extends to the end.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut next = 0;
    for at in memchr3_iter(b'<', b'\\', b'~', bytes) {
        if at < next || !may_hide(bytes.get(at..).unwrap_or_default()) {
            // Of `\\`, the second one begins no command.
            next = next.max(at + usize::from(bytes.get(at..at + 2) == Some(br"\\")) * 2);
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
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
        out.push_str(text.get(out.len()..from).unwrap_or_default());
        let inner = text.get(from..range.end.max(from)).unwrap_or_default();
        out.extend(inner.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    }
    out.push_str(text.get(out.len()..).unwrap_or_default());
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

/// The length of a comment of HTML or of an element that is not shown.
fn element(rest: &str) -> Option<usize> {
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
fn until(rest: &str, close: &str) -> usize {
    memmem::find(rest.as_bytes(), close.as_bytes()).map_or(rest.len(), |at| at + close.len())
}

/// The length of a command with what it hides.
fn command(rest: &str) -> Option<usize> {
    let name_length = rest.bytes().skip(1).take_while(u8::is_ascii_alphabetic).count();
    let name = rest.get(1..=name_length)?;
    let after = name_length + 1;
    let tail = rest.get(after..)?;
    match name {
        "iffalse" => Some(until(rest, "\\fi")),
        "begin" => {
            let name = ENVIRONMENTS.iter().find(|name| {
                tail.strip_prefix('{')
                    .and_then(|tail| tail.strip_prefix(**name))
                    .is_some_and(|tail| tail.starts_with('}'))
            })?;
            Some(until(rest, &format!("\\end{{{name}}}")))
        }
        "color" | "textcolor" => {
            let near = tail.get(..tail.floor_char_boundary(COLOR_MAX))?;
            let named = model(near) + group(near.get(model(near)..)?)?;
            let color = tail.get(..named)?.trim_matches(|c| "{} ".contains(c)).to_ascii_lowercase();
            let color = color.rsplit('{').next().unwrap_or_default();
            UNSEEN_COLORS.contains(&color).then_some(())?;
            let from = after + named;
            let rest = rest.get(from..)?;
            Some(from + group(rest).unwrap_or_else(|| rest_of_group(rest)))
        }
        _ if UNSEEN.contains(&name) => Some(after + group(tail)?),
        _ if DEFINING.contains(&name) => {
            let mut end = after + if tail.starts_with('\\') { name_of(tail) } else { 0 };
            while let Some(length) = rest.get(end..).and_then(group) {
                end += length;
            }
            Some(end)
        }
        _ => None,
    }
}

/// The length of a command.
fn name_of(text: &str) -> usize {
    1 + text.bytes().skip(1).take_while(u8::is_ascii_alphabetic).count()
}

/// The length of the model of a color: `[rgb]`.
fn model(text: &str) -> usize {
    let near = text.get(..text.floor_char_boundary(12)).unwrap_or_default();
    if near.starts_with('[') { near.find(']').map_or(0, |at| at + 1) } else { 0 }
}

/// The length of the group in braces at the start of a text; all of it where the group is not
/// closed. `None` where there is none.
fn group(text: &str) -> Option<usize> {
    let blank = text.len() - text.trim_start_matches(' ').len();
    text.get(blank..)?
        .starts_with('{')
        .then(|| blank + 1 + rest_of_group(text.get(blank + 1..).unwrap_or_default()) + 1)
        .map(|length| length.min(text.len()))
}

/// The length up to the brace that closes the group in which a text begins.
fn rest_of_group(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `~~text~~` at `at`, as Markdown strikes it out: on one line, and with blanks or
/// signs around it. In LaTeX the marks are spaces.
fn struck(text: &str, at: usize) -> Option<usize> {
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

/// Comments of LaTeX: a line that begins with `%`, or `%4` behind a blank where nothing is closed.
fn comments(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut next = 0;
    for at in memchr_iter(b'%', bytes) {
        let before = text.get(..at).unwrap_or_default();
        if at < next || !(before.is_empty() || before.ends_with([' ', '\n', '\t'])) {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let end = memchr(b'\n', rest);
        next = end.map_or(text.len(), |end| at + end);
        let whole = before.trim_end_matches([' ', '\t']);
        let said = text.get(at + 1..next).unwrap_or_default();
        let late = said.starts_with(|c: char| c.is_alphanumeric() || c == '\\')
            && end.is_some()
            && !said.contains(['}', '$', '=']);
        // A percent sign may follow a word, "Discount % * Value", but not the end of a sentence.
        let behind_word = whole.ends_with(['.', '!', '?'])
            || whole.ends_with(char::is_alphabetic)
                && said.starts_with(|c: char| c.is_alphabetic() || c == '\\');
        if whole.is_empty() || whole.ends_with('\n') || behind_word || late {
            found.push(at..next);
        }
    }
}

/// The hidden parts of links and images of Markdown: descriptions, titles, comments.
fn links(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let line_end = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
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
        end = memchr(b')', bytes.get(at..end).unwrap_or_default())
            .map_or(end, |close| at + close + 1);
        let from = text.floor_char_boundary(at.saturating_sub(STRUCK_MAX));
        let head = text.get(from..at).unwrap_or_default();
        let image = head
            .rfind(['[', '\n'])
            .filter(|open| head.get(..*open).is_some_and(|before| before.ends_with('!')));
        found.push(image.map_or(at + 1, |open| from + open - 1)..end);
    }
}
