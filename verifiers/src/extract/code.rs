//! Code in Markdown: fenced blocks, and code in backticks.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

/// Where code stands in a text.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Blocks and inline code with their marks, in order.
    pub ranges: Vec<Range<usize>>,
    /// Whether some of it is a block.
    pub has_blocks: bool,
    /// Where a block begins that is not closed: it lasts to the end.
    open: Option<usize>,
}

impl Code {
    /// The code of a text, in one pass.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut code = Self::default();
        let mut at = 0;
        while let Some(start) =
            bytes.get(at..).and_then(|rest| memchr(b'`', rest)).map(|skip| at + skip)
        {
            let ticks = bytes.iter().skip(start).take_while(|byte| **byte == b'`').count();
            let inside = start + ticks;
            let rest = &text[inside..];
            if ticks >= 3 {
                code.has_blocks = true;
                let close = memmem::find(rest.as_bytes(), b"```");
                code.open = close.is_none().then_some(start);
                at = close.map_or(text.len(), |end| inside + end + 3);
                code.ranges.push(start..at);
            } else {
                // A backtick that is not closed on its line does not start code.
                at = inside;
                let next = memchr2(b'`', b'\n', rest.as_bytes()).map(|skip| inside + skip);
                if let Some(end) = next.filter(|end| bytes.get(*end) == Some(&b'`')) {
                    at = end + ticks.min(bytes.len() - end);
                    code.ranges.push(start..at);
                }
            }
        }
        code
    }

    /// Whether code stands at this place.
    pub fn holds(&self, at: usize) -> bool {
        let next = self.ranges.partition_point(|range| range.end <= at);
        self.ranges.get(next).is_some_and(|range| range.start <= at)
    }
}

/// The code of a part of a text that is closed, in bytes of the text.
pub(super) fn closed(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let base = part.start;
    let mut code = Code::of(&text[part]);
    if code.open.is_some() {
        code.ranges.pop();
    }
    code.ranges.into_iter().map(|range| base + range.start..base + range.end).collect()
}
