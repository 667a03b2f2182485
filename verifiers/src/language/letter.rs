//! Sentences that announce the letter of an option, composed of words: "la bonne proposition est la **A**",
//! "верен вариант (D)".

use std::ops::Range;

use super::choice;
use super::cues::{self, Cue, Cues, Role};
use super::guess::Languages;
use super::sentences::{self, is_asked, is_unspaced};
use super::standing::{self, BORDERS};

/// Announcements are looked for in so many bytes at the end.
const TAIL_MAX: usize = 1500;
/// What may stand before a letter.
const OPENERS: [char; 10] = ['(', '[', '*', '_', '`', '"', '$', ' ', '「', '“'];

/// So many sentences at the end of a text are searched for an option.
const NAMED_WITHIN: usize = 4;
/// The longest particle of a script without spaces before a letter, in bytes.
const PARTICLE_MAX: usize = 6;

/// Where the letter of an option stands that the last sentence with one names alone in its clause: "the others
/// are too small, so **B**". Nothing from that clause on may deny it or leave it open.
pub(crate) fn named(text: &str, is_option: impl Fn(char) -> bool) -> Option<usize> {
    let body = text.trim_end();
    let from = body.ceil_char_boundary(body.len().saturating_sub(TAIL_MAX));
    let tail = body.get(from..)?;
    let starts = sentences::ends(tail).rev().filter(|start| *start < tail.len()).chain([0]);
    let languages = Languages::of(body);
    let mut end = tail.len();
    for start in starts.take(NAMED_WITHIN) {
        let sentence = tail.get(start..end)?;
        end = start;
        let letters = lone(sentence, &is_option);
        if let Some((at, _)) = letters.last() {
            let found = cues::all(sentence, &languages);
            let said = Said { before: tail.get(..start)?, sentence, found };
            let names = said.names(&letters) && said.leads(*at);
            let names = names && !standing::leaves_open(body, from + start + at, &standing::OPEN);
            return names.then_some(from + start + at);
        }
    }
    None
}

/// A sentence with letters.
struct Said<'a> {
    before: &'a str,
    sentence: &'a str,
    found: Cues,
}

impl Said<'_> {
    /// Whether a part of it has a phrase or a word with one of these roles.
    fn has(&self, part: Range<usize>, roles: &[Role]) -> bool {
        let own = |cue: &&Cue| part.start <= cue.span.start && cue.span.end <= part.end;
        let Cues { phrases, words } = &self.found;
        phrases.iter().chain(words).filter(own).any(|cue| cue.is_any(roles))
    }

    /// Whether it names the last of its letters.
    fn names(&self, letters: &[(usize, char)]) -> bool {
        #[rustfmt::skip]
        const AGAINST: [Role; 15] = [
            Role::Not, Role::Wrong, Role::Slip, Role::Undo, Role::May, Role::Would, Role::If, Role::Who, Role::Deny,
            Role::Offer, Role::Suppose, Role::Report, Role::Past, Role::Retract, Role::Doubt,
        ];
        let Some((at, letter)) = letters.last() else { return false };
        let (lead, rest) = (&self.sentence[..*at], &self.sentence[at + 1..]);
        let start = lead.rfind(BORDERS).unwrap_or(0);
        let end = at + 1 + rest.find(BORDERS).unwrap_or(rest.len());
        let is_alone = letters.iter().all(|(place, other)| *place < start || other == letter);
        // "A, B, C, D", on lines of their own too, and "Answer 2: C".
        let is_sign = |c: char| !c.is_alphanumeric();
        let earlier = if lead.trim_matches(is_sign).is_empty() { self.before } else { lead };
        let word = earlier.trim_end_matches(is_sign).rsplit(is_sign).next().unwrap_or_default();
        let is_letter = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
        let label = lead.trim_end_matches([' ', '*', '(', ':', '：']);
        let is_numbered = label.len() < lead.len()
            && lead.contains([':', '：'])
            && label.ends_with(|c: char| c.is_ascii_digit());
        let is_listed = is_letter || is_numbered;
        let is_formula = self.sentence.contains(['$', '\\', '=', '`', '|']);
        // "Wrong: B".
        let label = lead.rfind(|c: char| BORDERS.contains(&c) && !":：".contains(c)).unwrap_or(0);
        let all = self.sentence.len();
        let is_denied = self.has(start..end, &AGAINST)
            || self.has(label..start, &[Role::Wrong])
            || self.has(*at..all, &[Role::Not, Role::Contrast, Role::Offer])
            || self.has(0..all, &[Role::Guess]);
        is_alone && !(is_listed || is_asked(self.sentence) || is_formula || is_denied)
    }

    /// Whether a sign, a particle or a word that is known leads to the letter at a place, which has a name
    /// before it in "vitamin C".
    fn leads(&self, at: usize) -> bool {
        let lead = self.sentence[..at].trim_end_matches([' ', '(', '[']);
        let is_particle = |c: char| ('\u{3040}'..='\u{309f}').contains(&c);
        let Some(last) = lead.chars().next_back().filter(|c| c.is_alphanumeric()) else {
            return true;
        };
        let word = lead.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        is_particle(last)
            || self.found.words.iter().any(|word| word.span.end == lead.len())
            || choice::LEADS.iter().any(|one| one.eq_ignore_ascii_case(word))
            || choice::UNSPACED_LEADS.iter().any(|one| word.ends_with(one))
    }
}

/// The letters of options that are words of a sentence, with their places.
fn lone(sentence: &str, is_option: impl Fn(char) -> bool) -> Vec<(usize, char)> {
    let is_free = |c: Option<char>| {
        c.is_none_or(|c| is_unspaced(c) || !(c.is_alphanumeric() || "'’-+#".contains(c)))
    };
    let letters = sentence
        .char_indices()
        .filter(|(_, c)| c.is_ascii_uppercase() && *c != 'I' && is_option(*c));
    let alone = letters.filter(|(at, c)| {
        let (lead, rest) = (&sentence[..*at], &sentence[at + 1..]);
        // "A triangle", and "A) 5" in a list.
        let is_first = !lead.contains(char::is_alphanumeric);
        let is_word = rest.starts_with(' ') && "AEO".contains(*c)
            || rest.starts_with([')', '.', ':', '：', '．']);
        let goes_on = rest
            .trim_start_matches([' ', ')', '.', ':', '*', '(', '['])
            .starts_with(char::is_alphanumeric);
        is_free(lead.chars().next_back())
            && is_free(rest.chars().next())
            && !(is_first && is_word && goes_on)
    });
    alone.collect()
}

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
    let is_particle = lead.len() - skipped.len() <= PARTICLE_MAX;
    let rest = if is_particle { skipped.trim_start_matches(OPENERS) } else { lead };
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && chars.next().is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c))
}
