//! Fences: the lines that open and close a block.

use super::language::names_language;

/// A fence at the start of a line, or what a model took for the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fence<'a> {
    pub(super) mark: char,
    /// Marks in a row: 3 or more.
    pub(super) length: usize,
    /// Columns of white space, list mark or quote before it.
    pub(super) indent: usize,
    /// Whether the line, and so the block, is quoted with `>`.
    pub(super) quoted: bool,
    /// Bytes of the line before the fence.
    pub(super) before: usize,
    pub(super) info: &'a str,
}

impl Fence<'_> {
    /// Bytes of the line up to the end of the marks.
    pub(super) fn after(&self) -> usize {
        self.before + self.length
    }
}

/// The fence with which `line` may open a block.
pub(super) fn opening(line: &str) -> Option<Fence<'_>> {
    let start = line_start(line);
    let fence = fence_at(line, start).or_else(|| late(line))?;
    (fence.mark == '~' || !fence.info.contains('`')).then_some(fence)
}

/// The fence at the start of `line`, after white space and quote marks alone.
pub(super) fn bare(line: &str) -> Option<Fence<'_>> {
    let at = line.find(|c: char| !c.is_whitespace() && c != '>')?;
    fence_at(line, Start { at, quoted: line.trim_start().starts_with('>') })
}

/// What is between the marks of a block that opens and closes on one line.
pub(super) fn one_line(line: &str) -> Option<(usize, usize)> {
    let start = line_start(line);
    let fence = fence_at(line, start)?;
    let end = line.trim_end().strip_suffix("```")?.trim_end_matches('`').len();
    let inner = line.get(fence.after()..end)?;
    if inner.contains('`') || inner.trim().is_empty() || fence.mark == '~' {
        return None;
    }
    let word = inner.split(char::is_whitespace).next().unwrap_or_default();
    let code = if names_language(word) { fence.after() + word.len() } else { fence.after() };
    Some((code, end))
}

#[derive(Clone, Copy)]
struct Start {
    at: usize,
    quoted: bool,
}

fn fence_at(line: &str, start: Start) -> Option<Fence<'_>> {
    let rest = line.get(start.at..)?;
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = rest.chars().take_while(|c| *c == mark).count();
    let info = rest.get(length..)?.trim();
    let (indent, quoted, before) = (indent(line, start.at), start.quoted, start.at);
    (length >= 3).then_some(Fence { mark, length, indent, quoted, before, info })
}

/// Tags before a fence are no indentation; list marks are.
fn indent(line: &str, at: usize) -> usize {
    let before = &line[..at];
    if before.contains('<') { 0 } else { before.chars().count() }
}

/// Where the line begins once quote marks, list marks and tags are taken off.
fn line_start(line: &str) -> Start {
    let (mut at, mut quoted) = (0, false);
    while let Some(rest) = line.get(at..) {
        let blank = rest.len() - rest.trim_start().len();
        let rest = &rest[blank..];
        let Some(taken) = quote(rest).or_else(|| list_mark(rest)).or_else(|| tag(rest)) else {
            return Start { at: at + blank, quoted };
        };
        quoted |= rest.starts_with('>');
        at += blank + taken;
    }
    Start { at, quoted }
}

fn quote(rest: &str) -> Option<usize> {
    rest.starts_with('>').then_some(1)
}

/// `- `, `* `, `+ `, `3. ` and `3) `.
fn list_mark(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest.get(digits..)?;
    let mark = if digits == 0 { "-*+" } else { ".)" };
    let blank = after.get(1..)?.starts_with([' ', '\t']);
    (digits < 10 && blank && after.starts_with(|c| mark.contains(c))).then_some(digits + 2)
}

/// `<answer>` and the like.
fn tag(rest: &str) -> Option<usize> {
    let name = rest.strip_prefix('<')?;
    let end = name.find('>')?;
    let word = name.get(..end)?.trim_start_matches('/');
    let plain = |c: char| c.is_alphanumeric() || " _-|=\":".contains(c);
    (!word.is_empty() && word.len() <= 40 && word.chars().all(plain)).then_some(end + 2)
}

/// A fence that opens a block after prose on the same line: `the code: ```python`.
fn late(line: &str) -> Option<Fence<'_>> {
    let at = line.find("```")?;
    let fence = fence_at(line, Start { at, quoted: false })?;
    let before = line.get(..at)?.trim_end();
    let opens = names_language(fence.info) && fence.info.split_whitespace().count() == 1
        || fence.info.is_empty() && before.ends_with(':');
    let margin = line.len() - line.trim_start().len();
    opens.then_some(Fence { indent: margin, ..fence })
}
