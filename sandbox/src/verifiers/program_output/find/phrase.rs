//! Answers in prose: "the output is `[1, 2]`", `assert f(1) == 2`, `\boxed{2}`.

use std::ops::Range;

use assay_verifiers::language::program;

use super::found::{Answer, sides};
use super::subject;
use crate::value::literal::{self, Words};

/// Places that are tried for each cue, the last one first.
const TRIED_MAX: usize = 8;
/// Bytes of an answer in quotes or backticks.
const BYTES_MAX: usize = 1 << 14;
/// Marks of LaTeX that only say how their inside looks.
const LATEX: [&str; 5] = ["\\text{", "\\texttt{", "\\mathtt{", "\\mathrm{", "\\textbf{"];

/// The last sentence that says an answer.
pub(super) fn said(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let lower = inner.to_ascii_lowercase();
    let subjects = subject::program(&lower).filter_map(|at| after(inner, at));
    let boxed = inner.rfind("\\boxed{").and_then(|at| boxed(inner, at + "\\boxed{".len()));
    let phrases = program::CUES.iter().filter_map(|cue| {
        let mut places = lower.rmatch_indices(cue).take(TRIED_MAX);
        places.find_map(|(at, _)| after(inner, at + cue.len()))
    });
    let range = phrases.chain(subjects).chain(boxed).max_by_key(|range| range.start)?;
    phrase(inner, part.start, range)
}

/// The last sentence that says which arguments are the input: "The input is `'ab', 2`."
pub(super) fn said_arguments(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let lower = inner.to_ascii_lowercase();
    let places = program::INPUT_CUES
        .iter()
        .flat_map(|cue| lower.rmatch_indices(cue).take(TRIED_MAX).map(|(at, cue)| at + cue.len()));
    let listed = |at: usize| {
        let line = inner.get(at..)?.split('\n').next()?;
        let lead = line.trim_start_matches([' ', '*', ':']);
        let start = at + line.len() - lead.len();
        let said = lead.trim_end().trim_end_matches('.');
        let is_list = !said.is_empty() && literal::arguments(said, Words::Python).is_ok();
        is_list.then(|| start..start + said.len()).or_else(|| after(inner, at))
    };
    let range = places.filter_map(listed).max_by_key(|range| range.start)?;
    phrase(inner, part.start, range)
}

/// What a range of a part says, where the part starts at `from` of the text.
pub(super) fn phrase(part: &str, from: usize, range: Range<usize>) -> Option<Answer<'_>> {
    let span = (from + range.start, from + range.end);
    let said = part.get(range)?;
    Some(Answer { text: said.into(), value: None, span, from: "phrase", quoted: false })
}

/// Where the last cue of a text ends.
pub(super) fn last_cue_end(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    program::CUES.iter().filter_map(|cue| Some(lower.rfind(cue)? + cue.len())).max()
}

/// The lines after a last cue that ends its line, to the end of the text: "The output is:\n0\n1".
pub(super) fn lines_said(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let cue = last_cue_end(inner)?;
    let line = cue + inner.get(cue..)?.find('\n')?;
    let is_bare = inner.get(cue..line)?.trim_matches([' ', ':', '*', '：', '\r']).is_empty();
    let rest = inner.get(line..)?;
    let start = line + rest.len() - rest.trim_start_matches(['\n', '\r']).len();
    let said = inner.get(start..)?.trim_end();
    let is_plain = said.contains('\n') && !said.contains("```") && !said.contains("\n\n");
    if !is_bare || !is_plain {
        return None;
    }
    phrase(inner, part.start, start..start + said.len())
}

