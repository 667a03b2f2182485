//! The phrases by which a text takes back, offers, supposes, concludes or remarks, found in one pass.

use std::ops::Range;

use super::guess::Languages;
use super::sentences::is_unspaced;
use super::{
    CUE_BEGINNINGS, CUE_ENDS, CUE_FIRSTS, CUE_KEYS, CUE_MEANINGS, CUE_PREFIXES, CUES, MEANINGS,
};

/// What a phrase does to the answer before it, or behind it. A phrase may do several things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
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
    /// "that", "the above": the answer that was given.
    It = 1 << 13,
    /// "the", "my": what makes a noun behind it that of the answer that was given.
    Det = 1 << 14,
    /// "answer", "calculation".
    Noun = 1 << 15,
    /// "I", "my".
    I = 1 << 16,
    /// "is", "seems".
    Is = 1 << 17,
    /// "not", "no".
    Not = 1 << 18,
    /// "wrong", "mistake".
    Wrong = 1 << 19,
    /// "right", "works".
    Right = 1 << 20,
    /// "misread", "forgot".
    Slip = 1 << 21,
    /// "withdraw", "ignore", "redo".
    Undo = 1 << 22,
    /// "wait", "sorry", "actually".
    Stop = 1 << 23,
    /// "instead", "should be".
    Instead = 1 << 24,
    /// "if", "suppose".
    If = 1 << 25,
    /// "would be".
    Would = 1 << 26,
    /// "some", "the student": another than the writer.
    Who = 1 << 27,
    /// "says", "claims".
    Say = 1 << 28,
    /// "maybe", "likely".
    May = 1 << 29,
    /// "corrected", "no effect".
    Fixed = 1 << 30,
    /// "placeholder", "at random", "just kidding".
    Guess = 1 << 31,
    /// "the remaining", "any other": what is said of others than the answer.
    Other = 1 << 32,
    /// "think", "sure", "trust": the answer is left in doubt where it is negated.
    Sure = 1 << 33,
    /// "doubt", "sceptical".
    Doubt = 1 << 34,
    /// "also", "both": another value is offered with the answer.
    Also = 1 << 35,
    /// "wait", "oops": another value behind it is put in the place of the answer.
    Halt = 1 << 36,
}

/// The roles of phrases; the others are of the words that clauses are composed of.
const PHRASES: u64 = Role::It as u64 - 1;

/// A single word of Latin letters that is no longer may be one of several languages, or mean something
/// else in another.
const SHORT_MAX: usize = 7;

/// A phrase in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    roles: u64,
    pub(crate) span: Range<usize>,
}

impl Cue {
    pub(crate) fn is(&self, role: Role) -> bool {
        self.roles & role as u64 != 0
    }

    pub(crate) fn is_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.is(*role))
    }
}

/// The phrases of a text, the longest at each place, in their order. They are whole words.
///
/// Short words count in a text of their language alone.
pub(crate) fn of(text: &str, languages: &Languages<'_>) -> Vec<Cue> {
    found(text, [PHRASES, 0], languages).phrases
}

/// What a text has: phrases, and the words of which clauses are composed.
#[derive(Default)]
pub(crate) struct Cues {
    pub(crate) phrases: Vec<Cue>,
    pub(crate) words: Vec<Cue>,
}

impl Cues {
    /// Whether it has some with one of these roles.
    pub(crate) fn has(&self, roles: &[Role]) -> bool {
        self.words.iter().chain(&self.phrases).any(|cue| cue.is_any(roles))
    }
}

/// The phrases of a text as [`of`] finds them, and its words.
pub(crate) fn all(text: &str, languages: &Languages<'_>) -> Cues {
    found(text, [PHRASES, !PHRASES], languages)
}

/// The words of a text of which clauses are composed.
pub(crate) fn words(text: &str, languages: &Languages<'_>) -> Vec<Cue> {
    found(text, [0, !PHRASES], languages).words
}

/// The phrases and the words of a text with these roles.
fn found(text: &str, wanted: [u64; 2], languages: &Languages<'_>) -> Cues {
    let lower = lowered(text);
    let mut found = Cues::default();
    // Where the last phrase and the last word end.
    let mut ends = [0; 2];
    let mut is_in_word = false;
    for (at, c) in lower.char_indices() {
        let was_in_word = std::mem::replace(&mut is_in_word, c.is_alphanumeric());
        let goes_on = was_in_word && is_in_word && !is_unspaced(c);
        if goes_on || c.is_whitespace() || !may_begin(lower.as_bytes().split_at(at).1) {
            continue;
        }
        let [phrases, words] = wanted;
        let wanted =
            [if ends[0] <= at { phrases } else { 0 }, if ends[1] <= at { words } else { 0 }];
        if wanted != [0, 0] {
            let [phrase, word] = longest(&lower, at, wanted, languages);
            if let Some((roles, end)) = phrase {
                found.phrases.push(Cue { roles, span: at..end });
                ends[0] = end;
            }
            if let Some((roles, end)) = word {
                found.words.push(Cue { roles, span: at..end });
                ends[1] = end;
            }
        }
    }
    found
}

