//! From a reply to the verdicts on criteria.
//!
//! The verdict is the last object of the reply that has the shape which was asked for. An object with
//! another code than that of the request was copied from somewhere, and so was one without a code
//! that stands in the material; neither is a verdict. Without an object the words are read, but for
//! those of copied objects and of one that was cut.

use serde_json::{Map, Value};

use super::asked::{AskedCriteria, CriterionVerdict, Told};
use super::error::ReplyError;
use super::json::FoundObject;
use super::logprobs::expected_share;
use super::structure::{Structured, answer_part, first_text, last_own, reasons, words_outside};
use super::text;
use crate::judge::JudgeReply;
use crate::rubric::{Answer, AnswerKind, Criterion};

/// Members that hold a verdict, ours first, then those of the formats that are read.
const VERDICT_KEYS: [&str; 14] = [
    "verdict",
    "criteria_met",
    "met",
    "answer",
    "score",
    "grade",
    "choice",
    "rating",
    "result",
    "pass",
    "judgement",
    "judgment",
    "decision",
    "label",
];
/// Members that hold the verdicts on several criteria.
const LIST_KEYS: [&str; 5] = ["verdicts", "criteria", "results", "evaluations", "checklist"];
/// Members that name the criterion of a verdict.
const NAME_KEYS: [&str; 4] = ["name", "criterion", "id", "key"];
/// Members that hold a quotation.
const QUOTE_KEYS: [&str; 2] = ["quote", "evidence"];

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
    let text = answer_part(&reply.text);
    let own = |raw: &str| !text::stands_in(raw, asked.material);
    let copied = match last_own(text, asked.code, own, |members| verdicts(members, asked)) {
        Structured::Own { read, object } => {
            return Ok(with_expectation(read, reply, text, &object, asked));
        }
        Structured::None { copied } => copied,
    };
    if reply.finish_reason == "length" {
        return Err(ReplyError::Cut);
    }
    let words = words_outside(text, &copied);
    // What is left of a copy is a copy.
    if words.trim() != reply.text.trim() && text::stands_in(&reply.text, asked.material) {
        return Err(ReplyError::Echo);
    }
    let repeats = !copied.is_empty();
    text::verdicts(&words, asked, repeats).ok_or_else(|| ReplyError::of(reply, text, repeats))
}

/// The verdicts of an object; `None` where it has another shape.
fn verdicts(
    members: &Map<String, Value>,
    asked: &AskedCriteria<'_>,
) -> Option<Vec<CriterionVerdict>> {
    if let [criterion] = asked.criteria
        && let Some(verdict) = verdict(members, &criterion.kind)
    {
        return Some(vec![verdict]);
    }
    let (_, list) = LIST_KEYS.iter().find_map(|key| Some((key, members.get(*key)?)))?;
    asked.criteria.iter().map(|criterion| listed(list, criterion)).collect()
}

/// The one verdict on a criterion in a list of them, or in an object by name.
fn listed(list: &Value, criterion: &Criterion) -> Option<CriterionVerdict> {
    match list {
        Value::Array(items) => {
            let mut own = items.iter().filter_map(Value::as_object).filter(|item| {
                let name = NAME_KEYS.iter().find_map(|key| item.get(*key)?.as_str());
                name.is_some_and(|name| name.trim() == criterion.name)
            });
            let found = own.next()?;
            own.next().is_none().then(|| verdict(found, &criterion.kind))?
        }
        Value::Object(by_name) => match by_name.get(&criterion.name)? {
            Value::Object(own) => verdict(own, &criterion.kind),
            value => {
                let answer = answer(value, &criterion.kind)?.known();
                Some(CriterionVerdict { answer, ..CriterionVerdict::default() })
            }
        },
        _ => None,
    }
}

fn verdict(members: &Map<String, Value>, kind: &AnswerKind) -> Option<CriterionVerdict> {
    let value = VERDICT_KEYS.iter().find_map(|key| members.get(*key))?;
    Some(CriterionVerdict {
        answer: answer(value, kind)?.known(),
        reasons: reasons(members),
        quote: first_text(members, &QUOTE_KEYS),
        expected: None,
    })
}

/// What a member stands for; `None` where it is no answer.
fn answer(value: &Value, kind: &AnswerKind) -> Option<Told> {
    match value {
        Value::Null => Some(Told::CannotTell),
        Value::Bool(yes) if kind.is_yes_no() => kind.answer(&yes.to_string()).map(Told::Answer),
        Value::Number(number) => kind.answer(&number.as_f64()?.to_string()).map(Told::Answer),
        Value::String(words) => text::answer(words, kind),
        _ => None,
    }
}

/// Adds the expected share of the one criterion, by the log-probabilities at its verdict.
fn with_expectation(
    mut verdicts: Vec<CriterionVerdict>,
    reply: &JudgeReply,
    text: &str,
    object: &FoundObject,
    asked: &AskedCriteria<'_>,
) -> Vec<CriterionVerdict> {
    if let ([verdict], [criterion]) = (verdicts.as_mut_slice(), asked.criteria) {
        // The part behind the thinking is a part of the same string.
        let offset = text.as_ptr().addr().wrapping_sub(reply.text.as_ptr().addr());
        let raw = text.get(object.span.clone()).unwrap_or_default();
        let keys =
            VERDICT_KEYS.iter().filter_map(|key| raw.rfind(&format!("\"{key}\"")).zip(Some(key)));
        if let Some((at, key)) =
            keys.min_by_key(|(_, key)| VERDICT_KEYS.iter().position(|own| own == *key))
        {
            let behind = at + key.len() + 2;
            let skipped = raw.get(behind..).unwrap_or_default();
            let value =
                skipped.len() - skipped.trim_start_matches([':', ' ', '\n', '\t', '"']).len();
            let place = offset + object.span.start + behind + value;
            verdict.expected = expected_share(&reply.tokens, place, &criterion.kind);
        }
    }
    verdicts
}
