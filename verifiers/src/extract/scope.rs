//! What of a completion counts: not chains of thought, not code, not quotations of the question.

use memchr::{memchr, memchr_iter, memchr2, memmem};

use super::boxes::{self, Boxed};
use super::{Candidate, Provenance};

/// The names of the tags around a chain of thought.
const THOUGHTS: [&str; 3] = ["think", "thinking", "reasoning"];
/// Tokens of chat templates that end what an assistant says, behind their first sign.
const CONTROL: [&str; 10] = [
    "|im_end|>",
    "|im_start|>",
    "|endoftext|>",
    "|end_of_text|>",
    "|eot_id|>",
    "|eom_id|>",
    "|start_header_id|>",
    "end_of_turn>",
    "|end|>",
    "｜end▁of▁sentence｜>",
];
/// Quotations of the question are looked up in it at most this often.
const QUOTED_MAX: usize = 16;

/// The part of a completion in which answers are looked for.
pub(crate) struct Scope<'a> {
    pub(super) text: &'a str,
    /// Where `text` starts in the completion.
    from: usize,
    /// Ranges of code, in order.
    code: Vec<(usize, usize)>,
    /// Whether some of the code is a block.
    pub(super) fenced: bool,
    /// The question, where its quotations do not count.
    prompt: &'a str,
    /// Whether there is a question at all.
    pub(crate) asked: bool,
    pub(super) boxes: Vec<Boxed>,
}

impl<'a> Scope<'a> {
    /// All of a text.
    pub(super) fn all(text: &'a str) -> Self {
        Self {
            text,
            from: 0,
            code: Vec::new(),
            fenced: false,
            prompt: "",
            asked: false,
            boxes: boxes::of(text),
        }
    }

    /// What counts of a completion; all of it where hidden answers are allowed.
    pub(crate) fn of(completion: &'a str, prompt: &'a str, hidden: bool) -> Self {
        if hidden {
            return Self { asked: !prompt.is_empty(), ..Self::all(completion) };
        }
        let (from, text) = spoken(completion);
        let (code, fenced) = code(text);
        Self { text, from, code, fenced, prompt, asked: !prompt.is_empty(), boxes: boxes::of(text) }
    }

    /// What a candidate says, and where in the completion it stands.
    pub(crate) fn taken(&self, found: Candidate<'_>) -> (String, (usize, usize), Provenance) {
        let Candidate { text, span: (from, to), provenance } = found;
        (text.into_owned(), (self.from + from, self.from + to), provenance)
    }

    /// Whether code stands at this place.
    pub(super) fn in_code(&self, at: usize) -> bool {
        let next = self.code.partition_point(|(_, end)| *end <= at);
        self.code.get(next).is_some_and(|(start, _)| *start <= at)
    }

    /// Whether a part of the text is quoted from the question: in a line that starts with `>`, or
    /// between quotation marks.
    pub(super) fn quoted(&self, (from, to): (usize, usize), looked: &mut usize) -> bool {
        if self.prompt.is_empty() || *looked >= QUOTED_MAX {
            return false;
        }
        let start = self.text.get(..from).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
        let (Some(before), Some(inner), Some(after)) =
            (self.text.get(start..from), self.text.get(from..to), self.text.get(to..))
        else {
            return false;
        };
        let marks = ['"', '“', '”'];
        let quote = before.trim_start().starts_with('>').then_some(inner).or_else(|| {
            let open = before.rfind(marks).filter(|at| {
                before.get(..*at).is_some_and(|head| head.matches(marks).count() % 2 == 0)
            })?;
            let line = after.split('\n').next()?;
            let close = line.find(marks)?;
            self.text.get(start + open..to + close).map(|quote| quote.trim_start_matches(marks))
        });
        *looked += usize::from(quote.is_some());
        quote.is_some_and(|quote| memmem::find(self.prompt.as_bytes(), quote.as_bytes()).is_some())
    }
}

/// What stands behind the last chain of thought and before one that never ends.
fn spoken(text: &str) -> (usize, &str) {
    let (mut from, mut to) = (0, text.len());
    for at in memchr_iter(b'<', text.as_bytes()) {
        let tail = text.get(at + 1..).unwrap_or_default();
        let (closes, name) = match tail.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, tail),
        };
        let control = CONTROL.iter().any(|token| tail.starts_with(token));
        if control && text.get(from..at).is_some_and(|before| !before.trim().is_empty()) {
            to = to.min(at);
            break;
        }
        let thought = THOUGHTS
            .iter()
            .find(|thought| name.strip_prefix(**thought).is_some_and(|rest| rest.starts_with('>')));
        let Some(thought) = thought else { continue };
        if closes {
            (from, to) = (at + thought.len() + 3, text.len());
        } else if to == text.len() {
            to = at;
        }
    }
    let said = text.get(from..to).unwrap_or_default();
    // A token of an older template, which is a tag elsewhere.
    (from, said.trim_end().strip_suffix("</s>").unwrap_or(said))
}

/// The ranges of code, blocks and inline, and whether there are blocks.
fn code(text: &str) -> (Vec<(usize, usize)>, bool) {
    let bytes = text.as_bytes();
    let (mut ranges, mut fenced, mut at) = (Vec::new(), false, 0);
    while let Some(start) =
        bytes.get(at..).and_then(|rest| memchr(b'`', rest)).map(|skip| at + skip)
    {
        let ticks = bytes.iter().skip(start).take_while(|byte| **byte == b'`').count();
        let inside = start + ticks;
        let rest = text.get(inside..).unwrap_or_default();
        if ticks >= 3 {
            fenced = true;
            let end =
                memmem::find(rest.as_bytes(), b"```").map_or(text.len(), |end| inside + end + 3);
            ranges.push((start, end));
            at = end;
        } else {
            // A tick that does not close on its line is no code.
            at = inside;
            let next = memchr2(b'`', b'\n', rest.as_bytes()).map(|skip| inside + skip);
            if let Some(end) = next.filter(|end| bytes.get(*end) == Some(&b'`')) {
                at = end + ticks.min(bytes.len() - end);
                ranges.push((start, at));
            }
        }
    }
    (ranges, fenced)
}
