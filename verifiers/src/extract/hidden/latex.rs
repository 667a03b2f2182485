//! Hidden text of LaTeX: commands, environments, colors and comments.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::markup::until;

/// Commands that hide their argument, strike it out, or set it as a note.
const UNSEEN: [&str; 14] = assay_math::words::list(
    "phantom hphantom vphantom cancel bcancel xcancel sout st footnote footnotetext marginpar label \
     tag todo",
);

/// Commands that define others, with all of their groups.
const DEFINING: [&str; 5] = ["newcommand", "renewcommand", "providecommand", "def", "gdef"];

/// Environments that hide their content or show it as code.
const ENVIRONMENTS: [&str; 4] = ["comment", "verbatim", "lstlisting", "filecontents"];

/// Colors of text that cannot be seen on white, without case.
const UNSEEN_COLORS: [&str; 5] = ["white", "transparent", "#fff", "#ffffff", "1,1,1"];

/// The longest name of a color with its model, in bytes.
const COLOR_MAX: usize = 40;

/// The length of a command with what it hides.
pub(super) fn command(rest: &str) -> Option<usize> {
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
    let near = &text[..text.floor_char_boundary(12)];
    if near.starts_with('[') { near.find(']').map_or(0, |at| at + 1) } else { 0 }
}

/// The length of the group in braces at the start of a text; all of it where the group is not
/// closed. `None` where there is none.
fn group(text: &str) -> Option<usize> {
    let blank = text.len() - text.trim_start_matches(' ').len();
    text.get(blank..)?
        .starts_with('{')
        .then(|| blank + 1 + rest_of_group(&text[blank + 1..]) + 1)
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

/// Comments of LaTeX: a line that begins with `%`, or `%4` behind a blank where nothing is closed.
pub(super) fn comments(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut next = 0;
    for at in memchr_iter(b'%', bytes) {
        let before = &text[..at];
        if at < next || !(before.is_empty() || before.ends_with([' ', '\n', '\t'])) {
            continue;
        }
        let end = memchr(b'\n', bytes.split_at(at).1);
        next = end.map_or(text.len(), |end| at + end);
        let whole = before.trim_end_matches([' ', '\t']);
        let said = &text[at + 1..next];
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
