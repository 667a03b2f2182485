//! From a reply to the verdicts on criteria.
//!
//! The verdict is the last object of the reply that has the shape which was asked for; an earlier one
//! that says something else must be taken back. An object with another code than that of the request
//! was copied from somewhere, and so was one without a code that the material contains; neither is a
//! verdict. Without an object the words are read, but for those of copied objects and of one that was
//! cut.

use std::cell::LazyCell;

use super::asked::{AskedCriteria, CriterionVerdict, Told};
use super::error::ReplyError;
use super::json::{Member, Node};
use super::label::{self, Class};
use super::logprobs::expected_share;
use super::seen::Material;
use super::structure::{
    QUOTE_KEYS, Structured, Taken, Unclear, answer_part, first_text, is_remark, last_own, member,
    reasons, words_outside,
};
use super::text;
use super::value::Value;
use crate::judge::JudgeReply;
use crate::rubric::{Answer, AnswerKind, Criterion};

/// Members that hold the verdicts on several criteria.
const LIST_KEYS: [&str; 5] = ["verdicts", "criteria", "results", "evaluations", "checklist"];
/// Members that name the criterion of a verdict.
const NAME_KEYS: [&str; 4] = ["name", "criterion", "id", "key"];
/// The deepest object within an object that is read.
const DEPTH_MAX: usize = 4;

/// The verdicts of a reply, one for each criterion, in their order.
///
/// # Errors
/// A reply without a verdict on each criterion, or with one that is not its own.
pub fn read(
    reply: &JudgeReply,
    asked: &AskedCriteria<'_>,
) -> Result<Vec<CriterionVerdict>, ReplyError> {
    if let (Some(yes), [_]) = (reply.yes, asked.criteria) {
        let value = if yes >= 0.5 { 1.0 } else { 0.0 };
        let answer = Some(Answer { share: value, value });
        return Ok(vec![CriterionVerdict { answer, expected: Some(yes), ..Default::default() }]);
    }
    let (offset, text) = answer_part(&reply.text);
    let text = text.as_ref();
    let material = LazyCell::new(|| Material::of(asked.material));
    let own = |raw: &str| !material.contains(raw);
    let take = |members: &[Member]| verdicts(members, asked);
    let same = |a: &Read, b: &Read| a.iter().zip(b).all(|(a, b)| a.0.answer == b.0.answer);
    let copied = match last_own((reply, text), asked.code, own, take, same)? {
        Structured::Own(read, end) => {
            let behind = &text[end..];
            if let ([criterion], [(verdict, _)]) = (asked.criteria, read.as_slice())
                && text::contradicts(behind, verdict.answer.as_ref(), criterion, asked.material)
            {
                return Err(ReplyError::Disagree);
            }
            return Ok(with_expectation(read, reply, offset, asked));
        }
        Structured::None { copied } => copied,
    };
    if reply.finish_reason == "length" {
        return Err(ReplyError::Cut);
    }
    let words = words_outside(text, &copied);
    // What is left of a copy is a copy.
    if words.trim() != reply.text.trim() && material.contains(&reply.text) {
        return Err(ReplyError::Echo);
    }
    let repeats = !copied.is_empty();
    text::verdicts(&words, asked, repeats)?.ok_or_else(|| ReplyError::of(reply, text, repeats))
}

/// A verdict for each criterion, and its place in the text.
type Read = Vec<(CriterionVerdict, usize)>;

/// The verdicts of an object; `None` where it has another shape.
fn verdicts(members: &[Member], asked: &AskedCriteria<'_>) -> Taken<Read> {
    if let [criterion] = asked.criteria
        && let Some(verdict) = verdict(members, criterion, 0)
    {
        return Some(verdict.map(|verdict| vec![verdict]));
    }
    let list = member(members, &LIST_KEYS)?;
    asked.criteria.iter().map(|criterion| listed(list, criterion)).collect()
}

/// The one verdict on a criterion in a list of them, or in an object by name.
fn listed(list: &Node, criterion: &Criterion) -> Taken<(CriterionVerdict, usize)> {
    match list {
        Node::List(items) => {
            let mut own = items.iter().filter_map(|item| match item {
                Node::Object(members) => Some(members),
                _ => None,
            });
            let is_named = |members: &&Vec<Member>| {
                let name = first_text(members, &NAME_KEYS);
                name.is_some_and(|name| name.trim() == criterion.name)
            };
            let mut own = own.by_ref().filter(is_named);
            let found = own.next()?;
            own.next().is_none().then(|| verdict(found, criterion, 0))?
        }
        Node::Object(by_name) => {
            let mut own = by_name.iter().filter(|member| member.key == criterion.name);
            let found = own.next()?;
            if own.next().is_some() {
                return Some(Err(Unclear));
            }
            match &found.value {
                Node::Object(own) => verdict(own, criterion, 0),
                value => {
                    let read = answer(value, &criterion.kind, 0)?;
                    Some(read.map(|told| {
                        (CriterionVerdict { answer: told.known(), ..Default::default() }, found.at)
                    }))
                }
            }
        }
        _ => None,
    }
}

