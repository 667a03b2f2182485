//! `\boxed{}`: the last one, with those that belong to it.

use std::borrow::Cow;

use super::{Candidate, Provenance, in_fence};

/// A box: where the command starts, and where its content lies.
struct Boxed {
    start: usize,
    from: usize,
    to: usize,
}

/// The last box, joined with boxes that stand beside it as parts of one answer.
pub(super) fn last_group<'a>(text: &'a str, fences: &[(usize, usize)]) -> Option<Candidate<'a>> {
    let mut boxes = closed(text);
    boxes.retain(|found| {
        !in_fence(found.start, fences)
            && text.get(found.from..found.to).is_some_and(|content| !content.trim().is_empty())
    });
    let last = boxes.pop()?;
    let mut group = vec![(last.from, last.to)];
    let mut next = last.start;
    while let Some(before) = boxes.pop() {
        if !text.get(before.to + 1..next).is_some_and(connects) {
            break;
        }
        next = before.start;
        group.push((before.from, before.to));
    }
    group.reverse();
    let contents: Vec<&str> = group.iter().filter_map(|(from, to)| text.get(*from..*to)).collect();
    let first = contents.first()?;
    let same = contents.iter().all(|content| content.trim() == first.trim());
    let joined = if same { Cow::Borrowed(first.trim()) } else { Cow::Owned(contents.join(", ")) };
    let span = if same { (last.from, last.to) } else { (group.first()?.0, last.to) };
    Some(Candidate { text: joined, span, provenance: Provenance::Boxed })
}

/// All boxes that are closed and stand in no other box, in one pass.
fn closed(text: &str) -> Vec<Boxed> {
    let bytes = text.as_bytes();
    let mut found: Vec<Boxed> = Vec::new();
    let first = text.find("\\boxed").into_iter().chain(text.find("\\fbox")).min();
    let Some(mut at) = first else { return found };
    // Open braces; those of boxes carry where the command started.
    let mut open: Vec<Option<usize>> = Vec::new();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                if let Some(length) = opener(bytes.get(at..).unwrap_or_default()) {
                    open.push(Some(at));
                    at += length;
                    continue;
                }
                at += 1;
            }
            b'{' if !open.is_empty() => open.push(None),
            b'}' => {
                if let Some(Some(start)) = open.pop() {
                    let from = start + opener(bytes.get(start..).unwrap_or_default()).unwrap_or(0);
                    while found.last().is_some_and(|inner| inner.start > start) {
                        found.pop();
                    }
                    found.push(Boxed { start, from, to: at });
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The length of `\boxed{` here, with the space that may stand in it.
fn opener(bytes: &[u8]) -> Option<usize> {
    let name: usize = [&b"\\boxed"[..], b"\\fbox"]
        .iter()
        .find(|name| bytes.starts_with(name))
        .map(|name| name.len())?;
    let spaces = bytes.get(name..)?.iter().take_while(|byte| **byte == b' ').count();
    (bytes.get(name + spaces) == Some(&b'{')).then_some(name + spaces + 1)
}

/// Whether what stands between two boxes joins them into one answer.
fn connects(gap: &str) -> bool {
    if gap.len() > 60 || gap.matches('\n').count() > 1 {
        return false;
    }
    let words = gap.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.peekable();
    if words.peek().is_none() && gap.contains(['.', '?', '!']) {
        return false;
    }
    words.all(|word| {
        matches!(word, "and" | "or" | "text" | "quad" | "qquad" | "left" | "right" | "mbox")
    })
}
