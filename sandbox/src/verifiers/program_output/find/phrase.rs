//! Answers in prose: "the output is `[1, 2]`", `assert f(1) == 2`, `\boxed{2}`.

use std::ops::Range;

use super::found::{Answer, sides};
use crate::value::literal::{self, Words};

/// What stands before an answer.
const CUES: [&str; 52] = [
    "answer is",
    "answer:",
    "answer**:",
    "answer will be",
    "output is",
    "output:",
    "output**:",
    "output will be",
    "output would be",
    "output should be",
    "result is",
    "result:",
    "result**:",
    "result will be",
    "value is",
    "returns",
    "return value is",
    "will return",
    "would return",
    "prints",
    "outputs",
    "evaluates to",
    "is equal to",
    "results in",
    "will output",
    "would output",
    "should output",
    "will print",
    "would print",
    "should return",
    "returned is",
    "printed is",
    "答案是",
    "答案为",
    "答案：",
    "答案:",
    "输出是",
    "输出为",
    "输出：",
    "输出:",
    "结果是",
    "结果为",
    "结果：",
    "结果:",
    "返回",
    "####",
    "result =",
    "output =",
    "answer =",
    "value:",
    "### output",
    "### answer",
];
/// What stands before an answer where nothing else does.
const WEAK_CUES: [&str; 7] = ["it gives", "it yields", "which gives", "gives", "→", "->", "=>"];
/// What is said behind an answer that begins its sentence.
const VERDICTS: [&str; 8] = [
    "is the output",
    "is the answer",
    "is the result",
    "is the return value",
    "is returned",
    "is printed",
    "is what is returned",
    "is the final output",
];
/// What may stand between the cue and the answer.
const FILLERS: [&str; 15] = [
    "therefore",
    "the string",
    "the list",
    "the tuple",
    "the dictionary",
    "the set",
    "the value",
    "the integer",
    "the number",
    "the boolean",
    "the following",
    "thus",
    "simply",
    "a string",
    "a list",
];
/// Places that are tried for each cue, the last one first.
const TRIED_MAX: usize = 8;
/// Bytes of an answer in quotes or backticks.
const BYTES_MAX: usize = 1 << 14;
/// Bytes of an answer that nothing sets off.
const PLAIN_BYTES_MAX: usize = 200;
/// Marks of LaTeX that only say how their inside looks.
const LATEX: [&str; 5] = ["\\text{", "\\texttt{", "\\mathtt{", "\\mathrm{", "\\textbf{"];
/// What begins the paragraph that explains an answer.
const EXPLAINS: [&str; 6] =
    ["explanation", "reasoning", "because", "since", "this is because", "why"];

/// The last sentence that says an answer.
pub(super) fn said(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let lower = inner.to_ascii_lowercase();
    let boxed = inner.rfind("\\boxed{").and_then(|at| boxed(inner, at + "\\boxed{".len()));
    let phrases = CUES.iter().filter_map(|cue| {
        let mut places = lower.rmatch_indices(cue).take(TRIED_MAX);
        places.find_map(|(at, _)| after(inner, at + cue.len()))
    });
    let range = phrases.chain(boxed).max_by_key(|range| range.start)?;
    phrase(inner, part.start, range)
}

/// What a range of a part says, where the part starts at `from` of the text.
fn phrase(part: &str, from: usize, range: Range<usize>) -> Option<Answer<'_>> {
    let span = (from + range.start, from + range.end);
    let said = part.get(range)?;
    Some(Answer { text: said.into(), value: None, span, from: "phrase", quoted: false })
}

/// An answer that no mark sets off, where nothing else is one: what follows a cue to the end of the
/// text, or a literal that a paragraph explains.
pub(super) fn said_plainly(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let range = explained(inner)
        .or_else(|| to_the_end(inner))
        .or_else(|| weakly(inner))
        .or_else(|| judged(inner))?;
    phrase(inner, part.start, range)
}

