//! The program inside a model's answer.
//!
//! What a model answers is Markdown: prose, blocks of code, drafts in its thinking, sample output.
//! [`program`] finds the one piece that was meant to be run, and says where it is.

mod blocks;
mod fence;
mod imports;
mod language;
mod line_ends;
mod margin;
mod outline;
mod pick;
mod strings;
mod tags;
#[cfg(test)]
mod tests;
mod thinking;
mod written;

use std::borrow::Cow;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use assay_verifiers::extract::Thinking;
use blocks::{Block, blocks};
pub(crate) use imports::imports;
pub use language::Language;
use language::Tag;
pub(crate) use line_ends::unmarked;
use line_ends::{BYTE_ORDER_MARK, unix_lines};
pub(crate) use margin::without_prose_before;
pub(crate) use outline::{Outline, blanked, function};
pub use pick::Asked;
use pick::pick;
pub(crate) use written::written;

/// How the program is found in an answer.
///
/// Where the answer has a fenced block of the language, that is the program; where it has none,
/// its last block without a language that is neither a session at a prompt nor a shell; where it
/// has no fence at all, the inside of `<answer>`, `<code>` or a tag named for the language, else
/// the whole text. Blocks of other languages are never the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Extract {
    /// What counts as the program.
    pub from: ProgramSource,
    /// Which of several blocks counts.
    pub blocks: BlockChoice,
    /// The program is inside this tag (`code` for `<code>...</code>`), the last one if there
    /// are several; an answer without it has no program.
    pub tag: Option<String>,
    /// What is done with the model's thinking.
    pub thinking: Thinking,
    /// The prompt has opened the fence already, so that the answer begins inside it.
    pub prefilled: bool,
}

/// What counts as the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramSource {
    /// A fenced block; where there is no fence, the whole text.
    #[default]
    Auto,
    /// A fenced block only.
    Fence,
    /// The whole text, fences and all.
    Whole,
}

/// Which of several blocks counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockChoice {
    /// The last one: what a model settles on.
    #[default]
    Last,
    /// The first one.
    First,
    /// All of them, joined in their order.
    All,
}

/// How a program was found: a fixed word for the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// In a fenced block of the language.
    Fenced,
    /// In a fenced block without a language.
    Untagged,
    /// Inside a tag.
    Tagged,
    /// As the whole text, without fences.
    Whole,
}

assay_verifiers::words! {
    Found, name:
    Fenced "fenced", Untagged "untagged", Tagged "tagged", Whole "whole",
}

/// A program and where it is in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram<'a> {
    /// The program, with `\n` as its line end, and without the indentation or the quote marks of
    /// the block around it.
    pub source: Cow<'a, str>,
    /// The bytes of the answer from its first to its last, end excluded.
    pub span: (usize, usize),
    /// How it was found.
    pub found: Found,
}

/// The program in `text`, unless there is none.
pub fn program<'a>(text: &'a str, language: &Language, how: &Extract) -> Option<FoundProgram<'a>> {
    program_with(text, language, how, Asked::default())
}

/// The same, for tasks that say what they ask for: of several blocks, those that define it are
/// preferred to those that only use it.
pub fn program_with<'a, 's>(
    text: &'a str,
    language: &Language,
    how: &Extract,
    asked: impl Into<Asked<'s>>,
) -> Option<FoundProgram<'a>> {
    let answer = thinking::answer(text, language, how.thinking)?;
    let end = tags::without_end_marks(text, answer.clone());
    let marked = text.get(answer.start..end)?.starts_with(BYTE_ORDER_MARK);
    let answer = answer.start + if marked { BYTE_ORDER_MARK.len_utf8() } else { 0 }..end;
    let search = Search { text, language, how, asked: asked.into() };
    let found = match &how.tag {
        Some(tag) => {
            let inside = tags::last(text, answer, &[], |name| name.eq_ignore_ascii_case(tag))?;
            search.in_tag(inside)
        }
        None => search.in_answer(answer),
    }?;
    let dedented = language.is_python().then(|| margin::dedented(&found.source, &search.asked));
    let source = dedented.flatten().map_or(found.source, Cow::Owned);
    Some(FoundProgram { source, ..found }).filter(|found| !found.source.trim().is_empty())
}

