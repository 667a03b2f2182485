//! The boxed answer: the last box, joined with the boxes that are parts of the same answer.

use std::borrow::Cow;

use super::candidate::{Candidate, Provenance};
use super::scope::Scope;
use super::words::{is_one_of, offers, words};
use super::{hidden, qualify};
use crate::language::connect;
use crate::math::syntax::text::trimmed_start;

/// Commands of LaTeX between boxes.
const COMMANDS: [&str; 6] = ["text", "quad", "qquad", "left", "right", "mbox"];

/// A phrase between two boxes of one list has at most this many words.
const PHRASE_MAX: usize = 6;

/// The last box, joined with boxes that stand beside it as parts of one answer.
pub(super) fn last_group<'a>(scope: &Scope<'a>) -> Option<Candidate<'a>> {
    let text = scope.text;
    let mut looked = 0;
    let mut boxes = scope.boxes.iter().rev().filter(|found| {
        !scope.in_code(found.start)
            && text.get(found.from..found.to).is_some_and(|content| !content.trim().is_empty())
    });
    let last = boxes.find(|found| {
        !scope.quoted((found.start, found.end), &mut looked)
            && !text.get(found.end..).is_some_and(is_denied_behind)
            && !text.get(..found.start).is_some_and(is_denied)
    })?;
    let mut group = vec![(last.from, last.to)];
    let mut next = last.start;
    for before in boxes {
        if !text.get(before.end..next).is_some_and(connects) {
            break;
        }
        next = before.start;
        group.push((before.from, before.to));
    }
    group.reverse();
    let contents: Vec<&str> = group.iter().filter_map(|(from, to)| text.get(*from..*to)).collect();
    let first = contents.first()?;
    let same = contents.iter().all(|content| content.trim() == first.trim());
    let joined = if same {
        Cow::Borrowed(trimmed_start(first).trim_end())
    } else {
        Cow::Owned(contents.join(", "))
    };
    let joined = match joined {
        Cow::Borrowed(text) => hidden::shown(text)?,
        Cow::Owned(text) => Cow::Owned(hidden::shown(&text)?.into_owned()),
    };
    let span = if same { (last.from, last.to) } else { (group.first()?.0, last.to) };
    Some(Candidate { text: joined, span, provenance: Provenance::Boxed })
}

/// Whether the words behind a box deny it: "is wrong".
fn is_denied_behind(after: &str) -> bool {
    qualify::is_denied_after(after.trim_start_matches(['$', ' ', '*', '\\', ')', ']', '，', ',']))
}

/// Whether the words before a box say that it is not the answer: "not", "a common mistake gives".
fn is_denied(before: &str) -> bool {
    let lead = before.trim_end_matches([' ', '$', '\\', '(', '[', '{', '*', '_', ':']);
    qualify::is_denied_before(lead) || qualify::is_unsaid(lead) || qualify::is_mistaken(lead)
}

/// Whether what stands between two boxes joins them into one answer.
fn connects(gap: &str) -> bool {
    if gap.len() > 60 || gap.matches('\n').count() > 1 {
        return false;
    }
    let mut said = words(gap).peekable();
    if said.peek().is_none() && gap.contains(['.', '?', '!', '。']) {
        return false;
    }
    // "and $y_2 = $": the label of the next part.
    let labels = gap.contains('=');
    said.all(|word| {
        labels && word.chars().count() == 1
            || is_one_of(connect::LINKS, word)
            || is_one_of(&COMMANDS, word)
    }) || offers(words(gap))
        || phrase(gap)
}

/// "apples, ", "papers and ": what was counted, and a link to the next box.
fn phrase(gap: &str) -> bool {
    if gap.contains(['.', '?', '!', ';', ':', '=', '<', '>', '。', '；', '：', '+', '/']) {
        return false;
    }
    // An arrow or a sign of relation is no phrase.
    let mut commands =
        gap.split('\\').skip(1).filter_map(|tail| tail.split(|c: char| !c.is_alphabetic()).next());
    if !commands.all(|name| name.is_empty() || is_command(name)) {
        return false;
    }
    let end = gap.trim_end_matches(|c: char| c.is_whitespace() || "$}({\\~*[".contains(c));
    let comma = end.ends_with([',', '，']);
    let mut said: Vec<&str> = words(gap).filter(|word| !is_command(word)).collect();
    let linked = said.last().is_some_and(|word| is_one_of(connect::LINKS, word));
    said.retain(|word| !is_one_of(connect::LINKS, word));
    (comma || linked)
        && said.len() <= PHRASE_MAX
        && !said.iter().any(|word| {
            let inflected = word.len() > 4
                && connect::INFLECTIONS.iter().any(|ending| word.to_lowercase().ends_with(ending));
            !word.is_ascii() || inflected || is_one_of(connect::PARTING, word)
        })
}

/// The commands that may stand around such a phrase.
fn is_command(word: &str) -> bool {
    COMMANDS.contains(&word)
}
