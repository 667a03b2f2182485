//! The structure in a reply that holds its verdict.

use std::ops::Range;

use assay_verifiers::extract::{Thinking, thinking};
use serde_json::{Map, Value};

use super::json::{FoundObject, cut_object, objects};

/// Members that hold the reasons.
const REASON_KEYS: [&str; 8] = [
    "reasons",
    "reason",
    "explanation",
    "reasoning",
    "rationale",
    "feedback",
    "analysis",
    "comment",
];
/// What the objects of a reply hold.
pub(super) enum Structured<T> {
    /// What the last object of the right shape says, and the object.
    Own { read: T, object: FoundObject },
    /// No object of the right shape, but for those that were copied, at these places.
    None { copied: Vec<Range<usize>> },
}

/// The last object that `take` reads and that was not copied. One was copied that has another code
/// than `code`, or no code where its text is not the judge's `own`.
pub(super) fn last_own<T>(
    text: &str,
    code: &str,
    own: impl Fn(&str) -> bool,
    take: impl Fn(&Map<String, Value>) -> Option<T>,
) -> Structured<T> {
    let mut copied = Vec::new();
    for object in objects(text).into_iter().rev() {
        let Some(members) = object.value.as_object() else { continue };
        let Some(read) = take(members) else { continue };
        let is_own = match members.get("code").and_then(Value::as_str) {
            Some(repeated) => repeated == code,
            None => own(text.get(object.span.clone()).unwrap_or_default()),
        };
        if is_own {
            return Structured::Own { read, object };
        }
        copied.push(object.span);
    }
    Structured::None { copied }
}

/// The words of a reply outside what was copied, up to an object that was cut.
pub(super) fn words_outside(text: &str, copied: &[Range<usize>]) -> String {
    let mut words = text.to_owned();
    if let Some(cut) = cut_object(text, &objects(text)) {
        words.truncate(cut);
    }
    // The last one first, so that the places of the others stay.
    for span in copied {
        if words.get(span.clone()).is_some() {
            words.replace_range(span.clone(), "");
        }
    }
    words
}

/// The reply behind its thinking; thinking that never ends holds no verdict.
pub(super) fn answer_part(text: &str) -> &str {
    let part = thinking::answer(text, Thinking::Skip).and_then(|part| text.get(part));
    part.unwrap_or_default()
}

/// The first text under one of these names.
pub(super) fn first_text(members: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| members.get(*key)?.as_str()).map(str::to_owned)
}

/// The reasons of an object.
pub(super) fn reasons(members: &Map<String, Value>) -> String {
    first_text(members, &REASON_KEYS).unwrap_or_default()
}