/// A text in small letters of as many bytes.
fn lowered(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = |c: char| {
        let mut lower = c.to_lowercase();
        let first = lower.next().filter(|first| first.len_utf8() == c.len_utf8());
        first.filter(|_| lower.next().is_none()).unwrap_or(c)
    };
    text.chars().map(lower).collect()
}

/// A number of a table as the build script writes it.
const fn number([one, two, three]: [u8; 3]) -> usize {
    u32::from_le_bytes([one, two, three, 0]) as usize
}

/// The phrase at this place of the table.
#[expect(clippy::indexing_slicing, reason = "every cue of the table has an end")]
fn phrase(at: usize) -> &'static str {
    let start = at.checked_sub(1).map_or(0, |before| number(CUE_ENDS[before]));
    &CUES[start..number(CUE_ENDS[at])]
}

/// Whether a phrase may begin with the first bytes of a text.
fn may_begin(text: &[u8]) -> bool {
    let [one, two, three] = match text {
        [one, two, three, ..] => [*one, *two, *three],
        [one, two] => [*one, *two, 0],
        [one] => [*one, 0, 0],
        [] => [0; 3],
    };
    let (one, two, three) = (usize::from(one), usize::from(two), usize::from(three));
    let bit = (one * 961 + two * 31 + three) % 65_536;
    CUE_BEGINNINGS.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
}

/// For each set of roles: those of the longest phrase at a place of a text that has some of them, and its end.
#[expect(clippy::indexing_slicing, reason = "cues have prefixes, and keys have firsts")]
fn longest(
    text: &str,
    at: usize,
    wanted: [u64; 2],
    languages: &Languages<'_>,
) -> [Option<(u64, usize)>; 2] {
    let rest = &text[at..];
    let mut best = [None; 2];
    // What a text begins with is not above it in the order; all between them begin so too.
    let mut bytes = rest.bytes();
    let mut byte = || u32::from(bytes.next().unwrap_or(0));
    let key = byte() << 16 | byte() << 8 | byte();
    let place = CUE_KEYS.partition_point(|one| *one < key);
    let first = |at: usize| CUE_FIRSTS[at] as usize;
    let has_key = CUE_KEYS.get(place) == Some(&key);
    let (mut low, mut high) = (first(place), first(place + usize::from(has_key)));
    while low < high {
        let middle = low.midpoint(high);
        if phrase(middle) <= rest { low = middle + 1 } else { high = middle }
    }
    let mut next = low;
    while let Some(found) = next.checked_sub(1) {
        let own = phrase(found);
        if rest.starts_with(own) {
            let end = at + own.len();
            let is_whole = ends_word(text, end);
            let roles = roles(found, is_whole, languages);
            for (best, wanted) in best.iter_mut().zip(wanted) {
                if best.is_none() && roles & wanted != 0 {
                    let end = if is_whole { end } else { word_end(text, end) };
                    *best = Some((roles & wanted, end));
                }
            }
        }
        next = number(CUE_PREFIXES[found]);
    }
    best
}

/// Where the word ends that goes on at a place.
fn word_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
}

/// What a phrase does in a text of these languages, as whole words or as the beginning of one.
fn roles(at: usize, is_whole: bool, languages: &Languages<'_>) -> u64 {
    let own = phrase(at);
    let is_latin = |c: char| c < '\u{250}' || ('\u{1e00}'..'\u{1f00}').contains(&c);
    let is_short =
        !own.contains(' ') && own.chars().all(is_latin) && own.chars().count() <= SHORT_MAX;
    let meaning = CUE_MEANINGS.get(at).and_then(|meaning| MEANINGS.get(number(*meaning)));
    let counts = |language: u8| !is_short || languages.may_be(language);
    let by_language = meaning.into_iter().flat_map(|meaning| meaning.iter());
    let own = |(all, stems): (u64, u64)| if is_whole { all } else { stems };
    by_language
        .filter(|(language, _)| counts(*language))
        .fold(0, |all, (_, roles)| all | own(*roles))
}

/// Whether a word ends at a place. Scripts without spaces end words anywhere.
fn ends_word(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let inner = before.chars().next_back();
    let is_inner = inner.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c));
    !(is_inner && after.starts_with(char::is_alphanumeric))
}
