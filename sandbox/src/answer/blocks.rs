//! The fenced blocks of a text, in the way models write them.
//!
//! `CommonMark` is the base. Where a model breaks it, what no program can contain decides: a fence
//! that names a language ends the block before it, and a fence inside a string ends nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::fence::{self, Fence};
use super::language::{Language, Tag, names_language, tag};
use super::line_ends::unix_lines;
use super::strings::Strings;

/// Blocks that are looked at in one text. No answer has as many, so what follows is not read.
const BLOCKS_MAX: usize = 1000;
/// Lines that are read for the proper end of a block once an improper one was seen.
const LOOK_AHEAD_LINES: usize = 200;
/// Fences that a string of a program may hold.
const FENCES_IN_STRING_MAX: usize = 64;

/// A fenced block. The offsets are bytes of the whole text.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) tag: Tag,
    /// Where the line of its opening fence begins.
    pub(super) open: usize,
    /// What is between the fences.
    pub(super) body: Range<usize>,
    pub(super) closed: bool,
    indent: usize,
    quoted: bool,
}

impl Block {
    /// The program in the block: without the indentation of the list around it, or quote marks.
    pub(super) fn source<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let body = &text[self.body.clone()];
        if self.indent == 0 && !self.quoted {
            return unix_lines(body);
        }
        let lines = body.split_inclusive('\n').map(|line| self.unindented(line));
        lines.collect::<String>().replace("\r\n", "\n").into()
    }

    fn unindented<'a>(&self, line: &'a str) -> &'a str {
        if self.quoted {
            let line = line.trim_start_matches([' ', '\t']).trim_start_matches('>');
            return line.strip_prefix(' ').unwrap_or(line);
        }
        let blank = line.bytes().take(self.indent).take_while(|b| matches!(b, b' ' | b'\t'));
        &line[blank.count()..]
    }
}

/// The fenced blocks of `part`. When it is `prefilled`, it begins inside a block of `wanted`.
pub(super) fn blocks(
    text: &str,
    part: Range<usize>,
    wanted: &Language,
    prefilled: bool,
) -> Vec<Block> {
    let scan = Scan { text, wanted, lines: lines(text, part.clone()), end: part.end };
    let mut found = Vec::new();
    let mut at = 0;
    if prefilled && !scan.opens_itself() {
        at = scan.prefilled(part.start, &mut found);
    }
    while found.len() < BLOCKS_MAX {
        let Some(next) = scan.next_block(at, &mut found) else { return found };
        at = next;
    }
    found
}

struct Scan<'a, 's> {
    text: &'a str,
    wanted: &'s Language,
    /// Where each line begins and ends, without its line end.
    lines: Vec<Range<usize>>,
    end: usize,
}

/// Where a block ends: at a line, from a byte of it on.
struct End {
    line: usize,
    at: usize,
    closed: bool,
    /// The line opens another block, so that it is read again.
    reopens: bool,
}

fn lines(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let mut at = part.start;
    let pieces = text[part].split_inclusive('\n');
    pieces
        .map(|line| {
            let from = at;
            at += line.len();
            from..from + line.trim_end_matches(['\n', '\r']).len()
        })
        .collect()
}

