//! Answers that no mark sets off, where nothing else is one: "It gives [1, 2]", a paragraph that is only
//! a value.

use std::ops::Range;

use assay_verifiers::language::program;

use super::found::{Answer, sides};
use super::phrase::{after, last_cue_end, phrase};
use super::subject;
use crate::value::literal::{self, Words};

/// Marks around a value.
const MARKS: [char; 4] = ['`', '*', '$', ' '];
/// Bytes of an answer that nothing sets off.
const PLAIN_BYTES_MAX: usize = 200;

/// An answer that no mark sets off, where nothing else is one: what follows a cue to the end of the
/// text, or a literal that a paragraph explains.
pub(super) fn said_plainly(text: &str, part: Range<usize>) -> Option<Answer<'_>> {
    let inner = text.get(part.clone())?;
    let range = paragraph(inner)
        .or_else(|| explained(inner))
        .or_else(|| to_the_end(inner))
        .or_else(|| weakly(inner))
        .or_else(|| called(inner))
        .or_else(|| judged(inner))?;
    phrase(inner, part.start, range)
}

/// The value that a line is, without marks around it and a dot after it.
fn only_value(text: &str, line: Range<usize>) -> Option<Range<usize>> {
    let said = text.get(line.clone())?;
    let start = line.start + said.len() - said.trim_start_matches(MARKS).len();
    let bare = said.trim_matches(MARKS).trim_end_matches('.').trim_end_matches(MARKS);
    let is_value = !bare.is_empty() && literal::read(bare, Words::Python).is_ok();
    is_value.then(|| start..start + bare.len())
}

/// The paragraphs that are only values.
fn values(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let paragraphs = text.split_inclusive("\n\n").map(|paragraph| {
        let start = at;
        at += paragraph.len();
        start..start + paragraph.trim_end().len()
    });
    paragraphs.filter_map(|paragraph| only_value(text, paragraph)).collect()
}

/// The first or the last paragraph, where it is the only one that is only a value.
fn paragraph(text: &str) -> Option<Range<usize>> {
    let values = values(text);
    let [value] = values.as_slice() else { return None };
    let is_mark = |c: char| c.is_whitespace() || "`*$.".contains(c);
    let is_first = text.get(..value.start)?.chars().all(is_mark);
    let is_last = text.get(value.end..)?.chars().all(is_mark);
    (is_first != is_last).then(|| value.clone())
}

/// A value before its reason: "`[1]` because".
fn explained(text: &str) -> Option<Range<usize>> {
    let lead = text.trim_start();
    let start = text.len() - lead.trim_start_matches(['`', '*']).len();
    let (_, length) = literal::prefix(text.get(start..)?, Words::Python).ok()?;
    let (said, rest) = text.get(start..)?.split_at_checked(length)?;
    let said = said.trim_end();
    let length = said.len() - usize::from(said.ends_with('.') && rest.starts_with(['\n', ' ']));
    let behind = rest.trim_start_matches(['.', ' ', '`', '*', '\r']);
    let reason = behind.trim_start_matches(|c: char| c.is_whitespace() || "*#,—–-".contains(c));
    let lower = reason.get(..reason.floor_char_boundary(20))?.to_ascii_lowercase();
    let explains = program::EXPLAINING.iter().any(|word| lower.starts_with(word));
    (explains && values(behind).is_empty()).then_some(start..start + length)
}

/// "So f(1) = 2."
fn called(text: &str) -> Option<Range<usize>> {
    let body = text.trim_end();
    let start = body.rfind('\n').map_or(0, |at| at + 1);
    let line = body.get(start..)?.replace('`', " ");
    let lower = line.to_ascii_lowercase();
    let lead = program::LEADS.iter().find(|lead| lower.trim_start().starts_with(**lead))?;
    let from = lower.find(lead)? + lead.len();
    let call =
        line.get(from..)?.trim_start_matches([',', ' ', '*']).trim_end_matches(['.', ' ', '*']);
    let (_, right) = sides(call)?;
    let at = line.rfind(right).filter(|_| literal::read(right, Words::Python).is_ok())?;
    Some(start + at..start + at + right.len())
}

/// "It gives [1, 2]", "`f(1)` → `[1, 2]`".
fn weakly(text: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let calls = subject::call(&lower).filter_map(|at| last(text, after(text, at)?));
    let found = program::WEAK_CUES.iter().filter_map(|cue| {
        let at = lower.rfind(cue)?;
        let range = after(text, at + cue.len())?;
        // An arrow leads from a call to its value.
        let is_call = text.get(..at)?.trim_end_matches([' ', '`']).ends_with(')');
        let is_arrow = cue.ends_with(['→', '>']);
        if is_arrow && !is_call {
            return None;
        }
        last(text, range)
    });
    found.chain(calls).max_by_key(|range| range.start)
}

/// Only what ends the text is its answer.
fn last(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(range.end..)?;
    rest.chars().all(|c| c.is_whitespace() || "`*.$".contains(c)).then_some(range)
}

/// "[1, 2] is the output."
fn judged(text: &str) -> Option<Range<usize>> {
    let start = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?;
    let start = start + line.len() - line.trim_start_matches([' ', '`', '*']).len();
    let (_, length) = literal::prefix(text.get(start..)?, Words::Python).ok()?;
    let length = text.get(start..start + length)?.trim_end().len();
    let rest = text.get(start + length..)?.trim_start_matches(['`', '*', ' ']);
    let verdict = program::VERDICTS.iter().find_map(|verdict| rest.strip_prefix(verdict))?;
    verdict.trim_matches([' ', '.', '!', '\n']).is_empty().then_some(start..start + length)
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
