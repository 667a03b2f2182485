//! The structure in a reply that holds its verdict.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use assay_verifiers::Pattern;
use assay_verifiers::extract::{Thinking, thinking};

use super::error::ReplyError;
use super::json::{FoundObject, Member, Node, cut_object, objects};
use super::label::plain;
use super::revision;
use crate::judge::JudgeReply;

/// Members that hold the reasons.
const REASON_KEYS: [&str; 9] = assay_verifiers::words::list(
    "reasons reason explanation reasoning rationale feedback analysis comment justification",
);

/// Reasons between tags: what is weighed there is not a verdict.
static REASON_TAGS: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    let names =
        "think|thinking|thought|reasons?|reasoning|explanation|rationale|feedback|analysis|comment|
        justification|scratchpad|reflection";
    Pattern::new(&format!(r"(?isx)<(?:{names})>.*?</(?:{names})>")).ok()
});

/// What the objects of a reply hold.
pub(super) enum Structured<T> {
    /// What the last object of the right shape says, and where it ends.
    Own(T, usize),
    /// No object of the right shape, but for those that were copied, at these places.
    None { copied: Vec<Range<usize>> },
}

/// What an object says; `None` where it has another shape, an error where it has the right one and no
/// verdict can be read in it.
pub(super) type Taken<T> = Option<Result<T, Unclear>>;

/// The words in a place of a verdict are none, or two that disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclear;

/// The last object that `take` reads and that was not copied. One was copied that has another code
/// than `code`, or no code where its text is not the judge's `own`. An earlier one that says something
/// else must be taken back between them.
pub(super) fn last_own<T: PartialEq>(
    (reply, text): (&JudgeReply, &str),
    code: &str,
    own: impl Fn(&str) -> bool,
    take: impl Fn(&[Member]) -> Taken<T>,
    same: impl Fn(&T, &T) -> bool,
) -> Result<Structured<T>, ReplyError> {
    let mut copied = Vec::new();
    let mut last: Option<(T, FoundObject)> = None;
    for object in objects(text).into_iter().rev() {
        let Some(taken) = take(&object.members) else { continue };
        let is_own = match member(&object.members, &["code"]).and_then(Node::as_str) {
            Some(repeated) => repeated == code,
            None => own(&text[object.span.clone()]),
        };
        match (taken, &last) {
            _ if !is_own => copied.push(object.span),
            (Ok(read), None) => last = Some((read, object)),
            (Err(Unclear), None) => return Err(ReplyError::of(reply, text, false)),
            (Ok(earlier), Some((read, later))) if !same(&earlier, read) => {
                let between = &text[object.span.end..later.span.start];
                if !revision::takes_back(between) {
                    return Err(ReplyError::Disagree);
                }
                break;
            }
            _ => {}
        }
    }
    Ok(match last {
        Some((read, object)) => Structured::Own(read, object.span.end),
        None => Structured::None { copied },
    })
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

/// Where the reply after its thinking begins, and that part with blanks in place of reasons between
/// tags; thinking that never ends holds no verdict.
pub(super) fn answer_part(text: &str) -> (usize, Cow<'_, str>) {
    let Some(part) = thinking::answer(text, Thinking::Skip) else { return (0, Cow::Borrowed("")) };
    let start = part.start;
    let part = &text[part];
    let Some(pattern) = REASON_TAGS.as_ref().filter(|pattern| pattern.is_match(part)) else {
        return (start, Cow::Borrowed(part));
    };
    let blank = |found: &regex::Captures<'_>| " ".repeat(found.get_match().len());
    (start, pattern.replace_all(part, blank))
}

/// The value under the first of these names, written in any case.
pub(super) fn member<'m>(members: &'m [Member], keys: &[&str]) -> Option<&'m Node> {
    keys.iter().find_map(|key| {
        let found = members.iter().find(|member| plain(&member.key) == *key)?;
        Some(&found.value)
    })
}

/// The first text under one of these names.
pub(super) fn first_text(members: &[Member], keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| member(members, &[*key])?.as_str()).map(str::to_owned)
}

/// The reasons of an object.
pub(super) fn reasons(members: &[Member]) -> String {
    first_text(members, &REASON_KEYS).unwrap_or_default()
}

/// Whether a member holds reasons or a quotation.
pub(super) fn is_remark(key: &str) -> bool {
    let key = plain(key);
    REASON_KEYS.contains(&key.as_str()) || QUOTE_KEYS.contains(&key.as_str())
}

/// Members that hold a quotation.
pub(super) const QUOTE_KEYS: [&str; 2] = ["quote", "evidence"];
