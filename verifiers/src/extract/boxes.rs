//! The boxes of a text: `\boxed{}`, `\fbox{}`, `\framebox{}`, and `\box{}`, which is meant for one.

use memchr::memmem;

/// A box: the start of the command, and the span of its content.
pub(super) struct Boxed {
    pub(super) start: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Behind its closing brace.
    pub(super) end: usize,
}

/// The boxes of a text that hold answers. None where the text ends within a box: then the last
/// answer is missing.
pub(super) fn of(text: &str) -> Vec<Boxed> {
    let Some((boxes, open)) = closed(text) else { return Vec::new() };
    let last = boxes.last().map_or(0, |last| last.start);
    if open.is_some_and(|open| open >= last) { Vec::new() } else { boxes }
}

/// All boxes that are closed and stand in no other box, in one pass, and where the last one starts
/// that is not closed. `None` where there are no boxes at all.
fn closed(text: &str) -> Option<(Vec<Boxed>, Option<usize>)> {
    let bytes = text.as_bytes();
    let mut found: Vec<Boxed> = Vec::new();
    let mut at = memchr::memchr(b'\\', bytes)?;
    at = [&b"\\box"[..], b"\\fbox", b"\\framebox"]
        .iter()
        .filter_map(|name| memmem::find(bytes.get(at..)?, name).map(|skip| at + skip))
        .min()?;
    // Open braces; those of boxes carry where the command started.
    let mut open: Vec<Option<(usize, usize)>> = Vec::new();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                let (_, rest) = bytes.split_at(at);
                match opener(rest) {
                    Some((length, true)) => {
                        open.push(Some((at, at + length)));
                        at += length;
                        continue;
                    }
                    Some((length, false)) if open.is_empty() => {
                        let from = at + length;
                        let end = from + bare(&text[from..]);
                        found.push(Boxed { start: at, from, to: end, end });
                        at = end.max(at + 1);
                        continue;
                    }
                    // A backslash that was escaped twice keeps its meaning.
                    _ => {
                        at += usize::from(rest.get(1..).is_none_or(|next| opener(next).is_none()));
                    }
                }
            }
            b'{' if !open.is_empty() => open.push(None),
            b'}' => {
                if let Some(Some((start, from))) = open.pop() {
                    while found.last().is_some_and(|inner| inner.start > start) {
                        found.pop();
                    }
                    found.push(Boxed { start, from, to: at, end: at + 1 });
                }
            }
            _ => {}
        }
        at += 1;
    }
    let unclosed = open.into_iter().rev().flatten().next().map(|(start, _)| start);
    Some((found, unclosed))
}

/// The length of `\boxed{` here, with the space that may stand in it, and whether there is a brace.
fn opener(bytes: &[u8]) -> Option<(usize, bool)> {
    let names = [&b"\\boxed"[..], b"\\fbox", b"\\framebox", b"\\box{"];
    let name = names.iter().find(|name| bytes.starts_with(name))?;
    let name = name.strip_suffix(b"{").unwrap_or(name).len();
    let spaces = bytes.get(name..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\n')).count();
    match bytes.get(name + spaces) {
        Some(b'{') => Some((name + spaces + 1, true)),
        Some(next) if !next.is_ascii_alphabetic() || spaces > 0 => Some((name + spaces, false)),
        _ => None,
    }
}

/// The length of the content of a box without braces: a number, or one letter.
fn bare(text: &str) -> usize {
    let sign = usize::from(text.starts_with('-'));
    let body = &text[sign..];
    let digits = body
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
        .count();
    let number = body[..digits].trim_end_matches(['.', ',']);
    let letters = body.bytes().take_while(u8::is_ascii_alphabetic).count();
    if number.is_empty() { usize::from(letters == 1) } else { sign + number.len() }
}
