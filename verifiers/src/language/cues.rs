//! The phrases by which a text takes back, offers, supposes, concludes or remarks, found in one pass.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::CUES;
use super::guess::Languages;
use crate::extract::is_unspaced;

/// What a phrase does to the answer before it, or behind it. A phrase may do several things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Role {
    /// "that is wrong", "I made a mistake".
    Retract = 1,
    /// "that is right after all", "I was not wrong".
    Reaffirm = 1 << 1,
    /// "earlier", "a common mistake": a mistake is another one.
    Past = 1 << 2,
    /// "or", "alternatively", "could also be".
    Offer = 1 << 3,
    /// "not", "no other".
    NotOffer = 1 << 4,
    /// "suppose", "if the answer were".
    Suppose = 1 << 5,
    /// "is not", "is wrong".
    Deny = 1 << 6,
    /// "a student says".
    Report = 1 << 7,
    /// "therefore", "in total".
    Conclude = 1 << 8,
    /// "note that", "I hope".
    Remark = 1 << 9,
    /// "check:", "substituting back".
    Verify = 1 << 10,
    /// "answer", "result".
    Result = 1 << 11,
    /// "but", "however".
    Contrast = 1 << 12,
}

const ROLES: [(&str, Role); 13] = [
    ("retract", Role::Retract),
    ("reaffirm", Role::Reaffirm),
    ("past", Role::Past),
    ("offer", Role::Offer),
    ("not_offer", Role::NotOffer),
    ("suppose", Role::Suppose),
    ("deny", Role::Deny),
    ("report", Role::Report),
    ("conclude", Role::Conclude),
    ("remark", Role::Remark),
    ("verify", Role::Verify),
    ("result", Role::Result),
    ("contrast", Role::Contrast),
];
/// A single word of Latin letters that is no longer may be one of several languages, or mean something
/// else in another.
const SHORT_MAX: usize = 7;

/// A phrase in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    roles: u16,
    pub(crate) span: Range<usize>,
}

impl Cue {
    pub(crate) fn is(&self, role: Role) -> bool {
        self.roles & role as u16 != 0
    }
}

struct Phrases {
    automaton: AhoCorasick,
    /// Along the patterns.
    meanings: Vec<Meaning>,
}

/// What a phrase does, by the languages that have it.
#[derive(Default)]
struct Meaning {
    by_language: Vec<(&'static str, u16)>,
    /// Whether it counts in a text of another language.
    is_clear: bool,
}

impl Meaning {
    fn roles(&self, languages: &Languages<'_>) -> u16 {
        let counts = |name: &str| self.is_clear || languages.may_be(name);
        self.by_language.iter().filter(|(name, _)| counts(name)).fold(0, |all, (_, own)| all | own)
    }
}

static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    let mut meanings: BTreeMap<String, Meaning> = BTreeMap::new();
    for (language, role, phrases) in CUES {
        let role = ROLES.iter().find(|(name, _)| name == role).map_or(0, |(_, role)| *role as u16);
        for phrase in phrases.iter().flat_map(|phrase| written(phrase)) {
            let is_latin = phrase.chars().all(|c| c < '\u{250}' || ('\u{1e00}'..'\u{1f00}').contains(&c));
            let is_short = is_latin && !phrase.contains(' ') && phrase.chars().count() <= SHORT_MAX;
            let meaning = meanings.entry(phrase).or_default();
            meaning.is_clear = !is_short;
            match meaning.by_language.last_mut() {
                Some((last, roles)) if last == language => *roles |= role,
                _ => meaning.by_language.push((language, role)),
            }
        }
    }
    let (phrases, meanings): (Vec<String>, Vec<Meaning>) = meanings.into_iter().unzip();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(phrases);
    automaton.ok().map(|automaton| Phrases { automaton, meanings })
});

/// The ways in which a phrase is written: with a capital, which the automaton knows in ASCII alone, and
/// with a typographic apostrophe.
fn written(phrase: &str) -> Vec<String> {
    let lower = phrase.to_lowercase();
    let mut rest = lower.chars();
    let first = rest.next().filter(|c| !c.is_ascii()).map(|c| c.to_uppercase().collect::<String>());
    let capital = first.map(|first| first + rest.as_str()).filter(|capital| *capital != lower);
    let plain: Vec<String> = [Some(lower), capital].into_iter().flatten().collect();
    let curly = plain.iter().filter(|one| one.contains('\'')).map(|one| one.replace('\'', "’"));
    plain.iter().cloned().chain(curly).collect()
}

/// The phrases of a text, the longest at each place, in their order. They are whole words.
///
/// Short words count in a text of their language alone.
pub(crate) fn of(text: &str, languages: &Languages<'_>) -> Vec<Cue> {
    let Some(phrases) = PHRASES.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text
        .get(at..)
        .and_then(|rest| phrases.automaton.find(rest))
        .map(|next| (next.pattern().as_usize(), at + next.start()..at + next.end()))
    {
        let (pattern, span) = next;
        if is_whole(text, &span) {
            at = span.end;
            let roles = phrases.meanings.get(pattern).map_or(0, |one| one.roles(languages));
            if roles != 0 {
                found.push(Cue { roles, span });
            }
        } else {
            let step = text.get(span.start..).and_then(|rest| rest.chars().next());
            at = span.start + step.map_or(1, char::len_utf8);
        }
    }
    found
}

/// Whether a part of a text begins and ends with words. Scripts without spaces end words anywhere.
fn is_whole(text: &str, span: &Range<usize>) -> bool {
    let joins = |inner: Option<char>, outer: Option<char>| {
        let letter = |c: char| c.is_alphanumeric();
        inner.is_some_and(|c| letter(c) && !is_unspaced(c)) && outer.is_some_and(letter)
    };
    let inner = text.get(span.clone()).unwrap_or_default();
    let before = text.get(..span.start).and_then(|head| head.chars().next_back());
    let after = text.get(span.end..).and_then(|rest| rest.chars().next());
    !joins(inner.chars().next(), before) && !joins(inner.chars().next_back(), after)
}
