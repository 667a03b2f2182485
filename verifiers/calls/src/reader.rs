//! Reads the calls of a completion.

use std::ops::Range;

use crate::bare::Fence;
use crate::body::{self, Opened};
use crate::call::{Call, Calls};
use crate::cursor::Cursor;
use crate::format::{self, Body, Format, LINE_MARKS, Mark, Reading, Sign};
use crate::refusal::{Code, Refusal};
use crate::{bare, syntax};

/// Reads the calls of a completion, in any notation or one.
///
/// A text without an attempt at a call has no calls. Nothing is read within a thought, a quotation,
/// a code fence beside calls, or behind the token that ends the turn. A bare call (JSON, or the
/// syntax of Python) is the whole answer, or a code fence at its end. Linear in the text, but for
/// `n log n` in the members of an object.
///
/// # Errors
/// An attempted call that is malformed: what is wrong, and where.
pub fn read(text: &str, how: Reading) -> Result<Calls, Refusal> {
    if let Some(format @ (Format::Java | Format::JavaScript)) = how.format {
        let calls = syntax::calls(text, format == Format::Java)?;
        return Ok(Calls { calls, format: Some(format) });
    }
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    Scan {
        how,
        cursor: Cursor::new(text, start),
        calls: Vec::new(),
        format: None,
        refused: None,
        after: None,
        fences: Vec::new(),
        from: start,
        text_to: 0,
    }
    .read()
}

struct Scan<'t> {
    how: Reading,
    cursor: Cursor<'t>,
    calls: Vec<Call>,
    /// The notation of the calls so far.
    format: Option<Format>,
    /// The first attempt that is malformed. What follows it is only searched for the end of a
    /// thought.
    refused: Option<Refusal>,
    /// The first text behind a call.
    after: Option<Range<usize>>,
    fences: Vec<Fence>,
    /// Where the answer starts: behind the last thought.
    from: usize,
    /// Where the text outside fences ends.
    text_to: usize,
}

