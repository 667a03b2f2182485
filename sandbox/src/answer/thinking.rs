//! Where a model's thinking ends and its answer begins.

use std::ops::Range;

use super::Thinking;
use super::blocks::{Block, blocks};
use super::language::Language;
use super::tags::in_block;

/// How models mark the beginning and the end of their thinking.
const MARKS: [(&str, &str); 8] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
];

/// The part of `text` that is the answer. `None`: the model never stopped thinking.
pub(super) fn answer(text: &str, language: &Language, how: Thinking) -> Option<Range<usize>> {
    let whole = 0..text.len();
    if how == Thinking::Keep {
        return Some(whole);
    }
    let mut answer = whole;
    let mut ended = false;
    for (open, close) in MARKS {
        if !text.contains(open) && !text.contains(close) {
            continue;
        }
        let view = View { text, language, open, close };
        match view.after(answer.clone()) {
            End::At(start) => (answer.start, ended) = (start, true),
            End::Never if how != Thinking::Lenient => return None,
            End::Never | End::None => {}
        }
    }
    (ended || how != Thinking::Required).then_some(answer)
}

enum End {
    /// There is no thinking.
    None,
    At(usize),
    Never,
}

struct View<'a, 's> {
    text: &'a str,
    language: &'s Language,
    open: &'static str,
    close: &'static str,
}

impl View<'_, '_> {
    /// Marks inside a block of the answer belong to its program. Thinking itself may hold half a
    /// block, so its own blocks are not looked at: it lasts to the first mark of its end.
    fn after(&self, part: Range<usize>) -> End {
        let mut start = part.start;
        let found = blocks(self.text, part.clone(), self.language, false);
        if let Some(opened) = self.outside(&found, part.clone(), self.open).next() {
            let rest = self.text.get(opened..part.end).unwrap_or_default();
            let Some(length) = rest.find(self.close) else { return End::Never };
            start = opened + length + self.close.len();
        }
        let found = blocks(self.text, start..part.end, self.language, false);
        if let Some(closed) = self.outside(&found, start..part.end, self.close).last() {
            start = closed + self.close.len();
        }
        let found = blocks(self.text, start..part.end, self.language, false);
        if self.outside(&found, start..part.end, self.open).next().is_some() {
            return End::Never;
        }
        if start == part.start { End::None } else { End::At(start) }
    }

    fn outside(
        &self,
        blocks: &[Block],
        part: Range<usize>,
        mark: &'static str,
    ) -> impl Iterator<Item = usize> {
        let base = part.start;
        let rest = self.text.get(part).unwrap_or_default();
        rest.match_indices(mark)
            .map(move |(at, _)| base + at)
            .filter(move |at| !in_block(blocks, *at))
    }
}
