//! Answers to another question than the one that was asked: "If zero were allowed, the answer would
//! be 17."

use memchr::memrchr2_iter;

use super::candidate::{Candidate, Provenance};
use super::words::{is_one_of, words};
use crate::language::suppose;

/// The longest sentence before an announcement that is read, in bytes.
const SENTENCE_MAX: usize = 300;

/// Drops the last announcements where they suppose something and an answer stands before them. What
/// stands in a box is the answer to the question itself, so that cases behind it are others.
pub(super) fn settle(text: &str, found: &mut Vec<Candidate<'_>>) {
    while let [last, earlier @ ..] = found.as_slice()
        && !earlier.is_empty()
    {
        let boxed = earlier.iter().any(|one| one.provenance != Provenance::Anchor);
        let supposes = |one: &Candidate<'_>| {
            one.provenance == Provenance::Anchor && is_hypothetical(text, one.span.0, boxed)
        };
        if !supposes(last) || !earlier.iter().any(|one| !supposes(one)) {
            break;
        }
        found.remove(0);
    }
}

/// Whether the sentence that leads to this place supposes something; with `cases`, or states a case.
fn is_hypothetical(text: &str, at: usize, cases: bool) -> bool {
    let from = text.ceil_char_boundary(at.saturating_sub(SENTENCE_MAX));
    let before = &text[from..at];
    let starts = [". ", "! ", "? ", "\n", ".$ ", "} ", "; "];
    let mut blanks = memrchr2_iter(b' ', b'\n', before.as_bytes()).map(|blank| blank + 1);
    let start = blanks.find(|at| starts.iter().any(|end| before[..*at].ends_with(end)));
    let mut said = words(&before[start.unwrap_or(0)..]);
    let Some(first) = said.next() else { return false };
    let changes = is_one_of(suppose::CHANGING, first);
    let would = said.any(|word| is_one_of(suppose::CONDITIONAL, word));
    changes && (would || cases) || cases && is_one_of(suppose::CASES, first)
}
