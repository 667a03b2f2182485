//! A text that a pattern matches, made of the pattern: `assay validate` tries it as a right answer, and `assay audit`
//! as an attack.

use std::ops::RangeInclusive;

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The longest text that is made, in bytes.
const EXAMPLE_BYTES_MAX: usize = 1 << 14;
/// What a class of characters gives, where it has one of them.
const USUAL: [char; 6] = ['a', 'A', '1', ' ', '\n', '_'];

pub(super) fn example(pattern: &Regex, group: Option<(usize, &str)>) -> Option<String> {
    let hir = regex_syntax::parse(pattern.as_str()).ok()?;
    let mut writer = Writer { group, text: String::new() };
    writer.write(&hir)?;
    let captures = pattern.captures_iter(&writer.text).last()?;
    let is_held = group.is_none_or(|(at, wanted)| {
        captures.get(at).is_some_and(|held| held.as_str().trim() == wanted.trim())
    });
    drop(captures);
    is_held.then_some(writer.text)
}

struct Writer<'w> {
    group: Option<(usize, &'w str)>,
    text: String,
}

impl Writer<'_> {
    fn write(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.text.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => self.text.push(usual(class)?),
            HirKind::Repetition(repetition) => {
                let least = repetition.min.max(u32::from(self.holds_group(&repetition.sub)));
                for _ in 0..least {
                    self.write(&repetition.sub)?;
                }
            }
            HirKind::Capture(capture) => match self.group {
                Some((at, text)) if at == capture.index as usize => self.text.push_str(text),
                _ => self.write(&capture.sub)?,
            },
            HirKind::Concat(parts) => {
                for part in parts {
                    self.write(part)?;
                }
            }
            HirKind::Alternation(branches) => {
                let held = branches.iter().find(|branch| self.holds_group(branch));
                self.write(held.or(branches.first())?)?;
            }
        }
        (self.text.len() <= EXAMPLE_BYTES_MAX).then_some(())
    }

    /// Whether the group that is wanted is within a part of the pattern.
    fn holds_group(&self, hir: &Hir) -> bool {
        let Some((wanted, _)) = self.group else { return false };
        match hir.kind() {
            HirKind::Capture(capture) => {
                capture.index as usize == wanted || self.holds_group(&capture.sub)
            }
            HirKind::Repetition(repetition) => self.holds_group(&repetition.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().any(|part| self.holds_group(part))
            }
            _ => false,
        }
    }
}

/// A character of a class: one that texts often have, else its first.
fn usual(class: &Class) -> Option<char> {
    let ranges: Vec<RangeInclusive<char>> = match class {
        Class::Unicode(class) => class.iter().map(|range| range.start()..=range.end()).collect(),
        Class::Bytes(class) => {
            class.iter().map(|range| range.start().into()..=range.end().into()).collect()
        }
    };
    let has = |char: &char| ranges.iter().any(|range| range.contains(char));
    USUAL.into_iter().find(has).or_else(|| Some(*ranges.first()?.start()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    #[test]
    fn texts_hold_the_answer_in_its_group() {
        for (pattern, group, text) in [
            (r"the answer is (\d+)", 1, "the answer is 42"),
            (
                r"(?s)^<think>.*?</think>\s*<answer>(.+?)</answer>$",
                1,
                "<think></think><answer>42</answer>",
            ),
            (r"(?i)final(?: answer)?: (?P<a>\S+)", 1, "FINaL: 42"),
            (r"(?:x=(\d)|y=(\d+))", 2, "y=42"),
            (r"(?:=(\d+))?\z", 1, "=42"),
            (r"[^\d](\d+)[\t ]{2}", 1, "a42  "),
        ] {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(
                example(&pattern, Some((group, "42"))).as_deref(),
                Some(text),
                "{pattern:?}"
            );
        }
    }

    #[test]
    fn there_is_none_where_the_group_cannot_hold_it_or_the_text_is_long() {
        for (pattern, wanted) in
            [(r"(\d+)", "x"), (r"a\b(\d)", "4"), (r"(?:(?:a{99}){99}){99}(b)", "b")]
        {
            let Ok(pattern) = Pattern::new(pattern) else { continue };
            assert_eq!(example(&pattern, Some((1, wanted))), None, "{pattern:?}");
        }
    }
}
