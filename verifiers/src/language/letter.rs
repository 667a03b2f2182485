//! Sentences that announce the letter of an option, composed of words: "la bonne proposition est la **A**",
//! "верен вариант (D)".

use super::cues::{self, Role};
use super::guess::Languages;
use super::sentences::{self, is_unspaced};

/// Announcements are looked for in so many bytes at the end.
const TAIL_MAX: usize = 1500;
/// What may stand before a letter.
const OPENERS: [char; 10] = ['(', '[', '*', '_', '`', '"', '$', ' ', '「', '“'];

/// Where a sentence goes on behind a place and announces another letter: "C, but it is D".
pub(crate) fn turns(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let rest = rest.get(..sentences::ends(rest).next().unwrap_or(rest.len()))?;
    let turn = rest.find([',', ';', '，', '；', '、'])?;
    has_letter(rest.get(turn..)?).then_some(())?;
    let start = sentences::last_start(text.get(..from)?);
    let sentence = text.get(start..from + rest.len())?;
    let (at, announces) = announced(sentence, &Languages::of(text))?;
    Some(start + at).filter(|at| announces && *at > from)
}

/// Whether a text has a capital letter that is a word.
fn has_letter(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let is_free = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric())
        };
        byte.is_ascii_uppercase() && is_free(at.checked_sub(1)) && is_free(Some(at + 1))
    })
}

/// Where the last announced letter begins, or what encloses it.
pub(crate) fn last(text: &str) -> Option<usize> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL_MAX));
    let tail = text.get(from..)?;
    let languages = Languages::of(text);
    let ends: Vec<usize> = sentences::ends(tail).chain([tail.len()]).collect();
    let found = ends.iter().enumerate().rev().find_map(|(at, end)| {
        let start = at.checked_sub(1).and_then(|at| ends.get(at)).copied().unwrap_or(0);
        let sentence = tail.get(start..*end)?;
        if !has_letter(sentence) {
            return None;
        }
        let (at, announces) = announced(sentence, &languages)?;
        Some((from + start + at, announces))
    });
    found.filter(|(_, announces)| *announces).map(|(at, _)| at)
}

/// Where a sentence says which letter is right, or that one is not right, and which of both.
fn announced(sentence: &str, languages: &Languages<'_>) -> Option<(usize, bool)> {
    let words = cues::words(sentence, languages);
    let known = [Role::Is, Role::Det, Role::Noun, Role::Right, Role::Instead, Role::Stop, Role::It];
    words.iter().enumerate().rev().find_map(|(last, word)| {
        let behind = sentence.get(word.span.end..)?;
        if !begins_letter(behind) {
            return None;
        }
        // The words in a row before it.
        let mut run = vec![word];
        for before in words.get(..last)?.iter().rev() {
            let next = run.last()?;
            let gap = sentence.get(before.span.end..next.span.start)?;
            if !is_small(gap) || !before.is_any(&known) {
                break;
            }
            run.push(before);
        }
        let has = |role| run.iter().any(|word| word.is(role));
        let first = run.last()?.span.start;
        // "One might say C, but it is D": what the clause itself says counts.
        let clause = sentence.get(..first)?.rfind([',', ';', '，', '；', '、', '：']).unwrap_or(0);
        let lead = words.iter().filter(|word| clause <= word.span.start && word.span.end <= first);
        let against = [Role::Not, Role::Wrong, Role::If, Role::Who, Role::May];
        let is_doubted = lead.into_iter().any(|word| word.is_any(&against));
        // "It is" points at an answer where one was said before.
        let is_turn = clause > 0 && has(Role::It);
        let is_label = sentence
            .get(first..)?
            .get(..word.span.end + behind.find(|c: char| c.is_ascii_uppercase())? - first)?
            .contains([':', '：']);
        let announces = has(Role::Right)
            || has(Role::Instead)
            || is_turn
            || has(Role::Noun) && (has(Role::Is) || is_label);
        let is_right = !has(Role::Wrong) && !has(Role::Not) && !is_doubted;
        announces.then_some((word.span.end, is_right))
    })
}

/// Whether nothing stands between two words but signs, or a particle of a script without spaces.
fn is_small(gap: &str) -> bool {
    let letters = gap.chars().filter(|c| c.is_alphanumeric());
    gap.chars().all(|c| !c.is_alphanumeric() || is_unspaced(c)) && letters.count() <= 2
}

/// Whether the letter of an option stands at the start of a text, behind a particle perhaps.
fn begins_letter(text: &str) -> bool {
    let lead = text.trim_start_matches(|c: char| OPENERS.contains(&c) || ":：".contains(c));
    let skipped = lead.trim_start_matches(is_unspaced);
    let is_particle = lead.len() - skipped.len() <= 6;
    let rest = if is_particle { skipped.trim_start_matches(OPENERS) } else { lead };
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && chars.next().is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c))
}
