//! The number of an announced sentence.

use std::borrow::Cow;

use super::candidate::Candidate;
use super::last_sentence::{last_number, signed};
use super::qualify;
use super::words::is_one_of;
use crate::language::{hedge, value};

/// The number that ends an announced sentence, unless there are alternatives or the words around
/// it disqualify it.
pub(crate) fn number_in_prose<'a>(candidate: &Candidate<'a>, only: bool) -> Option<Candidate<'a>> {
    let found = last_number(&candidate.text, 0)?;
    let (from, to) = found.span;
    let (head, after) = (candidate.text.get(..from)?, candidate.text.get(to..)?);
    let another = head.contains(|c: char| c.is_ascii_digit());
    let open = head
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .any(|word| is_one_of(hedge::UNKNOWN, word) || word.ends_with("n't"))
        || alters(head)
        // 18 and more.
        || after.starts_with('+');
    if open || (another && (only || head.contains(" or ") || head.starts_with('{'))) {
        return None;
    }
    let found = signed(found, &candidate.text, 0);
    let head = candidate.text.get(..found.span.0)?;
    if qualify::qualifier(head, after).is_some() {
        return None;
    }
    let text = found.text.into_owned();
    let span = match &candidate.text {
        Cow::Borrowed(_) => (candidate.span.0 + found.span.0, candidate.span.0 + to),
        Cow::Owned(_) => candidate.span,
    };
    Some(Candidate { text: text.into(), span, provenance: candidate.provenance })
}

/// Whether the words before a number change it.
fn alters(head: &str) -> bool {
    let last = head.trim_end().rsplit(' ').next().unwrap_or_default();
    let of = head.trim_end().strip_suffix(" of").and_then(|head| head.rsplit(' ').next());
    [Some(last), of]
        .into_iter()
        .flatten()
        .any(|word| value::ALTERING.contains(&word.to_ascii_lowercase().as_str()))
}