fn explained(text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().len();
    let (_, length) = literal::prefix(text.get(start..)?, Words::Python).ok()?;
    let (said, rest) = text.get(start..)?.split_at_checked(length)?;
    let rest = rest.trim_start_matches(['.', ' ']).strip_prefix('\n')?;
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "*#".contains(c));
    let lower = rest.get(..rest.floor_char_boundary(20))?.to_ascii_lowercase();
    let explains = EXPLAINS.iter().any(|word| lower.starts_with(word));
    explains.then_some(start..start + said.trim_end().len())
}

/// "It gives [1, 2]", "`f(1)` → `[1, 2]`".
fn weakly(text: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let found = WEAK_CUES.iter().filter_map(|cue| {
        let at = lower.rfind(cue)?;
        let range = after(text, at + cue.len())?;
        // An arrow leads from a call to its value.
        let is_call = text.get(..at)?.trim_end_matches([' ', '`']).ends_with(')');
        let is_arrow = cue.ends_with(['→', '>']);
        if is_arrow && !is_call {
            return None;
        }
        // Only what ends the text is its answer.
        let rest = text.get(range.end..)?;
        rest.chars().all(|c| c.is_whitespace() || "`*.$".contains(c)).then_some(range)
    });
    found.max_by_key(|range| range.start)
}

/// "[1, 2] is the output."
fn judged(text: &str) -> Option<Range<usize>> {
    let start = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?;
    let start = start + line.len() - line.trim_start_matches([' ', '`', '*']).len();
    let (_, length) = literal::prefix(text.get(start..)?, Words::Python).ok()?;
    let length = text.get(start..start + length)?.trim_end().len();
    let rest = text.get(start + length..)?.trim_start_matches(['`', '*', ' ']);
    let verdict = VERDICTS.iter().find_map(|verdict| rest.strip_prefix(verdict))?;
    verdict.trim_matches([' ', '.', '!', '\n']).is_empty().then_some(start..start + length)
}

/// Where the last cue of a text ends.
fn last_cue_end(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    CUES.iter().filter_map(|cue| Some(lower.rfind(cue)? + cue.len())).max()
}

fn to_the_end(text: &str) -> Option<Range<usize>> {
    let from = last_cue_end(text)?;
    let rest = text.get(from..)?;
    let said =
        rest.trim_start_matches(|c: char| c.is_whitespace() || "*:：".contains(c)).trim_end();
    let start = from + rest.find(said)?;
    let is_plain = !said.is_empty() && said.len() <= PLAIN_BYTES_MAX && !said.contains('\n');
    is_plain.then_some(start..start + said.len())
}

/// The lines behind a last cue that ends its line, to the end of the text: "The output is:\n0\n1".
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
        word.is_some_and(|word| ["not", "never", "no"].contains(&word) || word.ends_with("n't"))
    };
    let boxed = lower
        .match_indices("\\boxed{")
        .any(|(at, mark)| boxed(text, at + mark.len()).is_some_and(is_literal));
    boxed
        || CUES.iter().any(|cue| {
            let mut places =
                lower.rmatch_indices(cue).take(TRIED_MAX).filter(|(at, _)| !denied(*at));
            places.any(|(at, _)| after(text, at + cue.len()).is_some_and(is_literal))
        })
}

/// The last assertion whose right side is no blank.
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
fn after(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let skipped = rest.trim_start_matches(|c: char| c.is_whitespace() || "*:：".contains(c));
        let lower = skipped.get(..skipped.floor_char_boundary(20))?.to_ascii_lowercase();
        let skipped =
            ["\\(", "\\["].iter().find_map(|open| skipped.strip_prefix(open)).unwrap_or(skipped);
        let filler = FILLERS.iter().find(|filler| lower.starts_with(**filler));
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
    // The dot behind a whole number ends the sentence.
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
    let inner = text.get(range.clone()).unwrap_or_default();
    let mark = LATEX.iter().find(|mark| inner.starts_with(**mark) && inner.ends_with('}'));
    mark.map_or(range.clone(), |mark| range.start + mark.len()..range.end - 1)
}
