//! Where the thinking of a model ends and its answer begins.
//!
//! All verifiers share it. Thinking stands between marks such as `<think>` and `</think>`, or in a
//! channel of gpt-oss other than the final one. Where the chat template opened it, only its end
//! mark is there. Marks in code blocks and inline code of the answer are text. Thinking may contain
//! an unclosed code block, so it extends to the first end mark. Text behind the token that ends a
//! turn is not part of the answer.

mod marks;

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code;
use marks::{Kind, Mark, What, marks};

/// What is done with the model's thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// The answer is what follows it; thinking that never ends has no answer.
    #[default]
    Skip,
    /// The answer is what follows it; thinking that never ends is searched all the same.
    Lenient,
    /// The prompt opened the thinking: without its end there is no answer.
    Required,
    /// It is part of the answer.
    Keep,
}

/// Channels as a tokenizer leaves them that drops their marks.
const BARE_CHANNELS: (&str, &str) = ("analysis", "assistantfinal");

/// Tokens that end a text at its very end, and are tags elsewhere.
const LAST_ENDS: [&str; 2] = ["</s>", "<eos>"];

/// The span of the answer: from the end of the thinking to the token that ends the turn. `None`
/// where the thinking never ends.
///
/// The time is linear in the text; the caller pays for it.
pub fn answer(text: &str, how: Thinking) -> Option<Range<usize>> {
    answer_outside(text, how, |part| code::closed(text, part))
}

/// The same, where `code` finds the code blocks of a part of the text, in their order.
pub fn answer_outside(
    text: &str,
    how: Thinking,
    code: impl Fn(Range<usize>) -> Vec<Range<usize>>,
) -> Option<Range<usize>> {
    let marks = marks(text);
    let mut part = 0..without_last_ends(text);
    if how == Thinking::Keep {
        return Some(part);
    }
    let (mut ended, mut lasts) = (false, false);
    if marks.is_empty() {
        (part.start, ended, lasts) = bare_channels(text);
    } else {
        match first_thought(text, &marks, &Outside::of(&code, part.clone(), &marks)) {
            Thought::None => {}
            Thought::To(end) => (part.start, ended) = (end, true),
            Thought::Lasts => lasts = true,
        }
        if !lasts {
            lasts = settle(text, &marks, &code, &mut part, &mut ended);
        }
    }
    match how {
        Thinking::Lenient => Some(part),
        _ if lasts => None,
        Thinking::Required => ended.then_some(part),
        _ => Some(part),
    }
}

enum Thought {
    None,
    /// It ends before this place.
    To(usize),
    Lasts,
}

/// The thought that opens in the first turn.
fn first_thought(text: &str, marks: &[Mark], outside: &Outside<'_>) -> Thought {
    let mut blank_to = 0;
    for mark in marks.iter().filter(|mark| !outside.holds(mark, text)) {
        match mark.what {
            What::EndsTurn if is_blank(text, blank_to, mark.start) => blank_to = mark.end,
            What::Opens(kind) => {
                return end_of_thought(marks, kind, mark.end).map_or(Thought::Lasts, Thought::To);
            }
            _ => break,
        }
    }
    Thought::None
}

/// Whether no words stand between two marks. The second one may stand in the name of a channel.
fn is_blank(text: &str, from: usize, to: usize) -> bool {
    text[from.min(to)..to].trim().is_empty()
}

/// Narrows `part` to what follows the last end of a thought in its first turn. Whether another
/// thought begins there and lasts.
fn settle(
    text: &str,
    marks: &[Mark],
    code: &impl Fn(Range<usize>) -> Vec<Range<usize>>,
    part: &mut Range<usize>,
    ended: &mut bool,
) -> bool {
    let outside = Outside::of(code, part.clone(), marks);
    let seen = |mark: &&Mark| part.contains(&mark.start) && !outside.holds(mark, text);
    let mut start = part.start;
    for mark in marks.iter().filter(seen) {
        match mark.what {
            What::EndsTurn => {
                if !is_blank(text, start, mark.start) {
                    part.end = mark.start;
                    break;
                }
                // The token of an empty turn is no answer, either.
                start = mark.end;
            }
            What::Closes(_) => {
                (start, *ended) = (mark.end, true);
            }
            What::Opens(_) => {}
        }
    }
    part.start = start;
    // A thought may have held half a block, so that its end changes what is code.
    let outside = Outside::of(code, part.clone(), marks);
    marks.iter().any(|mark| {
        matches!(mark.what, What::Opens(_))
            && part.contains(&mark.start)
            && !outside.holds(mark, text)
    })
}

/// Where the thought of this kind ends that was opened before `from`. A thought that is closed by
/// the mark of another kind ends there, unless that kind was opened within it.
fn end_of_thought(marks: &[Mark], kind: Kind, from: usize) -> Option<usize> {
    let later = || marks.iter().filter(|mark| mark.start >= from);
    let end = later().find(|mark| mark.what == What::Closes(kind)).map(|mark| mark.end);
    end.or_else(|| {
        let mut within = later().filter(|mark| !mark.ends_turn());
        match within.next() {
            Some(Mark { what: What::Closes(_), end, .. }) => Some(*end),
            _ => None,
        }
    })
}

/// The end of `text` without the tokens that end it.
fn without_last_ends(text: &str) -> usize {
    let mut rest = text;
    while let Some(cut) = LAST_ENDS.iter().find_map(|end| rest.trim_end().strip_suffix(end)) {
        rest = cut;
    }
    rest.len()
}

/// Channels without their marks, "analysisWe add.assistantfinal4": where the answer starts, whether
/// a thought ended, and whether one lasts.
fn bare_channels(text: &str) -> (usize, bool, bool) {
    let (first, last) = BARE_CHANNELS;
    let Some(rest) = text.strip_prefix(first) else { return (0, false, false) };
    match text.rfind(last) {
        Some(at) => (at + last.len(), true, false),
        None => (0, false, rest.starts_with(|c: char| c.is_ascii_uppercase())),
    }
}

/// The code of a part of the text.
struct Outside<'m> {
    blocks: Vec<Range<usize>>,
    marks: &'m [Mark],
}

impl<'m> Outside<'m> {
    fn of(
        code: impl Fn(Range<usize>) -> Vec<Range<usize>>,
        part: Range<usize>,
        marks: &'m [Mark],
    ) -> Self {
        Self { blocks: code(part), marks }
    }

    /// Whether the mark is part of a block or of inline code. The end of a thought whose opening
    /// is not there may follow half a block: alone on its line, it counts unless marks in that
    /// block begin with an opening one.
    fn holds(&self, mark: &Mark, text: &str) -> bool {
        let before = &text[..mark.start];
        let after = &text[mark.end..];
        if before.ends_with('`') && after.starts_with('`') && !before.ends_with("```") {
            return true;
        }
        let next = self.blocks.partition_point(|block| block.end <= mark.start);
        let Some(block) = self.blocks.get(next).filter(|block| block.start <= mark.start) else {
            return false;
        };
        if !matches!(mark.what, What::Closes(_)) {
            return true;
        }
        let alone = before.ends_with('\n') && after.starts_with(['\n', '\r']);
        let first = self.marks.partition_point(|mark| mark.start < block.start);
        let opened =
            self.marks.get(first).is_some_and(|first| matches!(first.what, What::Opens(_)));
        !alone || opened
    }
}