impl Scan<'_> {
    fn read(mut self) -> Result<Calls, Refusal> {
        let mut is_line = true;
        let mut is_start = true;
        let is_named = self.how.format == Some(Format::Functionary);
        if is_named && body::is_meant(Body::Recipient, self.cursor.clone(), false) {
            self.mark(("", &[Format::Functionary], Body::Recipient));
        }
        while let Some(byte) = self.cursor.peek() {
            let at = self.cursor.at();
            if byte.is_ascii_whitespace() {
                self.cursor.skip(1);
                is_line |= byte == b'\n';
                continue;
            }
            if is_start && let Some(calls) = self.whole() {
                return calls;
            }
            is_start = false;
            if is_line && self.line() {
                continue;
            }
            is_line = false;
            match byte {
                b'<' | b'[' | 0xe2 => match format::sign(self.cursor.rest()) {
                    Some((_, Sign::TurnEnd)) if !self.goes_on() => break,
                    Some((_, Sign::TurnEnd)) => continue,
                    Some((mark, Sign::Opens(close))) => {
                        self.cursor.skip(mark.len());
                        if self.cursor.until(close).is_none() {
                            self.cursor.skip(usize::MAX);
                        }
                        self.thought();
                        (is_start, is_line) = (true, true);
                        continue;
                    }
                    Some((mark, Sign::Closes)) => {
                        // The template opened it: all before was a thought.
                        self.cursor.skip(mark.len());
                        self.calls.clear();
                        self.fences.clear();
                        (self.format, self.refused, self.after) = (None, None, None);
                        self.thought();
                        (is_start, is_line) = (true, true);
                        continue;
                    }
                    Some((_, Sign::Calls(mark))) => {
                        self.mark(mark);
                        continue;
                    }
                    None => self.cursor.skip(1),
                },
                b'`' => self.inline(),
                _ => {
                    let is_plain = |byte: u8| {
                        byte < 0x80 && !matches!(byte, b'<' | b'[' | b'`' | b'\n')
                            || byte > 0x80 && byte != 0xe2
                    };
                    if self.cursor.while_bytes(is_plain).is_empty() {
                        self.cursor.skip(1);
                    }
                }
            }
            self.text(at);
        }
        self.end()
    }

    /// Notes text from `at` to here.
    fn text(&mut self, at: usize) {
        self.text_to = self.cursor.at();
        if !self.calls.is_empty() || self.format.is_some() {
            self.after.get_or_insert(at..self.text_to);
        }
    }

    /// The calls, where everything that comes next is bare calls.
    fn whole(&self) -> Option<Result<Calls, Refusal>> {
        if self.refused.is_some() || self.format.is_some() {
            return None;
        }
        let mut calls = Vec::new();
        match bare::read(self.cursor.clone(), self.how, &mut calls) {
            bare::Bare::Calls(format) => Some(Ok(Calls { calls, format: Some(format) })),
            _ => None,
        }
    }

    /// Whether the token that ends a message is followed by another message of the same turn.
    fn goes_on(&mut self) -> bool {
        let mut ahead = self.cursor.clone();
        let is_end = ahead.eat("<|end|>") || ahead.eat("<|call|>");
        ahead.space();
        let goes_on = is_end && ahead.clone().eat("<|start|>");
        if goes_on {
            self.cursor = ahead;
        }
        goes_on
    }

    /// Notes that a thought ends here, where no calls stand before it.
    fn thought(&mut self) {
        if self.format.is_none() {
            self.from = self.cursor.at();
        }
    }

    /// What only the start of a line has: a fence, a quotation, some marks. Whether it moved.
    fn line(&mut self) -> bool {
        let at = self.cursor.at();
        let is_named = self.how.format == Some(Format::Functionary);
        let is_next = |(open, _, body): &&Mark| {
            let mut ahead = self.cursor.clone();
            ahead.eat(open) && body::is_meant(*body, ahead, is_named)
        };
        if let Some(mark) = LINE_MARKS.iter().find(is_next) {
            self.mark(*mark);
            return true;
        }
        if self.cursor.eat(">") {
            self.cursor.while_bytes(|byte| byte != b'\n');
            self.text(at);
            return true;
        }
        let fence = [b'`', b'~'].into_iter().find(|mark| {
            let mut ahead = self.cursor.clone();
            ahead.while_bytes(|byte| byte == *mark).len() >= 3
        });
        if let Some(mark) = fence {
            self.fence(mark);
            return true;
        }
        false
    }

    /// Moves past a fence, to its end or to that of the text.
    fn fence(&mut self, mark: u8) {
        let at = self.cursor.at();
        let width = self.cursor.while_bytes(|byte| byte == mark).len();
        let start = self.cursor.at();
        let line = self.cursor.while_bytes(|byte| byte != b'\n');
        let mut info = start..self.cursor.at();
        // One that opens and closes on a line.
        if let Some(length) = line.find(char::from(mark)) {
            let word = line.find(|char: char| !char.is_alphanumeric() && char != '_');
            info.end = start + word.unwrap_or(0).min(length);
            self.fences.push(Fence { inner: info.end..start + length, info });
            return;
        }
        let start = self.cursor.at();
        loop {
            let end = self.cursor.at();
            self.cursor.space();
            let is_over = self.cursor.peek().is_none();
            if is_over || self.cursor.while_bytes(|byte| byte == mark).len() >= width {
                self.fences.push(Fence { info, inner: start..end });
                break;
            }
            self.cursor.while_bytes(|byte| byte != b'\n');
        }
        if self.format.is_some() {
            self.after.get_or_insert(at..self.cursor.at());
        }
    }

    /// Moves past inline code that ends on its line.
    fn inline(&mut self) {
        self.cursor.while_bytes(|byte| byte == b'`');
        let mut ahead = self.cursor.clone();
        ahead.while_bytes(|byte| byte != b'`' && byte != b'\n');
        if ahead.peek() == Some(b'`') {
            ahead.while_bytes(|byte| byte == b'`');
            self.cursor = ahead;
        }
    }

    /// Reads the calls behind a mark that comes next.
    fn mark(&mut self, (open, formats, body): Mark) {
        let at = self.cursor.at();
        self.cursor.skip(open.len());
        let wanted = self.how.format;
        let is_wanted = wanted.is_none_or(|wanted| formats.contains(&wanted));
        if !is_wanted || self.is_quoted(at) || self.refused.is_some() {
            self.text(at);
            return;
        }
        let format =
            wanted.filter(|_| is_wanted).or(formats.first().copied()).unwrap_or(Format::Json);
        let before = self.calls.len();
        match body::read(&mut self.cursor, format, body, self.how.names, &mut self.calls) {
            Ok(Opened::Calls(found)) => self.found(found, at),
            Ok(Opened::Hidden) => {}
            // What is said to the user is no call, even as JSON.
            Ok(Opened::Text) => self.from = self.cursor.text().len(),
            Err(refusal) => {
                self.calls.truncate(before);
                self.refused = Some(refusal);
                self.cursor = Cursor::new(self.cursor.text(), at + open.len());
            }
        }
    }

    /// Notes the notation of calls that were read from `at` on.
    fn found(&mut self, found: Format, at: usize) {
        let is_wrong = self.how.format.is_some_and(|wanted| wanted != found);
        match self.format {
            None if !is_wrong => self.format = Some(found),
            Some(format) if format == found && !is_wrong => {}
            _ => self.refused = Some(Refusal::new(Code::MixedFormats, at..self.cursor.at())),
        }
    }

    /// Whether a quotation mark stands right before `at`.
    fn is_quoted(&self, at: usize) -> bool {
        let before = self.cursor.text().get(..at).and_then(|text| text.chars().next_back());
        before.is_some_and(|char| matches!(char, '"' | '\'' | '“' | '‘' | '«' | '„'))
    }

    fn end(self) -> Result<Calls, Refusal> {
        let Self { how, cursor, calls, format, refused, after, fences, from, text_to } = self;
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        match after {
            Some(span) if !how.text_after => return Err(Refusal::new(Code::TextAfter, span)),
            _ if format.is_some() => return Ok(Calls { calls, format }),
            _ => {}
        }
        let text = &cursor.text()[..cursor.at()];
        let mut calls = Vec::new();
        let mut answer = Cursor::new(text, from);
        answer.space();
        let found = match bare::read(answer, how, &mut calls) {
            bare::Bare::Calls(format) => Some(format),
            bare::Bare::Failed(refusal) if bare::is_attempt(text, from, &calls) => {
                return Err(refusal);
            }
            _ => {
                calls.clear();
                bare::fenced(text, &fences, text_to, how, &mut calls)?
            }
        };
        Ok(Calls { calls, format: found })
    }
}