/// The verdict of an object: of its members with the best names, which must agree.
fn verdict(
    members: &[Member],
    criterion: &Criterion,
    depth: usize,
) -> Taken<(CriterionVerdict, usize)> {
    let kind = &criterion.kind;
    let classed = |member: &Member| {
        label::of(&member.key, &criterion.name).map(|label| (label.class, label.name == "verdict"))
    };
    let mut is_shaped = false;
    for class in [Class::Verdict, Class::Heading, Class::Answer] {
        let mut found: Option<(Told, usize)> = None;
        for member in members {
            let Some((own, is_ours)) = classed(member) else { continue };
            if own != class {
                continue;
            }
            match answer(&member.value, kind, depth) {
                Some(Ok(told)) if found.as_ref().is_none_or(|(other, _)| *other == told) => {
                    is_shaped = true;
                    found.get_or_insert((told, member.at));
                }
                Some(_) => return Some(Err(Unclear)),
                // A scale may be beside words; yes and no in other words are none.
                None if is_ours && !matches!(kind, AnswerKind::Scale(_)) => {
                    return Some(Err(Unclear));
                }
                None if matches!(member.value, Node::Object(_)) => {}
                None => is_shaped |= class == Class::Verdict,
            }
        }
        if let Some((told, at)) = found {
            let verdict = CriterionVerdict {
                answer: told.known(),
                reasons: reasons(members),
                quote: first_text(members, &QUOTE_KEYS),
                expected: None,
            };
            return Some(Ok((verdict, at)));
        }
    }
    if is_shaped || depth == DEPTH_MAX {
        return is_shaped.then_some(Err(Unclear));
    }
    within(members, criterion, depth)
}

/// The verdict of the objects within an object, which must agree.
fn within(
    members: &[Member],
    criterion: &Criterion,
    depth: usize,
) -> Taken<(CriterionVerdict, usize)> {
    let mut found: Option<(CriterionVerdict, usize)> = None;
    for member in members.iter().filter(|member| !is_remark(&member.key)) {
        let objects: Vec<&Vec<Member>> = match &member.value {
            Node::Object(inner) => vec![inner],
            Node::List(items) => items
                .iter()
                .filter_map(|item| if let Node::Object(inner) = item { Some(inner) } else { None })
                .collect(),
            _ => Vec::new(),
        };
        for inner in objects {
            match (verdict(inner, criterion, depth + 1), &found) {
                (Some(Ok(read)), None) => found = Some(read),
                (Some(Ok(read)), Some(other)) if read.0.answer == other.0.answer => {}
                (Some(_), _) => return Some(Err(Unclear)),
                (None, _) => {}
            }
        }
    }
    found.map(Ok)
}

/// What a member stands for; `None` where it is not an answer.
fn answer(value: &Node, kind: &AnswerKind, depth: usize) -> Taken<Told> {
    let words = match value {
        Node::Word(word) if matches!(word.as_str(), "null" | "None") => {
            return Some(Ok(Told::CannotTell));
        }
        Node::Word(word) | Node::Text(word) => word,
        Node::List(items) => match items.as_slice() {
            [only] if depth < DEPTH_MAX => return answer(only, kind, depth + 1),
            _ => return None,
        },
        Node::Object(_) => return None,
    };
    match text::answer(words, kind) {
        Value::Told(told, _) => Some(Ok(told)),
        Value::Hedge => Some(Err(Unclear)),
        Value::None => None,
    }
}

/// Adds the expected share of the one criterion, by the log-probabilities at its verdict.
fn with_expectation(
    verdicts: Read,
    reply: &JudgeReply,
    offset: usize,
    asked: &AskedCriteria<'_>,
) -> Vec<CriterionVerdict> {
    let is_one = asked.criteria.len() == 1;
    let each = verdicts.into_iter().zip(asked.criteria);
    each.map(|((verdict, at), criterion)| {
        let expected = expected_share(&reply.tokens, offset + at, &criterion.kind);
        CriterionVerdict { expected: expected.filter(|_| is_one), ..verdict }
    })
    .collect()
}
