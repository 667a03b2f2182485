//! The phrases by which a text takes back, offers, supposes, concludes or remarks, found in one pass.

use std::ops::Range;

use super::guess::Languages;
use super::sentences::is_unspaced;
use super::{CUE_BEGINNINGS, CUE_ENDS, CUE_MEANINGS, CUE_PREFIXES, CUES, MEANINGS};

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

/// The phrases of a text, the longest at each place, in their order. They are whole words.
///
/// Short words count in a text of their language alone.
pub(crate) fn of(text: &str, languages: &Languages<'_>) -> Vec<Cue> {
    let lower = lowered(text);
    let mut found = Vec::new();
    let (mut at, mut before) = (0, None);
    while let Some(c) = lower.get(at..).and_then(|rest| rest.chars().next()) {
        let is_inner = c.is_alphanumeric() && !is_unspaced(c);
        let goes_on = is_inner && before.is_some_and(char::is_alphanumeric);
        let starts = !(goes_on || c.is_whitespace());
        let cue = starts.then(|| longest(&lower, at)).flatten();
        let roles = cue.as_ref().map_or(0, |(phrase, _)| roles(*phrase, languages));
        before = Some(c);
        at += c.len_utf8();
        if let Some((_, end)) = cue.filter(|_| roles != 0) {
            found.push(Cue { roles, span: at - c.len_utf8()..end });
            before = lower.get(..end).and_then(|head| head.chars().next_back());
            at = end;
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

/// The phrase at this place of the table.
fn phrase(at: usize) -> &'static str {
    let end = |at: usize| CUE_ENDS.get(at).map_or(0, |end| *end as usize);
    CUES.get(at.checked_sub(1).map_or(0, end)..end(at)).unwrap_or_default()
}

/// Whether a phrase may begin with the first bytes of a text.
fn may_begin(text: &[u8]) -> bool {
    let byte = |at: usize| usize::from(text.get(at).copied().unwrap_or(0));
    let bit = (byte(0) * 961 + byte(1) * 31 + byte(2)) % 65_536;
    CUE_BEGINNINGS.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
}

/// The longest phrase at a place of a text that ends with a word there, and its end.
fn longest(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    if !may_begin(rest.as_bytes()) {
        return None;
    }
    // What a text begins with is not above it in the order; all between them begin so too.
    let (mut low, mut high) = (0, CUE_ENDS.len());
    while low < high {
        let middle = low.midpoint(high);
        if phrase(middle) <= rest { low = middle + 1 } else { high = middle }
    }
    let mut next = low;
    while let Some(found) = next.checked_sub(1) {
        let own = phrase(found);
        let end = at + own.len();
        if rest.starts_with(own) && ends_word(text, end) {
            return Some((found, end));
        }
        next = CUE_PREFIXES.get(found).map_or(0, |prefix| *prefix as usize);
    }
    None
}

/// What a phrase does in a text of these languages.
fn roles(at: usize, languages: &Languages<'_>) -> u16 {
    let own = phrase(at);
    let is_latin = |c: char| c < '\u{250}' || ('\u{1e00}'..'\u{1f00}').contains(&c);
    let is_short =
        !own.contains(' ') && own.chars().all(is_latin) && own.chars().count() <= SHORT_MAX;
    let meaning = CUE_MEANINGS.get(at).and_then(|meaning| MEANINGS.get(usize::from(*meaning)));
    let counts = |name: &str| !is_short || languages.may_be(name);
    let by_language = meaning.into_iter().flat_map(|meaning| meaning.iter());
    by_language.filter(|(name, _)| counts(name)).fold(0, |all, (_, own)| all | own)
}

/// Whether a word ends at a place. Scripts without spaces end words anywhere.
fn ends_word(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let inner = before.chars().next_back();
    let is_inner = inner.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c));
    !(is_inner && after.starts_with(char::is_alphanumeric))
}