impl<'a> Scan<'a, '_> {
    fn line(&self, index: usize) -> Option<&'a str> {
        self.text.get(self.lines.get(index)?.clone())
    }

    fn starts_at(&self, index: usize) -> usize {
        self.lines.get(index).map_or(self.end, |line| line.start)
    }

    /// Some models open the fence again although the prompt has.
    fn opens_itself(&self) -> bool {
        let first = (0..self.lines.len())
            .filter_map(|index| self.line(index))
            .find(|line| !line.trim().is_empty());
        first.is_some_and(|line| fence::bare(line).is_some_and(|fence| names_language(fence.info)))
    }

    fn prefilled(&self, start: usize, found: &mut Vec<Block>) -> usize {
        let fence = Fence { mark: '`', length: 3, indent: 0, quoted: false, before: 0, info: "" };
        let end = self.end_of(0, &fence, Tag::Wanted);
        Self::push(found, (start, start), &fence, Tag::Wanted, &end)
    }

    /// Finds the first block from line `at` on, and says where to go on.
    fn next_block(&self, at: usize, found: &mut Vec<Block>) -> Option<usize> {
        for index in at..self.lines.len() {
            let line = self.line(index)?;
            let begins = self.starts_at(index);
            if let Some(fence) = fence::opening(line) {
                let tag = tag(fence.info, self.wanted);
                let end = self.end_of(index + 1, &fence, tag);
                let beside = (tag == Tag::Wanted).then(|| self.beside(index, &fence, &end));
                let body = beside.flatten().unwrap_or_else(|| self.starts_at(index + 1));
                return Some(Self::push(found, (begins, body), &fence, tag, &end));
            }
            if let Some((from, to)) = fence::one_line(line) {
                found.push(self.one_line(index, begins + from..begins + to, line));
                return Some(index + 1);
            }
        }
        None
    }

    /// Where a program begins on the line of its fence: `` ```python def f(): return 1 ``. Other words
    /// there are attributes, such as a title.
    fn beside(&self, index: usize, fence: &Fence<'_>, end: &End) -> Option<usize> {
        let (_, code) = fence.info.split_once([' ', '\t'])?;
        let code = code.trim_start();
        let body = &self.text[self.starts_at(index + 1)..end.at];
        let next = body.lines().find(|line| !line.trim().is_empty());
        let goes_on = next.is_none_or(|line| line.starts_with([' ', '\t']));
        let is_program = self.wanted.includes(code) || goes_on && self.wanted.looks_like(code);
        is_program.then(|| self.lines.get(index).map(|line| line.end - code.len()))?
    }

    fn one_line(&self, index: usize, body: Range<usize>, line: &str) -> Block {
        let open = self.starts_at(index);
        let info = &line[..body.start - open];
        let tag = tag(info.rsplit('`').next().unwrap_or_default(), self.wanted);
        Block { tag, open, body, closed: true, indent: 0, quoted: false }
    }

    fn push(
        found: &mut Vec<Block>,
        (open, body): (usize, usize),
        fence: &Fence<'_>,
        tag: Tag,
        end: &End,
    ) -> usize {
        let next = if end.reopens { end.line } else { end.line + 1 };
        found.push(Block {
            tag,
            open,
            body: body..end.at.max(body),
            closed: end.closed,
            indent: fence.indent,
            quoted: fence.quoted,
        });
        next
    }

    /// The end of the block whose first line is `from`.
    fn end_of(&self, from: usize, open: &Fence<'_>, tag: Tag) -> End {
        if tag == Tag::Markdown {
            return self.end_of_markdown(from, open);
        }
        let strings = match tag {
            Tag::Wanted | Tag::None => Some(Strings::of(self.wanted)),
            Tag::Markdown | Tag::Other => None,
        };
        let mut body =
            Body { scan: self, open, strings, skipped: Skipped::default(), improper: None };
        (from..self.lines.len())
            .find_map(|index| body.read(index))
            .or_else(|| body.skipped.first.map(|index| self.at_fence(index)))
            .or(body.improper)
            .unwrap_or(End { line: self.lines.len(), at: self.end, closed: false, reopens: false })
    }

    fn at_fence(&self, index: usize) -> End {
        let info = self.line(index).and_then(fence::bare).map_or("", |fence| fence.info);
        let reopens = names_language(info);
        End { line: index, at: self.starts_at(index), closed: !reopens, reopens }
    }

    /// Markdown holds blocks of its own, whose fences come in pairs.
    fn end_of_markdown(&self, from: usize, open: &Fence<'_>) -> End {
        let mut depth = 0_usize;
        for index in from..self.lines.len() {
            let Some(fence) = self.line(index).and_then(fence::bare) else { continue };
            if fence.mark != open.mark || fence.length < open.length {
                continue;
            }
            match (names_language(fence.info), depth) {
                (true, _) => depth += 1,
                (false, 0) => return self.at_fence(index),
                (false, _) => depth -= 1,
            }
        }
        End { line: self.lines.len(), at: self.end, closed: false, reopens: false }
    }
}

/// The fences that stand inside a string of the program: the first one, and whether one of them
/// opens a block that another has opened. Then they are no part of a string; the string itself was
/// never closed.
#[derive(Default)]
struct Skipped {
    first: Option<usize>,
    count: usize,
    unpaired: bool,
}

impl Skipped {
    fn add(&mut self, index: usize, names_language: bool) {
        self.first.get_or_insert(index);
        self.unpaired |= names_language && self.count % 2 == 1;
        self.count += 1;
    }
}

struct Body<'a, 's, 'f> {
    scan: &'s Scan<'a, 's>,
    open: &'f Fence<'f>,
    strings: Option<Strings>,
    skipped: Skipped,
    /// Where the block ends if it has no proper end.
    improper: Option<End>,
}

impl Body<'_, '_, '_> {
    fn read(&mut self, index: usize) -> Option<End> {
        let line = self.scan.line(index)?;
        if self.open.quoted && !line.trim_start().starts_with('>') {
            let at = self.scan.starts_at(index);
            return Some(End { line: index, at, closed: true, reopens: true });
        }
        let inside = self.strings.as_ref().is_some_and(Strings::inside);
        let fence = fence::bare(line).filter(|fence| self.may_end(fence));
        // What closes a string on the line of its last fence is not a fence of Markdown.
        let is_mark = |fence: &Fence<'_>| fence.info.is_empty() || names_language(fence.info);
        if let (Some(fence), true) = (fence.filter(is_mark), inside) {
            self.skipped.add(index, names_language(fence.info));
            if self.skipped.unpaired || self.skipped.count > FENCES_IN_STRING_MAX {
                return self.skipped.first.map(|first| self.scan.at_fence(first));
            }
        } else if fence.is_some() && !inside {
            return Some(self.scan.at_fence(index));
        }
        if !inside {
            self.note_improper(index, line);
        }
        if let Some(strings) = &mut self.strings {
            strings.feed(line);
        }
        let waited = |end: &mut End| index >= end.line + LOOK_AHEAD_LINES;
        self.improper.take_if(waited)
    }

    fn may_end(&self, fence: &Fence<'_>) -> bool {
        let long_enough = fence.length >= self.open.length || names_language(fence.info);
        fence.mark == self.open.mark && long_enough && fence.indent <= self.open.indent + 3
    }

    /// A fence that is indented too deep, or that follows code on its line, ends a block that has
    /// no other end.
    fn note_improper(&mut self, index: usize, line: &str) {
        let marks = if self.open.mark == '`' { "```" } else { "~~~" };
        if self.improper.is_some() || !line.trim_end().ends_with(marks) {
            return;
        }
        let code = line.trim_end().trim_end_matches(self.open.mark);
        let at = self.scan.starts_at(index) + if code.trim().is_empty() { 0 } else { code.len() };
        self.improper = Some(End { line: index, at, closed: true, reopens: false });
    }
}