/// The part of `text` that is the answer: what follows the thinking, without the marks that end a
/// turn. `None`: the model never stopped thinking.
pub(crate) fn part(text: &str, how: Thinking) -> Option<Range<usize>> {
    let answer = thinking::answer(text, &Language::PYTHON, how)?;
    Some(answer.start..tags::without_end_marks(text, answer))
}

/// The inside of the last tag of `part` whose name is `wanted`.
pub(crate) fn tagged(
    text: &str,
    part: Range<usize>,
    wanted: impl Fn(&str) -> bool,
) -> Option<Range<usize>> {
    tags::last(text, part, &[], wanted)
}

/// What is in the fenced blocks of `part`.
pub(crate) fn fenced(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    blocks(text, part, &Language::PYTHON, false).into_iter().map(|block| block.body).collect()
}

struct Search<'a, 's> {
    text: &'a str,
    language: &'s Language,
    how: &'s Extract,
    asked: Asked<'s>,
}

impl<'a> Search<'a, '_> {
    fn in_answer(&self, answer: Range<usize>) -> Option<FoundProgram<'a>> {
        if self.how.from == ProgramSource::Whole {
            return self.whole(answer, Found::Whole);
        }
        let blocks = self.blocks(answer.clone());
        let is_answer = |name: &str| name.eq_ignore_ascii_case("answer");
        let Some(inside) = tags::last(self.text, answer.clone(), &blocks, is_answer) else {
            return self.in_part(answer, &blocks);
        };
        // A draft before `<answer>` counts only where what is inside is not a program.
        let tagged = self.in_tag(inside);
        let prose = tagged.as_ref().is_none_or(|program| {
            program.found == Found::Tagged && !self.language.looks_like(&program.source)
        });
        if prose { self.fenced(&blocks).or(tagged) } else { tagged }
    }

    fn in_tag(&self, inside: Range<usize>) -> Option<FoundProgram<'a>> {
        let blocks = self.blocks(inside.clone());
        match (blocks.is_empty(), self.how.from) {
            (_, ProgramSource::Whole) | (true, ProgramSource::Auto) => {
                self.whole(inside, Found::Tagged)
            }
            (true, ProgramSource::Fence) => None,
            (false, _) => self.in_part(inside, &blocks),
        }
    }

    fn in_part(&self, part: Range<usize>, blocks: &[Block]) -> Option<FoundProgram<'a>> {
        let auto = self.how.from == ProgramSource::Auto;
        if let Some(first) = blocks.first() {
            if auto && self.is_code_so_far(part.start..first.open) {
                return self.whole(part, Found::Whole);
            }
            return self.before_stray_fence(&part, blocks).or_else(|| self.fenced(blocks));
        }
        if !auto {
            return None;
        }
        let tagged = tags::last(self.text, part.clone(), &[], |name| {
            name.eq_ignore_ascii_case("code") || self.language.is_named(name)
        });
        match tagged {
            Some(inside) => self.whole(inside, Found::Tagged),
            None => self.bare(part),
        }
    }

    /// A text without fences is all program, or a program with prose before and after it.
    fn bare(&self, part: Range<usize>) -> Option<FoundProgram<'a>> {
        let text = self.text.get(part.clone())?;
        let inner = self.language.is_python().then(|| margin::without_prose(text, &self.asked));
        let inner = inner.flatten().map(|inner| part.start + inner.start..part.start + inner.end);
        self.whole(inner.unwrap_or(part), Found::Whole)
    }

    fn blocks(&self, part: Range<usize>) -> Vec<Block> {
        blocks(self.text, part, self.language, self.how.prefilled)
    }

    /// Whether a string of the program itself holds the first fence, so that the text is a bare
    /// program and no Markdown.
    fn is_code_so_far(&self, before: Range<usize>) -> bool {
        let mut strings = strings::Strings::of(self.language);
        let before = &self.text[before];
        before.lines().for_each(|line| strings.feed(line));
        strings.inside()
    }

    /// A bare program that ends in the end of a fence that was never opened: the prompt did.
    fn before_stray_fence(
        &self,
        part: &Range<usize>,
        blocks: &[Block],
    ) -> Option<FoundProgram<'a>> {
        let [stray] = blocks else { return None };
        let before = part.start..stray.open;
        let first = self.text.get(before.clone())?.lines().find(|line| !line.trim().is_empty())?;
        let is_stray = stray.tag == Tag::None
            && !stray.closed
            && self.how.from == ProgramSource::Auto
            && self.language.looks_like(first)
            && !self.language.looks_like(self.body(stray));
        is_stray.then(|| self.bare(before)).flatten()
    }

    fn fenced(&self, blocks: &[Block]) -> Option<FoundProgram<'a>> {
        let of_language = self.tagged(blocks, Tag::Wanted);
        let untagged = self.tagged(blocks, Tag::None);
        // Not every block of an answer is marked; what is asked for may be in one that is not.
        if !of_language.is_empty() && !self.has_asked(&of_language) && self.has_asked(&untagged) {
            return self.choose(&untagged, Found::Untagged);
        }
        if let Some(program) = self.choose(&of_language, Found::Fenced) {
            return Some(program);
        }
        let nested: Vec<Block> = blocks
            .iter()
            .filter(|block| block.tag == Tag::Markdown)
            .flat_map(|block| self.blocks(block.body.clone()))
            .collect();
        if let Some(program) = self.choose(&self.tagged(&nested, Tag::Wanted), Found::Fenced) {
            return Some(program);
        }
        let plausible: Vec<&Block> = untagged
            .iter()
            .copied()
            .filter(|block| self.language.looks_like(&block.source(self.text)))
            .collect();
        let of = if plausible.is_empty() { untagged } else { plausible };
        self.choose(&of, Found::Untagged)
    }

    fn tagged<'b>(&self, blocks: &'b [Block], tag: Tag) -> Vec<&'b Block> {
        blocks.iter().filter(|block| block.tag == tag && self.may_be_run(block)).collect()
    }

    /// Whether one of the blocks defines what is asked for.
    fn has_asked(&self, blocks: &[&Block]) -> bool {
        let pieces = self.outlines(blocks);
        let names = self.asked.names(&pieces);
        pieces.iter().any(|piece| names.iter().any(|name| piece.defines(name)))
    }

    fn outlines(&self, blocks: &[&Block]) -> Vec<Outline> {
        let outline = |block: &&Block| Outline::of(&block.source(self.text));
        if self.language.is_python() { blocks.iter().map(outline).collect() } else { Vec::new() }
    }

    fn choose(&self, blocks: &[&Block], found: Found) -> Option<FoundProgram<'a>> {
        let defines = |block: &&&Block| {
            let name = self.asked.entry_point.unwrap_or_default();
            self.language.defines(&block.source(self.text), name)
        };
        let block = match self.how.blocks {
            BlockChoice::All => return self.joined(blocks, found),
            BlockChoice::Last if self.language.is_python() && blocks.len() > 1 => {
                let taken = pick(&self.outlines(blocks), &self.asked);
                let of = |at: usize| blocks.get(at).copied();
                return self.joined(&taken.into_iter().filter_map(of).collect::<Vec<_>>(), found);
            }
            BlockChoice::First => blocks.iter().find(defines).or(blocks.first()),
            BlockChoice::Last => blocks.iter().rfind(defines).or(blocks.last()),
        }?;
        self.joined(std::slice::from_ref(block), found)
    }

    fn joined(&self, blocks: &[&Block], found: Found) -> Option<FoundProgram<'a>> {
        let span = (blocks.first()?.body.start, blocks.last()?.body.end);
        let parts: Vec<Cow<'a, str>> = blocks.iter().map(|block| block.source(self.text)).collect();
        let source = match <[_; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => Cow::Owned(parts.join("\n")),
        };
        Some(FoundProgram { source, span, found })
    }

    /// What a prompt or a shell shows is not a program, whatever the block says it is.
    fn may_be_run(&self, block: &Block) -> bool {
        let body = self.body(block).trim_start_matches(BYTE_ORDER_MARK).trim_start();
        let shown = [">>>", "$ ", "% ", "In [", "pip install", "python ", "python3 "];
        !body.is_empty() && !shown.iter().any(|start| body.starts_with(start))
    }

    fn body(&self, block: &Block) -> &'a str {
        &self.text[block.body.clone()]
    }

    fn whole(&self, part: Range<usize>, found: Found) -> Option<FoundProgram<'a>> {
        let text = self.text.get(part.clone())?;
        let source = unix_lines(text);
        (!text.trim().is_empty()).then_some(FoundProgram {
            source,
            span: (part.start, part.end),
            found,
        })
    }
}