/// Whether a sentence says that something is a literal, and does not deny it.
pub(in crate::verifiers::program_output) fn says_value(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_literal = |range: Range<usize>| {
        text.get(range).is_some_and(|text| literal::read(text, Words::Python).is_ok())
    };
    let denied = |at: usize| {
        let word = lower.get(..at).and_then(|before| before.split_whitespace().next_back());
        word.is_some_and(|word| program::DENYING.contains(&word) || word.ends_with("n't"))
    };
    let boxed = lower
        .rmatch_indices("\\boxed{")
        .take(TRIED_MAX)
        .any(|(at, mark)| boxed(text, at + mark.len()).is_some_and(is_literal));
    boxed
        || program::CUES.iter().any(|cue| {
            let mut places =
                lower.rmatch_indices(cue).take(TRIED_MAX).filter(|(at, _)| !denied(*at));
            places.any(|(at, _)| after(text, at + cue.len()).is_some_and(is_literal))
        })
}

/// The last assertion whose right side is not a blank.
pub(super) fn assertion(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let mut places = inner.rmatch_indices("assert ").take(TRIED_MAX);
    places.find_map(|(at, _)| {
        let rest = inner.get(at..)?;
        let (_, right) = sides(rest)?;
        let start = rest.len() - right.len();
        let length = match literal::prefix(right, Words::Python) {
            Ok((_, length)) => length,
            Err(_) => right.find(['\n', '`']).unwrap_or(right.len()),
        };
        let right = right.get(..length)?.trim_end();
        if right.is_empty() || right.starts_with("??") {
            return None;
        }
        // All of it is kept: who asks for the input reads the left side.
        let end = at + start + right.len();
        let span = (part.start + at, part.start + end);
        let text = inner.get(at..end)?.into();
        Some(Answer { text, value: None, span, from: "assertion", quoted: false })
    })
}

/// The answer that follows a cue at once.
pub(super) fn after(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let skipped = rest.trim_start_matches(|c: char| c.is_whitespace() || "*:：".contains(c));
        let lower = skipped.get(..skipped.floor_char_boundary(20))?.to_ascii_lowercase();
        let skipped =
            ["\\(", "\\["].iter().find_map(|open| skipped.strip_prefix(open)).unwrap_or(skipped);
        let filler = program::FILLERS.iter().find(|filler| lower.starts_with(**filler));
        at += rest.len() - skipped.len() + filler.map_or(0, |filler| filler.len());
        if filler.is_none() {
            break;
        }
    }
    let rest = text.get(at..)?;
    let rest = rest.get(..rest.floor_char_boundary(BYTES_MAX))?;
    if let Some(fence) = rest.strip_prefix("```") {
        let body = at + 3 + fence.find('\n')? + 1;
        let length = text.get(body..)?.find("```")?;
        return Some(body..body + length);
    }
    if let Some(inner) = rest.strip_prefix('`') {
        let end = inner.find(['`', '\n']).filter(|end| *end > 0)?;
        return inner.get(end..)?.starts_with('`').then_some(at + 1..at + 1 + end);
    }
    if let Some(inner) = rest.strip_prefix("\\boxed{") {
        return boxed(text, at + rest.len() - inner.len());
    }
    let (_, length) = literal::prefix(rest, Words::Python).ok()?;
    let next = rest.get(length..)?.chars().next();
    // The dot after a whole number ends the sentence.
    let is_dot = rest.get(..length)?.ends_with('.') && next.is_none_or(char::is_whitespace);
    let length = length - usize::from(is_dot);
    let ends = !next.is_some_and(|c| c.is_alphanumeric() || "_([+-/%".contains(c));
    ends.then_some(at..at + length)
}

/// The inside of the braces that open before `from`.
fn boxed(text: &str, from: usize) -> Option<Range<usize>> {
    let mut depth = 1_usize;
    let rest = text.get(from..)?;
    for (at, c) in rest.char_indices().take(BYTES_MAX) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| unmarked(text, from..from + at));
        }
    }
    None
}

/// Without a mark of LaTeX around it.
fn unmarked(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let mark = LATEX.iter().find(|mark| inner.starts_with(**mark) && inner.ends_with('}'));
    mark.map_or(range.clone(), |mark| range.start + mark.len()..range.end - 1)
}
